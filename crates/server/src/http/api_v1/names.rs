//! `/api/v1/names`.

use std::ops::ControlFlow;
use std::thread;

use handfast_registry::{
    Edit, HistoryPage, Minted, NameAction, NewName, NewValue, Principal, RegistryError, Style,
    check_urls, json,
};
use handfast_wire::Reference;
use handfast_wire::json::ParsedValue;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::call::{Answer, Call};
use super::permits::Permits;
use super::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given<'a> {
    id: String,
    #[serde(default)]
    urls: Vec<String>,
    #[serde(borrow, default)]
    values: Vec<ParsedValue<'a>>,
    #[serde(default)]
    state: GivenState,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum GivenState {
    #[default]
    Active,
    Reserved,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenEdit<'a> {
    urls: Option<Vec<String>>,
    #[serde(borrow, default)]
    values: Vec<ParsedValue<'a>>,
    #[serde(default)]
    remove: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenTombstone {
    reason: String,
    successor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct To {
    to: String,
    /// Create the account if there is none.
    #[serde(default)]
    create: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenUndo {
    event: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenMint {
    authority: String,
    #[serde(default = "one")]
    count: u64,
    #[serde(default)]
    urls: Vec<String>,
    style: Option<String>,
}

fn one() -> u64 {
    1
}

/// How many names are made in one request.
const MOST_MINTED: u64 = 10_000;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let authority = call.required("authority")?;
    let limit = call.limit()?;
    let prefix = call.query("prefix").unwrap_or_default();
    let mut names = Vec::new();
    let mut next = None;
    let mut looked_at = 0;
    let after = call.query("after");
    let visit = &mut |shown: handfast_registry::Shown| {
        if names.len() == limit || looked_at == MOST_LOOKED_AT {
            return ControlFlow::Break(());
        }
        looked_at += 1;
        next = Some(shown.key.clone());
        if local_of(&shown.record.text).starts_with(prefix) {
            names.push(json::listed(&shown));
        }
        ControlFlow::Continue(())
    };
    call.registry().names(&call.who, authority, after, visit)?;
    // A page that is not full is the last one.
    let is_full = names.len() == limit || looked_at == MOST_LOOKED_AT;
    Ok(Answer::json(
        json!({"names": names, "next": next.filter(|_| is_full)}),
    ))
}

/// How many names are looked at for one page.
const MOST_LOOKED_AT: usize = 100_000;

/// A name without its authority.
fn local_of(text: &str) -> &str {
    match text.strip_prefix("urn:") {
        Some(_) => text.rsplit_once(':').map_or(text, |(_, local)| local),
        None => text.split_once('/').map_or(text, |(_, local)| local),
    }
}

pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: Given<'_> = call.read()?;
    let new = NewName {
        urls: given.urls,
        values: given.values.into_iter().map(new_value).collect(),
        reserve: matches!(given.state, GivenState::Reserved),
    };
    new.check_urls()?;
    let shown = call.registry().create_name(&call.who, &given.id, new)?;
    let version = shown.record.version;
    let answer = Answer::json(json::name(&shown)).version(version);
    Ok(answer.created("names", &shown.record.text))
}

fn new_value(given: ParsedValue<'_>) -> NewValue {
    let references = given.references.into_iter();
    NewValue {
        permissions: given.permissions,
        ttl: given.ttl,
        references: references.map(Reference::into_owned).collect(),
        ..NewValue::new(given.index, &given.value_type, &given.data)
    }
}

pub(super) fn mint(call: &Call) -> Result<Answer, Problem> {
    let given: GivenMint = call.read()?;
    if given.count == 0 || given.count > MOST_MINTED {
        return Err(Problem::usage(format!("`count` is 1 to {MOST_MINTED}")));
    }
    check_urls(given.urls.iter().map(String::as_str), &[])?;
    let style = given.style.as_deref().map(str::parse::<Style>).transpose();
    let style = style.map_err(|error| Problem::usage(error.to_string()))?;
    let mut names = Vec::new();
    let made = |minted: Minted| {
        names.push(json!({"id": minted.id, "urls": minted.urls}));
        Ok(())
    };
    let (authority, count) = (&given.authority, given.count);
    let registry = call.registry();
    registry.mint(
        &call.who,
        authority,
        style.as_ref(),
        count,
        &given.urls,
        made,
    )?;
    let mut answer = Answer::json(json!({ "names": names }));
    answer.status = StatusCode::CREATED;
    Ok(answer)
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let shown = match call.at()? {
        Some(moment) => call.registry().show_at(&call.who, call.id(), moment)?,
        None => call.registry().show(&call.who, call.id())?,
    };
    // What is gone is gone for the public; what it was is for those who look after it.
    if let Some(tombstone) = &shown.record.tombstone
        && !call.registry().may_know_all(&call.who, call.id())?
    {
        let message = format!("{} was withdrawn: {}", shown.record.text, tombstone.reason);
        let mut gone = Problem::new(StatusCode::GONE, "withdrawn", message);
        let all = json::name(&shown);
        let about = all.get("withdrawn").cloned().unwrap_or_default();
        gone.about.insert("withdrawn".into(), about);
        return Err(gone);
    }
    Ok(call.versioned(shown.record.version, json::name(&shown)))
}

pub(super) fn change(call: &Call) -> Result<Answer, Problem> {
    let given: GivenEdit<'_> = call.read()?;
    let edit = Edit {
        remove: given.remove,
        urls: given.urls,
        put: given.values.into_iter().map(new_value).collect(),
    };
    if edit.remove.is_empty() && edit.urls.is_none() && edit.put.is_empty() {
        return Err(Problem::usage(
            "nothing to change: give `urls`, `values` or `remove`",
        ));
    }
    edit.check_urls()?;
    act(call, NameAction::Edit(edit))
}

pub(super) fn erase(call: &Call) -> Result<Answer, Problem> {
    act(call, NameAction::Erase)
}

pub(super) fn activate(call: &Call) -> Result<Answer, Problem> {
    act(call, NameAction::Activate)
}

pub(super) fn withdraw(call: &Call) -> Result<Answer, Problem> {
    let given: GivenTombstone = call.read()?;
    let GivenTombstone { reason, successor } = given;
    act(call, NameAction::Withdraw { reason, successor })
}

pub(super) fn restore(call: &Call) -> Result<Answer, Problem> {
    act(call, NameAction::Restore)
}

pub(super) fn transfer(call: &Call) -> Result<Answer, Problem> {
    let given: To = call.read()?;
    let transfer = NameAction::Transfer {
        to: principal(&given.to)?,
        creates_account: given.create,
    };
    act(call, transfer)
}

pub(super) fn undo(call: &Call) -> Result<Answer, Problem> {
    let given: GivenUndo = if call.body.is_empty() {
        GivenUndo::default()
    } else {
        call.read()?
    };
    act(call, NameAction::Undo(given.event))
}

fn act(call: &Call, action: NameAction) -> Result<Answer, Problem> {
    let expected = call.expected()?;
    let acted = call
        .registry()
        .change_name(&call.who, call.id(), expected, action)?;
    Ok(match acted {
        Some(shown) => Answer::json(json::name(&shown)).version(shown.record.version),
        None => Answer::done(),
    })
}

pub(super) fn history(call: &Call) -> Result<Answer, Problem> {
    let (at, limit) = (call.at()?, call.limit()?);
    let after = call.number("after")?.unwrap_or_default();
    let registry = call.registry();
    let _permit = HISTORIES.acquire();
    // In a thread of its own: the allocator keeps some megabytes for each thread that has made such a page, and
    // there are many threads that answer requests.
    let made = thread::scope(|scope| {
        let page = || {
            let page = registry.history_page(&call.who, call.id(), after, limit, at)?;
            Ok::<_, RegistryError>(written(page))
        };
        let worker = thread::Builder::new().name("handfast-history".into());
        let worker = worker.spawn_scoped(scope, page).ok()?;
        worker.join().ok()
    });
    let failed = || {
        let message = "the server has no thread for this: try again";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "failed", message)
    };
    Ok(Answer::written(made.ok_or_else(failed)??))
}

fn written(page: HistoryPage) -> String {
    // Each entry is written and dropped, so that not all of them are in memory as trees.
    let mut written = b"{\"events\":[".to_vec();
    for (at, entry) in page.entries.into_iter().enumerate() {
        if at > 0 {
            written.push(b',');
        }
        let said = json::entry(&entry);
        drop(entry);
        // A vector takes everything.
        let _ = serde_json::to_writer(&mut written, &said);
    }
    let next = page.next.map(|next| next.to_string());
    written.extend_from_slice(format!("],\"next\":{}}}", json!(next)).as_bytes());
    String::from_utf8(written).unwrap_or_default()
}

/// How many pages of history are made at once: each takes some megabytes while it is made.
static HISTORIES: Permits = Permits::new(8);

/// How many events of a name are proven in one answer.
const MAX_PROVEN_EVENTS: usize = 1_000;

pub(super) fn prove(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    if registry.has_more_events(&call.who, call.id(), MAX_PROVEN_EVENTS)? {
        let message = format!("the name has more than {MAX_PROVEN_EVENTS} events");
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let problem = Problem::new(status, "too-large", message);
        return Err(problem.hint("verify all of the log: GET /api/v1/log/export"));
    }
    let proof = call.registry().prove(&call.who, call.id())?;
    Ok(Answer::json(json!(proof)))
}

pub(super) fn principal(text: &str) -> Result<Principal, Problem> {
    Principal::parse(text).map_err(|error| {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "bad-account",
            error.to_string(),
        )
    })
}
