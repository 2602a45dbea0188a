//! What this server is, what identifiers are, and how much there is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use handfast_id::{InfoGrammar, Scheme, inspect as inspect_bytes};
use handfast_registry::rfc3339;
use serde_json::json;

use super::call::{Answer, Call};
use super::problem::Problem;
use crate::http::resolver::address;

/// `URI-13`: our own resolver states its base URL, that it needs no first segment and that `hdl` is accepted as one.
#[expect(clippy::unnecessary_wraps, reason = "every route answers so")]
pub(super) fn about(call: &Call) -> Result<Answer, Problem> {
    let base = &call.base;
    Ok(Answer::json(json!({
        "name": "handfast",
        "version": env!("CARGO_PKG_VERSION"),
        "resolver": address::statement(base),
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
    let mut rules = call.registry().rules();
    match call.query("grammar") {
        None => {}
        Some("draft") => rules = rules.with_info_grammar(InfoGrammar::Draft),
        Some("rfc4452") => rules = rules.with_info_grammar(InfoGrammar::Rfc4452),
        Some(_) => {
            let problem = "`grammar` is one of draft, rfc4452".to_string();
            return Err(Problem::usage(problem));
        }
    }
    let inspection = inspect_bytes(id.as_bytes(), scheme, &rules);
    Ok(Answer::written(
        serde_json::to_string(&inspection).unwrap_or_default(),
    ))
}

/// The longest identifier that is looked at.
const LONGEST: usize = 32 << 10;

/// How old a count of names may be, in milliseconds.
const OLDEST: u64 = 600_000;

/// What is cheap to count is counted now. Names by scheme and state are counted by a worker, when somebody asks and
/// the last count is old.
pub(super) fn statistics(call: &Call) -> Result<Answer, Problem> {
    let found = call.registry().statistics()?;
    let requested = call.registry().requested_authorities()?;
    let (tally, is_old) = call.registry().name_counts(OLDEST)?;
    let counting = &call.web.api.is_counting;
    if is_old && !counting.swap(true, Ordering::Relaxed) {
        let web = Arc::clone(&call.web);
        let begun = call.web.api.background.run(move || {
            if let Err(refusal) = web.registry().count_names() {
                tracing::warn!(error = %refusal, "names could not be counted");
            }
            web.api.is_counting.store(false, Ordering::Relaxed);
        });
        if begun.is_err() {
            counting.store(false, Ordering::Relaxed);
        }
    }
    Ok(Answer::json(json!({
        "names": found.names,
        "authorities": found.authorities.saturating_sub(requested),
        "accounts": found.accounts,
        "events": found.events,
        "versions": found.versions,
        "jobs": found.jobs,
        "jobs-under-way": call.registry().jobs_under_way(),
        "names-by-scheme": tally.as_ref().map(|tally| &tally.by_scheme),
        "names-by-state": tally.as_ref().map(|tally| &tally.by_state),
        "counted": tally.as_ref().map(|tally| rfc3339(tally.time)),
        "log": {"origin": call.registry().log_key()?.name(), "size": found.events},
    })))
}
