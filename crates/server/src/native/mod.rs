//! The native door: the handle protocol.
//!
//! A request is read, looked at without knowing who sent it, and either answered or challenged; the answer to a
//! challenge says who it was, and the request is looked at again. What is done with handles is the
//! registry's; here are only the order of checks, the codes, and the bytes.

pub(crate) mod administrator;
mod challenges;
mod checkpoint;
mod door;
mod elsewhere;
pub(crate) mod evidence;
mod exchange;
mod feed;
pub(crate) mod meters;
pub(crate) mod operations;
mod parts;
mod prefix_record;
mod quick;
mod replication;
pub(crate) mod response;
mod sessions;
pub(crate) mod status;
mod tcp;
mod udp;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use handfast_client::Roots;
use handfast_id::Handle;
use handfast_registry::{Principal, Registry, World};
use handfast_wire::body::{Body, ChallengeAnswer};
use handfast_wire::crypto::{CryptoError, verify_key_answer, verify_secret_answer};
use handfast_wire::{
    Codec, DecodeError, Envelope, Header, Message, OpFlags, Opcode, PublicKey, Reader, Reference,
    Responder, ResponseCode, Value, Version,
};
use tokio::sync::{Semaphore, SemaphorePermit};

pub use self::door::{Addresses, Door, Served};
use crate::admission::Admission;
use crate::dspace::Dspace;
use crate::identity::Identity;
use crate::native::challenges::Challenges;
use crate::native::elsewhere::Elsewhere;
use crate::native::evidence::Evidence;
use crate::native::exchange::Exchange;
use crate::native::feed::Feed;
use crate::native::meters::Meters;
use crate::native::response::Fault;
use crate::native::sessions::Sessions;

/// The protocol, without a socket.
pub struct Native {
    registry: Arc<Registry>,
    identity: Identity,
    world: World,
    challenges: Challenges,
    sessions: Sessions,
    /// Who may say which prefixes the server is responsible for, beside those who may do everything.
    administrators: Vec<Principal>,
    /// When the server started, in milliseconds since 1970.
    started: u64,
    /// Who may copy everything.
    replicators: Vec<Principal>,
    /// Places for those who do.
    streams: Arc<Semaphore>,
    /// Room for long messages that are on their way, in KiB.
    long: Semaphore,
    /// How many octets a second a network is sent over UDP.
    udp_allowance: Option<u64>,
    elsewhere: Option<Elsewhere>,
    dspace: Option<Dspace>,
    meters: Meters,
    admission: Admission,
}

/// How long a message is that has to wait until there is room for it: and then for as much again, as its octets come.
/// Who only says that a message is long takes no room.
pub(crate) const LONG: usize = 32 << 10;
/// How long a long message may take to come: it takes room that others wait for.
pub(crate) const LONG_PATIENCE: Duration = Duration::from_secs(15);
/// How many octets of long messages are on their way at once: each connection may claim one, and few do.
const LONG_TOGETHER: usize = 64 << 20;

/// How a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Http,
    Tcp,
    Udp,
}

impl Native {
    /// A server with a registry and an identity.
    #[must_use]
    pub fn new(
        registry: Arc<Registry>,
        identity: Identity,
        world: World,
        administrators: Vec<Principal>,
    ) -> Self {
        Self {
            registry,
            identity,
            started: world.now(),
            world,
            challenges: Challenges::default(),
            sessions: Sessions::default(),
            administrators,
            replicators: Vec::new(),
            streams: Arc::new(Semaphore::new(replication::MOST_STREAMS)),
            long: Semaphore::new(LONG_TOGETHER >> 10),
            udp_allowance: None,
            elsewhere: None,
            dspace: None,
            meters: Meters::default(),
            admission: Admission::default(),
        }
    }

    /// The same server, which asks others for what it does not keep: the keys of those who log in, and the records of
    /// delegated prefixes for clients that cannot be sent there.
    pub fn with_roots(self, roots: Roots) -> io::Result<Self> {
        Ok(Self {
            elsewhere: Some(Elsewhere::new(roots)?),
            ..self
        })
    }

    /// The same server, which asks repositories for handles of theirs.
    #[must_use]
    pub fn with_dspace(self, dspace: Dspace) -> Self {
        Self {
            dspace: Some(dspace),
            ..self
        }
    }

    /// Whether there are repositories that are asked.
    pub(crate) fn has_sources(&self) -> bool {
        self.dspace.is_some()
    }

    /// Whether a repository may have to be asked for a handle, which takes time.
    pub(crate) fn has_source(&self, handle: &str) -> bool {
        self.dspace
            .as_ref()
            .is_some_and(|dspace| dspace.has(handle))
    }

    /// What is counted.
    pub(crate) fn meters(&self) -> &Meters {
        &self.meters
    }

    /// The limits that all interfaces share.
    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// How many sessions live.
    pub(crate) fn sessions_open(&self) -> u64 {
        self.sessions.count(self.world.now())
    }

