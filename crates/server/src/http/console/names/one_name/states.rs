//! Making a reserved name active, and restoring a withdrawn one.

use askama::Template;
use handfast_registry::{NameAction, Record};
use handfast_wire::Value;
use hyper::{Response, StatusCode};

use super::head::{NameHead, NameTab};
use super::history::PastRecord;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/state.html")]
struct StatePage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    change: &'static StateChange,
    /// The name after the change, as everybody can see it then.
    after: PastRecord,
    version: u64,
}

/// A change of the state of a name.
struct StateChange {
    /// The last part of the path, and the word of commands.
    word: &'static str,
    heading: &'static str,
    sentence: &'static str,
    button: &'static str,
    done: &'static str,
    action: fn() -> NameAction,
}

static ACTIVATE: StateChange = StateChange {
    word: "activate",
    heading: "Activate this name",
    sentence: "From then on everybody can look it up, and it is never hidden or given to anything \
        else again.",
    button: "Activate the name",
    done: "activated",
    action: || NameAction::Activate,
};

static RESTORE: StateChange = StateChange {
    word: "restore",
    heading: "Restore this name",
    sentence: "The name leads to its addresses again. The tombstone goes; the history keeps its \
        reason.",
    button: "Restore the name",
    done: "restored",
    action: || NameAction::Restore,
};

pub(super) fn show_activate(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    page(visit, StatusCode::OK, &ACTIVATE, Vec::new())
}

pub(super) fn show_restore(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    page(visit, StatusCode::OK, &RESTORE, Vec::new())
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    change: &'static StateChange,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::Values)?;
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let preview = registry.preview_name_change(&who, id, None, (change.action)())?;
    let version = preview.before.version;
    let mut after = preview.after.unwrap_or(preview.before);
    only_public(&mut after);
    let (word, argument) = (change.word, head.argument());
    let page = StatePage {
        frame: head.frame(visit, change.heading).errors(errors).same([
            format!("handfast name {word} {argument}"),
            format!(
                "curl -X POST -H \"Authorization: Bearer $HANDFAST_TOKEN\" {}/{word}",
                head.api(visit)
            ),
        ]),
        name: &head,
        change,
        after: PastRecord::new(&after),
        version,
    };
    Ok(page.frame.respond(status, &page))
}

fn only_public(record: &mut Record) {
    record.values.retain(Value::is_public);
}

pub(super) fn activate(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    send(visit, &ACTIVATE)
}

pub(super) fn restore(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    send(visit, &RESTORE)
}

fn send(visit: &Visit<'_>, change: &'static StateChange) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::Values)?;
    let expected = visit.field("version").parse().ok();
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    match registry.change_name(&who, id, expected, (change.action)()) {
        Ok(shown) => {
            let event = shown.map_or(0, |shown| shown.record.last_event);
            let done = change.done;
            Ok(see(&format!("{}?done={done}&event={event}", head.path)))
        }
        Err(error) if error.code() == "other-version" => {
            let text = "The name was changed since you opened this page. Look at it, and send the \
                form again.";
            page(
                visit,
                StatusCode::CONFLICT,
                change,
                vec![FieldError::new("", text)],
            )
        }
        Err(error) => Err(error.into()),
    }
}
