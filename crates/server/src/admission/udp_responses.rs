//! How much is sent over UDP.
//!
//! Whoever sends a datagram can write any address on it, and the answer, which is longer, goes there: many of them would
//! drown somebody who asked for nothing. So there is a rate for each network and one for all of them, and a network of
//! which nobody has connected lately is sent short answers alone. The protocol has no way to say "ask over TCP": what
//! goes beyond is not sent, and a client that really asked comes back over TCP after three seconds.
//!
//! Rates are kept as the time at which a network will have used up nothing (the generic cell rate algorithm): one number
//! for each slot of a table of fixed size. Networks that meet in a slot share its rate. To fill many slots one would
//! have to be sent more than the rate of all networks together allows.

// Not `governor`: its table has an entry for each key, and senders forge as many addresses as they
// like. It adds 16 crates, where this takes one atomic operation and memory of a fixed size.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::admission::seen_networks::SeenNetworks;

/// How long an unused rate can be saved up.
const BURST: Duration = Duration::from_secs(4);
/// How many networks have a rate of their own.
const SLOTS: usize = 65_536;
/// The longest answer to a network of which nobody has connected lately, in bytes.
const MAX_UNSEEN_RESPONSE: usize = 4 << 10;

/// How much is sent over UDP, in bytes per second. This machine itself (`127.0.0.1` and `::1`) has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpLimits {
    /// To each network: a /24 of IPv4, a /56 of IPv6. Without it, nothing is limited.
    pub per_network: Option<u64>,
    /// To all networks together of which nobody has connected over TCP lately.
    pub total: Option<u64>,
}

/// The rates of all networks, for the sockets of all cores.
#[derive(Debug)]
pub(crate) struct UdpResponses {
    limits: UdpLimits,
    epoch: Instant,
    hashing: RandomState,
    slots: Box<[AtomicU64]>,
    total: AtomicU64,
}

/// What may be sent to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// The longest answer, in bytes.
    pub(crate) max_response: usize,
    is_seen: bool,
}

impl UdpResponses {
    pub(crate) fn new(limits: UdpLimits) -> Self {
        let slots = if limits.per_network.is_some() {
            SLOTS
        } else {
            0
        };
        Self {
            limits,
            epoch: Instant::now(),
            hashing: RandomState::new(),
            slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            total: AtomicU64::new(0),
        }
    }

    /// What an address may be sent now; `None` if its network, or all of them, had enough. Whoever has any left gets a
    /// whole answer.
    pub(crate) fn allowed(
        &self,
        to: IpAddr,
        seen: &SeenNetworks,
        now: impl FnOnce() -> Instant,
    ) -> Option<Allowed> {
        if self.is_unlimited(to) {
            return Some(Allowed {
                max_response: usize::MAX,
                is_seen: true,
            });
        }
        let now = now();
        let is_seen = seen.contains(to, now);
        let full_at = self.micros(now).saturating_add(micros(BURST));
        let has_left = |free_at: &AtomicU64| free_at.load(Ordering::Relaxed) < full_at;
        let is_allowed = self.slot(to).is_none_or(has_left)
            && (is_seen || self.limits.total.is_none() || has_left(&self.total));
        is_allowed.then_some(Allowed {
            max_response: if is_seen {
                usize::MAX
            } else {
                MAX_UNSEEN_RESPONSE
            },
            is_seen,
        })
    }

    /// So many bytes were sent there.
    pub(crate) fn sent(
        &self,
        to: IpAddr,
        allowed: Allowed,
        bytes: usize,
        now: impl FnOnce() -> Instant,
    ) {
        if bytes == 0 || self.is_unlimited(to) {
            return;
        }
        let now = self.micros(now());
        let use_up = |free_at: &AtomicU64, rate: u64| {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            let cost = bytes.saturating_mul(1_000_000) / rate.max(1);
            let next = |at: u64| Some(at.max(now).saturating_add(cost));
            // It is never refused.
            let _ = free_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        };
        if let (Some(slot), Some(rate)) = (self.slot(to), self.limits.per_network) {
            use_up(slot, rate);
        }
        if let Some(rate) = self.limits.total.filter(|_| !allowed.is_seen) {
            use_up(&self.total, rate);
        }
    }

    /// Nobody outside can send datagrams from the address that this machine calls itself by. The other addresses of the
    /// loopback network have the limits of any network: programs use them to stand for other machines.
    fn is_unlimited(&self, to: IpAddr) -> bool {
        let to = to.to_canonical();
        self.limits.per_network.is_none() || to == Ipv4Addr::LOCALHOST || to == Ipv6Addr::LOCALHOST
    }

