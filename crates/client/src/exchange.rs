//! One request to one server, with challenges and sessions.

use std::sync::Arc;

use handfast_wire::body::{Body, Challenge, ErrorReply};
use handfast_wire::crypto::verify_message;
use handfast_wire::{
    Codec, Credential, DecodeError, Envelope, Framing, Header, Message, OpFlags, Opcode, PublicKey,
    Reader, ResponseCode, Version,
};

use crate::authentication::Login;
use crate::error::{ClientError, ReplyFault};
use crate::service::Server;
use crate::session::Session;
use crate::shared::Shared;
use crate::transport::{Conversation, Failure, Packed};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) opcode: Opcode,
    /// The handle; empty if there is none.
    pub(crate) handle: String,
    pub(crate) flags: OpFlags,
    pub(crate) body: Vec<u8>,
    /// The number of servers that were asked so far.
    pub(crate) hops: u8,
    /// Whether it contains values that are not public.
    pub(crate) is_private: bool,
}

impl Ask {
    pub(crate) fn new<'b>(opcode: Opcode, handle: &str, body: &impl Codec<'b>) -> Self {
        Self {
            opcode,
            handle: handle.to_string(),
            flags: OpFlags::REQUEST,
            body: body.to_bytes(),
            hops: 0,
            is_private: false,
        }
    }
}

/// A reply, and the messages that may follow it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) message: Message<'static>,
    conversation: Conversation,
    server: Server,
    /// The request that it answers: the original one, if there was a challenge.
    about: Message<'static>,
    /// The last request id.
    request_id: u32,
    session: Option<Arc<Session>>,
}

impl Shared {
    /// Sends a request in a session. If the server has forgotten the session, it is set up again
    /// once.
    pub(crate) async fn ask_in_session(
        &self,
        server: &Server,
        ask: &Ask,
        login: &Login,
    ) -> Result<Answer, ClientError> {
        let session = self.session(server, login).await?;
        let first = self.ask_by(server, ask, login, &session).await;
        match first {
            Err(error) if error.is_lost_session() => {
                self.sessions.forget(server, login, &session).await;
                let session = self.session(server, login).await?;
                self.ask_by(server, ask, login, &session).await
            }
            answer => answer,
        }
    }

    async fn ask_by(
        &self,
        server: &Server,
        ask: &Ask,
        login: &Login,
        session: &Arc<Session>,
    ) -> Result<Answer, ClientError> {
        let gate = session.gate.lock().await;
        // Another task may have opened the gate in the meantime.
        let gate = (!session.is_authenticated()).then_some(gate);
        let answer = self.ask_once(server, ask, Some(session)).await?;
        let was_asked = answer.message.outcome() == ResponseCode::AuthenticationNeeded;
        let answer = self.authenticate(answer, ask, Some(login)).await?;
        if was_asked && is_accepted(answer.message.outcome()) {
            session.is_known();
        }
        drop(gate);
        Ok(answer)
    }

    /// Sends a request, perhaps in a session, without answering a challenge.
    pub(crate) async fn ask_once(
        &self,
        server: &Server,
        ask: &Ask,
        session: Option<&Arc<Session>>,
    ) -> Result<Answer, ClientError> {
        let request = self.request(server, ask, session)?;
        self.send(server, &request, &request, ask, session).await
    }

    /// Sends a request without a session.
    pub(crate) async fn ask_alone(
        &self,
        server: &Server,
        ask: &Ask,
        login: Option<&Login>,
    ) -> Result<Answer, ClientError> {
        let answer = self.ask_once(server, ask, None).await?;
        self.authenticate(answer, ask, login).await
    }

    /// Answers a challenge: "at most two challenges per operation" (`handle-protocol.md` §7.3).
    async fn authenticate(
        &self,
        mut answer: Answer,
        ask: &Ask,
        login: Option<&Login>,
    ) -> Result<Answer, ClientError> {
        for _ in 0..2 {
            if answer.message.outcome() != ResponseCode::AuthenticationNeeded {
                break;
            }
            let Answer {
                message: reply,
                server,
                about,
                session,
                ..
            } = answer;
            let login = login.ok_or_else(|| ClientError::LoginNeeded {
                server: server.endpoint.to_string(),
            })?;
            let challenge: Challenge<'_> =
                reply.read().map_err(|error| server.fault(error.into()))?;
            // An answer to the challenge of another request would let that request be carried out.
            if !challenge.digest.is_of(&about.signed_part()) {
                return Err(server.fault(ReplyFault::Digest));
            }
            let body = login.answer(&reply.envelope, &challenge, &self.environment.random())?;
            let envelope = Envelope {
                session_id: reply.envelope.session_id,
                request_id: self.new_request_id(),
                ..Envelope::new(about.envelope.version)
            };
            let header = Header {
                opcode: Opcode::ChallengeResponse,
                ..about.header
            };
            let message = Message::new(envelope, header, &body);
            let sent = self.send(&server, &message, &about, ask, session.as_ref());
            answer = sent.await?;
        }
        Ok(answer)
    }

