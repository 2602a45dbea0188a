//! Events that mirrors need not be told of.

use std::sync::{Mutex, PoisonError};

/// The events at the end of the log that mean nothing to any mirror, such as those of a million URNs: whoever
/// asks every few seconds, and is told nothing by them, would have them all read each time.
#[derive(Debug, Default)]
pub(crate) struct UnmirroredEvents(Mutex<(u64, u64)>);

impl UnmirroredEvents {
    /// The stretch that an event is in: after which, and through which.
    pub(crate) fn around(&self, number: u64) -> Option<(u64, u64)> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (after, through) = *known;
        (after < number && number <= through).then_some((after, through))
    }

    /// Remembers that nothing after one event, through another, means anything.
    pub(crate) fn note(&self, after: u64, through: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if through >= known.1 {
            *known = (after, through);
        }
    }
}
