//! How much a network is sent over UDP.
//!
//! Whoever sends a datagram can write any address on it, and the answer, which is longer, goes there: many of them would
//! drown somebody who asked for nothing. So each network has an allowance; what goes beyond is not sent, and a client
//! that really asked comes back over TCP, where nobody can pretend to be somebody else.

use std::collections::HashMap;
use std::net::IpAddr;

/// How long an allowance can be saved up, in milliseconds.
const SAVED: u64 = 4_000;
/// How many networks are remembered: when there are more, those that have not used theirs up are forgotten, and
/// if that is not enough all are.
const MOST: usize = 50_000;

/// The allowances of all networks at one socket.
#[derive(Debug)]
pub(crate) struct Allowances {
    /// Octets a second for each network; without it everything is sent.
    each: Option<u64>,
    networks: HashMap<IpAddr, Used>,
}

/// How much of its allowance a network has used up, and when that was.
#[derive(Clone, Copy, Debug)]
struct Used {
    octets: u64,
    at: u64,
}

impl Allowances {
    pub(crate) fn new(each: Option<u64>) -> Self {
        Self {
            each,
            networks: HashMap::new(),
        }
    }

    /// Whether an address may be sent anything now. Whoever has any left gets a whole answer.
    pub(crate) fn has_left(&mut self, to: IpAddr, now: impl FnOnce() -> u64) -> bool {
        let Some(each) = self.each.filter(|_| !to.is_loopback()) else {
            return true;
        };
        let now = now();
        if self.networks.len() >= MOST {
            self.forget(each, now);
        }
        let unused = Used { octets: 0, at: now };
        let used = self.networks.entry(network(to)).or_insert(unused);
        used.octets = used.left_at(each, now);
        used.at = now;
        used.octets < each.saturating_mul(SAVED) / 1_000
    }

    /// So much was sent there.
    pub(crate) fn take(&mut self, to: IpAddr, octets: usize) {
        let octets = u64::try_from(octets).unwrap_or(u64::MAX);
        if let Some(used) = self.networks.get_mut(&network(to)) {
            used.octets = used.octets.saturating_add(octets);
        }
    }

    fn forget(&mut self, each: u64, now: u64) {
        self.networks.retain(|_, used| used.left_at(each, now) > 0);
        if self.networks.len() >= MOST {
            self.networks.clear();
        }
    }
}

impl Used {
    /// What is still used up at a time.
    fn left_at(self, each: u64, now: u64) -> u64 {
        let regained = now.saturating_sub(self.at).saturating_mul(each) / 1_000;
        self.octets.saturating_sub(regained)
    }
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

    fn send(allowances: &mut Allowances, to: &str, now: u64) -> bool {
        let is_sent = allowances.has_left(ip(to), || now);
        if is_sent {
            allowances.take(ip(to), 1_000);
        }
        is_sent
    }

    #[test]
    fn what_goes_beyond_is_not_sent_and_comes_back_with_time() {
        let mut allowances = Allowances::new(Some(1_000));
        let mut send = |to: &str, now: u64| send(&mut allowances, to, now);
        for _ in 0..4 {
            assert!(send("192.0.2.1", 0));
        }
        // The whole network has used it up, and nobody else has.
        assert!(!send("192.0.2.200", 0));
        assert!(!send("::ffff:192.0.2.1", 0));
        assert!(send("192.0.3.1", 0));
        assert!(send("192.0.2.1", 1_000));
        assert!(!send("192.0.2.1", 1_000));
        // Silence is saved up, but not for ever.
        let count = (0..10).filter(|_| send("192.0.2.1", 1_000_000)).count();
        assert_eq!(count, 4);
    }

    #[test]
    fn networks_of_ipv6_are_large_and_loopback_has_no_limit() {
        let mut allowances = Allowances::new(Some(1));
        assert!(send(&mut allowances, "2001:db8::1", 0));
        assert!(!send(&mut allowances, "2001:db8:0:ff::2", 0));
        assert!(send(&mut allowances, "2001:db8:0:100::1", 0));
        assert!((0..10).all(|_| send(&mut allowances, "127.0.0.1", 0)));
        let mut unlimited = Allowances::new(None);
        assert!((0..10).all(|_| send(&mut unlimited, "192.0.2.1", 0)));
    }

    #[test]
    fn strangers_do_not_fill_the_memory() {
        let mut allowances = Allowances::new(Some(1));
        for number in 0..200_000_u32 {
            let address = IpAddr::V4((number << 8).into());
            if allowances.has_left(address, || 0) {
                allowances.take(address, 1);
            }
        }
        assert!(allowances.networks.len() <= MOST);
    }
}
