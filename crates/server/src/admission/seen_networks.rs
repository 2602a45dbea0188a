//! Networks that have connected lately.
//!
//! A datagram may carry a forged address; a client that has completed a TCP handshake owns its
//! address. The table has a fixed size: a network whose entry was displaced has to connect
//! again.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::admission::network_of;

/// How many networks are remembered at most.
const SLOTS: usize = 16_384;
/// How long.
const REMEMBERED: Duration = Duration::from_hours(1);

/// The networks that have connected, and when.
#[derive(Debug)]
pub(crate) struct SeenNetworks {
    epoch: Instant,
    hashing: RandomState,
    /// 32 bits of the network's hash, and 32 bits of the second, from the epoch on and from 1; 0 is
    /// nobody.
    slots: Box<[AtomicU64]>,
}

impl Default for SeenNetworks {
    fn default() -> Self {
        Self {
            epoch: Instant::now(),
            hashing: RandomState::new(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl SeenNetworks {
    /// A client has connected.
    pub(crate) fn note(&self, address: IpAddr, now: Instant) {
        let (slot, mark) = self.place(address);
        if let Some(slot) = slot {
            slot.store(mark | self.second(now), Ordering::Relaxed);
        }
    }

    /// Whether a client of this network has connected lately.
    pub(crate) fn contains(&self, address: IpAddr, now: Instant) -> bool {
        let (slot, mark) = self.place(address);
        let Some(found) = slot.map(|slot| slot.load(Ordering::Relaxed)) else {
            return false;
        };
        let second = found & SECONDS;
        let age = self.second(now).saturating_sub(second);
        found & !SECONDS == mark && second > 0 && age <= REMEMBERED.as_secs()
    }

    fn place(&self, address: IpAddr) -> (Option<&AtomicU64>, u64) {
        let hash = self.hashing.hash_one(network_of(address));
        let at = usize::try_from(hash & SECONDS).unwrap_or_default() % SLOTS;
        (self.slots.get(at), hash & !SECONDS)
    }

    fn second(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.epoch).as_secs();
        (since + 1).min(SECONDS)
    }
}

/// The bits that hold the second.
const SECONDS: u64 = 0xFFFF_FFFF;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_connects_is_remembered_for_an_hour() {
        let seen = SeenNetworks::default();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let now = Instant::now();
        assert!(!seen.contains(ip("192.0.2.1"), now));
        seen.note(ip("192.0.2.1"), now);
        assert!(seen.contains(ip("192.0.2.1"), now));
        assert!(seen.contains(ip("::ffff:192.0.2.1"), now));
        assert!(!seen.contains(ip("192.0.2.2"), now));
        assert!(seen.contains(ip("192.0.2.1"), now + REMEMBERED));
        assert!(!seen.contains(ip("192.0.2.1"), now + REMEMBERED * 2));
    }
}
