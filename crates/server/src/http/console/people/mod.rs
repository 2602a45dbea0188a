//! People: accounts, groups, invitations, and what one person may do.

mod groups;
mod invite;
mod leave;
mod list;
mod new_group;
mod one_group;
mod person;
mod person_actions;

use handfast_registry::{PersonHere, Principal};

use super::error_page::PageError;
use super::page_table::{PageRoute, form, page};
use super::visit::Visit;
use crate::http::percent::{COMPONENT, encode};

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/people", list::show),
    page("/people/invite", invite::show),
    form("/people/invite", invite::send),
    page("/people/{account}", person::show),
    form("/people/{account}", person_actions::describe),
    form("/people/{account}/administrator", person_actions::administrator),
    page("/people/{account}/leave", leave::show),
    form("/people/{account}/leave", leave::leave),
    form("/people/{account}/link", person_actions::link),
    form("/people/{account}/state", person_actions::state),
    page("/groups", groups::show),
    page("/groups/new", new_group::show),
    form("/groups/new", new_group::create),
    page("/groups/{group}", one_group::show),
    form("/groups/{group}/members", one_group::add),
    form("/groups/{group}/members/remove", one_group::remove),
];

/// How many authorities are asked for the people that somebody may see.
const MAX_AUTHORITIES: usize = 50;

/// The page of an account or of a group. Names of accounts ignore case, so that an account `invite`
/// has a page, too.
pub(super) fn path_of_person(who: &Principal) -> String {
    match who {
        Principal::Group(name) => path_of_group(name),
        other => {
            let name = other.to_string();
            let name = if name == "invite" {
                name.to_uppercase()
            } else {
                name
            };
            format!("/console/people/{}", encode(&name, COMPONENT))
        }
    }
}

/// The page of a group.
pub(super) fn path_of_group(name: &str) -> String {
    let kind = if name == "new" { "group:" } else { "" };
    format!("/console/groups/{kind}{}", encode(name, COMPONENT))
}

/// The people of the authorities on which the person has a role: authority, and who has which role
/// there.
fn seen_people(visit: &Visit<'_>) -> Result<Vec<(String, PersonHere)>, PageError> {
    let (registry, who) = (visit.registry(), visit.who());
    let mut seen = Vec::new();
    for role in registry.roles_granted_to(&who, MAX_AUTHORITIES)? {
        let is_known = seen
            .iter()
            .any(|(authority, _): &(String, PersonHere)| *authority == role.authority);
        if is_known {
            continue;
        }
        let Ok(people) = registry.people(&who, &role.authority) else {
            continue;
        };
        let people = people.into_iter();
        seen.extend(people.map(|person| (role.authority.clone(), person)));
    }
    Ok(seen)
}

/// Administrators see and do more than others.
fn need_administrator(visit: &Visit<'_>) -> Result<(), PageError> {
    if visit.registry().is_administrator(&visit.who())? {
        return Ok(());
    }
    Err(PageError::new(
        hyper::StatusCode::FORBIDDEN,
        "operator-only",
        "This is for administrators of the registry. Ask one of them.",
    ))
}
