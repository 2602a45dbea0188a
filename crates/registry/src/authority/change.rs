//! Changing an authority: its title, meaning, contact and policy.

use crate::access::principal::Principal;
use crate::authority::erasures::{NothingErased, check_nothing_erased, check_still_nothing_erased};
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Persistence, Role};
use crate::authority::policy_check::{check_authority, check_case_unset, check_pattern};
use crate::authority::request_list::check_reason;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::change::other_version;
use crate::registry::Registry;

/// A change of an authority; unset fields stay as they are.
///
/// ```
/// let change = handfast_registry::AuthorityChange {
///     pattern: Some(Some("[0-9]+".into())),
///     ..Default::default()
/// };
/// assert!(change.case_sensitive.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct AuthorityChange {
    /// For the public register.
    pub title: Option<String>,
    /// What its names mean.
    pub meaning: Option<String>,
    /// How to reach it.
    pub contact: Option<String>,
    /// Whether case counts in suffixes.
    pub case_sensitive: Option<bool>,
    /// Whether an erased name may be assigned again.
    pub persistence: Option<Persistence>,
    /// Whether its names are CORDRA identifiers.
    pub cordra: Option<bool>,
    /// A pattern for local names; `Some(None)` removes it.
    pub pattern: Option<Option<String>>,
    /// Whether a `lead` must approve new names.
    pub approval: Option<bool>,
    /// The TTL of new values.
    pub default_ttl: Option<u32>,
    /// The version that the authority must have.
    pub expects: Option<u64>,
}

/// An action on an authority.
#[derive(Clone, Debug)]
pub enum AuthorityAction {
    /// Approves a request: the requester becomes its `admin`.
    Approve,
    /// Declines a request, or takes the own one back: the path is free again.
    Decline {
        /// Why, for the account that asked; may be empty.
        reason: String,
    },
    /// Grants a role, and replaces one that was granted before.
    Grant {
        /// To whom.
        to: Principal,
        /// The role.
        role: Role,
        /// Whether to create a missing account of that name, which the operator and administrators
        /// may.
        creates_account: bool,
    },
    /// Retires it: its names keep resolving, its path stays taken, no names are created there or
    /// below.
    Retire {
        /// Whether the authorities below it stay active.
        keep_children: bool,
    },
    /// Revokes a role.
    Revoke {
        /// From whom.
        from: Principal,
        /// Only if it is this role.
        role: Option<Role>,
    },
    /// Makes a principal its only `admin`.
    Transfer {
        /// To whom.
        to: Principal,
        /// Whether to create a missing account of that name, which the operator and administrators
        /// may.
        creates_account: bool,
    },
}

impl Registry {
    /// Changes title, meaning, contact or policy. A `lead` may set the local pattern and the
    /// approval of names; everything else needs `admin`, or `lead` on the parent.
    pub fn change_authority(
        &self,
        who: &Principal,
        path: &str,
        change: AuthorityChange,
    ) -> Result<(), RegistryError> {
        let path = path.to_string();
        check_pattern(&change)?;
        // The slow part runs before the change reaches the writer.
        let nothing_erased = self.dry_run(who, |change_set| {
            let path = change_set.path(&path)?;
            change_set.look_for_erased(&path, &change)
        })?;
        self.change(who, move |change_set| {
            let path = change_set.path(&path)?;
            let authority = change_set.changed(&path, change, nothing_erased.as_ref())?;
            change_set
                .store_authority(authority, Action::ChangeAuthority)
                .map(|_| ())
        })
    }

