//! Who may do what on an authority: granting, revoking, deciding requests.

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Grant, Role};
use crate::change::change_set::Draft;
use crate::error::Refusal;
use crate::log::event::Action;

impl Draft<'_> {
    /// Declines a request. Those who may create the authority do so, and the account that asked
    /// takes its own request back; returns whether that was it.
    pub(crate) fn decline_request(&mut self, path: &AuthorityPath) -> Result<bool, Refusal> {
        let (authority, by) = match self.request_for(path) {
            Ok(found) => found,
            Err(refusal) => {
                // Those without rights learn nothing about the authority.
                let parent = self.kept(path)?.parent;
                self.need_over_child(path, parent.as_ref())?;
                return Err(refusal);
            }
        };
        let is_own = by == *self.who();
        if !is_own {
            self.need_over_child(path, authority.parent.as_ref())?;
        }
        self.keep_authority(authority, Action::DeclineAuthority)?;
        self.forget_authority(path);
        Ok(is_own)
    }

    /// An authority that is only asked for, and who asked.
    fn request_for(&self, path: &AuthorityPath) -> Result<(Authority, Principal), Refusal> {
        let authority = self.kept(path)?;
        let AuthorityStatus::Requested { by } = authority.status.clone() else {
            let problem = format!("nobody waits for {path}");
            return Err(Refusal::policy("not-requested", problem));
        };
        Ok((authority, by))
    }

    /// Approves a request: the account that asked becomes `admin`.
    pub(crate) fn approve_request(&mut self, path: &AuthorityPath) -> Result<(), Refusal> {
        let parent = self.kept(path)?.parent;
        self.need_over_child(path, parent.as_ref())?;
        let (mut authority, by) = self.request_for(path)?;
        self.need_active_parent(path, parent.as_ref())?;
        if by == *self.who() && by != Principal::Operator {
            let problem = "someone else must approve what you have asked for";
            return Err(Refusal::policy("own-request", problem));
        }
        authority.status = AuthorityStatus::Active;
        if by != Principal::Operator {
            authority.grants.push(Grant {
                to: by,
                role: Role::Admin,
            });
        }
        self.keep_authority(authority, Action::ApproveAuthority)?;
        self.home(path)
    }

    /// Checks that the parent of a requested authority has not been retired since: nothing new is
    /// named below one that is (`URN-5`).
    fn need_active_parent(
        &self,
        path: &AuthorityPath,
        parent: Option<&AuthorityPath>,
    ) -> Result<(), Refusal> {
        let Some(parent) = parent else {
            return Ok(());
        };
        match self.active(parent) {
            Err(Refusal::Retired(_)) => {
                let again = if parent.prefix().is_some() {
                    format!(", or HOME {parent} again before you approve it")
                } else {
                    String::new()
                };
                let problem = format!(
                    "{parent} is retired, and nothing new is named below it: \
                     run `handfast authority decline {path}`{again}"
                );
                Err(Refusal::policy("retired", problem))
            }
            parent => parent.map(|_| ()),
        }
    }

    /// Whoever may create an authority need not decide on a request for it first: creating it declines the request,
    /// which is an event of its own. Says whose it was.
    pub(crate) fn decline_in_passing(
        &mut self,
        path: &AuthorityPath,
    ) -> Result<Option<Principal>, Refusal> {
        let Some(authority) = self.authority(path)? else {
            return Ok(None);
        };
        let AuthorityStatus::Requested { by } = authority.status.clone() else {
            return Ok(None);
        };
        self.keep_authority(authority, Action::DeclineAuthority)?;
        self.forget_authority(path);
        Ok(Some(by))
    }

    pub(crate) fn grant(
        &mut self,
        path: &AuthorityPath,
        to: Principal,
        role: Role,
        creates_account: bool,
    ) -> Result<(), Refusal> {
        self.change_grants(path, Action::Grant, move |draft, grants| {
            draft.need_or_create_account(&to, creates_account)?;
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
    ) -> Result<(), Refusal> {
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
                return Err(Refusal::policy("no-grant", problem));
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
    ) -> Result<(), Refusal> {
        let action = Action::TransferAuthority;
        self.change_grants(path, action, move |draft, grants| {
            draft.need_or_create_account(&to, creates_account)?;
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
        change: impl FnOnce(&mut Self, &mut Vec<Grant>) -> Result<Role, Refusal>,
    ) -> Result<(), Refusal> {
        let mut authority = self.kept(path)?;
        self.need(self.who(), Role::Lead, path)?;
        let mut grants = std::mem::take(&mut authority.grants);
        let touched = change(self, &mut grants)?;
        self.need(self.who(), touched.max(Role::Lead), path)?;
        authority.grants = grants;
        self.keep_authority(authority, action).map(|_| ())
    }
}
