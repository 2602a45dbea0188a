//! The tree of the proof log in the store.
//!
//! Each commit stores the right edge, so that a change costs a few hashes. Roots of tiles are
//! stored when the tiles are complete, and leaf hashes follow their events. All other hashes are
//! computed from these.

use std::ops::ControlFlow;

use handfast_log::{Hash, Hashes, TileHash, Tree};
use handfast_store::{Loading, Snapshot, Table, TableKey, Write};

use crate::error::RegistryError;

/// The key of the right edge.
fn edge() -> TableKey<'static> {
    TableKey::named(Table::Meta, b"tree")
}

/// The key of the root of a tile.
fn tile_key(level: u8, index: u64) -> TableKey<'static> {
    TableKey::numbered(Table::Tiles, u64::from(level) << 56 | index)
}

/// The tile whose root is stored under a number.
pub(crate) fn level_and_index(number: u64) -> (u8, u64) {
    let level = u8::try_from(number >> 56).unwrap_or_default();
    (level, number & ((1 << 56) - 1))
}

/// The tree of all events.
pub(crate) fn read(now: &Snapshot<'_>) -> Result<Tree, RegistryError> {
    let corrupt = |_| RegistryError::corrupt("the tree of the log");
    match now.get(&edge(), Tree::from_bytes)? {
        Some(tree) => tree.map_err(corrupt),
        None => Ok(Tree::default()),
    }
}

/// Appends the leaf of an event; completed tiles are added to the writes.
pub(crate) fn push(tree: &mut Tree, leaf: Hash, writes: &mut Vec<Write>) {
    tree.append(leaf, &mut |tile: TileHash| {
        writes.push(Write::put(tile_key(tile.level, tile.index), &tile.hash));
    });
}

/// Appends the leaf of an event in a load.
pub(crate) fn append(
    tree: &mut Tree,
    leaf: Hash,
    loading: &mut Loading<'_>,
) -> Result<(), RegistryError> {
    let mut outcome = Ok(());
    tree.append(leaf, &mut |tile: TileHash| {
        if outcome.is_ok() {
            outcome = loading.put(&tile_key(tile.level, tile.index), &tile.hash);
        }
    });
    Ok(outcome?)
}

/// Writes the right edge.
pub(crate) fn edge_write(tree: &Tree) -> Write {
    Write::Put(edge(), tree.to_bytes())
}

/// Writes the right edge in a load.
pub(crate) fn write(tree: &Tree, loading: &mut Loading<'_>) -> Result<(), RegistryError> {
    Ok(loading.apply(&edge_write(tree))?)
}

/// The hashes of a snapshot.
pub(crate) struct StoredHashes<'n>(pub(crate) &'n Snapshot<'n>);

impl Hashes for StoredHashes<'_> {
    type Error = RegistryError;

    fn hash(&self, level: u8, index: u64) -> Result<Hash, RegistryError> {
        let found = self.hashes(level, index, 1)?;
        found.first().copied().ok_or_else(|| missing(level, index))
    }

    fn hashes(&self, level: u8, start: u64, count: u16) -> Result<Vec<Hash>, RegistryError> {
        // Event numbers start at 1.
        let from = match level {
            0 => TableKey::event(start + 1),
            level => tile_key(level, start),
        };
        let mut hashes = Vec::with_capacity(usize::from(count));
        self.0.scan(&from, &mut |found, bytes| {
            let next = from.number().unwrap_or_default() + u64::try_from(hashes.len()).unwrap_or(0);
            if found.number() != Some(next) || hashes.len() == usize::from(count) {
                return ControlFlow::Break(());
            }
            hashes.extend(bytes.last_chunk::<32>().copied());
            ControlFlow::Continue(())
        })?;
        if hashes.len() == usize::from(count) {
            Ok(hashes)
        } else {
            Err(missing(level, start))
        }
    }
}

fn missing(level: u8, index: u64) -> RegistryError {
    RegistryError::corrupt(format!("hash {index} of level {level} of the log"))
}