    /// Applies an action to an authority, if it has the expected version.
    pub fn act_on_authority(
        &self,
        who: &Principal,
        path: &str,
        expected: Option<u64>,
        action: AuthorityAction,
    ) -> Result<(), RegistryError> {
        let text = path.to_string();
        let is_own_request = self.change(who, move |change_set| {
            let path = change_set.path(&text)?;
            change_set.need_visible(change_set.who(), &path)?;
            let now = change_set.existing_authority(&path)?.version;
            if expected.is_some_and(|expected| expected != now) {
                return Err(other_version(&text, now));
            }
            match action {
                AuthorityAction::Approve => change_set.approve_request(&path),
                AuthorityAction::Decline { reason } => {
                    check_reason(&reason)?;
                    return change_set.decline_request(&path, reason);
                }
                AuthorityAction::Grant {
                    to,
                    role,
                    creates_account,
                } => change_set.grant(&path, to, role, creates_account),
                AuthorityAction::Retire { keep_children } => {
                    change_set.retire(&text, keep_children)
                }
                AuthorityAction::Revoke { from, role } => change_set.revoke(&path, &from, role),
                AuthorityAction::Transfer {
                    to,
                    creates_account,
                } => change_set.transfer_authority(&path, to, creates_account),
            }
            .map(|()| false)
        })?;
        if is_own_request {
            self.count_withdrawn_request(who);
        }
        Ok(())
    }
}

impl ChangeSet<'_> {
    /// Checks that the principal may make an authority permanent, and that none of its names was
    /// erased. Returns `None` for any other change.
    pub(crate) fn look_for_erased(
        &self,
        path: &AuthorityPath,
        change: &AuthorityChange,
    ) -> Result<Option<NothingErased>, RegistryError> {
        let authority = self.may_change(path, change)?;
        becomes_permanent(&authority, change)
            .then(|| check_nothing_erased(self, path))
            .transpose()
    }

    /// An authority that the principal may change.
    fn may_change(
        &self,
        path: &AuthorityPath,
        change: &AuthorityChange,
    ) -> Result<Authority, RegistryError> {
        let authority = self.active_for(self.who(), path)?;
        let local = change.case_sensitive.is_none()
            && change.persistence.is_none()
            && change.cordra.is_none()
            && change.default_ttl.is_none();
        let over_child = self.need_over_child(path, authority.parent.clone().as_ref());
        if over_child.is_err() {
            self.need(
                self.who(),
                if local { Role::Lead } else { Role::Admin },
                path,
            )?;
        }
        let version = authority.version;
        if change.expects.is_some_and(|expected| expected != version) {
            return Err(other_version(&path.to_string(), version));
        }
        Ok(authority)
    }

    /// The changed authority. `nothing_erased` is an earlier result of the check for erased names.
    pub(crate) fn changed(
        &self,
        path: &AuthorityPath,
        change: AuthorityChange,
        nothing_erased: Option<&NothingErased>,
    ) -> Result<Authority, RegistryError> {
        let mut authority = self.may_change(path, &change)?;
        let moves_keys = change
            .case_sensitive
            .is_some_and(|c| c != authority.policy.case_sensitive)
            || change.cordra.is_some_and(|c| c != authority.policy.cordra);
        let is_named = self.has_names(path)?;
        if moves_keys && is_named {
            return Err(RegistryError::policy(
                "case-fixed",
                format!("{path} has names: their keys cannot change any more"),
            ));
        }
        let becomes_erasable = change.persistence == Some(Persistence::Erasable)
            && authority.policy.persistence == Persistence::Permanent;
        if becomes_erasable && is_named {
            return Err(RegistryError::policy(
                "permanent",
                format!("{path} has permanent names: they cannot become erasable"),
            ));
        }
        check_case_unset(path, &change)?;
        check_pattern(&change)?;
        if becomes_permanent(&authority, &change) {
            check_still_nothing_erased(self, path, nothing_erased)?;
        }
        change.apply(&mut authority);
        check_authority(&authority)?;
        Ok(authority)
    }
}

impl AuthorityChange {
    pub(crate) fn apply(self, authority: &mut Authority) {
        let policy = &mut authority.policy;
        set(&mut authority.title, self.title);
        set(&mut authority.meaning, self.meaning);
        set(&mut authority.contact, self.contact);
        set(&mut policy.case_sensitive, self.case_sensitive);
        set(&mut policy.persistence, self.persistence);
        set(&mut policy.cordra, self.cordra);
        set(&mut policy.pattern, self.pattern);
        set(&mut policy.approval, self.approval);
        set(&mut policy.default_ttl, self.default_ttl);
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

fn becomes_permanent(authority: &Authority, change: &AuthorityChange) -> bool {
    change.persistence == Some(Persistence::Permanent)
        && authority.policy.persistence == Persistence::Erasable
}
