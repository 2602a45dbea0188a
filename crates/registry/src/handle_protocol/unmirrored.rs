//! Ranges of events without transactions.

use std::sync::Mutex;

use crate::registry::locked;

/// The events at the end of the log that mean nothing to any mirror, such as those of a million
/// URNs. Without this cache a mirror that asks every few seconds would cause all of them to be read
/// each time.
#[derive(Debug, Default)]
pub(crate) struct UnmirroredEvents(Mutex<(u64, u64)>);

impl UnmirroredEvents {
    /// The range that an event is in: after which event, and through which.
    pub(crate) fn around(&self, number: u64) -> Option<(u64, u64)> {
        let known = locked(&self.0);
        let (after, through) = *known;
        (after < number && number <= through).then_some((after, through))
    }

    /// Stores that the events after one, through another, have no transactions.
    pub(crate) fn note(&self, after: u64, through: u64) {
        let mut known = locked(&self.0);
        if through >= known.1 {
            *known = (after, through);
        }
    }
}
