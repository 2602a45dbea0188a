//! `/console/authorities/{a}/people`: who may do what here, and why.

use askama::Template;
use handfast_registry::{AuthorityAction, Grant, PersonHere, Principal, Role};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, because, curl, flash, is_wrong_input, titled};
use crate::http::console::again::need_fresh;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::{message, nobody_called, sentence};
use crate::http::console::people::path_of_person;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

/// How many people a page has.
const MAX_LISTED: usize = 200;

/// Messages of actions that lead here.
const DONE: &[(&str, &str, &str)] = &[
    (
        "granted",
        "Granted.",
        "The role counts from now on, here and below.",
    ),
    ("revoked", "Revoked.", "The role is taken away."),
];

#[derive(Template)]
#[template(path = "console/authorities/people.html")]
struct PeoplePage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    people: Vec<ShownPersonHere>,
    total: usize,
    q: String,
    to: String,
    role: String,
    may_grant: bool,
    may_grant_admin: bool,
}

struct ShownPersonHere {
    /// As grants name it.
    who: String,
    title: String,
    has_title: bool,
    /// The page of the account, or nothing.
    path: String,
    is_suspended: bool,
    role: &'static str,
    because: String,
    last_seen: Option<u64>,
    why: String,
    /// The role that was granted here to this principal, if the person may revoke it.
    revoke: Option<&'static str>,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    people_page(visit, StatusCode::OK, None)
}

fn people_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let here = Here::load(visit)?;
    let people = visit.registry().people(&visit.who(), &here.id())?;
    let groups = groups_here(visit, &here);
    let q = visit.query("q").unwrap_or_default().to_string();
    let wanted = q.to_lowercase();
    let mut rows: Vec<ShownPersonHere> = Vec::new();
    let mut total = 0;
    for person in groups.into_iter().chain(people) {
        let text = format!("{} {}", person.who, person.title).to_lowercase();
        if !text.contains(&wanted) {
            continue;
        }
        total += 1;
        if rows.len() < MAX_LISTED {
            rows.push(shown(visit, &here, &person));
        }
    }
    let (id, encoded) = (here.id(), encode(&here.id(), COMPONENT));
    let same = [
        format!("handfast authority people '{id}'"),
        format!("handfast authority grant '{id}' --to WHO --role write"),
        curl(visit, "GET", &format!("/authorities/{encoded}/people")),
    ];
    let page = PeoplePage {
        frame: here
            .frame(visit, "People")
            .flash(flash(visit, DONE))
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "People")?,
        people: rows,
        total,
        q,
        to: visit.field("to").to_string(),
        role: match visit.field("role") {
            "" => "write".to_string(),
            role => role.to_string(),
        },
        may_grant: here.is_active() && here.has(Role::Lead),
        may_grant_admin: here.has(Role::Admin),
    };
    Ok(page.frame.respond(status, &page))
}

/// The groups with a role here, in the form of people.
fn groups_here(visit: &Visit<'_>, here: &Here) -> Vec<PersonHere> {
    let (registry, who) = (visit.registry(), visit.who());
    let mut found: Vec<PersonHere> = Vec::new();
    let mut next = Some(here.authority.path.clone());
    while let Some(path) = next {
        let Ok(authority) = registry.authority(&who, &path.to_string()) else {
            break;
        };
        for grant in &authority.grants {
            let Principal::Group(name) = &grant.to else {
                continue;
            };
            let is_known = found.iter().any(|person| person.who == grant.to);
            // Why a group has its role is for those who lead here.
            let reasons = registry.why(&who, &grant.to, &here.id());
            let reason = reasons.ok().and_then(|all| all.into_iter().next());
            let reason = reason.unwrap_or_else(|| reason_of(grant, &authority.path, here));
            let title = registry.group(name).map(|group| group.title);
            if !is_known {
                found.push(PersonHere {
                    who: grant.to.clone(),
                    title: title.unwrap_or_default(),
                    is_suspended: false,
                    reason,
                });
            }
        }
        next = authority.parent;
    }
    found
}

/// The reason of a grant, as far as the grant itself tells it.
fn reason_of(
    grant: &Grant,
    on: &handfast_registry::AuthorityPath,
    here: &Here,
) -> handfast_registry::Reason {
    handfast_registry::Reason {
        is_inherited: *on != here.authority.path,
        ..handfast_registry::Reason::new(grant.role, on.to_string())
    }
}

fn shown(visit: &Visit<'_>, here: &Here, person: &PersonHere) -> ShownPersonHere {
    let who = person.who.to_string();
    let mut grants = here.authority.grants.iter();
    let granted = grants.find(|grant| grant.to == person.who);
    let is_lead = here.has(Role::Lead);
    let last_seen = match &person.who {
        Principal::Account(name) if is_lead => visit.registry().account_last_seen(name),
        _ => None,
    };
    ShownPersonHere {
        path: match &person.who {
            Principal::Account(_) | Principal::Group(_) => path_of_person(&person.who),
            _ => String::new(),
        },
        has_title: !person.title.trim().is_empty(),
        title: titled(&person.title, &who),
        is_suspended: person.is_suspended,
        role: person.reason.role.as_str(),
        because: because(&person.reason),
        last_seen,
        why: if is_lead || person.who == visit.who() {
            format!("{}/why?who={}", here.path(), encode(&who, COMPONENT))
        } else {
            String::new()
        },
        revoke: granted
            .filter(|grant| here.may_grant(grant.role))
            .map(|grant| grant.role.as_str()),
        who,
    }
}

pub(super) fn grant(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    here.need(Role::Lead)?;
    let invalid = |field: &str, text: String| {
        let error = FieldError::new(field, text);
        people_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
    };
    let to = match Principal::parse(visit.field("to")) {
        Ok(to) => to,
        Err(_) if visit.field("to").is_empty() => {
            return invalid("to", "Write an account, or group:NAME.".to_string());
        }
        Err(error) => return invalid("to", sentence(&error.to_string())),
    };
    let role: Role = match visit.field("role").parse() {
        Ok(role) => role,
        Err(_) => return invalid("role", "Choose a role.".to_string()),
    };
    if role == Role::Admin {
        need_fresh(visit)?;
    }
    let action = AuthorityAction::Grant {
        to: to.clone(),
        role,
        creates_account: false,
    };
    let done = visit
        .registry()
        .act_on_authority(&visit.who(), &here.id(), None, action);
    match done {
        Ok(()) => Ok(see(&format!("{}/people?done=granted", here.path()))),
        Err(error) if matches!(error.code(), "no-account" | "no-group") => {
            invalid("to", nobody_called(&to))
        }
        Err(error) if is_wrong_input(&error) => invalid("to", message(&error)),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn revoke(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let from = Principal::parse(visit.field("from"))
        .map_err(|error| super::PageError::not_found(error.to_string()))?;
    let role: Option<Role> = visit.field("role").parse().ok();
    if role == Some(Role::Admin) {
        need_fresh(visit)?;
    }
    let action = AuthorityAction::Revoke { from, role };
    let done = visit
        .registry()
        .act_on_authority(&visit.who(), &here.id(), None, action);
    match done {
        // The button was pressed twice.
        Err(error) if error.code() == "no-grant" => {}
        done => done?,
    }
    Ok(see(&format!("{}/people?done=revoked", here.path())))
}
