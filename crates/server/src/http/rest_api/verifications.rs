//! Verifying the answer of a secret key for a client that does not have the key
//! (`http-interfaces.md` A.11).

use handfast_wire::{Reference, ResponseCode};
use hyper::StatusCode;

use super::answer::{RestAnswer, RestResult, put_member, start};
use super::authorization::{from_base64, reference, secret_response};
use super::request::RestRequest;
use crate::error::{Fault, wrong};
use crate::http::Web;

pub(crate) fn verify(web: &Web, request: &RestRequest, name: &str) -> RestResult {
    let key = key(request, name)?;
    let parameters = &request.parameters;
    let bytes = |name: &str| {
        let read = parameters.first(name).and_then(from_base64);
        read.ok_or_else(|| wrong(format!("the parameter `{name}` should be Base64")))
    };
    let (nonce, client_nonce) = (bytes("nonce")?, bytes("cnonce")?);
    let mac = bytes("signature")?;
    let algorithm = parameters.first("alg").unwrap_or_default();
    let response = secret_response(algorithm, &mac, |name| parameters.first(name));
    let response = response.ok_or_else(|| wrong("the parameter `alg` names no algorithm"))?;
    let challenge = (&*nonce, &*client_nonce);
    let (peer, permit) = (request.peer(), request.permit.take());
    // The caller could be guessing, so failures count as failed logins.
    let is_valid = web
        .context
        .verifies(peer, &key, challenge, &response, permit)?;
    let mut out = start(ResponseCode::Success);
    put_member(&mut out, "isValid", &is_valid);
    put_member(&mut out, "handle", &*key.handle);
    out.push(b'}');
    Ok(RestAnswer::new(StatusCode::OK, out))
}

/// "or the index inside the path as `/api/verifications/300:{handle}`"
fn key(request: &RestRequest, name: &str) -> Result<Reference<'static>, Fault> {
    let indexes = request.parameters.indexes()?;
    let named = reference(name).ok_or_else(|| wrong("no handle is named"))?;
    let is_in_path = named.handle.len() < name.len();
    match (is_in_path, indexes.as_slice()) {
        (true, []) => Ok(named),
        (false, [index]) => Ok(Reference::new(name.to_string(), *index)),
        _ => Err(wrong("one index should be named")),
    }
}
