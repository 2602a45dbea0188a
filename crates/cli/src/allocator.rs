//! The allocator, and how soon it gives memory back.
//!
//! mimalloc keeps freed memory for a second, in every thread that used it. A server that answers thousands of long requests
//! at once would hold several times what it needs. The allocator reads its options from the environment, before `main`
//! begins: so a server starts itself once more with the right one. The process and its standard streams stay the same.

use std::os::unix::process::CommandExt;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// After how many milliseconds freed memory goes back to the system.
const PURGE_DELAY: &str = "MIMALLOC_PURGE_DELAY";

/// Makes the allocator give memory back after 10 milliseconds. At once would cost a system call for many requests. Does nothing if the environment says something else already, or if
/// the program cannot be started again.
pub(crate) fn give_memory_back_soon() {
    if std::env::var_os(PURGE_DELAY).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    again.arg0(arguments.next().unwrap_or_default());
    again.args(arguments).env(PURGE_DELAY, "10");
    // This returns only if it fails: then the server uses more memory, and nothing else is wrong.
    drop(again.exec());
}
