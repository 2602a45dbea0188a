//! Reading a handle (`http-interfaces.md` A.5).

use std::borrow::Cow;

use handfast_id::Handle;
use handfast_registry::{RegistryError, State, with_slash};
use handfast_wire::body::ResolutionRequest;
use handfast_wire::{ResponseCode, json};
use hyper::StatusCode;

use super::answer::{Answer, Problem, put_member, start};
use super::credentials::{Login, challenge_line, login};
use super::question::Question;
use crate::http::Web;
use crate::native::administrator::is_administrator;
use crate::native::operations::Given;
use crate::native::response::Fault;
use crate::native::status::is_status;

/// The record of a handle, or what of it is asked for.
pub(crate) fn read(web: &Web, question: &Question, name: &str) -> Result<Answer, Problem> {
    let login = login(web, question)?;
    let indexes = question.parameters.indexes()?;
    let types = question.parameters.types()?;
    if name.is_empty() {
        let fault = Fault::new(ResponseCode::InvalidHandle, "Empty handle invalid");
        return Err(fault.into());
    }
    let asked = ResolutionRequest {
        indexes,
        types: types.into_iter().map(Cow::Borrowed).collect(),
        ..ResolutionRequest::all(name)
    };
    let is_public_only = match question.parameters.first("publicOnly") {
        Some(_) => question.parameters.is_true("publicOnly"),
        None => login.known.is_none(),
    };
    let public = if is_public_only {
        stored(web, &asked)?.map(|json| Answer::new(StatusCode::OK, json))
    } else {
        None
    };
    let answered = match public {
        Some(answer) => Ok(answer),
        None => read_any(web, question, &asked, is_public_only, &login),
    };
    answered
        .map(|answer| with_signature(answer, &login))
        .map_err(|problem| problem.of(name))
}

/// What everybody may read, straight from the store. `None` if it is not stored as it is said.
pub(crate) fn stored(
    web: &Web,
    asked: &ResolutionRequest<'_>,
) -> Result<Option<Vec<u8>>, RegistryError> {
    let name = &*asked.handle;
    // The records of prefixes, and what is the server's own, have values that are computed.
    if !name.contains('/') || name.starts_with("0.") {
        return Ok(None);
    }
    let Ok(handle) = Handle::from_stored(name) else {
        return Ok(None);
    };
    let answered = web.registry().with_record(&handle, |lent| {
        if lent.state != State::Active {
            return None;
        }
        let mut out = start(ResponseCode::Success);
        put_member(&mut out, "handle", name);
        out.extend_from_slice(b",\"values\":[");
        let mut has_any = false;
        for (value, _) in lent.iter() {
            if value.permissions.public_read() && asked.selects(&value) {
                if has_any {
                    out.push(b',');
                }
                json::write_value(&mut out, &value);
                has_any = true;
            }
        }
        out.extend_from_slice(b"]}");
        Some(out).filter(|_| has_any)
    })?;
    Ok(answered.flatten().flatten())
}

fn read_any(
    web: &Web,
    question: &Question,
    asked: &ResolutionRequest<'_>,
    is_public_only: bool,
    login: &Login,
) -> Result<Answer, Problem> {
    let name = &*asked.handle;
    let whole = with_slash(name);
    let native = &web.native;
    if is_status(&whole) {
        let who = login.who().filter(|_| !is_public_only);
        let values = native.status_for(who.as_ref(), asked)?;
        return Ok(if values.is_empty() {
            Answer::nothing(name)
        } else {
            Answer::values(StatusCode::OK, ResponseCode::Success, name, &values)
        });
    }
    if is_administrator(&whole) {
        let value = native.identity().administrator_value();
        let selected: Vec<_> = Some(value)
            .filter(|value| asked.selects(value))
            .into_iter()
            .collect();
        return Ok(if selected.is_empty() {
            Answer::nothing(name)
        } else {
            Answer::values(StatusCode::OK, ResponseCode::Success, name, &selected)
        });
    }
    if let Some(answer) = referral(web, question, name)? {
        return Ok(answer);
    }
    match native.values_for(asked, &whole, is_public_only, login.who().as_ref()) {
        Ok(Given::Values(values)) => Ok(Answer::values(
            StatusCode::OK,
            ResponseCode::Success,
            name,
            &values,
        )),
        Ok(Given::Who) => Err(Problem::code(ResponseCode::AuthenticationNeeded)),
        Err(fault) if fault.code == ResponseCode::ValuesNotFound => nothing_public(web, asked),
        Err(fault) => Err(fault.into()),
    }
}

/// A record of which nothing is given. Clients resolve the handle of whoever is to log in, and take one without values
/// for none: if that is somebody with a role here, the role is shown.
fn nothing_public(web: &Web, asked: &ResolutionRequest<'_>) -> Result<Answer, Problem> {
    let name = &*asked.handle;
    let mut roles = web.registry().roles_of(name)?;
    roles.retain(|value| asked.selects(value));
    Ok(if roles.is_empty() {
        Answer::nothing(name)
    } else {
        Answer::values(StatusCode::OK, ResponseCode::Success, name, &roles)
    })
}

/// Where the record of a derived prefix is that was delegated.
pub(crate) fn referral(
    web: &Web,
    question: &Question,
    name: &str,
) -> Result<Option<Answer>, Problem> {
    if question.parameters.is_true("doNotRefer") {
        return Ok(None);
    }
    let values = web.registry().delegation(name)?;
    let code = ResponseCode::PrefixReferral;
    Ok(values.map(|values| Answer::values(StatusCode::MULTIPLE_CHOICES, code, name, &values)))
}

/// "It comes back in the `WWW-Authenticate: Handle` line … The request proceeds normally."
fn with_signature(answer: Answer, login: &Login) -> Answer {
    let (Some(session), Some(signed)) = (&login.session, &login.signed) else {
        return answer;
    };
    match challenge_line(session, Some(signed), None) {
        Some(line) => answer.with(hyper::header::WWW_AUTHENTICATE, line),
        None => answer,
    }
}
