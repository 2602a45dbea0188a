//! Handle values.

use std::borrow::Cow;

use crate::field::wire_form;
use crate::permissions::Permissions;
use crate::reference::Reference;

/// A value of a handle (`handle-protocol.md` §5): the record model of every scheme.
///
/// ```text
/// index u32 · timestamp u32 · TTL type u8 · TTL u32 · permissions u8 · type str · data bytes ·
/// references list<ref>
/// ```
///
/// ```
/// use handfast_wire::{Permissions, Value};
///
/// let url = Value::new(1, "URL", b"https://example.org/");
/// assert_eq!(url.permissions, Permissions::DEFAULT);
/// assert!(url.is_type("url"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The index, unique in its record; at least 1 when stored.
    pub index: u32,
    /// When it was last changed, in seconds since 1970.
    pub timestamp: u32,
    /// How long it may be cached.
    pub ttl: Ttl,
    /// Its permissions.
    pub permissions: Permissions,
    /// The type, such as `URL`.
    pub value_type: Cow<'a, str>,
    /// Any bytes.
    pub data: Cow<'a, [u8]>,
    /// References to other values.
    pub references: Vec<Reference<'a>>,
}

/// How long a value may be cached.
///
/// ```
/// assert_eq!(handfast_wire::Ttl::default(), handfast_wire::Ttl::Relative(86_400));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ttl {
    /// Until this time, in seconds since 1970.
    Absolute(u32),
    /// For this many seconds.
    Relative(u32),
}

impl Default for Ttl {
    fn default() -> Self {
        Self::Relative(86_400)
    }
}

impl<'a> Value<'a> {
    /// A value with the usual TTL and permissions, no references and no timestamp.
    #[must_use]
    pub fn new(index: u32, value_type: &'a str, data: &'a [u8]) -> Self {
        Self {
            index,
            timestamp: 0,
            ttl: Ttl::default(),
            permissions: Permissions::default(),
            value_type: Cow::Borrowed(value_type),
            data: Cow::Borrowed(data),
            references: Vec::new(),
        }
    }

    /// Whether it is of a type, or of a subtype such as `HS_ADMIN.x`, ignoring ASCII case.
    #[must_use]
    pub fn is_type(&self, value_type: &str) -> bool {
        type_matches(&self.value_type, value_type)
    }

    /// The data as text, unless it is not UTF-8 or has control characters that no text has
    /// (`http-interfaces.md` A.15: "bytes 00–08, 14–1F, 7F make it binary").
    ///
    /// ```
    /// use handfast_wire::Value;
    ///
    /// assert_eq!(Value::new(1, "DESC", b"a\tb").text(), Some("a\tb"));
    /// assert_eq!(Value::new(1, "DESC", b"a\0b").text(), None);
    /// ```
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x14..=0x1F | 0x7F);
        if self.data.iter().any(is_binary) {
            return None;
        }
        std::str::from_utf8(&self.data).ok()
    }

    /// Whether it is a secret: a secret key, or a value that the protocol lets nobody read.
    ///
    /// ```
    /// assert!(handfast_wire::Value::new(300, "HS_SECKEY", b"secret").is_secret());
    /// ```
    #[must_use]
    pub fn is_secret(&self) -> bool {
        let is_readable = self.permissions.admin_read() || self.permissions.public_read();
        self.is_type("HS_SECKEY") || !is_readable
    }

    /// Whether anybody may read it, and it is no secret key that was left open by mistake.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.permissions.public_read() && !self.is_secret()
    }

    /// Whether all but the timestamp is the same: such a value counts as unchanged.
    #[must_use]
    pub fn is_unchanged_from(&self, other: &Value<'_>) -> bool {
        self.index == other.index
            && self.ttl == other.ttl
            && self.permissions == other.permissions
            && self.value_type == other.value_type
            && self.data == other.data
            && self.references == other.references
    }

    /// The same value, owning its bytes.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        Value {
            index: self.index,
            timestamp: self.timestamp,
            ttl: self.ttl,
            permissions: self.permissions,
            value_type: Cow::Owned(self.value_type.into_owned()),
            data: Cow::Owned(self.data.into_owned()),
            references: self
                .references
                .into_iter()
                .map(Reference::into_owned)
                .collect(),
        }
    }

    /// How many bytes its wire form has.
    #[must_use]
    pub fn encoded_length(&self) -> usize {
        let references = self.references.iter();
        let references: usize = references.map(|reference| 8 + reference.handle.len()).sum();
        Self::MIN_LENGTH + self.value_type.len() + self.data.len() + references
    }

    /// The smallest wire form.
    pub const MIN_LENGTH: usize = 26;
}

/// Whether `found` is `wanted` or a subtype of it, `wanted.…`, ignoring ASCII case.
///
/// ```
/// use handfast_wire::type_matches;
///
/// assert!(type_matches("hs_admin.x", "HS_ADMIN"));
/// assert!(!type_matches("HS_ADMINISTRATOR", "HS_ADMIN"));
/// ```
#[must_use]
pub fn type_matches(found: &str, wanted: &str) -> bool {
    found
        .split_at_checked(wanted.len())
        .is_some_and(|(head, tail)| {
            head.eq_ignore_ascii_case(wanted) && (tail.is_empty() || tail.starts_with('.'))
        })
}

wire_form!(Value<'a> { index, timestamp, ttl, permissions, value_type, data, references });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;

    #[test]
    fn the_length_is_that_of_the_bytes() {
        let mut value = Value::new(1, "URL", b"https://example.org/");
        assert_eq!(value.encoded_length(), value.to_bytes().len());
        value.references = vec![Reference::new("a/b", 3), Reference::new("", 0)];
        assert_eq!(value.encoded_length(), value.to_bytes().len());
    }

    #[test]
    fn unchanged_ignores_the_timestamp_only() {
        let old = Value {
            timestamp: 7,
            ..Value::new(1, "URL", b"x")
        };
        let new = Value {
            timestamp: 9,
            ..old.clone()
        };
        assert!(new.is_unchanged_from(&old));
        assert!(
            !Value {
                index: 2,
                ..new.clone()
            }
            .is_unchanged_from(&old)
        );
        assert!(
            !Value {
                value_type: "url".into(),
                ..new
            }
            .is_unchanged_from(&old)
        );
    }
}
