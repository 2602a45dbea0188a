//! `/console/names/{id}/history`: who did what to a name, and when, with differences and proof.

use askama::Template;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::{
    Action, HistoryEntry, HistoryPoint, Principal, Record, RegistryError, parse_rfc3339,
    verify_proof,
};
use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use hyper::{Response, StatusCode};

use super::changes::{ChangeLine, data_words, lines};
use super::head::{NameHead, NameTab, path_of_name, quoted};
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::visit::Visit;
use crate::http::pages::{filters, words};
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::event_words::{changed, state_words};
use crate::http::response::{Body, WithHeader, reply};

/// How many events a page shows.
const PAGE: usize = 20;
/// How many events are proven when the page is shown, and in a file.
const MAX_PROVEN_HERE: usize = 100;
const MAX_PROVEN: usize = 1_000;

#[derive(Template)]
#[template(path = "console/names/history.html")]
struct HistoryPageOfName<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    entries: Vec<HistoryLine>,
    /// The `before` of the next page.
    next: Option<u64>,
    is_first: bool,
    proof: ProofPanel,
    /// A day that was asked for, and the name as it was on that day.
    on: String,
    past: Option<PastRecord>,
}

#[derive(Template)]
#[template(path = "console/names/event.html")]
struct EventPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    entry: HistoryLine,
    after: Option<PastRecord>,
    proof: ProofPanel,
}

/// An event of a name.
pub(super) struct HistoryLine {
    pub(super) number: u64,
    pub(super) time: u64,
    pub(super) heading: String,
    /// Who did it, if the person may know that.
    pub(super) who: String,
    /// The reason of a withdrawal.
    pub(super) reason: String,
    /// The name to use instead, and its page.
    pub(super) successor: Option<(String, String)>,
    pub(super) lines: Vec<ChangeLine>,
    pub(super) can_undo: bool,
}

/// A name as it was.
pub(super) struct PastRecord {
    pub(super) state: &'static str,
    pub(super) version: u64,
    pub(super) values: Vec<ChangeLine>,
}

