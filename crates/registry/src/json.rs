//! What is kept, as JSON: the same from a command and from the web.

use std::borrow::Cow;

use handfast_id::{CaseRule, Rules};
use handfast_wire::json::ParsedValue;
use handfast_wire::{Value, json as wire_json};
use serde_json::{Map, Value as Json, json};

use crate::access::account::Account;
use crate::access::principal::Principal;
use crate::access::token::Token;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Grant, Persistence, Policy};
use crate::clock::{parse_rfc3339, rfc3339 as time};
use crate::error::RegistryError;
use crate::export::Exported;
use crate::import::{Changes, Done, Format, Outcome, ValueChange, ValueCounts};
use crate::jobs::job::{Job, JobKind};
use crate::jobs::running::Progress;
use crate::log::event::Action;
use crate::name::history::HistoryEntry;
use crate::name::record::{Record, State, Tombstone};
use crate::name::show::Shown;

pub use crate::namespace::to_json::{
    listed_namespace, namespace, namespace_acted_on, namespace_comment, namespace_policy,
    namespace_version, namespaces,
};

/// A name.
#[must_use]
pub fn name(shown: &Shown) -> Json {
    let record = &shown.record;
    json!({
        "id": record.text,
        "key": shown.key,
        "state": record.state.as_str(),
        "created": time(record.created),
        "modified": time(record.modified),
        "version": record.version,
        "irregular": record.irregularity().map(|error| error.code()),
        "holder": record.holder.as_ref().map(ToString::to_string),
        "values": record.values.iter().map(wire_json::value).collect::<Json>(),
        "withdrawn": record.tombstone.as_ref().map(|tombstone| json!({
            "reason": tombstone.reason,
            "date": time(tombstone.date),
            "successor": tombstone.successor,
        })),
    })
}

/// A name in a list.
#[must_use]
pub fn listed(shown: &Shown) -> Json {
    json!({"id": shown.record.text, "state": shown.record.state.as_str()})
}

/// An event in the history of a name.
#[must_use]
pub fn entry(entry: &HistoryEntry) -> Json {
    let event = &entry.event;
    let values = entry.version.as_ref().map(|record| {
        let values = record.values.iter();
        values.filter_map(without_secret).collect::<Json>()
    });
    let changes = entry.changes.iter().map(|change| {
        json!({
            "index": change.index,
            "before": change.before.as_ref().map(hiding_secret),
            "after": change.after.as_ref().map(hiding_secret),
        })
    });
    let version = entry.version.as_ref();
    let tombstone = version.and_then(|record| record.tombstone.as_ref());
    let reason = tombstone.filter(|_| event.action == Action::Withdraw);
    let reason = reason.map(|tombstone| tombstone.reason.as_str());
    let holder = version.and_then(|record| record.holder.as_ref());
    let holder = holder.filter(|_| event.action == Action::Transfer);
    let holder = holder.map(ToString::to_string);
    json!({
        "event": event.number,
        "time": time(event.time),
        "action": event.action.as_str(),
        "who": entry.who.as_ref().map(ToString::to_string),
        "version": event.version,
        "state": entry.version.as_ref().map(|record| record.state.as_str()),
        "values": values,
        "changes": changes.collect::<Json>(),
        "reason": reason,
        "holder": holder,
    })
}

/// A value; of a secret, that it is there.
fn hiding_secret(value: &Value<'_>) -> Json {
    let hidden = Value {
        data: Cow::Borrowed(&[]),
        ..value.clone()
    };
    without_secret(value).unwrap_or_else(|| wire_json::value(&hidden))
}

/// A value; nothing of a secret.
fn without_secret(value: &Value<'_>) -> Option<Json> {
    (!value.is_type("HS_SECKEY")).then(|| wire_json::value(value))
}

