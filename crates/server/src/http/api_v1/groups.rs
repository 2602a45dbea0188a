//! `/api/v1/groups`.

use handfast_api as api;
use handfast_registry::{Group, Principal};

use super::call::{Answer, Call};
use super::convert;
use super::problem::Problem;

/// Administrators see all groups, others those that they are in.
pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let limit = call.limit()?;
    let after = call.query("after").unwrap_or_default().to_lowercase();
    let sees_all = call.registry().is_administrator(&call.who)?;
    let all = call.registry().groups()?;
    let rest = all
        .iter()
        .filter(|group| group.name.to_lowercase() > after)
        .filter(|group| sees_all || is_member(&call.who, group));
    let page: Vec<_> = rest.take(limit).collect();
    let next = page.last().map(|group| group.name.clone());
    let next = next.filter(|_| page.len() == limit);
    Ok(Answer::json(&api::GroupPage {
        groups: page.into_iter().map(convert::group).collect(),
        next,
    }))
}

pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewGroup = call.read()?;
    let registry = call.registry();
    registry.create_group(&call.who, &given.group, &given.title)?;
    let made = registry.group(&given.group)?;
    Ok(Answer::json(&convert::group(&made)).created("groups", &made.name))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let found = call.registry().group(call.id());
    if !call.registry().is_administrator(&call.who)?
        && !found
            .as_ref()
            .is_ok_and(|group| is_member(&call.who, group))
    {
        let problem = "this is for administrators and for the members of the group";
        return Err(Problem::policy("operator-only", problem));
    }
    Ok(Answer::json(&convert::group(&found?)))
}

pub(super) fn add(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    registry.add_to_group(&call.who, call.id(), member(call))?;
    Ok(Answer::json(&convert::group(&registry.group(call.id())?)))
}

pub(super) fn remove(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    registry.remove_from_group(&call.who, call.id(), member(call))?;
    Ok(Answer::json(&convert::group(&registry.group(call.id())?)))
}

/// The account in the path.
fn member(call: &Call) -> &str {
    call.path.get(1).map_or("", String::as_str)
}

fn is_member(who: &Principal, group: &Group) -> bool {
    let mut members = group.members.iter();
    members.any(|name| Principal::account(name).is_ok_and(|member| member == *who))
}
