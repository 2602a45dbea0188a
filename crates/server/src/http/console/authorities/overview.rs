//! `/console/authorities/{a}`: what an authority is, and what the person may do there.

use askama::Template;
use handfast_registry::{
    AccessRequest, AccessRequestStatus, AuthorityStatus, PersonHere, Principal, Role, StateCounts,
};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, because, curl, flash, titled};
use crate::http::console::frame::ConsoleFrame;
use crate::http::console::visit::Visit;
use crate::http::pages::authority::AuthorityWords;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};

/// Messages of actions that lead here.
const DONE: &[(&str, &str, &str)] = &[
    ("created", "Made.", "Names can be made here from now on."),
    (
        "requested",
        "Asked for.",
        "Somebody decides it. The answer is on this page.",
    ),
    (
        "asked",
        "Asked.",
        "The people who lead here see your request in their inbox.",
    ),
    (
        "approved",
        "Approved.",
        "The person who asked is its admin from now on.",
    ),
    (
        "retired",
        "Retired.",
        "Its names keep resolving. Nothing new is named here.",
    ),
    ("transferred", "Transferred.", "It has another admin now."),
];

#[derive(Template)]
#[template(path = "console/authorities/overview.html")]
struct OverviewOfAuthority<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    meaning: String,
    contact: String,
    created: u64,
    counts: Option<ShownCounts>,
    /// What the person may do here, and why.
    role: Option<ShownOwnRole>,
    /// Who can grant more, if the person may know.
    can_grant: String,
    /// The next role to ask for.
    ask_for: Option<&'static str>,
    /// Pages that change it, with their words.
    changes: Vec<(String, &'static str)>,
    /// Who has asked for it, and whether the person decides that.
    requested: Option<(String, bool)>,
    /// The open request of the person for a role here.
    asked: Option<AccessRequest>,
    has_own_requests: bool,
    /// Whether the person may list the names.
    may_read: bool,
}

struct ShownCounts {
    active: u64,
    withdrawn: u64,
    /// Only for those with a role.
    reserved: Option<u64>,
    with_children: u64,
    as_of_event: u64,
}

struct ShownOwnRole {
    role: &'static str,
    words: &'static str,
    because: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let (registry, who, id) = (visit.registry(), visit.who(), here.id());
    let requested = match &here.authority.status {
        AuthorityStatus::Requested { by } => Some((by.to_string(), here.rights.is_over)),
        _ => None,
    };
    let is_seen = here.has(Role::Read);
    let counts = if requested.is_some() {
        None
    } else {
        let counts = registry.counts(&id)?;
        let visible = |of: StateCounts| if is_seen { of.total() } else { of.public() };
        Some(ShownCounts {
            active: counts.active,
            withdrawn: counts.withdrawn,
            reserved: is_seen.then_some(counts.reserved),
            with_children: visible(counts.with_children),
            as_of_event: counts.as_of_event,
        })
    };
    let reasons = registry.why(&who, &who, &id)?;
    let role = reasons.first().map(|reason| ShownOwnRole {
        role: reason.role.as_str(),
        words: in_words(reason.role),
        because: because(reason),
    });
    let is_active = here.is_active();
    let ask_for = match here.rights.role {
        _ if !is_active => None,
        None | Some(Role::Read) => Some("write"),
        Some(Role::Write) => Some("lead"),
        _ => None,
    };
    let mut own = registry.access_requests(&who)?;
    own.retain(|request| {
        let is_own = Principal::account(&request.account).is_ok_and(|asker| asker == who);
        is_own && request.authority == id
    });
    let encoded = encode(&id, COMPONENT);
    let same = [
        format!("handfast authority show '{id}'"),
        curl(visit, "GET", &format!("/authorities/{encoded}")),
    ];
    let page = OverviewOfAuthority {
        frame: here.frame(visit, "").flash(flash(visit, DONE)).same(same),
        head: here.head(visit, "Overview")?,
        meaning: here.authority.meaning.clone(),
        contact: AuthorityWords::new(visit.web, &here.authority)
            .contact
            .unwrap_or_default(),
        created: here.authority.created,
        counts,
        can_grant: can_grant(visit, &here)?,
        ask_for,
        changes: changes(&here),
        requested,
        role,
        has_own_requests: !own.is_empty(),
        may_read: is_seen,
        asked: own
            .into_iter()
            .find(|request| request.status == AccessRequestStatus::Open),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

/// The pages on which the person may change the authority.
fn changes(here: &Here) -> Vec<(String, &'static str)> {
    let is_over = here.rights.is_over;
    let all = [
        (
            "policy",
            "Title, contact and policy",
            here.has(Role::Lead) || is_over,
        ),
        ("transfer", "Transfer it…", here.has(Role::Admin)),
        ("retire", "Retire it…", is_over),
    ];
    let path = here.path();
    let may = all
        .into_iter()
        .filter(|(_, _, may)| *may && here.is_active());
    may.map(|(page, words, _)| (format!("{path}/{page}"), words))
        .collect()
}

/// What a role is for.
pub(super) fn in_words(role: Role) -> &'static str {
    match role {
        Role::Read => "You may see reserved names and lists here.",
        Role::Write => "You may make, change and withdraw names here.",
        Role::Lead => "You may also make authorities below, and grant roles up to lead.",
        Role::Admin => "You may do everything here.",
    }
}

/// Who can grant a role: those who lead here, by name only for people with a role.
pub(super) fn can_grant(visit: &Visit<'_>, here: &Here) -> Result<String, super::PageError> {
    let fallback = "An administrator";
    if !here.has(Role::Read) {
        return Ok("Somebody who leads here, or an administrator,".to_string());
    }
    let who = visit.who();
    let people = visit.registry().people(&who, &here.id())?;
    let leads = people.into_iter().filter(|person: &PersonHere| {
        person.reason.role >= Role::Lead && !person.is_suspended && person.who != who
    });
    let names: Vec<_> = leads
        .take(3)
        .map(|person| titled(&person.title, &person.who.to_string()))
        .collect();
    if names.is_empty() {
        return Ok(fallback.to_string());
    }
    Ok(names.join(" or "))
}
