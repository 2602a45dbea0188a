//! Challenges that wait for an answer.
//!
//! An answer comes on a connection of its own, and is known by the number of its challenge only. So the
//! request is kept, for a while, and not too many of them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use handfast_wire::{Message, RequestDigest};

/// How long a challenge waits, in milliseconds.
const PATIENCE: u64 = 60_000;
/// How many wait at most: the oldest make room.
const MOST: usize = 10_000;
/// How many octets all of their requests may have. A request may be long, and costs whoever sends it nothing.
const MOST_OCTETS: usize = 16 << 20;

/// A request that waits for whoever sent it to say who they are.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) request: Message<'static>,
    pub(crate) nonce: [u8; 16],
    pub(crate) digest: RequestDigest,
    /// Until when, in milliseconds since 1970.
    expires: u64,
}

impl Pending {
    pub(crate) fn new(
        request: Message<'static>,
        nonce: [u8; 16],
        digest: RequestDigest,
        now: u64,
    ) -> Self {
        Self {
            request,
            nonce,
            digest,
            expires: now.saturating_add(PATIENCE),
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

/// All that wait, by number: that of the challenge, or that of the session it belongs to.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    by_number: HashMap<u32, Pending>,
    /// In the order they came, with when they expire: some may have been taken since, or come again.
    order: VecDeque<(u32, u64)>,
    octets: usize,
}

impl Challenges {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a request under a number, instead of one that was there.
    pub(crate) fn keep(&self, number: u32, pending: Pending, now: u64) {
        let mut waiting = self.waiting();
        waiting.take(number);
        waiting.octets += pending.octets();
        waiting.order.push_back((number, pending.expires));
        waiting.by_number.insert(number, pending);
        waiting.make_room(now);
    }

    /// Whether a number is taken.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.waiting().by_number.contains_key(&number)
    }

    /// Takes a request out: a challenge is answered once.
    pub(crate) fn take(&self, number: u32) -> Option<Pending> {
        self.waiting().take(number)
    }
}

impl Waiting {
    fn take(&mut self, number: u32) -> Option<Pending> {
        let pending = self.by_number.remove(&number)?;
        self.octets = self.octets.saturating_sub(pending.octets());
        Some(pending)
    }

    fn make_room(&mut self, now: u64) {
        while let Some(&(number, expires)) = self.order.front() {
            let pending = self.by_number.get(&number);
            let is_there = pending.is_some_and(|pending| pending.expires == expires);
            let is_full = self.order.len() > MOST || self.octets > MOST_OCTETS;
            if is_there && expires > now && !is_full {
                return;
            }
            self.order.pop_front();
            if is_there {
                self.take(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use handfast_wire::body::HandleRequest;
    use handfast_wire::{Envelope, Header, Opcode, Version};

    fn pending(length: usize, now: u64) -> Pending {
        let name = "x".repeat(length);
        let body = HandleRequest {
            handle: name.into(),
        };
        let envelope = Envelope::new(Version::CURRENT);
        let request = Message::new(envelope, Header::request(Opcode::DeleteHandle, 0), &body);
        let digest = RequestDigest::of(&request.signed_part(), Version::CURRENT);
        Pending::new(request, [0; 16], digest, now)
    }

    /// Requests of 200,000 octets that nobody answered were kept until there were 10,000 of them.
    #[test]
    fn long_requests_make_room_for_others() {
        let challenges = Challenges::default();
        for number in 0..1_000 {
            challenges.keep(number, pending(200_000, 0), 0);
        }
        let waiting = challenges.waiting();
        assert!(waiting.octets <= MOST_OCTETS);
        assert_eq!(waiting.order.len(), waiting.by_number.len());
        assert!(waiting.by_number.contains_key(&999) && !waiting.by_number.contains_key(&0));
    }

    #[test]
    fn many_make_room_and_the_outdated_go() {
        let challenges = Challenges::default();
        for number in 0..20_000 {
            challenges.keep(number, pending(1, 0), 0);
            if number % 3 == 0 {
                assert!(challenges.take(number).is_some());
            }
        }
        assert!(challenges.waiting().order.len() <= MOST);
        challenges.keep(1, pending(1, PATIENCE), PATIENCE);
        assert_eq!(challenges.waiting().by_number.len(), 1);
        assert_eq!(challenges.waiting().order.len(), 1);
    }

    #[test]
    fn one_that_comes_again_counts_once() {
        let challenges = Challenges::default();
        for now in 0..10 {
            challenges.keep(7, pending(100, now), now);
        }
        let octets = pending(100, 0).octets();
        assert_eq!(challenges.waiting().octets, octets);
        assert!(challenges.take(7).is_some());
        assert!(challenges.take(7).is_none());
        assert_eq!(challenges.waiting().octets, 0);
    }
}
