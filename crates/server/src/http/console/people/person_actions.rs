//! What administrators do with an account: a one-time link, suspending, making an administrator.

use handfast_registry::{AccountChange, Principal};
use hyper::StatusCode;

use super::person::person_page;
use super::{need_administrator, path_of_person};
use crate::http::console::again::need_fresh;
use crate::http::console::authorities::Answered;
use crate::http::console::see;
use crate::http::console::visit::Visit;

pub(super) fn link(visit: &Visit<'_>) -> Answered {
    need_administrator(visit)?;
    need_fresh(visit)?;
    let link = visit
        .registry()
        .create_sign_in_link(&visit.who(), visit.id())?;
    let url = format!("{}/console/enter/{}", visit.base, link.code);
    person_page(visit, StatusCode::CREATED, Some((url, link.expires)))
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

fn change_account(visit: &Visit<'_>, change: &AccountChange, done: &str) -> Answered {
    let changed = visit
        .registry()
        .change_account(&visit.who(), visit.id(), change)?;
    let path = path_of_person(&Principal::Account(changed.name));
    Ok(see(&format!("{path}?done={done}")))
}
