//! The server itself, searching, and identifiers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::authority::AuthorityStatus;
use crate::name::ListedName;

/// What this server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    /// The name of the program.
    #[schemars(example = &"handfast")]
    pub name: String,
    /// The URL of the `OpenAPI` document.
    #[schemars(example = &"https://names.example.org/api/v1/openapi.json")]
    pub openapi: String,
    /// How this server resolves identifiers.
    pub resolver: Resolver,
    /// The version of the program.
    #[schemars(example = &"0.2.0")]
    pub version: String,
    /// Who the caller is, if the request has a token.
    pub who: Option<String>,
}

/// How a server resolves identifiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Resolver {
    /// The base URL.
    #[schemars(example = &"https://names.example.org")]
    pub base: String,
    /// Segments that may stand before a handle in a path.
    #[schemars(extend("examples" = [["", "hdl"]]))]
    pub first_segments: Vec<String>,
    /// First segments of paths that the server itself uses.
    #[schemars(extend("examples" = [["api"]]))]
    pub taken_segments: Vec<String>,
}

/// How much there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Statistics {
    /// How many accounts there are.
    pub accounts: u64,
    /// The last event that the counts by scheme and state include; `null` before the first count.
    pub as_of_event: Option<u64>,
    /// How many authorities there are, without those that are only requested.
    pub authorities: u64,
    /// The time of that event (RFC 3339).
    pub counted: Option<String>,
    /// How many events there are.
    pub events: u64,
    /// How many jobs there are.
    pub jobs: u64,
    /// How many jobs are running.
    pub jobs_under_way: usize,
    /// The log.
    pub log: LogSize,
    /// How many names there are.
    pub names: u64,
    /// How many names each scheme has, as of that event.
    pub names_by_scheme: Option<BTreeMap<String, u64>>,
    /// How many names are in each state, as of that event.
    pub names_by_state: Option<BTreeMap<String, u64>>,
    /// How many earlier versions of names there are.
    pub versions: u64,
}

/// The size of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogSize {
    /// The name of the log.
    #[schemars(example = &"example.org/names")]
    pub origin: String,
    /// How many events it has.
    pub size: u64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The authorities; all of them are on the first page.
    pub authorities: Vec<FoundAuthority>,
    /// The names.
    pub names: Vec<ListedName>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// An authority that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundAuthority {
    /// The path of the authority.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// Where the authority is in its life.
    pub status: AuthorityStatus,
    /// Its title.
    #[schemars(example = &"The library")]
    pub title: String,
}

/// What an identifier is. If `ok` is false, only `input`, `ok` and `error` are there; otherwise
/// there is no `error`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// The text that was asked about.
    #[schemars(example = &"HDL:20.1000/Report-7")]
    pub input: String,
    /// Whether it is an identifier.
    pub ok: bool,
    /// Its scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"hdl")]
    pub scheme: Option<String>,
    /// Its canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"hdl:20.1000/Report-7")]
    pub canonical: Option<String>,
    /// Its parts, by name: texts, lists of texts, true, false or `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Json>")]
    pub components: Option<Map<String, Json>>,
    /// Its spellings in other schemes, by scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Json>")]
    pub spellings: Option<Map<String, Json>>,
    /// What a reader should know about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub note: Option<String>,
    /// Why it is no identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "InspectionError")]
    pub error: Option<InspectionError>,
}

/// Why a text is no identifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectionError {
    /// A stable code of the reason.
    pub code: String,
    /// The place of the error, in bytes from the start.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}