    /// What a repository says of a handle that is not, and never was, kept here.
    pub(crate) fn ask_source(&self, handle: &str) -> Result<Option<Value<'static>>, Fault> {
        match self.dspace.as_ref().filter(|dspace| dspace.has(handle)) {
            Some(dspace) if !self.registry.is_taken(handle)? => dspace.resolve(handle),
            _ => Ok(None),
        }
    }

    /// What is kept.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Time and chance.
    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.world.now()
    }

    /// Who the server is.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The same server, which sends no network more than so many octets a second over UDP.
    #[must_use]
    pub fn with_udp_allowance(self, octets: Option<u64>) -> Self {
        Self {
            udp_allowance: octets,
            ..self
        }
    }

    /// The same server, with mirrors that may copy everything as these identities.
    #[must_use]
    pub fn with_replicators(self, replicators: Vec<Principal>) -> Self {
        Self {
            replicators,
            ..self
        }
    }

    /// Answers what came behind an envelope: nothing, a message, or several. What is itself a reply is
    /// never answered, so that two servers cannot be made to talk to each other.
    pub(crate) fn answer(&self, envelope: Envelope, payload: &[u8], way: Way) -> Vec<Outgoing> {
        let answered = self.answer_uncounted(envelope, payload, way);
        // Those of one request have one outcome.
        if let Some(reply) = answered.last() {
            let (opcode, code) = reply.outcome;
            self.meters.count(way, opcode, code);
        }
        answered
    }

    fn answer_uncounted(&self, envelope: Envelope, payload: &[u8], way: Way) -> Vec<Outgoing> {
        let refuse = |code, text: &str| {
            let refusal = self.responder().refusal(envelope.request_id, code, text);
            vec![Outgoing::open(&refusal)]
        };
        let session = self.sessions.get(envelope.session_id, self.world.now());
        let opened;
        let payload = if envelope.flags.is_encrypted {
            let Some(session) = &session else {
                let is_none = envelope.session_id == 0;
                let code = if is_none {
                    ResponseCode::SessionFailed
                } else {
                    ResponseCode::SessionTimeout
                };
                return refuse(code, "there is no such session");
            };
            match session.key.decrypt(session.version, payload) {
                Ok(plain) => opened = plain,
                Err(_) => return refuse(ResponseCode::SessionFailed, "it cannot be decrypted"),
            }
            &opened
        } else {
            payload
        };
        let request = match Message::open(envelope, payload) {
            Ok(request) => request,
            Err(error) => return refuse(ResponseCode::ProtocolError, &error.to_string()),
        };
        if request.header.is_reply() {
            return Vec::new();
        }
        let exchange = Exchange {
            native: self,
            session: session.as_deref(),
            way,
        };
        exchange.take(&request)
    }

    /// Whether an answer takes no time: nothing is signed, nothing waits for the disk, no template is evaluated, and
    /// no other server is asked, as for clients that do not understand referrals.
    pub(crate) fn is_quick(&self, envelope: &Envelope, payload: &[u8]) -> bool {
        if envelope.flags.is_encrypted {
            return false;
        }
        let mut reader = Reader::new(payload);
        let Ok(header) = Header::decode(&mut reader) else {
            return true;
        };
        let is_plain = header.opcode == Opcode::Resolution
            && !header.flags.contains(OpFlags::CT)
            && understands_referrals(envelope);
        let text = reader.text().unwrap_or_default();
        // A repository may have to be asked.
        if self.has_source(text) {
            return false;
        }
        let handle = Handle::from_stored(text).ok();
        is_plain && !handle.is_some_and(|handle| self.registry.has_templates(&handle))
    }

    /// Waits until there is room for so many octets of a long message.
    pub(crate) async fn room(&self, octets: usize) -> Option<SemaphorePermit<'_>> {
        let kibibytes = u32::try_from(octets >> 10).unwrap_or(u32::MAX);
        self.long.acquire_many(kibibytes).await.ok()
    }

    /// A number that nobody could foresee, for a challenge or a session.
    fn new_number(&self) -> u32 {
        loop {
            let number = u32::from_be_bytes(self.world.random()) >> 1;
            if number != 0 && !self.challenges.has(number) && !self.sessions.has(number) {
                return number;
            }
        }
    }

    /// Whose answer it is, and whether it is right.
    pub(crate) fn identify(
        &self,
        answer: &ChallengeAnswer<'_>,
        nonce: &[u8],
        digest: &[u8],
    ) -> Result<Authenticated, Fault> {
        let (handle, index) = (&*answer.key.handle, answer.key.index);
        let is_known = matches!(&*answer.authentication_type, "HS_PUBKEY" | "HS_SECKEY");
        if !is_known {
            return Err(Fault::plain(ResponseCode::InvalidCredential));
        }
        let is_key = answer.authentication_type == "HS_PUBKEY";
        let values = if is_key {
            self.keys_of(&answer.key)?
        } else {
            self.values_of(handle)?
        };
        if !is_key
            && values.is_empty()
            && let Some(elsewhere) = &self.elsewhere
            && !self.registry.is_responsible(handle)?
        {
            let is_right = elsewhere.verifies(&answer.key, nonce, digest, &answer.response)?;
            return Authenticated::new(index, handle, is_right, None);
        }
        let keys = values.iter().filter(|value| {
            value.value_type == answer.authentication_type && (index == 0 || value.index == index)
        });
        let mut right = None;
        for value in keys {
            let verified = if is_key {
                PublicKey::from_bytes(&value.data)
                    .map_err(Into::into)
                    .and_then(|key| verify_key_answer(&key, nonce, digest, &answer.response))
            } else {
                verify_secret_answer(&value.data, nonce, digest, &answer.response)
            };
            match verified {
                Ok(()) => {
                    right = Some(value);
                    break;
                }
                Err(CryptoError::Algorithm) if !is_key => {
                    return Err(Fault::plain(ResponseCode::AuthenticationError));
                }
                Err(_) => {}
            }
        }
        // A public key that verifies says which one it is; a secret without an index matches only
        // references without one.
        let index = match right {
            Some(found) if is_key => found.index,
            _ => index,
        };
        let by = right.map(|value| self.evidence(handle, value));
        Authenticated::new(index, handle, right.is_some(), by.transpose()?.flatten())
    }

    /// The values among which a public key is: of a handle that is kept here, or elsewhere.
    pub(crate) fn keys_of(&self, key: &Reference<'_>) -> Result<Vec<Value<'static>>, Fault> {
        let values = self.values_of(&key.handle)?;
        match &self.elsewhere {
            Some(elsewhere)
                if values.is_empty() && !self.registry.is_responsible(&key.handle)? =>
            {
                elsewhere.keys(key)
            }
            _ => Ok(values),
        }
    }

    fn responder(&self) -> Responder {
        Responder {
            maximum: Version::CURRENT,
            site_serial: self.identity.site().serial,
            is_primary: true,
            expiration: u32::try_from(self.world.now() / 1_000)
                .unwrap_or(u32::MAX)
                .saturating_add(Header::VALID_FOR),
        }
    }
}

