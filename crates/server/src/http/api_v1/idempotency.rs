//! A request that is sent again with the same key gets the first answer again; it is done once.

use std::collections::{HashMap, VecDeque};

use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};

use super::problem::Problem;
use crate::http::response::{Body, reply};
use crate::runtime::lock::Lock;

/// How long an answer is stored, in milliseconds.
const DAY: u64 = 86_400_000;
/// How many answers are stored.
const MAX_ANSWERS: usize = 10_000;
/// The longest answer that is stored.
const MAX_ANSWER: usize = 64 << 10;
/// How many octets of answers are stored.
const MAX_OCTETS: usize = 64 << 20;

/// Answers that may be asked for again.
#[derive(Default)]
pub(super) struct Answered(Lock<Stored>);

#[derive(Default)]
struct Stored {
    by_key: HashMap<Key, Entry>,
    /// Oldest first; some of them are forgotten already.
    order: VecDeque<Key>,
    octets: usize,
}

/// Who asked for what, with which key: as long as each other, however long that was.
pub(super) type Key = [u8; 32];

/// The key of everything that tells requests apart.
pub(super) fn key(parts: &[&[u8]]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

struct Entry {
    /// What was asked.
    asked: Key,
    at: u64,
    /// `None` as long as it is worked on.
    answer: Option<(StatusCode, HeaderMap, Bytes)>,
}

/// What is to be done with a request.
pub(super) enum First<'a> {
    /// It is new: what comes of it is to be told.
    New(Begun<'a>),
    /// It was answered before.
    Again(Response<Body>),
}

/// A request that is worked on. One that ends without an answer is forgotten, and can be sent
/// again.
pub(super) struct Begun<'a> {
    answered: &'a Answered,
    key: Option<Key>,
}

impl Begun<'_> {
    /// Keeps what came of it. What may come out otherwise next time is not stored.
    pub(super) fn end(mut self, status: StatusCode, headers: &HeaderMap, body: &Bytes) {
        if status.is_server_error() || body.len() > MAX_ANSWER {
            return;
        }
        let mut stored = self.answered.0.lock();
        if let Some(entry) = self.key.take().and_then(|key| stored.by_key.get_mut(&key)) {
            entry.answer = Some((status, headers.clone(), body.clone()));
            stored.octets += body.len();
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.answered.0.lock().drop_key(key);
        }
    }
}

impl Answered {
    /// Looks a request up, and remembers it.
    pub(super) fn begin(&self, key: Key, asked: Key, now: u64) -> Result<First<'_>, Problem> {
        let mut stored = self.0.lock();
        stored.forget(now);
        match stored.by_key.get(&key) {
            Some(entry) if entry.asked != asked => Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "other-request",
                "this Idempotency-Key was of another request",
            )),
            Some(Entry {
                answer: Some((status, headers, body)),
                ..
            }) => {
                let mut response = reply(*status, "", body.clone());
                *response.headers_mut() = headers.clone();
                Ok(First::Again(response))
            }
            Some(_) => Err(Problem::new(
                StatusCode::CONFLICT,
                "in-progress",
                "the first request with this Idempotency-Key is worked on",
            )),
            None => {
                let entry = Entry {
                    asked,
                    at: now,
                    answer: None,
                };
                stored.by_key.insert(key, entry);
                stored.order.push_back(key);
                Ok(First::New(Begun {
                    answered: self,
                    key: Some(key),
                }))
            }
        }
    }
}

impl Stored {
    fn forget(&mut self, now: u64) {
        while let Some(oldest) = self.order.front().copied() {
            let entry = self.by_key.get(&oldest);
            let is_old = entry.is_none_or(|entry| now.saturating_sub(entry.at) > DAY);
            if !is_old && self.order.len() < MAX_ANSWERS && self.octets < MAX_OCTETS {
                return;
            }
            self.order.pop_front();
            self.drop_key(oldest);
        }
    }

    fn drop_key(&mut self, key: Key) {
        if let Some(entry) = self.by_key.remove(&key) {
            let length = entry.answer.map_or(0, |(_, _, body)| body.len());
            self.octets = self.octets.saturating_sub(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Key = [1; 32];
    const X: Key = [2; 32];
    const Y: Key = [3; 32];

    #[test]
    fn the_second_time_is_answered_as_the_first() {
        let answered = Answered::default();
        let Ok(First::New(begun)) = answered.begin(A, X, 0) else {
            panic!("it was never asked");
        };
        assert!(answered.begin(A, X, 0).is_err());
        let body = Bytes::from_static(b"{}");
        begun.end(StatusCode::CREATED, &HeaderMap::new(), &body);
        let Ok(First::Again(again)) = answered.begin(A, X, 0) else {
            panic!("it is done again");
        };
        assert_eq!(again.status(), StatusCode::CREATED);
        assert!(answered.begin(A, Y, 0).is_err());
        let later = answered.begin(A, Y, DAY + 1);
        assert!(matches!(later, Ok(First::New(_))));
    }

    /// A handler that panicked left its key "in progress" for a day.
    #[test]
    fn a_request_that_fails_in_the_middle_can_be_sent_again() {
        let answered = Answered::default();
        let failed = std::panic::catch_unwind(|| {
            let _begun = answered.begin(A, X, 0);
            panic!("this is in the middle");
        });
        assert!(failed.is_err());
        assert!(matches!(answered.begin(A, X, 0), Ok(First::New(_))));
        // One that the server could not do is not stored either.
        if let Ok(First::New(begun)) = answered.begin(A, X, 0) {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            begun.end(status, &HeaderMap::new(), &Bytes::new());
        }
        assert!(matches!(answered.begin(A, X, 0), Ok(First::New(_))));
    }

    #[test]
    fn only_so_many_are_stored() {
        let answered = Answered::default();
        for n in 0..MAX_ANSWERS + 10 {
            let begun = answered.begin(key(&[&n.to_be_bytes()]), X, 0);
            assert!(matches!(begun, Ok(First::New(_))));
            // It is worked on for ever.
            std::mem::forget(begun);
        }
        // Those of which nothing comes are forgotten too, and leave nothing behind.
        for n in 0..MAX_ANSWERS * 2 {
            let key = key(&[b"dropped", &n.to_be_bytes()]);
            assert!(matches!(answered.begin(key, X, 0), Ok(First::New(_))));
        }
        let stored = answered.0.lock();
        assert!(stored.by_key.len() <= MAX_ANSWERS);
        assert!(stored.order.len() <= MAX_ANSWERS);
    }
}
