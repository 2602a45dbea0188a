//! Types of the registry as types of the API.
//!
//! Handlers of `/api/v1`, the public pages of the registry and commands all show JSON. This is the
//! one place that decides what it says.

mod access;

use std::borrow::Cow;

use handfast_api as api;
use handfast_id::{CaseRule, Rules};
use handfast_registry::{
    Account, Action, Authority, AuthorityStatus, Changes, CitableLinks, Done, ExampleChange,
    Exported, Format, HistoryEntry, Job, JobKind, NamespaceEntry, NamespacePage, NamespacePolicy,
    NamespaceRemark, NamespaceVersion, Outcome, Persistence, Progress, Registry, RegistryError,
    Role, Shown, State, Token, Tombstone, ValueCounts, rfc3339,
};
use handfast_wire::{Permissions, Ttl, Value, json};
use serde_json::{Map, Value as Json};

pub(super) use self::access::{
    access_request, authority_request, group, holdings, person, reason, role_on,
};

/// The variant of an enum of the API that has the name of a variant of the registry.
macro_rules! same_variant {
    ($value:expr, $from:ident => $to:ident: $($variant:ident),+) => {
        match $value {
            $($from::$variant { .. } => api::$to::$variant,)+
        }
    };
}

/// A name with its values.
#[must_use]
pub fn name(shown: &Shown, links: Option<&CitableLinks>) -> api::Name {
    let record = &shown.record;
    api::Name {
        created: rfc3339(record.created),
        holder: record.holder.as_ref().map(ToString::to_string),
        id: record.text.clone(),
        irregular: record.irregularity().map(|error| error.code().to_string()),
        key: shown.key.clone(),
        link: links.map(|links| links.link(&record.text)),
        modified: rfc3339(record.modified),
        state: name_state(record.state),
        values: record.values.iter().map(value).collect(),
        version: record.version,
        withdrawn: record.tombstone.as_ref().map(tombstone),
    }
}

/// A name in a list.
#[must_use]
pub fn listed_name(shown: &Shown, links: Option<&CitableLinks>) -> api::ListedName {
    api::ListedName {
        id: shown.record.text.clone(),
        link: links.map(|links| links.link(&shown.record.text)),
        state: name_state(shown.record.state),
    }
}

/// A name in a list with filters.
pub(super) fn name_of_list(
    name: &handfast_registry::ListedName,
    links: Option<&CitableLinks>,
) -> api::ListedName {
    api::ListedName {
        id: name.id.clone(),
        link: links.map(|links| links.link(&name.id)),
        state: name_state(name.state),
    }
}

fn name_state(state: State) -> api::NameState {
    same_variant!(state, State => NameState: Active, Reserved, Withdrawn)
}

pub(super) fn tombstone(tombstone: &Tombstone) -> api::Tombstone {
    api::Tombstone {
        date: rfc3339(tombstone.date),
        reason: tombstone.reason.clone(),
        successor: tombstone.successor.clone(),
    }
}

/// A value.
#[must_use]
pub fn value(value: &Value<'_>) -> api::Value {
    let (format, data) = json::value_data(value);
    let permissions = Some(value.permissions).filter(|given| *given != Permissions::DEFAULT);
    let references = value.references.iter().map(|reference| api::Reference {
        handle: reference.handle.to_string(),
        index: reference.index,
    });
    let timestamp = Some(value.timestamp).filter(|seconds| *seconds != 0);
    api::Value {
        data: api::ValueData {
            format: format.to_string(),
            value: data,
        },
        index: value.index,
        permissions: permissions.map(|permissions| permissions.to_string()),
        references: references.collect(),
        timestamp: timestamp.map(json::timestamp),
        ttl: match value.ttl {
            Ttl::Absolute(time) => api::Ttl::Until(json::timestamp(time)),
            Ttl::Relative(seconds) => api::Ttl::Seconds(seconds),
        },
        value_type: value.value_type.to_string(),
    }
}

