//! `/console/people/{account}/leave`: somebody leaves. Their names, roles, groups and tokens on one
//! page, and what shall become of them.

use askama::Template;
use handfast_registry::{
    AccountChange, AuthorityAction, Holdings, NameAction, Principal, RegistryError,
};
use hyper::StatusCode;

use super::{need_administrator, path_of_person};
use crate::http::console::again::need_fresh;
use crate::http::console::authorities::{Answered, curl, titled};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::nobody_called;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

/// How many names one press of the button transfers.
const MAX_NAMES: usize = 500;
/// How many names the page lists.
const MAX_LISTED: usize = 20;

#[derive(Template)]
#[template(path = "console/people/leave.html")]
struct LeavePage<'a> {
    frame: ConsoleFrame<'a>,
    path: String,
    title: String,
    holdings: Holdings,
    /// The first names that were transferred to the person.
    names: Vec<String>,
    to: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    need_administrator(visit)?;
    need_fresh(visit)?;
    leave_page(visit, StatusCode::OK, None)
}

fn leave_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let (registry, me) = (visit.registry(), visit.who());
    let holdings = registry.holdings(&me, visit.id())?;
    let name = holdings.account.name.clone();
    let title = titled(&holdings.account.title, &name);
    let path = path_of_person(&Principal::Account(name.clone()));
    let crumbs = [
        Crumb::new("People", "/console/people"),
        Crumb::new(name.clone(), path.clone()),
        Crumb::new("Leaves", ""),
    ];
    let encoded = encode(&name, COMPONENT);
    let same = [
        format!("handfast user holdings {name}"),
        format!("handfast user suspend {name}"),
        curl(visit, "GET", &format!("/accounts/{encoded}/holdings")),
    ];
    let page = LeavePage {
        frame: ConsoleFrame::new(visit, format!("{title} leaves"), MenuItem::People)
            .crumbs(crumbs)
            .errors(error.into_iter().collect())
            .same(same),
        names: registry.names_transferred_to(&me, &name, MAX_LISTED)?,
        path,
        title,
        holdings,
        to: visit.field("to").to_string(),
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn leave(visit: &Visit<'_>) -> Answered {
    need_administrator(visit)?;
    need_fresh(visit)?;
    let (registry, me) = (visit.registry(), visit.who());
    let holdings = registry.holdings(&me, visit.id())?;
    let name = holdings.account.name.clone();
    let leaver = Principal::Account(name.clone());
    if leaver == me {
        let text = "Another administrator does this for your own account.";
        return Err(PageError::new(StatusCode::FORBIDDEN, "own-account", text));
    }
    let invalid = |text: String| {
        let error = FieldError::new("to", text);
        leave_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
    };
    let is_chosen = |what: &str| visit.fields("do").any(|chosen| chosen == what);
    let needs_successor = is_chosen("names") || is_chosen("give-roles");
    let successor = match Principal::parse(visit.field("to")) {
        Ok(to) if to == leaver => return invalid("Name somebody else.".to_string()),
        Ok(to) => Some(to),
        Err(_) if needs_successor => {
            return invalid("Write who takes over: an account, or group:NAME.".to_string());
        }
        Err(_) => None,
    };
    if let Some(to) = &successor
        && !exists(visit, to)?
    {
        return invalid(nobody_called(to));
    }
    let mut is_more = false;
    if let (true, Some(to)) = (is_chosen("names"), &successor) {
        let names = registry.names_transferred_to(&me, &name, MAX_NAMES + 1)?;
        is_more = names.len() > MAX_NAMES;
        for id in names.iter().take(MAX_NAMES) {
            let transfer = NameAction::Transfer {
                to: to.clone(),
                creates_account: false,
            };
            registry.change_name(&me, id, None, transfer)?;
        }
    }
    if is_chosen("give-roles") || is_chosen("revoke-roles") {
        let to = successor.as_ref().filter(|_| is_chosen("give-roles"));
        end_roles(visit, &holdings, &leaver, to)?;
    }
    if is_chosen("groups") {
        for group in &holdings.groups {
            let removed = registry.remove_from_group(&me, group, &name);
            unless(removed, "no-member")?;
        }
    }
    if is_chosen("tokens") {
        for token in &holdings.tokens {
            let revoked = registry.revoke_token(&me, &token.id).map(drop);
            unless(revoked, "no-token")?;
        }
    }
    if is_chosen("suspend") {
        let change = AccountChange {
            suspended: Some(true),
            ..AccountChange::default()
        };
        registry.change_account(&me, &name, &change)?;
    }
    let done = if is_more { "left-more" } else { "left" };
    let path = path_of_person(&leaver);
    Ok(see(&format!("{path}?done={done}")))
}

/// Revokes the roles that were granted to the person, after a successor has them.
fn end_roles(
    visit: &Visit<'_>,
    holdings: &Holdings,
    leaver: &Principal,
    successor: Option<&Principal>,
) -> Result<(), PageError> {
    let (registry, me) = (visit.registry(), visit.who());
    for role in holdings.roles.iter().filter(|role| role.through.is_none()) {
        if let Some(to) = successor {
            let has = registry.rights_on(to, &role.authority)?;
            if !has.has(role.role) {
                let grant = AuthorityAction::Grant {
                    to: to.clone(),
                    role: role.role,
                    creates_account: false,
                };
                registry.act_on_authority(&me, &role.authority, None, grant)?;
            }
        }
        let revoke = AuthorityAction::Revoke {
            from: leaver.clone(),
            role: Some(role.role),
        };
        let revoked = registry.act_on_authority(&me, &role.authority, None, revoke);
        unless(revoked, "no-grant")?;
    }
    Ok(())
}

/// What is done already is no error: the button may be pressed twice.
fn unless(done: Result<(), RegistryError>, code: &str) -> Result<(), PageError> {
    match done {
        Err(error) if error.code() == code => Ok(()),
        done => Ok(done?),
    }
}

fn exists(visit: &Visit<'_>, who: &Principal) -> Result<bool, PageError> {
    let found = match who {
        Principal::Account(name) => visit.registry().account(name).map(drop),
        Principal::Group(name) => visit.registry().group(name).map(drop),
        _ => Ok(()),
    };
    match found {
        Ok(()) => Ok(true),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(_) => Ok(false),
    }
}
