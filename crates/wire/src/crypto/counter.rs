//! The counters of the messages in a session.

use std::collections::BTreeSet;

/// Which messages of a session have been seen, so that none is taken twice (`handle-protocol.md`
/// §4.7).
///
/// ```
/// use handfast_wire::crypto::CounterWindow;
///
/// let mut window = CounterWindow::default();
/// assert!(window.accept(2) && window.accept(1));
/// assert!(!window.accept(2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterWindow {
    seen: BTreeSet<u32>,
}

impl CounterWindow {
    /// Notes a message, and says whether it is new. Ask only when its MAC has been verified.
    ///
    /// "a counter already seen, or ≤ the oldest remembered once the window is full, is a replay". 0
    /// is not a valid counter: deployed software never sends it.
    #[must_use]
    pub fn accept(&mut self, counter: u32) -> bool {
        let is_full = self.seen.len() >= WINDOW;
        let is_too_old = is_full && self.seen.first().is_some_and(|oldest| counter <= *oldest);
        if counter == 0 || is_too_old || !self.seen.insert(counter) {
            return false;
        }
        if self.seen.len() > WINDOW {
            self.seen.pop_first();
        }
        true
    }
}

/// The number of remembered counters.
const WINDOW: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_window_is_a_replay() {
        let mut window = CounterWindow::default();
        assert!((1..=250).all(|counter| window.accept(counter)));
        assert!(!(0..=250).any(|counter| window.accept(counter)));
        assert!(window.accept(300) && window.accept(260));
        assert_eq!(window.seen.len(), WINDOW);
    }
}
