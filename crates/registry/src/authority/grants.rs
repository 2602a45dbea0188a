//! Granting and revoking roles, and transferring an authority.

use crate::access::principal::Principal;
use crate::authority::change::AuthorityAction;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Grant, Role};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

impl Registry {
    /// Grants a role, and replaces one that was granted before. If the operator or an administrator
    /// grants it, a missing account is created; [`AuthorityAction::Grant`] can prevent that.
    pub fn grant(
        &self,
        who: &Principal,
        path: &str,
        to: &Principal,
        role: Role,
    ) -> Result<(), RegistryError> {
        let to = to.clone();
        let grant = AuthorityAction::Grant {
            to,
            role,
            creates_account: true,
        };
        self.act_on_authority(who, path, None, grant)
    }
}

impl ChangeSet<'_> {
    pub(crate) fn grant(
        &mut self,
        path: &AuthorityPath,
        to: Principal,
        role: Role,
        creates_account: bool,
    ) -> Result<(), RegistryError> {
        self.change_grants(path, Action::Grant, move |change_set, grants| {
            change_set.need_or_create_account(&to, creates_account)?;
            // Lowering a role takes the right to grant the higher one.
            let before = grants
                .iter()
                .find(|grant| grant.to == to)
                .map(|grant| grant.role);
            grants.retain(|grant| grant.to != to);
            grants.push(Grant { to, role });
            Ok(before.map_or(role, |before| before.max(role)))
        })
    }

    pub(crate) fn revoke(
        &mut self,
        path: &AuthorityPath,
        from: &Principal,
        role: Option<Role>,
    ) -> Result<(), RegistryError> {
        self.change_grants(path, Action::Revoke, move |_, grants| {
            let is_meant =
                |grant: &Grant| grant.to == *from && role.is_none_or(|role| role == grant.role);
            let Some(found) = grants
                .iter()
                .find(|grant| is_meant(grant))
                .map(|grant| grant.role)
            else {
                let problem =
                    format!("{from} has no such role there; a role above is revoked above");
                return Err(RegistryError::policy("no-grant", problem));
            };
            grants.retain(|grant| !is_meant(grant));
            Ok(found)
        })
    }

    pub(crate) fn transfer_authority(
        &mut self,
        path: &AuthorityPath,
        to: Principal,
        creates_account: bool,
    ) -> Result<(), RegistryError> {
        let action = Action::TransferAuthority;
        self.change_grants(path, action, move |change_set, grants| {
            change_set.need_or_create_account(&to, creates_account)?;
            grants.retain(|grant| grant.to != to && grant.role != Role::Admin);
            grants.push(Grant {
                to,
                role: Role::Admin,
            });
            Ok(Role::Admin)
        })
    }

    /// Changes grants. `change` returns the highest role that it touches, and the principal must
    /// have the right to grant that role: a `lead` up to `lead`, an `admin` every role.
    fn change_grants(
        &mut self,
        path: &AuthorityPath,
        action: Action,
        change: impl FnOnce(&mut Self, &mut Vec<Grant>) -> Result<Role, RegistryError>,
    ) -> Result<(), RegistryError> {
        let mut authority = self.existing_authority(path)?;
        self.need(self.who(), Role::Lead, path)?;
        let mut grants = std::mem::take(&mut authority.grants);
        let touched = change(self, &mut grants)?;
        self.need(self.who(), touched.max(Role::Lead), path)?;
        authority.grants = grants;
        self.store_authority(authority, action).map(|_| ())
    }
}
