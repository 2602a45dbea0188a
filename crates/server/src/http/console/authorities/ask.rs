//! `/console/authorities/{a}/ask`: asking for a role.

use askama::Template;
use handfast_registry::{AccessRequestStatus, Principal, Role};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl_with, is_wrong_input};
use super::overview::can_grant;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::message;
use crate::http::console::names::one_name::quoted;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;

#[derive(Template)]
#[template(path = "console/authorities/ask.html")]
struct AskPage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    can_grant: String,
    role: String,
    reason: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    ask_page(visit, StatusCode::OK, None)
}

fn ask_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let here = Here::load(visit)?;
    let role = match visit.field("role") {
        "" => visit.query("role").unwrap_or("write"),
        role => role,
    };
    let id = here.id();
    let account = quoted(&visit.person()?.session.account);
    let same = [
        format!("handfast access request '{id}' --role write --reason TEXT --as {account}"),
        curl_with(
            visit,
            "POST",
            "/access-requests",
            &format!(r#"{{"authority": "{id}", "role": "write", "reason": "TEXT"}}"#),
        ),
    ];
    let page = AskPage {
        role: role.to_string(),
        reason: visit.field("reason").to_string(),
        frame: here
            .frame(visit, "Ask for access")
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "")?,
        can_grant: can_grant(visit, &here)?,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn send(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let invalid = |field: &str, text: String| {
        let error = FieldError::new(field, text);
        ask_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
    };
    let Ok(role) = visit.field("role").parse::<Role>() else {
        return invalid("role", "Choose a role.".to_string());
    };
    if visit.field("reason").is_empty() {
        let text = "Say why you need it. The person who decides reads it.";
        return invalid("reason", text.to_string());
    }
    let asked =
        visit
            .registry()
            .request_access(&visit.who(), &here.id(), role, visit.field("reason"));
    match asked {
        Err(error) if error.code() == "requested" => {
            // The same words again: the button was pressed twice.
            if !has_asked(visit, &here)? {
                let text = "You have asked for this already, in other words, and nobody has \
                            decided it yet. Take that request back before you ask again.";
                return invalid("reason", text.to_string());
            }
        }
        Err(error) if error.code() == "has-role" => {
            return invalid("role", "You have this role here already.".to_string());
        }
        Err(error) if is_wrong_input(&error) => return invalid("reason", message(&error)),
        asked => drop(asked?),
    }
    Ok(see(&format!("{}?done=asked", here.path())))
}

/// Whether the person has asked here with these words, and nobody has decided it.
fn has_asked(visit: &Visit<'_>, here: &Here) -> Result<bool, PageError> {
    let (who, id) = (visit.who(), here.id());
    let mut requests = visit.registry().access_requests(&who)?.into_iter();
    Ok(requests.any(|request| {
        request.authority == id
            && request.status == AccessRequestStatus::Open
            && request.reason == visit.field("reason")
            && Principal::account(&request.account).is_ok_and(|asker| asker == who)
    }))
}