/// An authority, with the case rule that holds for its names.
#[must_use]
pub fn authority(authority: &Authority, rules: &dyn Rules) -> Json {
    let policy = &authority.policy;
    let grant = |grant: &Grant| json!({"to": grant.to.to_string(), "role": grant.role.as_str()});
    json!({
        "authority": authority.path.to_string(),
        "key": authority.path.key(),
        "parent": authority.parent.as_ref().map(ToString::to_string),
        "title": authority.title,
        "meaning": authority.meaning,
        "contact": authority.contact,
        "status": authority.status.as_str(),
        "policy": {
            "case": case_name(authority.case_rule(rules)),
            "persistence": policy.persistence.as_str(),
            "profile": authority.profile_name(),
            "pattern": policy.pattern,
            "approval": policy.approval,
            "ttl": policy.default_ttl,
        },
        "grants": authority.grants.iter().map(grant).collect::<Json>(),
        "created": time(authority.created),
        "version": authority.version,
    })
}

fn case_name(rule: CaseRule) -> &'static str {
    match rule {
        CaseRule::AsciiInsensitive => "insensitive",
        CaseRule::Sensitive => "sensitive",
    }
}

impl AuthorityStatus {
    /// In a word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Requested { .. } => "requested",
            Self::Retired => "retired",
        }
    }
}

impl Persistence {
    /// In a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Erasable => "erasable",
            Self::Permanent => "permanent",
        }
    }
}

/// A job, and how far it has come if it is under way in this process.
#[must_use]
pub fn job(job: &Job, progress: Option<Progress>) -> Json {
    let counts = progress.map_or(job.counts, |progress| progress.counts);
    json!({
        "job": job.number,
        "kind": job.kind.as_str(),
        "what": job.kind.what(),
        "who": job.who.to_string(),
        "state": job.state(progress.is_some()),
        "started": time(job.started),
        "ended": job.ended.map(time),
        "progress": progress.map(|progress| json!({
            "done": progress.done,
            "total": progress.total,
            "unit": progress.unit,
        })),
        "created": counts.created,
        "changed": counts.changed,
        "unchanged": counts.unchanged,
        "refused": counts.refused,
        "events": job.events,
    })
}

impl Job {
    /// Where it is, in a word: `running`, `done`, `cut-short` or `cancelled`.
    #[must_use]
    pub fn state(&self, is_running: bool) -> &'static str {
        match self.ended {
            Some(_) if self.is_cancelled => "cancelled",
            Some(_) => "done",
            None if is_running => "running",
            None => "cut-short",
        }
    }
}

impl JobKind {
    /// What it is done with, for people.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Import { source, .. } => source.clone(),
            Self::ReplaceUrl {
                authority,
                from,
                to,
                ..
            } => format!("{from} by {to} under {authority}"),
            Self::SetTtl {
                authority,
                value_type,
                seconds,
            } => {
                let types = value_type.as_deref().unwrap_or("all");
                format!("{seconds} s for {types} values under {authority}")
            }
            Self::Undo { job } => format!("job {job}"),
            Self::Withdraw { count, reason, .. } => format!("{count} names: {reason}"),
        }
    }
}

/// What became of a line.
#[must_use]
pub fn outcome(outcome: &Outcome) -> Json {
    let mut object = Map::new();
    if outcome.line > 0 {
        object.insert("line".into(), outcome.line.into());
    }
    object.insert("id".into(), outcome.id.clone().into());
    object.insert("outcome".into(), outcome.done.as_str().into());
    if let Some(event) = outcome.done.event() {
        object.insert("event".into(), event.into());
    }
    if let Done::Refused { code, reason } = &outcome.done {
        object.insert("code".into(), code.as_str().into());
        object.insert("reason".into(), reason.as_str().into());
    }
    put_changes(&mut object, &outcome.changes);
    Json::Object(object)
}

fn put_changes(object: &mut Map<String, Json>, changes: &Changes) {
    if changes.counts.total() > 0 {
        object.insert("values".into(), value_counts(changes.counts));
    }
    if let Some((before, after)) = changes.state {
        let state = json!({"before": before.as_str(), "after": after.as_str()});
        object.insert("state".into(), state);
    }
    let listed = changes.listed.iter().map(|change| {
        json!({
            "index": change.index,
            "type": change.value_type,
            "before": change.before,
            "after": change.after,
        })
    });
    let listed: Vec<Json> = listed.collect();
    if !listed.is_empty() {
        object.insert("changes".into(), listed.into());
    }
}

