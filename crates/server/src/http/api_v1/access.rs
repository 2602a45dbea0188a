//! Who has which role and why, and requests for access: `/api/v1/access-requests`, and parts of
//! `/api/v1/authorities` and `/api/v1/accounts`.

use handfast_api as api;
use handfast_registry::AccessDecision;

use super::call::{Answer, Call, parse};
use super::convert;
use super::names::principal;
use super::problem::Problem;

/// Why the caller, or somebody else, has a role.
pub(super) fn why(call: &Call) -> Result<Answer, Problem> {
    let account = match call.query("who") {
        Some(text) => principal(text)?,
        None => call.who.clone(),
    };
    let reasons = call.registry().why(&call.who, &account, call.id())?;
    let reasons: Vec<_> = reasons.iter().map(convert::reason).collect();
    Ok(Answer::json(&reasons))
}

/// Everybody who has a role.
pub(super) fn people(call: &Call) -> Result<Answer, Problem> {
    let people = call.registry().people(&call.who, call.id())?;
    let people: Vec<_> = people.iter().map(convert::person).collect();
    Ok(Answer::json(&people))
}

pub(super) fn holdings(call: &Call) -> Result<Answer, Problem> {
    let holdings = call.registry().holdings(&call.who, call.id())?;
    Ok(Answer::json(&convert::holdings(&holdings, call.registry())))
}

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let requests = call.registry().access_requests(&call.who)?;
    let requests: Vec<_> = requests.iter().map(convert::access_request).collect();
    Ok(Answer::json(&requests))
}

pub(super) fn request(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewAccessRequest = call.read()?;
    let role = parse(&given.role)?;
    let registry = call.registry();
    let made = registry.request_access(&call.who, &given.authority, role, &given.reason)?;
    Ok(Answer::json(&convert::access_request(&made)).created("access-requests", &made.id))
}

pub(super) fn grant(call: &Call) -> Result<Answer, Problem> {
    decide(call, AccessDecision::Grant)
}

pub(super) fn decline(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewDecline = call.read_or_default()?;
    let reason = given.reason;
    decide(call, AccessDecision::Decline { reason })
}

fn decide(call: &Call, decision: AccessDecision) -> Result<Answer, Problem> {
    call.registry()
        .decide_access_request(&call.who, call.id(), decision)?;
    Ok(Answer::done())
}
