//! A request that is sent again with the same key is answered as the first time, and not done again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};

use super::problem::Problem;
use crate::web::reply::{Body, reply};

/// How long an answer is kept, in milliseconds.
const DAY: u64 = 86_400_000;
/// How many answers are kept.
const MOST: usize = 10_000;
/// The longest answer that is kept.
const LONGEST: usize = 64 << 10;
/// How many octets of answers are kept.
const MOST_OCTETS: usize = 64 << 20;

/// Answers that may be asked for again.
#[derive(Default)]
pub(super) struct Answered(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    by_key: HashMap<String, Entry>,
    /// Oldest first.
    order: VecDeque<String>,
    octets: usize,
}

struct Entry {
    /// What was asked.
    asked: [u8; 32],
    at: u64,
    /// `None` as long as it is worked on.
    answer: Option<(StatusCode, HeaderMap, Bytes)>,
}

/// What is to be done with a request.
pub(super) enum First {
    /// It is new: what comes of it is to be told.
    New,
    /// It was answered before.
    Again(Response<Body>),
}

impl Answered {
    /// Looks a request up, and remembers it.
    pub(super) fn begin(&self, key: &str, asked: &[u8], now: u64) -> Result<First, Problem> {
        let asked: [u8; 32] = Sha256::digest(asked).into();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.forget(now);
        match kept.by_key.get(key) {
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
                kept.by_key.insert(key.to_string(), entry);
                kept.order.push_back(key.to_string());
                Ok(First::New)
            }
        }
    }

    /// Keeps what came of it. What may come out otherwise next time is not kept.
    pub(super) fn end(&self, key: &str, status: StatusCode, headers: &HeaderMap, body: &Bytes) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if status.is_server_error() || body.len() > LONGEST {
            kept.drop_key(key);
        } else if let Some(entry) = kept.by_key.get_mut(key) {
            entry.answer = Some((status, headers.clone(), body.clone()));
            kept.octets += body.len();
        }
    }

    /// Forgets a request of which nothing came.
    pub(super) fn give_up(&self, key: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.drop_key(key);
    }
}

impl Kept {
    fn forget(&mut self, now: u64) {
        while let Some(oldest) = self.order.front() {
            let entry = self.by_key.get(oldest);
            let is_old = entry.is_none_or(|entry| now.saturating_sub(entry.at) > DAY);
            if !is_old && self.by_key.len() < MOST && self.octets < MOST_OCTETS {
                return;
            }
            let oldest = oldest.clone();
            self.order.pop_front();
            self.drop_key(&oldest);
        }
    }

    fn drop_key(&mut self, key: &str) {
        if let Some(entry) = self.by_key.remove(key) {
            let length = entry.answer.map_or(0, |(_, _, body)| body.len());
            self.octets = self.octets.saturating_sub(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_is_answered_as_the_first() {
        let answered = Answered::default();
        assert!(matches!(answered.begin("a", b"x", 0), Ok(First::New)));
        assert!(answered.begin("a", b"x", 0).is_err());
        let body = Bytes::from_static(b"{}");
        answered.end("a", StatusCode::CREATED, &HeaderMap::new(), &body);
        let Ok(First::Again(again)) = answered.begin("a", b"x", 0) else {
            panic!("it is done again");
        };
        assert_eq!(again.status(), StatusCode::CREATED);
        assert!(answered.begin("a", b"y", 0).is_err());
        assert!(matches!(answered.begin("a", b"y", DAY + 1), Ok(First::New)));
    }

    #[test]
    fn only_so_many_are_kept() {
        let answered = Answered::default();
        for n in 0..MOST + 10 {
            assert!(matches!(
                answered.begin(&n.to_string(), b"x", 0),
                Ok(First::New)
            ));
        }
        let kept = answered.0.lock().unwrap();
        assert!(kept.by_key.len() <= MOST);
    }
}
