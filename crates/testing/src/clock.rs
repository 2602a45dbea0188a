//! Clocks and random numbers for servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_client::Environment as System;
use handfast_registry::Environment;

/// What time it is in most tests: Sun, 15 Nov 2026 06:17:16 GMT.
pub const NOW: u64 = 1_794_723_436_000;

/// The clock and the random numbers of this machine.
pub fn system() -> Environment {
    let (clock, random) = (System::system(), System::system());
    Environment::new(move || clock.now(), move |bytes| random.fill(bytes))
}

/// A clock that the test moves, and the same numbers in every run.
pub fn fixed(clock: &Arc<AtomicU64>) -> Environment {
    let counter = AtomicU64::new(1);
    let clock = Arc::clone(clock);
    Environment::new(
        move || clock.load(Ordering::SeqCst),
        move |bytes| {
            for byte in bytes {
                let next = counter.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
                *byte = next.to_be_bytes()[0] ^ next.to_be_bytes()[5];
            }
        },
    )
}
