//! `VERIFY_CHALLENGE`: whether an answer to a challenge was made with a secret key.

use handfast_registry::with_slash;
use handfast_wire::body::{VerifyReply, VerifyRequest};
use handfast_wire::{Codec, Message, ResponseCode};

use crate::admission::expensive_work::WorkPermit;
use crate::admission::peer::Peer;
use crate::auth::login::too_many;
use crate::error::Fault;
use crate::native::operations::OperationReply;
use crate::native::{Native, read};

impl Native {
    /// §3.7: says for another server, or for anybody, whether an answer was made with a secret key.
    pub(crate) fn verify(
        &self,
        request: &Message<'_>,
        peer: Peer,
        permit: Option<WorkPermit>,
    ) -> Result<OperationReply, Fault> {
        let asked: VerifyRequest<'_> = read(request)?;
        let attempt = self.context.begin_login(peer, &asked.key.handle)?;
        if let Some(done) = self.referral(request, &with_slash(&asked.key.handle))? {
            drop(permit);
            // Another server was asked, or is to be.
            let said = done
                .bodies
                .first()
                .map(|body| VerifyReply::from_bytes(body));
            if let (ResponseCode::Success, Some(Ok(reply))) = (done.code, said) {
                attempt.finish(reply.is_match).map_err(too_many)?;
            }
            return Ok(done);
        }
        let (nonce, digest) = (&*asked.nonce, &*asked.digest);
        let is_match =
            self.context
                .matches(&asked.key, (nonce, digest), &asked.response, permit)?;
        attempt.finish(is_match).map_err(too_many)?;
        Ok(OperationReply::with(VerifyReply { is_match }.to_bytes()))
    }
}
