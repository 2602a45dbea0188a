//! Open sessions, of the native protocol and of the REST API: how long they live, and which of
//! them a full table evicts.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

use crate::admission::peer::Peer;
use crate::admission::table_shares::{TableEntry, surplus};
use crate::auth::evidence::MAX_SESSION_AGE;
use crate::runtime::lock::Lock;

/// A session: its id, its secrets, and `W`, the identity of a client that has logged in.
#[derive(Debug)]
pub(crate) struct OpenSession<K, S, W> {
    pub(crate) id: K,
    secrets: S,
    /// The network that opened it.
    peer: Peer,
    /// How long it lives without a message, in milliseconds.
    timeout: u64,
    state: Lock<SessionState<W>>,
}

#[derive(Debug)]
struct SessionState<W> {
    /// The identity that the client has proved.
    who: Option<W>,
    /// The start of its life of at most a day.
    began: u64,
    last: u64,
}

impl<K, S, W: Clone> OpenSession<K, S, W> {
    pub(crate) fn who(&self) -> Option<W> {
        self.state.lock().who.clone()
    }

    /// The client has shown who it is.
    pub(crate) fn is_of(&self, who: W) {
        self.state.lock().who = Some(who);
    }

    /// Its client has said something.
    pub(crate) fn touch(&self, now: u64) {
        self.state.lock().last = now;
    }

    /// Lets it live for another day.
    pub(crate) fn restart(&self, now: u64) {
        self.state.lock().began = now;
    }

    fn is_alive(&self, now: u64) -> bool {
        let state = self.state.lock();
        now.saturating_sub(state.last) <= self.timeout
            && now.saturating_sub(state.began) <= MAX_SESSION_AGE
    }
}

impl<K, S, W> Deref for OpenSession<K, S, W> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.secrets
    }
}

/// The open sessions: `MAX` without a login, and as many with one. When there are more, the server
/// evicts the sessions that were idle for the longest time, of the network that has the most.
#[derive(Debug)]
pub(crate) struct SessionTable<K, S, W, const MAX: usize>(Lock<OpenSessions<K, S, W>>);

#[derive(Debug)]
struct OpenSessions<K, S, W> {
    by_id: HashMap<K, Arc<OpenSession<K, S, W>>>,
    /// How many have come since they were counted.
    uncounted: usize,
}

impl<K, S, W, const MAX: usize> Default for SessionTable<K, S, W, MAX> {
    fn default() -> Self {
        Self(Lock::new(OpenSessions {
            by_id: HashMap::new(),
            uncounted: 0,
        }))
    }
}

impl<K: Clone + Eq + Hash, S, W: Clone, const MAX: usize> SessionTable<K, S, W, MAX> {
    /// How many sessions may come before the server counts them again: more than one, because it
    /// looks at all of them.
    const COUNT_INTERVAL: usize = MAX / 100;

    pub(crate) fn add(
        &self,
        id: K,
        secrets: S,
        peer: Peer,
        timeout: u64,
        now: u64,
    ) -> Arc<OpenSession<K, S, W>> {
        let session = Arc::new(OpenSession {
            id,
            secrets,
            peer,
            timeout,
            state: Lock::new(SessionState {
                who: None,
                began: now,
                last: now,
            }),
        });
        self.put(&session, now);
        session
    }

    /// Lists a session, which may have been evicted.
    pub(crate) fn put(&self, session: &Arc<OpenSession<K, S, W>>, now: u64) {
        let mut open = self.0.lock();
        open.uncounted += 1;
        let max = MAX - Self::COUNT_INTERVAL;
        if open.by_id.len() >= max && open.uncounted >= Self::COUNT_INTERVAL {
            open.evict(max, now);
        }
        open.by_id.insert(session.id.clone(), Arc::clone(session));
    }

    /// How many live.
    pub(crate) fn count(&self, now: u64) -> u64 {
        let open = self.0.lock();
        let alive = open.by_id.values().filter(|session| session.is_alive(now));
        u64::try_from(alive.count()).unwrap_or(u64::MAX)
    }

    pub(crate) fn has<Q: Eq + Hash + ?Sized>(&self, id: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.lock().by_id.contains_key(id)
    }

