//! What an answer costs, before it is made: whether it can be given at once, and whose queue it has to wait in.

use handfast_id::Handle;
use handfast_wire::body::{ChallengeAnswer, VerifyRequest};
use handfast_wire::{Codec, Envelope, Header, Message, OpFlags, Opcode, Reader};

use crate::admission::expensive_work::WorkQueue;
use crate::native::login::{busy, is_expensive};
use crate::native::{Native, Outgoing, Way, understands_referrals};

/// What an answer costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing is signed, nothing waits for the disk, no template is evaluated, and no other server is asked, as for
    /// clients that do not understand referrals.
    None,
    /// It waits for the disk or for another server.
    Blocking,
    /// It is signed.
    Signature,
    /// Somebody shows who they are, in a way that costs much.
    Login,
}

impl Native {
    /// What the answer to a message costs.
    pub(crate) fn work_of(&self, envelope: &Envelope, payload: &[u8]) -> Work {
        if envelope.flags.is_encrypted {
            let session = self.sessions.get(envelope.session_id, self.world.now());
            // What is in it is known when it is decrypted. Those who have logged in have shown who they are.
            let is_known = session.is_none_or(|session| session.who().is_some());
            return if is_known {
                Work::Blocking
            } else {
                Work::Login
            };
        }
        let mut reader = Reader::new(payload);
        let Ok(header) = Header::decode(&mut reader) else {
            return Work::None;
        };
        match header.opcode {
            Opcode::SessionSetup => return Work::Login,
            Opcode::ChallengeResponse | Opcode::VerifyChallenge
                if is_expensive_message(*envelope, payload) =>
            {
                return Work::Login;
            }
            _ => {}
        }
        let is_signed = header.flags.contains(OpFlags::CT);
        let is_resolution = header.opcode == Opcode::Resolution;
        let text = reader.text().unwrap_or_default();
        // A repository, or another server, may have to be asked.
        if is_resolution && (self.has_source(text) || !understands_referrals(envelope)) {
            return Work::Blocking;
        }
        // In a session, its key certifies answers.
        if is_signed && envelope.session_id == 0 {
            return Work::Signature;
        }
        let has_templates = || {
            let handle = Handle::from_stored(text).ok();
            handle.is_some_and(|handle| self.registry.has_templates(&handle))
        };
        if is_resolution && !is_signed && !has_templates() {
            Work::None
        } else {
            Work::Blocking
        }
    }

    /// Where a message waits for its turn, if it has to.
    pub(crate) fn queue_of(&self, work: Work) -> Option<&WorkQueue> {
        match work {
            Work::None => None,
            Work::Blocking => Some(&self.admission.expensive_work.requests),
            Work::Signature => Some(&self.admission.expensive_work.signatures),
            Work::Login => Some(&self.admission.expensive_work.logins),
        }
    }

    /// The answer to a message that has no place in its queue.
    pub(crate) fn busy(&self, envelope: &Envelope, way: Way) -> Outgoing {
        let fault = busy();
        let (code, text) = (fault.code, &fault.message);
        let refusal = self.responder().error(envelope.request_id, code, text);
        self.meters.count(way, Opcode::Reserved, code);
        Outgoing::open(&refusal)
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