/// An event in the history of a name.
#[must_use]
pub fn event(entry: &HistoryEntry) -> api::Event {
    let event = &entry.event;
    let version = entry.version.as_ref();
    let tombstone = version.and_then(|record| record.tombstone.as_ref());
    let reason = tombstone.filter(|_| event.action == Action::Withdraw);
    let holder = version.and_then(|record| record.holder.as_ref());
    let holder = holder.filter(|_| event.action == Action::Transfer);
    let changes = entry.changes.iter().map(|change| api::ValueDifference {
        after: change.after.as_ref().map(without_secret),
        before: change.before.as_ref().map(without_secret),
        index: change.index,
    });
    api::Event {
        action: event.action.as_str().to_string(),
        changes: changes.collect(),
        event: event.number,
        holder: holder.map(ToString::to_string),
        reason: reason.map(|tombstone| tombstone.reason.clone()),
        successor: reason.and_then(|tombstone| tombstone.successor.clone()),
        state: version.map(|record| name_state(record.state)),
        time: rfc3339(event.time),
        values: version.map(|record| {
            let values = record.values.iter();
            let open = values.filter(|value| !value.is_type("HS_SECKEY"));
            open.map(value).collect()
        }),
        version: event.version,
        who: entry.who.as_ref().map(ToString::to_string),
    }
}

/// A value; of a secret, only that it is there.
fn without_secret(given: &Value<'_>) -> api::Value {
    if given.is_type("HS_SECKEY") {
        return value(&Value {
            data: Cow::Borrowed(&[]),
            ..given.clone()
        });
    }
    value(given)
}

/// An authority, with the case rule that holds for its names.
#[must_use]
pub fn authority(authority: &Authority, rules: &dyn Rules) -> api::Authority {
    let policy = &authority.policy;
    let grants = authority.grants.iter().map(|grant| api::Grant {
        role: role(grant.role),
        to: grant.to.to_string(),
    });
    api::Authority {
        authority: authority.path.to_string(),
        contact: authority.contact.clone(),
        created: rfc3339(authority.created),
        declined_request_of: None,
        grants: grants.collect(),
        key: authority.path.key().to_string(),
        meaning: authority.meaning.clone(),
        parent: authority.parent.as_ref().map(ToString::to_string),
        policy: api::Policy {
            approval: policy.approval,
            case: match authority.case_rule(rules) {
                CaseRule::AsciiInsensitive => api::CaseRule::Insensitive,
                CaseRule::Sensitive => api::CaseRule::Sensitive,
            },
            pattern: policy.pattern.clone(),
            persistence: same_variant!(
                policy.persistence, Persistence => Persistence: Erasable, Permanent
            ),
            profile: match authority.profile_name() {
                "ark" => api::ShownProfile::Ark,
                "cordra" => api::ShownProfile::Cordra,
                "info" => api::ShownProfile::Info,
                "urn" => api::ShownProfile::Urn,
                _ => api::ShownProfile::Handle,
            },
            ttl: policy.default_ttl,
        },
        status: authority_status(&authority.status),
        title: authority.title.clone(),
        version: authority.version,
    }
}

pub(super) fn authority_status(status: &AuthorityStatus) -> api::AuthorityStatus {
    same_variant!(status, AuthorityStatus => AuthorityStatus: Active, Requested, Retired)
}

pub(super) fn role(role: Role) -> api::Role {
    same_variant!(role, Role => Role: Read, Write, Lead, Admin)
}

/// An account, with the time when it was last seen.
#[must_use]
pub fn account(account: &Account, registry: &Registry) -> api::Account {
    api::Account {
        account: account.name.clone(),
        administrator: account.is_administrator,
        created: rfc3339(account.created),
        email: account.email.clone(),
        last_seen: registry.account_last_seen(&account.name).map(second),
        state: account_state(account.is_suspended),
        title: account.title.clone(),
    }
}

fn account_state(is_suspended: bool) -> api::AccountState {
    if is_suspended {
        api::AccountState::Suspended
    } else {
        api::AccountState::Active
    }
}

/// A token, without its secret, with the day when it was last used.
#[must_use]
pub fn token(token: &Token, registry: &Registry) -> api::Token {
    let limit = token.limit.as_ref();
    let authority = limit.and_then(|limit| limit.authority.as_ref());
    api::Token {
        account: token.account.clone(),
        authority: authority.map(ToString::to_string),
        created: rfc3339(token.created),
        expires: rfc3339(token.expires),
        last_used: registry.token_last_used(&token.id).map(day),
        role: limit.map(|limit| role(limit.role)),
        secret: None,
        title: token.title.clone(),
        token: token.id.clone(),
    }
}

