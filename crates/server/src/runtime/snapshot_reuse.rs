//! Turns: what the thread of a core does between two waits.
//!
//! What is the same for all that it answers in a turn is looked at once, or not often: the snapshot of the store, and the time.

use std::cell::Cell;

use handfast_registry::{release_snapshot, reuses_snapshots};
use tokio::time::Instant;

use crate::native::Native;

thread_local! {
    /// When this turn began, and how often that may still be said.
    static MOMENT: Cell<Option<(Moment, u8)>> = const { Cell::new(None) };
}

/// After how many answers the time is looked at again: where there is always something to do, a turn may be long.
const OFTEN: u8 = 64;

/// A point in time.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) instant: Instant,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
}

/// Ends a turn. Threads that take turns do this before they wait for anything.
pub(crate) fn end() {
    MOMENT.set(None);
    release_snapshot();
}

/// When this turn began, or a little later.
pub(crate) fn moment(native: &Native) -> Moment {
    if let Some((moment, left)) = MOMENT.get()
        && let Some(left) = left.checked_sub(1)
    {
        MOMENT.set(Some((moment, left)));
        return moment;
    }
    // Old pages of the store are let go of as well.
    end();
    let moment = Moment {
        instant: Instant::now(),
        now: native.now(),
    };
    if reuses_snapshots() {
        MOMENT.set(Some((moment, OFTEN)));
    }
    moment
}
