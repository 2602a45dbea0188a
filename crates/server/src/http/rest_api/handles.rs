//! Reading a handle (`http-interfaces.md` A.5).

use std::borrow::Cow;

use handfast_registry::with_slash;
use handfast_wire::ResponseCode;
use handfast_wire::body::ResolutionRequest;
use hyper::StatusCode;

use super::answer::{RestAnswer, RestProblem, RestResult, record};
use super::credentials::{Login, login, with_challenge};
use super::request::RestRequest;
use crate::auth::administrator::is_administrator;
use crate::error::Fault;
use crate::http::Web;
use crate::status::is_status;

/// The record of a handle, or what of it is asked for.
pub(crate) fn read(web: &Web, request: &RestRequest, name: &str) -> RestResult {
    let login = login(web, request)?;
    let indexes = request.parameters.indexes()?;
    let types = request.parameters.types()?;
    if name.is_empty() {
        let fault = Fault::new(ResponseCode::InvalidHandle, "Empty handle invalid");
        return Err(fault.into());
    }
    let asked = ResolutionRequest {
        indexes,
        types: types.into_iter().map(Cow::Borrowed).collect(),
        ..ResolutionRequest::all(name)
    };
    let is_public_only = match request.parameters.first("publicOnly") {
        Some(_) => request.parameters.is_true("publicOnly"),
        None => login.known.is_none(),
    };
    let public = is_public_only.then(|| stored(web, &asked)).flatten();
    let answered = match public {
        Some(json) => Ok(RestAnswer::new(StatusCode::OK, json)),
        None => read_any(web, request, &asked, is_public_only, &login),
    };
    answered
        .map(|answer| with_signature(answer, &login))
        .map_err(|problem| problem.of(name))
}

/// The public values of a stored handle as JSON; `None` if its values are computed.
pub(crate) fn stored(web: &Web, asked: &ResolutionRequest<'_>) -> Option<Vec<u8>> {
    let name = &*asked.handle;
    // The records of prefixes, and what is the server's own, have values that are computed.
    if !name.contains('/') || name.starts_with("0.") {
        return None;
    }
    let written = web.context.public_values(asked, name, |values| {
        let values = values.iter().map(|(value, _)| value);
        let (json, has_any) = record(ResponseCode::Success, name, values);
        has_any.then_some(json)
    });
    written.ok().flatten()
}

fn read_any(
    web: &Web,
    request: &RestRequest,
    asked: &ResolutionRequest<'_>,
    is_public_only: bool,
    login: &Login,
) -> RestResult {
    let name = &*asked.handle;
    let whole = with_slash(name);
    let context = &web.context;
    if is_status(&whole) {
        let who = login.who().filter(|_| !is_public_only);
        let values = context.status_for(who, asked)?;
        return Ok(RestAnswer::found(name, &values));
    }
    if is_administrator(&whole) {
        let value = context.identity.administrator_value();
        let selected = Some(value).filter(|value| asked.selects(value));
        return Ok(RestAnswer::found(name, selected.as_slice()));
    }
    if let Some(answer) = referral(web, request, name)? {
        return Ok(answer);
    }
    match context.values_for(asked, &whole, is_public_only, login.who()) {
        Ok(values) => Ok(RestAnswer::found(name, &values)),
        Err(fault) if fault.code == ResponseCode::ValuesNotFound => nothing_public(web, asked),
        Err(fault) => Err(fault.into()),
    }
}

/// The answer for a record without readable values. Clients resolve the handle that is to log in,
/// and treat a handle without values as missing: if the handle has a role here, the answer shows
/// it.
fn nothing_public(web: &Web, asked: &ResolutionRequest<'_>) -> RestResult {
    let name = &*asked.handle;
    let mut roles = web.registry().roles_of(name)?;
    roles.retain(|value| asked.selects(value));
    Ok(RestAnswer::found(name, &roles))
}

/// The referral to the servers of a delegated prefix.
pub(crate) fn referral(
    web: &Web,
    request: &RestRequest,
    name: &str,
) -> Result<Option<RestAnswer>, RestProblem> {
    if request.parameters.is_true("doNotRefer") {
        return Ok(None);
    }
    let values = web.registry().delegation(name)?;
    let code = ResponseCode::PrefixReferral;
    Ok(values.map(|values| RestAnswer::values(StatusCode::MULTIPLE_CHOICES, code, name, &values)))
}

/// "It comes back in the `WWW-Authenticate: Handle` line … The request proceeds normally."
fn with_signature(answer: RestAnswer, login: &Login) -> RestAnswer {
    let (Some(session), Some(signed)) = (&login.session, &login.signed) else {
        return answer;
    };
    with_challenge(answer, session, Some(signed), None)
}
