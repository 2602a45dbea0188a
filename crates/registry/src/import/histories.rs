//! Finding out whether a name of an import has events, though it has no record.

use std::ops::ControlFlow;

use handfast_store::{Snapshot, StoreError, TableKey};

/// Looks keys up in ascending order. There is nothing between two neighbouring entries of the
/// table, so most keys need no more than a comparison with the last entry.
#[derive(Default)]
pub(crate) struct Histories {
    /// The last key, and the first entry at or after it.
    known: Option<(Vec<u8>, Option<Vec<u8>>)>,
    table_key: Vec<u8>,
}

/// How many bytes of a long name are part of its stored key.
const LONG_KEY_PREFIX_BYTES: usize = 448;
/// The longest key that is compared: the 8 bytes of a number follow it.
const MAX_KEY: usize = LONG_KEY_PREFIX_BYTES - 8;

impl Histories {
    /// Whether a key certainly has no events.
    pub(crate) fn has_none(&mut self, now: &Snapshot<'_>, key: &str) -> Result<bool, StoreError> {
        let key = key.as_bytes();
        if key.len() > MAX_KEY {
            return Ok(first_behind(now, key)?.is_none_or(|entry| !is_alike(key, &entry)));
        }
        self.table_key.clear();
        self.table_key.extend_from_slice(key);
        self.table_key.extend_from_slice(&[0; 8]);
        let is_between = self.known.as_ref().is_some_and(|(from, next)| {
            *from <= self.table_key && next.as_ref().is_none_or(|next| *next >= self.table_key)
        });
        if !is_between {
            self.known = Some((self.table_key.clone(), first_behind(now, key)?));
        }
        let next = self.known.as_ref().and_then(|(_, next)| next.as_ref());
        Ok(next.is_none_or(|next| !is_alike(key, next)))
    }
}

/// Whether an entry may belong to a key, or stand before its entries.
fn is_alike(key: &[u8], entry: &[u8]) -> bool {
    let length = key.len().min(LONG_KEY_PREFIX_BYTES);
    entry.get(..length) == key.get(..length)
}

/// The first entry at or after those of a key, as far as its stored key contains the name.
fn first_behind(now: &Snapshot<'_>, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
    let mut found = None;
    now.scan(&TableKey::event_of(key, 0), &mut |table_key, _| {
        let name = table_key.name();
        let mut entry = name.get(..LONG_KEY_PREFIX_BYTES).unwrap_or(name).to_vec();
        if name.len() < LONG_KEY_PREFIX_BYTES {
            entry.extend_from_slice(&table_key.number().unwrap_or_default().to_be_bytes());
        }
        found = Some(entry);
        ControlFlow::Break(())
    })?;
    Ok(found)
}
