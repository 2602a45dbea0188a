//! `/console/people/invite`: an account for a new person, with a role if that is wanted.

use askama::Template;
use handfast_registry::{NewInvitation, Role};
use hyper::StatusCode;

use super::need_administrator;
use crate::http::console::again::need_fresh;
use crate::http::console::authorities::invite::{ShownInvitation, TypedInvitation, field_of};
use crate::http::console::authorities::{Answered, curl_with, is_wrong_input};
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;

#[derive(Template)]
#[template(path = "console/people/invite.html")]
struct InvitePersonPage<'a> {
    frame: ConsoleFrame<'a>,
    typed: TypedInvitation,
    authority: String,
    made: Option<ShownInvitation>,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    invite_page(visit, StatusCode::OK, None, None)
}

fn invite_page(
    visit: &Visit<'_>,
    status: StatusCode,
    made: Option<ShownInvitation>,
    error: Option<FieldError>,
) -> Answered {
    need_administrator(visit)?;
    let crumbs = [
        Crumb::new("People", "/console/people"),
        Crumb::new("Invite a person", ""),
    ];
    let same = [
        "handfast user invite NAME --title TITLE --email EMAIL".to_string(),
        curl_with(visit, "POST", "/invitations", r#"{"account": "NAME"}"#),
    ];
    let page = InvitePersonPage {
        frame: ConsoleFrame::new(visit, "Invite a person", MenuItem::People)
            .crumbs(crumbs)
            .errors(error.into_iter().collect())
            .same(same),
        typed: TypedInvitation::read(visit),
        authority: visit.field("authority").to_string(),
        made,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn send(visit: &Visit<'_>) -> Answered {
    need_administrator(visit)?;
    let invalid = |field: &str, text: String| {
        let error = FieldError::new(field, text);
        invite_page(visit, StatusCode::UNPROCESSABLE_ENTITY, None, Some(error))
    };
    let typed = TypedInvitation::read(visit);
    if typed.account.is_empty() {
        let text = "Write a name for the account, such as ann.";
        return invalid("account", text.to_string());
    }
    let authority = Some(visit.field("authority").to_string()).filter(|text| !text.is_empty());
    let role = match (&authority, typed.role.parse::<Role>()) {
        (None, _) => None,
        (Some(_), Ok(role)) => Some(role),
        (Some(_), Err(_)) => return invalid("role", "Choose a role.".to_string()),
    };
    if role == Some(Role::Admin) {
        need_fresh(visit)?;
    }
    let new = NewInvitation {
        account: typed.account,
        title: typed.title,
        email: typed.email,
        authority,
        role,
    };
    match visit.registry().invite(&visit.who(), new) {
        Ok(made) => {
            let made = ShownInvitation::new(visit, made);
            invite_page(visit, StatusCode::CREATED, Some(made), None)
        }
        Err(error) if is_wrong_input(&error) => {
            let is_place = matches!(error.code(), "no-authority" | "retired" | "not-approved");
            let field = if is_place {
                "authority"
            } else {
                field_of(&error)
            };
            invalid(field, message(&error))
        }
        Err(error) => Err(error.into()),
    }
}
