//! Sessions of the native protocol: a key that both sides have agreed on, and the identity of
//! the client once it has logged in.

use handfast_wire::crypto::{CounterWindow, SessionKey};
use handfast_wire::{Reference, Version};

use crate::auth::login::Authenticated;
use crate::auth::session_table::{OpenSession, SessionTable};
use crate::runtime::lock::Lock;

/// All sessions.
pub(crate) type Sessions = SessionTable<u32, NativeSession, Authenticated, 5_000>;
/// A session.
pub(crate) type Session = OpenSession<u32, NativeSession, Authenticated>;

/// The longest that a session lives without a message, in seconds, whatever the client asks for.
pub(crate) const MAX_IDLE_SECONDS: u32 = 86_400;

/// The key of a session, and its counters.
#[derive(Debug)]
pub(crate) struct NativeSession {
    pub(crate) key: SessionKey,
    /// The version that it was set up in.
    pub(crate) version: Version,
    /// The identity that the client claimed.
    pub(crate) claimed: Option<Reference<'static>>,
    incoming: Lock<CounterWindow>,
    outgoing: Lock<u32>,
}

impl NativeSession {
    pub(crate) fn new(
        key: SessionKey,
        version: Version,
        claimed: Option<Reference<'static>>,
    ) -> Self {
        Self {
            key,
            version,
            claimed,
            incoming: Lock::default(),
            outgoing: Lock::default(),
        }
    }

    /// Whether a message with this counter is new.
    pub(crate) fn accepts(&self, counter: u32) -> bool {
        // Older versions do not count.
        self.version < Version::new(2, 5) || self.incoming.lock().accept(counter)
    }

    /// The counter of the next message to the client.
    pub(crate) fn next_counter(&self) -> u32 {
        let mut outgoing = self.outgoing.lock();
        *outgoing = outgoing.saturating_add(1);
        *outgoing
    }
}
