//! `/api/v1/log`: the proof log, for auditors too, who read it as C2SP tlog-tiles says.

use handfast_api::{LogKey, NewLog};
use handfast_log::{Bundle, Tile, VerifyingKey};
use hyper::StatusCode;
use hyper::header::CACHE_CONTROL;

use super::call::{Answer, Call};
use super::problem::Problem;
use crate::http::response::reply;

pub(super) fn key(call: &Call) -> Result<Answer, Problem> {
    let key = call.registry().log_key()?;
    Ok(Answer::json(&shown(&key)))
}

fn shown(key: &VerifyingKey) -> LogKey {
    LogKey {
        key: key.to_string(),
        origin: key.name().to_string(),
    }
}

pub(super) fn checkpoint(call: &Call) -> Result<Answer, Problem> {
    Ok(Answer::text(call.api.signed_checkpoint()?))
}

/// That the log has only grown since the checkpoint in the body.
pub(super) fn growth(call: &Call) -> Result<Answer, Problem> {
    let from = str::from_utf8(&call.body).map_err(|_| Problem::usage("that is no checkpoint"))?;
    let growth = call.registry().prove_growth(from)?;
    Ok(Answer::json(&growth))
}

pub(super) fn tile(call: &Call) -> Result<Answer, Problem> {
    let path = format!("tile/{}", call.path.join("/"));
    let tile: Tile = path.parse().map_err(|_| no_tile())?;
    let bytes = call.registry().tile(&tile)?.ok_or_else(no_tile)?;
    Ok(published(bytes, tile.is_full()))
}

pub(super) fn entries(call: &Call) -> Result<Answer, Problem> {
    let path = format!("tile/entries/{}", call.path.join("/"));
    let bundle: Bundle = path.parse().map_err(|_| no_tile())?;
    let bytes = call.registry().bundle(&bundle)?.ok_or_else(no_tile)?;
    Ok(published(bytes, bundle.is_full()))
}

/// A full tile never changes, and may be cached for ever; another one soon has another name.
fn published(bytes: Vec<u8>, is_full: bool) -> Answer {
    let lifetime = if is_full {
        "public, max-age=31536000, immutable"
    } else {
        "public, max-age=60"
    };
    let answer = Answer(reply(StatusCode::OK, "application/octet-stream", bytes));
    answer.with(CACHE_CONTROL, lifetime)
}

fn no_tile() -> Problem {
    let message = "there is no such tile, or not yet";
    Problem::new(StatusCode::NOT_FOUND, "no-tile", message)
}

/// A new log that continues this one.
pub(super) fn begin(call: &Call) -> Result<Answer, Problem> {
    let given: NewLog = call.read_or_default()?;
    let key = call
        .registry()
        .begin_log(&call.who, given.origin.as_deref())?;
    Ok(Answer::json(&shown(&key)).status(StatusCode::CREATED))
}
