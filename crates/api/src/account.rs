//! Accounts and tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::authority::Role;
use crate::is_default;
use crate::limits;
use crate::words::words;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// The name of the account.
    #[schemars(example = &"ann")]
    pub account: String,
    /// Whether the account may do everything.
    pub administrator: bool,
    /// When the account was created (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// The e-mail address of its owner; empty if there is none.
    #[serde(default)]
    #[schemars(example = &"ann@example.org")]
    pub email: String,
    /// When the account last did something, to five minutes (RFC 3339); `null` if that is not
    /// known.
    #[serde(default, rename = "last-seen")]
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub last_seen: Option<String>,
    /// Whether its tokens are accepted.
    pub state: AccountState,
    /// Who that is, for people.
    #[schemars(example = &"Ann Example")]
    pub title: String,
}

words! {
    /// Whether the tokens of an account are accepted.
    AccountState {
        /// Its tokens are accepted.
        Active = "active",
        /// Its tokens are rejected.
        Suspended = "suspended",
    }
}

/// A page of accounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountPage {
    /// The accounts, by name.
    pub accounts: Vec<Account>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// An account to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// The name of the account: letters, digits and `. _ @ -`.
    #[schemars(length(min = 1, max = limits::ACCOUNT_NAME), example = &"ann")]
    pub account: String,
    /// Whether the account may do everything.
    #[serde(default, skip_serializing_if = "is_default")]
    pub administrator: bool,
    /// The e-mail address of its owner; at most 254 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCOUNT_EMAIL), example = &"ann@example.org")]
    pub email: String,
    /// Who that is, for people; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCOUNT_TITLE), example = &"Ann Example")]
    pub title: String,
}

/// What changes of an account. Whatever is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountChange {
    /// Whether the account may do everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub administrator: Option<bool>,
    /// The e-mail address of its owner; at most 254 bytes, and an empty one removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ACCOUNT_EMAIL), example = &"ann@example.org")]
    pub email: Option<String>,
    /// Whether its tokens are accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<AccountState>,
    /// Who that is, for people; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::ACCOUNT_TITLE), example = &"Ann Example")]
    pub title: Option<String>,
}

/// The account of the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThisAccount {
    /// The name of the account.
    #[schemars(example = &"ann")]
    pub account: String,
    /// Whether the account may do everything.
    pub administrator: bool,
    /// The groups that the account is in, by name.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The roles that were granted to the account or to its groups, the first 1,000 of them.
    pub roles: Vec<RoleOn>,
    /// Who that is, for people.
    #[schemars(example = &"Ann Example")]
    pub title: String,
    /// The token of the request.
    pub token: Option<Token>,
}

/// A role on an authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleOn {
    /// The authority.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// The role.
    pub role: Role,
    /// The group that the role was granted to. Left out if it was granted to the account itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub through: Option<String>,
}

/// A token, by which a caller proves which account it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// The account.
    #[schemars(example = &"ann")]
    pub account: String,
    /// The authority that the token is limited to, with all below it.
    pub authority: Option<String>,
    /// When the token was created (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// When the token ends (RFC 3339).
    #[schemars(example = &"2027-02-13T06:17:16Z")]
    pub expires: String,
    /// The day on which the token was last used, in UTC; `null` if it was never used.
    #[serde(default, rename = "last-used")]
    #[schemars(example = &"2026-11-15")]
    pub last_used: Option<String>,
    /// The highest role that the token is good for.
    pub role: Option<Role>,
    /// The token itself. Only the response that created it has this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub secret: Option<String>,
    /// What the token is for, for people.
    #[schemars(example = &"Nightly import")]
    pub title: String,
    /// The identifier of the token, which is no secret.
    pub token: String,
}

/// A token to create.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// The account: by default the one of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::ACCOUNT_NAME))]
    pub account: Option<String>,
    /// The authority that the token is limited to, with all below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"20.1000")]
    pub authority: Option<String>,
    /// How many days the token is valid: by default 90.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::TOKEN_DAYS), example = 90)]
    pub days: Option<u64>,
    /// The highest role that the token is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Role>")]
    pub role: Option<String>,
    /// What the token is for, for people; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::TOKEN_TITLE), example = &"Nightly import")]
    pub title: String,
}
