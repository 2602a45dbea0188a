//! Guesses of secrets: how many somebody may make.
//!
//! A guess takes a place before it is looked at, so that many at once are no more than many in turn. Places are few only
//! for those who have guessed wrong before: whoever has the secret waits until those before are done, and is not refused.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::admission::network_of;

/// How many guesses of one identity's secret fail before its guesser has to wait.
const MOST: u32 = 20;
/// How many guesses fail, of whatever identities, before a network has to wait. Many, because behind a proxy everybody
/// has one address; fewer than are remembered, so that nobody makes us forget by guessing on.
const MOST_OF_NETWORK: u32 = 1_000;
/// How long a failure is remembered, in milliseconds.
const MINUTE: u64 = 60_000;
/// How many guessers are remembered.
const REMEMBERED: usize = 10_000;
/// How long somebody waits for those who try the same identity.
const PATIENCE: Duration = Duration::from_secs(10);

/// Failures, by network and identity, and by network.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    all: Mutex<All>,
    /// A place was given back.
    given_back: Condvar,
    /// What identities are remembered by: they may be long, and are other people's text.
    hashing: RandomState,
}

#[derive(Debug, Default)]
struct All {
    of_identities: Table<(IpAddr, u64)>,
    of_networks: Table<IpAddr>,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    /// Guesses that are being looked at.
    open: u32,
    since: u64,
}

/// A guess that is being looked at. One that is let go has not failed.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    attempts: &'a Attempts,
    key: (IpAddr, u64),
}

impl Attempts {
    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a guess; `None` if too many have failed.
    pub(crate) fn begin(&self, from: IpAddr, whom: &str, now: u64) -> Option<Attempt<'_>> {
        self.begin_within(PATIENCE, from, whom, now)
    }

    fn begin_within(
        &self,
        patience: Duration,
        from: IpAddr,
        whom: &str,
        now: u64,
    ) -> Option<Attempt<'_>> {
        let network = network_of(from);
        let key = (network, self.hashing.hash_one(whom.to_ascii_uppercase()));
        let is_busy = |all: &mut All| {
            let tried = all.of_identities.at(key, now);
            tried.open > 0 && tried.count < MOST && tried.count + tried.open >= MOST
        };
        let waited = self
            .given_back
            .wait_timeout_while(self.all(), patience, is_busy);
        let (mut all, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let tried = all.of_identities.at(key, now);
        let of_network = all.of_networks.at(network, now);
        if tried.count + tried.open >= MOST || of_network.count + of_network.open >= MOST_OF_NETWORK
        {
            return None;
        }
        all.of_identities.open(key, now);
        all.of_networks.open(network, now);
        Some(Attempt {
            attempts: self,
            key,
        })
    }
}

impl Attempt<'_> {
    /// It was wrong.
    pub(crate) fn failed(self) {
        let mut all = self.attempts.all();
        all.of_identities.fail(self.key);
        all.of_networks.fail(self.key.0);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut all = self.attempts.all();
        all.of_identities.close(self.key);
        all.of_networks.close(self.key.0);
        drop(all);
        self.attempts.given_back.notify_all();
    }
}

#[derive(Debug)]
struct Table<K>(HashMap<K, Failures>);

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Copy + Eq + Hash> Table<K> {
    /// What is remembered now.
    fn at(&self, key: K, now: u64) -> Failures {
        let fresh = Failures {
            count: 0,
            open: 0,
            since: now,
        };
        match self.0.get(&key) {
            None => fresh,
            Some(failures) if failures.is_over(now) => Failures {
                open: failures.open,
                ..fresh
            },
            Some(failures) => *failures,
        }
    }

    fn open(&mut self, key: K, now: u64) {
        let mut failures = self.at(key, now);
        failures.open += 1;
        if self.0.len() >= REMEMBERED && !self.0.contains_key(&key) {
            self.make_room(now);
        }
        self.0.insert(key, failures);
    }

    /// Those who have waited longest make room. Guesses that are being looked at stay: there are no more than threads.
    fn make_room(&mut self, now: u64) {
        self.0
            .retain(|_, failures| failures.open > 0 || !failures.is_over(now));
        if self.0.len() >= REMEMBERED {
            let idle = self.0.iter().filter(|(_, failures)| failures.open == 0);
            let oldest = idle.min_by_key(|(_, failures)| failures.since);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                self.0.remove(&oldest);
            }
        }
    }

    fn fail(&mut self, key: K) {
        if let Some(failures) = self.0.get_mut(&key) {
            failures.count += 1;
        }
    }

    fn close(&mut self, key: K) {
        if let Some(failures) = self.0.get_mut(&key) {
            failures.open = failures.open.saturating_sub(1);
            if failures.open == 0 && failures.count == 0 {
                self.0.remove(&key);
            }
        }
    }
}

