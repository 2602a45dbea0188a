//! Values of names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::limits;
use crate::words::words;

/// A value of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Value {
    /// What the value holds.
    pub data: ValueData,
    /// The number of the value, unique in its name.
    #[schemars(range(min = 1, max = limits::VALUE_INDEX), example = 1)]
    pub index: u32,
    /// Who may read and write the value: digits for admin-read, admin-write, public-read and
    /// public-write. Left out when it is `1110`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[01]{4,}$"), example = &"1100")]
    pub permissions: Option<String>,
    /// Other values that this one refers to. Left out when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// When the value was last changed (RFC 3339). Left out when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"2026-11-15T06:17:16Z")]
    pub timestamp: Option<String>,
    /// How long the value may be cached.
    pub ttl: Ttl,
    /// The type of the value.
    #[serde(rename = "type")]
    #[schemars(example = &"URL")]
    pub value_type: String,
}

/// The data of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueData {
    /// How `value` is written.
    #[schemars(with = "ValueFormat")]
    pub format: String,
    /// The data itself: a text, or for `admin`, `vlist`, `site` and `key` an object or a list.
    #[schemars(example = &"https://example.org/reports/7")]
    pub value: Json,
}

words! {
    /// How the data of a value is written.
    ValueFormat {
        /// An administrator: handle, index and permissions.
        Admin = "admin",
        /// Bytes in base64.
        Base64 = "base64",
        /// Bytes in hexadecimal digits; accepted in requests, never in responses.
        Hex = "hex",
        /// A public key, as a JSON Web Key.
        Key = "key",
        /// The description of a site.
        Site = "site",
        /// A text.
        String = "string",
        /// A list of references to values.
        Vlist = "vlist",
    }
}

/// How long a value may be cached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Ttl {
    /// For so many seconds.
    Seconds(#[schemars(range(max = u32::MAX))] u32),
    /// Until a time (RFC 3339).
    Until(String),
}

/// A reference to a value of a handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// The handle.
    #[schemars(example = &"0.NA/20.1000")]
    pub handle: String,
    /// The index of the value.
    #[schemars(range(max = u32::MAX), example = 300)]
    pub index: u32,
}

/// A value as a request gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewValue {
    /// What the value holds.
    pub data: NewData,
    /// The number of the value, unique in its name.
    #[schemars(range(min = 1, max = limits::VALUE_INDEX), example = 7)]
    pub index: u32,
    /// Who may read and write the value: `*`, or digits for admin-read, admin-write, public-read
    /// and public-write. `1110` if nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(\*|[01]+)$"), example = &"1110")]
    pub permissions: Option<String>,
    /// Other values that this one refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// How long the value may be cached: by default as the policy of its authority says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ttl>,
    /// The type of the value.
    #[serde(rename = "type")]
    #[schemars(example = &"DESC")]
    pub value_type: String,
}

/// The data of a value as a request gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NewData {
    /// A text.
    Text(#[schemars(example = &"A report")] String),
    /// Data in another format.
    Data(ValueData),
}

impl Default for NewData {
    fn default() -> Self {
        Self::Text(String::new())
    }
}
