//! `/console/groups`: all groups for administrators, their own for others.

use askama::Template;
use handfast_registry::{Group, Principal};
use hyper::StatusCode;

use super::path_of_group;
use crate::http::console::authorities::{Answered, curl, titled};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, MenuItem};
use crate::http::console::visit::Visit;

/// How many groups a page has.
const MAX_LISTED: usize = 200;

#[derive(Template)]
#[template(path = "console/people/groups.html")]
struct GroupsPage<'a> {
    frame: ConsoleFrame<'a>,
    groups: Vec<ListedGroup>,
    total: usize,
    q: String,
    is_administrator: bool,
}

struct ListedGroup {
    path: String,
    name: String,
    title: String,
    has_title: bool,
    members: usize,
}

/// Whether an account is in a group.
pub(super) fn is_member(who: &Principal, group: &Group) -> bool {
    let mut members = group.members.iter();
    members.any(|name| Principal::account(name).is_ok_and(|member| member == *who))
}

/// A group that the person may see.
pub(super) fn seen_group(visit: &Visit<'_>) -> Result<(Group, bool), PageError> {
    let (registry, me) = (visit.registry(), visit.who());
    let is_administrator = registry.is_administrator(&me)?;
    let found = match registry.group(visit.id()) {
        Err(error) if error.is_failure() => return Err(error.into()),
        found => found.ok(),
    };
    let found = found.filter(|group| is_administrator || is_member(&me, group));
    let missing = || PageError::not_found("There is no such group, or you are not in it.");
    Ok((found.ok_or_else(missing)?, is_administrator))
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let (registry, me) = (visit.registry(), visit.who());
    let is_administrator = registry.is_administrator(&me)?;
    let q = visit.query("q").unwrap_or_default().to_string();
    let wanted = q.to_lowercase();
    let mut groups = registry.groups()?;
    groups.retain(|group| {
        let text = format!("{} {}", group.name, group.title).to_lowercase();
        (is_administrator || is_member(&me, group)) && text.contains(&wanted)
    });
    let total = groups.len();
    groups.truncate(MAX_LISTED);
    let same = [
        "handfast group list".to_string(),
        curl(visit, "GET", "/groups"),
    ];
    let page = GroupsPage {
        frame: ConsoleFrame::new(visit, "Groups", MenuItem::People).same(same),
        groups: groups
            .into_iter()
            .map(|group| ListedGroup {
                path: path_of_group(&group.name),
                title: titled(&group.title, &group.name),
                has_title: !group.title.trim().is_empty(),
                members: group.members.len(),
                name: group.name,
            })
            .collect(),
        total,
        q,
        is_administrator,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}