/// How many values an import added, changed and removed.
#[must_use]
pub fn value_counts(counts: ValueCounts) -> Json {
    json!({"added": counts.added, "changed": counts.changed, "removed": counts.removed})
}

/// Reads back how many values an import added, changed and removed; none if nothing is said of it.
#[must_use]
pub fn read_value_counts(said: &Json) -> ValueCounts {
    let values = said.get("values");
    let number = |name: &str| values.and_then(|values| values.get(name)?.as_u64());
    ValueCounts {
        added: number("added").unwrap_or(0),
        changed: number("changed").unwrap_or(0),
        removed: number("removed").unwrap_or(0),
    }
}

fn read_changes(said: &Json) -> Changes {
    let state = |name: &str| State::parse(said.get("state")?.get(name)?.as_str()?);
    let change = |said: &Json| {
        let text = |name: &str| said.get(name)?.as_str().map(str::to_string);
        Some(ValueChange {
            index: u32::try_from(said.get("index")?.as_u64()?).ok()?,
            value_type: text("type")?,
            before: text("before"),
            after: text("after"),
        })
    };
    let listed = said.get("changes").and_then(Json::as_array);
    Changes {
        counts: read_value_counts(said),
        state: state("before").zip(state("after")),
        listed: listed.into_iter().flatten().filter_map(change).collect(),
    }
}

/// Reads what became of a line back.
#[must_use]
pub fn read_outcome(said: &Json) -> Option<Outcome> {
    let text = |name: &str| said.get(name)?.as_str().map(str::to_string);
    let event = said.get("event").and_then(Json::as_u64);
    Some(Outcome {
        line: said.get("line").and_then(Json::as_u64).unwrap_or(0),
        id: text("id"),
        done: match text("outcome")?.as_str() {
            "changed" => Done::Changed(event),
            "created" => Done::Created(event),
            "refused" => Done::Refused {
                code: text("code")?,
                reason: text("reason")?,
            },
            "unchanged" => Done::Unchanged,
            _ => return None,
        },
        changes: read_changes(said),
    })
}

/// What was exported.
#[must_use]
pub fn exported(format: Format, exported: &Exported) -> Json {
    json!({
        "format": format.as_str(),
        "authorities": exported.authorities,
        "names": exported.names,
        "left-out": {
            "names": exported.unsaid_names,
            "values": exported.unsaid_values,
            "secrets": exported.secrets,
        },
        "event": exported.event,
    })
}

/// Reads back what was exported.
#[must_use]
pub fn read_exported(said: &Json) -> Option<Exported> {
    let left_out = said.get("left-out")?;
    let number = |of: &Json, name: &str| of.get(name)?.as_u64();
    Some(Exported {
        authorities: number(said, "authorities")?,
        names: number(said, "names")?,
        unsaid_names: number(left_out, "names")?,
        unsaid_values: number(left_out, "values")?,
        secrets: number(left_out, "secrets")?,
        event: number(said, "event")?,
    })
}

/// An account.
#[must_use]
pub fn account(account: &Account) -> Json {
    json!({
        "account": account.name,
        "title": account.title,
        "created": time(account.created),
        "state": if account.is_suspended { "suspended" } else { "active" },
        "administrator": account.is_administrator,
    })
}

/// What is known of a token.
#[must_use]
pub fn token(token: &Token) -> Json {
    let limit = token.limit.as_ref();
    let authority = limit.and_then(|limit| limit.authority.as_ref());
    json!({
        "token": token.id,
        "account": token.account,
        "title": token.title,
        "authority": authority.map(ToString::to_string),
        "role": limit.map(|limit| limit.role.as_str()),
        "created": time(token.created),
        "expires": time(token.expires),
    })
}

/// Why something was not done.
#[must_use]
pub fn refusal(refusal: &RegistryError) -> Map<String, Json> {
    let mut error = Map::new();
    error.insert("code".into(), refusal.code().into());
    error.insert("message".into(), refusal.to_string().into());
    match refusal {
        RegistryError::Exists {
            event: Some(event), ..
        } => {
            error.insert("event".into(), (*event).into());
        }
        RegistryError::Denied { needs, authority } => {
            let needs = json!({"role": needs.as_str(), "authority": authority.to_string()});
            error.insert("needs".into(), needs);
        }
        RegistryError::Quota {
            retry_after: Some(seconds),
            ..
        } => {
            error.insert("retry-after".into(), (*seconds).into());
        }
        _ => {}
    }
    error.extend(refusal.hint().map(|hint| ("hint".to_string(), hint.into())));
    error
}

