//! Checks that the times of events go forward.

use super::broken_rule::BrokenRule;
use super::finding::Findings;
use super::note::{Note, Notes};

/// How far a time may go back: clocks are set, and an import may carry the time of its start.
const MAX_SKEW: u64 = 24 * 60 * 60 * 1_000;

/// The times of the events so far.
#[derive(Default)]
pub(super) struct EventClock {
    /// The current time, if that is known.
    pub(super) now: Option<u64>,
    /// Events dated later than now by more than the skew: how many, and the first.
    ahead: Option<(u64, u64)>,
    latest: u64,
    /// Whether the last event was more than the skew behind.
    is_behind: bool,
    /// Events that go back by no more than the skew: how many, the first, and the largest step.
    back: Option<(u64, u64, u64)>,
}

impl EventClock {
    /// Compares with the latest time so far: many small steps back add up.
    pub(super) fn tick(&mut self, number: u64, time: u64, out: &mut Findings) {
        if self
            .now
            .is_some_and(|now| time > now.saturating_add(MAX_SKEW))
        {
            let (count, _) = self.ahead.get_or_insert((0, number));
            *count += 1;
        }
        let by = self.latest.saturating_sub(time);
        self.latest = self.latest.max(time);
        // A run of late events counts as one error.
        if by > MAX_SKEW && !self.is_behind {
            out.rule(number, BrokenRule::TimeBack { by });
        }
        self.is_behind = by > MAX_SKEW;
        if by == 0 || self.is_behind {
            return;
        }
        match &mut self.back {
            Some((count, _, largest)) => {
                *count += 1;
                *largest = by.max(*largest);
            }
            None => self.back = Some((1, number, by)),
        }
    }

    pub(super) fn finish(self, notes: &mut Notes) {
        if let Some((count, event)) = self.ahead {
            notes.add(Note::TimeAhead { count, event });
        }
        if let Some((count, event, largest)) = self.back {
            notes.add(Note::TimeBack {
                count,
                event,
                largest,
            });
        }
    }
}
