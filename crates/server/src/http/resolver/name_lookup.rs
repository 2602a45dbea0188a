//! Looking up a name: its record, with the values that everybody may read.

use std::sync::Arc;

use handfast_id::{HandleProfile, is_trimmed, recognise};
use handfast_registry::{Principal, Record, Registry, RegistryError, State};
use handfast_wire::Value;
use handfast_wire::namespace::{Namespace, namespace_value};

use crate::context::ServerContext;
use crate::http::resolver::ark;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::merged::{Merged, public};
use crate::http::resolver::path::{NameKind, RequestedName};
use crate::http::resolver::target::{appended, path_of};
use crate::http::resolver::title::own_title;
use crate::http::resolver::tombstone_page::WithdrawnName;

/// The outcome of looking a name up.
#[derive(Debug)]
pub(crate) enum NameLookup {
    /// The aliases form a loop, or are too many.
    Endless,
    /// Its prefix is not homed here.
    Foreign,
    /// Its prefix is not in use; with what is said about that.
    Inactive(String),
    /// It cannot be a name.
    Malformed(String),
    /// There is no such name.
    Missing,
    Name(Name),
    Withdrawn(WithdrawnName),
}

impl NameLookup {
    /// Why there is no name, in words for all who ask.
    pub(crate) fn failure(&self, text: &str) -> Failure {
        match self {
            Self::Inactive(message) => Failure::inactive(text, message),
            Self::Malformed(why) => {
                Failure::malformed(format!("\"{text}\" is no identifier: {why}"))
            }
            Self::Withdrawn(name) => Failure::withdrawn(name),
            Self::Endless | Self::Foreign | Self::Missing | Self::Name(_) => Failure::missing(text),
        }
    }
}

/// A name that is there, with the values that everybody may read.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// As it was registered; if a template makes it, as it was asked for.
    pub(crate) text: String,
    /// The key of its authority, if it is stored.
    authority: Option<String>,
    pub(crate) is_handle: bool,
    pub(crate) values: Vec<Value<'static>>,
    /// Of an ARK that is a part of it, what stands behind it: where it leads goes on with that.
    pub(crate) rest: String,
    /// Locations, links and headers that other names add.
    pub(crate) merged: Merged,
}

/// "The proxy follows up to 20 hops."
const MAX_ALIAS_HOPS: usize = 20;

/// Looks a name up.
pub(crate) fn find(
    registry: &Arc<Registry>,
    asked: &RequestedName<'_>,
) -> Result<NameLookup, RegistryError> {
    let text = &*asked.text;
    match registry.show(&Principal::Operator, text) {
        // only what a person typed is trimmed. A migrated name may end with white space.
        Ok(shown) if !is_trimmed(text) && is_trimmed(&shown.record.text) => Ok(not_trimmed()),
        Err(RegistryError::NotFound(_)) if !is_trimmed(text) => Ok(not_trimmed()),
        Ok(shown) => match as_public(shown.record) {
            NameLookup::Name(name) => in_namespace(registry, name),
            found => Ok(found),
        },
        Err(RegistryError::NotFound(_)) if asked.kind != NameKind::Handle => part(registry, text),
        Err(RegistryError::NotFound(_)) => {
            let read = recognise(text, &registry.rules()).ok();
            let handle = read.and_then(|read| read.identifier.spellings(&registry.rules()).handle);
            missing(registry, handle.as_deref().unwrap_or(text))
        }
        Err(RegistryError::Identifier { source, .. }) => Ok(match asked.kind {
            // A word is no name, and nothing that was asked for wrongly.
            NameKind::Prefix => NameLookup::Missing,
            _ => NameLookup::Malformed(format!("{source}: {}", source.remedy())),
        }),
        Err(error) => Err(error),
    }
}

fn not_trimmed() -> NameLookup {
    NameLookup::Malformed(
        "white space, brackets or quotation marks stand around the name: ask without them".into(),
    )
}

