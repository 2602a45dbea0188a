//! The native door: the handle protocol.
//!
//! A request is read, looked at without knowing who sent it, and either answered or challenged; the answer to a
//! challenge says who it was, and the request is looked at again. What is done with handles is the
//! registry's; here are only the order of checks, the codes, and the bytes.

pub(crate) mod administrator;
mod challenges;
mod checkpoint;
pub(crate) mod evidence;
mod exchange;
pub(crate) mod fast_path;
mod feed;
pub(crate) mod login;
pub(crate) mod metrics;
pub(crate) mod operations;
mod prefix_record;
pub(crate) mod reassembly;
pub(crate) mod remote_handles;
mod replication;
pub(crate) mod response;
mod sessions;
pub(crate) mod status;
pub(crate) mod tcp;
pub(crate) mod udp;
mod work;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use handfast_client::Roots;
use handfast_registry::{Environment, Principal, Registry};
use handfast_wire::body::Body;
use handfast_wire::{
    Codec, DecodeError, Envelope, Header, Message, Opcode, Reader, Responder, ResponseCode, Value,
    Version,
};
use tokio::sync::Semaphore;

use crate::admission::Admission;
use crate::admission::expensive_work::WorkPermit;
use crate::admission::peer::Peer;
use crate::admission::udp_responses::{UdpLimits, UdpResponses};
use crate::dspace::Dspace;
pub use crate::listen::{Addresses, Door, Served};
use crate::native::challenges::Challenges;
use crate::native::exchange::Exchange;
use crate::native::feed::Feed;
pub(crate) use crate::native::login::Authenticated;
use crate::native::metrics::Meters;
use crate::native::remote_handles::Elsewhere;
use crate::native::response::Fault;
use crate::native::sessions::Sessions;
pub(crate) use crate::native::work::Work;
use crate::setup::identity::Identity;

/// The protocol, without a socket.
pub struct Native {
    registry: Arc<Registry>,
    identity: Identity,
    world: Environment,
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
    udp_responses: UdpResponses,
    elsewhere: Option<Elsewhere>,
    dspace: Option<Dspace>,
    meters: Meters,
    admission: Admission,
    /// The oldest version of the protocol in which the server takes logins, sessions and administration; any if none is
    /// set.
    minimum_version: Option<Version>,
}

/// Of how many bytes on a message takes memory that clients share: and then for as many again, as they arrive. A client
/// that only says that a message is long takes none.
pub(crate) const LONG_MESSAGE: usize = 4 << 10;
/// How long a long message may take to arrive: it takes memory that others wait for.
pub(crate) const LONG_MESSAGE_TIMEOUT: Duration = Duration::from_secs(15);

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
        world: Environment,
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
            udp_responses: UdpResponses::new(UdpLimits::default()),
            elsewhere: None,
            dspace: None,
            meters: Meters::default(),
            admission: Admission::default(),
            minimum_version: None,
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
    pub(crate) fn world(&self) -> &Environment {
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

    /// The same server, which sends no more than this over UDP.
    #[must_use]
    pub fn with_udp_limits(self, limits: UdpLimits) -> Self {
        Self {
            udp_responses: UdpResponses::new(limits),
            ..self
        }
    }

    /// The same server, which takes logins, sessions and administration only from clients that speak at least this
    /// version of the protocol. Public resolution is for all.
    #[must_use]
    pub fn with_minimum_version(self, minimum_version: Option<Version>) -> Self {
        Self {
            minimum_version,
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
    ///
    /// `permit` is for [`Work::Login`].
    pub(crate) fn answer(
        &self,
        envelope: Envelope,
        payload: &[u8],
        (way, peer): (Way, Peer),
        permit: Option<WorkPermit>,
    ) -> Vec<Outgoing> {
        let request = envelope.request_id;
        let answered = catch_unwind(AssertUnwindSafe(|| {
            self.answer_uncounted(envelope, payload, (way, peer), permit)
        }));
        // A panic fails this request alone, by whatever way it came.
        let answered = answered.unwrap_or_else(|_| {
            let text = "this request failed inside the server; its log says where";
            let refusal = self.responder().error(request, ResponseCode::Error, text);
            vec![Outgoing::open(&refusal)]
        });
        // Those of one request have one outcome.
        if let Some(reply) = answered.last() {
            let (opcode, code) = reply.outcome;
            self.meters.count(way, opcode, code);
        }
        answered
    }

    fn answer_uncounted(
        &self,
        envelope: Envelope,
        payload: &[u8],
        (way, peer): (Way, Peer),
        permit: Option<WorkPermit>,
    ) -> Vec<Outgoing> {
        let refuse = |code, text: &str| {
            let refusal = self.responder().error(envelope.request_id, code, text);
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
            peer,
        };
        exchange.take(&request, permit)
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

    /// Who to ask for the keys of a handle, if they are not kept here and others may be asked.
    fn elsewhere_of(&self, handle: &str) -> Result<Option<&Elsewhere>, Fault> {
        let Some(elsewhere) = &self.elsewhere else {
            return Ok(None);
        };
        let is_here =
            !self.values_of(handle)?.is_empty() || self.registry.is_responsible(handle)?;
        Ok((!is_here).then_some(elsewhere))
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
pub(crate) fn tunnel(
    native: &Native,
    bytes: &[u8],
    peer: Peer,
    permit: Option<WorkPermit>,
) -> Vec<u8> {
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
            .error(request_id, code, text)
            .encode(&mut out);
        native.meters.count(Way::Http, Opcode::Reserved, code);
        return out;
    };
    if let Some(reply) = native
        .answer(envelope, payload, (Way::Http, peer), permit)
        .first()
    {
        reply.write(&mut out);
    }
    out
}
