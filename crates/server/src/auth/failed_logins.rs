//! Failed logins: how many wrong secrets a client may try, over all interfaces.
//!
//! The native protocol (challenge answers and `VERIFY_CHALLENGE`, over UDP, TCP and HTTP) and
//! the REST API (passwords, challenge answers and verifications) and people who sign in count in
//! one table. Signatures
//! do not count, because a private key cannot be guessed; neither do API tokens, which have 256
//! random bits.
//!
//! The server checks an attempt twice: before it looks at the secret, and again when it knows
//! the outcome. Attempts that run at the same time may all begin, but once the limit is reached
//! the server withholds their outcomes, right or wrong. So many attempts at once reveal no more
//! than the same attempts one after the other, no client waits, and a client that is right is
//! never rejected because of how often it logs in.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use crate::admission::peer::Peer;
use crate::runtime::lock::Lock;

/// How many failures a network has for one identity in a minute.
const MAX_FAILURES: u32 = 20;
/// How many failures a network has in a minute, for all identities. Many, because behind a proxy
/// that is not configured all clients have one address; fewer than the table stores, so that more
/// failures do not make the server forget earlier ones.
const MAX_FAILURES_OF_NETWORK: u32 = 1_000;
/// How many failures there are for one identity in a minute, from all networks, before each network
/// has only [`MAX_FAILURES_UNDER_ATTACK`]. The owner is not locked out: right secrets count for
/// nothing.
const MAX_FAILURES_OF_IDENTITY: u32 = 200;
/// How many failures a network has for an identity that many networks attack.
const MAX_FAILURES_UNDER_ATTACK: u32 = 2;
/// How long a failure is remembered, in milliseconds.
const MEMORY: u64 = 60_000;
/// How many entries each table has.
const MAX_ENTRIES: usize = 10_000;

/// Failures by network and identity, by network, and by identity.
#[derive(Debug, Default)]
pub(crate) struct FailedLogins {
    tables: Lock<Tables>,
    /// Identities are stored as hashes: they may be long, and are other people's text.
    hashing: RandomState,
}

#[derive(Debug, Default)]
struct Tables {
    pairs: Table<(Peer, u64)>,
    networks: Table<Peer>,
    identities: Table<u64>,
}

/// Too many logins have failed; more are taken when a minute is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyFailures;

/// A secret that is about to be looked at. One that is dropped counts for nothing: the server could
/// not tell.
#[derive(Debug)]
pub(crate) struct LoginAttempt<'t> {
    logins: &'t FailedLogins,
    peer: Peer,
    identity: u64,
    now: u64,
}

impl FailedLogins {
    /// Begins an attempt to log in as an identity, in any case: a handle, or the name of an
    /// account, which has no `/`.
    pub(crate) fn begin(
        &self,
        peer: Peer,
        identity: &str,
        now: u64,
    ) -> Result<LoginAttempt<'_>, TooManyFailures> {
        let identity = self.hashing.hash_one(identity.to_lowercase());
        self.tables.lock().check(peer, identity, now)?;
        Ok(LoginAttempt {
            logins: self,
            peer,
            identity,
            now,
        })
    }
}

impl LoginAttempt<'_> {
    /// Ends the attempt; fails, whether the secret was right or not, if too many others have failed
    /// meanwhile.
    pub(crate) fn finish(self, is_right: bool) -> Result<(), TooManyFailures> {
        let (peer, identity, now) = (self.peer, self.identity, self.now);
        let mut tables = self.logins.tables.lock();
        tables.check(peer, identity, now)?;
        if !is_right {
            tables.pairs.add((peer, identity), now);
            tables.networks.add(peer, now);
            tables.identities.add(identity, now);
        }
        Ok(())
    }
}

