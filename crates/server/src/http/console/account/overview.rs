//! `/console/me`: who is signed in, and what they may do.

use askama::Template;
use handfast_registry::{AccountChange, AccountRole, Principal};
use hyper::{Response, StatusCode};

use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError, Flash, MenuItem};
use crate::http::console::message::message;
use crate::http::console::names::one_name::quoted;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/me.html")]
struct OverviewPage<'a> {
    frame: ConsoleFrame<'a>,
    name: String,
    title: String,
    email: String,
    is_account: bool,
    is_administrator: bool,
    has_password: bool,
    roles: Vec<ShownRole>,
    groups: Vec<String>,
}

struct ShownRole {
    path: String,
    authority: String,
    role: &'static str,
    through: Option<String>,
}

impl From<AccountRole> for ShownRole {
    fn from(role: AccountRole) -> Self {
        Self {
            path: format!(
                "/console/authorities/{}",
                encode(&role.authority, COMPONENT)
            ),
            role: role.role.as_str(),
            authority: role.authority,
            through: role.through,
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    overview(visit, StatusCode::OK, None)
}

fn overview(
    visit: &Visit<'_>,
    status: StatusCode,
    typed: Option<(String, String, FieldError)>,
) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    let name = person.session.account.clone();
    let is_account = matches!(person.who, Principal::Account(_));
    let registry = visit.registry();
    let (mut title, mut email) = (person.title.clone(), String::new());
    let (mut groups, mut has_password) = (Vec::new(), false);
    let roles = if is_account {
        let holdings = registry.holdings(&person.who, &name)?;
        title = holdings.account.title;
        email = holdings.account.email;
        groups = holdings.groups;
        has_password = registry.has_password(&name)?;
        holdings.roles
    } else {
        registry.own_roles(&person.who)?
    };
    let mut errors = Vec::new();
    if let Some((new_title, new_email, error)) = typed {
        (title, email) = (new_title, new_email);
        errors.push(error);
    }
    let done = visit.query("done").filter(|done| *done == "saved");
    let flash = done.map(|_| Flash {
        kind: "good",
        head: "Saved.".to_string(),
        text: "This is how others see you from now on.".to_string(),
        undo: None,
    });
    let show = if is_account {
        format!("handfast user show {}", quoted(&name))
    } else {
        format!("handfast user sign-in {}", quoted(&name))
    };
    let same = [show, curl(visit, "GET", "/accounts/this")];
    let page = OverviewPage {
        frame: ConsoleFrame::new(visit, "Your account", MenuItem::Nothing)
            .flash(flash)
            .errors(errors)
            .same(same),
        name,
        title,
        email,
        is_account,
        is_administrator: person.is_administrator,
        has_password,
        roles: roles.into_iter().map(ShownRole::from).collect(),
        groups,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn change(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (title, email) = (visit.field("title"), visit.field("email"));
    let account = &visit.person()?.session.account;
    let change = AccountChange {
        title: Some(title.to_string()),
        email: Some(email.to_string()),
        ..AccountChange::default()
    };
    match visit
        .registry()
        .change_account(&visit.who(), account, &change)
    {
        Ok(_) => Ok(see("/console/me?done=saved")),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error) => {
            let field = if error.code() == "bad-email" {
                "email"
            } else {
                "title"
            };
            let error = FieldError::new(field, message(&error));
            let typed = (title.to_string(), email.to_string(), error);
            overview(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(typed))
        }
    }
}
