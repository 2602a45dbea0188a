//! The parsed content of a line.

use std::borrow::Cow;

use handfast_wire::json::ParsedValue;
use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use crate::clock::parse_rfc3339;
use crate::name::record::State;

/// A name, as a line of NDJSON gives it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParsedName<'a> {
    #[serde(borrow)]
    pub(crate) id: Text<'a>,
    /// The citable link, which an export adds. It is ignored.
    #[serde(default, rename = "link")]
    pub(crate) _link: IgnoredAny,
    #[serde(borrow, default)]
    pub(crate) urls: Vec<Text<'a>>,
    /// The positions of the URLs among the URL values of the name, from 0, if they are not the
    /// first ones in order.
    #[serde(skip)]
    pub(crate) url_positions: Vec<u32>,
    #[serde(borrow, default)]
    pub(crate) values: Vec<ParsedValue<'a>>,
    #[serde(default, deserialize_with = "state")]
    pub(crate) state: Option<State>,
    #[serde(default, deserialize_with = "optional_time")]
    pub(crate) created: Option<u64>,
    #[serde(borrow, default)]
    pub(crate) withdrawn: Option<ParsedTombstone<'a>>,
    #[serde(borrow, default)]
    pub(crate) holder: Option<Text<'a>>,
}

impl<'a> ParsedName<'a> {
    /// A name with all defaults.
    pub(crate) fn new(id: impl Into<Cow<'a, str>>) -> Self {
        Self {
            id: Text(id.into()),
            ..Self::default()
        }
    }
}

/// Why a name was withdrawn.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParsedTombstone<'a> {
    #[serde(borrow)]
    pub(crate) reason: Text<'a>,
    #[serde(default, deserialize_with = "optional_time")]
    pub(crate) date: Option<u64>,
    #[serde(borrow, default)]
    pub(crate) successor: Option<Text<'a>>,
}

/// An authority, as a line of NDJSON gives it.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParsedAuthority {
    pub(crate) authority: String,
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) meaning: String,
    #[serde(default)]
    pub(crate) contact: String,
    #[serde(default)]
    pub(crate) policy: ParsedPolicy,
    #[serde(default)]
    pub(crate) grants: Vec<ParsedGrant>,
    #[serde(default)]
    pub(crate) status: ParsedStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) requested_by: Option<String>,
    /// Whether the authority that its path derives from has no rights over it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) independent: bool,
}

/// The policy of an authority; missing fields have their defaults.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ParsedPolicy {
    pub(crate) case_sensitive: Option<bool>,
    pub(crate) erasable: Option<bool>,
    pub(crate) cordra: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,
    pub(crate) approval: Option<bool>,
    pub(crate) default_ttl: Option<u32>,
}

/// A role of a principal.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParsedGrant {
    pub(crate) to: String,
    pub(crate) role: String,
}

/// The status of an authority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ParsedStatus {
    #[default]
    Active,
    Requested,
    Retired,
}

/// A text, borrowed from the line where it has no escapes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_string()))
            }
        }
        deserializer.deserialize_str(Visitor).map(Text)
    }
}

fn state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<State>, D::Error> {
    let text = Text::deserialize(deserializer)?;
    State::parse(&text.0)
        .map(Some)
        .ok_or_else(|| de::Error::custom("`state` is active, reserved or withdrawn"))
}

fn optional_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = Text::deserialize(deserializer)?;
    parse_rfc3339(&text.0)
        .map(Some)
        .ok_or_else(|| de::Error::custom("a time is written as 2026-11-15T12:00:00Z"))
}
