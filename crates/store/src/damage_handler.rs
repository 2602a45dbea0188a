//! Damage in the mapped file: ends the process with a clear message.
//!
//! LMDB maps its file into memory and follows the numbers it finds there. If a page is missing, the
//! kernel sends SIGBUS. If a damaged page has a wrong number, LMDB may follow it out of the map
//! (SIGSEGV) or stop at an assertion of its own (SIGABRT). No function can return these as errors.
//! The handler prints that the store is damaged and ends the process with status 3, as every other
//! failure of the system does.
//!
//! The handler treats a fault as damage if its address lies in a map of ours, or if the thread was
//! working on a store and the address is not near its stack. Every other fault goes to the previous
//! handler: that of Rust's standard library, which reports a stack overflow.
#![expect(
    unsafe_code,
    reason = "LMDB maps its file, and the kernel reports what cannot be read as a signal"
)]

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use libc::{c_int, c_void, siginfo_t};

/// Installs the handler for faults in a map. `file` is mapped already.
pub(crate) fn watch(file: &Path) {
    static INSTALLED: Once = Once::new();
    if let Some((start, end)) = range_of(file) {
        remember(start, end);
    }
    INSTALLED.call_once(|| {
        for (signal, previous) in FAULTS.into_iter().zip(&PREVIOUS) {
            install(signal, previous);
        }
    });
}

/// Marks the thread as working on a store, until it is dropped.
pub(crate) struct InStore(());

impl InStore {
    pub(crate) fn enter() -> Self {
        DEPTH.set(DEPTH.get().saturating_add(1));
        Self(())
    }
}

impl Drop for InStore {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// Marks that LMDB reads a store on a thread of its own, until it is dropped.
pub(crate) struct Copying(());

impl Copying {
    pub(crate) fn begin() -> Self {
        COPIES.fetch_add(1, Ordering::AcqRel);
        Self(())
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        COPIES.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The number of copies in progress.
static COPIES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of nested store calls of this thread. It has no destructor, so that a handler may
    /// read it at any time.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

const FAULTS: [c_int; 3] = [libc::SIGBUS, libc::SIGSEGV, libc::SIGABRT];
/// The previous handlers, in the same order.
static PREVIOUS: [OnceLock<libc::sigaction>; 3] = [const { OnceLock::new() }; 3];
/// Whether a fault was passed on to the previous handler: its SIGABRT must be passed on, too.
static IS_FORWARDED: AtomicBool = AtomicBool::new(false);

/// The start and end of each map; 0 if unused. A process opens one store, tests a few more. Faults
/// in maps beyond these are recognised by [`InStore`] alone.
static MAPS: [(AtomicUsize, AtomicUsize); 16] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 16];

// `check` prints this as well: it is not a remedy.
const MESSAGE: &[u8] = b"error: the store is damaged: restore it from a backup \
    (stop the server, move the data folder away, run `handfast restore FILE`)\n";
const ASSERTION_MESSAGE: &[u8] =
    b"error: the store is damaged: it failed a check of its own (see the line above); restore it \
    from a backup (stop the server, move the data folder away, run `handfast restore FILE`)\n";
/// "The system failed".
const STATUS: c_int = 3;
/// A fault up to this far below the stack pointer, in bytes, is a stack overflow.
const STACK_REACH: usize = 1 << 20;
/// A fault up to this far above it is one, too.
const STACK_SLACK: usize = 1 << 16;

fn remember(start: usize, end: usize) {
    let free = MAPS.iter().find(|(from, _)| {
        from.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    });
    if let Some((_, to)) = free {
        to.store(end, Ordering::Release);
    }
}

/// The address of a mapped file, from the system. LMDB does not tell it.
fn range_of(file: &Path) -> Option<(usize, usize)> {
    let inode = fs::metadata(file).ok()?.ino().to_string();
    let name = file.file_name()?.to_str()?;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().rev().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let found = fields.nth(3)?;
        (found == inode && line.ends_with(name)).then_some(())?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some((number(start)?, number(end)?))
    })
}