    /// A session that lives. It lives on by what only its client can say.
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(
        &self,
        id: &Q,
        now: u64,
    ) -> Option<Arc<OpenSession<K, S, W>>>
    where
        K: Borrow<Q>,
    {
        let mut open = self.0.lock();
        let session = Arc::clone(open.by_id.get(id)?);
        if !session.is_alive(now) {
            open.by_id.remove(id);
            return None;
        }
        Some(session)
    }

    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&self, id: &Q)
    where
        K: Borrow<Q>,
    {
        self.0.lock().by_id.remove(id);
    }
}

impl<K: Clone + Eq + Hash, S, W: Clone> OpenSessions<K, S, W> {
    /// Evicts sessions if there are too many of either kind. Anonymous sessions cost a client
    /// nothing, so they never evict known ones.
    fn evict(&mut self, max: usize, now: u64) {
        self.uncounted = 0;
        self.by_id.retain(|_, session| session.is_alive(now));
        for is_known in [false, true] {
            let is_of_kind = |session: &&Arc<OpenSession<K, S, W>>| {
                session.state.lock().who.is_some() == is_known
            };
            if self.by_id.values().filter(is_of_kind).count() <= max {
                continue;
            }
            let entries = self.by_id.values().filter_map(|session| {
                let state = session.state.lock();
                (state.who.is_some() == is_known).then_some(TableEntry {
                    key: session.id.clone(),
                    peer: session.peer,
                    last: state.last,
                    size: 1,
                })
            });
            for id in surplus(entries, max) {
                self.by_id.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1_000;

    /// One network filled the table, and everybody else could not finish a login.
    #[test]
    fn a_network_pushes_out_its_own_sessions() {
        let sessions = SessionTable::<u32, (), (), MAX>::default();
        let network = |last: u8| Peer::connected([192, 0, 2, last].into());
        let add = |number: u32, peer: Peer| {
            let now = number.into();
            sessions.add(number, (), peer, 3_600_000, now)
        };
        add(1, network(1));
        add(2, network(1)).is_of(());
        for number in 10..5_000 {
            // Every second one of them logs in.
            let is_known = number % 2 == 0;
            let session = add(number, network(2 + u8::from(is_known)));
            if is_known {
                session.is_of(());
            }
        }
        assert!(sessions.get(&1, 0).is_some());
        assert!(sessions.get(&2, 0).unwrap().who().is_some());
        let open = sessions.0.lock();
        for is_known in [false, true] {
            let sessions = open.by_id.values();
            let of_kind = sessions.filter(|session| session.who().is_some() == is_known);
            assert!(of_kind.count() <= MAX);
        }
    }

    /// Every 401 of the REST API opens a session.
    #[test]
    fn anonymous_sessions_are_evicted_and_known_ones_stay() {
        let sessions = SessionTable::<u32, (), (), MAX>::default();
        let add = |number: u32, now: u64| sessions.add(number, (), Peer::Datagram, 60_000, now);
        add(0, 0).is_of(());
        for number in 1..5_000 {
            add(number, u64::from(number > 1));
        }
        assert!(sessions.get(&1, 1).is_none());
        assert!(sessions.get(&0, 1).unwrap().who().is_some());
        assert!(sessions.0.lock().by_id.len() <= MAX + 1);
    }

    #[test]
    fn a_session_ends_by_silence_and_after_a_day() {
        let sessions = SessionTable::<u32, (), (), MAX>::default();
        let hour = 3_600_000;
        for number in [7, 8] {
            sessions.add(number, (), Peer::Datagram, hour, 0);
        }
        for passed in 0..=24 {
            for number in [7, 8] {
                let session = sessions.get(&number, passed * hour).unwrap();
                session.touch(passed * hour);
            }
        }
        sessions.get(&8, 24 * hour).unwrap().restart(24 * hour);
        assert!(sessions.get(&7, 24 * hour + 1).is_none());
        assert!(sessions.get(&8, 24 * hour + 1).is_some());
        assert!(sessions.get(&8, 25 * hour + 1).is_none());
    }
}
