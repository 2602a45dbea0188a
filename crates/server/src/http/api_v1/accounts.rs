//! `/api/v1/accounts`.

use handfast_api as api;
use handfast_registry::{Account, AccountChange, Principal};

use super::call::{Answer, Call};
use super::convert;
use super::problem::Problem;

/// How many roles a response has.
const MAX_ROLES: usize = 1_000;

fn need_administrator(call: &Call) -> Result<(), Problem> {
    if call.registry().is_administrator(&call.who)? {
        return Ok(());
    }
    Err(Problem::policy(
        "operator-only",
        "this is for administrators",
    ))
}

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    need_administrator(call)?;
    let limit = call.limit()?;
    let after = call.query("after").unwrap_or_default().to_lowercase();
    let all = call.registry().accounts()?;
    let rest = all
        .iter()
        .filter(|account| account.name.to_lowercase() > after);
    let page: Vec<_> = rest.take(limit).collect();
    let next = page.last().map(|account| account.name.clone());
    let next = next.filter(|_| page.len() == limit);
    let shown = |account| convert::account(account, call.registry());
    Ok(Answer::json(&api::AccountPage {
        accounts: page.into_iter().map(shown).collect(),
        next,
    }))
}

pub(super) fn create(call: &Call) -> Result<Answer, Problem> {
    let given: api::NewAccount = call.read()?;
    let registry = call.registry();
    // A wrong address creates no account.
    Account::check_email(&given.email)?;
    registry.create_account(&call.who, &given.account, &given.title)?;
    if given.administrator || !given.email.is_empty() {
        let change = AccountChange {
            administrator: given.administrator.then_some(true),
            email: Some(given.email),
            ..AccountChange::default()
        };
        registry.change_account(&call.who, &given.account, &change)?;
    }
    let made = registry.account(&given.account)?;
    Ok(Answer::json(&convert::account(&made, registry)).created("accounts", &made.name))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let is_own = Principal::account(call.id()).is_ok_and(|account| account == call.who);
    if !is_own {
        need_administrator(call)?;
    }
    let account = call.registry().account(call.id())?;
    Ok(Answer::json(&convert::account(&account, call.registry())))
}

pub(super) fn change(call: &Call) -> Result<Answer, Problem> {
    let given: api::AccountChange = call.read()?;
    let change = AccountChange {
        title: given.title,
        administrator: given.administrator,
        email: given.email,
        suspended: given
            .state
            .map(|state| state == api::AccountState::Suspended),
    };
    let changed = call
        .registry()
        .change_account(&call.who, call.id(), &change)?;
    Ok(Answer::json(&convert::account(&changed, call.registry())))
}

/// Who asks, what they may do where, and what their token leaves of it.
pub(super) fn this(call: &Call) -> Result<Answer, Problem> {
    let registry = call.registry();
    let roles = registry.roles_granted_to(&call.who, MAX_ROLES)?;
    let account = registry.account(&call.who.to_string());
    let groups = match &account {
        Ok(account) => registry.groups_of(&account.name)?,
        // A handle identity is in no group.
        Err(_) => Vec::new(),
    };
    Ok(Answer::json(&api::ThisAccount {
        account: call.who.to_string(),
        administrator: registry.is_administrator(&call.who)?,
        groups,
        roles: roles.iter().map(convert::role_on).collect(),
        title: account.map(|account| account.title).unwrap_or_default(),
        token: call
            .token
            .as_ref()
            .map(|token| convert::token(token, registry)),
    }))
}
