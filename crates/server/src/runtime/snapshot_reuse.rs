//! Snapshot reuse: the thread of a core uses one snapshot of the store, and one reading of the
//! clock, for all requests that it answers between two waits.

use std::cell::Cell;

use handfast_registry::{release_snapshot, reuses_snapshots};
use tokio::time::Instant;

use crate::context::ServerContext;

thread_local! {
    /// The time of this batch of requests, and how often it may still be used.
    static COARSE_TIME: Cell<Option<(CoarseTime, u8)>> = const { Cell::new(None) };
}

/// After how many answers the clock is read again: a busy thread may not wait for a long time.
const REFRESH_EVERY: u8 = 64;

/// A point in time.
#[derive(Clone, Copy)]
pub(crate) struct CoarseTime {
    pub(crate) instant: Instant,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
}

/// Releases the snapshot and the time. Threads that reuse snapshots do this before they wait.
pub(crate) fn end() {
    COARSE_TIME.set(None);
    release_snapshot();
}

/// The time at which this batch of requests began, or a little later.
pub(crate) fn time(context: &ServerContext) -> CoarseTime {
    if let Some((time, left)) = COARSE_TIME.get()
        && let Some(left) = left.checked_sub(1)
    {
        COARSE_TIME.set(Some((time, left)));
        return time;
    }
    // This also releases old pages of the store.
    end();
    let time = CoarseTime {
        instant: Instant::now(),
        now: context.now(),
    };
    if reuses_snapshots() {
        COARSE_TIME.set(Some((time, REFRESH_EVERY)));
    }
    time
}
