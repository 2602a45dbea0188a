//! Turns: what the thread of a core does between two waits.
//!
//! What is the same for all that it answers in a turn is looked at once: the snapshot of the store, and the time.

use std::cell::Cell;

use handfast_registry::{end_turn, take_turns};
use tokio::time::Instant;

use crate::native::Native;

thread_local! {
    static TAKES_TURNS: Cell<bool> = const { Cell::new(false) };
    static MOMENT: Cell<Option<Moment>> = const { Cell::new(None) };
}

/// A point in time.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) instant: Instant,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
}

/// This thread takes turns from now on. It promises to [`end`] each before it waits for anything.
pub(crate) fn begin() {
    TAKES_TURNS.set(true);
    take_turns();
}

/// Ends a turn.
pub(crate) fn end() {
    MOMENT.set(None);
    end_turn();
}

/// When this turn began.
pub(crate) fn moment(native: &Native) -> Moment {
    if let Some(moment) = MOMENT.get() {
        return moment;
    }
    let moment = Moment {
        instant: Instant::now(),
        now: native.now(),
    };
    if TAKES_TURNS.get() {
        MOMENT.set(Some(moment));
    }
    moment
}
