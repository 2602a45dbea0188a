//! Tables and the keys in them.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The tables of a store.
///
/// | table | key | holds |
/// | --- | --- | --- |
/// | `meta` | a word | the format, and what there is one of |
/// | `records` | key of a name | its record |
/// | `versions` | key and number | earlier versions of a record |
/// | `authorities` | path | authorities |
/// | `namespaces` | name | entries of the `info` registry |
/// | `events` | number | events |
/// | `events-by-key` | key and number | nothing: which events a name has |
/// | `reverse` | type and value | keys of names that hold the value |
/// | `accounts` | name | accounts |
/// | `actors` | opaque id | who that is |
/// | `jobs` | number | long work |
/// | `tiles` | number | hashes of the proof log |
///
/// ```
/// assert_eq!(handfast_store::Table::EventsByKey.name(), "events-by-key");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// Principals by opaque id.
    Actors,
    /// Accounts by name.
    Accounts,
    /// Authorities by path.
    Authorities,
    /// Events by number.
    Events,
    /// The events of each name.
    EventsByKey,
    /// Jobs.
    Jobs,
    /// The format, and other single values.
    Meta,
    /// Entries of the `info` registry.
    Namespaces,
    /// Records by key.
    Records,
    /// The index of values: which names have a value.
    Reverse,
    /// Hashes of the proof log.
    Tiles,
    /// Earlier versions of records.
    Versions,
}

impl Table {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 12] = [
        Self::Actors,
        Self::Accounts,
        Self::Authorities,
        Self::Events,
        Self::EventsByKey,
        Self::Jobs,
        Self::Meta,
        Self::Namespaces,
        Self::Records,
        Self::Reverse,
        Self::Tiles,
        Self::Versions,
    ];

    /// Its name on disk.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Actors => "actors",
            Self::Accounts => "accounts",
            Self::Authorities => "authorities",
            Self::Events => "events",
            Self::EventsByKey => "events-by-key",
            Self::Jobs => "jobs",
            Self::Meta => "meta",
            Self::Namespaces => "namespaces",
            Self::Records => "records",
            Self::Reverse => "reverse",
            Self::Tiles => "tiles",
            Self::Versions => "versions",
        }
    }

    /// Its index in [`ALL`](Self::ALL).
    #[expect(
        clippy::as_conversions,
        reason = "the number of a variant without fields"
    )]
    pub(crate) fn number(self) -> usize {
        self as usize
    }

    /// Whether a key has several values, which are sorted.
    pub(crate) fn is_multiple(self) -> bool {
        self == Self::Reverse
    }

    fn is_numbered(self) -> bool {
        matches!(
            self,
            Self::Events | Self::EventsByKey | Self::Jobs | Self::Tiles | Self::Versions
        )
    }
}

/// A key longer than this, in bytes, is stored as its beginning and its digest.
const MAX_KEY_BYTES: usize = 480;
/// How many bytes of a long key are stored as they are, for the order of listings.
pub(crate) const LONG_KEY_PREFIX_BYTES: usize = 448;

/// A key in a table.
///
/// ```
/// use handfast_store::TableKey;
///
/// let table_key = TableKey::version(b"hdl:20.1000/X", 7);
/// assert_eq!(table_key.name(), b"hdl:20.1000/X");
/// assert_eq!(table_key.number(), Some(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableKey<'a> {
    table: Table,
    name: Cow<'a, [u8]>,
    number: Option<u64>,
}

impl<'a> TableKey<'a> {
    /// A key in a table whose keys are names.
    #[must_use]
    pub fn named(table: Table, name: &'a [u8]) -> Self {
        Self {
            table,
            name: Cow::Borrowed(name),
            number: None,
        }
    }

    /// A key in a table whose keys are numbers.
    #[must_use]
    pub fn numbered(table: Table, number: u64) -> Self {
        Self {
            table,
            name: Cow::Borrowed(&[]),
            number: Some(number),
        }
    }

    /// The record of a name.
    #[must_use]
    pub fn record(key: &'a [u8]) -> Self {
        Self::named(Table::Records, key)
    }

    /// An earlier version of a record.
    #[must_use]
    pub fn version(key: &'a [u8], version: u64) -> Self {
        Self {
            number: Some(version),
            ..Self::named(Table::Versions, key)
        }
    }

    /// An event.
    #[must_use]
    pub fn event(number: u64) -> Self {
        Self::numbered(Table::Events, number)
    }

    /// An event of a name.
    #[must_use]
    pub fn event_of(key: &'a [u8], number: u64) -> Self {
        Self {
            number: Some(number),
            ..Self::named(Table::EventsByKey, key)
        }
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> Table {
        self.table
    }

    /// The name in its key.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The number in its key.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// A table key that owns its name.
    #[must_use]
    pub fn into_owned(self) -> TableKey<'static> {
        TableKey {
            table: self.table,
            name: Cow::Owned(self.name.into_owned()),
            number: self.number,
        }
    }