    fn slot(&self, to: IpAddr) -> Option<&AtomicU64> {
        let hash = self.hashing.hash_one(network(to));
        let at = usize::try_from(hash & 0xFFFF_FFFF).ok()? % SLOTS;
        self.slots.get(at)
    }

    fn micros(&self, now: Instant) -> u64 {
        micros(now.saturating_duration_since(self.epoch))
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The first of the addresses that somebody gets together: 256 of IPv4, a /56 of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4((u32::from(v4) >> 8 << 8).into()),
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 72 << 72).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    struct Test {
        responses: UdpResponses,
        seen: SeenNetworks,
        start: Instant,
    }

    impl Test {
        fn new(per_network: Option<u64>, total: Option<u64>) -> Self {
            let responses = UdpResponses::new(UdpLimits { per_network, total });
            Self {
                start: responses.epoch,
                responses,
                seen: SeenNetworks::default(),
            }
        }

        /// Whether 1,000 bytes are sent.
        fn sends(&self, to: IpAddr, millis: u64) -> bool {
            let now = self.start + Duration::from_millis(millis);
            let allowed = self.responses.allowed(to, &self.seen, || now);
            if let Some(allowed) = allowed {
                self.responses.sent(to, allowed, 1_000, || now);
            }
            allowed.is_some()
        }
    }

    #[test]
    fn what_goes_beyond_is_not_sent_and_comes_back_with_time() {
        let test = Test::new(Some(1_000), None);
        let sends = |to: &str, millis| test.sends(ip(to), millis);
        for _ in 0..4 {
            assert!(sends("192.0.2.1", 0));
        }
        // The whole network has used it up, and nobody else has.
        assert!(!sends("192.0.2.200", 0));
        assert!(!sends("::ffff:192.0.2.1", 0));
        assert!(sends("192.0.3.1", 0));
        assert!(sends("192.0.2.1", 1_000));
        assert!(!sends("192.0.2.1", 1_000));
        // Silence is saved up, but not for ever.
        let count = (0..10).filter(|_| sends("192.0.2.1", 1_000_000)).count();
        assert_eq!(count, 4);
    }

    #[test]
    fn networks_of_ipv6_are_large_and_the_machine_itself_has_no_limit() {
        let test = Test::new(Some(1), None);
        assert!(test.sends(ip("2001:db8::1"), 0));
        assert!(!test.sends(ip("2001:db8:0:ff::2"), 0));
        assert!(test.sends(ip("2001:db8:0:100::1"), 0));
        assert!((0..10).all(|_| test.sends(ip("127.0.0.1"), 0)));
        assert!((0..10).all(|_| test.sends(ip("::ffff:127.0.0.1"), 0)));
        assert!((0..10).all(|_| test.sends(ip("::1"), 0)));
        assert!(test.sends(ip("127.0.0.2"), 0) && !test.sends(ip("127.0.0.2"), 0));
        let unlimited = Test::new(None, Some(1));
        assert!((0..10).all(|_| unlimited.sends(ip("192.0.2.1"), 0)));
    }

    /// 50,000 networks were remembered, and then all were forgotten: whoever forged more had no limit.
    #[test]
    fn many_networks_reset_nothing_and_share_one_limit() {
        let test = Test::new(Some(1_000), Some(100_000));
        let others = |from: u32| {
            let addresses = (from..from + 200_000).map(|number| IpAddr::V4((number << 8).into()));
            addresses.filter(|to| test.sends(*to, 0)).count()
        };
        for _ in 0..4 {
            assert!(test.sends(ip("192.0.2.1"), 0));
        }
        assert_eq!(others(1 << 20), 396);
        assert!(!test.sends(ip("192.0.2.1"), 0));
        assert_eq!(others(2 << 20), 0);
        // Those who have connected are not kept out by those who forge.
        test.seen.note(ip("198.51.100.7"));
        assert!(test.sends(ip("198.51.100.7"), 0));
        assert!(!test.sends(ip("198.51.100.8"), 0));
    }

    /// 76 bytes with a forged address made the server send 249,937 bytes there.
    #[test]
    fn who_has_not_connected_is_sent_short_answers_alone() {
        let test = Test::new(Some(50_000), None);
        let longest = |to: &str| {
            let allowed = test.responses.allowed(ip(to), &test.seen, Instant::now);
            allowed.unwrap().max_response
        };
        assert_eq!(longest("192.0.2.1"), MAX_UNSEEN_RESPONSE);
        assert_eq!(longest("127.0.0.1"), usize::MAX);
        test.seen.note(ip("192.0.2.1"));
        assert_eq!(longest("192.0.2.1"), usize::MAX);
        assert_eq!(longest("192.0.2.2"), MAX_UNSEEN_RESPONSE);
    }
}
