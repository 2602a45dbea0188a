//! Printing the history of a name, page by page: a history may be longer than anybody has memory
//! for.

use std::io::{self, Write};

use handfast_api::{Event, Name};
use handfast_registry::HistoryPoint;

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::{NameTarget, at_text, line};
use crate::exit::Answer;
use crate::remote::client::{Client, query};

/// Prints each page before the next is asked for. In JSON all of them are one list.
pub(crate) fn show(
    client: &Client,
    on: &NameTarget,
    at: Option<HistoryPoint>,
) -> anyhow::Result<Answer> {
    let mut out = io::stdout();
    let (is_json, mut is_first) = (on.caller.output.is_json(), true);
    let (path, query) = (on.path("/history"), query([("at", at.map(at_text))]));
    client.each_page(&path, &query, "events", |events: Vec<Event>| {
        for event in &events {
            if is_json {
                let mark = if is_first { '[' } else { ',' };
                write!(out, "{mark}{}", serde_json::to_value(event)?)?;
            } else {
                for_people(event, &mut out)?;
            }
            is_first = false;
        }
        Ok(())
    })?;
    if is_json {
        writeln!(out, "{}", if is_first { "[]" } else { "]" })?;
    } else if let Some(link) = citable_link(client, &on.path("")) {
        writeln!(out, "cite as {link}")?;
    }
    out.flush()?;
    Ok(Answer::Done)
}

/// The citable link of a name, if the server has a public URL.
pub(crate) fn citable_link(client: &Client, path: &str) -> Option<String> {
    let name: Name = client.get(path).ok()?;
    name.link
}

fn for_people(event: &Event, out: &mut dyn Write) -> io::Result<()> {
    let (number, time, action) = (event.event, &event.time, &event.action);
    let who = Safe(event.who.as_deref().unwrap_or("someone"));
    writeln!(out, "event {number}  {time}  {action}  by {who}")?;
    for change in &event.changes {
        for (mark, side) in [('-', &change.before), ('+', &change.after)] {
            if let Some(value) = side {
                writeln!(out, "    {mark} {}", line(value))?;
            }
        }
    }
    if let Some(reason) = &event.reason {
        writeln!(out, "    reason: {}", Safe(reason))?;
    }
    if let Some(successor) = &event.successor {
        writeln!(out, "    use instead: {}", Safe(successor))?;
    }
    if action == "transfer" && event.values.is_some() {
        match &event.holder {
            Some(holder) => writeln!(out, "    to: {}", Safe(holder))?,
            None => writeln!(out, "    back to its authority")?,
        }
    }
    Ok(())
}
