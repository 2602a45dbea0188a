//! The native handle protocol.
//!
//! The server processes a request first as if the client were anonymous, and either answers or
//! sends a challenge. The answer to the challenge identifies the client, and the server
//! processes the request again. The registry does the work; this module has the order of
//! checks, the response codes, and the bytes.

mod challenges;
mod delegated;
mod exchange;
pub(crate) mod fast_path;
mod feed;
pub(crate) mod operations;
pub(crate) mod reassembly;
mod replication;
pub(crate) mod tcp;
pub(crate) mod udp;
mod verify;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use handfast_wire::body::Body;
use handfast_wire::{
    Codec, DecodeError, Envelope, Header, Message, Opcode, Reader, Responder, ResponseCode, Version,
};
use tokio::sync::Semaphore;

use crate::admission::expensive_work::WorkPermit;
use crate::admission::peer::Peer;
use crate::context::ServerContext;
use crate::error::{Fault, wrong};
use crate::native::challenges::PendingChallenges;
use crate::native::exchange::Exchange;
use crate::native::feed::Feed;
pub(crate) use crate::native::work::MessageWork;
use crate::runtime::native_metrics::Transport;

/// The protocol, without a socket.
pub(crate) struct Native {
    pub(crate) context: Arc<ServerContext>,
    challenges: PendingChallenges,
    /// Limits the mirrors that are served at once.
    streams: Arc<Semaphore>,
}

/// Of how many bytes on a message takes memory that clients share: and then for as many again, as
/// they arrive. A client that only says that a message is long takes none.
pub(crate) const LONG_MESSAGE: usize = 4 << 10;
/// How long a long message may take to arrive: it takes memory that others wait for.
pub(crate) const LONG_MESSAGE_TIMEOUT: Duration = Duration::from_secs(15);

impl Native {
    pub(crate) fn new(context: Arc<ServerContext>) -> Self {
        Self {
            context,
            challenges: PendingChallenges::default(),
            streams: Arc::new(Semaphore::new(replication::MAX_STREAMS)),
        }
    }

    /// Answers what came behind an envelope: nothing, a message, or several. What is itself a reply
    /// is never answered, so that two servers cannot be made to talk to each other.
    ///
    /// `permit` is for [`MessageWork::Login`].
    pub(crate) fn answer(
        &self,
        envelope: Envelope,
        payload: &[u8],
        (transport, peer): (Transport, Peer),
        permit: Option<WorkPermit>,
    ) -> Vec<Outgoing> {
        let request = envelope.request_id;
        let answered = catch_unwind(AssertUnwindSafe(|| {
            self.answer_uncounted(envelope, payload, (transport, peer), permit)
        }));
        // A panic fails this request alone, by whatever way it came.
        let answered = answered.unwrap_or_else(|_| {
            let text = "this request failed inside the server; its log says where";
            let error = self.responder().error(request, ResponseCode::Error, text);
            vec![Outgoing::open(&error)]
        });
        // All replies to a request have the same outcome.
        if let Some(reply) = answered.last() {
            let (opcode, code) = reply.outcome;
            self.context.metrics.count(transport, opcode, code);
        }
        answered
    }

    fn answer_uncounted(
        &self,
        envelope: Envelope,
        payload: &[u8],
        (transport, peer): (Transport, Peer),
        permit: Option<WorkPermit>,
    ) -> Vec<Outgoing> {
        let refuse = |code, text: &str| {
            let error = self.responder().error(envelope.request_id, code, text);
            vec![Outgoing::open(&error)]
        };
        let now = self.context.now();
        let session = self.context.sessions.get(&envelope.session_id, now);
        let opened;
        let payload = if envelope.flags.is_encrypted {
            let Some(session) = &session else {
                let code = match envelope.session_id {
                    0 => ResponseCode::SessionFailed,
                    _ => ResponseCode::SessionTimeout,
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
            transport,
            peer,
        };
        exchange.take(&request, permit)
    }

    /// A random number for a challenge or a session.
    fn new_number(&self) -> u32 {
        loop {
            let number = u32::from_be_bytes(self.context.world.random()) >> 1;
            if number != 0 && !self.challenges.has(number) && !self.context.sessions.has(&number) {
                return number;
            }
        }
    }

    fn responder(&self) -> Responder {
        Responder {
            maximum: Version::CURRENT,
            site_serial: self.context.identity.site().serial,
            is_primary: true,
            expiration: u32::try_from(self.context.world.now() / 1_000)
                .unwrap_or(u32::MAX)
                .saturating_add(Header::VALID_FOR),
        }
    }
}

/// A message on its transport out, sealed or not.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) envelope: Envelope,
    pub(crate) payload: Vec<u8>,
    /// Opcode and response code, because the payload may be encrypted.
    outcome: (Opcode, ResponseCode),
    /// The stream that follows on the same connection.
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
    message.read().map_err(|error| wrong(error.to_string()))
}

/// "2.10: client understands prefix referrals."
fn understands_referrals(envelope: &Envelope) -> bool {
    envelope.suggestion() >= Version::new(2, 10)
}

/// A message that came through HTTP, with its envelope, and what is to be said to it. Only the
/// first message of a reply fits into an HTTP response.
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
        let fault = wrong("Invalid message length");
        let error = native.unread(request_id, fault, Transport::Http);
        error.write(&mut out);
        return out;
    };
    let replies = native.answer(envelope, payload, (Transport::Http, peer), permit);
    if let Some(reply) = replies.first() {
        reply.write(&mut out);
    }
    out
}