    /// The request as it is sent: in a session, with its credential.
    fn request(
        &self,
        server: &Server,
        ask: &Ask,
        session: Option<&Arc<Session>>,
    ) -> Result<Message<'static>, ClientError> {
        let version = session.map_or(server.version, |session| session.version);
        let envelope = Envelope {
            session_id: session.map_or(0, |session| session.id),
            request_id: self.new_request_id(),
            ..Envelope::new(version)
        };
        let mut flags = ask.flags;
        // A session certifies without the cost of a signature.
        if session.is_some() {
            flags = flags | OpFlags::CT;
        }
        if version.is_ancient() {
            flags = flags.without(OpFlags::RD);
        }
        let header = Header {
            flags,
            site_serial: server.serial.unwrap_or(Header::NO_SITE),
            recursion_count: ask.hops,
            ..Header::request(ask.opcode, self.expiration())
        };
        let message = Message::new(envelope, header, &Written(&ask.body));
        match session {
            Some(session) => Ok(message.clone().with_credential(session.certify(&message)?)),
            None => Ok(message),
        }
    }

    /// Sends a message for a request and waits for the reply.
    async fn send(
        &self,
        server: &Server,
        message: &Message<'static>,
        about: &Message<'static>,
        ask: &Ask,
        session: Option<&Arc<Session>>,
    ) -> Result<Answer, ClientError> {
        let hides = session.filter(|session| {
            ask.is_private
                && session.version >= ENCRYPTS_VALUES
                && message.envelope == about.envelope
        });
        let packed = match hides {
            Some(session) => session.seal(message, &self.environment.random())?,
            None => Packed {
                envelope: message.envelope,
                payload: message.payload(),
            },
        };
        let begun = Conversation::begin(&server.endpoint, &ask.handle, &packed).await;
        let conversation = begun.map_err(|failure| server.failed(failure))?;
        let mut answer = Answer {
            message: about.clone(),
            conversation,
            server: server.clone(),
            about: about.clone(),
            request_id: message.envelope.request_id,
            session: session.map(Arc::clone),
        };
        answer.receive(self).await?;
        Ok(answer)
    }

    fn new_request_id(&self) -> u32 {
        // "a random non-negative 31-bit number"
        u32::from_be_bytes(self.environment.random()) >> 1
    }

    fn expiration(&self) -> u32 {
        u32::try_from(self.environment.seconds())
            .unwrap_or(u32::MAX)
            .saturating_add(Header::VALID_FOR)
    }
}

impl Answer {
    /// Whether more messages follow this one.
    pub(crate) fn goes_on(&self) -> bool {
        self.message.header.flags.contains(OpFlags::CN)
    }

    /// The body.
    pub(crate) fn read<'b, T: Body<'b>>(&'b self) -> Result<T, ClientError> {
        let read = self.message.read();
        read.map_err(|error| self.server.fault(error.into()))
    }

    /// The server that answered.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Replaces this message by the next one.
    pub(crate) async fn receive(&mut self, shared: &Shared) -> Result<(), ClientError> {
        let received = self.conversation.reply().await;
        let packed = received.map_err(|failure| self.server.failed(failure))?;
        let now = shared.environment.seconds();
        let message = self
            .open(packed)
            .map_err(|fault| self.server.fault(fault))?;
        // Anyone can forge "no such session": it costs a new session.
        let outcome = message.outcome().number();
        if self.session.is_some() && (500..600).contains(&outcome) {
            return Err(refused(&self.server, &message));
        }
        self.check(&message, now)
            .map_err(|fault| self.server.fault(fault))?;
        self.message = message;
        Ok(())
    }

