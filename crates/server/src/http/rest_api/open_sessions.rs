//! The table of open REST sessions: the nonce of each, and the client that has answered it.

use std::collections::HashMap;
use std::sync::Arc;

use handfast_registry::{Environment, Principal};

use crate::admission::peer::Peer;
use crate::admission::table_shares::{TableEntry, surplus};
use crate::auth::evidence::{Evidence, MAX_SESSION_AGE};
use crate::runtime::lock::Lock;

/// How long a session lives without a request, in milliseconds.
const IDLE_TIMEOUT: u64 = 30 * 60_000;
/// How many are open at most, of anonymous clients and of known ones each.
const MAX_SESSIONS: usize = 10_000;
/// How many stay when a table is full. More than one makes room at a time, because finding them
/// takes a look at all.
const MAX_AFTER_FULL: usize = MAX_SESSIONS - MAX_SESSIONS / 100;

/// A session. Its id is a secret: it authenticates its bearer.
#[derive(Debug)]
pub(crate) struct RestSession {
    pub(crate) id: String,
    pub(crate) nonce: [u8; 16],
    /// The network that opened it.
    peer: Peer,
    state: Lock<RestSessionState>,
}

#[derive(Debug)]
struct RestSessionState {
    who: Option<Known>,
    /// The time of the last login, or of the start of the session.
    began: u64,
    last: u64,
}

/// A client that has logged in.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) who: Principal,
    /// As they have said it.
    pub(crate) id: String,
    /// The key that was used, if it is on this server.
    pub(crate) by: Option<Evidence>,
}

impl RestSession {
    pub(crate) fn known(&self) -> Option<Known> {
        self.state.lock().who.clone()
    }

    fn is_alive(&self, now: u64) -> bool {
        let state = self.state.lock();
        now.saturating_sub(state.last) <= IDLE_TIMEOUT
            && now.saturating_sub(state.began) <= MAX_SESSION_AGE
    }
}

/// All of them. Every 401 opens one, so that those of anonymous clients, which cost nothing, never
/// push out those of known ones. When a table is full, the network that has the most sessions gives
/// up those that were idle longest.
#[derive(Debug, Default)]
pub(crate) struct OpenSessions(Lock<OpenRestSessions>);

#[derive(Debug, Default)]
struct OpenRestSessions {
    of_nobody: HashMap<String, Arc<RestSession>>,
    known: HashMap<String, Arc<RestSession>>,
}

impl OpenSessions {
    /// Opens one for a client of a network.
    pub(crate) fn start(&self, world: &Environment, peer: Peer) -> Arc<RestSession> {
        let now = world.now();
        let session = Arc::new(RestSession {
            id: readable(&world.random::<20>()),
            nonce: world.random(),
            peer,
            state: Lock::new(RestSessionState {
                who: None,
                began: now,
                last: now,
            }),
        });
        let mut open = self.0.lock();
        evict(&mut open.of_nobody, now);
        open.of_nobody
            .insert(session.id.clone(), Arc::clone(&session));
        session
    }

    /// One that lives; it lives on.
    pub(crate) fn get(&self, id: &str, now: u64) -> Option<Arc<RestSession>> {
        let mut open = self.0.lock();
        let session = open.known.get(id).or_else(|| open.of_nobody.get(id))?;
        let session = Arc::clone(session);
        if !session.is_alive(now) {
            open.remove(id);
            return None;
        }
        session.state.lock().last = now;
        Some(session)
    }

    /// The client of a session has logged in.
    pub(crate) fn keep(&self, session: &Arc<RestSession>, known: Known, now: u64) {
        let mut state = session.state.lock();
        (state.who, state.began) = (Some(known), now);
        drop(state);
        let mut open = self.0.lock();
        open.of_nobody.remove(&session.id);
        evict(&mut open.known, now);
        open.known.insert(session.id.clone(), Arc::clone(session));
    }

    pub(crate) fn end(&self, id: &str) {
        self.0.lock().remove(id);
    }
}

impl OpenRestSessions {
    fn remove(&mut self, id: &str) {
        self.of_nobody.remove(id);
        self.known.remove(id);
    }
}

/// Evicts sessions from a full table.
fn evict(sessions: &mut HashMap<String, Arc<RestSession>>, now: u64) {
    if sessions.len() < MAX_SESSIONS {
        return;
    }
    sessions.retain(|_, session| session.is_alive(now));
    let entries = sessions.values().map(|session| TableEntry {
        key: session.id.clone(),
        peer: session.peer,
        last: session.state.lock().last,
        size: 1,
    });
    for id in surplus(entries, MAX_AFTER_FULL) {
        sessions.remove(&id);
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

    const HERE: Peer = Peer::Datagram;

    fn known() -> Known {
        Known {
            who: Principal::parse("300:20.1000/A").unwrap(),
            id: "300:20.1000/A".to_string(),
            by: None,
        }
    }

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
    fn anonymous_sessions_are_evicted_and_known_ones_stay() {
        let now = Arc::new(AtomicU64::new(0));
        let world = world(Arc::clone(&now));
        let sessions = OpenSessions::default();
        let (mine, first) = (sessions.start(&world, HERE), sessions.start(&world, HERE));
        now.store(1, Ordering::Relaxed);
        sessions.keep(&mine, known(), 0);
        for _ in 0..MAX_SESSIONS * 2 {
            sessions.start(&world, HERE);
        }
        assert!(sessions.get(&first.id, 0).is_none());
        assert!(sessions.get(&mine.id, 0).unwrap().known().is_some());
        assert!(sessions.0.lock().of_nobody.len() <= MAX_SESSIONS);
        assert_eq!(mine.id.len(), 32);
        assert!(sessions.get(&mine.id, IDLE_TIMEOUT).is_some());
        assert!(sessions.get(&mine.id, IDLE_TIMEOUT * 2 + 1).is_none());
    }

    /// One network filled both tables, and the oldest sessions of all others were evicted.
    #[test]
    fn a_network_pushes_out_its_own_sessions() {
        let world = world(Arc::new(AtomicU64::new(0)));
        let sessions = OpenSessions::default();
        let network = |last: u8| Peer::connected([192, 0, 2, last].into());
        let (anonymous, logged_in) = (
            sessions.start(&world, network(1)),
            sessions.start(&world, network(1)),
        );
        sessions.keep(&logged_in, known(), 0);
        for now in 1..25_000 {
            sessions.start(&world, network(2));
            let session = sessions.start(&world, network(3));
            session.state.lock().last = now;
            sessions.keep(&session, known(), now);
        }
        assert!(sessions.get(&anonymous.id, 0).is_some());
        assert!(sessions.get(&logged_in.id, 0).unwrap().known().is_some());
        let open = sessions.0.lock();
        assert!(open.of_nobody.len() <= MAX_SESSIONS && open.known.len() <= MAX_SESSIONS);
    }

    #[test]
    fn a_session_ends_after_a_day_without_a_new_login() {
        let world = world(Arc::new(AtomicU64::new(0)));
        let sessions = OpenSessions::default();
        let (one, other) = (sessions.start(&world, HERE), sessions.start(&world, HERE));
        for session in [&one, &other] {
            sessions.keep(session, known(), 0);
        }
        let mut now = 0;
        while now < MAX_SESSION_AGE {
            now += IDLE_TIMEOUT;
            assert!(sessions.get(&one.id, now).is_some());
            assert!(sessions.get(&other.id, now).is_some());
        }
        sessions.keep(&other, known(), now);
        assert!(sessions.get(&one.id, now + 1).is_none());
        assert!(sessions.get(&other.id, now + 1).is_some());
    }
}
