//! Reading values from JSON.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::tree::{Tree, Wrong};
use super::{data, time};
use crate::{Permissions, Reference, Ttl, Value};

/// A value as JSON gives it: what is not said is `None`.
///
/// Members may come in any order; an unknown or repeated one is an error, and `null` means that it
/// is absent. Text without escapes is borrowed. Messages name the wrong member and never repeat its
/// content.
///
/// ```
/// use handfast_wire::json::ParsedValue;
///
/// let text = r#"{"index": "1", "type": "URL", "data": "https://example.org/"}"#;
/// let given: ParsedValue = serde_json::from_str(text)?;
/// assert_eq!((given.index, given.ttl), (1, None));
/// assert_eq!(*given.data, *b"https://example.org/");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedValue<'a> {
    /// The index, from 1 to 2³¹−1.
    pub index: u32,
    /// The type.
    pub value_type: Cow<'a, str>,
    /// The data, whatever format it is given in.
    pub data: Cow<'a, [u8]>,
    /// Its permissions.
    pub permissions: Option<Permissions>,
    /// How long it may be cached.
    pub ttl: Option<Ttl>,
    /// When it was last changed, in seconds since 1970.
    pub timestamp: Option<u32>,
    /// References to other values.
    pub references: Vec<Reference<'a>>,
}

impl<'a> ParsedValue<'a> {
    /// The same, owning its bytes.
    #[must_use]
    pub fn into_owned(self) -> ParsedValue<'static> {
        let references = self.references.into_iter();
        ParsedValue {
            value_type: Cow::Owned(self.value_type.into_owned()),
            data: Cow::Owned(self.data.into_owned()),
            references: references.map(Reference::into_owned).collect(),
            index: self.index,
            permissions: self.permissions,
            ttl: self.ttl,
            timestamp: self.timestamp,
        }
    }

    /// The value, with the usual TTL and permissions and no timestamp where nothing is said.
    #[must_use]
    pub fn into_value(self) -> Value<'a> {
        Value {
            index: self.index,
            timestamp: self.timestamp.unwrap_or_default(),
            ttl: self.ttl.unwrap_or_default(),
            permissions: self.permissions.unwrap_or_default(),
            value_type: self.value_type,
            data: self.data,
            references: self.references,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ParsedValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // `deserialize_map` would put a bare string into its message.
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = ParsedValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `index`, `type` and `data`")
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Err(E::custom(
            "a value should be an object with `index`, `type` and `data`, and is text",
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut index, mut value_type, mut data) = (None, None, None);
        let (mut permissions, mut ttl, mut timestamp) = (None, None, None);
        let mut references = None;
        while let Some(member) = map.next_key()? {
            match member {
                Member::Index => set(&mut index, "index", map.read(|tree| read_index(&tree))?)?,
                Member::Type => set(&mut value_type, "type", map.read(read_type)?)?,
                Member::Data => {
                    let GivenData(bytes) = map.next_value()?;
                    set(&mut data, "data", bytes)?;
                }
                Member::Permissions => {
                    set(
                        &mut permissions,
                        "permissions",
                        map.read(said(read_permissions))?,
                    )?;
                }
                Member::Ttl => set(&mut ttl, "ttl", map.read(said(|tree| read_ttl(&tree)))?)?,
                Member::Timestamp => set(&mut timestamp, "timestamp", map.read(said(read_time))?)?,
                Member::References => {
                    let read = said(|tree| data::references("references", tree));
                    set(&mut references, "references", map.read(read)?)?;
                }
            }
        }
        Ok(ParsedValue {
            index: index.ok_or_else(|| A::Error::missing_field("index"))?,
            value_type: value_type.ok_or_else(|| A::Error::missing_field("type"))?,
            data: data.ok_or_else(|| A::Error::missing_field("data"))?,
            permissions: permissions.flatten(),
            ttl: ttl.flatten(),
            timestamp: timestamp.flatten(),
            references: references.flatten().unwrap_or_default(),
        })
    }
}

/// The members of a value.
// In the order in which messages list them.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Index,
    Type,
    Data,
    Permissions,
    Ttl,
    Timestamp,
    References,
}

