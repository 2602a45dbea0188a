//! Sessions that are open: a nonce, and who has answered it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use handfast_registry::{Environment, Principal};

use crate::native::evidence::{Evidence, LONGEST};

/// How long a session lives without a request, in milliseconds.
const IDLE: u64 = 30 * 60_000;
/// How many are open at most.
const MOST: usize = 10_000;

/// A session. Its id is a secret: whoever has it is who it is of.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) nonce: [u8; 16],
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    who: Option<Known>,
    /// When it was opened, or somebody has shown anew who they are.
    began: u64,
    last: u64,
}

/// Somebody who has shown who they are.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) who: Principal,
    /// As they have said it.
    pub(crate) id: String,
    /// By what, if that is kept here.
    pub(crate) by: Option<Evidence>,
}

impl Session {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known(&self) -> Option<Known> {
        self.state().who.clone()
    }

    fn is_alive(&self, now: u64) -> bool {
        let state = self.state();
        now.saturating_sub(state.last) <= IDLE && now.saturating_sub(state.began) <= LONGEST
    }
}

/// All of them. Every 401 opens one, so that those of nobody, which cost nothing, never push out those of somebody.
#[derive(Debug, Default)]
pub(crate) struct OpenSessions(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    of_nobody: HashMap<String, Arc<Session>>,
    /// Those, in the order they were opened.
    order: VecDeque<String>,
    known: HashMap<String, Arc<Session>>,
}

impl OpenSessions {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens one.
    pub(crate) fn start(&self, world: &Environment) -> Arc<Session> {
        let now = world.now();
        let session = Arc::new(Session {
            id: readable(&world.random::<20>()),
            nonce: world.random(),
            state: Mutex::new(State {
                who: None,
                began: now,
                last: now,
            }),
        });
        let mut open = self.open();
        while open.order.len() >= MOST {
            if let Some(oldest) = open.order.pop_front() {
                open.of_nobody.remove(&oldest);
            }
        }
        open.order.push_back(session.id.clone());
        open.of_nobody
            .insert(session.id.clone(), Arc::clone(&session));
        session
    }

    /// One that lives; it lives on.
    pub(crate) fn get(&self, id: &str, now: u64) -> Option<Arc<Session>> {
        let mut open = self.open();
        let session = open.known.get(id).or_else(|| open.of_nobody.get(id))?;
        let session = Arc::clone(session);
        if !session.is_alive(now) {
            open.remove(id);
            return None;
        }
        session.state().last = now;
        Some(session)
    }

    /// Somebody has shown who they are.
    pub(crate) fn keep(&self, session: &Arc<Session>, known: Known, now: u64) {
        let mut state = session.state();
        (state.who, state.began) = (Some(known), now);
        drop(state);
        let mut open = self.open();
        open.of_nobody.remove(&session.id);
        if open.known.len() >= MOST {
            open.known.retain(|_, session| session.is_alive(now));
        }
        if open.known.len() >= MOST {
            let oldest = open
                .known
                .values()
                .min_by_key(|session| session.state().last);
            if let Some(id) = oldest.map(|session| session.id.clone()) {
                open.known.remove(&id);
            }
        }
        open.known.insert(session.id.clone(), Arc::clone(session));
    }

    pub(crate) fn end(&self, id: &str) {
        self.open().remove(id);
    }
}

impl Open {
    fn remove(&mut self, id: &str) {
        self.of_nobody.remove(id);
        self.known.remove(id);
    }
}

/// 32 letters and digits.
fn readable(random: &[u8; 20]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::with_capacity(32);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in random {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            let digit = usize::try_from(bits >> count & 31).unwrap_or_default();
            text.push(char::from(*DIGITS.get(digit).unwrap_or(&b'a')));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn world(now: Arc<AtomicU64>) -> Environment {
        let counter = AtomicU64::new(0);
        Environment::new(
            move || now.load(Ordering::Relaxed),
            move |bytes| {
                let next = counter.fetch_add(1, Ordering::Relaxed).to_be_bytes();
                for (byte, next) in bytes.iter_mut().zip(next.iter().rev().cycle()) {
                    *byte = *next;
                }
            },
        )
    }

    #[test]
    fn sessions_of_nobody_make_room_and_those_of_somebody_stay() {
        let now = Arc::new(AtomicU64::new(0));
        let world = world(Arc::clone(&now));
        let sessions = OpenSessions::default();
        let (mine, first) = (sessions.start(&world), sessions.start(&world));
        let who = Principal::parse("300:20.1000/A").unwrap();
        let id = "300:20.1000/A".to_string();
        let by = None;
        sessions.keep(&mine, Known { who, id, by }, 0);
        for _ in 0..MOST * 2 {
            sessions.start(&world);
        }
        assert!(sessions.get(&first.id, 0).is_none());
        assert!(sessions.get(&mine.id, 0).unwrap().known().is_some());
        assert!(sessions.open().of_nobody.len() <= MOST);
        assert_eq!(mine.id.len(), 32);
        now.store(1, Ordering::Relaxed);
        assert!(sessions.get(&mine.id, IDLE).is_some());
        assert!(sessions.get(&mine.id, IDLE * 2 + 1).is_none());
    }

    #[test]
    fn a_session_ends_after_a_day_unless_somebody_logs_in_again() {
        let world = world(Arc::new(AtomicU64::new(0)));
        let sessions = OpenSessions::default();
        let known = || Known {
            who: Principal::parse("300:20.1000/A").unwrap(),
            id: "300:20.1000/A".to_string(),
            by: None,
        };
        let (one, other) = (sessions.start(&world), sessions.start(&world));
        for session in [&one, &other] {
            sessions.keep(session, known(), 0);
        }
        let mut now = 0;
        while now < LONGEST {
            now += IDLE;
            assert!(sessions.get(&one.id, now).is_some());
            assert!(sessions.get(&other.id, now).is_some());
        }
        sessions.keep(&other, known(), now);
        assert!(sessions.get(&one.id, now + 1).is_none());
        assert!(sessions.get(&other.id, now + 1).is_some());
    }
}
