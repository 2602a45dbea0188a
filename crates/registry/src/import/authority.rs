//! Importing authorities.

use crate::access::principal::Principal;
use crate::authority::change::AuthorityChange;
use crate::authority::create::NewAuthority;
use crate::authority::erasures::NothingErased;
use crate::authority::policy::{Authority, AuthorityStatus, Grant, Persistence, Role};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::import::apply::ConflictPolicy;
use crate::import::outcome::Done;
use crate::import::parsed::{ParsedAuthority, ParsedGrant, ParsedPolicy, ParsedStatus};
use crate::log::event::Action;

impl ChangeSet<'_> {
    /// The slow part of applying an authority, which runs before the writer: see
    /// [`look_for_erased`](Self::look_for_erased). Whether the line is accepted is decided later.
    pub(crate) fn look_for_erased_by(&self, parsed: &ParsedAuthority) -> Option<NothingErased> {
        let path = self.path(&parsed.authority).ok()?;
        self.look_for_erased(&path, &parsed.change()).ok().flatten()
    }

    /// Creates or changes an authority as the line says. Retiring one waits until its names are
    /// imported: see [`retire`](Self::retire).
    pub(crate) fn apply_authority(
        &mut self,
        parsed: &ParsedAuthority,
        conflicts: ConflictPolicy,
        nothing_erased: Option<&NothingErased>,
    ) -> Result<(Done, Authority), RegistryError> {
        let path = self.path(&parsed.authority)?;
        let grants = parsed.grants()?;
        let Some(old) = self.authority(&path)? else {
            return self.apply_new_authority(parsed, grants);
        };
        let is_ours = old.last_event >= conflicts.since;
        if parsed.is_same(&old, &grants)
            && (is_ours || parsed.status == ParsedStatus::of(&old.status))
        {
            let done = if is_ours {
                Done::Created(Some(old.last_event))
            } else {
                Done::Unchanged
            };
            return Ok((done, old));
        }
        if old.status == AuthorityStatus::Retired {
            return Err(RegistryError::Retired(path));
        }
        if !conflicts.update {
            return Err(RegistryError::Differs {
                id: parsed.authority.clone(),
                event: old.last_event,
            });
        }
        let mut authority = self.changed(&path, parsed.change(), nothing_erased)?;
        let missing: Vec<_> = grants
            .into_iter()
            .filter(|grant| !authority.grants.contains(grant))
            .collect();
        if !missing.is_empty() {
            self.need(self.who(), Role::Admin, &path)?;
            for grant in missing {
                self.ensure_account(&grant.to)?;
                authority.grants.retain(|old| old.to != grant.to);
                authority.grants.push(grant);
            }
        }
        let event = self.store_authority(authority.clone(), Action::ChangeAuthority)?;
        Ok((Done::Changed(Some(event)), authority))
    }

    fn apply_new_authority(
        &mut self,
        parsed: &ParsedAuthority,
        grants: Vec<Grant>,
    ) -> Result<(Done, Authority), RegistryError> {
        let path = self.path(&parsed.authority)?;
        let mut parent = self.parent_of(&path)?;
        self.need_to_create(&path, parent.as_ref())?;
        let may_all = self.may_do_all(self.who())?;
        if !may_all && (parsed.independent || !grants.is_empty()) {
            let problem = "only administrators may import grants";
            return Err(RegistryError::policy("operator-only", problem));
        }
        if parsed.independent {
            parent = None;
        }
        let requested_by = match (&parsed.requested_by, parsed.status) {
            (Some(by), ParsedStatus::Requested) => Some(principal(by)?),
            (None, ParsedStatus::Requested) => {
                let problem = "an authority that was asked for needs `requested_by`";
                return Err(RegistryError::policy("bad-authority", problem));
            }
            _ => None,
        };
        let new = NewAuthority {
            title: parsed.title.clone(),
            meaning: parsed.meaning.clone(),
            contact: parsed.contact.clone(),
            reason: String::new(),
            change: parsed.change(),
        };
        let status = match requested_by {
            Some(by) => AuthorityStatus::Requested { by },
            None => AuthorityStatus::Active,
        };
        let is_requested = parsed.status == ParsedStatus::Requested;
        let mut authority = self.new_authority(&path, parent, new, status)?;
        for grant in &grants {
            self.ensure_account(&grant.to)?;
        }
        authority.grants = grants;
        let action = if is_requested {
            Action::RequestAuthority
        } else {
            Action::CreateAuthority
        };
        let event = self.store_authority(authority.clone(), action)?;
        if !is_requested {
            self.home(&path)?;
        }
        Ok((Done::Created(Some(event)), authority))
    }
}

