//! Authorities: policy and grants.

use std::fmt;
use std::str::FromStr;

use handfast_id::{CaseRule, HandleProfile, InfoUri, Rules, UrnProfile};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::pattern_cache::compiled;

/// An authority: who may name what, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// Its path, as it was created.
    pub path: AuthorityPath,
    /// The authority that created it, if that is registered here. A parent created later gains no
    /// rights over it (`HDL-2`).
    pub parent: Option<AuthorityPath>,
    /// For the public register.
    pub title: String,
    /// What its names mean (`CID-9`).
    pub meaning: String,
    /// How to reach it.
    pub contact: String,
    /// The rules for creating its names.
    pub policy: Policy,
    /// Roles on it and on the authorities below it.
    pub grants: Vec<Grant>,
    /// Requested, in use, or retired.
    pub status: AuthorityStatus,
    /// Increased by each change.
    pub version: u64,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// The event that made this version.
    pub last_event: u64,
    /// The random bytes of the commitment in that event.
    pub seed: [u8; 32],
}

/// The status of an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuthorityStatus {
    /// In use.
    Active,
    /// Requested, and neither approved nor declined yet.
    Requested {
        /// Who asked.
        by: Principal,
    },
    /// Its names keep resolving and its path stays taken, but no names are created.
    Retired,
}

impl AuthorityStatus {
    /// Whether it counts for resolution. A requested authority does not: otherwise a request for a
    /// prefix would make this server answer for it.
    #[must_use]
    pub fn is_in_force(&self) -> bool {
        match self {
            Self::Active | Self::Retired => true,
            Self::Requested { .. } => false,
        }
    }
}

/// The rules for creating names under an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Whether case counts in suffixes. Fixed once names exist.
    pub case_sensitive: bool,
    /// Whether an erased name may be assigned again.
    pub persistence: Persistence,
    /// Whether its names are CORDRA identifiers.
    pub cordra: bool,
    /// A pattern for local names, beyond the grammar (`URN-8`).
    pub pattern: Option<String>,
    /// Whether new names start reserved until a `lead` activates them.
    pub approval: bool,
    /// The TTL of new values, in seconds.
    pub default_ttl: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            case_sensitive: false,
            persistence: Persistence::Permanent,
            cordra: false,
            pattern: None,
            approval: false,
            default_ttl: 86_400,
        }
    }
}

impl Policy {
    /// The case rule of its suffixes.
    #[must_use]
    pub fn case_rule(&self) -> CaseRule {
        if self.case_sensitive {
            CaseRule::Sensitive
        } else {
            CaseRule::AsciiInsensitive
        }
    }

    /// The profile of its handles.
    #[must_use]
    pub fn profile(&self) -> HandleProfile {
        if self.cordra {
            HandleProfile::Cordra
        } else {
            HandleProfile::Handle
        }
    }

    /// Whether a local name fits the pattern, if there is one. A pattern that does not compile fits
    /// nothing.
    #[must_use]
    pub fn fits(&self, local: &str) -> bool {
        self.pattern
            .as_deref()
            .is_none_or(|pattern| compiled(pattern).is_ok_and(|pattern| pattern.matches(local)))
    }
}

impl Authority {
    /// The case rule of its names: a prefix has its own; other names follow their scheme, NID or
    /// namespace.
    #[must_use]
    pub fn case_rule(&self, rules: &dyn Rules) -> CaseRule {
        let key = self.path.key();
        let ignores_case = if let Some(rest) = key.strip_prefix("urn:") {
            let nid = rest.split(':').next().unwrap_or_default();
            rules.urn_profile(nid).is_some_and(UrnProfile::ignores_case)
        } else if key.starts_with("info:") {
            let canonical = |identifier: &str| {
                let uri = InfoUri::parse(&format!("{key}/{identifier}"))
                    .ok()?
                    .into_owned();
                uri.canonical(rules)
                    .ok()
                    .map(|form| form.as_str().to_string())
            };
            canonical("a").is_some_and(|lower| canonical("A") == Some(lower))
        } else {
            key.starts_with("hdl:") && !self.policy.case_sensitive
        };
        if ignores_case {
            CaseRule::AsciiInsensitive
        } else {
            CaseRule::Sensitive
        }
    }

    /// The form of its names: `handle` or `cordra` under a prefix, otherwise the scheme.
    #[must_use]
    pub fn profile_name(&self) -> &'static str {
        match self.path.key().split(':').next() {
            Some("urn") => "urn",
            Some("info") => "info",
            Some("ark") => "ark",
            _ if self.policy.cordra => "cordra",
            _ => "handle",
        }
    }
}

/// Whether an erased name may be assigned again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Persistence {
    /// A name may be erased, and then assigned again.
    Erasable,
    /// A name that was assigned is never assigned again.
    #[default]
    Permanent,
}

impl Persistence {
    /// In a word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Erasable => "erasable",
            Self::Permanent => "permanent",
        }
    }
}

/// A role of someone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Who.
    pub to: Principal,
    /// The role.
    pub role: Role,
}

/// What a principal may do on an authority and everything below it. Each role includes the ones
/// before it.
///
/// ```
/// use handfast_registry::Role;
///
/// assert!(Role::Lead > Role::Write);
/// assert_eq!("lead".parse(), Ok(Role::Lead));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// See reserved names and values that only administrators may read; list.
    Read,
    /// Create, change values, reserve, activate, withdraw, restore.
    Write,
    /// Create, approve and retire child authorities, their policy and local patterns; values of
    /// type `HS_ADMIN`; grant and revoke up to `lead`.
    Lead,
    /// This authority's own policy, grant `admin`, transfer.
    Admin,
}

impl Role {
    /// All of them, least first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Lead, Self::Admin];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Lead => "lead",
            Self::Admin => "admin",
        }
    }

    /// [`Lead`](Self::Lead) for a change that needs it, such as one of administrators, and
    /// [`Write`](Self::Write) for all others.
    pub(crate) fn lead_if(is_lead: bool) -> Self {
        if is_lead { Self::Lead } else { Self::Write }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        Self::ALL
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or(RoleError)
    }
}

/// The text is not a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a role is read, write, lead or admin")]
pub struct RoleError;
