//! Requests that wait for the answer to a challenge.
//!
//! An answer may come on another connection, and only the number of its challenge identifies
//! it. So the server stores the request until the answer comes, for a limited time. When the
//! storage is full, the server evicts the oldest request of the network that uses most of it,
//! so that a network that floods the server loses its own requests.

use std::collections::HashMap;

use handfast_wire::{Message, RequestDigest};

use crate::admission::peer::Peer;
use crate::admission::table_shares::{TableEntry, surplus};
use crate::runtime::lock::Lock;

/// How long a challenge waits for its answer, in milliseconds.
const ANSWER_TIMEOUT: u64 = 60_000;
/// How often the server removes challenges that nobody can answer any more, in milliseconds.
const CLEAN_INTERVAL: u64 = 1_000;
/// How many challenges wait at once.
const MAX_WAITING: usize = 10_000;
/// How many bytes all of their requests have. A long request costs its client nothing.
const MAX_OCTETS: usize = 6 << 20;

/// A request that waits until its client has logged in.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) request: Message<'static>,
    pub(crate) nonce: [u8; 16],
    pub(crate) digest: RequestDigest,
    /// Where the request came from. The answer may come from another address.
    peer: Peer,
    /// Until when, in milliseconds since 1970.
    expires: u64,
    /// How many came before it.
    arrival: u64,
}

impl Pending {
    pub(crate) fn new(
        request: Message<'static>,
        nonce: [u8; 16],
        digest: RequestDigest,
        peer: Peer,
        now: u64,
    ) -> Self {
        Self {
            request,
            nonce,
            digest,
            peer,
            expires: now.saturating_add(ANSWER_TIMEOUT),
            arrival: 0,
        }
    }

    /// Whether it still waits.
    pub(crate) fn waits(&self, now: u64) -> bool {
        self.expires > now
    }

    fn octets(&self) -> usize {
        self.request.body.len() + self.request.credential.len()
    }
}

/// All challenges that wait, by number: that of the challenge, or that of the session it belongs
/// to.
#[derive(Debug, Default)]
pub(crate) struct PendingChallenges {
    waiting: Lock<WaitingChallenges>,
}

#[derive(Debug, Default)]
struct WaitingChallenges {
    by_number: HashMap<u32, Pending>,
    octets: usize,
    /// How many have come.
    arrivals: u64,
    /// When those that nobody can answer any more were last removed.
    cleaned: u64,
}

impl PendingChallenges {
    /// Stores a request under a number, instead of one that was there.
    pub(crate) fn keep(&self, number: u32, mut pending: Pending, now: u64) {
        let mut waiting = self.waiting.lock();
        waiting.take(number);
        pending.arrival = waiting.arrivals;
        waiting.arrivals += 1;
        waiting.octets += pending.octets();
        waiting.by_number.insert(number, pending);
        if now.saturating_sub(waiting.cleaned) >= CLEAN_INTERVAL {
            waiting.clean(now);
        }
        // Some more than necessary, because finding them takes a look at all.
        if waiting.by_number.len() > MAX_WAITING {
            waiting.evict(MAX_WAITING - MAX_WAITING / 100, |_| 1);
        }
        if waiting.octets > MAX_OCTETS {
            waiting.evict(MAX_OCTETS - MAX_OCTETS / 16, Pending::octets);
        }
    }

    /// Whether a number is taken.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.waiting.lock().by_number.contains_key(&number)
    }

    /// Takes a request out: a challenge is answered once.
    pub(crate) fn take(&self, number: u32) -> Option<Pending> {
        self.waiting.lock().take(number)
    }
}

impl WaitingChallenges {
    fn take(&mut self, number: u32) -> Option<Pending> {
        let pending = self.by_number.remove(&number)?;
        self.octets -= pending.octets();
        Some(pending)
    }