impl Tables {
    fn check(&self, peer: Peer, identity: u64, now: u64) -> Result<(), TooManyFailures> {
        let max = if self.identities.count(identity, now) >= MAX_FAILURES_OF_IDENTITY {
            MAX_FAILURES_UNDER_ATTACK
        } else {
            MAX_FAILURES
        };
        if self.pairs.count((peer, identity), now) >= max
            || self.networks.count(peer, now) >= MAX_FAILURES_OF_NETWORK
        {
            return Err(TooManyFailures);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    count: u32,
    since: u64,
}

#[derive(Debug)]
struct Table<K>(HashMap<K, Failures>);

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Copy + Eq + Hash> Table<K> {
    fn count(&self, key: K, now: u64) -> u32 {
        let failures = self.0.get(&key).filter(|failures| !failures.is_over(now));
        failures.map_or(0, |failures| failures.count)
    }

    fn add(&mut self, key: K, now: u64) {
        if self.0.len() >= MAX_ENTRIES && !self.0.contains_key(&key) {
            self.evict(now);
        }
        let failures = self.0.entry(key).or_default();
        if failures.is_over(now) || failures.count == 0 {
            (failures.count, failures.since) = (0, now);
        }
        failures.count = failures.count.saturating_add(1);
    }

    /// Forgets what is over, and if that is nothing, the oldest entry.
    fn evict(&mut self, now: u64) {
        self.0.retain(|_, failures| !failures.is_over(now));
        if self.0.len() >= MAX_ENTRIES {
            let oldest = self.0.iter().min_by_key(|(_, failures)| failures.since);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                self.0.remove(&oldest);
            }
        }
    }
}

impl Failures {
    fn is_over(&self, now: u64) -> bool {
        now.saturating_sub(self.since) >= MEMORY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer::connected(text.parse().unwrap())
    }

    fn attempt(logins: &FailedLogins, from: Peer, whom: &str, now: u64, is_right: bool) -> bool {
        let attempt = logins.begin(from, whom, now);
        attempt.is_ok_and(|attempt| attempt.finish(is_right).is_ok())
    }

    fn fail(logins: &FailedLogins, from: Peer, whom: &str, now: u64) -> bool {
        attempt(logins, from, whom, now, false)
    }

    fn succeed(logins: &FailedLogins, from: Peer, whom: &str, now: u64) -> bool {
        attempt(logins, from, whom, now, true)
    }

    #[test]
    fn only_the_client_with_failed_logins_waits() {
        let logins = FailedLogins::default();
        let from = peer("2001:db8::1");
        for _ in 0..MAX_FAILURES {
            // Right secrets are not counted.
            assert!(succeed(&logins, from, "20.1000/ADMIN", 5));
            assert!(fail(&logins, from, "20.1000/ADMIN", 5));
        }
        assert!(!succeed(&logins, peer("2001:db8::2"), "20.1000/admin", 5));
        assert!(succeed(&logins, from, "20.1000/OTHER", 5));
        assert!(succeed(&logins, peer("2001:db9::1"), "20.1000/ADMIN", 5));
        assert!(succeed(&logins, from, "20.1000/ADMIN", 5 + MEMORY));
    }

    /// Each spelling of a name with letters beyond ASCII had attempts of its own.
    #[test]
    fn all_spellings_of_an_account_share_its_attempts() {
        let logins = FailedLogins::default();
        let from = peer("192.0.2.1");
        let spellings = ["Élodie", "élodie", "ÉLODIE"].into_iter().cycle();
        let tried = spellings
            .take(100)
            .filter(|name| fail(&logins, from, name, 5));
        assert_eq!(tried.count(), 20);
        assert!(succeed(&logins, from, "ann", 5));
    }

    /// Failed logins for other identities made the server forget earlier ones.
    #[test]
    fn failed_logins_for_other_handles_are_not_forgotten() {
        let logins = FailedLogins::default();
        let from = peer("192.0.2.1");
        for _ in 0..MAX_FAILURES {
            fail(&logins, from, "20.1000/ADMIN", 5);
        }
        let others = (0..20_000).filter(|number| {
            let whom = format!("20.1000/{number}");
            fail(&logins, from, &whom, 6)
        });
        assert_eq!(others.count(), 980);
        assert!(!succeed(&logins, from, "20.1000/ADMIN", 7));
        assert!(succeed(&logins, peer("192.0.2.2"), "20.1000/7", 7));
    }

