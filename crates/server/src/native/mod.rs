//! The native door: the handle protocol.
//!
//! A request is read, looked at without knowing who sent it, and either answered or challenged; the answer to a
//! challenge says who it was, and the request is looked at again. What is done with handles is the
//! registry's; here are only the order of checks, the codes, and the bytes.

mod challenges;
mod operations;
mod response;
mod tcp;
mod udp;

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use handfast_registry::{Principal, Registry, World};
use handfast_wire::body::{Challenge, ChallengeAnswer, ErrorReply};
use handfast_wire::crypto::{
    DigestAlgorithm, sign_message, verify_key_answer, verify_secret_answer,
};
use handfast_wire::{
    Codec, DecodeError, Envelope, Framing, Header, Message, OpFlags, Opcode, PublicKey, Reader,
    RequestDigest, Responder, ResponseCode, Version,
};

pub use self::tcp::{NativeAddresses, Served, serve};
use crate::identity::Identity;
use crate::native::challenges::Challenges;
use crate::native::operations::{Asked, Done};
use crate::native::response::Fault;

/// The protocol, without a socket.
pub struct Native {
    registry: Arc<Registry>,
    identity: Identity,
    world: World,
    challenges: Challenges,
    /// Who may say which prefixes the server is responsible for.
    administrators: Vec<Principal>,
}

/// How a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
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
            world,
            challenges: Challenges::default(),
            administrators,
        }
    }

    /// Answers what came behind an envelope: nothing, a message, or several. What is itself a reply is
    /// never answered, so that two servers cannot be made to talk to each other.
    pub(crate) fn answer(
        &self,
        envelope: Envelope,
        payload: &[u8],
        way: Way,
    ) -> Vec<Message<'static>> {
        let responder = self.responder();
        if envelope.flags.is_encrypted {
            let fault = Fault::plain(ResponseCode::SessionTimeout);
            return vec![responder.refusal(envelope.request_id, fault.code, &fault.message)];
        }
        let request = match Message::open(envelope, payload) {
            Ok(request) => request,
            Err(error) => {
                let (code, text) = (ResponseCode::ProtocolError, error.to_string());
                return vec![responder.refusal(envelope.request_id, code, &text)];
            }
        };
        if request.header.is_reply() {
            return Vec::new();
        }
        match self.take(&request, way) {
            Ok(messages) => messages,
            Err(fault) => vec![self.reply(&request, fault.code, &ErrorReply::new(fault.message))],
        }
    }

    fn take(&self, request: &Message<'_>, way: Way) -> Result<Vec<Message<'static>>, Fault> {
        let opcode = request.header.opcode;
        let is_admin = opcode.needs_admin_interface();
        if is_admin && way == Way::Udp {
            let text = "this interface takes no administration";
            return Err(Fault::new(ResponseCode::ProtocolError, text));
        }
        if opcode == Opcode::ChallengeResponse {
            return self.take_answer(request);
        }
        if request.envelope.session_id != 0 {
            return Err(Fault::plain(ResponseCode::SessionTimeout));
        }
        match self.look_at(request, None)? {
            Asked::Done(done) => Ok(self.replies(request, done)),
            Asked::Who => Ok(vec![self.challenge(request)]),
        }
    }

    /// The answer to a challenge: who it is, whether they may, whether it is them; then the request is
    /// done.
    fn take_answer(&self, message: &Message<'_>) -> Result<Vec<Message<'static>>, Fault> {
        let number = message.envelope.session_id;
        if number == 0 {
            return Err(Fault::plain(ResponseCode::AuthenticationTimeout));
        }
        let pending = match self.challenges.take(number, self.world.now()) {
            None => return Err(Fault::plain(ResponseCode::SessionTimeout)),
            Some(Err(())) => return Err(Fault::plain(ResponseCode::AuthenticationTimeout)),
            Some(Ok(pending)) => pending,
        };
        // The answer's request id, but session and opcode of the request.
        let mut request = pending.request;
        request.envelope.request_id = message.envelope.request_id;
        let outcome = read::<ChallengeAnswer<'_>>(message).and_then(|answer| {
            let who = self.identify(&answer, &pending.nonce, pending.digest.as_bytes())?;
            match self.look_at(&request, Some(&who))? {
                Asked::Done(done) => Ok(done),
                Asked::Who => Err(Fault::plain(ResponseCode::InvalidAdmin)),
            }
        });
        Ok(match outcome {
            Ok(done) => self.replies(&request, done),
            Err(fault) => vec![self.reply(&request, fault.code, &ErrorReply::new(fault.message))],
        })
    }

    /// Whose answer it is, and whether it is right.
    fn identify(
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
        let record = self.registry.handle(handle)?;
        let values = record.map(|record| record.values).unwrap_or_default();
        let is_key = answer.authentication_type == "HS_PUBKEY";
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
            if verified.is_ok() {
                right = Some(value.index);
                break;
            }
        }
        // A public key that verifies says which one it is; a secret without an index matches only
        // references without one.
        let index = match right {
            Some(found) if is_key => found,
            _ => index,
        };
        let who = Principal::parse(&format!("{index}:{handle}"))
            .map_err(|_| Fault::plain(ResponseCode::AuthenticationFailed))?;
        Ok(Authenticated {
            who,
            is_right: right.is_some(),
        })
    }

    fn challenge(&self, request: &Message<'_>) -> Message<'static> {
        let responder = self.responder();
        let digest = digest(request, responder.version_for(request));
        let nonce: [u8; 16] = self.world.random();
        let number = loop {
            let number = u32::from_be_bytes(self.world.random()) >> 1;
            if number != 0 && !self.challenges.has(number) {
                break number;
            }
        };
        let now = self.world.now();
        self.challenges
            .keep(number, request.clone().into_owned(), nonce, digest, now);
        let body = Challenge {
            digest,
            nonce: Cow::Borrowed(&nonce),
        };
        let code = ResponseCode::AuthenticationNeeded;
        let mut reply = responder.reply(request, code, None, &body);
        reply.envelope.session_id = number;
        self.certified(request, reply)
    }

    fn replies(&self, request: &Message<'_>, done: Done) -> Vec<Message<'static>> {
        let last = done.bodies.len().saturating_sub(1);
        let bodies = done.bodies.into_iter().enumerate();
        let replies = bodies.map(|(at, body)| {
            let mut reply = self.bare_reply(request, ResponseCode::Success, &Raw(body));
            reply.header.flags = reply.header.flags | done.flags;
            if at < last {
                reply.header.flags = reply.header.flags | OpFlags::CN;
            }
            self.certified(request, reply)
        });
        replies.collect()
    }

    fn reply<'b>(
        &self,
        request: &Message<'_>,
        code: ResponseCode,
        body: &impl handfast_wire::body::Body<'b>,
    ) -> Message<'static> {
        let reply = self.bare_reply(request, code, body);
        self.certified(request, reply)
    }

    fn bare_reply<'b>(
        &self,
        request: &Message<'_>,
        code: ResponseCode,
        body: &impl handfast_wire::body::Body<'b>,
    ) -> Message<'static> {
        let responder = self.responder();
        let wants_digest = request.header.flags.contains(OpFlags::RD);
        let digest = wants_digest.then(|| digest(request, responder.version_for(request)));
        responder.reply(request, code, digest, body)
    }

    /// Signed, if the request asks for that.
    fn certified(&self, request: &Message<'_>, reply: Message<'static>) -> Message<'static> {
        if !request.header.flags.contains(OpFlags::CT) {
            return reply;
        }
        let framing = framing(&reply.envelope);
        match sign_message(self.identity.key(), &framing, &reply.signed_part()) {
            Ok(credential) => reply.with_credential(credential.to_bytes()),
            Err(error) => {
                tracing::error!(%error, "a reply could not be signed");
                reply
            }
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

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}

