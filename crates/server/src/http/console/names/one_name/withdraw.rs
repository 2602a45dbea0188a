//! `/console/names/{id}/withdraw`: why a name is withdrawn, and what readers will see.

use askama::Template;
use handfast_registry::{NameAction, RegistryError, State};
use hyper::{Response, StatusCode};
use serde_json::json;

use super::head::{NameHead, NameTab, quoted};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::sentence;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::{filters, words};
use crate::http::resolver::title::title_of;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/withdraw.html")]
struct WithdrawPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    reason: String,
    successor: String,
    found: Option<Successor>,
    today: String,
    version: u64,
}

const EXAMPLE_REASON: &str = "Why readers no longer find it";

/// A name to use instead.
struct Successor {
    id: String,
    title: String,
    /// What is known about it, in words.
    words: String,
    /// `good` or `look`.
    kind: &'static str,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, version) = withdrawable(visit)?;
    let typed = [visit.query("reason"), visit.query("successor")];
    let [reason, successor] = typed.map(|text| text.unwrap_or_default().to_string());
    Ok(page(
        visit,
        StatusCode::OK,
        &head,
        version,
        (reason, successor),
        Vec::new(),
    ))
}

/// The name of a request, if the person may withdraw it now, and its version.
fn withdrawable(visit: &Visit<'_>) -> Result<(NameHead, u64), PageError> {
    let (head, shown) = NameHead::load(visit, NameTab::Values)?;
    if !head.may_withdraw() {
        let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
        let action = NameAction::Withdraw {
            reason: "?".to_string(),
            successor: None,
        };
        registry.preview_name_change(&who, id, None, action)?;
    }
    Ok((head, shown.record.version))
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    head: &NameHead,
    version: u64,
    (reason, successor): (String, String),
    errors: Vec<FieldError>,
) -> Response<Body> {
    let argument = head.argument();
    let why = quoted(if reason.is_empty() {
        EXAMPLE_REASON
    } else {
        &reason
    });
    let instead = match successor.as_str() {
        "" => String::new(),
        successor => format!(" --successor {}", quoted(successor)),
    };
    let mut body = json!({ "reason": if reason.is_empty() { EXAMPLE_REASON } else { &reason } });
    if let Some(body) = body.as_object_mut().filter(|_| !successor.is_empty()) {
        body.insert("successor".to_string(), json!(successor));
    }
    let page = WithdrawPage {
        frame: head.frame(visit, "Withdraw").errors(errors).same([
            format!("handfast name withdraw {argument} --reason {why}{instead}"),
            format!(
                "curl -X POST -H \"Authorization: Bearer $HANDFAST_TOKEN\" -H 'Content-Type: \
                 application/json' -d {} {}/withdraw",
                quoted(&body.to_string()),
                head.api(visit)
            ),
        ]),
        found: successor_of(visit, &successor),
        name: head,
        reason,
        successor,
        today: words::plain_day(visit.now),
        version,
    };
    page.frame.respond(status, &page)
}

/// What is known about a successor, as far as the person may know it.
fn successor_of(visit: &Visit<'_>, successor: &str) -> Option<Successor> {
    if successor.is_empty() {
        return None;
    }
    let unknown = |words: String| Successor {
        id: successor.to_string(),
        title: String::new(),
        words,
        kind: "look",
    };
    Some(match visit.registry().show(&visit.who(), successor) {
        Ok(shown) => {
            let record = shown.record;
            let title = title_of(&record.values).unwrap_or_default();
            let (word, kind) = match record.state {
                State::Active => ("Active", "good"),
                State::Reserved => ("Reserved: readers do not find it yet", "look"),
                State::Withdrawn => ("Withdrawn, too: name the one that is used today", "look"),
            };
            let words = if title.is_empty() {
                format!("{}. {word}.", record.text)
            } else {
                format!("{title}. {word}.")
            };
            Successor {
                id: record.text,
                title,
                words,
                kind,
            }
        }
        Err(RegistryError::NotFound(_)) => unknown(not_registered(successor)),
        Err(RegistryError::NoAuthority(_)) => unknown(format!(
            "{successor} belongs to another server. Check the spelling: this server cannot."
        )),
        Err(error) => unknown(wrong_successor(&error)),
    })
}

fn not_registered(successor: &str) -> String {
    format!("{successor} is not registered here. Check the spelling, or register it first.")
}

/// Why a text cannot be the successor, and what to do.
fn wrong_successor(error: &RegistryError) -> String {
    match error {
        RegistryError::Identifier { source, .. } => {
            format!(
                "{} {}",
                sentence(&error.to_string()),
                sentence(source.remedy())
            )
        }
        error => sentence(&error.to_string()),
    }
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, version) = withdrawable(visit)?;
    let reason = visit.field("reason").replace("\r\n", "\n");
    let successor = visit.field("successor").to_string();
    let typed = (reason.clone(), successor.clone());
    if visit.field("do") != "withdraw" {
        let shown = page(visit, StatusCode::OK, &head, version, typed, Vec::new());
        return Ok(shown);
    }
    let found = (!successor.is_empty()).then(|| visit.registry().show(&visit.who(), &successor));
    if let Some(Err(RegistryError::NotFound(_))) = found {
        let error = FieldError::new("successor", not_registered(&successor));
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Ok(page(visit, status, &head, version, typed, vec![error]));
    }
    let action = NameAction::Withdraw {
        reason,
        successor: Some(successor).filter(|successor| !successor.is_empty()),
    };
    let expected = visit.field("version").parse().ok();
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    let error = match registry.change_name(&who, id, expected, action) {
        Ok(shown) => {
            let event = shown.map_or(0, |shown| shown.record.last_event);
            return Ok(see(&format!("{}?done=withdrawn&event={event}", head.path)));
        }
        Err(error) if error.is_failure() || error.code() == "denied" => return Err(error.into()),
        Err(error) => error,
    };
    let text = error.to_string();
    let (status, error) = match (&error, error.code()) {
        (_, "other-version") => {
            let text = "The name was changed since you opened this page. Look at it, and send the \
                form again.";
            (StatusCode::CONFLICT, FieldError::new("", text))
        }
        (_, "bad-reason") => {
            let text = if typed.0.is_empty() {
                "Say why the name is withdrawn. Readers will see it.".to_string()
            } else {
                format!("The reason is too long: {text}.")
            };
            (
                StatusCode::UNPROCESSABLE_ENTITY,
                FieldError::new("reason", text),
            )
        }
        (RegistryError::Identifier { .. }, _) | (_, "bad-successor") => {
            let text = wrong_successor(&error);
            (
                StatusCode::UNPROCESSABLE_ENTITY,
                FieldError::new("successor", text),
            )
        }
        _ => (StatusCode::CONFLICT, FieldError::new("", text)),
    };
    Ok(page(visit, status, &head, version, typed, vec![error]))
}
