//! `/api/v1/search`: finding names and authorities.

use handfast_api::{Found, FoundAuthority, limits};
use handfast_registry::{Authority, Principal, Shown, Words};

use super::call::{Answer, Call};
use super::convert;
use super::problem::Problem;

pub(super) fn search(call: &Call) -> Result<Answer, Problem> {
    let (words, prefix) = (call.query("q"), call.query("prefix"));
    match (call.query("url"), call.query("value")) {
        (None, None) if words.is_some() || prefix.is_some() => by_words(call, words, prefix),
        (Some(url), None) if words.is_none() && prefix.is_none() => holding(call, "URL", url),
        (None, Some(value)) if words.is_none() && prefix.is_none() => {
            holding(call, call.required("type")?, value)
        }
        _ => Err(Problem::usage(
            "give `q` or `prefix` or both, or `url`, or `value` with its `type`",
        )),
    }
}

/// Names that hold a URL, or another public value.
fn holding(call: &Call, value_type: &str, value: &str) -> Result<Answer, Problem> {
    let limit = call.limit()?;
    let after = call.query("after");
    let found = call
        .registry()
        .holding(&call.who, value_type, value.as_bytes(), after, limit)?;
    let is_full = found.len() == limit;
    let next = found.last().map(|shown| shown.key.as_str());
    Ok(page(call, &found, &[], next.filter(|_| is_full)))
}

/// Callers that may list names may find them by words; authorities are in a public register. All
/// authorities are on the first page.
fn by_words(call: &Call, words: Option<&str>, prefix: Option<&str>) -> Result<Answer, Problem> {
    let limit = call.limit()?;
    let words = words.map(Words::parse).transpose();
    let words = words.map_err(|error| Problem::usage(format!("`q`: {error}")))?;
    if prefix.is_some_and(|prefix| prefix.is_empty() || prefix.len() > limits::SEARCH_PREFIX) {
        let problem = format!("`prefix` has 1 to {} bytes", limits::SEARCH_PREFIX);
        return Err(Problem::usage(problem));
    }
    let who = if call.api.settings.public_search {
        &Principal::Operator
    } else {
        &call.who
    };
    let after = call.query("after");
    let registry = call.registry();
    let authorities = match after {
        Some(_) => Vec::new(),
        None => registry.search_authorities(words.as_ref(), prefix, limit)?,
    };
    let found = registry.search(who, words.as_ref(), prefix, after, limit)?;
    Ok(page(
        call,
        &found.names,
        &authorities,
        found.next.as_deref(),
    ))
}

fn page(call: &Call, names: &[Shown], authorities: &[Authority], next: Option<&str>) -> Answer {
    let links = call.api.links();
    let name = |shown: &Shown| convert::listed_name(shown, links.as_ref());
    let authority = |authority: &Authority| FoundAuthority {
        authority: authority.path.to_string(),
        status: convert::authority_status(&authority.status),
        title: authority.title.clone(),
    };
    Answer::json(&Found {
        authorities: authorities.iter().map(authority).collect(),
        names: names.iter().map(name).collect(),
        next: next.map(str::to_string),
    })
}
