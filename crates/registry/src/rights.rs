//! May this principal do this?
//!
//! Allowed is what a role here allows, or what the protocol grants: both are looked at. Roles hold for
//! the whole subtree below the authority they were granted on (`URN-5`).

use crate::authority::Role;
use crate::path::AuthorityPath;
use crate::principal::Principal;
use crate::refusal::Refusal;
use crate::view::View;

impl View<'_> {
    /// The highest role that a principal has on an authority, by a grant there or above.
    pub(crate) fn role(
        &self,
        who: &Principal,
        path: &AuthorityPath,
    ) -> Result<Option<Role>, Refusal> {
        if self.may_do_all(who)? {
            return Ok(Some(Role::Admin));
        }
        let mut highest = None;
        let mut next = Some(path.clone());
        while let Some(path) = next {
            // A path that is not kept here has no grants; what is above it may have.
            let Some(authority) = self.authority(&path)? else {
                break;
            };
            let granted = authority.grants.iter().filter(|grant| grant.to == *who);
            highest = highest.max(granted.map(|grant| grant.role).max());
            next = authority.parent;
        }
        Ok(highest)
    }

    /// Whether a principal is the operator, or administers all of the registry.
    pub(crate) fn may_do_all(&self, who: &Principal) -> Result<bool, Refusal> {
        Ok(*who == Principal::Operator || self.is_one_of(who, self.administrators)?)
    }

    /// Whether a principal has at least a role; says which would be needed, and where, if not.
    pub(crate) fn need(
        &self,
        who: &Principal,
        needs: Role,
        path: &AuthorityPath,
    ) -> Result<(), Refusal> {
        if self.role(who, path)? >= Some(needs) {
            Ok(())
        } else {
            Err(Refusal::Denied {
                needs,
                authority: path.clone(),
            })
        }
    }
}
