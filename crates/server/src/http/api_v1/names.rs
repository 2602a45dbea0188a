//! `/api/v1/names`.

use std::ops::ControlFlow;
use std::thread;

use handfast_api::{self as api, limits};
use handfast_registry::{
    Edit, HistoryPage, MintOptions, Minted, NameAction, NameFilter, NewName, Principal,
    RegistryError, Shown, State, Style, Words, check_urls, parse_rfc3339,
};
use handfast_wire::json::ParsedValue;
use hyper::StatusCode;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::call::{Answer, Call, WrittenPage, parse};
use super::convert;
use super::problem::Problem;
use crate::handles::new_value;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let authority = call.required("authority")?;
    let limit = call.limit()?;
    let prefix = call.query("prefix").unwrap_or_default();
    let links = call.api.links();
    if let Some(filter) = filter(call, authority)? {
        let page = call
            .registry()
            .list_names(&call.who, &filter, call.query("after"), limit)?;
        let name = |name| convert::name_of_list(name, links.as_ref());
        let names = page.names.iter();
        let names = names.filter(|name| local_of(&name.id).starts_with(prefix));
        return Ok(Answer::json(&api::NamePage {
            names: names.map(name).collect(),
            next: page.next,
        }));
    }
    let mut names = Vec::new();
    let mut next = None;
    let mut looked_at = 0;
    let after = call.query("after");
    let visit = &mut |shown: Shown| {
        if names.len() == limit || looked_at == MAX_NAMES_READ {
            return ControlFlow::Break(());
        }
        looked_at += 1;
        next = Some(shown.key.clone());
        if local_of(&shown.record.text).starts_with(prefix) {
            names.push(convert::listed_name(&shown, links.as_ref()));
        }
        ControlFlow::Continue(())
    };
    call.registry().names(&call.who, authority, after, visit)?;
    // A page that is not full is the last one.
    let is_full = names.len() == limit || looked_at == MAX_NAMES_READ;
    let next = next.filter(|_| is_full);
    Ok(Answer::json(&api::NamePage { names, next }))
}

/// The conditions on names beside their authority and beginning, if there are any.
fn filter(call: &Call, authority: &str) -> Result<Option<NameFilter>, Problem> {
    let words = call.query("q").map(Words::parse).transpose();
    let since = call.query("changed-since").map(|text| {
        let problem = "`changed-since` is a time such as 2026-11-15T12:00:00Z";
        parse_rfc3339(text).ok_or_else(|| Problem::usage(problem))
    });
    let state = call.query("state").map(|text| {
        let problem = "`state` is active, reserved or withdrawn";
        State::parse(text).ok_or_else(|| Problem::usage(problem))
    });
    let filter = NameFilter {
        authority: Some(authority.to_string()),
        with_children: call.flag("children")?,
        state: state.transpose()?,
        words: words.map_err(|error| Problem::usage(format!("`q`: {error}")))?,
        changed_since: since.transpose()?,
        ..NameFilter::default()
    };
    let is_narrower =
        filter.state.is_some() || filter.words.is_some() || filter.changed_since.is_some();
    Ok(Some(filter).filter(|filter| filter.with_children || is_narrower))
}

/// How many names are read for one page.
const MAX_NAMES_READ: usize = 100_000;

/// A name without its authority.
fn local_of(text: &str) -> &str {
    match text.strip_prefix("urn:") {
        Some(_) => text.rsplit_once(':').map_or(text, |(_, local)| local),
        None => text.split_once('/').map_or(text, |(_, local)| local),
    }
}

pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewName<ParsedValue<'_>> = call.read()?;
    let new = NewName {
        urls: given.urls,
        values: given.values.into_iter().map(new_value).collect(),
        reserve: given.state == api::NewNameState::Reserved,
    };
    if !call.flag("migrate")? {
        new.check_urls()
            .map_err(|error| naming_migrate(call, error))?;
    }
    let shown = call.registry().create_name(&call.who, &given.id, new)?;
    let version = shown.record.version;
    let answer = Answer::json(&named(call, &shown)).version(version);
    Ok(answer.created("names", &shown.record.text))
}

/// Says to the local operator, who alone has it, that `--migrate` takes URLs as they are.
fn naming_migrate(call: &Call, error: RegistryError) -> RegistryError {
    match error {
        RegistryError::Policy { code, problem } if call.is_local => RegistryError::Policy {
            code,
            problem: format!("{problem}, or give --migrate to take it as it is"),
        },
        error => error,
    }
}

