//! Requesting an authority, and approving or declining the request.

use std::sync::PoisonError;

use crate::access::principal::Principal;
use crate::authority::change::AuthorityAction;
use crate::authority::create::NewAuthority;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{AuthorityStatus, Grant, Role};
use crate::authority::policy_check::check_pattern;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::Registry;

impl Registry {
    /// Requests an authority. An administrator of its parent approves or declines it (`URN-5`).
    pub fn request_authority(
        &self,
        who: &Principal,
        path: &str,
        new: NewAuthority,
    ) -> Result<AuthorityPath, RegistryError> {
        // The lock keeps the count of open requests right when two arrive at once.
        let requesting = self.requesting.lock();
        let _only = requesting.unwrap_or_else(PoisonError::into_inner);
        self.check_request(who, path, &new)?;
        check_pattern(&new.change)?;
        let path = path.to_string();
        self.change(who, move |change_set| {
            let path = change_set.path(&path)?;
            let parent = change_set.parent_of(&path)?;
            if let Some(AuthorityStatus::Requested { by }) = change_set
                .authority(&path)?
                .map(|authority| authority.status)
            {
                let problem = format!("{by} has asked for {path}: approve or decline that first");
                return Err(RegistryError::policy("requested", problem));
            }
            let by = change_set.who().lasting();
            let status = AuthorityStatus::Requested { by: by.clone() };
            let authority = change_set.new_authority(&path, parent, new, status)?;
            change_set.ensure_account(&by)?;
            change_set.store_authority(authority, Action::RequestAuthority)?;
            Ok(path)
        })
    }

    /// Approves a request: the requester becomes its `admin`.
    pub fn approve_authority(&self, who: &Principal, path: &str) -> Result<(), RegistryError> {
        self.act_on_authority(who, path, None, AuthorityAction::Approve)
    }

    /// Declines a request: the path is free again.
    pub fn decline_authority(&self, who: &Principal, path: &str) -> Result<(), RegistryError> {
        self.act_on_authority(who, path, None, AuthorityAction::Decline)
    }
}

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
                format!("there is no request for {path}"),
            ));
        };
        if !approve {
            self.store_authority(authority, Action::DeclineAuthority)?;
            self.forget_authority(path);
            return Ok(());
        }
        if by == *self.who() && by != Principal::Operator {
            let problem = "someone else must approve your request";
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

    /// Declines a request because the authority is being created, as an event of its own. A
    /// principal that may create the authority need not decide the request first. Returns who had
    /// requested it.
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
}
