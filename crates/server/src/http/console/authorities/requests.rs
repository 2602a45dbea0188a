//! `/console/authorities/{a}/requests`: who asks for a role here or for an authority below.

use askama::Template;
use handfast_registry::{
    AccessDecision, AccessRequest, AccessRequestStatus, AuthorityAction, AuthorityRequest,
    AuthorityRequestStatus, Principal, Role,
};
use hyper::StatusCode;

use super::here::{Answered, AuthorityHead, Here, curl, flash, is_wrong_input, titled};
use super::path_of;
use crate::http::console::again::need_fresh_for_admin;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, FieldError};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;

const DONE: &[(&str, &str, &str)] = &[
    (
        "granted",
        "Granted.",
        "The role counts from now on, here and below.",
    ),
    (
        "declined",
        "Declined.",
        "The person who asked reads your reason.",
    ),
    (
        "approved",
        "Approved.",
        "The person who asked is its admin from now on.",
    ),
    ("taken-back", "Taken back.", "Nobody needs to decide it."),
];

#[derive(Template)]
#[template(path = "console/authorities/requests.html")]
struct RequestsPage<'a> {
    frame: ConsoleFrame<'a>,
    head: AuthorityHead,
    waiting: Vec<RequestHere>,
    own: Vec<RequestHere>,
}

/// A request, for a role or for an authority.
struct RequestHere {
    /// `access` or `authority`.
    kind: &'static str,
    /// The id of the request, or the path of the authority.
    id: String,
    by: String,
    /// The role, or nothing.
    role: &'static str,
    authority: String,
    title: String,
    reason: String,
    created: u64,
    is_open: bool,
    answer: String,
}

pub(super) fn show(visit: &Visit<'_>) -> Answered {
    requests_page(visit, StatusCode::OK, None)
}

fn requests_page(visit: &Visit<'_>, status: StatusCode, error: Option<FieldError>) -> Answered {
    let here = Here::load(visit)?;
    let (registry, who, id) = (visit.registry(), visit.who(), here.id());
    let (mut waiting, mut own) = (Vec::new(), Vec::new());
    for request in registry.access_requests(&who)? {
        if request.authority != id {
            continue;
        }
        let is_own = Principal::account(&request.account).is_ok_and(|asker| asker == who);
        let shown = shown_access(visit, request);
        if is_own {
            own.push(shown);
        } else {
            waiting.push(shown);
        }
    }
    for request in registry.authority_requests(&who)? {
        if request.parent.as_ref() != Some(&id) && request.authority != id {
            continue;
        }
        let is_own = request.by == who;
        let shown = shown_authority(visit, request);
        if is_own {
            own.push(shown);
        } else {
            waiting.push(shown);
        }
    }
    if waiting.is_empty() && own.is_empty() && !here.rights.is_over {
        here.need(Role::Lead)?;
    }
    let same = [
        "handfast access list".to_string(),
        "handfast authority requests".to_string(),
        curl(visit, "GET", "/access-requests"),
        curl(visit, "GET", "/authority-requests"),
    ];
    let page = RequestsPage {
        frame: here
            .frame(visit, "Requests")
            .flash(flash(visit, DONE))
            .errors(error.into_iter().collect())
            .same(same),
        head: here.head(visit, "Requests")?,
        waiting,
        own,
    };
    Ok(page.frame.respond(status, &page))
}

fn name_of(visit: &Visit<'_>, who: &Principal) -> String {
    match who {
        Principal::Account(name) => {
            let account = visit.registry().account(name);
            titled(account.as_ref().map_or("", |account| &account.title), name)
        }
        other => other.to_string(),
    }
}

fn shown_access(visit: &Visit<'_>, request: AccessRequest) -> RequestHere {
    let answer = match &request.status {
        AccessRequestStatus::Open => String::new(),
        AccessRequestStatus::Granted { by, .. } => {
            format!("Granted by {}.", name_of(visit, by))
        }
        AccessRequestStatus::Declined { by, reason, .. } => {
            declined_words(&name_of(visit, by), reason)
        }
    };
    RequestHere {
        kind: "access",
        by: name_of(visit, &Principal::Account(request.account)),
        role: request.role.as_str(),
        is_open: answer.is_empty(),
        answer,
        id: request.id,
        authority: request.authority,
        title: String::new(),
        reason: request.reason,
        created: request.created,
    }
}

fn shown_authority(visit: &Visit<'_>, request: AuthorityRequest) -> RequestHere {
    let answer = match &request.status {
        AuthorityRequestStatus::Open => String::new(),
        AuthorityRequestStatus::Approved { by, .. } => {
            format!("Approved by {}.", name_of(visit, by))
        }
        AuthorityRequestStatus::Declined { by, reason, .. } => {
            declined_words(&name_of(visit, by), reason)
        }
    };
    RequestHere {
        kind: "authority",
        by: name_of(visit, &request.by),
        role: "",
        is_open: answer.is_empty(),
        answer,
        id: request.authority.clone(),
        authority: request.authority,
        title: request.title,
        reason: request.reason,
        created: request.created,
    }
}

fn declined_words(by: &str, reason: &str) -> String {
    if reason.is_empty() {
        format!("Declined by {by}.")
    } else {
        format!("Declined by {by}: {reason}")
    }
}

pub(super) fn decide(visit: &Visit<'_>) -> Answered {
    let here = Here::load(visit)?;
    let (registry, who) = (visit.registry(), visit.who());
    let (kind, id, decision) = (
        visit.field("kind"),
        visit.field("request"),
        visit.field("decision"),
    );
    let reason = visit.field("reason").to_string();
    if decision == "decline" && reason.is_empty() {
        let field = format!("reason-{id}");
        let text = "Say why. The person who asked reads it.";
        let error = FieldError::new(field, text);
        return requests_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error));
    }
    let (done, word) = match (kind, decision) {
        ("access", "grant") => {
            need_fresh_for_admin(visit, id)?;
            let done = registry.decide_access_request(&who, id, AccessDecision::Grant);
            (done, "granted")
        }
        ("access", _) => {
            let decline = AccessDecision::Decline { reason };
            let done = registry.decide_access_request(&who, id, decline);
            (done, done_word(decision))
        }
        ("authority", "grant") => {
            let approve = AuthorityAction::Approve;
            let done = registry.act_on_authority(&who, id, None, approve);
            (done, "approved")
        }
        ("authority", _) => {
            let decline = AuthorityAction::Decline { reason };
            let done = registry.act_on_authority(&who, id, None, decline);
            (done, done_word(decision))
        }
        _ => return Err(PageError::not_found("There is no such request.")),
    };
    match done {
        // Two people decided at once, or one pressed the button twice.
        Err(error) if matches!(error.code(), "decided" | "not-requested" | "no-authority") => {
            let text = "It is decided already.";
            let error = FieldError::new("", text);
            return requests_page(visit, StatusCode::CONFLICT, Some(error));
        }
        Err(error) if is_wrong_input(&error) => {
            let error = FieldError::new("", message(&error));
            return requests_page(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(error));
        }
        done => done?,
    }
    let is_gone = kind == "authority" && word != "approved" && id == here.id();
    Ok(see(&if is_gone {
        "/console/authorities?done=declined".to_string()
    } else if word == "approved" {
        format!("{}?done=approved", path_of(id))
    } else {
        format!("{}/requests?done={word}", here.path())
    }))
}

fn done_word(decision: &str) -> &'static str {
    if decision == "take-back" {
        "taken-back"
    } else {
        "declined"
    }
}
