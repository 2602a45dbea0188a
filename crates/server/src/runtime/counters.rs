//! Counters that threads do not share.
//!
//! An answer takes a microsecond of the processor, so counting it must cost next to nothing:
//! each thread has counters of its own, or shares them with a few, and a reader adds them up.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Into how many parts counters are cut.
const SHARDS: usize = 16;

/// Counters, one set for each of some groups of threads.
#[derive(Default)]
pub(crate) struct Shards<T>([Shard<T>; SHARDS]);

/// The counters of one group, away from those of others: caches hold what lies together.
#[derive(Default)]
#[repr(align(128))]
struct Shard<T>(T);

thread_local! {
    static SHARD: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
}
static NEXT: AtomicUsize = AtomicUsize::new(0);

impl<T> Shards<T> {
    /// Adds to a counter of this thread.
    pub(crate) fn add(&self, count: u64, counter: impl FnOnce(&T) -> Option<&AtomicU64>) {
        let shard = self.0.get(SHARD.get());
        if let Some(counter) = shard.and_then(|shard| counter(&shard.0)) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// The sum over all threads.
    pub(crate) fn sum<'s>(&'s self, counter: impl Fn(&'s T) -> Option<&'s AtomicU64>) -> u64 {
        let counters = self.0.iter().filter_map(|shard| counter(&shard.0));
        counters
            .map(|counter| counter.load(Ordering::Relaxed))
            .sum()
    }
}

/// One of the things that a counter counts, until it is dropped.
pub(crate) struct Counted<C: Deref<Target = AtomicU64>>(C);

impl<C: Deref<Target = AtomicU64>> Counted<C> {
    pub(crate) fn new(counter: C) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl<C: Deref<Target = AtomicU64>> Drop for Counted<C> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
