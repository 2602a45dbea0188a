//! What this server is, what identifiers are, how much there is, and its log.

use handfast_id::{Scheme, inspect as inspect_bytes};
use handfast_registry::DOORS;
use serde_json::json;

use super::call::{Answer, Call};
use super::problem::Problem;

/// `URI-13`: our own resolver states its base URL, that it needs no first segment and that `hdl` is accepted as one.
#[expect(clippy::unnecessary_wraps, reason = "every route answers so")]
pub(super) fn about(call: &Call) -> Result<Answer, Problem> {
    let base = &call.base;
    Ok(Answer::json(json!({
        "name": "handfast",
        "version": env!("CARGO_PKG_VERSION"),
        "resolver": {"base": base, "first-segments": ["", "hdl"], "taken-segments": DOORS},
        "openapi": format!("{base}/api/v1/openapi.json"),
        "who": call.is_known().then(|| call.who.to_string()),
    })))
}

#[expect(clippy::unnecessary_wraps, reason = "every route answers so")]
pub(super) fn openapi(_: &Call) -> Result<Answer, Problem> {
    Ok(Answer::json(super::openapi::document().clone()))
}

pub(super) fn inspect(call: &Call) -> Result<Answer, Problem> {
    let id = call.required("id")?;
    if id.len() > LONGEST {
        return Err(Problem::usage(format!(
            "an identifier has at most {LONGEST} bytes"
        )));
    }
    let scheme = match call.query("as") {
        Some(text) => text.parse().map_err(|_| {
            let all = Scheme::ALL.map(Scheme::as_str).join(", ");
            Problem::usage(format!("`as` is one of {all}"))
        })?,
        None => Scheme::Any,
    };
    let inspection = inspect_bytes(id.as_bytes(), scheme, &*call.registry().rules());
    Ok(Answer::written(
        serde_json::to_string(&inspection).unwrap_or_default(),
    ))
}

/// The longest identifier that is looked at.
const LONGEST: usize = 32 << 10;

pub(super) fn statistics(call: &Call) -> Result<Answer, Problem> {
    let found = call.registry().statistics()?;
    Ok(Answer::json(json!({
        "names": found.names,
        "authorities": found.authorities,
        "events": found.events,
        "versions": found.versions,
        "jobs": found.jobs,
    })))
}

pub(super) fn log_key(call: &Call) -> Result<Answer, Problem> {
    let key = call.registry().log_key()?;
    Ok(Answer::json(
        json!({"origin": key.name(), "key": key.to_string()}),
    ))
}

/// Signed anew only when there is something new: whoever asks does not make us write.
pub(super) fn checkpoint(call: &Call) -> Result<Answer, Problem> {
    let events = call.registry().event_count()?;
    let signed = &call.web.api.checkpoint;
    let mut signed = signed
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((of, text)) = &*signed
        && *of == events
    {
        return Ok(Answer::text(text.clone()));
    }
    let text = call.registry().checkpoint()?.to_string();
    *signed = Some((events, text.clone()));
    Ok(Answer::text(text))
}

/// That the log has only grown since the checkpoint in the body.
pub(super) fn growth(call: &Call) -> Result<Answer, Problem> {
    let from = str::from_utf8(&call.body).map_err(|_| Problem::usage("that is no checkpoint"))?;
    let growth = call.registry().prove_growth(from)?;
    Ok(Answer::json(json!(growth)))
}
