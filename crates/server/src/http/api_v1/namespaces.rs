//! `/api/v1/namespaces`: the registry of `info` namespaces. Everybody may read it; owners and the
//! operator of the registry change it (`INFO-10`).

use handfast_api as api;
use handfast_registry::{
    NamespaceAct, NamespaceEntry, NamespaceForm, NamespaceOrder, NamespaceQuery, NamespaceStatus,
    parse_rfc3339,
};
use hyper::StatusCode;
use serde_json::{Map, Value as Json, json};

use super::call::{Answer, Call, WrittenPage};
use super::convert;
use super::problem::Problem;

/// How many versions a response has at most: each is a whole entry.
const MAX_VERSIONS: usize = 100;

/// How many of them are read at once.
const VERSIONS_AT_ONCE: usize = 5;
/// After how many bytes an answer ends, with what was read by then.
const MAX_HISTORY_BYTES: usize = 512 << 10;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let status = call.query("status").map(str::parse::<NamespaceStatus>);
    let wanted = NamespaceQuery {
        text: call.query("q").map(str::to_string),
        status: status.transpose().map_err(Problem::usage)?,
        historical: match call.query("historical") {
            None => None,
            Some(_) => Some(call.flag("historical")?),
        },
        after: call.query("after").map(str::to_ascii_lowercase),
        limit: call.limit()?,
    };
    let registry = call.registry();
    let found = registry.namespaces(&wanted);
    Ok(Answer::json(&convert::namespaces(&found, registry.time())))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    let entry = registry.namespace(call.id())?;
    let now = registry.time();
    let shown = convert::namespace(&entry, now);
    // That it lapses gives it no new version, and must not be missed.
    if entry.state(now) == NamespaceStatus::Lapsed {
        return Ok(Answer::json(&shown).version(entry.version));
    }
    Ok(call.versioned(entry.version, &shown))
}

pub(super) fn history(call: &Call) -> Result<Answer, Problem> {
    let limit = call.limit()?.min(MAX_VERSIONS);
    let after = call.number("after")?.unwrap_or_default();
    let registry = call.registry();
    let (mut written, mut count, mut last) = (WrittenPage::new("versions"), 0, after);
    // Some at a time, until there are enough or they are long.
    let next = loop {
        let wanted = VERSIONS_AT_ONCE.min(limit - count);
        let versions = registry.namespace_history(&call.who, call.id(), last, wanted)?;
        for version in &versions {
            written.add(&convert::namespace_version(version));
            last = version.entry.version;
            count += 1;
        }
        if versions.len() < wanted {
            break None;
        }
        if count == limit || written.bytes() > MAX_HISTORY_BYTES {
            break Some(last);
        }
    };
    Ok(Answer::written(written.finish(next)))
}

pub(super) fn comments(call: &Call) -> Result<Answer, Problem> {
    let comments = call.registry().namespace_comments(&call.who, call.id())?;
    let comments = comments.iter().map(convert::namespace_comment);
    Ok(Answer::json(&comments.collect::<Vec<_>>()))
}

pub(super) fn comment(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewComment = call.read()?;
    let registry = call.registry();
    let made = registry.comment_on_namespace(&call.who, call.id(), &given.text)?;
    let comment = convert::namespace_comment(&made);
    Ok(Answer::json(&comment).status(StatusCode::CREATED))
}

pub(super) fn policy(call: &Call) -> Result<Answer, Problem> {
    let policy = call.registry().namespace_policy()?;
    Ok(call.versioned(policy.version, &convert::namespace_policy(&policy)))
}

pub(super) fn set_policy(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewNamespacePolicy = call.read()?;
    let registry = call.registry();
    let policy = registry.set_namespace_policy(&call.who, &given.text)?;
    Ok(Answer::json(&convert::namespace_policy(&policy)).version(policy.version))
}

/// A form, with the reason beside its fields.
pub(super) fn propose(call: &Call) -> Result<Answer, Problem> {
    let mut given: Map<String, Json> = call.read()?;
    let why = reason(&mut given)?;
    let form = form(given)?;
    let name = form.namespace.clone();
    let answer = order(call, &name, NamespaceAct::Propose(Box::new(form)), &why)?;
    Ok(if call.flag("dry-run")? {
        answer
    } else {
        answer.created("namespaces", &name)
    })
}

