//! What this server is, what identifiers are, and how much there is.

use std::collections::BTreeMap;

use handfast_api::{About, LogSize, Statistics, limits};
use handfast_id::{InfoGrammar, Scheme, inspect as inspect_bytes};
use handfast_registry::{NameTotals, State, rfc3339};

use super::call::{Answer, Call};
use super::problem::Problem;
use crate::http::resolver::address;

/// `URI-13`: our own resolver states its base URL, that it needs no first segment and that `hdl` is
/// accepted as one.
#[expect(clippy::unnecessary_wraps, reason = "every route answers so")]
pub(super) fn about(call: &Call) -> Result<Answer, Problem> {
    let base = &call.base;
    Ok(Answer::json(&About {
        name: "handfast".to_string(),
        openapi: format!("{base}/api/v1/openapi.json"),
        resolver: address::statement(base),
        version: env!("CARGO_PKG_VERSION").to_string(),
        who: call.is_known().then(|| call.who.to_string()),
    }))
}

#[expect(clippy::unnecessary_wraps, reason = "every route answers so")]
pub(super) fn openapi(_: &Call) -> Result<Answer, Problem> {
    Ok(Answer::written(super::openapi::document()))
}

pub(super) fn inspect(call: &Call) -> Result<Answer, Problem> {
    let id = call.required("id")?;
    if id.len() > limits::INSPECTED {
        let problem = format!("an identifier has at most {} bytes", limits::INSPECTED);
        return Err(Problem::usage(problem));
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
    Ok(Answer::json(&inspection))
}

/// Counts what is cheap to count. The registry counts names by scheme and state in the background.
pub(super) fn statistics(call: &Call) -> Result<Answer, Problem> {
    let found = call.registry().statistics()?;
    let requested = call.registry().requested_authorities()?;
    let totals = call.registry().name_totals();
    // Everything else is known without them.
    let totals = totals.inspect_err(|error| tracing::warn!(%error, "names are not counted"));
    let totals = totals.ok().filter(|totals| totals.as_of_event > 0);
    let as_of_event = totals.as_ref().map(|totals| totals.as_of_event);
    let counted = match as_of_event {
        Some(number) => call.registry().event_time(number)?,
        None => None,
    };
    let by_state = |totals: &NameTotals| {
        let counts = totals.by_state;
        BTreeMap::from([
            (State::Active.as_str().to_string(), counts.active),
            (State::Reserved.as_str().to_string(), counts.reserved),
            (State::Withdrawn.as_str().to_string(), counts.withdrawn),
        ])
    };
    Ok(Answer::json(&Statistics {
        accounts: found.accounts,
        authorities: found.authorities.saturating_sub(requested),
        as_of_event,
        counted: counted.map(rfc3339),
        events: found.events,
        jobs: found.jobs,
        jobs_under_way: call.registry().jobs_under_way(),
        log: LogSize {
            origin: call.registry().log_key()?.name().to_string(),
            size: found.events,
        },
        names: found.names,
        names_by_state: totals.as_ref().map(by_state),
        names_by_scheme: totals.map(|totals| totals.by_scheme),
        versions: found.versions,
    }))
}
