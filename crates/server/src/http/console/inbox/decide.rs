//! Decisions on the page itself: granting, approving and declining.

use handfast_registry::{AccessDecision, AuthorityAction, RegistryError};
use hyper::{Response, StatusCode};

use super::{field_of, inbox};
use crate::http::console::again::need_fresh_for_admin;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::FieldError;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::response::Body;

pub(super) fn grant_access(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    need_fresh_for_admin(visit, visit.id())?;
    let registry = visit.registry();
    let decided = registry.decide_access_request(&visit.who(), visit.id(), AccessDecision::Grant);
    answer(decided, "granted")
}

pub(super) fn decline_access(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let reason = match reason(visit, "access") {
        Ok(reason) => reason,
        Err(wrong) => return inbox(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(wrong)),
    };
    let decision = AccessDecision::Decline { reason };
    let decided = visit
        .registry()
        .decide_access_request(&visit.who(), visit.id(), decision);
    answer(decided, "declined")
}

pub(super) fn approve_authority(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let registry = visit.registry();
    let action = AuthorityAction::Approve;
    let decided = registry.act_on_authority(&visit.who(), visit.id(), None, action);
    answer(decided, "approved")
}

pub(super) fn decline_authority(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let reason = match reason(visit, "authority") {
        Ok(reason) => reason,
        Err(wrong) => return inbox(visit, StatusCode::UNPROCESSABLE_ENTITY, Some(wrong)),
    };
    let action = AuthorityAction::Decline { reason };
    let registry = visit.registry();
    let decided = registry.act_on_authority(&visit.who(), visit.id(), None, action);
    answer(decided, "declined")
}

/// Why something is declined: the person who asked reads it.
fn reason(visit: &Visit<'_>, kind: &str) -> Result<String, FieldError> {
    match visit.field("reason") {
        "" => Err(FieldError::new(
            field_of(kind, visit.id()),
            "Say why. The person who asked reads it.",
        )),
        reason => Ok(reason.to_string()),
    }
}

/// A person who sends a form twice, or after somebody else, hears that it is decided.
fn answer(
    decided: Result<(), RegistryError>,
    word: &'static str,
) -> Result<Response<Body>, PageError> {
    match decided {
        Ok(()) => Ok(see(&format!("/console/?done={word}"))),
        Err(error) if ["decided", "not-requested"].contains(&error.code()) => {
            Ok(see("/console/?done=decided"))
        }
        Err(error) => Err(error.into()),
    }
}
