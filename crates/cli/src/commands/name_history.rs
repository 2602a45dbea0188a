//! Printing the history of a name, page by page: a history may be longer than anybody has memory for.

use std::io::{self, Write};

use handfast_registry::{Action, HistoryEntry, HistoryPoint, RegistryError, json, rfc3339 as time};
use handfast_wire::json as wire_json;
use serde_json::Value as Json;

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::{On, line, moment_text};
use crate::exit::Answer;
use crate::folder::Data;
use crate::remote::api::{Elsewhere, Problem, encode, unreadable};
use crate::terminal::console;
use crate::terminal::output::Output;

/// How many events are asked for at once; how many come also depends on how many bytes they have.
const PAGE: usize = 1_000;

/// Some entries, and what the next page is asked for by.
type Page<T> = (Vec<T>, Option<u64>);

/// The history of a name of a folder.
pub(crate) fn of_folder(data: &Data, on: &On, at: Option<HistoryPoint>) -> anyhow::Result<Answer> {
    let who = on.who();
    let registry = match data.open() {
        Ok(registry) => registry,
        Err(refusal) => return Ok(on.output.refuse(&refusal)),
    };
    let page = |after: u64| {
        let page = registry.history_page(&who, &on.id, after, PAGE, at)?;
        Ok((page.entries, page.next))
    };
    let refuse = |refusal: RegistryError| Ok(on.output.refuse(&refusal));
    print(on.output, page, json::entry, for_people, refuse)
}

/// The history of a name of a server.
pub(crate) fn of_server(
    server: &Elsewhere,
    on: &On,
    at: Option<HistoryPoint>,
) -> anyhow::Result<Answer> {
    let at = at.map(|at| format!("&at={}", encode(&moment_text(at))));
    let at = at.unwrap_or_default();
    let path = format!("/names/{}/history?limit={PAGE}{at}", encode(&on.id));
    let page = |after: u64| {
        let mut said = server.ask("GET", &format!("{path}&after={after}"), None)?;
        let next = said.get("next").and_then(Json::as_str);
        let next = next.and_then(|next| next.parse().ok());
        match said.get_mut("events").map(Json::take) {
            Some(Json::Array(entries)) => Ok((entries, next)),
            _ => Err(NoPage::Unreadable),
        }
    };
    let refuse = |problem: NoPage| match problem {
        NoPage::Problem(problem) => problem.tell(on.output),
        NoPage::Unreadable => Ok(on.output.refuse(&unreadable())),
    };
    print(on.output, page, Json::clone, said_for_people, refuse)
}

/// Why a page did not come from a server.
enum NoPage {
    Problem(Problem),
    Unreadable,
}

impl From<Problem> for NoPage {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Prints each page before the next is asked for. In JSON all of them are one list.
fn print<T, E>(
    output: Output,
    page: impl Fn(u64) -> Result<Page<T>, E>,
    as_json: impl Fn(&T) -> Json,
    for_people: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
    refuse: impl FnOnce(E) -> anyhow::Result<Answer>,
) -> anyhow::Result<Answer> {
    let mut out = console::stdout();
    let (mut after, mut is_first) = (Some(0), true);
    while let Some(from) = after {
        let (entries, next) = match page(from) {
            Ok(page) => page,
            Err(error) => {
                out.flush()?;
                return refuse(error);
            }
        };
        for entry in &entries {
            if output.is_json() {
                let mark = if is_first { '[' } else { ',' };
                write!(out, "{mark}{}", as_json(entry))?;
            } else {
                for_people(entry, &mut out)?;
            }
            is_first = false;
        }
        // A server that does not go on would be asked for ever.
        after = next.filter(|next| *next > from);
    }
    if output.is_json() {
        writeln!(out, "{}", if is_first { "[]" } else { "]" })?;
    }
    out.flush()?;
    Ok(Answer::Done)
}

fn for_people(entry: &HistoryEntry, out: &mut dyn Write) -> io::Result<()> {
    let event = &entry.event;
    let who = entry
        .who
        .as_ref()
        .map_or_else(|| "someone".to_string(), ToString::to_string);
    writeln!(
        out,
        "event {}  {}  {}  by {who}",
        event.number,
        time(event.time),
        event.action.as_str()
    )?;
    for change in &entry.changes {
        if let Some(value) = &change.before {
            writeln!(out, "    - {}", line(value))?;
        }
        if let Some(value) = &change.after {
            writeln!(out, "    + {}", line(value))?;
        }
    }
    match (event.action, &entry.version) {
        (Action::Withdraw, Some(record)) => {
            if let Some(tombstone) = &record.tombstone {
                writeln!(out, "    reason: {}", Safe(&tombstone.reason))?;
            }
        }
        (Action::Transfer, Some(record)) => match &record.holder {
            Some(holder) => writeln!(out, "    to: {holder}")?,
            None => writeln!(out, "    back to its authority")?,
        },
        _ => {}
    }
    Ok(())
}

fn said_for_people(entry: &Json, out: &mut dyn Write) -> io::Result<()> {
    let text = |field: &str| -> Option<String> { entry.get(field)?.as_str().map(str::to_string) };
    let number = entry.get("event").and_then(Json::as_u64);
    let who = text("who").unwrap_or_else(|| "someone".into());
    writeln!(
        out,
        "event {}  {}  {}  by {}",
        number.unwrap_or_default(),
        text("time").unwrap_or_default(),
        text("action").unwrap_or_default(),
        Safe(&who)
    )?;
    let changes = entry.get("changes").and_then(Json::as_array);
    for change in changes.into_iter().flatten() {
        for (mark, side) in [('-', "before"), ('+', "after")] {
            let found = change.get(side).map(Json::to_string).unwrap_or_default();
            if let Ok(value) = serde_json::from_str::<wire_json::ParsedValue<'_>>(&found) {
                writeln!(out, "    {mark} {}", line(&value.into_value()))?;
            }
        }
    }
    if let Some(reason) = text("reason") {
        writeln!(out, "    reason: {}", Safe(&reason))?;
    }
    let has_version = entry.get("values").is_some_and(|values| !values.is_null());
    if text("action").as_deref() == Some("transfer") && has_version {
        match text("holder") {
            Some(holder) => writeln!(out, "    to: {}", Safe(&holder))?,
            None => writeln!(out, "    back to its authority")?,
        }
    }
    Ok(())
}
