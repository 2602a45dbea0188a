//! Errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::authority::Role;
use crate::name::Tombstone;

/// Why a request failed, as RFC 9457 describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// A stable code of the reason, for programs.
    #[schemars(example = &"exists")]
    pub code: String,
    /// What is wrong, for people.
    #[schemars(example = &"20.1000/report-7 exists already")]
    pub detail: String,
    /// The event that made a name which exists. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", example = 7)]
    pub event: Option<u64>,
    /// What to do about it. Left out if there is no advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hint: Option<String>,
    /// The role that the caller lacks. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NeededRole")]
    pub needs: Option<NeededRole>,
    /// After how many seconds to try again. Left out if waiting does not help.
    #[serde(
        rename = "retry-after",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", example = 60)]
    pub retry_after: Option<u64>,
    /// The HTTP status.
    #[schemars(example = 409)]
    pub status: u16,
    /// The HTTP status in words.
    #[schemars(example = &"Conflict")]
    pub title: String,
    /// Why and when the name was withdrawn. Left out if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Tombstone")]
    pub withdrawn: Option<Tombstone>,
}

/// A role that a caller lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeededRole {
    /// The authority on which the role is needed.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// The role.
    pub role: Role,
}