/// Someone who says who they are.
pub(crate) struct Authenticated {
    pub(crate) who: Principal,
    /// Whether they have shown it. What they may is looked at first (§7.4).
    pub(crate) is_right: bool,
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
pub(crate) fn read<'m, T: handfast_wire::body::Body<'m>>(
    message: &'m Message<'_>,
) -> Result<T, Fault> {
    message
        .read()
        .map_err(|error| Fault::new(ResponseCode::ProtocolError, error.to_string()))
}

/// The digest of a request, for a reply of a version.
fn digest(request: &Message<'_>, version: Version) -> RequestDigest {
    let algorithm = handfast_wire::DigestAlgorithm::for_version(version);
    let hash = DigestAlgorithm::for_version((version.major, version.minor));
    let bytes = hash.digest(&[&request.signed_part()]);
    // Both are chosen by the same version.
    RequestDigest::new(algorithm, &bytes).unwrap_or(RequestDigest::Sha256([0; 32]))
}

fn framing(envelope: &Envelope) -> Framing {
    let pair = |version: Version| (version.major, version.minor);
    Framing {
        version: pair(envelope.version),
        suggested: pair(envelope.suggested),
        session_id: envelope.session_id,
        request_id: envelope.request_id,
    }
}

/// Where a door is.
pub(crate) type Address = SocketAddr;
