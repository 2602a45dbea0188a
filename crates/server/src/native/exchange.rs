//! A request and its replies, in a session or outside of one.

use std::borrow::Cow;

use handfast_id::MAX_HANDLE;
use handfast_wire::body::{
    Body, Challenge, ChallengeAnswer, DhOffer, ErrorReply, HandleRequest, KeyExchange,
    SessionSetup, SessionSetupReply,
};
use handfast_wire::crypto::{DhKeyPair, SessionAlgorithm, sign_message};
use handfast_wire::{
    Codec, Credential, Framing, Message, OpFlags, Opcode, PublicKey, Reader, RequestDigest,
    ResponseCode, Version,
};

use crate::admission::expensive_work::WorkPermit;
use crate::admission::peer::Peer;
use crate::auth::sessions::{MAX_IDLE_SECONDS, NativeSession, Session};
use crate::error::{Fault, wrong};
use crate::native::challenges::Pending;
use crate::native::operations::{NotDone, OperationReply};
use crate::native::replication::is_streamed;
use crate::native::{Native, Outgoing, Raw, read};
use crate::runtime::native_metrics::{Dropped, Transport};

/// One request, and the session it came in.
pub(crate) struct Exchange<'n> {
    pub(crate) native: &'n Native,
    pub(crate) session: Option<&'n Session>,
    pub(crate) transport: Transport,
    pub(crate) peer: Peer,
}

