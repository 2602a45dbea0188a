//! Groups, reasons of roles, and requests for access.

use handfast_api as api;
use handfast_registry::{
    AccessRequest, AccessRequestStatus, AccountRole, AuthorityRequest, AuthorityRequestStatus,
    Group, Holdings, PersonHere, Reason, Registry, Token, rfc3339,
};

use super::{account, account_state, role, token};

pub(in crate::http::api_v1) fn group(group: &Group) -> api::Group {
    api::Group {
        created: rfc3339(group.created),
        group: group.name.clone(),
        members: group.members.clone(),
        title: group.title.clone(),
    }
}

pub(in crate::http::api_v1) fn role_on(granted: &AccountRole) -> api::RoleOn {
    api::RoleOn {
        authority: granted.authority.clone(),
        role: role(granted.role),
        through: granted.through.clone(),
    }
}

pub(in crate::http::api_v1) fn reason(reason: &Reason) -> api::RoleReason {
    let authority = Some(reason.authority.clone());
    api::RoleReason {
        administrator: reason.is_administrator,
        authority: authority.filter(|_| !reason.is_administrator),
        granted: reason.granted_at.map(rfc3339),
        granted_by: reason.granted_by.as_ref().map(ToString::to_string),
        inherited: reason.is_inherited,
        joined: reason.joined_at.map(rfc3339),
        joined_by: reason.joined_by.as_ref().map(ToString::to_string),
        reason: reason.reason.clone(),
        role: role(reason.role),
        through: reason.through.clone(),
    }
}

pub(in crate::http::api_v1) fn person(person: &PersonHere) -> api::Person {
    api::Person {
        reason: reason(&person.reason),
        state: account_state(person.is_suspended),
        title: person.title.clone(),
        who: person.who.to_string(),
    }
}

pub(in crate::http::api_v1) fn holdings(holdings: &Holdings, registry: &Registry) -> api::Holdings {
    let token = |given: &Token| token(given, registry);
    api::Holdings {
        account: account(&holdings.account, registry),
        all_names_counted: holdings.is_complete,
        groups: holdings.groups.clone(),
        names: holdings.names,
        roles: holdings.roles.iter().map(role_on).collect(),
        tokens: holdings.tokens.iter().map(token).collect(),
    }
}

pub(in crate::http::api_v1) fn access_request(request: &AccessRequest) -> api::AccessRequest {
    let (status, decided, reason) = match &request.status {
        AccessRequestStatus::Open => (api::AccessRequestStatus::Open, None, None),
        AccessRequestStatus::Granted { by, at } => {
            (api::AccessRequestStatus::Granted, Some((by, *at)), None)
        }
        AccessRequestStatus::Declined { by, at, reason } => {
            let status = api::AccessRequestStatus::Declined;
            (status, Some((by, *at)), Some(reason.clone()))
        }
    };
    api::AccessRequest {
        account: request.account.clone(),
        authority: request.authority.clone(),
        created: rfc3339(request.created),
        decided: decided.map(|(_, at)| rfc3339(at)),
        decided_by: decided.map(|(by, _)| by.to_string()),
        decline_reason: reason,
        reason: request.reason.clone(),
        request: request.id.clone(),
        role: role(request.role),
        status,
    }
}

pub(in crate::http::api_v1) fn authority_request(
    request: &AuthorityRequest,
) -> api::AuthorityRequest {
    let (status, decided, reason) = match &request.status {
        AuthorityRequestStatus::Open => (api::AuthorityRequestStatus::Open, None, None),
        AuthorityRequestStatus::Approved { by, at } => {
            (api::AuthorityRequestStatus::Approved, Some((by, *at)), None)
        }
        AuthorityRequestStatus::Declined { by, at, reason } => {
            let status = api::AuthorityRequestStatus::Declined;
            (status, Some((by, *at)), Some(reason.clone()))
        }
    };
    api::AuthorityRequest {
        account: request.by.to_string(),
        authority: request.authority.clone(),
        created: rfc3339(request.created),
        decided: decided.map(|(_, at)| rfc3339(at)),
        decided_by: decided.map(|(by, _)| by.to_string()),
        decline_reason: reason,
        reason: request.reason.clone(),
        status,
        title: request.title.clone(),
    }
}