pub(super) fn mint(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewMint = call.read()?;
    if given.count == 0 || given.count > limits::MINTED {
        let problem = format!("`count` is 1 to {}", limits::MINTED);
        return Err(Problem::usage(problem));
    }
    // Any name may stand in place of `{name}`.
    let urls: Vec<_> = given
        .urls
        .iter()
        .map(|url| url.replace("{name}", "name"))
        .collect();
    check_urls(urls.iter().map(String::as_str), &[])?;
    let options = MintOptions {
        style: given.style.as_deref().map(parse::<Style>).transpose()?,
        urls: given.urls,
        reserve: given.reserve,
    };
    let mut names = Vec::new();
    let links = call.api.links();
    let made = |minted: Minted| {
        names.push(api::MintedName {
            link: links.as_ref().map(|links| links.link(&minted.id)),
            id: minted.id,
            urls: minted.urls,
        });
        Ok(())
    };
    let (authority, count) = (&given.authority, given.count);
    let minted = call
        .registry()
        .mint(&call.who, authority, &options, count, made);
    // Names are stored some hundreds at a time, and stay. A client that hears only of the error
    // would never learn of those that were stored before it.
    if names.is_empty() {
        minted?;
    }
    Ok(Answer::json(&api::Minted { names }).status(StatusCode::CREATED))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let shown = match call.at()? {
        Some(point) => call.registry().show_at(&call.who, call.id(), point)?,
        None => call.registry().show(&call.who, call.id())?,
    };
    // The public sees that the name was withdrawn; its values are for those who administer it.
    if let Some(tombstone) = &shown.record.tombstone
        && !call.is_local
        && !call.registry().may_know_all(&call.who, call.id())?
    {
        let message = format!("{} was withdrawn: {}", shown.record.text, tombstone.reason);
        let mut gone = Problem::new(StatusCode::GONE, "withdrawn", message);
        gone.about.withdrawn = Some(convert::tombstone(tombstone));
        return Err(gone);
    }
    Ok(call.versioned(shown.record.version, &named(call, &shown)))
}

/// A name as the API shows it, with its citable link.
fn named(call: &Call, shown: &Shown) -> api::Name {
    convert::name(shown, call.api.links().as_ref())
}

pub(super) fn change(call: &Call) -> Result<Answer, Problem> {
    let given: api::NameChange<ParsedValue<'_>> = call.read()?;
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
    if !call.flag("migrate")? {
        edit.check_urls()
            .map_err(|error| naming_migrate(call, error))?;
    }
    act(call, NameAction::Edit(edit))
}

pub(super) fn withdraw(call: &Call) -> Result<Answer, Problem> {
    let api::NewTombstone { reason, successor } = call.read()?;
    act(call, NameAction::Withdraw { reason, successor })
}

pub(super) fn transfer(call: &Call) -> Result<Answer, Problem> {
    let given: api::Transfer = call.read()?;
    let transfer = NameAction::Transfer {
        to: principal(&given.to)?,
        creates_account: given.create,
    };
    act(call, transfer)
}

pub(super) fn undo(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewUndo = call.read_or_default()?;
    act(call, NameAction::Undo(given.event))
}

pub(super) fn act(call: &Call, action: NameAction) -> Result<Answer, Problem> {
    let expected = call.expected()?;
    let acted = call
        .registry()
        .change_name(&call.who, call.id(), expected, action)?;
    Ok(match acted {
        Some(shown) => Answer::json(&named(call, &shown)).version(shown.record.version),
        None => Answer::done(),
    })
}

pub(super) fn history(call: &Call) -> Result<Answer, Problem> {
    let (at, limit) = (call.at()?, call.limit()?);
    let after = call.number("after")?.unwrap_or_default();
    let registry = call.registry();
    let _permit = Handle::current().block_on(HISTORIES.acquire());
    // In a thread of its own: the allocator reserves some megabytes for each thread that has made
    // such a page, and there are many threads that answer requests.
    let made = thread::scope(|scope| {
        let page = || {
            let page = registry.history_page(&call.who, call.id(), after, limit, at)?;
            Ok::<_, RegistryError>(written(page))
        };
        let worker = thread::Builder::new().name("handfast-history".into());
        let worker = worker.spawn_scoped(scope, page).ok()?;
        worker.join().ok()
    });
    let failed = || Problem::failed("the server has no thread for this: try again");
    Ok(Answer::written(made.ok_or_else(failed)??))
}

fn written(page: HistoryPage) -> Vec<u8> {
    // Each entry is written and dropped, so that not all of them are in memory twice.
    let mut written = WrittenPage::new("events");
    for entry in page.entries {
        let event = convert::event(&entry);
        drop(entry);
        written.add(&event);
    }
    written.finish(page.next)
}

/// How many pages of history are made at once: each takes some megabytes while it is made.
static HISTORIES: Semaphore = Semaphore::const_new(8);

/// How many events of a name are proven in one answer.
const MAX_PROVEN_EVENTS: usize = 1_000;

/// How many proofs are made at once: one of many events takes a megabyte, and hashes for each.
static PROOFS: Semaphore = Semaphore::const_new(4);

pub(super) fn prove(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    let _permit = Handle::current().block_on(PROOFS.acquire());
    if !call.is_local && registry.has_more_events(&call.who, call.id(), MAX_PROVEN_EVENTS)? {
        let message = format!("the name has more than {MAX_PROVEN_EVENTS} events");
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let problem = Problem::new(status, "too-large", message);
        return Err(problem.hint("verify all of the log: GET /api/v1/log/export"));
    }
    let proof = registry.prove(&call.who, call.id())?;
    Ok(Answer::json(&proof))
}

pub(super) fn principal(text: &str) -> Result<Principal, Problem> {
    Principal::parse(text).map_err(|error| {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Problem::new(status, "bad-account", error.to_string())
    })
}
