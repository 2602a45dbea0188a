//! Entries in JSON, for commands and for the web.

use serde_json::{Map, Value as Json, json};

use super::comments::NamespaceRemark;
use super::entry::NamespaceEntry;
use super::policy::NamespacePolicy;
use super::preview::ExampleChange;
use super::read::{NamespacePage, NamespaceVersion};
use crate::clock::rfc3339;
use crate::log::event::Action;

/// An entry of the `info` registry at a time, without its owner.
#[must_use]
pub fn namespace(entry: &NamespaceEntry, now: u64) -> Json {
    let Ok(Json::Object(mut object)) = serde_json::to_value(entry) else {
        return Json::Null;
    };
    // Claims by others are in the history.
    object.remove("aside");
    // Historical entries have only a web address.
    if let Some(Json::Object(authority)) = object.get_mut("authority") {
        authority.insert("contact".into(), entry.form.contact().into());
    }
    let mut say = |name: &str, said: Json| object.insert(name.to_string(), said);
    say("uri", entry.uri().into());
    say("status", entry.state(now).as_str().into());
    say("live", entry.is_live(now).into());
    say("changed", rfc3339(entry.changed_by(now)).into());
    say("proposed", entry.proposed.map(rfc3339).into());
    say(
        "provisional_until",
        entry.provisional_until.map(rfc3339).into(),
    );
    Json::Object(object)
}

/// An entry after an action, or as the action would leave it, with the examples whose canonical
/// form changes.
#[must_use]
pub fn namespace_acted_on(
    entry: &NamespaceEntry,
    now: u64,
    changes: &[ExampleChange],
    is_rehearsal: bool,
) -> Json {
    let mut said = namespace(entry, now);
    if let Json::Object(said) = &mut said {
        let changes = changes.iter().map(
            |change| json!({"input": change.input, "before": change.before, "after": change.after}),
        );
        said.insert("example_changes".into(), changes.collect());
        said.insert("dry_run".into(), is_rehearsal.into());
    }
    said
}

/// An entry in a list.
#[must_use]
pub fn listed_namespace(entry: &NamespaceEntry, now: u64) -> Json {
    json!({
        "namespace": entry.name(),
        "uri": entry.uri(),
        "title": entry.form.title,
        "organisation": entry.form.authority.organisation,
        "status": entry.state(now).as_str(),
        "historical": entry.historical,
        "claimed": entry.claimed,
        "registered": entry.registered,
        "changed": rfc3339(entry.changed_by(now)),
        "version": entry.version,
    })
}

/// A page of entries.
#[must_use]
pub fn namespaces(page: &NamespacePage, now: u64) -> Json {
    let entries = page.entries.iter();
    json!({
        "namespaces": entries.map(|entry| listed_namespace(entry, now)).collect::<Json>(),
        "total": page.total,
        "next": page.next,
    })
}

/// A version in the history of an entry.
#[must_use]
pub fn namespace_version(version: &NamespaceVersion) -> Json {
    let entry = &version.entry;
    let (time, by, why) = entry.made();
    let mut object = Map::new();
    object.insert("version".into(), entry.version.into());
    object.insert("event".into(), version.event.into());
    object.insert("time".into(), rfc3339(time).into());
    object.insert("action".into(), version.action.map(Action::as_str).into());
    object.insert("status".into(), entry.status.as_str().into());
    object.insert("by".into(), by.as_str().into());
    object.insert("why".into(), why.into());
    object.insert(
        "who".into(),
        version.who.as_ref().map(ToString::to_string).into(),
    );
    object.insert("entry".into(), namespace(entry, entry.changed));
    Json::Object(object)
}

/// A comment on a candidate.
#[must_use]
pub fn namespace_comment(remark: &NamespaceRemark) -> Json {
    let comment = &remark.comment;
    let author = remark.is_signed.then(|| comment.author.to_string());
    json!({
        "comment": comment.number,
        "version": comment.version,
        "time": rfc3339(comment.time),
        "by": remark.by,
        "author": author,
        "text": comment.text,
    })
}

/// The policy of the registry.
#[must_use]
pub fn namespace_policy(policy: &NamespacePolicy) -> Json {
    let time = (policy.version > 0).then(|| rfc3339(policy.time));
    json!({"version": policy.version, "time": time, "text": policy.text})
}
