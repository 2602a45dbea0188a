//! The cost of a request, before it is processed: whether it can be answered at once, and which
//! queue it waits in.

use handfast_id::Handle;
use handfast_wire::body::{ChallengeAnswer, VerifyRequest};
use handfast_wire::{Codec, Envelope, Header, Message, OpFlags, Opcode, Reader};

use crate::admission::expensive_work::WorkQueue;
use crate::auth::login::{busy, is_expensive};
use crate::error::Fault;
use crate::native::{Native, Outgoing, understands_referrals};
use crate::runtime::native_metrics::Transport;

/// The cost of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageWork {
    /// Nothing is signed, nothing waits for the disk, no template is evaluated, and no other server
    /// is asked, as for clients that do not understand referrals.
    None,
    /// It waits for the disk or for another server.
    Blocking,
    /// The reply is signed.
    Signature,
    /// An expensive login.
    Login,
}

impl Native {
    /// The cost of a message.
    pub(crate) fn work_of(&self, envelope: &Envelope, payload: &[u8]) -> MessageWork {
        if envelope.flags.is_encrypted {
            let now = self.context.now();
            let session = self.context.sessions.get(&envelope.session_id, now);
            // What is in it is known when it is decrypted. Those who have logged in have shown who
            // they are.
            let is_known = session.is_none_or(|session| session.who().is_some());
            return if is_known {
                MessageWork::Blocking
            } else {
                MessageWork::Login
            };
        }
        let mut reader = Reader::new(payload);
        let Ok(header) = Header::decode(&mut reader) else {
            return MessageWork::None;
        };
        match header.opcode {
            Opcode::SessionSetup => return MessageWork::Login,
            Opcode::ChallengeResponse | Opcode::VerifyChallenge
                if is_expensive_message(*envelope, payload) =>
            {
                return MessageWork::Login;
            }
            _ => {}
        }
        let is_signed = header.flags.contains(OpFlags::CT);
        let is_resolution = header.opcode == Opcode::Resolution;
        let text = reader.text().unwrap_or_default();
        // A repository, or another server, may have to be asked.
        if is_resolution && (self.context.has_source(text) || !understands_referrals(envelope)) {
            return MessageWork::Blocking;
        }
        // In a session, its key certifies answers.
        if is_signed && envelope.session_id == 0 {
            return MessageWork::Signature;
        }
        let has_templates = || {
            let handle = Handle::from_stored(text).ok();
            handle.is_some_and(|handle| self.context.registry.has_templates(&handle))
        };
        if is_resolution && !is_signed && !has_templates() {
            MessageWork::None
        } else {
            MessageWork::Blocking
        }
    }

    /// The queue that a message waits in.
    pub(crate) fn queue_of(&self, work: MessageWork) -> Option<&WorkQueue> {
        match work {
            MessageWork::None => None,
            MessageWork::Blocking => Some(&self.context.admission.expensive_work.requests),
            MessageWork::Signature => Some(&self.context.admission.expensive_work.signatures),
            MessageWork::Login => Some(&self.context.admission.expensive_work.logins),
        }
    }

    /// The answer to a message that has no place in its queue.
    pub(crate) fn busy(&self, envelope: &Envelope, transport: Transport) -> Outgoing {
        self.unread(envelope.request_id, busy(), transport)
    }

    /// The answer to a message that is not looked at.
    pub(crate) fn unread(&self, request_id: u32, fault: Fault, transport: Transport) -> Outgoing {
        let Fault { code, message } = fault;
        let metrics = &self.context.metrics;
        metrics.count(transport, Opcode::Reserved, code);
        Outgoing::open(&self.responder().error(request_id, code, &message))
    }
}

fn is_expensive_message(envelope: Envelope, payload: &[u8]) -> bool {
    let Ok(message) = Message::open(envelope, payload) else {
        return false;
    };
    if message.header.opcode == Opcode::VerifyChallenge {
        let asked = message.read::<VerifyRequest<'_>>();
        return asked.is_ok_and(|asked| is_expensive("HS_SECKEY", &asked.response));
    }
    let answer = message.read::<ChallengeAnswer<'_>>();
    answer.is_ok_and(|answer| is_expensive(&answer.authentication_type, &answer.response))
}
