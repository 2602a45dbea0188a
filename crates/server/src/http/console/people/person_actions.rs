//! What administrators do with an account: its name and e-mail, a one-time link, suspending, making
//! an administrator.

use handfast_registry::{Account, AccountChange, Principal};
use hyper::{Response, StatusCode};

use super::person::person_page;
use super::{need_administrator, path_of_person};
use crate::http::console::again::need_fresh;
use crate::http::console::authorities::{Answered, is_wrong_input};
use crate::http::console::frame::FieldError;
use crate::http::console::message::sentence;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::response::Body;

pub(super) fn link(visit: &Visit<'_>) -> Answered {
    need_administrator(visit)?;
    need_fresh(visit)?;
    let link = visit
        .registry()
        .create_sign_in_link(&visit.who(), visit.id())?;
    let url = format!("{}/console/enter/{}", visit.base, link.code);
    person_page(visit, StatusCode::CREATED, Some((url, link.expires)), None)
}

/// What people call the account, and its e-mail.
pub(super) fn describe(visit: &Visit<'_>) -> Answered {
    need_administrator(visit)?;
    let change = AccountChange {
        title: Some(visit.field("title").to_string()),
        email: Some(visit.field("email").to_string()),
        ..AccountChange::default()
    };
    let (registry, who) = (visit.registry(), visit.who());
    match registry.change_account(&who, visit.id(), &change) {
        Ok(changed) => Ok(done(changed, "described")),
        Err(error) if is_wrong_input(&error) => {
            let field = if error.code() == "bad-email" {
                "email"
            } else {
                "title"
            };
            let error = FieldError::new(field, sentence(&error.to_string()));
            person_page(visit, StatusCode::UNPROCESSABLE_ENTITY, None, Some(error))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn state(visit: &Visit<'_>) -> Answered {
    let is_suspended = visit.field("state") == "suspended";
    let change = AccountChange {
        suspended: Some(is_suspended),
        ..AccountChange::default()
    };
    let done = if is_suspended { "suspended" } else { "active" };
    change_account(visit, &change, done)
}

pub(super) fn administrator(visit: &Visit<'_>) -> Answered {
    let is_administrator = visit.field("administrator") == "yes";
    need_administrator(visit)?;
    need_fresh(visit)?;
    let change = AccountChange {
        administrator: Some(is_administrator),
        ..AccountChange::default()
    };
    let done = if is_administrator {
        "administrator"
    } else {
        "no-administrator"
    };
    change_account(visit, &change, done)
}

fn change_account(visit: &Visit<'_>, change: &AccountChange, word: &str) -> Answered {
    let changed = visit
        .registry()
        .change_account(&visit.who(), visit.id(), change)?;
    Ok(done(changed, word))
}

/// Leads to the page of the account, which says what was done.
fn done(changed: Account, word: &str) -> Response<Body> {
    let path = path_of_person(&Principal::Account(changed.name));
    see(&format!("{path}?done={word}"))
}
