//! `/console/authorities/{a}/invite`: an account and a role for a new person, and the link by which
//! they sign in first.

use askama::Template;
use handfast_registry::{Invitation, NewInvitation, RegistryError, Role};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl_with, is_wrong_input};
use crate::http::console::again::need_fresh;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::message;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;

#[derive(Template)]
#[template(path = "console/authorities/invite.html")]
struct InvitePage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    typed: TypedInvitation,
    may_grant_admin: bool,
    made: Option<ShownInvitation>,
}

/// The fields of the form.
pub(in crate::http::console) struct TypedInvitation {
    pub(in crate::http::console) account: String,
    pub(in crate::http::console) title: String,
    pub(in crate::http::console) email: String,
    pub(in crate::http::console) role: String,
}

/// An invitation that was made; its link is shown this once.
pub(in crate::http::console) struct ShownInvitation {
    pub(in crate::http::console) account: String,
    pub(in crate::http::console) link: Option<String>,
    pub(in crate::http::console) expires: u64,
}

impl TypedInvitation {
    pub(in crate::http::console) fn read(visit: &Visit<'_>) -> Self {
        let field = |name| visit.field(name).to_string();
        let role = field("role");
        Self {
            account: field("account"),
            title: field("title"),
            email: field("email"),
            role: if role.is_empty() {
                "write".to_string()
            } else {
                role
            },
        }
    }
}

impl ShownInvitation {
    pub(in crate::http::console) fn new(visit: &Visit<'_>, made: Invitation) -> Self {
        let expires = made.link.as_ref().map_or(0, |link| link.expires);
        let base = &visit.base;
        let link = made
            .link
            .map(|link| format!("{base}/console/enter/{}", link.code));
        Self {
            account: made.account,
            link,
            expires,
        }
    }
}

/// The field that an error is about.
pub(in crate::http::console) fn field_of(error: &RegistryError) -> &'static str {
    match error.code() {
        "bad-email" => "email",
        "too-large" => "title",
        _ => "account",
    }
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
    let here = Here::load(visit)?;
    here.need(Role::Lead)?;
    let id = here.id();
    let same = [
        format!("handfast user invite NAME --title TITLE --authority '{id}' --role write"),
        curl_with(
            visit,
            "POST",
            "/invitations",
            &format!(r#"{{"account": "NAME", "authority": "{id}", "role": "write"}}"#),
        ),
    ];
    let page = InvitePage {
        frame: here
            .frame(visit, "Invite a person")
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "People")?,
        typed: TypedInvitation::read(visit),
        may_grant_admin: here.has(Role::Admin),
        made,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn send(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    here.need(Role::Lead)?;
    let invalid = |field: &str, text: String| {
        let error = FieldError::new(field, text);
        invite_page(visit, StatusCode::UNPROCESSABLE_ENTITY, None, Some(error))
    };
    let typed = TypedInvitation::read(visit);
    if typed.account.is_empty() {
        let text = "Write a name for the account, such as ann.";
        return invalid("account", text.to_string());
    }
    let role: Role = match typed.role.parse() {
        Ok(role) => role,
        Err(_) => return invalid("role", "Choose a role.".to_string()),
    };
    if role == Role::Admin {
        need_fresh(visit)?;
    }
    let new = NewInvitation {
        account: typed.account,
        title: typed.title,
        email: typed.email,
        authority: Some(here.id()),
        role: Some(role),
    };
    match visit.registry().invite(&visit.who(), new) {
        Ok(made) => {
            let made = ShownInvitation::new(visit, made);
            invite_page(visit, StatusCode::CREATED, Some(made), None)
        }
        Err(error) if is_wrong_input(&error) => invalid(field_of(&error), message(&error)),
        Err(error) => Err(error.into()),
    }
}
