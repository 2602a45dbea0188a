//! Challenges that wait for an answer.
//!
//! An answer comes on a connection of its own, and is known by the number of its challenge only. So the
//! request is kept, for a while, and not too many of them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use handfast_wire::{Message, RequestDigest};

/// How long a challenge waits, in milliseconds.
const PATIENCE: u64 = 60_000;
/// How many wait at most: the oldest make room.
const MOST: usize = 10_000;

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
}

/// All that wait, by number.
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    waiting: Mutex<HashMap<u32, Pending>>,
}

impl Challenges {
    /// Keeps a request under a number.
    pub(crate) fn keep(&self, number: u32, pending: Pending, now: u64) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= MOST {
            waiting.retain(|_, pending| pending.expires > now);
        }
        if waiting.len() >= MOST {
            let oldest = waiting.iter().min_by_key(|(_, pending)| pending.expires);
            if let Some(number) = oldest.map(|(number, _)| *number) {
                waiting.remove(&number);
            }
        }
        waiting.insert(number, pending);
    }

    /// Whether a number is taken.
    pub(crate) fn has(&self, number: u32) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.contains_key(&number)
    }

    /// Takes a request out: a challenge is answered once.
    pub(crate) fn take(&self, number: u32) -> Option<Pending> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.remove(&number)
    }
}
