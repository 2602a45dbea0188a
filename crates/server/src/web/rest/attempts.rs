//! Guesses of secrets: how many somebody may make.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many guesses of one identity's secret fail before its guesser has to wait.
const MOST: u32 = 20;
/// How long a failure is remembered, in milliseconds.
const MINUTE: u64 = 60_000;
/// How many guessers are remembered.
const REMEMBERED: usize = 10_000;

/// Failures by network and identity. Not by network alone: behind a proxy everybody has one address, and one who
/// guesses would lock out all others.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<(IpAddr, String), Failures>>);

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    since: u64,
}

impl Attempts {
    fn failures(&self) -> MutexGuard<'_, HashMap<(IpAddr, String), Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody may try.
    pub(crate) fn allow(&self, from: IpAddr, whom: &str, now: u64) -> bool {
        let key = (network(from), whom.to_ascii_uppercase());
        let failures = self.failures().get(&key).copied();
        failures.is_none_or(|failures| failures.count < MOST || is_over(failures, now))
    }

    pub(crate) fn failed(&self, from: IpAddr, whom: &str, now: u64) {
        let mut all = self.failures();
        if all.len() >= REMEMBERED {
            all.retain(|_, failures| !is_over(*failures, now));
        }
        // Someone with ten thousand networks is not stopped by remembering more of them.
        if all.len() >= REMEMBERED {
            all.clear();
        }
        let key = (network(from), whom.to_ascii_uppercase());
        let failures = all.entry(key).or_insert(Failures {
            count: 0,
            since: now,
        });
        if is_over(*failures, now) {
            *failures = Failures {
                count: 0,
                since: now,
            };
        }
        failures.count += 1;
    }
}

fn is_over(failures: Failures, now: u64) -> bool {
    now.saturating_sub(failures.since) >= MINUTE
}

/// Whoever has one address of the new kind has 2⁶⁴ of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_waits_and_nobody_else() {
        let attempts = Attempts::default();
        let from = "2001:db8::1".parse().unwrap();
        for _ in 0..MOST {
            assert!(attempts.allow(from, "20.1000/ADMIN", 5));
            attempts.failed(from, "20.1000/ADMIN", 5);
        }
        assert!(!attempts.allow("2001:db8::2".parse().unwrap(), "20.1000/admin", 5));
        assert!(attempts.allow(from, "20.1000/OTHER", 5));
        assert!(attempts.allow("2001:db9::1".parse().unwrap(), "20.1000/ADMIN", 5));
        assert!(attempts.allow(from, "20.1000/ADMIN", 5 + MINUTE));
    }
}