/// A time, to the second.
fn second(milliseconds: u64) -> String {
    rfc3339(milliseconds / 1_000 * 1_000)
}

/// A time, to the day.
fn day(milliseconds: u64) -> String {
    let mut text = rfc3339(milliseconds);
    text.truncate(text.find('T').unwrap_or(text.len()));
    text
}

/// A job, with its progress if it is running in this process.
#[must_use]
pub fn job(job: &Job, progress: Option<Progress>) -> api::Job {
    let counts = progress.map_or(job.counts, |progress| progress.counts);
    api::Job {
        changed: counts.changed,
        created: counts.created,
        ended: job.ended.map(rfc3339),
        events: job.events.clone(),
        job: job.number,
        kind: same_variant!(
            job.kind, JobKind => JobKind: Import, ReplaceUrl, SetTtl, Undo, Withdraw
        ),
        progress: progress.map(|progress| api::JobProgress {
            done: progress.done,
            total: progress.total,
            unit: progress.unit.to_string(),
        }),
        refused: counts.refused,
        started: rfc3339(job.started),
        state: match job.ended {
            Some(_) if job.is_cancelled => api::JobState::Cancelled,
            Some(_) => api::JobState::Done,
            None if progress.is_some() => api::JobState::Running,
            None => api::JobState::Interrupted,
        },
        unchanged: counts.unchanged,
        what: job.kind.what(),
        who: job.who.to_string(),
    }
}

/// What became of a line of an import, or of a name of a job.
#[must_use]
pub fn outcome(outcome: &Outcome) -> api::Outcome {
    let (code, reason) = match &outcome.done {
        Done::Refused { code, reason } => (Some(code.clone()), Some(reason.clone())),
        _ => (None, None),
    };
    let Changes {
        counts,
        state,
        listed,
    } = &outcome.changes;
    let changes = listed.iter().map(|change| api::ValueChange {
        after: change.after.clone(),
        before: change.before.clone(),
        index: change.index,
        value_type: change.value_type.clone(),
    });
    api::Outcome {
        changes: changes.collect(),
        code,
        event: outcome.done.event(),
        id: outcome.id.clone(),
        line: Some(outcome.line).filter(|line| *line > 0),
        outcome: same_variant!(
            outcome.done, Done => OutcomeKind: Changed, Created, Refused, Unchanged
        ),
        reason,
        state: state.map(|(before, after)| api::StateChange {
            after: name_state(after),
            before: name_state(before),
        }),
        values: (counts.total() > 0).then(|| value_counts(*counts)),
    }
}

/// How many values an import added, changed and removed.
#[must_use]
pub fn value_counts(counts: ValueCounts) -> api::ValueCounts {
    api::ValueCounts {
        added: counts.added,
        changed: counts.changed,
        removed: counts.removed,
    }
}

/// What an export gave.
#[must_use]
pub fn exported(format: Format, exported: &Exported) -> api::ExportSummary {
    api::ExportSummary {
        authorities: exported.authorities,
        event: exported.event,
        format: format.as_str().to_string(),
        left_out: api::LeftOut {
            names: exported.unsaid_names,
            secrets: exported.secrets,
            values: exported.unsaid_values,
        },
        names: exported.names,
    }
}

/// An entry of the registry of namespaces, as it is at a time. It does not say who owns it.
#[must_use]
pub fn namespace(entry: &NamespaceEntry, now: u64) -> api::Namespace {
    let form = entry.form.clone();
    api::Namespace {
        authority: api::NamespaceAuthority {
            // Of the historical entries only a web address is known.
            contact: entry.form.contact().to_string(),
            ..form.authority
        },
        by: entry.by,
        changed: rfc3339(entry.changed_by(now)),
        claim_pending: entry.claim_pending,
        claimed: entry.claimed,
        declaration: form.declaration,
        description: form.description,
        examples: form.examples,
        historical: entry.historical,
        live: entry.is_live(now),
        namespace: form.namespace,
        normalisation: form.normalisation,
        proposed: entry.proposed.map(rfc3339),
        provisional_until: entry.provisional_until.map(rfc3339),
        registered: entry.registered.clone(),
        resolution: form.resolution,
        see: form.see,
        status: entry.state(now),
        syntax: form.syntax,
        title: form.title,
        uri: entry.uri(),
        verified: entry.verified.clone(),
        version: entry.version,
        why: entry.why.clone(),
    }
}

