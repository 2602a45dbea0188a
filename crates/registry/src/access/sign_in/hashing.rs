//! Hashing passwords: Argon2id, and at most two hashes at once.

use std::sync::{Condvar, Mutex};

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};

use crate::error::RegistryError;
use crate::registry::locked;

/// The memory of one hash, in KiB. With [`PASSES`] and [`LANES`] this is the smallest of the equal
/// choices that OWASP recommends: sign-ins stay within the memory of a small server.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// How many hashes are computed at once. Others wait.
const MAX_HASHES: usize = 2;

/// The longest password that is hashed, in bytes.
pub(crate) const MAX_PASSWORD_BYTES: usize = handfast_api::limits::PASSWORD;

/// The hash of a password. It has no `Debug`, so that it cannot be logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PasswordHash {
    memory: u32,
    passes: u32,
    lanes: u32,
    salt: [u8; 16],
    hash: [u8; 32],
    /// When the password was set, in milliseconds since 1970.
    pub(crate) set: u64,
}

impl PasswordHash {
    /// Hashes a new password.
    pub(crate) fn new(
        permits: &HashPermits,
        password: &str,
        salt: [u8; 16],
        set: u64,
    ) -> Result<Self, RegistryError> {
        let mut new = Self {
            salt,
            set,
            ..Self::of_nobody()
        };
        new.hash = new.compute(permits, password)?;
        Ok(new)
    }

    /// Costs as much as any other, and is the hash of no password.
    pub(crate) fn of_nobody() -> Self {
        Self {
            memory: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
            salt: [0; 16],
            hash: [0; 32],
            set: 0,
        }
    }

    /// Whether the password is the right one.
    pub(crate) fn matches(
        &self,
        permits: &HashPermits,
        password: &str,
    ) -> Result<bool, RegistryError> {
        let hash = self.compute(permits, password)?;
        // In the same time, wherever they differ.
        let difference = hash
            .iter()
            .zip(&self.hash)
            .fold(0, |all, (a, b)| all | a ^ b);
        Ok(difference == 0 && password.len() <= MAX_PASSWORD_BYTES)
    }

    /// Whether it was made with other parameters than those of today.
    pub(crate) fn is_outdated(&self) -> bool {
        (self.memory, self.passes, self.lanes) != (MEMORY_KIB, PASSES, LANES)
    }

    fn compute(&self, permits: &HashPermits, password: &str) -> Result<[u8; 32], RegistryError> {
        let bytes = password.as_bytes();
        let bytes = bytes.get(..MAX_PASSWORD_BYTES).unwrap_or(bytes);
        let damaged = |_| RegistryError::corrupt("the hash of a password");
        let parameters = Params::new(self.memory, self.passes, self.lanes, Some(32));
        let parameters = parameters.map_err(damaged)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
        let mut hash = [0; 32];
        let _permit = permits.enter();
        let hashed = argon2.hash_password_into(bytes, &self.salt, &mut hash);
        hashed.map_err(damaged)?;
        Ok(hash)
    }
}

/// Permits for hashes. This bounds their memory; an interface that serves many clients has a queue
/// of its own, so that those who wait occupy no threads.
#[derive(Default)]
pub(crate) struct HashPermits {
    running: Mutex<usize>,
    freed: Condvar,
}

/// Leave to compute a hash, until it is dropped.
struct HashPermit<'p>(&'p HashPermits);

impl HashPermits {
    fn enter(&self) -> HashPermit<'_> {
        let running = locked(&self.running);
        let waited = self
            .freed
            .wait_while(running, |running| *running >= MAX_HASHES);
        let mut running = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        *running += 1;
        HashPermit(self)
    }
}

impl Drop for HashPermit<'_> {
    fn drop(&mut self) {
        *locked(&self.0.running) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_hash_matches_its_password_and_no_other() {
        let permits = HashPermits::default();
        let hash = PasswordHash::new(&permits, "correct", [7; 16], 0).unwrap();
        assert!(hash.matches(&permits, "correct").unwrap());
        assert!(!hash.matches(&permits, "Correct").unwrap());
        assert!(!hash.is_outdated());
        let other = PasswordHash::new(&permits, "correct", [8; 16], 0).unwrap();
        assert_ne!(hash.hash, other.hash);
    }

    /// Its first bytes alone would have been compared.
    #[test]
    fn a_password_that_is_too_long_never_matches() {
        let permits = HashPermits::default();
        let password = "x".repeat(MAX_PASSWORD_BYTES);
        let hash = PasswordHash::new(&permits, &password, [7; 16], 0).unwrap();
        assert!(hash.matches(&permits, &password).unwrap());
        assert!(!hash.matches(&permits, &format!("{password}y")).unwrap());
    }

    /// The answer of the reference implementation to the same password, salt and parameters.
    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        let hash = PasswordHash::of_nobody();
        let computed = hash.compute(&HashPermits::default(), "password").unwrap();
        let (start, end) = computed.split_at(16);
        let number = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
        assert_eq!(number(start), 0xdc8e_3e1b_c1db_fa75_8d09_6f5b_eb2e_5035);
        assert_eq!(number(end), 0x7f35_dd00_1dca_4678_42a6_b349_7ea9_cc2b);
    }

    /// Each hash takes 19 MiB: many at once would have used up the memory of the server.
    #[test]
    fn two_hashes_run_at_once_and_others_wait() {
        let permits = HashPermits::default();
        let (running, max) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _permit = permits.enter();
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    max.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(max.load(Ordering::SeqCst) <= MAX_HASHES);
        assert_eq!(*locked(&permits.running), 0);
    }
}
