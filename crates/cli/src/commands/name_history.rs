//! Printing the history of a name, page by page: a history may be longer than anybody has memory
//! for.

use std::io::{self, Write};

use handfast_api::Value;
use handfast_registry::HistoryPoint;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::{NameTarget, at_text, line};
use crate::exit::Answer;
use crate::remote::client::{Client, encode, unreadable};

/// How many events are asked for at once; how many come also depends on how many bytes they have.
const PAGE: usize = 1_000;

/// Prints each page before the next is asked for. In JSON all of them are one list.
pub(crate) fn show(
    client: &Client,
    on: &NameTarget,
    at: Option<HistoryPoint>,
) -> anyhow::Result<Answer> {
    let output = on.output;
    let at = at.map(|at| format!("&at={}", encode(&at_text(at))));
    let query = format!("limit={PAGE}{}", at.unwrap_or_default());
    let mut out = io::stdout();
    let (mut after, mut is_first) = (Some(0), true);
    while let Some(from) = after {
        let path = on.path(&format!("/history?{query}&after={from}"));
        let page = client.ask("GET", &path, None).and_then(|mut page| {
            let entries = page.get_mut("events").map(Json::take);
            let next = page.get("next").and_then(Json::as_str);
            let next = next.and_then(|next| next.parse::<u64>().ok());
            match entries {
                Some(Json::Array(entries)) => Ok((entries, next)),
                _ => Err(unreadable()),
            }
        });
        let (entries, next) = match page {
            Ok(page) => page,
            Err(problem) => {
                out.flush()?;
                return problem.tell(output);
            }
        };
        for entry in &entries {
            if output.is_json() {
                let mark = if is_first { '[' } else { ',' };
                write!(out, "{mark}{entry}")?;
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

fn for_people(entry: &Json, out: &mut dyn Write) -> io::Result<()> {
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
            if let Some(Ok(value)) = change.get(side).map(Value::deserialize) {
                writeln!(out, "    {mark} {}", line(&value))?;
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
