//! What this server is, what identifiers are, and how much there is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use handfast_api::{About, LogSize, Statistics, limits};
use handfast_id::{InfoGrammar, Scheme, inspect as inspect_bytes};
use handfast_registry::{NameCounts, rfc3339};

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

/// How old a count of names may be, in milliseconds.
const MAX_TALLY_AGE: u64 = 600_000;

/// Counts what is cheap to count. A worker counts names by scheme and state, if the last count is
/// old when a client asks.
pub(super) fn statistics(call: &Call) -> Result<Answer, Problem> {
    let found = call.registry().statistics()?;
    let requested = call.registry().requested_authorities()?;
    let (name_counts, is_old) = call.registry().name_counts(MAX_TALLY_AGE)?;
    let counting = &call.api.is_counting;
    if is_old && !counting.swap(true, Ordering::Relaxed) {
        let api = Arc::clone(&call.api);
        let begun = call.api.background.run(move || {
            if let Err(error) = api.registry().count_names() {
                tracing::warn!(%error, "names could not be counted");
            }
            api.is_counting.store(false, Ordering::Relaxed);
        });
        if begun.is_err() {
            counting.store(false, Ordering::Relaxed);
        }
    }
    let by_state = |name_counts: &NameCounts| {
        let counts = name_counts.by_state.iter();
        let counts = counts.map(|(state, count)| (state.to_string(), *count));
        counts.collect()
    };
    Ok(Answer::json(&Statistics {
        accounts: found.accounts,
        authorities: found.authorities.saturating_sub(requested),
        counted: name_counts
            .as_ref()
            .map(|name_counts| rfc3339(name_counts.time)),
        events: found.events,
        jobs: found.jobs,
        jobs_under_way: call.registry().jobs_under_way(),
        log: LogSize {
            origin: call.registry().log_key()?.name().to_string(),
            size: found.events,
        },
        names: found.names,
        names_by_scheme: name_counts
            .as_ref()
            .map(|name_counts| name_counts.by_scheme.clone()),
        names_by_state: name_counts.as_ref().map(by_state),
        versions: found.versions,
    }))
}