/// An entry after something was done with it, or as it would be then.
#[must_use]
pub fn namespace_done(
    entry: &NamespaceEntry,
    now: u64,
    changes: &[ExampleChange],
    dry_run: bool,
) -> api::NamespaceDone {
    let changes = changes.iter().map(|change| api::ExampleChange {
        after: change.after.clone(),
        before: change.before.clone(),
        input: change.input.clone(),
    });
    api::NamespaceDone {
        entry: namespace(entry, now),
        dry_run,
        example_changes: changes.collect(),
    }
}

/// A page of entries.
#[must_use]
pub fn namespaces(page: &NamespacePage, now: u64) -> api::NamespacePage {
    let listed = page.entries.iter().map(|entry| api::ListedNamespace {
        changed: rfc3339(entry.changed_by(now)),
        claimed: entry.claimed,
        historical: entry.historical,
        namespace: entry.name().to_string(),
        organisation: entry.form.authority.organisation.clone(),
        registered: entry.registered.clone(),
        status: entry.state(now),
        title: entry.form.title.clone(),
        uri: entry.uri(),
        version: entry.version,
    });
    api::NamespacePage {
        namespaces: listed.collect(),
        next: page.next.clone(),
        total: page.total,
    }
}

/// A version in the history of an entry.
#[must_use]
pub fn namespace_version(version: &NamespaceVersion) -> api::NamespaceVersion {
    let entry = &version.entry;
    let (time, by, why) = entry.made();
    api::NamespaceVersion {
        action: version.action.map(|action| action.as_str().to_string()),
        by,
        entry: namespace(entry, entry.changed),
        event: version.event,
        status: entry.status,
        time: rfc3339(time),
        version: entry.version,
        who: version.who.as_ref().map(ToString::to_string),
        why: why.to_string(),
    }
}

/// A comment on a candidate.
#[must_use]
pub fn namespace_comment(remark: &NamespaceRemark) -> api::NamespaceComment {
    let comment = &remark.comment;
    api::NamespaceComment {
        author: remark.is_signed.then(|| comment.author.to_string()),
        by: remark.by.to_string(),
        comment: comment.number,
        text: comment.text.clone(),
        time: rfc3339(comment.time),
        version: comment.version,
    }
}

/// The policy of the registry of namespaces.
#[must_use]
pub fn namespace_policy(policy: &NamespacePolicy) -> api::NamespacePolicy {
    api::NamespacePolicy {
        text: policy.text.clone(),
        time: (policy.version > 0).then(|| rfc3339(policy.time)),
        version: policy.version,
    }
}

/// Why the registry rejected a request, without the HTTP status.
#[must_use]
pub fn problem(error: &RegistryError) -> api::Problem {
    let mut problem = api::Problem {
        code: error.code().to_string(),
        detail: error.to_string(),
        hint: error.hint(),
        ..api::Problem::default()
    };
    match error {
        RegistryError::Exists { event, .. } => problem.event = *event,
        RegistryError::Denied { needs, authority } => {
            problem.needs = Some(api::NeededRole {
                authority: authority.to_string(),
                role: role(*needs),
            });
        }
        RegistryError::Quota { retry_after, .. } => problem.retry_after = *retry_after,
        _ => {}
    }
    problem
}

/// An error as commands print it: without the HTTP status, and its `detail` is called `message`.
#[must_use]
pub fn command_error(problem: api::Problem) -> Map<String, Json> {
    let Ok(Json::Object(mut error)) = serde_json::to_value(problem) else {
        return Map::new();
    };
    error.remove("status");
    error.remove("title");
    let message = error.remove("detail").unwrap_or_default();
    error.insert("message".into(), message);
    error
}