/// Fills the place of a member, which may be given once.
fn set<T, E: Error>(slot: &mut Option<T>, name: &'static str, given: T) -> Result<(), E> {
    match slot.replace(given) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

/// Reads the content of a member.
trait ReadMember<'de>: MapAccess<'de> {
    fn read<T>(
        &mut self,
        read: impl FnOnce(Tree<'de>) -> Result<T, Wrong>,
    ) -> Result<T, Self::Error> {
        read(self.next_value()?).map_err(Self::Error::custom)
    }
}

impl<'de, A: MapAccess<'de>> ReadMember<'de> for A {}

/// `null` says nothing.
fn said<'de, T>(
    read: impl FnOnce(Tree<'de>) -> Result<T, Wrong>,
) -> impl FnOnce(Tree<'de>) -> Result<Option<T>, Wrong> {
    |tree| match tree {
        Tree::Null => Ok(None),
        tree => read(tree).map(Some),
    }
}

fn read_index(tree: &Tree<'_>) -> Result<u32, Wrong> {
    tree.number()
        .filter(|index| (1..=MAX_INDEX).contains(index))
        .ok_or(Wrong::member("index", "a number from 1 to 2147483647"))
}

/// Deployed software keeps an index in four bytes with a sign.
const MAX_INDEX: u32 = 0x7FFF_FFFF;

fn read_type(tree: Tree<'_>) -> Result<Cow<'_, str>, Wrong> {
    match tree {
        Tree::Text(text) => Ok(text),
        _ => Err(Wrong::member("type", "text")),
    }
}

/// `*`, or digits from the right: public-write, public-read, admin-write, admin-read. A fifth digit
/// is common, because deployed software reads the fourth only if there is one.
fn read_permissions(tree: Tree<'_>) -> Result<Permissions, Wrong> {
    let bits = match tree {
        Tree::Text(text) if text == "*" => Some(0x0F),
        Tree::Text(text) if !text.is_empty() => text.bytes().try_fold(0_u8, |bits, byte| {
            matches!(byte, b'0' | b'1').then(|| bits << 1 | (byte - b'0'))
        }),
        _ => None,
    };
    bits.map(Permissions::from_bits).ok_or(Wrong::member(
        "permissions",
        "`*`, or digits 0 or 1 for admin-read, admin-write, public-read, public-write: \
            for example \"1110\"",
    ))
}

fn read_ttl(tree: &Tree<'_>) -> Result<Ttl, Wrong> {
    // Eight digits could be a date without separators; they are seconds.
    let ttl = match tree {
        Tree::Text(text) => tree
            .number()
            .map(Ttl::Relative)
            .or_else(|| time::read(text).map(Ttl::Absolute)),
        tree => tree.number().map(Ttl::Relative),
    };
    ttl.ok_or(Wrong::member(
        "ttl",
        "a number of seconds, or a time such as \"2026-11-15T06:17:16Z\"",
    ))
}

fn read_time(tree: Tree<'_>) -> Result<u32, Wrong> {
    let time = match tree {
        Tree::Text(text) => time::read(&text),
        _ => None,
    };
    time.ok_or(Wrong::member(
        "timestamp",
        "a time between 1970 and 2106 such as \"2026-11-15T06:17:16Z\"",
    ))
}

/// The member `data`.
struct GivenData<'a>(Cow<'a, [u8]>);

impl<'de> Deserialize<'de> for GivenData<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor).map(Self)
    }
}

struct DataVisitor;

impl DataVisitor {
    const EXPECTED: Wrong = Wrong::member(
        "data",
        "an object with `format` and `value`, text, a whole number, true or false",
    );
}

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Cow<'de, [u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the data of a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text.as_bytes()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.as_bytes().to_vec()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(if truth { b"true" } else { b"false" }))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(number.to_string().into_bytes().into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(number.to_string().into_bytes().into())
    }

    /// The text of `1.10` is lost by now, and data must be stored exactly.
    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Err(E::custom(Wrong::member(
            "data",
            "in quotes: a number that is not whole, or too large, is not kept exactly",
        )))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Err(E::custom(Self::EXPECTED))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::custom(Self::EXPECTED))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut format, mut value) = (None, None);
        while let Some(member) = map.next_key()? {
            let given: Tree = map.next_value()?;
            let (slot, name) = match member {
                DataMember::Format => (&mut format, "data.format"),
                DataMember::Value => (&mut value, "data.value"),
            };
            set(slot, name, given)?;
        }
        let format = format.ok_or_else(|| A::Error::missing_field("data.format"))?;
        let value = value.ok_or_else(|| A::Error::missing_field("data.value"))?;
        let Tree::Text(format) = format else {
            return Err(A::Error::custom(Wrong::member("data.format", "text")));
        };
        data::read(&format, value).map_err(A::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum DataMember {
    Format,
    Value,
}
