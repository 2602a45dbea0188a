//! Who may do what on an authority: granting, revoking, deciding requests.

use crate::access::account::no_account;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{AuthorityStatus, Grant, Role};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;

impl ChangeSet<'_> {
    pub(crate) fn decide_request(
        &mut self,
        path: &AuthorityPath,
        approve: bool,
    ) -> Result<(), RegistryError> {
        let mut authority = self.existing_authority(path)?;
        self.need_over_child(path, authority.parent.clone().as_ref())?;
        let AuthorityStatus::Requested { by } = authority.status.clone() else {
            return Err(RegistryError::policy(
                "not-requested",
                format!("nobody waits for {path}"),
            ));
        };
        if !approve {
            self.store_authority(authority, Action::DeclineAuthority)?;
            self.forget_authority(path);
            return Ok(());
        }
        if by == *self.who() && by != Principal::Operator {
            let problem = "someone else must approve what you have asked for";
            return Err(RegistryError::policy("own-request", problem));
        }
        authority.status = AuthorityStatus::Active;
        if by != Principal::Operator {
            authority.grants.push(Grant {
                to: by,
                role: Role::Admin,
            });
        }
        self.store_authority(authority, Action::ApproveAuthority)?;
        self.home(path)
    }

    /// Whoever may create an authority need not decide on a request for it first: creating it declines the request,
    /// which is an event of its own. Says whose it was.
    pub(crate) fn decline_in_passing(
        &mut self,
        path: &AuthorityPath,
    ) -> Result<Option<Principal>, RegistryError> {
        let Some(authority) = self.authority(path)? else {
            return Ok(None);
        };
        let AuthorityStatus::Requested { by } = authority.status.clone() else {
            return Ok(None);
        };
        self.store_authority(authority, Action::DeclineAuthority)?;
        self.forget_authority(path);
        Ok(Some(by))
    }

    pub(crate) fn grant(
        &mut self,
        path: &AuthorityPath,
        to: Principal,
        role: Role,
        creates_account: bool,
    ) -> Result<(), RegistryError> {
        self.change_grants(path, Action::Grant, move |change_set, grants| {
            if matches!(to, Principal::Account(_)) && change_set.account(&to)?.is_none() {
                // A typing error would make an account, with a role, that nobody can remove again.
                if !creates_account {
                    return Err(no_account(&to));
                }
                change_set.need_administrator()?;
                change_set.ensure_account(&to)?;
            }
            // Lowering someone's role takes the right to give the one they had.
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
    ) -> Result<(), RegistryError> {
        let action = Action::TransferAuthority;
        self.change_grants(path, action, move |change_set, grants| {
            change_set.ensure_account(&to)?;
            grants.retain(|grant| grant.to != to && grant.role != Role::Admin);
            grants.push(Grant {
                to,
                role: Role::Admin,
            });
            Ok(Role::Admin)
        })
    }

    /// Changes grants; `change` says the highest role that it touches, which whoever asks must be able to
    /// give: a `lead` up to `lead`, an `admin` all.
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