    fn clean(&mut self, now: u64) {
        self.by_number.retain(|_, pending| pending.waits(now));
        self.octets = self.by_number.values().map(Pending::octets).sum();
        self.cleaned = now;
    }

    /// Evicts requests, so that those that stay have at most a size.
    fn evict(&mut self, max: usize, size: impl Fn(&Pending) -> usize) {
        let entries = self.by_number.iter().map(|(number, pending)| TableEntry {
            key: *number,
            peer: pending.peer,
            last: pending.arrival,
            size: size(pending),
        });
        for number in surplus(entries, max) {
            self.take(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;
    use handfast_wire::body::HandleRequest;
    use handfast_wire::{Envelope, Header, Opcode, Version};

    const ONE: Peer = Peer::Connected(IpAddr::V4(Ipv4Addr::LOCALHOST));

    fn pending(length: usize, now: u64) -> Pending {
        pending_of(ONE, length, now)
    }

    fn pending_of(peer: Peer, length: usize, now: u64) -> Pending {
        let name = "x".repeat(length);
        let body = HandleRequest {
            handle: name.into(),
        };
        let envelope = Envelope::new(Version::CURRENT);
        let request = Message::new(envelope, Header::request(Opcode::DeleteHandle, 0), &body);
        let digest = RequestDigest::of(&request.signed_part(), Version::CURRENT);
        Pending::new(request, [0; 16], digest, peer, now)
    }

    /// Unanswered requests of 200,000 bytes were stored until there were 10,000 of them.
    #[test]
    fn long_requests_are_evicted_for_others() {
        let challenges = PendingChallenges::default();
        for number in 0..1_000 {
            challenges.keep(number, pending(200_000, 0), 0);
        }
        let waiting = challenges.waiting.lock();
        assert!(waiting.octets <= MAX_OCTETS);
        assert!(waiting.by_number.contains_key(&999) && !waiting.by_number.contains_key(&0));
    }

    #[test]
    fn old_challenges_are_evicted() {
        let challenges = PendingChallenges::default();
        for number in 0..20_000 {
            challenges.keep(number, pending(1, 0), 0);
            if number % 3 == 0 {
                assert!(challenges.take(number).is_some());
            }
        }
        assert!(challenges.waiting.lock().by_number.len() <= MAX_WAITING);
        challenges.keep(1, pending(1, ANSWER_TIMEOUT), ANSWER_TIMEOUT);
        assert_eq!(challenges.waiting.lock().by_number.len(), 1);
    }

    #[test]
    fn one_that_comes_again_counts_once() {
        let challenges = PendingChallenges::default();
        for now in 0..10 {
            challenges.keep(7, pending(100, now), now);
        }
        let octets = pending(100, 0).octets();
        assert_eq!(challenges.waiting.lock().octets, octets);
        assert!(challenges.take(7).is_some());
        assert!(challenges.take(7).is_none());
        assert_eq!(challenges.waiting.lock().octets, 0);
    }

    /// Four connections that sent long requests and answered none pushed out the challenges of
    /// everybody.
    #[test]
    fn a_network_that_floods_the_server_pushes_out_its_own_requests() {
        let challenges = PendingChallenges::default();
        let network = |last: u8| Peer::connected([192, 0, 2, last].into());
        challenges.keep(1, pending_of(network(1), 300, 0), 0);
        challenges.keep(2, pending_of(network(2), 1_000_000, 0), 0);
        for number in 100..20_100 {
            let peer = network(3 + u8::try_from(number % 5).unwrap());
            let length = if number % 100 == 0 { 250_000 } else { 10 };
            challenges.keep(number, pending_of(peer, length, 0), 0);
        }
        let waiting = challenges.waiting.lock();
        assert!(waiting.by_number.len() <= MAX_WAITING && waiting.octets <= MAX_OCTETS);
        drop(waiting);
        assert!(challenges.take(1).is_some());
        assert!(challenges.take(2).is_some());
    }
}
