//! Sessions: a key that both sides have agreed on, and who the client has shown to be.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use handfast_wire::crypto::{CounterWindow, SessionKey};
use handfast_wire::{Reference, Version};

use crate::auth::evidence;
use crate::auth::login::Authenticated;

/// How many sessions there are at most: those in which nobody has logged in, and then those that were silent longest,
/// make room.
const MOST: usize = 10_000;
/// The longest that a session lives without a message, in seconds, whatever the client asks for.
const LONGEST: u32 = 86_400;

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) number: u32,
    pub(crate) key: SessionKey,
    /// The version that it was set up in.
    pub(crate) version: Version,
    /// Who the client claimed to be.
    pub(crate) claimed: Option<Reference<'static>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Who the client has shown to be.
    who: Option<Authenticated>,
    incoming: CounterWindow,
    outgoing: u32,
    timeout: u64,
    began: u64,
    last: u64,
}

impl Session {
    pub(crate) fn new(
        number: u32,
        key: SessionKey,
        version: Version,
        claimed: Option<Reference<'static>>,
        timeout: u32,
        now: u64,
    ) -> Self {
        Self {
            number,
            key,
            version,
            claimed,
            state: Mutex::new(State {
                who: None,
                incoming: CounterWindow::default(),
                outgoing: 0,
                timeout: u64::from(timeout.min(LONGEST)) * 1_000,
                began: now,
                last: now,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn who(&self) -> Option<Authenticated> {
        self.state().who.clone()
    }

    /// The client has shown who it is.
    pub(crate) fn is_of(&self, who: Authenticated) {
        self.state().who = Some(who);
    }

    /// Whether a message with this counter is new.
    pub(crate) fn accepts(&self, counter: u32) -> bool {
        // Older versions do not count.
        self.version < Version::new(2, 5) || self.state().incoming.accept(counter)
    }

    /// Its client has said something.
    pub(crate) fn touch(&self, now: u64) {
        self.state().last = now;
    }

    /// The counter of the next message to the client.
    pub(crate) fn next_counter(&self) -> u32 {
        let mut state = self.state();
        state.outgoing = state.outgoing.saturating_add(1);
        state.outgoing
    }
}

/// All sessions, by number.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<u32, Arc<Session>>>,
}

impl Sessions {
    fn open(&self) -> MutexGuard<'_, HashMap<u32, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, session: Session, now: u64) {
        let mut open = self.open();
        if open.len() >= MOST {
            open.retain(|_, session| session.is_alive(now));
        }
        if open.len() >= MOST {
            // Sessions in which nobody has logged in cost nothing, and push out no others.
            let oldest = open.values().min_by_key(|session| {
                let state = session.state();
                (state.who.is_some(), state.last)
            });
            if let Some(number) = oldest.map(|session| session.number) {
                open.remove(&number);
            }
        }
        open.insert(session.number, Arc::new(session));
    }

    /// How many live.
    pub(crate) fn count(&self, now: u64) -> u64 {
        let open = self.open();
        let alive = open
            .values()
            .filter(|session| session.is_alive(now))
            .count();
        u64::try_from(alive).unwrap_or(u64::MAX)
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.open().contains_key(&number)
    }

    /// A session that lives. It lives on by what only its client can say.
    pub(crate) fn get(&self, number: u32, now: u64) -> Option<Arc<Session>> {
        let mut open = self.open();
        let session = Arc::clone(open.get(&number)?);
        if !session.is_alive(now) {
            open.remove(&number);
            return None;
        }
        Some(session)
    }

    pub(crate) fn remove(&self, number: u32) {
        self.open().remove(&number);
    }
}

impl Session {
    fn is_alive(&self, now: u64) -> bool {
        let state = self.state();
        now.saturating_sub(state.last) <= state.timeout
            && now.saturating_sub(state.began) <= evidence::LONGEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use handfast_wire::crypto::SessionAlgorithm;

    #[test]
    fn a_session_ends_by_silence_and_after_a_day() {
        let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32]).unwrap();
        let session = Session::new(7, key, Version::CURRENT, None, 3_600, 0);
        let sessions = Sessions::default();
        sessions.add(session, 0);
        let hour = 3_600_000;
        for passed in 0..=24 {
            let session = sessions.get(7, passed * hour).unwrap();
            session.touch(passed * hour);
        }
        assert!(sessions.get(7, 24 * hour + 1).is_none());
    }
}