/// Reads a name back, as far as its JSON says what it is.
///
/// ```
/// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment, json};
/// # let folder = tempfile::tempdir().unwrap();
/// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
/// # let operator = Principal::Operator;
/// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
/// let shown = registry.create_name(&operator, "20.1000/a", NewName::urls(&["https://example.org/"]))?;
/// let read = json::read_name(&json::name(&shown)).unwrap();
/// assert_eq!(json::name(&read), json::name(&shown));
/// # Ok::<_, handfast_registry::RegistryError>(())
/// ```
#[must_use]
pub fn read_name(said: &Json) -> Option<Shown> {
    let text = |name: &str| said.get(name)?.as_str();
    let key = text("key")?.to_string();
    let values = said.get("values")?.as_array()?.iter();
    let value = |value: &Json| {
        let text = value.to_string();
        let given: ParsedValue<'_> = serde_json::from_str(&text).ok()?;
        Some(given.into_owned().into_value())
    };
    let tombstone = said.get("withdrawn").filter(|found| !found.is_null());
    let tombstone = tombstone.map(|found| {
        Some(Tombstone {
            reason: found.get("reason")?.as_str()?.to_string(),
            date: parse_rfc3339(found.get("date")?.as_str()?)?,
            successor: found.get("successor")?.as_str().map(str::to_string),
        })
    });
    let record = Record {
        version: said.get("version")?.as_u64()?,
        modified: parse_rfc3339(text("modified")?)?,
        tombstone: match tombstone {
            Some(tombstone) => Some(tombstone?),
            None => None,
        },
        values: values.map(value).collect::<Option<_>>()?,
        holder: text("holder").and_then(|holder| Principal::parse(holder).ok()),
        ..Record::new(
            text("id")?.to_string(),
            // Enough to tell handles from others.
            key.split_once('/').map_or(key.as_str(), |(start, _)| start),
            State::parse(text("state")?)?,
            parse_rfc3339(text("created")?)?,
        )
    };
    Some(Shown { key, record })
}

/// Reads an authority back, as far as its JSON says what it is.
#[must_use]
pub fn read_authority(said: &Json, rules: &dyn Rules) -> Option<Authority> {
    let text = |name: &str| said.get(name)?.as_str();
    let path = |text: &str| AuthorityPath::parse(text, rules).ok();
    let policy = said.get("policy")?;
    let of_policy = |name: &str| policy.get(name);
    let grant = |grant: &Json| {
        Some(Grant {
            to: Principal::parse(grant.get("to")?.as_str()?).ok()?,
            role: grant.get("role")?.as_str()?.parse().ok()?,
        })
    };
    Some(Authority {
        path: path(text("authority")?)?,
        parent: text("parent").and_then(path),
        title: text("title")?.to_string(),
        meaning: text("meaning")?.to_string(),
        contact: text("contact")?.to_string(),
        policy: Policy {
            case_sensitive: of_policy("case")? == "sensitive",
            persistence: if of_policy("persistence")? == "erasable" {
                Persistence::Erasable
            } else {
                Persistence::Permanent
            },
            cordra: of_policy("profile")? == "cordra",
            pattern: of_policy("pattern")?.as_str().map(str::to_string),
            approval: of_policy("approval")?.as_bool()?,
            default_ttl: u32::try_from(of_policy("ttl")?.as_u64()?).ok()?,
        },
        grants: said
            .get("grants")?
            .as_array()?
            .iter()
            .map(grant)
            .collect::<Option<_>>()?,
        status: match text("status")? {
            "retired" => AuthorityStatus::Retired,
            "requested" => AuthorityStatus::Requested {
                by: Principal::nobody(),
            },
            _ => AuthorityStatus::Active,
        },
        version: said.get("version")?.as_u64()?,
        created: parse_rfc3339(text("created")?)?,
        last_event: 0,
        seed: [0; 32],
    })
}