impl ParsedAuthority {
    /// An authority with all defaults.
    pub(crate) fn named(path: &str) -> Self {
        Self {
            authority: path.to_string(),
            ..Self::default()
        }
    }

    /// An authority as a line.
    pub(crate) fn of(authority: &Authority) -> Self {
        let policy = &authority.policy;
        let by = match &authority.status {
            AuthorityStatus::Requested { by } => Some(by.to_string()),
            _ => None,
        };
        Self {
            authority: authority.path.to_string(),
            title: authority.title.clone(),
            meaning: authority.meaning.clone(),
            contact: authority.contact.clone(),
            policy: ParsedPolicy {
                case_sensitive: Some(policy.case_sensitive),
                erasable: Some(policy.persistence == Persistence::Erasable),
                cordra: Some(policy.cordra),
                pattern: policy.pattern.clone(),
                approval: Some(policy.approval),
                default_ttl: Some(policy.default_ttl),
            },
            grants: authority
                .grants
                .iter()
                .map(|grant| ParsedGrant {
                    to: grant.to.to_string(),
                    role: grant.role.to_string(),
                })
                .collect(),
            status: ParsedStatus::of(&authority.status),
            requested_by: by,
            independent: authority.parent.is_none() && authority.path.parent().is_some(),
        }
    }

    fn change(&self) -> AuthorityChange {
        let policy = &self.policy;
        // Exports state of every authority that case does not count; only under prefixes does that
        // mean anything.
        let schemes = ["urn:", "info:", "ark:"];
        let is_prefix = !schemes
            .iter()
            .any(|scheme| self.authority.starts_with(scheme));
        let said = |parsed: &bool| *parsed || is_prefix;
        AuthorityChange {
            title: Some(self.title.clone()),
            meaning: Some(self.meaning.clone()),
            contact: Some(self.contact.clone()),
            case_sensitive: policy.case_sensitive.filter(said),
            persistence: policy.erasable.map(|erasable| {
                if erasable {
                    Persistence::Erasable
                } else {
                    Persistence::Permanent
                }
            }),
            cordra: policy.cordra.filter(said),
            // If a line has a policy, it has all of it.
            pattern: policy
                .case_sensitive
                .map(|_| policy.pattern.clone())
                .or_else(|| policy.pattern.clone().map(Some)),
            approval: policy.approval,
            default_ttl: policy.default_ttl,
            expects: None,
        }
    }

    fn grants(&self) -> Result<Vec<Grant>, RegistryError> {
        let grant = |parsed: &ParsedGrant| {
            let role = parsed.role.parse::<Role>();
            let role =
                role.map_err(|error| RegistryError::policy("bad-role", error.to_string()))?;
            Ok(Grant {
                to: principal(&parsed.to)?,
                role,
            })
        };
        self.grants.iter().map(grant).collect()
    }

    /// Whether the stored authority is as the line says, apart from its status.
    fn is_same(&self, old: &Authority, grants: &[Grant]) -> bool {
        let mut changed = old.clone();
        self.change().apply(&mut changed);
        changed == *old && grants.iter().all(|grant| old.grants.contains(grant))
    }
}

impl ParsedStatus {
    fn of(status: &AuthorityStatus) -> Self {
        match status {
            AuthorityStatus::Active => Self::Active,
            AuthorityStatus::Requested { .. } => Self::Requested,
            AuthorityStatus::Retired => Self::Retired,
        }
    }
}

fn principal(text: &str) -> Result<Principal, RegistryError> {
    Principal::parse(text).map_err(|error| RegistryError::policy("bad-account", error.to_string()))
}
