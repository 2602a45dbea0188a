//! `/console/names/{id}/transfer`: who administers a name beside its authority.

use askama::Template;
use handfast_registry::{NameAction, Principal, RegistryError, Role};
use hyper::{Response, StatusCode};

use super::head::{NameHead, NameTab, quoted};
use super::history::actor_words;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::{message, sentence};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/names/transfer.html")]
struct TransferPage<'a> {
    frame: ConsoleFrame<'a>,
    name: &'a NameHead,
    to: String,
    /// Who has it now; empty if its authority alone.
    holder: String,
    version: u64,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let to = visit.query("to").unwrap_or_default().to_string();
    page(visit, StatusCode::OK, to, Vec::new())
}

fn page(
    visit: &Visit<'_>,
    status: StatusCode,
    to: String,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let (head, shown) = NameHead::load(visit, NameTab::Values)?;
    if !head.may_transfer() {
        // The registry says which role is missing, and where.
        let nobody = Principal::Operator;
        let action = NameAction::Transfer {
            to: nobody,
            creates_account: false,
        };
        let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
        registry.preview_name_change(&who, id, None, action)?;
    }
    let holder = shown.record.holder.as_ref();
    let argument = head.argument();
    let target = if to.is_empty() {
        "ACCOUNT".to_string()
    } else {
        quoted(&to)
    };
    let page = TransferPage {
        frame: head.frame(visit, "Transfer").errors(errors).same([
            format!("handfast name transfer {argument} --to {target}"),
            format!(
                "curl -X POST -H \"Authorization: Bearer $HANDFAST_TOKEN\" -H 'Content-Type: \
                 application/json' -d '{{\"to\": \"ACCOUNT\"}}' {}/transfer",
                head.api(visit)
            ),
        ]),
        holder: holder.map_or(String::new(), |holder| actor_words(visit, holder)),
        version: shown.record.version,
        name: &head,
        to,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (head, _) = NameHead::load(visit, NameTab::Values)?;
    let typed = visit.field("to").to_string();
    let invalid = |text: String| {
        let errors = vec![FieldError::new("to", text)];
        page(
            visit,
            StatusCode::UNPROCESSABLE_ENTITY,
            typed.clone(),
            errors,
        )
    };
    if typed.trim().is_empty() {
        return invalid("Write to whom the name goes.".to_string());
    }
    let to = match Principal::parse(&typed) {
        Ok(to) => to,
        Err(error) => return invalid(sentence(&error.to_string())),
    };
    let action = NameAction::Transfer {
        to,
        creates_account: false,
    };
    let expected = visit.field("version").parse().ok();
    let (registry, who, id) = (visit.registry(), visit.who(), visit.id());
    match registry.change_name(&who, id, expected, action) {
        Ok(shown) => {
            let event = shown.map_or(0, |shown| shown.record.last_event);
            Ok(see(&format!(
                "{}?done=transferred&event={event}",
                head.path
            )))
        }
        Err(
            error @ RegistryError::Denied {
                needs: Role::Admin, ..
            },
        ) => Err(error.into()),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error) if error.code() == "other-version" => invalid(
            "The name was changed since you opened this page. Look at it, and send the form again."
                .to_string(),
        ),
        Err(error) => invalid(message(&error)),
    }
}
