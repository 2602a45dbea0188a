//! Requesting an authority, and approving or declining the request.

use crate::access::principal::Principal;
use crate::authority::create::NewAuthority;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Grant, Role};
use crate::authority::policy_check::check_pattern;
use crate::authority::request_list::{AuthorityRequestStatus, check_reason};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::registry::{Registry, locked};

impl Registry {
    /// Requests an authority. An administrator of its parent approves or declines it (`URN-5`). The
    /// account that asks must exist.
    pub fn request_authority(
        &self,
        who: &Principal,
        path: &str,
        new: NewAuthority,
    ) -> Result<AuthorityPath, RegistryError> {
        // The lock keeps the count of open requests right when two arrive at once.
        let _only = locked(&self.requesting);
        self.check_request(who, path, &new)?;
        check_pattern(&new.change)?;
        check_reason(&new.reason)?;
        let path = path.to_string();
        self.change(who, move |change_set| {
            let path = change_set.path(&path)?;
            let parent = change_set.parent_of(&path)?;
            if let Some(requested) = change_set.authority(&path)?
                && let AuthorityStatus::Requested { by } = &requested.status
            {
                // Who asked is for those who decide.
                let problem = if by == change_set.who() {
                    format!("you have asked for {path} already: wait until that is decided")
                } else if change_set.is_visible(change_set.who(), &requested)? {
                    format!("{by} has asked for {path}: approve or decline that first")
                } else {
                    format!("somebody has asked for {path}: wait until that is decided")
                };
                return Err(RegistryError::policy("requested", problem));
            }
            let by = change_set.who().lasting();
            let status = AuthorityStatus::Requested { by: by.clone() };
            let reason = new.reason.clone();
            let authority = change_set.new_authority(&path, parent, new, status)?;
            change_set.need_or_create_account(&by, false)?;
            change_set.store_request_reason(&authority, by, reason)?;
            change_set.store_authority(authority, Action::RequestAuthority)?;
            Ok(path)
        })
    }
}

impl ChangeSet<'_> {
    /// Declines a request. This takes the right to create the authority; the account that asked may
    /// take its own request back. Returns whether it did.
    pub(crate) fn decline_request(
        &mut self,
        path: &AuthorityPath,
        reason: String,
    ) -> Result<bool, RegistryError> {
        let (authority, by) = match self.request_for(path) {
            Ok(found) => found,
            Err(error) => {
                // A principal without rights learns nothing about the authority.
                let parent = self.existing_authority(path)?.parent;
                self.need_over_child(path, parent.as_ref())?;
                return Err(error);
            }
        };
        let is_own = by == *self.who();
        if is_own {
            self.forget_request_reason(path);
        } else {
            self.need_over_child(path, authority.parent.as_ref())?;
            let declined = self.declined(reason);
            self.store_request_decision(&authority, by, declined)?;
        }
        self.store_authority(authority, Action::DeclineAuthority)?;
        self.forget_authority(path);
        Ok(is_own)
    }

    /// A requested authority, and who requested it.
    fn request_for(&self, path: &AuthorityPath) -> Result<(Authority, Principal), RegistryError> {
        let authority = self.existing_authority(path)?;
        let AuthorityStatus::Requested { by } = authority.status.clone() else {
            let problem = format!("there is no request for {path}");
            return Err(RegistryError::policy("not-requested", problem));
        };
        Ok((authority, by))
    }

    /// Approves a request: the requester becomes its `admin`.
    pub(crate) fn approve_request(&mut self, path: &AuthorityPath) -> Result<(), RegistryError> {
        let parent = self.existing_authority(path)?.parent;
        self.need_over_child(path, parent.as_ref())?;
        let (mut authority, by) = self.request_for(path)?;
        self.need_active_parent(path, parent.as_ref())?;
        if by == *self.who() && by != Principal::Operator {
            let problem = "someone else must approve your request";
            return Err(RegistryError::policy("own-request", problem));
        }
        let approved = AuthorityRequestStatus::Approved {
            by: self.who().lasting(),
            at: self.time(),
        };
        self.store_request_decision(&authority, by.clone(), approved)?;
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

    /// Checks that the parent of a requested authority has not been retired since: no names
    /// are created below a retired one (`URN-5`).
    fn need_active_parent(
        &self,
        path: &AuthorityPath,
        parent: Option<&AuthorityPath>,
    ) -> Result<(), RegistryError> {
        let Some(parent) = parent else {
            return Ok(());
        };
        match self.active(parent) {
            Err(RegistryError::Retired(_)) => {
                let again = if parent.prefix().is_some() {
                    format!(", or HOME {parent} again before you approve it")
                } else {
                    String::new()
                };
                let problem = format!(
                    "{parent} is retired, and nothing new is named below it: \
                     run `handfast authority decline {path}`{again}"
                );
                Err(RegistryError::policy("retired", problem))
            }
            parent => parent.map(|_| ()),
        }
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
        let declined = self.declined(String::new());
        self.store_request_decision(&authority, by.clone(), declined)?;
        self.store_authority(authority, Action::DeclineAuthority)?;
        self.forget_authority(path);
        Ok(Some(by))
    }

    fn declined(&self, reason: String) -> AuthorityRequestStatus {
        AuthorityRequestStatus::Declined {
            by: self.who().lasting(),
            at: self.time(),
            reason,
        }
    }
}
