//! `/api/v1/authorities`.

use std::ops::ControlFlow;

use handfast_api::{self as api, PolicyChange};
use handfast_registry::{
    Authority, AuthorityAction, AuthorityChange, NewAuthority, Persistence, Principal,
    RegistryError,
};

use super::call::{Answer, Call, parse};
use super::convert;
use super::names::principal;
use super::problem::Problem;

/// A change of the policy alone.
fn policy_change(given: PolicyChange) -> AuthorityChange {
    AuthorityChange {
        case_sensitive: given.case.map(|case| case == api::CaseRule::Sensitive),
        persistence: given.persistence.map(|persistence| match persistence {
            api::Persistence::Erasable => Persistence::Erasable,
            api::Persistence::Permanent => Persistence::Permanent,
        }),
        cordra: given.profile.map(|profile| profile == api::Profile::Cordra),
        pattern: given
            .pattern
            .map(|pattern| Some(pattern).filter(|text| !text.is_empty())),
        approval: given.approval,
        default_ttl: given.ttl,
        ..AuthorityChange::default()
    }
}

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let limit = call.limit()?;
    let (mut page, mut bytes, mut next) = (Vec::new(), 0, None);
    let registry = call.registry();
    registry.visit_authorities(call.query("after"), &mut |authority| {
        bytes += size(&authority);
        if !page.is_empty() && (page.len() == limit || bytes > MAX_PAGE_BYTES) {
            next = page
                .last()
                .map(|last: &Authority| last.path.key().to_string());
            return ControlFlow::Break(());
        }
        page.push(authority);
        ControlFlow::Continue(())
    })?;
    let rules = registry.rules();
    let mut shown = Vec::with_capacity(page.len());
    for mut authority in page {
        // Each as the caller may see it. Requests for authorities are not public.
        match registry.authority(&call.who, authority.path.key()) {
            Ok(seen) => authority = seen,
            Err(RegistryError::NoAuthority(_)) => continue,
            Err(_) => authority.grants.clear(),
        }
        shown.push(convert::authority(&authority, &rules));
    }
    Ok(Answer::json(&api::AuthorityPage {
        authorities: shown,
        next,
    }))
}

/// How many bytes of text the authorities of one page have, unless one alone has more.
const MAX_PAGE_BYTES: usize = 512 << 10;

fn size(authority: &Authority) -> usize {
    let texts = [&authority.title, &authority.meaning, &authority.contact];
    let texts: usize = texts.iter().map(|text| text.len()).sum();
    texts + 100 * (1 + authority.grants.len())
}

pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewAuthority = call.read()?;
    let new = NewAuthority {
        title: given.title.unwrap_or_default(),
        meaning: given.meaning.unwrap_or_default(),
        contact: given.contact.unwrap_or_default(),
        reason: given.reason.unwrap_or_default(),
        change: policy_change(given.policy),
    };
    let registry = call.registry();
    let mut declined = None;
    let path = if given.request {
        // A token that is for something else is not for this.
        if matches!(call.who, Principal::Limited { .. }) {
            let problem = "a token that is limited asks for no authorities";
            return Err(Problem::policy("not-yours", problem));
        }
        registry.request_authority(&call.who, &given.authority, new)?
    } else {
        let (path, requested_by) =
            registry.create_authority_over(&call.who, &given.authority, new)?;
        declined = requested_by;
        path
    };
    let authority = registry.authority(&call.who, &path.to_string())?;
    let body = api::Authority {
        declined_request_of: declined.map(|by| by.to_string()),
        ..convert::authority(&authority, &registry.rules())
    };
    let answer = Answer::json(&body).version(authority.version);
    Ok(answer.created("authorities", &path.to_string()))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let authority = call.registry().authority(&call.who, call.id())?;
    Ok(call.versioned(
        authority.version,
        &convert::authority(&authority, &call.registry().rules()),
    ))
}

pub(super) fn change(call: &Call) -> Result<Answer, Problem> {
    let given: api::AuthorityChange = call.read()?;
    let change = AuthorityChange {
        title: given.title,
        meaning: given.meaning,
        contact: given.contact,
        expects: call.expected()?,
        ..policy_change(given.policy)
    };
    call.registry()
        .change_authority(&call.who, call.id(), change)?;
    shown(call)
}

pub(super) fn decline(call: &Call) -> Result<Answer, Problem> {
    let api::NewDecline { reason } = call.read_or_default()?;
    perform(call, AuthorityAction::Decline { reason })?;
    Ok(Answer::done())
}

/// The open requests that the caller may decide, and its own.
pub(super) fn requests(call: &Call) -> Result<Answer, Problem> {
    let requests = call.registry().authority_requests(&call.who)?;
    let requests: Vec<_> = requests.iter().map(convert::authority_request).collect();
    Ok(Answer::json(&requests))
}

pub(super) fn retire(call: &Call) -> Result<Answer, Problem> {
    let keep_children = call.flag("keep-children")?;
    act(call, AuthorityAction::Retire { keep_children })
}

pub(super) fn transfer(call: &Call) -> Result<Answer, Problem> {
    let given: api::Transfer = call.read()?;
    let transfer = AuthorityAction::Transfer {
        to: principal(&given.to)?,
        creates_account: given.create,
    };
    act(call, transfer)
}

pub(super) fn grant(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewGrant = call.read()?;
    let grant = AuthorityAction::Grant {
        role: parse(&given.role)?,
        to: principal(call.path.get(1).map_or("", String::as_str))?,
        creates_account: given.create,
    };
    act(call, grant)
}

pub(super) fn revoke(call: &Call) -> Result<Answer, Problem> {
    let from = principal(call.path.get(1).map_or("", String::as_str))?;
    let role = call.query("role").map(parse).transpose()?;
    act(call, AuthorityAction::Revoke { from, role })
}

pub(super) fn act(call: &Call, action: AuthorityAction) -> Result<Answer, Problem> {
    perform(call, action)?;
    shown(call)
}

fn perform(call: &Call, action: AuthorityAction) -> Result<(), Problem> {
    let expected = call.expected()?;
    let registry = call.registry();
    registry.act_on_authority(&call.who, call.id(), expected, action)?;
    Ok(())
}

/// Who has which role, by a grant there or above.
pub(super) fn grants(call: &Call) -> Result<Answer, Problem> {
    let mut listed = Vec::new();
    let mut next = Some(call.id().to_string());
    while let Some(path) = next {
        let authority = match call.registry().authority(&call.who, &path) {
            // What is above need not be kept here.
            Err(_) if !listed.is_empty() => break,
            found => found?,
        };
        let on = authority.path.to_string();
        let grants = authority.grants.iter();
        listed.extend(grants.map(|grant| api::GrantOn {
            authority: on.clone(),
            role: convert::role(grant.role),
            to: grant.to.to_string(),
        }));
        next = authority.parent.map(|parent| parent.to_string());
    }
    Ok(Answer::json(&listed))
}

/// An authority as it is now.
fn shown(call: &Call) -> Result<Answer, Problem> {
    let authority = call.registry().authority(&call.who, call.id())?;
    let body = convert::authority(&authority, &call.registry().rules());
    Ok(Answer::json(&body).version(authority.version))
}
