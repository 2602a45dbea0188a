//! The allocator, and how soon it returns memory.
//!
//! mimalloc holds freed memory for a second, in every thread that used it, and asks the system for
//! huge pages. A server that answers thousands of long requests at once would hold twice what it
//! needs. The allocator reads its options from the environment before `main` begins: so a server
//! starts itself once more with the right ones. The process and its standard streams stay the same.

use std::os::unix::process::CommandExt;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Freed memory returns to the system after 10 milliseconds: at once would cost a system call for
/// many requests. A huge page is 2 MiB, and stays as long as anything on it is in use.
const OPTIONS: [(&str, &str); 2] = [("MIMALLOC_PURGE_DELAY", "10"), ("MIMALLOC_ALLOW_THP", "0")];

/// Makes the allocator return memory soon. Does nothing if the environment has one of these options
/// already, or if the program cannot be started again.
pub(crate) fn return_memory_soon() {
    if OPTIONS
        .iter()
        .any(|(option, _)| std::env::var_os(option).is_some())
    {
        return;
    }
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    let mut arguments = std::env::args_os();
    let mut again = Command::new(program);
    again.arg0(arguments.next().unwrap_or_default());
    again.args(arguments).envs(OPTIONS);
    // This returns only if it fails: then the server uses more memory, and nothing else is wrong.
    drop(again.exec());
}