    fn open(&self, packed: Packed) -> Result<Message<'static>, ReplyFault> {
        let Packed { envelope, payload } = packed;
        // "A client should treat id 0xFFFFFFFF on its own TCP connection as 'reply to whatever I
        // sent'."
        let is_ours = [self.request_id, Envelope::UNREAD_REQUEST].contains(&envelope.request_id);
        if !is_ours {
            return Err(ReplyFault::RequestId);
        }
        if !envelope.flags.is_encrypted {
            return Ok(Message::open(envelope, &payload)?.into_owned());
        }
        let session = self.session.as_ref().ok_or(ReplyFault::Session)?;
        let opened = session.open(&payload).map_err(ReplyFault::Signature)?;
        Ok(Message::open(envelope, &opened)?.into_owned())
    }

    fn check(&self, reply: &Message<'_>, now: u64) -> Result<(), ReplyFault> {
        if !reply.header.is_reply() {
            return Err(ReplyFault::Opcode);
        }
        // "values ≥ 2³¹ count as negative"
        let is_valid = reply.header.expiration <= i32::MAX.unsigned_abs();
        if !is_valid || u64::from(reply.header.expiration) < now {
            return Err(ReplyFault::Expired);
        }
        let is_unread = reply.header.opcode == Opcode::Reserved && reply.outcome().is_error();
        if reply.header.opcode != self.about.header.opcode && !is_unread {
            return Err(ReplyFault::Opcode);
        }
        let flags = self.about.header.flags;
        if flags.contains(OpFlags::CT) {
            self.verify(reply)?;
        }
        let digest = reply.digest()?;
        let is_missing = digest.is_none() && flags.contains(OpFlags::RD) && !is_unread;
        let is_wrong = digest.is_some_and(|digest| !digest.is_of(&self.about.signed_part()));
        if is_missing || is_wrong {
            return Err(ReplyFault::Digest);
        }
        Ok(())
    }

    /// "with CT requested, no credential or a bad one is an error. An `HS_MAC` reply is acceptable
    /// only if the reply's session id > 0 and the client has that session" (`handle-protocol.md`
    /// §4.3).
    fn verify(&self, reply: &Message<'_>) -> Result<(), ReplyFault> {
        if reply.credential.is_empty() {
            return Err(ReplyFault::NotCertified);
        }
        let credential = Credential::from_bytes(&reply.credential)?;
        if credential.is_mac() {
            let session = self.session.as_ref().ok_or(ReplyFault::Session)?;
            return session.verify(&credential, reply);
        }
        let (framing, message) = (Framing::of(&reply.envelope), reply.signed_part());
        let mut last = ReplyFault::NoKey;
        for bytes in self.server.keys.iter().filter(|key| !key.is_empty()) {
            let key = PublicKey::from_bytes(bytes)?;
            match verify_message(&credential, &key, &framing, &message) {
                Ok(()) => return Ok(()),
                Err(error) => last = ReplyFault::Signature(error),
            }
        }
        Err(last)
    }
}

impl Server {
    pub(crate) fn fault(&self, fault: ReplyFault) -> ClientError {
        ClientError::Reply {
            server: self.endpoint.to_string(),
            fault,
        }
    }

    fn failed(&self, failure: Failure) -> ClientError {
        ClientError::Network {
            server: self.endpoint.to_string(),
            was_sent: failure.was_sent,
            source: failure.source,
        }
    }
}

/// The error of a server.
pub(crate) fn refused(server: &Server, reply: &Message<'_>) -> ClientError {
    let code = reply.outcome();
    let body: Option<ErrorReply<'_>> = Some(reply)
        .filter(|_| code.is_error())
        .and_then(|reply| reply.read().ok());
    // The text of a server is shown on terminals.
    let message = body.map_or_else(String::new, |body| {
        let clean = body.message.chars().filter(|c| !c.is_control());
        clean.take(MAX_MESSAGE_BYTES).collect()
    });
    ClientError::Refused {
        server: server.endpoint.to_string(),
        code,
        message,
    }
}

/// Whether an answered challenge identifies the client from then on.
fn is_accepted(code: ResponseCode) -> bool {
    !matches!(code.number(), 400..=406)
}

/// A body that is encoded already.
struct Written<'a>(&'a [u8]);

impl<'a> Codec<'a> for Written<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.take(reader.rest().len()).map(Self)
    }
}

/// Since this version, sessions encrypt values that are not public.
const ENCRYPTS_VALUES: Version = Version::new(2, 8);
/// How many bytes of a server's message are returned.
const MAX_MESSAGE_BYTES: usize = 1_000;