    /// The key on disk.
    pub(crate) fn encoded(&self) -> Cow<'_, [u8]> {
        let name = short_name(&self.name);
        match self.number {
            None => name,
            Some(number) => {
                let mut key = name.into_owned();
                key.extend_from_slice(&number.to_be_bytes());
                Cow::Owned(key)
            }
        }
    }

    /// Whether the full name precedes the value. A name of exactly the maximum length looks like a
    /// shortened one, so it does as well.
    pub(crate) fn has_name_in_value(&self) -> bool {
        self.name.len() >= MAX_KEY_BYTES
    }

    /// Adds the full name before the value, if the stored key does not contain it.
    pub(crate) fn wrap<'v>(&self, value: &'v [u8]) -> Cow<'v, [u8]> {
        if !self.has_name_in_value() {
            return Cow::Borrowed(value);
        }
        let mut wrapped = Vec::with_capacity(4 + self.name.len() + value.len());
        let length = u32::try_from(self.name.len()).unwrap_or(u32::MAX);
        wrapped.extend_from_slice(&length.to_be_bytes());
        wrapped.extend_from_slice(&self.name);
        wrapped.extend_from_slice(value);
        Cow::Owned(wrapped)
    }

    /// Removes the name before a value that was found under this key. `None` if it belongs to
    /// another name with the same digest, or is damaged.
    pub(crate) fn unwrap<'v>(&self, value: &'v [u8]) -> Option<&'v [u8]> {
        if !self.has_name_in_value() {
            return Some(value);
        }
        let (name, value) = split_wrapped(value)?;
        (name == &*self.name).then_some(value)
    }
}

/// Reads a key and a value from the disk: the table key, and the value itself.
pub(crate) fn read<'v>(
    table: Table,
    key: &'v [u8],
    value: &'v [u8],
) -> Option<(TableKey<'v>, &'v [u8])> {
    let (short, number) = if table.is_numbered() {
        let (short, number) = key.split_last_chunk()?;
        (short, Some(u64::from_be_bytes(*number)))
    } else {
        (key, None)
    };
    let (name, value) = if short.len() == MAX_KEY_BYTES {
        split_wrapped(value)?
    } else {
        (short, value)
    };
    // A name that does not match its stored key is damaged.
    if short_name(name) != short {
        return None;
    }
    Some((
        TableKey {
            table,
            name: Cow::Borrowed(name),
            number,
        },
        value,
    ))
}

fn split_wrapped(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = value.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

/// A value as the table `reverse` stores it: long ones are shortened.
///
/// ```
/// let value = b"URL\0https://example.org/";
/// assert_eq!(&*handfast_store::index_value(value), value);
/// assert_eq!(handfast_store::index_value(&[b'x'; 9_999]).len(), 480);
/// ```
#[must_use]
pub fn index_value(value: &[u8]) -> Cow<'_, [u8]> {
    short_name(value)
}

/// The rule for long keys: the first 448 bytes and the SHA-256 of the whole.
pub(crate) fn short_name(name: &[u8]) -> Cow<'_, [u8]> {
    if name.len() <= MAX_KEY_BYTES {
        return Cow::Borrowed(name);
    }
    let mut short = name
        .get(..LONG_KEY_PREFIX_BYTES)
        .unwrap_or_default()
        .to_vec();
    short.extend_from_slice(&Sha256::digest(name));
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length_come_back() {
        for length in [0, 1, 447, 448, 479, 480, 481, 2_052, 8_192] {
            let name = vec![b'x'; length];
            for table_key in [
                TableKey::record(&name),
                TableKey::version(&name, 3),
                TableKey::event_of(&name, 9),
            ] {
                let (key, value) = (table_key.encoded(), table_key.wrap(b"value"));
                assert!(key.len() <= 488);
                assert_eq!(
                    read(table_key.table(), &key, &value),
                    Some((table_key.clone(), &b"value"[..]))
                );
                assert_eq!(table_key.unwrap(&value), Some(&b"value"[..]));
            }
        }
    }

    #[test]
    fn a_name_that_looks_like_a_shortened_one_is_not_taken_for_it() {
        let long = vec![b'y'; 600];
        let impostor = short_name(&long).into_owned();
        assert_eq!(
            TableKey::record(&long).encoded(),
            TableKey::record(&impostor).encoded()
        );
        let stored = TableKey::record(&long).wrap(b"1").into_owned();
        assert_eq!(TableKey::record(&impostor).unwrap(&stored), None);
    }
}
