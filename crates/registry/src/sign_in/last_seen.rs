//! When sessions were last seen.
//!
//! The one place where this is read and written. It is in memory: a commit to the registry's own
//! store would empty the cache of redirects each time a person opens a page.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::registry::locked;

/// How far apart two notes about one session are, in milliseconds.
const INTERVAL: u64 = 5 * 60 * 1_000;
/// How many sessions are noted. Those that are forgotten count as seen when they signed in.
const MAX_SESSIONS: usize = 100_000;

/// The last time of each session, in milliseconds since 1970, by its id.
#[derive(Default)]
pub(crate) struct LastSeen(Mutex<HashMap<String, u64>>);

impl LastSeen {
    /// Notes that a session is used now.
    pub(crate) fn note(&self, id: &str, now: u64) {
        let mut times = locked(&self.0);
        match times.get_mut(id) {
            Some(time) if now.saturating_sub(*time) < INTERVAL => {}
            Some(time) => *time = now,
            None => {
                if times.len() >= MAX_SESSIONS {
                    times.clear();
                }
                times.insert(id.to_string(), now);
            }
        }
    }

    pub(crate) fn of(&self, id: &str) -> Option<u64> {
        locked(&self.0).get(id).copied()
    }
}