impl Exchange<'_> {
    /// Takes a request, and gives what is to be said to it.
    pub(crate) fn take(&self, request: &Message<'_>, permit: Option<WorkPermit>) -> Vec<Outgoing> {
        match self.decide(request, permit) {
            Ok(replies) => replies,
            Err(fault) if self.is_left_unanswered(&fault) => {
                self.native.context.metrics.dropped(Dropped::Busy);
                Vec::new()
            }
            Err(fault) => vec![self.fault(request, fault)],
        }
    }

    fn decide(
        &self,
        request: &Message<'_>,
        permit: Option<WorkPermit>,
    ) -> Result<Vec<Outgoing>, Fault> {
        let opcode = request.header.opcode;
        if opcode.needs_admin_interface() && self.transport == Transport::Udp {
            return Err(wrong("this interface takes no administration"));
        }
        if is_streamed(opcode) && self.transport != Transport::Tcp {
            return Err(not_a_stream());
        }
        let is_public = matches!(opcode, Opcode::Resolution | Opcode::GetSiteInfo);
        if !is_public || request.envelope.session_id != 0 {
            self.need_version(request)?;
        }
        match opcode {
            Opcode::ChallengeResponse => return self.take_answer(request, permit),
            Opcode::SessionSetup => return self.set_up(request, permit).map(|reply| vec![reply]),
            Opcode::VerifyChallenge => {
                let done = self.native.verify(request, self.peer, permit)?;
                return Ok(self.replies(request, done));
            }
            // Only for a way to set a session up that no deployed server knows.
            Opcode::SessionExchangeKey => return Err(Fault::plain(ResponseCode::SessionFailed)),
            _ => {}
        }
        // It may have been asked for because nobody could see what was encrypted.
        drop(permit);
        if self.session.is_none() && request.envelope.session_id != 0 {
            return Err(Fault::plain(ResponseCode::SessionTimeout));
        }
        if let Some(session) = self.session.filter(|_| opcode == Opcode::SessionTerminate) {
            let _: HandleRequest<'_> = read(request)?;
            self.check_mac(session, request, true)?;
            self.native.context.sessions.remove(&session.id);
            return Ok(self.replies(request, OperationReply::empty()));
        }
        match self.native.dispatch(request, None) {
            Ok(done) => Ok(self.replies(request, done)),
            Err(NotDone::LoginNeeded) => match self.session {
                Some(session) => self.take_in_session(session, request),
                None => Ok(vec![self.challenge(request)?]),
            },
            Err(NotDone::Fault(fault)) => Err(fault),
        }
    }

    /// A request that needs a login, in a session: the login of the session counts, if it has one.
    fn take_in_session(
        &self,
        session: &Session,
        request: &Message<'_>,
    ) -> Result<Vec<Outgoing>, Fault> {
        let Some(who) = session.who() else {
            self.check_mac(session, request, false)?;
            return Ok(vec![self.challenge(request)?]);
        };
        self.check_mac(session, request, true)?;
        // A session ends with its key.
        if !self.native.context.holds(who.by.as_ref())? {
            self.native.context.sessions.remove(&session.id);
            return Err(Fault::plain(ResponseCode::SessionTimeout));
        }
        let done = self.native.dispatch(request, Some(&who));
        Ok(self.replies(request, done.map_err(not_done)?))
    }

    /// The minimum version is asked for where keys, MACs or sessions are used: older versions have
    /// weaker ones.
    fn need_version(&self, request: &Message<'_>) -> Result<(), Fault> {
        let version = self.native.responder().version_for(request);
        let minimum = self.native.context.minimum_version;
        let Some(minimum) = minimum.filter(|minimum| version < *minimum) else {
            return Ok(());
        };
        let text = format!(
            "this server takes logins, sessions and administration from protocol version \
            {minimum} on; \
             update the client"
        );
        Err(wrong(text))
    }

    /// The answer to a challenge: whether it is them, then whether they may; then the request is
    /// done.
    fn take_answer(
        &self,
        message: &Message<'_>,
        permit: Option<WorkPermit>,
    ) -> Result<Vec<Outgoing>, Fault> {
        let number = message.envelope.session_id;
        let now = self.native.context.world.now();
        let pending = match self.native.challenges.take(number) {
            None if number == 0 || self.session.is_some() => {
                return Err(Fault::plain(ResponseCode::AuthenticationTimeout));
            }
            None => return Err(Fault::plain(ResponseCode::SessionTimeout)),
            Some(pending) if !pending.waits(now) => {
                return Err(Fault::plain(ResponseCode::AuthenticationTimeout));
            }
            // The session of the request has ended: the request is not done without it.
            Some(pending) if self.session.is_none() && pending.request.envelope.session_id != 0 => {
                return Err(Fault::plain(ResponseCode::SessionTimeout));
            }
            Some(pending) => pending,
        };
        // The answer's request id, but session and opcode of the request.
        let mut request = pending.request;
        let digest = pending.digest.as_bytes();
        let outcome = read::<ChallengeAnswer<'_>>(message).and_then(|answer| {
            let challenge = (&pending.nonce[..], digest);
            let who = self
                .native
                .context
                .log_in(self.peer, &answer, challenge, permit)?;
            let done = self.native.dispatch(&request, Some(&who));
            let done = done.map_err(not_done)?;
            // Only whom the session was set up for is known by it from here on.
            let is_claimed = |session: &&Session| session.claimed.as_ref() == Some(&answer.key);
            if let Some(session) = self.session.filter(is_claimed) {
                session.is_of(who);
            }
            Ok(done)
        });
        request.envelope.request_id = message.envelope.request_id;
        Ok(match outcome {
            Ok(done) => self.replies(&request, done),
            Err(fault) if self.is_left_unanswered(&fault) => return Err(fault),
            Err(fault) => vec![self.fault(&request, fault)],
        })
    }

    fn challenge(&self, request: &Message<'_>) -> Result<Outgoing, Fault> {
        self.need_version(request)?;
        let native = self.native;
        let responder = native.responder();
        let digest = RequestDigest::of(&request.signed_part(), responder.version_for(request));
        let nonce: [u8; 16] = native.context.world.random();
        let now = native.context.world.now();
        let pending = Pending::new(request.clone().into_owned(), nonce, digest, self.peer, now);
        let body = Challenge {
            digest,
            nonce: Cow::Borrowed(&nonce),
        };
        let code = ResponseCode::AuthenticationNeeded;
        let mut reply = responder.reply(request, code, None, &body);
        // In a session the latest request waits, under the session's own number.
        let number = match self.session {
            Some(session) => session.id,
            None => native.new_number(),
        };
        native.challenges.keep(number, pending, now);
        reply.envelope.session_id = number;
        Ok(self.seal(request, reply, false))
    }

    /// §4.5: a session by Diffie–Hellman, in the client's group.
    fn set_up(&self, request: &Message<'_>, permit: Option<WorkPermit>) -> Result<Outgoing, Fault> {
        let failed = || Fault::plain(ResponseCode::SessionFailed);
        let native = self.native;
        // Ways that do not work in any deployed server: what follows need not be looked at.
        if matches!(*request.body, [high, low, ..] if [high, low] != [0, 4]) {
            return Err(failed());
        }
        let asked: SessionSetup<'_> = read(request)?;
        // It is stored as long as the session.
        if asked.identity.handle.len() > MAX_HANDLE {
            return Err(Fault::plain(ResponseCode::InvalidHandle));
        }
        let KeyExchange::DiffieHellman { public_key } = &asked.key_exchange else {
            return Err(failed());
        };
        let peer = PublicKey::from_bytes(public_key).map_err(|_| failed())?;
        let _permit = match permit {
            None => native.context.permit_now()?,
            Some(permit) => permit,
        };
        let mut random = |bytes: &mut [u8]| {
            for chunk in bytes.chunks_mut(32) {
                let fresh: [u8; 32] = native.context.world.random();
                for (byte, new) in chunk.iter_mut().zip(fresh) {
                    *byte = new;
                }
            }
        };
        let ours = DhKeyPair::generate_for(&peer, &mut random).map_err(|_| failed())?;
        let responder = native.responder();
        let version = responder.version_for(request);
        let algorithm = if version < Version::new(2, 4) {
            SessionAlgorithm::Des
        } else {
            SessionAlgorithm::Aes
        };
        let secret = ours.agree(&peer).map_err(|_| failed())?;
        let key = secret.session_key(algorithm).map_err(|_| failed())?;
        let offer = DhOffer {
            algorithm: algorithm.code(),
            public_key: ours.public_key().to_bytes().into(),
        };
        let mut data = Vec::new();
        offer.write(version, &mut data);
        let reply = SessionSetupReply {
            mode: asked.key_exchange.mode(),
            data: data.into(),
        };
        let number = native.new_number();
        let claimed = (!asked.is_anonymous()).then(|| asked.identity.clone().into_owned());
        let now = native.context.world.now();
        let timeout = u64::from(asked.timeout.min(MAX_IDLE_SECONDS)) * 1_000;
        let session = NativeSession::new(key, version, claimed);
        let sessions = &native.context.sessions;
        sessions.add(number, session, self.peer, timeout, now);
        let mut message = self.reply(request, ResponseCode::Success, &reply);
        message.envelope.session_id = number;
        Ok(Outgoing::open(&self.certified(None, request, message)))
    }

    fn fault(&self, request: &Message<'_>, fault: Fault) -> Outgoing {
        let reply = self.reply(request, fault.code, &ErrorReply::new(fault.message));
        self.seal(request, reply, false)
    }

    fn replies(&self, request: &Message<'_>, done: OperationReply) -> Vec<Outgoing> {
        let feed = done.feed;
        // A challenge may be answered over another transport than the request.
        if feed.is_some() && self.transport != Transport::Tcp {
            return vec![self.fault(request, not_a_stream())];
        }
        let last = done.bodies.len().saturating_sub(1);
        let bodies = done.bodies.into_iter().enumerate();
        let replies = bodies.map(|(at, body)| {
            let mut reply = self.reply(request, done.code, &Raw(body));
            reply.header.flags = reply.header.flags | done.flags;
            if at < last {
                reply.header.flags = reply.header.flags | OpFlags::CN;
            }
            self.seal(request, reply, done.is_private)
        });
        let mut replies: Vec<_> = replies.collect();
        if let Some(reply) = replies.last_mut() {
            reply.feed = feed;
        }
        replies
    }

    fn reply<'b>(
        &self,
        request: &Message<'_>,
        code: ResponseCode,
        body: &impl Body<'b>,
    ) -> Message<'static> {
        let responder = self.native.responder();
        let wants_digest = request.header.flags.contains(OpFlags::RD);
        let digest = wants_digest
            .then(|| RequestDigest::of(&request.signed_part(), responder.version_for(request)));
        responder.reply(request, code, digest, body)
    }

    /// Certified if the request asks for that, and encrypted if it asks for that or if what is in
    /// it is not for everybody.
    fn seal(&self, request: &Message<'_>, reply: Message<'static>, is_private: bool) -> Outgoing {
        let reply = self.certified(self.session, request, reply);
        let Some(session) = self.session else {
            return Outgoing::open(&reply);
        };
        let is_new = session.version >= Version::new(2, 8);
        let wants = request.header.flags.contains(OpFlags::ENC);
        if !(wants || is_private && is_new) {
            return Outgoing::open(&reply);
        }
        let iv = self.native.context.world.random();
        match session.key.encrypt(session.version, &reply.payload(), &iv) {
            Ok(sealed) => {
                let mut envelope = reply.envelope;
                envelope.flags.is_encrypted = true;
                Outgoing::new(envelope, &reply.header, sealed)
            }
            Err(error) => {
                tracing::error!(%error, "a reply could not be encrypted");
                let fault = Fault::plain(ResponseCode::SessionFailed);
                Outgoing::open(&self.reply(request, fault.code, &ErrorReply::new(fault.message)))
            }
        }
    }

    /// The MAC of a request in a session. Its counter is noted, and enforced where there is no
    /// challenge.
    fn check_mac(
        &self,
        session: &Session,
        request: &Message<'_>,
        enforced: bool,
    ) -> Result<(), Fault> {
        let mut reader = Reader::new(&request.credential);
        let credential = match Credential::decode(&mut reader) {
            Ok(credential) if credential.is_mac() => credential,
            _ => return Err(Fault::plain(ResponseCode::InvalidCredential)),
        };
        let framing = Framing::of(&request.envelope);
        session
            .key
            .verify_mac(&credential, &framing, &request.signed_part())
            .map_err(|_| Fault::plain(ResponseCode::InvalidSessionKey))?;
        session.touch(self.native.context.world.now());
        let is_new = session.accepts(credential.counter());
        if enforced && !is_new {
            return Err(Fault::plain(ResponseCode::SessionMessageRejected));
        }
        Ok(())
    }

    /// Certified by the session, or signed by the server, if the request asks for that.
    fn certified(
        &self,
        session: Option<&Session>,
        request: &Message<'_>,
        reply: Message<'static>,
    ) -> Message<'static> {
        if !request.header.flags.contains(OpFlags::CT) {
            return reply;
        }
        let (framing, part) = (Framing::of(&reply.envelope), reply.signed_part());
        let credential = match session {
            Some(session) => session.key.mac(&framing, session.next_counter(), &part),
            None => sign_message(self.native.context.identity.key(), &framing, &part),
        };
        match credential {
            Ok(credential) => reply.with_credential(credential.to_bytes()),
            Err(error) => {
                tracing::error!(%error, "a reply could not be certified");
                reply
            }
        }
    }

    /// Clients that hear nothing over UDP ask over TCP, where nobody uses up their attempts.
    fn is_left_unanswered(&self, fault: &Fault) -> bool {
        fault.code == ResponseCode::ServerTooBusy && self.transport == Transport::Udp
    }
}

/// Why a request of a client that has logged in is not done.
fn not_done(why: NotDone) -> Fault {
    match why {
        NotDone::Fault(fault) => fault,
        NotDone::LoginNeeded => Fault::plain(ResponseCode::InvalidAdmin),
    }
}

/// Streams go over TCP alone: "use TCP for these" (§1.6).
fn not_a_stream() -> Fault {
    let text = "mirrors are served over TCP";
    Fault::new(ResponseCode::OperationNotSupported, text)
}
