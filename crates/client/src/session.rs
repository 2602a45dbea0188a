//! Sessions: a key that both sides have agreed on (`handle-protocol.md` §4.5 to §4.8).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use handfast_wire::body::{
    Body, DhOffer, HandleRequest, KeyExchange, SessionSetup, SessionSetupReply,
};
use handfast_wire::crypto::{
    CounterWindow, CryptoError, DhKeyPair, MODP_2048, SessionAlgorithm, SessionKey,
};
use handfast_wire::{
    Codec, Credential, Framing, Message, OpFlags, Opcode, PublicKey, Reader, Version,
};
use tokio::sync::Mutex as Gate;

use crate::authentication::Login;
use crate::client::succeeded;
use crate::error::{ClientError, ReplyFault};
use crate::exchange::Ask;
use crate::service::Server;
use crate::shared::{Shared, lock};
use crate::transport::{Endpoint, Packed};

/// A session with one server, for one identity.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: u32,
    key: SessionKey,
    /// The version of the reply that set it up: all messages of the session use it.
    pub(crate) version: Version,
    sent: AtomicU32,
    received: Mutex<CounterWindow>,
    is_authenticated: AtomicBool,
    /// "only the latest [challenge] is kept per session": until the login is accepted, requests are
    /// sent one at a time.
    pub(crate) gate: Gate<()>,
}

impl Session {
    fn new(id: u32, key: SessionKey, version: Version) -> Self {
        Self {
            id,
            key,
            version,
            sent: AtomicU32::new(0),
            received: Mutex::default(),
            is_authenticated: AtomicBool::new(false),
            gate: Gate::new(()),
        }
    }

    /// The credential of a request, with its counter.
    pub(crate) fn certify(&self, request: &Message<'_>) -> Result<Vec<u8>, CryptoError> {
        let counter = self.sent.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let framing = Framing::of(&request.envelope);
        let credential = self.key.mac(&framing, counter, &request.signed_part())?;
        Ok(credential.to_bytes())
    }

    /// Encrypts a message.
    pub(crate) fn seal(&self, message: &Message<'_>, iv: &[u8; 16]) -> Result<Packed, CryptoError> {
        let payload = self.key.encrypt(self.version, &message.payload(), iv)?;
        let mut envelope = message.envelope;
        envelope.flags.is_encrypted = true;
        envelope.length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        Ok(Packed { envelope, payload })
    }

    /// Decrypts a reply.
    pub(crate) fn open(&self, payload: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let opened = self.key.decrypt(self.version, payload)?;
        Ok(opened.to_vec())
    }

    /// Whether a reply is from the server, and new.
    pub(crate) fn verify(
        &self,
        credential: &Credential<'_>,
        reply: &Message<'_>,
    ) -> Result<(), ReplyFault> {
        if reply.envelope.session_id != self.id {
            return Err(ReplyFault::Session);
        }
        let framing = Framing::of(&reply.envelope);
        self.key
            .verify_mac(credential, &framing, &reply.signed_part())
            .map_err(ReplyFault::Signature)?;
        let is_counted = self.version >= Version::new(2, 5);
        let mut received = lock(&self.received);
        if is_counted && !received.accept(credential.counter()) {
            return Err(ReplyFault::Replayed);
        }
        Ok(())
    }

    pub(crate) fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Acquire)
    }

    /// Records that the server has accepted an answer to its challenge.
    pub(crate) fn is_known(&self) {
        self.is_authenticated.store(true, Ordering::Release);
    }
}

/// The sessions of a client, by server and identity. Each has a slot of its own, so that concurrent
/// requests wait for one session that is being set up.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    slots: Mutex<HashMap<(Endpoint, String), SessionSlot>>,
}

type SessionSlot = Arc<Gate<Option<Arc<Session>>>>;

impl Sessions {
    fn slot(&self, server: &Server, login: &Login) -> SessionSlot {
        let mut slots = lock(&self.slots);
        if slots.len() >= MAX_SESSIONS {
            // Removed sessions time out at the server.
            slots.clear();
        }
        let key = (server.endpoint.clone(), login.identity().to_string());
        Arc::clone(slots.entry(key).or_default())
    }

    /// Removes a session, unless a new one has replaced it.
    pub(crate) async fn forget(&self, server: &Server, login: &Login, session: &Session) {
        let slot = self.slot(server, login);
        let mut slot = slot.lock().await;
        if slot.as_ref().is_some_and(|slot| slot.id == session.id) {
            *slot = None;
        }
    }

