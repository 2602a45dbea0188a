//! A stored name: its record, its authority, and the right to change it.
//!
//! Each change checks the rights of the principal first and then the state of the name. It changes
//! the record in memory; the change set stores it.

use crate::access::hs_admin::touches_identities;
use crate::access::principal::Principal;
use crate::authority::policy::{Authority, Persistence, Role};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::record::{Record, State};

/// A name that exists, and its authority.
#[derive(Clone)]
pub(crate) struct Name {
    pub(crate) key: String,
    pub(crate) record: Record,
    pub(crate) authority: Authority,
}

impl Name {
    /// Activates it. Under an authority that approves its names this takes a `lead`.
    pub(crate) fn activate(&mut self, change_set: &ChangeSet<'_>) -> Result<Action, RegistryError> {
        let needs = Role::lead_if(self.authority.policy.approval);
        self.need(change_set, needs)?;
        if self.record.state != State::Reserved {
            return Err(self.in_state("only a reserved name can be activated"));
        }
        self.record.state = State::Active;
        Ok(Action::Activate)
    }

    /// Hands its administration to a principal, or back to its authority (`HDL-9`).
    pub(crate) fn transfer(
        &mut self,
        change_set: &mut ChangeSet<'_>,
        to: Option<Principal>,
        creates_account: bool,
    ) -> Result<Action, RegistryError> {
        self.need(change_set, Role::Admin)?;
        check_holder(to.as_ref())?;
        if let Some(to) = &to {
            change_set.need_or_create_account(to, creates_account)?;
        }
        self.record.holder = to;
        Ok(Action::Transfer)
    }

    /// Checks that the principal has a role on the authority, or that the name was transferred to
    /// it.
    pub(crate) fn need(
        &self,
        change_set: &ChangeSet<'_>,
        needs: Role,
    ) -> Result<(), RegistryError> {
        if needs <= Role::Write && change_set.holds(change_set.who(), needs, &self.record)? {
            return Ok(());
        }
        change_set.need(change_set.who(), needs, &self.authority.path)
    }

    /// The role that adding or removing all values takes. Changing a name that holds keys or groups
    /// of identities takes a `lead`.
    pub(crate) fn role_for_all(&self) -> Role {
        Role::lead_if(touches_identities(&[], &self.record.values))
    }

    pub(super) fn in_state(&self, way_out: &'static str) -> RegistryError {
        RegistryError::State {
            id: self.record.text.clone(),
            state: self.record.state.as_str(),
            way_out,
        }
    }

    /// The record of a prefix is never erased.
    pub(crate) fn persistence(&self) -> Persistence {
        if self.is_prefix() {
            Persistence::Permanent
        } else {
            self.authority.policy.persistence
        }
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.key.starts_with("hdl:0.NA/")
    }
}

/// Checks that a name can be transferred to a principal.
pub(crate) fn check_holder(to: Option<&Principal>) -> Result<(), RegistryError> {
    if to == Some(&Principal::Operator) {
        let problem = "the operator may do everything already: name an account or INDEX:HANDLE";
        return Err(RegistryError::policy("bad-holder", problem));
    }
    Ok(())
}

pub(crate) fn prefix_record() -> RegistryError {
    let problem = "the record of a prefix goes with its authority: retire that instead";
    RegistryError::policy("prefix-record", problem)
}
