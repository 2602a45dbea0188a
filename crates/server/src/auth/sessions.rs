//! Sessions of the native protocol: a key that both sides have agreed on, and the identity of
//! the client once it has logged in.

use std::collections::HashMap;
use std::sync::Arc;

use handfast_wire::crypto::{CounterWindow, SessionKey};
use handfast_wire::{Reference, Version};

use crate::admission::peer::Peer;
use crate::admission::table_shares::{TableEntry, surplus};
use crate::auth::evidence;
use crate::auth::login::Authenticated;
use crate::runtime::lock::Lock;

/// How many sessions without and with a login there may be. When there are more, the server evicts
/// the sessions that were idle for the longest time, of the network that has the most.
const MAX_ANONYMOUS: usize = 5_000;
const MAX_KNOWN: usize = 5_000;
/// How many sessions may come before the server counts them again.
const COUNT_INTERVAL: usize = 50;
/// The longest that a session lives without a message, in seconds, whatever the client asks for.
const MAX_IDLE_SECONDS: u32 = 86_400;

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) number: u32,
    pub(crate) key: SessionKey,
    /// The version that it was set up in.
    pub(crate) version: Version,
    /// The identity that the client claimed.
    pub(crate) claimed: Option<Reference<'static>>,
    /// The network that set it up.
    peer: Peer,
    state: Lock<SessionState>,
}

#[derive(Debug)]
struct SessionState {
    /// The identity that the client has proved.
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
        peer: Peer,
        now: u64,
    ) -> Self {
        Self {
            number,
            key,
            version,
            claimed,
            peer,
            state: Lock::new(SessionState {
                who: None,
                incoming: CounterWindow::default(),
                outgoing: 0,
                timeout: u64::from(timeout.min(MAX_IDLE_SECONDS)) * 1_000,
                began: now,
                last: now,
            }),
        }
    }

    pub(crate) fn who(&self) -> Option<Authenticated> {
        self.state.lock().who.clone()
    }

    /// The client has shown who it is.
    pub(crate) fn is_of(&self, who: Authenticated) {
        self.state.lock().who = Some(who);
    }

    /// Whether a message with this counter is new.
    pub(crate) fn accepts(&self, counter: u32) -> bool {
        // Older versions do not count.
        self.version < Version::new(2, 5) || self.state.lock().incoming.accept(counter)
    }

    /// Its client has said something.
    pub(crate) fn touch(&self, now: u64) {
        self.state.lock().last = now;
    }

    /// The counter of the next message to the client.
    pub(crate) fn next_counter(&self) -> u32 {
        let mut state = self.state.lock();
        state.outgoing = state.outgoing.saturating_add(1);
        state.outgoing
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Lock<SessionTable>,
}

#[derive(Debug, Default)]
struct SessionTable {
    by_number: HashMap<u32, Arc<Session>>,
    /// How many have come since they were counted.
    uncounted: usize,
}

impl SessionTable {
    /// Evicts sessions if there are too many of either kind. Anonymous sessions cost a client
    /// nothing, so they never evict known ones.
    fn evict(&mut self, now: u64) {
        self.uncounted = 0;
        self.by_number.retain(|_, session| session.is_alive(now));
        for (is_known, max) in [(false, MAX_ANONYMOUS), (true, MAX_KNOWN)] {
            let entries = self.by_number.values().filter_map(|session| {
                let state = session.state.lock();
                (state.who.is_some() == is_known).then_some(TableEntry {
                    key: session.number,
                    peer: session.peer,
                    last: state.last,
                    size: 1,
                })
            });
            for number in surplus(entries, max - COUNT_INTERVAL) {
                self.by_number.remove(&number);
            }
        }
    }
}

impl Sessions {
    pub(crate) fn add(&self, session: Session, now: u64) {
        let mut open = self.open.lock();
        open.uncounted += 1;
        let least = MAX_ANONYMOUS.min(MAX_KNOWN) - COUNT_INTERVAL;
        if open.by_number.len() >= least && open.uncounted >= COUNT_INTERVAL {
            open.evict(now);
        }
        open.by_number.insert(session.number, Arc::new(session));
    }

    /// How many live.
    pub(crate) fn count(&self, now: u64) -> u64 {
        let open = self.open.lock();
        let alive = open
            .by_number
            .values()
            .filter(|session| session.is_alive(now))
            .count();
        u64::try_from(alive).unwrap_or(u64::MAX)
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.open.lock().by_number.contains_key(&number)
    }

    /// A session that lives. It lives on by what only its client can say.
    pub(crate) fn get(&self, number: u32, now: u64) -> Option<Arc<Session>> {
        let mut open = self.open.lock();
        let session = Arc::clone(open.by_number.get(&number)?);
        if !session.is_alive(now) {
            open.by_number.remove(&number);
            return None;
        }
        Some(session)
    }

    pub(crate) fn remove(&self, number: u32) {
        self.open.lock().by_number.remove(&number);
    }
}

impl Session {
    fn is_alive(&self, now: u64) -> bool {
        let state = self.state.lock();
        now.saturating_sub(state.last) <= state.timeout
            && now.saturating_sub(state.began) <= evidence::MAX_SESSION_AGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use handfast_registry::Principal;
    use handfast_wire::crypto::SessionAlgorithm;

    #[test]
    fn a_session_ends_by_silence_and_after_a_day() {
        let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32]).unwrap();
        let session = Session::new(7, key, Version::CURRENT, None, 3_600, Peer::Datagram, 0);
        let sessions = Sessions::default();
        sessions.add(session, 0);
        let hour = 3_600_000;
        for passed in 0..=24 {
            let session = sessions.get(7, passed * hour).unwrap();
            session.touch(passed * hour);
        }
        assert!(sessions.get(7, 24 * hour + 1).is_none());
    }

    /// One network filled the table, and everybody else could not finish a login.
    #[test]
    fn a_network_pushes_out_its_own_sessions() {
        let sessions = Sessions::default();
        let network = |last: u8| Peer::connected([192, 0, 2, last].into());
        let add = |number: u32, network: Peer, now: u64| {
            let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32]).unwrap();
            let session = Session::new(number, key, Version::CURRENT, None, 3_600, network, now);
            sessions.add(session, now);
        };
        let log_in = |number: u32| {
            let who = Principal::parse("300:20.1/a").unwrap();
            let session = sessions.get(number, 0).unwrap();
            session.is_of(Authenticated { who, by: None });
        };
        add(1, network(1), 0);
        add(2, network(1), 0);
        log_in(2);
        for number in 10..13_000 {
            // Every second one of them logs in.
            add(
                number,
                network(2 + u8::try_from(number % 2).unwrap()),
                number.into(),
            );
            if number % 2 == 0 {
                log_in(number);
            }
        }
        assert!(sessions.get(1, 0).is_some());
        assert!(sessions.get(2, 0).unwrap().who().is_some());
        assert!(sessions.open.lock().by_number.len() <= MAX_ANONYMOUS + MAX_KNOWN);
    }
}