    /// Removes all sessions, to end them.
    pub(crate) async fn take(&self) -> Vec<(Endpoint, Arc<Session>)> {
        let slots = std::mem::take(&mut *lock(&self.slots));
        let mut taken = Vec::new();
        for ((endpoint, _), slot) in slots {
            let session = slot.lock().await.take();
            taken.extend(session.map(|session| (endpoint, session)));
        }
        taken
    }
}

impl Shared {
    /// The session with a server for a login, which is set up if there is none.
    pub(crate) async fn session(
        &self,
        server: &Server,
        login: &Login,
    ) -> Result<Arc<Session>, ClientError> {
        let slot = self.sessions.slot(server, login);
        let mut slot = slot.lock().await;
        if let Some(session) = &*slot {
            return Ok(Arc::clone(session));
        }
        let session = Arc::new(self.set_up(server, login).await?);
        *slot = Some(Arc::clone(&session));
        Ok(session)
    }

    /// Tells a server that a session ends.
    pub(crate) async fn terminate(
        &self,
        endpoint: Endpoint,
        session: &Arc<Session>,
    ) -> Result<(), ClientError> {
        let ask = Ask::new(Opcode::SessionTerminate, "", &HandleRequest::default());
        // The session vouches for the server.
        let server = Server {
            endpoint,
            version: session.version,
            serial: None,
            keys: Vec::new(),
        };
        self.ask_once(&server, &ask, Some(session)).await.map(drop)
    }

    /// "Since session MACs hide the server's key, the client must request CT on `SESSION_SETUP`."
    async fn set_up(&self, server: &Server, login: &Login) -> Result<Session, ClientError> {
        let pair =
            DhKeyPair::generate(&MODP_2048, &[2], &mut |bytes| self.environment.fill(bytes))?;
        let setup = SessionSetup {
            key_exchange: KeyExchange::DiffieHellman {
                public_key: pair.public_key().to_bytes().into(),
            },
            timeout: SessionSetup::TIMEOUT,
            identity: login.identity().clone(),
        };
        let ask = Ask {
            flags: OpFlags::REQUEST | OpFlags::CT | OpFlags::RD,
            ..Ask::new(Opcode::SessionSetup, "", &setup)
        };
        let answer = succeeded(self.ask_alone(server, &ask, None).await?)?;
        let envelope = &answer.message.envelope;
        let (version, id) = (envelope.version, envelope.session_id);
        let fault = |fault| server.fault(fault);
        let body: SessionSetupReply<'_> = answer.read()?;
        let offer = DhOffer::read(version, &mut Reader::new(&body.data))
            .map_err(|error| fault(error.into()))?;
        let peer = PublicKey::from_bytes(&offer.public_key).map_err(|error| fault(error.into()))?;
        let algorithm = SessionAlgorithm::from_code(offer.algorithm)
            .ok_or_else(|| fault(ReplyFault::Signature(CryptoError::Algorithm)))?;
        let key = pair
            .agree(&peer)
            .and_then(|secret| secret.session_key(algorithm))
            .map_err(|error| fault(ReplyFault::Signature(error)))?;
        Ok(Session::new(id, key, version))
    }
}

/// The maximum number of sessions.
const MAX_SESSIONS: usize = 256;

#[cfg(test)]
mod tests {
    use handfast_wire::body::Empty;
    use handfast_wire::{Envelope, Header};

    use super::*;

    fn session() -> Session {
        let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32]).unwrap();
        Session::new(9, key, Version::CURRENT)
    }

    fn message(session_id: u32) -> Message<'static> {
        let envelope = Envelope {
            session_id,
            ..Envelope::new(Version::CURRENT)
        };
        Message::new(envelope, Header::request(Opcode::DeleteHandle, 1), &Empty)
    }

    #[test]
    fn a_reply_that_comes_again_is_refused() {
        let (ours, theirs) = (session(), session());
        let reply = message(9);
        let bytes = theirs.certify(&reply).unwrap();
        let credential = Credential::from_bytes(&bytes).unwrap();
        assert_eq!(credential.counter(), 1);
        assert_eq!(ours.verify(&credential, &reply), Ok(()));
        assert_eq!(ours.verify(&credential, &reply), Err(ReplyFault::Replayed));
        let other = ours.verify(&credential, &message(8));
        assert_eq!(other, Err(ReplyFault::Session));
        let mut changed = reply;
        changed.header.expiration += 1;
        let forged = ours.verify(&credential, &changed);
        assert_eq!(forged, Err(ReplyFault::Signature(CryptoError::Mismatch)));
    }

    #[test]
    fn what_is_sealed_is_opened() {
        let sealed = session().seal(&message(9), &[1; 16]).unwrap();
        assert!(sealed.envelope.flags.is_encrypted);
        let opened = session().open(&sealed.payload).unwrap();
        assert_eq!(opened, message(9).payload());
    }
}