/// An ARK that is not there may be a part of one that is: "longest bound ancestor, remainder
/// appended to its target".
fn part(registry: &Registry, text: &str) -> Result<NameLookup, RegistryError> {
    for (whole, rest) in ark::ancestors(text) {
        match registry.show(&Principal::Operator, whole) {
            Ok(shown) => {
                return Ok(match as_public(shown.record) {
                    NameLookup::Name(name) => NameLookup::Name(Name {
                        rest: rest.to_string(),
                        ..name
                    }),
                    found => found,
                });
            }
            Err(RegistryError::NotFound(_) | RegistryError::Identifier { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(NameLookup::Missing)
}

fn as_public(record: Record) -> NameLookup {
    match record.state {
        State::Reserved => NameLookup::Missing,
        State::Withdrawn => NameLookup::Withdrawn(WithdrawnName {
            title: own_title(&record.values),
            created: record.created,
            text: record.text,
            tombstone: record.tombstone,
        }),
        State::Active => {
            let mut values = record.values;
            values.retain(Value::is_public);
            NameLookup::Name(Name {
                is_handle: record.authority.starts_with("hdl:"),
                text: record.text,
                authority: Some(record.authority),
                values,
                rest: String::new(),
                merged: Merged::default(),
            })
        }
    }
}

/// A handle that is not stored: a template makes it, its prefix is remote, or it does not exist.
fn missing(registry: &Registry, text: &str) -> Result<NameLookup, RegistryError> {
    if let Some(mut values) = registry.made_by_template(text)? {
        values.retain(Value::is_public);
        // A template makes nothing out of a base that is not there.
        if values.is_empty() {
            return Ok(NameLookup::Missing);
        }
        return in_namespace(registry, Name::made(text, values));
    }
    if registry.is_responsible(text)? && registry.delegation(text)?.is_none() {
        return Ok(NameLookup::Missing);
    }
    Ok(NameLookup::Foreign)
}

/// A name with what others say of it: the namespace of its prefix, and names that its record
/// includes.
fn in_namespace(registry: &Registry, mut name: Name) -> Result<NameLookup, RegistryError> {
    if !name.is_handle || name.text.starts_with("0.") {
        return Ok(NameLookup::Name(name));
    }
    let prefix = name.text.split('/').next().unwrap_or_default();
    let of_prefix = public(registry, &format!("0.NA/{prefix}"))?;
    let text = namespace_value(&of_prefix).and_then(Value::text);
    let namespace = text.and_then(|text| Namespace::parse(text).ok());
    if let Some(closed) = namespace
        .as_ref()
        .filter(|namespace| !namespace.is_active())
    {
        let message = closed.status_message().unwrap_or_default();
        return Ok(NameLookup::Inactive(message.trim().to_string()));
    }
    let has_own =
        |value: &Value<'_>| value.value_type.starts_with("10320/") || value.is_type("HS_NAMESPACE");
    if namespace.is_some() || name.values.iter().any(has_own) {
        name.merged = Merged::of(registry, &name.text, &name.values)?;
    }
    Ok(NameLookup::Name(name))
}

/// Follows the aliases of a name to their end; the name itself, if it is none.
pub(crate) fn follow(context: &ServerContext, name: Name) -> Result<NameLookup, RegistryError> {
    let registry = &context.registry;
    let mut at = name;
    for _ in 0..=MAX_ALIAS_HOPS {
        let Some(next) = at.alias() else {
            return Ok(NameLookup::Name(at));
        };
        match find(registry, &RequestedName::typed(&next))? {
            NameLookup::Name(name) => at = name,
            // A remote name is looked up at its own server.
            NameLookup::Foreign => {
                return Ok(NameLookup::Name(Name::made(&next, Vec::new())));
            }
            NameLookup::Missing if context.has_source(&next) => {
                return Ok(NameLookup::Name(Name::made(&next, Vec::new())));
            }
            found => return Ok(found),
        }
    }
    Ok(NameLookup::Endless)
}

impl Name {
    /// A handle that is not stored here.
    pub(crate) fn made(text: &str, values: Vec<Value<'static>>) -> Self {
        Self {
            text: text.to_string(),
            authority: None,
            is_handle: true,
            values,
            rest: String::new(),
            merged: Merged::default(),
        }
    }

    /// The handle that its `HS_ALIAS` value holds.
    pub(crate) fn alias(&self) -> Option<String> {
        let alias = self.values.iter().find(|value| value.is_type("HS_ALIAS"))?;
        let text = alias.text()?.trim();
        (!text.is_empty()).then(|| text.to_string())
    }

    /// The authority that gave it, if it is stored.
    pub(crate) fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// Whether it is a DOI.
    pub(crate) fn is_doi(&self) -> bool {
        self.is_handle && self.text.starts_with("10.")
    }

    /// A URL with the remainder of an ARK.
    pub(crate) fn with_rest(&self, url: &[u8]) -> Vec<u8> {
        appended(url, self.rest.as_bytes())
    }

    /// All values that say where it leads, those of others too.
    pub(crate) fn all_values(&self) -> impl Iterator<Item = &Value<'static>> {
        let merged = self.merged.included.iter().chain(&self.merged.shared);
        self.values.iter().chain(merged)
    }

    /// Its path at this resolver, with the slash in front.
    pub(crate) fn path(&self) -> String {
        if self.is_handle {
            // Two slashes would begin another host.
            return format!("/{}", path_of(self.text.trim_start_matches('/')));
        }
        format!("/{}", self.text)
    }

    /// Values that are URLs, those of the type itself before those of subtypes, in the order of
    /// their indexes.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &Value<'static>> {
        let plain = self.values.iter().filter(|value| is_url(value));
        let special = self.values.iter().filter(|value| is_special_url(value));
        plain.chain(special)
    }

    /// Whether its authority hands queries on (`CID-8`, `URI-12`).
    pub(crate) fn hands_queries_on(&self, registry: &Registry) -> bool {
        let prefix = self.text.split('/').next().unwrap_or_default();
        let authority = match (&self.authority, self.is_handle) {
            (Some(_), true) => registry.authority(&Principal::Operator, prefix).ok(),
            _ => None,
        };
        authority.is_some_and(|authority| authority.policy.profile() == HandleProfile::Cordra)
    }
}

/// "The first value whose type is exactly `URL` (or `0.TYPE/URL`), ignoring case."
pub(crate) fn is_url(value: &Value<'_>) -> bool {
    ["URL", "0.TYPE/URL"]
        .iter()
        .any(|name| value.value_type.eq_ignore_ascii_case(name))
}

/// "If none, the first whose type is a subtype `URL.x`."
pub(crate) fn is_special_url(value: &Value<'_>) -> bool {
    !is_url(value) && value.is_type("URL")
}
