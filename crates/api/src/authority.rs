//! Authorities, their policies and grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::is_default;
use crate::limits;
use crate::words::words;

/// An authority, under which names are created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Authority {
    /// The path of the authority: a prefix, a URN authority, an `info` namespace or a scheme.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// How the public reaches the people of the authority.
    #[schemars(example = &"names@example.org")]
    pub contact: String,
    /// When the authority was created (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// Who had asked for the authority, if creating it declined a request. Left out otherwise.
    #[serde(
        rename = "declined-request-of",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "String")]
    pub declined_request_of: Option<String>,
    /// Who has which role on the authority; empty for callers without a role there.
    pub grants: Vec<Grant>,
    /// The key that the authority is looked up by.
    #[schemars(example = &"20.1000")]
    pub key: String,
    /// What the authority names.
    #[schemars(example = &"Reports of the library")]
    pub meaning: String,
    /// The authority above, if there is one.
    pub parent: Option<String>,
    /// What holds for its names.
    pub policy: Policy,
    /// Where the authority is in its life.
    pub status: AuthorityStatus,
    /// A title for people.
    #[schemars(example = &"The library")]
    pub title: String,
    /// The version, which each change counts up. It is also the `ETag`.
    #[schemars(example = 1)]
    pub version: u64,
}

words! {
    /// Where an authority is in its life.
    AuthorityStatus {
        /// Names can be created.
        Active = "active",
        /// An account has asked for the authority, and it is not approved.
        Requested = "requested",
        /// Its names resolve, and nothing new is named.
        Retired = "retired",
    }
}

/// The policy of an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Whether authorities below it are created only after approval.
    pub approval: bool,
    /// Whether case counts in its names.
    pub case: CaseRule,
    /// A regular expression that local names match, if there is one.
    pub pattern: Option<String>,
    /// Whether names can be erased.
    pub persistence: Persistence,
    /// What its names are.
    pub profile: ShownProfile,
    /// How long values may be cached unless they say otherwise, in seconds.
    #[schemars(range(max = u32::MAX), example = 86400)]
    pub ttl: u32,
}

words! {
    /// Whether case counts in names.
    CaseRule {
        /// ASCII letters are equal in both cases.
        Insensitive = "insensitive",
        /// Case counts.
        Sensitive = "sensitive",
    }
}

words! {
    /// Whether names can be erased.
    Persistence {
        /// A name can be erased, and then be created again.
        Erasable = "erasable",
        /// A name is there for ever.
        Permanent = "permanent",
    }
}

words! {
    /// What the names of a prefix are.
    Profile {
        /// CORDRA identifiers.
        Cordra = "cordra",
        /// Handles.
        Handle = "handle",
    }
}

words! {
    /// What the names of an authority are.
    ShownProfile {
        /// Archival resource keys.
        Ark = "ark",
        /// CORDRA identifiers.
        Cordra = "cordra",
        /// Handles.
        Handle = "handle",
        /// `info` URIs.
        Info = "info",
        /// URNs.
        Urn = "urn",
    }
}

words! {
    /// What an account may do on an authority and everything below it.
    Role {
        /// See reserved names and values that only administrators read, and list names.
        Read = "read",
        /// Also create, change, reserve, activate, withdraw and restore names.
        Write = "write",
        /// Also create authorities below it, and grant and revoke roles up to `lead`.
        Lead = "lead",
        /// Also change its policy, grant `admin` and transfer the authority.
        Admin = "admin",
    }
}

/// A role of an account on the authority that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// The role.
    pub role: Role,
    /// An account, `group:NAME`, or `INDEX:HANDLE`.
    #[schemars(example = &"ann")]
    pub to: String,
}

/// A role of an account, and the authority that grants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantOn {
    /// The authority: the one that was asked for, or one above it.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// The role.
    pub role: Role,
    /// An account, `group:NAME`, or `INDEX:HANDLE`.
    #[schemars(example = &"ann")]
    pub to: String,
}

/// A page of authorities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorityPage {
    /// The authorities, by key.
    pub authorities: Vec<Authority>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// An authority to create, or to ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAuthority {
    /// The path of the authority.
    #[schemars(example = &"20.1000.5")]
    pub authority: String,
    /// How the public reaches its people; at most 10,000 bytes, 1,000 in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AUTHORITY_TEXT), example = &"names@example.org")]
    pub contact: Option<String>,
    /// What it names; at most 10,000 bytes, 1,000 in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AUTHORITY_TEXT), example = &"Reports of the library")]
    pub meaning: Option<String>,
    /// What holds for its names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: PolicyChange,
    /// Why the account asks for it, for the person who decides; at most 1,000 bytes. Only with
    /// `request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ACCESS_REASON), example = &"We digitise the maps")]
    pub reason: Option<String>,
    /// Ask for the authority: an account with a role above it approves or declines.
    #[serde(default, skip_serializing_if = "is_default")]
    pub request: bool,
    /// A title for people; at most 10,000 bytes, 1,000 in a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AUTHORITY_TEXT), example = &"The library")]
    pub title: Option<String>,
}

/// What changes of an authority. Whatever is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorityChange {
    /// How the public reaches its people; at most 10,000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AUTHORITY_TEXT), example = &"names@example.org")]
    pub contact: Option<String>,
    /// What it names; at most 10,000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AUTHORITY_TEXT), example = &"Reports of the library")]
    pub meaning: Option<String>,
    /// What holds for its names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub policy: PolicyChange,
    /// A title for people; at most 10,000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::AUTHORITY_TEXT), example = &"The library")]
    pub title: Option<String>,
}

/// What changes of a policy. Whatever is left out stays, or of a new authority, is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyChange {
    /// Whether authorities below it are created only after approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<bool>,
    /// Whether case counts in its names; of a prefix without names only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseRule>,
    /// A regular expression that local names match, at most 1,024 bytes; an empty one ends that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::PATTERN), example = &"[a-z0-9-]+")]
    pub pattern: Option<String>,
    /// Whether names can be erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence: Option<Persistence>,
    /// What the names of a prefix are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// How long values may be cached unless they say otherwise, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = u32::MAX), example = 86400)]
    pub ttl: Option<u32>,
}

/// A role to grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant {
    /// Create the account if there is none; administrators may.
    #[serde(default, skip_serializing_if = "is_default")]
    pub create: bool,
    /// The role.
    #[schemars(with = "Role")]
    pub role: String,
}