/// What is given takes the place of what is there, field by field (RFC 7396); all else stays.
pub(super) fn change(call: &Call) -> Result<Answer, Problem> {
    let mut given: Map<String, Json> = call.read()?;
    let why = reason(&mut given)?;
    let entry = call.registry().namespace(call.id())?;
    let Ok(mut whole) = serde_json::to_value(&entry.form) else {
        return Err(Problem::usage("the entry cannot be changed"));
    };
    merge(&mut whole, Json::Object(given));
    let Json::Object(whole) = whole else {
        return Err(Problem::usage("the body is a JSON object"));
    };
    let act = NamespaceAct::Change(Box::new(form(whole)?));
    let mut order = NamespaceOrder::new(act, &why);
    // What was looked at is what is changed.
    order.expects = call.expected()?.or(Some(entry.version));
    act_on(call, call.id(), order)
}

pub(super) fn approve(call: &Call) -> Result<Answer, Problem> {
    let given: api::NamespaceApproval = call.read()?;
    let until = given.until.as_deref().map(date).transpose()?;
    let order = NamespaceOrder {
        expects: call.expected()?,
        despite: given.despite,
        ..NamespaceOrder::new(NamespaceAct::Approve { until }, &given.why)
    };
    act_on(call, call.id(), order)
}

pub(super) fn renew(call: &Call) -> Result<Answer, Problem> {
    let given: api::NamespaceRenewal = call.read()?;
    let until = date(&given.until)?;
    order(call, call.id(), NamespaceAct::Renew { until }, &given.why)
}

pub(super) fn take_back(call: &Call) -> Result<Answer, Problem> {
    order(call, call.id(), NamespaceAct::TakeBack, "")
}

pub(super) fn with_reason(call: &Call, act: NamespaceAct) -> Result<Answer, Problem> {
    let given: api::NamespaceReason = call.read()?;
    order(call, call.id(), act, &given.why)
}

fn order(call: &Call, name: &str, act: NamespaceAct, why: &str) -> Result<Answer, Problem> {
    let mut order = NamespaceOrder::new(act, why);
    order.expects = call.expected()?;
    act_on(call, name, order)
}

/// Does it, or says what would be done; with the examples that come out differently.
fn act_on(call: &Call, name: &str, order: NamespaceOrder) -> Result<Answer, Problem> {
    let (registry, dry_run) = (call.registry(), call.flag("dry-run")?);
    let changes = match &order.act {
        NamespaceAct::Propose(form) | NamespaceAct::Change(form) => {
            registry.preview_namespace(form)?
        }
        NamespaceAct::Approve { .. } => {
            registry.preview_namespace(&registry.namespace(name)?.form)?
        }
        _ => Vec::new(),
    };
    let entry: NamespaceEntry = if dry_run {
        registry.consider_namespace(&call.who, name, order)?
    } else {
        NamespaceEntry::clone(&*registry.act_on_namespace(&call.who, name, order)?)
    };
    let done = convert::namespace_done(&entry, registry.time(), &changes, dry_run);
    let answer = Answer::json(&done);
    Ok(if dry_run {
        answer
    } else {
        answer.version(entry.version)
    })
}

/// Takes the reason out of a form.
fn reason(given: &mut Map<String, Json>) -> Result<String, Problem> {
    match given.remove("why") {
        None => Ok(String::new()),
        Some(Json::String(why)) => Ok(why),
        Some(_) => Err(bad("`why` is a text")),
    }
}

fn form(given: Map<String, Json>) -> Result<NamespaceForm, Problem> {
    let read = NamespaceForm::from_json(&Json::Object(given).to_string());
    read.map_err(|error| bad(&format!("the body is not as it is to be: {error}")))
}

fn bad(message: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad-body", message)
}

/// A day or a time.
fn date(text: &str) -> Result<u64, Problem> {
    let time = parse_rfc3339(&format!("{text}T00:00:00Z")).or_else(|| parse_rfc3339(text));
    time.ok_or_else(|| bad("`until` is a day (2027-01-31) or a time (2027-01-31T12:00:00Z)"))
}

/// RFC 7396. What is read is no deeper than JSON is read here, so this goes no deeper either.
fn merge(into: &mut Json, given: Json) {
    let Json::Object(given) = given else {
        *into = given;
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    let Json::Object(whole) = into else {
        return;
    };
    for (name, value) in given {
        if value.is_null() {
            whole.remove(&name);
        } else {
            merge(whole.entry(name).or_insert(Json::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_takes_the_place_of_what_is_there() {
        for (whole, given, merged) in [
            (
                json!({"a": {"b": 1, "c": [1]}}),
                json!({"a": {"c": [2]}}),
                json!({"a": {"b": 1, "c": [2]}}),
            ),
            (json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2})),
            (
                json!({"a": 1}),
                json!({"a": {"b": null, "c": 3}}),
                json!({"a": {"c": 3}}),
            ),
        ] {
            let mut found = whole;
            merge(&mut found, given);
            assert_eq!(found, merged);
        }
    }
}
