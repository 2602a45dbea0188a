//! Shows that `handfast-id` works without the standard library: if any crate below it linked `std`,
//! there would be two panic handlers and this would not compile.

#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use handfast_id::{Standard, recognise};

struct NoMemory;

// Safety: an allocator returns a null pointer if there is no memory. `GlobalAlloc` is an unsafe
// trait, and an allocator must implement it.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// How long the canonical form of an example is.
#[unsafe(no_mangle)]
pub extern "C" fn canonical_length() -> usize {
    match recognise("https://doi.org/10.1000/182", &Standard) {
        Ok(found) => found.identifier.canonical(&Standard).len(),
        Err(_) => 0,
    }
}