impl Failures {
    fn is_over(&self, now: u64) -> bool {
        now.saturating_sub(self.since) >= MINUTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn fail(attempts: &Attempts, from: &str, whom: &str, now: u64) -> bool {
        let attempt = attempts.begin(ip(from), whom, now);
        attempt.map(Attempt::failed).is_some()
    }

    fn may(attempts: &Attempts, from: &str, whom: &str, now: u64) -> bool {
        attempts.begin(ip(from), whom, now).is_some()
    }

    #[test]
    fn who_guesses_waits_and_nobody_else() {
        let attempts = Attempts::default();
        let from = "2001:db8::1";
        for _ in 0..MOST {
            // What is right is not counted.
            assert!(may(&attempts, from, "20.1000/ADMIN", 5));
            assert!(fail(&attempts, from, "20.1000/ADMIN", 5));
        }
        assert!(!may(&attempts, "2001:db8::2", "20.1000/admin", 5));
        assert!(may(&attempts, from, "20.1000/OTHER", 5));
        assert!(may(&attempts, "2001:db9::1", "20.1000/ADMIN", 5));
        assert!(may(&attempts, from, "20.1000/ADMIN", 5 + MINUTE));
    }

    /// Guessing for others made room for more guesses.
    #[test]
    fn who_guesses_on_for_others_is_not_forgotten() {
        let attempts = Attempts::default();
        for _ in 0..MOST {
            fail(&attempts, "192.0.2.1", "20.1000/ADMIN", 5);
        }
        let others = (0..20_000).filter(|number| {
            let whom = format!("20.1000/{number}");
            fail(&attempts, "192.0.2.1", &whom, 6)
        });
        assert_eq!(others.count(), 980);
        assert!(!may(&attempts, "192.0.2.1", "20.1000/ADMIN", 7));
        assert!(may(&attempts, "192.0.2.2", "20.1000/7", 7));
    }

    #[test]
    fn guessers_are_bounded_and_the_oldest_are_forgotten_first() {
        let attempts = Attempts::default();
        let from = |number: usize| format!("10.{}.{}.1", number / 256, number % 256);
        for number in 0..=REMEMBERED {
            let now = u64::try_from(number).unwrap();
            for _ in 0..MOST {
                fail(&attempts, &from(number), "20.1000/ADMIN", now);
            }
        }
        assert_eq!(attempts.all().of_identities.0.len(), REMEMBERED);
        assert_eq!(attempts.all().of_networks.0.len(), REMEMBERED);
        let now = u64::try_from(REMEMBERED).unwrap();
        assert!(!may(&attempts, &from(1), "20.1000/ADMIN", now));
        assert!(may(&attempts, &from(0), "20.1000/ADMIN", now));
    }

    /// Many at once were let through before the first was counted.
    #[test]
    fn guesses_that_are_being_looked_at_count() {
        let attempts = Attempts::default();
        let begin = || {
            let from = ip("192.0.2.1");
            attempts.begin_within(Duration::ZERO, from, "20.1000/ADMIN", 5)
        };
        let mut open: Vec<_> = (0..MOST).map(|_| begin().unwrap()).collect();
        assert!(begin().is_none());
        // One that was right gives its place back, and one that was wrong does not.
        drop(open.pop());
        let again = begin().unwrap();
        again.failed();
        assert!(begin().is_none());
        drop(open);
        assert!(begin().is_some());
    }

    #[test]
    fn who_is_right_many_times_at_once_is_never_refused() {
        let attempts = Attempts::default();
        let together = Barrier::new(100);
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    together.wait();
                    assert!(may(&attempts, "192.0.2.1", "20.1000/ADMIN", 5));
                });
            }
        });
        assert!(attempts.all().of_identities.0.is_empty());
        assert!(attempts.all().of_networks.0.is_empty());
    }
}
