//! Snapshot reuse: the thread of a core uses one snapshot of the store, and one reading of the
//! clock, for all requests that it answers between two waits.

use std::cell::Cell;

use handfast_registry::{end_turn, takes_turns};
use tokio::time::Instant;

use crate::context::ServerContext;

thread_local! {
    /// When this turn began, and how often that may still be said.
    static COARSE_TIME: Cell<Option<(CoarseTime, u8)>> = const { Cell::new(None) };
}

/// After how many answers the time is looked at again: where there is always something to do, a
/// turn may be long.
const REFRESH_EVERY: u8 = 64;

/// A point in time.
#[derive(Clone, Copy)]
pub(crate) struct CoarseTime {
    pub(crate) instant: Instant,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
}

/// Ends a turn. Threads that take turns do this before they wait for anything.
pub(crate) fn end() {
    COARSE_TIME.set(None);
    end_turn();
}

/// When this turn began, or a little later.
pub(crate) fn time(context: &ServerContext) -> CoarseTime {
    if let Some((time, left)) = COARSE_TIME.get()
        && let Some(left) = left.checked_sub(1)
    {
        COARSE_TIME.set(Some((time, left)));
        return time;
    }
    // Old pages of the store are let go of as well.
    end();
    let time = CoarseTime {
        instant: Instant::now(),
        now: context.now(),
    };
    if takes_turns() {
        COARSE_TIME.set(Some((time, REFRESH_EVERY)));
    }
    time
}
