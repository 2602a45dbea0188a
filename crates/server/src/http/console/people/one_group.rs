//! `/console/groups/{name}`: the members of a group, and where it has roles.

use askama::Template;
use handfast_registry::Principal;
use hyper::StatusCode;

use super::groups::seen_group;
use super::{path_of_group, path_of_person};
use crate::http::console::authorities::{Answered, curl, flash, is_wrong_input, path_of, titled};
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

/// How many members and roles a page has.
const MAX_LISTED: usize = 200;

const DONE: &[(&str, &str, &str)] = &[
    (
        "created",
        "Made.",
        "Add members, then grant it roles on the pages of authorities.",
    ),
    (
        "added",
        "Added.",
        "The person has all roles of the group from now on.",
    ),
    (
        "removed",
        "Removed.",
        "The person has lost the roles of the group.",
    ),
];

#[derive(Template)]
#[template(path = "console/people/group.html")]
struct GroupPage<'a> {
    frame: ConsoleFrame<'a>,
    path: String,
    name: String,
    title: String,
    created: u64,
    members: Vec<ShownMember>,
    member_count: usize,
    roles: Vec<(String, String, &'static str)>,
    account: String,
    may_change: bool,
}

struct ShownMember {
    path: String,
    name: String,
    title: String,
    has_title: bool,
    is_suspended: bool,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    group_page(visit, StatusCode::OK, None)
}

fn group_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let registry = visit.registry();
    let (group, may_change) = seen_group(visit)?;
    let name = group.name.clone();
    let shown = group.members.iter().take(MAX_LISTED).map(|member| {
        let account = registry.account(member).ok();
        let title = account.as_ref().map_or("", |account| &account.title);
        ShownMember {
            path: path_of_person(&Principal::Account(member.clone())),
            has_title: !title.trim().is_empty(),
            title: titled(title, member),
            is_suspended: account.as_ref().is_some_and(|found| found.is_suspended),
            name: member.clone(),
        }
    });
    let members = shown.collect();
    let roles = registry.roles_granted_to(&Principal::Group(name.clone()), MAX_LISTED)?;
    let roles = roles.into_iter().map(|role| {
        let path = path_of(&role.authority);
        (role.authority, path, role.role.as_str())
    });
    let crumbs = [
        Crumb::new("Groups", "/console/groups"),
        Crumb::new(name.clone(), ""),
    ];
    let encoded = encode(&name, COMPONENT);
    let same = [
        format!("handfast group show {name}"),
        format!("handfast group add {name} ACCOUNT"),
        curl(visit, "GET", &format!("/groups/{encoded}")),
    ];
    let page = GroupPage {
        frame: ConsoleFrame::new(visit, titled(&group.title, &name), MenuItem::People)
            .crumbs(crumbs)
            .flash(flash(visit, DONE))
            .errors(error.into_iter().collect())
            .same(same),
        path: path_of_group(&name),
        title: titled(&group.title, &name),
        name,
        created: group.created,
        members,
        member_count: group.members.len(),
        roles: roles.collect(),
        account: visit.field("account").to_string(),
        may_change,
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn add(visit: &Visit<'_>) -> Answered {
    let (group, _) = seen_group(visit)?;
    let account = visit.field("account");
    let added = visit
        .registry()
        .add_to_group(&visit.who(), &group.name, account);
    let text = match added {
        Ok(()) => {
            let path = path_of_group(&group.name);
            return Ok(see(&format!("{path}?done=added")));
        }
        Err(error) if is_wrong_input(&error) => message(&error),
        Err(error) => return Err(error.into()),
    };
    let error = FieldError::new("account", text);
    group_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error))
}

pub(super) fn remove(visit: &Visit<'_>) -> Answered {
    let (group, _) = seen_group(visit)?;
    let removed =
        visit
            .registry()
            .remove_from_group(&visit.who(), &group.name, visit.field("account"));
    match removed {
        // The button was pressed twice.
        Err(error) if error.code() == "no-member" => {}
        removed => removed?,
    }
    let path = path_of_group(&group.name);
    Ok(see(&format!("{path}?done=removed")))
}
