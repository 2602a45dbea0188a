//! Delegated prefixes, for clients that are too old to understand a referral (§8.6): the server
//! asks the delegates itself.

use handfast_client::Query;
use handfast_registry::with_slash;
use handfast_wire::body::{ResolutionReply, ResolutionRequest, VerifyReply, VerifyRequest};
use handfast_wire::{Codec, Message, Opcode, ResponseCode, Value};

use crate::auth::remote_servers::RemoteServers;
use crate::error::Fault;
use crate::native::operations::OperationReply;
use crate::native::read;

/// The answer of the delegates, for a client that does not understand referrals.
pub(crate) fn answer(
    remote: &RemoteServers,
    request: &Message<'_>,
    delegations: &[Value<'_>],
) -> Result<OperationReply, Fault> {
    // "A server at 10" hops gives up.
    if request.header.recursion_count >= 10 {
        return Err(Fault::plain(ResponseCode::RecursionCountTooHigh));
    }
    if request.header.opcode == Opcode::VerifyChallenge {
        let asked: VerifyRequest<'_> = read(request)?;
        let is_match = remote.at_delegates(request, delegations, async |client| {
            let (nonce, digest) = (&asked.nonce, &asked.digest);
            client
                .verify(&asked.key, nonce, digest, &asked.response)
                .await
        })?;
        return Ok(OperationReply::with(VerifyReply { is_match }.to_bytes()));
    }
    let asked: ResolutionRequest<'_> = read(request)?;
    let query = Query {
        indexes: asked.indexes.clone(),
        types: asked.types.iter().map(ToString::to_string).collect(),
        ..Query::all()
    };
    let whole = with_slash(&asked.handle);
    let found = remote.at_delegates(request, delegations, async |client| {
        client.resolve(&whole, &query).await
    })?;
    let reply = ResolutionReply {
        handle: asked.handle,
        values: found.values,
    };
    Ok(OperationReply::with(reply.to_bytes()))
}
