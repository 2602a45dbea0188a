//! Names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::is_default;
use crate::limits;
use crate::value::{NewValue, Value};
use crate::words::words;

/// A name with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Name {
    /// When the name was created (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// The account, or `INDEX:HANDLE`, to which the administration of the name was handed over.
    pub holder: Option<String>,
    /// The name as it was registered.
    #[schemars(example = &"20.1000/report-7")]
    pub id: String,
    /// Why the name could not be registered today; names of an import may be such.
    pub irregular: Option<String>,
    /// The key that the name is looked up by: all spellings of the name have the same key.
    #[schemars(example = &"20.1000/report-7")]
    pub key: String,
    /// The link by which people cite the name. Left out if the server has no public URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"https://pid.example.org/20.1000/report-7")]
    pub link: Option<String>,
    /// When the name was last changed (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub modified: String,
    /// Where the name is in its life.
    pub state: NameState,
    /// The values that the caller may read, by index.
    pub values: Vec<Value>,
    /// The version, which each change counts up. It is also the `ETag`.
    #[schemars(example = 1)]
    pub version: u64,
    /// Why and when the name was withdrawn, if it was.
    pub withdrawn: Option<Tombstone>,
}

words! {
    /// Where a name is in its life.
    NameState {
        /// The name resolves.
        Active = "active",
        /// The name is taken, and the public does not see it.
        Reserved = "reserved",
        /// The name has been withdrawn, and a tombstone says why.
        Withdrawn = "withdrawn",
    }
}

/// Why and when a name was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tombstone {
    /// When the name was withdrawn (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub date: String,
    /// Why the name was withdrawn.
    #[schemars(example = &"The report was retracted")]
    pub reason: String,
    /// The name that takes its place, if there is one.
    pub successor: Option<String>,
}

/// A name in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedName {
    /// The name as it was registered.
    #[schemars(example = &"20.1000/report-7")]
    pub id: String,
    /// The link by which people cite the name. Left out if the server has no public URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"https://pid.example.org/20.1000/report-7")]
    pub link: Option<String>,
    /// Where the name is in its life.
    pub state: NameState,
}

/// A page of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamePage {
    /// The names, in the order of their keys.
    pub names: Vec<ListedName>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// A name to create. `V` is what reads the values: the server has a reader that also accepts the
/// spellings of other handle servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "V: Deserialize<'de>"))]
#[schemars(rename = "NewName")]
#[schemars(description = "A name to create.")]
pub struct NewName<V = NewValue> {
    /// The name, in any spelling.
    #[schemars(example = &"20.1000/report-7")]
    pub id: String,
    /// The state of the new name: by default `active`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: NewNameState,
    /// URLs of the name, in order. They become its first `URL` values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)), extend("examples" = [["https://example.org/reports/7"]]))]
    pub urls: Vec<String>,
    /// Other values of the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::VALUES))]
    pub values: Vec<V>,
}

/// The state of a name that is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NewNameState {
    /// The name resolves at once.
    #[default]
    Active,
    /// The name is taken, and the public does not see it until it is activated.
    Reserved,
}

/// A change of the values of a name. At least one member is needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "V: Deserialize<'de>"))]
#[schemars(rename = "NameChange", extend("minProperties" = 1))]
pub struct NameChange<V = NewValue> {
    /// Indexes of the values to remove.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1, max = limits::VALUE_INDEX)))]
    pub remove: Vec<u32>,
    /// The URLs of the name, in order. They replace all URLs that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(min = 1)), extend("examples" = [["https://example.org/reports/7"]]))]
    pub urls: Option<Vec<String>>,
    /// Values to add, or to put in the place of those with the same index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::VALUES))]
    pub values: Vec<V>,
}

/// Why a name is withdrawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTombstone {
    /// Why the name is withdrawn, for the public; at most 10,000 bytes.
    #[schemars(
        length(min = 1, max = limits::WITHDRAWAL_REASON),
        example = &"The report was retracted"
    )]
    pub reason: String,
    /// The name that takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"20.1000/report-8")]
    pub successor: Option<String>,
}

/// Who takes over a name or an authority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Create the account if there is none; administrators may.
    #[serde(default, skip_serializing_if = "is_default")]
    pub create: bool,
    /// An account, or `INDEX:HANDLE`.
    #[schemars(example = &"ann")]
    pub to: String,
}

/// Which change of a name to undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUndo {
    /// The number of the event; by default the last one of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub event: Option<u64>,
}

/// An event in the history of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// What was done.
    #[schemars(example = &"change")]
    pub action: String,
    /// The values that the event added, changed or removed.
    pub changes: Vec<ValueDifference>,
    /// The number of the event in the log.
    #[schemars(example = 7)]
    pub event: u64,
    /// Who administers the name since a transfer.
    pub holder: Option<String>,
    /// Why a withdrawal was made.
    pub reason: Option<String>,
    /// The state of the name after the event; `null` if the version has been erased.
    pub state: Option<NameState>,
    /// The name to use instead, after a withdrawal that names one. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// When it happened (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub time: String,
    /// The values after the event, without secrets; `null` if the version has been erased.
    pub values: Option<Vec<Value>>,
    /// The version that the event made.
    #[schemars(example = 2)]
    pub version: u64,
    /// Who did it, for callers that may see that.
    pub who: Option<String>,
}

/// What an event did to one value. The data of a secret is left empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueDifference {
    /// The value after the event; `null` if the event removed it.
    pub after: Option<Value>,
    /// The value before the event; `null` if the event added it.
    pub before: Option<Value>,
    /// The index of the value.
    #[schemars(example = 1)]
    pub index: u32,
}

/// A page of the history of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// Names to mint: the server chooses their local parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMint {
    /// The authority of the names.
    #[schemars(example = &"20.1000")]
    pub authority: String,
    /// How many names to make: by default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = limits::MINTED), example = 1)]
    pub count: u64,
    /// Reserve the names: the public does not see them until they are activated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reserve: bool,
    /// How local parts are chosen: `guid`, `guid-v1`, `uuid`, `random[:LENGTH]` (4 to 64) or
    /// `sequence[:TEXT[:WIDTH]]`, a number after a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"random:9")]
    pub style: Option<String>,
    /// URLs of each name, in which `{name}` stands for its local part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        inner(length(min = 1)),
        extend("examples" = [["https://example.org/reports/{name}"]])
    )]
    pub urls: Vec<String>,
}

fn one() -> u64 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is serde's"
)]
fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Names that were minted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Minted {
    /// The names, in the order in which they were made.
    pub names: Vec<MintedName>,
}

/// A name that was minted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MintedName {
    /// The name.
    #[schemars(example = &"20.1000/x8k2m9q4r")]
    pub id: String,
    /// The link by which people cite the name. Left out if the server has no public URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"https://pid.example.org/20.1000/x8k2m9q4r")]
    pub link: Option<String>,
    /// Its URLs.
    #[schemars(extend("examples" = [["https://example.org/reports/7"]]))]
    pub urls: Vec<String>,
}
