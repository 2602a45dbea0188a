//! The table of open REST sessions: the nonce of each, and the client that has answered it.

use std::sync::Arc;

use data_encoding::BASE32;
use handfast_registry::Environment;

use crate::admission::peer::Peer;
use crate::auth::login::Authenticated;
use crate::auth::session_table::{OpenSession, SessionTable};

/// How long a session lives without a request, in milliseconds.
const IDLE_TIMEOUT: u64 = 30 * 60_000;

/// All sessions. Every 401 opens one.
pub(crate) type RestSessions = SessionTable<String, ServerNonce, Known, 10_000>;
/// A session. Its id is a secret: it authenticates its bearer.
pub(crate) type RestSession = OpenSession<String, ServerNonce, Known>;

/// The number that a client signs.
#[derive(Debug)]
pub(crate) struct ServerNonce {
    pub(crate) nonce: [u8; 16],
}

/// A client that has logged in.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// As they have said it.
    pub(crate) id: String,
    pub(crate) login: Authenticated,
}

impl RestSessions {
    /// Opens one for a client of a network.
    pub(crate) fn start(&self, world: &Environment, peer: Peer) -> Arc<RestSession> {
        // 32 letters and digits.
        let id = BASE32.encode(&world.random::<20>()).to_ascii_lowercase();
        let nonce = ServerNonce {
            nonce: world.random(),
        };
        self.add(id, nonce, peer, IDLE_TIMEOUT, world.now())
    }

    /// One that lives; it lives on.
    pub(crate) fn named(&self, id: &str, now: u64) -> Option<Arc<RestSession>> {
        let session = self.get(id, now)?;
        session.touch(now);
        Some(session)
    }

    /// The client of a session has logged in.
    pub(crate) fn keep(&self, session: &Arc<RestSession>, known: Known, now: u64) {
        session.is_of(known);
        session.restart(now);
        self.put(session, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    use crate::auth::evidence::MAX_SESSION_AGE;
    use handfast_registry::Principal;

    #[test]
    fn a_session_ends_after_a_day_without_a_new_login() {
        let counter = AtomicU8::new(0);
        let fill = move |bytes: &mut [u8]| bytes.fill(counter.fetch_add(1, Ordering::Relaxed));
        let (world, began) = (Environment::new(|| 0, fill), 0);
        let sessions = RestSessions::default();
        let start = || sessions.start(&world, Peer::Datagram);
        let (one, other) = (start(), start());
        let who = Principal::parse("300:20.1000/A").unwrap();
        let known = Known {
            id: who.to_string(),
            login: Authenticated { who, by: None },
        };
        for session in [&one, &other] {
            assert_eq!(session.id.len(), 32);
            sessions.keep(session, known.clone(), began);
        }
        let mut now = began;
        while now < began + MAX_SESSION_AGE {
            now += IDLE_TIMEOUT;
            assert!(sessions.named(&one.id, now).is_some());
            assert!(sessions.named(&other.id, now).is_some());
        }
        sessions.keep(&other, known, now);
        assert!(sessions.named(&one.id, now + 1_000).is_none());
        assert!(sessions.named(&other.id, now + 1_000).is_some());
        assert!(sessions.named(&other.id, now + 2 * IDLE_TIMEOUT).is_none());
    }
}
