//! Groups of accounts, why somebody has a role, and requests for access.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::account::{Account, AccountState, RoleOn, Token};
use crate::authority::Role;
use crate::limits;
use crate::words::words;

/// A group of accounts. A role that is granted to `group:NAME` is a role of all members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// When the group was created (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// The name of the group.
    #[schemars(example = &"editors")]
    pub group: String,
    /// The names of its accounts, sorted.
    pub members: Vec<String>,
    /// What the group is, for people.
    #[schemars(example = &"The editors of the map room")]
    pub title: String,
}

/// A page of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupPage {
    /// The groups, by name.
    pub groups: Vec<Group>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// A group to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGroup {
    /// The name of the group: letters, digits and `. _ @ -`.
    #[schemars(length(min = 1, max = limits::ACCOUNT_NAME), example = &"editors")]
    pub group: String,
    /// What the group is, for people; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCOUNT_TITLE), example = &"The editors of the map room")]
    pub title: String,
}

/// Why somebody has a role on an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleReason {
    /// Whether it is an administrator, who may do everything everywhere.
    pub administrator: bool,
    /// The authority that grants the role: the one that was asked for, or one above it. `null` for
    /// an administrator.
    #[schemars(example = &"20.1000")]
    pub authority: Option<String>,
    /// When the role was granted (RFC 3339), if that is known.
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub granted: Option<String>,
    /// Who granted the role, if that is known.
    #[serde(rename = "granted-by")]
    #[schemars(example = &"lea")]
    pub granted_by: Option<String>,
    /// Whether an authority above grants the role.
    pub inherited: bool,
    /// When the account was added to the group of `through` (RFC 3339), if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<String>,
    /// Who added the account to that group, if that is known.
    #[serde(default, rename = "joined-by", skip_serializing_if = "Option::is_none")]
    pub joined_by: Option<String>,
    /// Why the role was asked for, if a request for access was granted.
    pub reason: Option<String>,
    /// The role.
    pub role: Role,
    /// The group that has the role, if it was granted to a group.
    pub through: Option<String>,
}

/// Somebody who has a role on an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Person {
    /// Why: the strongest reason.
    pub reason: RoleReason,
    /// Whether the account is suspended.
    pub state: AccountState,
    /// Who that is, for people.
    #[schemars(example = &"Ann Example")]
    pub title: String,
    /// An account, or `INDEX:HANDLE`.
    #[schemars(example = &"ann")]
    pub who: String,
}

/// A request of an account for a role on an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessRequest {
    /// The account that asks.
    #[schemars(example = &"ann")]
    pub account: String,
    /// The authority.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// When the request was made (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// When it was decided (RFC 3339).
    pub decided: Option<String>,
    /// Who decided it.
    #[serde(rename = "decided-by")]
    pub decided_by: Option<String>,
    /// Why it was declined.
    #[serde(rename = "decline-reason")]
    pub decline_reason: Option<String>,
    /// Why the account asks.
    #[schemars(example = &"I keep the maps")]
    pub reason: String,
    /// The identifier of the request.
    #[schemars(example = &"5f2b91c07d3e")]
    pub request: String,
    /// The role that it asks for.
    pub role: Role,
    /// Whether it is decided.
    pub status: AccessRequestStatus,
}

words! {
    /// Whether a request for access is decided.
    AccessRequestStatus {
        /// The request was declined, or taken back.
        Declined = "declined",
        /// The role was granted.
        Granted = "granted",
        /// Nobody has decided it.
        Open = "open",
    }
}

/// A role to ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccessRequest {
    /// The authority.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// Why the account asks; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCESS_REASON), example = &"I keep the maps")]
    pub reason: String,
    /// The role.
    #[schemars(with = "Role")]
    pub role: String,
}

/// A request for an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorityRequest {
    /// The account that asks.
    #[schemars(example = &"ann")]
    pub account: String,
    /// The authority.
    #[schemars(example = &"20.1000.5")]
    pub authority: String,
    /// When the request was made (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// When it was decided (RFC 3339).
    pub decided: Option<String>,
    /// Who decided it.
    #[serde(rename = "decided-by")]
    pub decided_by: Option<String>,
    /// Why it was declined.
    #[serde(rename = "decline-reason")]
    pub decline_reason: Option<String>,
    /// Why the account asks.
    #[schemars(example = &"We digitise the maps")]
    pub reason: String,
    /// Whether it is decided.
    pub status: AuthorityRequestStatus,
    /// The title of the authority.
    #[schemars(example = &"The map room")]
    pub title: String,
}

words! {
    /// Whether a request for an authority is decided.
    AuthorityRequestStatus {
        /// The authority was created.
        Approved = "approved",
        /// The request was declined.
        Declined = "declined",
        /// Nobody has decided it.
        Open = "open",
    }
}

/// Why a request for access, or for an authority, is declined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDecline {
    /// The reason, which the account that asked reads; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCESS_REASON), example = &"The maps are kept in 20.2000")]
    pub reason: String,
}

/// Everything that an account has, for the day on which its owner leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holdings {
    /// The account.
    pub account: Account,
    /// Whether all names were counted, and not only the first 100,000 of the registry.
    #[serde(rename = "all-names-counted")]
    pub all_names_counted: bool,
    /// The groups that it is in, by name.
    pub groups: Vec<String>,
    /// How many names were transferred to it.
    #[schemars(example = 3)]
    pub names: u64,
    /// Its roles, by authority, also those of its groups.
    pub roles: Vec<RoleOn>,
    /// Its tokens, oldest first.
    pub tokens: Vec<Token>,
}