fn install(signal: c_int, previous: &OnceLock<libc::sigaction>) {
    // Safety: `sigaction` is plain data for which zero is a valid value, and both pointers are to
    // values that live through the calls. The handler below calls nothing that a signal handler may
    // not call. It runs on the alternative stack where the thread has one, as the handler of the
    // standard library does.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, std::ptr::null(), &raw mut before) != 0 {
            return;
        }
        // Set before the handler can run.
        let _ = previous.set(before);
        let mut ours: libc::sigaction = std::mem::zeroed();
        #[expect(
            clippy::as_conversions,
            clippy::fn_to_numeric_cast_any,
            reason = "the system takes handlers as numbers"
        )]
        let handler = on_fault as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        ours.sa_sigaction = handler;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut ours.sa_mask);
        libc::sigaction(signal, &raw const ours, std::ptr::null_mut());
    }
}

extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let is_copied = COPIES.load(Ordering::Acquire) > 0;
    let is_at_work = DEPTH.get() > 0 || is_copied;
    if signal == libc::SIGABRT {
        if is_at_work && !IS_FORWARDED.load(Ordering::Relaxed) {
            end(ASSERTION_MESSAGE);
        }
        // `abort` continues when the handler returns, and ends the process by the signal.
        return;
    }
    // Safety: the kernel passes a valid `siginfo_t` to a handler with `SA_SIGINFO`, and for SIGBUS
    // and SIGSEGV it has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let is_in_map = MAPS.iter().any(|(start, end)| {
        (start.load(Ordering::Acquire)..end.load(Ordering::Acquire)).contains(&address)
    });
    // LMDB's copying thread writes into buffers that may lie near its stack.
    let is_of_store = is_copied || (is_at_work && !is_near_stack(address, context));
    if is_in_map || is_of_store {
        end(MESSAGE);
    }
    IS_FORWARDED.store(true, Ordering::Relaxed);
    forward(signal, info, context);
}

fn end(message: &[u8]) -> ! {
    // Safety: both are async-signal-safe (POSIX.1-2017 §2.4.3), and the pointer and the length are
    // those of one slice.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(STATUS)
    }
}

/// Whether an address is where a stack overflow faults. If the stack pointer is not known, every
/// address may be.
fn is_near_stack(address: usize, context: *mut c_void) -> bool {
    stack_pointer(context).is_none_or(|pointer| {
        (pointer.saturating_sub(STACK_REACH)..pointer.saturating_add(STACK_SLACK))
            .contains(&address)
    })
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn stack_pointer(context: *mut c_void) -> Option<usize> {
    let context = context.cast::<libc::ucontext_t>();
    let register = usize::try_from(libc::REG_RSP).ok()?;
    // Safety: the kernel passes the context of the thread to a handler with `SA_SIGINFO`.
    let pointer = unsafe { (*context).uc_mcontext.gregs.get(register).copied() }?;
    Some(usize::from_ne_bytes(pointer.to_ne_bytes()))
}

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
fn stack_pointer(context: *mut c_void) -> Option<usize> {
    let context = context.cast::<libc::ucontext_t>();
    // Safety: the kernel passes the context of the thread to a handler with `SA_SIGINFO`.
    usize::try_from(unsafe { (*context).uc_mcontext.sp }).ok()
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
fn stack_pointer(_: *mut c_void) -> Option<usize> {
    None
}

/// Passes a fault to the previous handler. If there was none, the process ends by the signal when
/// the faulting instruction runs again.
fn forward(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let position = FAULTS.iter().position(|fault| *fault == signal);
    let previous = position.and_then(|position| PREVIOUS.get(position)?.get());
    let handler = previous.filter(|previous| {
        previous.sa_flags & libc::SA_SIGINFO != 0
            && previous.sa_sigaction != libc::SIG_DFL
            && previous.sa_sigaction != libc::SIG_IGN
    });
    // Safety: with `SA_SIGINFO` the number is a function of this type. Without a handler the
    // default is set, which is a zeroed `sigaction`. `sigaction` is async-signal-safe.
    unsafe {
        if let Some(handler) = handler {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                std::mem::transmute(handler.sa_sigaction);
            handler(signal, info, context);
        } else {
            let default: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &raw const default, std::ptr::null_mut());
        }
    }
}