/// What is proven about the events of a name.
struct ProofPanel {
    is_proven: bool,
    words: String,
    events: u64,
    size: u64,
    root: String,
    log: String,
    key: String,
    can_download: bool,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::History)?;
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let before = visit.query("before").and_then(|text| text.parse().ok());
    let page = registry.history_before(&who, id, before, PAGE)?;
    let mut errors = Vec::new();
    let on = visit.query("on").unwrap_or_default().to_string();
    let past = match past(visit, &on) {
        Ok(past) => past,
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let status = if errors.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let entries = page.entries.iter().rev();
    let argument = head.argument();
    let page = HistoryPageOfName {
        frame: head.frame(visit, "History").errors(errors).same([
            format!("handfast name history {argument}"),
            format!("handfast log prove {argument} --json > name.proof"),
            format!("handfast log verify {argument} --proof name.proof"),
            format!("curl {}/history", head.api(visit)),
        ]),
        entries: entries
            .map(|entry| HistoryLine::new(visit, &head, entry))
            .collect(),
        next: page.next,
        is_first: before.is_none(),
        proof: ProofPanel::new(visit)?,
        on,
        past,
        name: &head,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn show_event(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::History)?;
    let entry = event(visit)?;
    let argument = head.argument();
    let page = EventPage {
        frame: head
            .frame(visit, &format!("Event {}", entry.event.number))
            .same([
                format!("handfast name show {argument} --at {}", entry.event.number),
                curl(
                    visit,
                    "GET",
                    &format!(
                        "/names/{}?at={}",
                        encode(&head.id, COMPONENT),
                        entry.event.number
                    ),
                ),
            ]),
        after: entry.version.as_ref().map(PastRecord::new),
        entry: HistoryLine::new(visit, &head, &entry),
        proof: ProofPanel::new(visit)?,
        name: &head,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

/// The event that a path names, if it is one of this name.
pub(super) fn event(visit: &Visit<'_>) -> Result<HistoryEntry, PageError> {
    let missing = || PageError::not_found("This name has no such event.");
    let number = visit.path.get(1).and_then(|text| text.parse::<u64>().ok());
    let number = number.ok_or_else(missing)?;
    let after = number.saturating_sub(1);
    let found = visit
        .registry()
        .history_page(&visit.who(), visit.id(), after, 1, None)?;
    let mut found = found.entries.into_iter();
    found
        .find(|entry| entry.event.number == number)
        .ok_or_else(missing)
}

/// The proof of a name, as a file.
pub(super) fn proof(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    if registry.has_more_events(&who, id, MAX_PROVEN)? {
        let text = "The name has more than 1,000 events. Verify all of the log: handfast log \
            export and handfast log verify.";
        return Err(PageError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "too-large",
            text,
        ));
    }
    let proof = registry.prove(&who, id)?;
    let text = serde_json::to_vec_pretty(&proof).unwrap_or_default();
    let file = HeaderValue::from_static("attachment; filename=\"name.proof\"");
    Ok(reply(StatusCode::OK, "application/json", text).with(CONTENT_DISPOSITION, file))
}

/// The name as it was at the end of a day.
fn past(visit: &Visit<'_>, on: &str) -> Result<Option<PastRecord>, FieldError> {
    if on.is_empty() {
        return Ok(None);
    }
    let wrong = |text: &str| FieldError::new("on", text);
    let end = parse_rfc3339(&format!("{on}T23:59:59Z"));
    let end = end.ok_or_else(|| wrong("Write a day such as 2026-05-03."))?;
    let point = HistoryPoint::Time(end.saturating_add(999));
    match visit.registry().show_at(&visit.who(), visit.id(), point) {
        Ok(shown) => Ok(Some(PastRecord::new(&shown.record))),
        Err(error) if error.code() == "not-yet" => {
            Err(wrong("The name was not registered on that day."))
        }
        Err(error) => Err(wrong(&error.to_string())),
    }
}

impl HistoryLine {
    pub(super) fn new(visit: &Visit<'_>, head: &NameHead, entry: &HistoryEntry) -> Self {
        let action = entry.event.action;
        let tombstone = entry.version.as_ref().and_then(|it| it.tombstone.as_ref());
        let tombstone = tombstone.filter(|_| action == Action::Withdraw);
        let is_undoable = matches!(
            action,
            Action::Change | Action::Withdraw | Action::Restore | Action::Transfer
        );
        Self {
            number: entry.event.number,
            time: entry.event.time,
            heading: heading(visit, entry),
            who: entry
                .who
                .as_ref()
                .map_or(String::new(), |who| actor_words(visit, who)),
            reason: tombstone.map_or(String::new(), |found| found.reason.clone()),
            successor: tombstone
                .and_then(|found| found.successor.as_ref())
                .map(|id| (id.clone(), path_of_name(id))),
            lines: lines(&entry.changes),
            can_undo: is_undoable && head.may_something(),
        }
    }
}

impl PastRecord {
    pub(super) fn new(record: &Record) -> Self {
        let values = record.values.iter().map(|value| ChangeLine {
            is_added: true,
            is_changed: false,
            index: value.index,
            value_type: value.value_type.to_string(),
            start: data_words(value),
            middle: String::new(),
            end: String::new(),
        });
        Self {
            state: record.state.as_str(),
            version: record.version,
            values: values.collect(),
        }
    }
}

impl ProofPanel {
    fn new(visit: &Visit<'_>) -> Result<Self, PageError> {
        let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
        let mut panel = Self {
            is_proven: false,
            words: String::new(),
            events: 0,
            size: 0,
            root: String::new(),
            log: String::new(),
            key: String::new(),
            can_download: true,
        };
        if registry.has_more_events(&who, id, MAX_PROVEN_HERE)? {
            panel.words = "The name has many events. Download the proof and check it.".to_string();
            return Ok(panel);
        }
        let proof = match registry.prove(&who, id) {
            Ok(proof) => proof,
            Err(RegistryError::Denied { .. }) => {
                panel.words = "Names of this authority may be erased, so the public log has \
                    their events without their names. Only people with a role there can prove them."
                    .to_string();
                panel.can_download = false;
                return Ok(panel);
            }
            Err(error) => return Err(error.into()),
        };
        let key = registry.log_key()?;
        panel.key = quoted(&key.to_string());
        match verify_proof(&proof, Some(id), &key) {
            Ok(proven) => {
                panel.is_proven = true;
                panel.events = u64::try_from(proven.events.len()).unwrap_or(u64::MAX);
                panel.words = match panel.events {
                    1 => "Its one event is in the public log.".to_string(),
                    events => format!(
                        "All {} are in the public log, and no event is missing between them.",
                        words::count(events, "event", "events")
                    ),
                };
                panel.size = proven.checkpoint.size;
                // As the checkpoint writes it, and the page about the registry.
                panel.root = BASE64_STANDARD.encode(proven.checkpoint.root);
                panel.log = key.name().to_string();
            }
            Err(problem) => panel.words = format!("The proof fails: {problem}."),
        }
        Ok(panel)
    }
}

/// An actor as people know them.
pub(super) fn actor_words(visit: &Visit<'_>, who: &Principal) -> String {
    let account = match who {
        Principal::Operator => return "The operator of this server".to_string(),
        Principal::Account(name) => visit.registry().account(name).ok(),
        _ => None,
    };
    let title = account.map(|account| account.title);
    title
        .filter(|title| !title.trim().is_empty())
        .unwrap_or_else(|| who.to_string())
}

/// What happened, in a few words.
fn heading(visit: &Visit<'_>, entry: &HistoryEntry) -> String {
    let holder = entry.version.as_ref().and_then(|it| it.holder.as_ref());
    match (entry.event.action, holder) {
        (Action::Transfer, Some(holder)) => format!("Given to {}", actor_words(visit, holder)),
        (Action::Transfer, None) => "Given to another holder, or back".to_string(),
        (action, _) => match state_words(action) {
            Some(words) => words.to_string(),
            None => changed(entry),
        },
    }
}
