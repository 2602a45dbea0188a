//! Sessions: a key that both sides have agreed on (`handle-protocol.md` §4.5 to §4.8).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use handfast_wire::body::{
    Body, DhOffer, HandleRequest, KeyExchange, SessionSetup, SessionSetupReply,
};
use handfast_wire::crypto::{
    CounterWindow, CryptoError, DhKeyPair, MODP_2048, SessionAlgorithm, SessionKey,
};
use handfast_wire::{
    Codec, Credential, Framing, Message, OpFlags, Opcode, PublicKey, Reader, ResponseCode, Version,
};
use tokio::sync::Mutex as Gate;

use crate::authentication::Login;
use crate::error::{ClientError, ReplyFault};
use crate::exchange::{Ask, refused};
use crate::service::Server;
use crate::shared::Shared;
use crate::transport::{Endpoint, Packed};

/// A session with one server, for one identity.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: u32,
    key: SessionKey,
    /// The version of the reply that set it up: all messages of the session are of it.
    pub(crate) version: Version,
    sent: AtomicU32,
    received: Mutex<CounterWindow>,
    is_authenticated: AtomicBool,
    /// "only the latest [challenge] is kept per session": until it is known who asks, one request is made at a time.
    pub(crate) gate: Gate<()>,
}

impl Session {
    /// The credential of a request, which counts it.
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

    /// Whether a reply is the server's, and new.
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

    /// The server has accepted an answer to its challenge.
    pub(crate) fn is_known(&self) {
        self.is_authenticated.store(true, Ordering::Release);
    }
}

/// The sessions of a client.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    kept: Mutex<HashMap<(Endpoint, String), Arc<Session>>>,
}

impl Sessions {
    fn get(&self, server: &Server, login: &Login) -> Option<Arc<Session>> {
        lock(&self.kept).get(&key(server, login)).cloned()
    }

    fn put(&self, server: &Server, login: &Login, session: &Arc<Session>) {
        let mut kept = lock(&self.kept);
        if kept.len() >= MOST {
            // Those that are forgotten here end by themselves at the server.
            kept.clear();
        }
        kept.insert(key(server, login), Arc::clone(session));
    }

    /// Forgets a session, unless there is another in its place by now.
    pub(crate) fn forget(&self, server: &Server, login: &Login, session: &Session) {
        let mut kept = lock(&self.kept);
        let key = key(server, login);
        if kept.get(&key).is_some_and(|kept| kept.id == session.id) {
            kept.remove(&key);
        }
    }

    /// Takes one out, to end it.
    pub(crate) fn take(&self) -> Option<(Endpoint, Arc<Session>)> {
        let mut kept = lock(&self.kept);
        let key = kept.keys().next().cloned()?;
        let session = kept.remove(&key)?;
        Some((key.0, session))
    }
}

impl Shared {
    /// The session with a server for someone, which is set up if there is none.
    pub(crate) async fn session(
        &self,
        server: &Server,
        login: &Login,
    ) -> Result<Arc<Session>, ClientError> {
        if let Some(session) = self.sessions.get(server, login) {
            return Ok(session);
        }
        let session = Arc::new(self.set_up(server, login).await?);
        self.sessions.put(server, login, &session);
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
        self.ask_once(&server, &ask, session).await.map(drop)
    }

    /// "Since session MACs hide the server's key, the client must request CT on `SESSION_SETUP`."
    async fn set_up(&self, server: &Server, login: &Login) -> Result<Session, ClientError> {
        let pair = DhKeyPair::generate(&MODP_2048, &[2], &mut |bytes| self.world.fill(bytes))?;
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
        let answer = self.ask_alone(server, &ask, None).await?;
        let reply = answer.message;
        if reply.outcome() != ResponseCode::Success {
            return Err(refused(server, &reply));
        }
        let (version, id) = (reply.envelope.version, reply.envelope.session_id);
        let fault = |fault| server.fault(fault);
        let body: SessionSetupReply<'_> = reply.read().map_err(|error| fault(error.into()))?;
        let offer = DhOffer::read(version, &mut Reader::new(&body.data))
            .map_err(|error| fault(error.into()))?;
        let peer = PublicKey::from_bytes(&offer.public_key).map_err(|error| fault(error.into()))?;
        let algorithm = SessionAlgorithm::from_code(offer.algorithm)
            .ok_or_else(|| fault(ReplyFault::Signature(CryptoError::Algorithm)))?;
        let key = pair
            .agree(&peer)
            .and_then(|secret| secret.session_key(algorithm))
            .map_err(|error| fault(ReplyFault::Signature(error)))?;
        Ok(Session {
            id,
            key,
            version,
            sent: AtomicU32::new(0),
            received: Mutex::default(),
            is_authenticated: AtomicBool::new(false),
            gate: Gate::new(()),
        })
    }
}

fn key(server: &Server, login: &Login) -> (Endpoint, String) {
    (server.endpoint.clone(), login.identity().to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many sessions are kept.
const MOST: usize = 256;