    #[test]
    fn tables_are_bounded_and_the_oldest_entries_are_forgotten_first() {
        let logins = FailedLogins::default();
        let from = |number: usize| peer(&format!("10.{}.{}.1", number / 256, number % 256));
        for number in 0..=MAX_ENTRIES {
            let now = u64::try_from(number).unwrap();
            let whom = format!("20.1000/{number}");
            for _ in 0..MAX_FAILURES {
                fail(&logins, from(number), &whom, now);
            }
        }
        let tables = logins.tables.lock();
        assert_eq!(tables.pairs.0.len(), MAX_ENTRIES);
        assert_eq!(tables.networks.0.len(), MAX_ENTRIES);
        assert_eq!(tables.identities.0.len(), MAX_ENTRIES);
        drop(tables);
        let now = u64::try_from(MAX_ENTRIES).unwrap();
        assert!(!succeed(&logins, from(1), "20.1000/1", now));
        assert!(succeed(&logins, from(0), "20.1000/0", now));
    }

    /// Many at once were let through before the first was counted.
    #[test]
    fn outcomes_of_many_attempts_at_once_are_withheld_after_the_limit() {
        let logins = FailedLogins::default();
        let from = peer("192.0.2.1");
        let begin = || logins.begin(from, "20.1000/ADMIN", 5).unwrap();
        let mut open: Vec<_> = (0..100).map(|_| begin()).collect();
        let right = begin();
        let told = open.drain(..).flat_map(|attempt| attempt.finish(false));
        assert_eq!(told.count(), 20);
        assert_eq!(right.finish(true), Err(TooManyFailures));
    }

    /// A client that logged in often at the same time waited for itself, and blocked a thread that
    /// others needed.
    #[test]
    fn who_is_right_many_times_at_once_is_never_refused() {
        let logins = FailedLogins::default();
        let from = peer("192.0.2.1");
        let begin = || logins.begin(from, "20.1000/ADMIN", 5).unwrap();
        let open: Vec<_> = (0..1_000).map(|_| begin()).collect();
        for attempt in open {
            assert_eq!(attempt.finish(true), Ok(()));
        }
        assert!(logins.tables.lock().pairs.0.is_empty());
        assert!(logins.tables.lock().networks.0.is_empty());
    }

    /// Forged datagrams in the name of a network would have locked it out of TCP and HTTP, and each
    /// forged address would have had its own attempts.
    #[test]
    fn datagrams_share_their_attempts_and_take_none_of_others() {
        let logins = FailedLogins::default();
        let tried = (0..100).filter(|_| fail(&logins, Peer::Datagram, "20.1000/ADMIN", 5));
        assert_eq!(tried.count(), 20);
        assert!(succeed(&logins, peer("192.0.2.1"), "20.1000/ADMIN", 5));
        assert!(!succeed(&logins, Peer::Datagram, "20.1000/ADMIN", 5));
    }

    /// With 500 networks, 10,000 secrets of one identity could be tried in a minute.
    #[test]
    fn failed_logins_from_many_networks_do_not_lock_the_owner_out() {
        let logins = FailedLogins::default();
        let mut tried = 0;
        for number in 0..500 {
            let from = peer(&format!("10.0.{}.{}", number / 250, number % 250));
            while fail(&logins, from, "20.1000/ADMIN", 5) {
                tried += 1;
            }
        }
        assert_eq!(tried, 200 + 490 * 2);
        let owner = peer("192.0.2.1");
        for _ in 0..100 {
            assert!(succeed(&logins, owner, "20.1000/ADMIN", 5));
        }
        // One slip is forgiven.
        assert!(fail(&logins, owner, "20.1000/ADMIN", 5));
        assert!(succeed(&logins, owner, "20.1000/ADMIN", 5));
    }
}