/// A message on its way out, sealed or not.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) envelope: Envelope,
    pub(crate) payload: Vec<u8>,
    /// What was asked, and what became of it: the payload may be sealed.
    outcome: (Opcode, ResponseCode),
    /// What follows on the same connection.
    pub(crate) feed: Option<Feed>,
}

impl Outgoing {
    fn open(message: &Message<'_>) -> Self {
        Self::new(message.envelope, &message.header, message.payload())
    }

    fn new(envelope: Envelope, header: &Header, payload: Vec<u8>) -> Self {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        Self {
            envelope: Envelope { length, ..envelope },
            payload,
            outcome: (header.opcode, header.response_code),
            feed: None,
        }
    }

    /// The bytes on a connection.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.envelope.encode(out);
        out.extend_from_slice(&self.payload);
    }
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}

/// Someone who says who they are.
#[derive(Clone, Debug)]
pub(crate) struct Authenticated {
    pub(crate) who: Principal,
    /// Whether they have shown it. What they may is looked at first (§7.4).
    pub(crate) is_right: bool,
    /// By what, if that is kept here.
    pub(crate) by: Option<Evidence>,
}

impl Authenticated {
    fn new(index: u32, handle: &str, is_right: bool, by: Option<Evidence>) -> Result<Self, Fault> {
        let who = Principal::parse(&format!("{index}:{handle}"))
            .map_err(|_| Fault::plain(ResponseCode::AuthenticationFailed))?;
        Ok(Self { who, is_right, by })
    }
}

/// A body that is written already.
struct Raw(Vec<u8>);

impl Codec<'_> for Raw {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(reader.rest().to_vec()))
    }
}

/// The body of a request.
pub(crate) fn read<'m, T: Body<'m>>(message: &'m Message<'_>) -> Result<T, Fault> {
    message
        .read()
        .map_err(|error| Fault::new(ResponseCode::ProtocolError, error.to_string()))
}

fn header(payload: &[u8]) -> Option<Header> {
    Header::decode(&mut Reader::new(payload)).ok()
}

/// "2.10: client understands prefix referrals."
fn understands_referrals(envelope: &Envelope) -> bool {
    envelope.suggestion() >= Version::new(2, 10)
}

/// A message that came through HTTP, with its envelope, and what is to be said to it. Only the first message of a
/// reply fits into an HTTP response.
pub(crate) fn tunnel(native: &Native, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut reader = Reader::new(bytes);
    let envelope = Envelope::decode(&mut reader).ok();
    let payload = envelope.and_then(|envelope| {
        let length = usize::try_from(envelope.length).ok()?;
        Some((envelope, reader.rest().get(..length)?))
    });
    let Some((envelope, payload)) = payload else {
        let request_id = Envelope::request_id_in(bytes).unwrap_or(Envelope::UNREAD_REQUEST);
        let (code, text) = (ResponseCode::ProtocolError, "Invalid message length");
        native
            .responder()
            .refusal(request_id, code, text)
            .encode(&mut out);
        native.meters.count(Way::Http, Opcode::Reserved, code);
        return out;
    };
    if let Some(reply) = native.answer(envelope, payload, Way::Http).first() {
        reply.write(&mut out);
    }
    out
}
