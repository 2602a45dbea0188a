//! `/console/names/{id}/history/{event}/undo`: what undoing an event would do, and doing it.

use askama::Template;
use handfast_registry::{Action, HistoryEntry, NameAction, Record};
use hyper::{Response, StatusCode};

use super::changes::{ChangeLine, lines, removed};
use super::head::{NameHead, NameTab};
use super::history::{HistoryLine, actor_words, event};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/undo.html")]
struct UndoPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    entry: HistoryLine,
    lines: Vec<ChangeLine>,
    removed: usize,
    /// What happens beside the values.
    sentence: String,
    /// Why it cannot be undone.
    problem: String,
    version: u64,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::History)?;
    head.check_rights(visit)?;
    page(visit, StatusCode::OK, &head, &event(visit)?, Vec::new())
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    head: &NameHead,
    entry: &HistoryEntry,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let number = entry.event.number;
    let undo = NameAction::Undo(Some(number));
    let (mut changes, mut sentence, mut problem) = (Vec::new(), String::new(), String::new());
    match registry.preview_name_change(&who, id, None, undo) {
        Ok(preview) => {
            if let Some(after) = &preview.after {
                sentence = words(visit, entry.event.action, after);
            }
            changes = preview.changes;
        }
        Err(error) if error.is_failure() || error.code() == "denied" => return Err(error.into()),
        Err(error) => problem = error.to_string(),
    }
    let argument = head.argument();
    let page = UndoPage {
        frame: head
            .frame(visit, &format!("Undo event {number}"))
            .errors(errors)
            .same([
                format!("handfast name undo {argument} --event {number}"),
                format!(
                    "curl -X POST -H \"Authorization: Bearer $HANDFAST_TOKEN\" -H 'Content-Type: \
                 application/json' -d '{{\"event\": {number}}}' {}/undo",
                    head.api(visit)
                ),
            ]),
        entry: HistoryLine::new(visit, head, entry),
        lines: lines(&changes),
        removed: removed(&changes),
        sentence,
        problem,
        version: registry.show(&who, id)?.record.version,
        name: head,
    };
    Ok(page.frame.respond(status, &page))
}

/// What an undo does beside changing values.
fn words(visit: &Visit<'_>, action: Action, after: &Record) -> String {
    match action {
        Action::Withdraw => "The name becomes active again and leads where it led.".to_string(),
        Action::Restore => "The name is withdrawn again, with its earlier reason.".to_string(),
        Action::Transfer => match &after.holder {
            Some(holder) => format!("The name goes back to {}.", actor_words(visit, holder)),
            None => "The name goes back to its authority.".to_string(),
        },
        _ => String::new(),
    }
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::History)?;
    head.check_rights(visit)?;
    let entry = event(visit)?;
    let expected = visit.field("version").parse().ok();
    let undo = NameAction::Undo(Some(entry.event.number));
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    match registry.change_name(&who, id, expected, undo) {
        Ok(shown) => {
            let event = shown.map_or(0, |shown| shown.record.last_event);
            Ok(see(&format!("{}?done=undone&event={event}", head.path)))
        }
        Err(error) if error.is_failure() || error.code() == "denied" => Err(error.into()),
        Err(error) => {
            let text = match error.code() {
                "other-version" => "The name was changed since you opened this page. Look at what \
                    undoing does now, and send it again."
                    .to_string(),
                _ => format!("It was not undone: {error}."),
            };
            let errors = vec![FieldError::new("", text)];
            page(visit, StatusCode::CONFLICT, &head, &entry, errors)
        }
    }
}
