//! Building proofs.
//!
//! A log stores its leaf hashes and the roots of its full tiles; the hashes between are computed
//! from them. Each function here asks for tiles from the left edge of a tile to its end, or as far
//! as the tree reaches, and for each tile once: at most two of each level.
//!
//! ```
//! use handfast_log::{Hash, Hashes, inclusion, leaf_hash, root_at, verify_inclusion};
//!
//! /// A log of fewer than 256 entries has leaf hashes alone.
//! struct Small(Vec<Hash>);
//!
//! impl Hashes for Small {
//!     type Error = std::num::TryFromIntError;
//!
//!     fn hash(&self, _level: u8, index: u64) -> Result<Hash, Self::Error> {
//!         Ok(self.0[usize::try_from(index)?])
//!     }
//! }
//!
//! let log = Small((0_u8..100).map(|number| leaf_hash(&[number])).collect());
//! let proof = inclusion(&log, 42, 100)?;
//! verify_inclusion(&leaf_hash(&[42]), 42, 100, &proof, &root_at(&log, 100)?)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, HashMap};

use crate::{Hash, Tile, Tree, empty_root, node_hash};

/// Where the hashes of a log come from.
pub trait Hashes {
    /// Why a hash cannot be read.
    type Error;

    /// Hash number `index` of a tile level: at level 0 a leaf hash, at level L the root of the
    /// 256^L leaves that begin at `index` · 256^L.
    fn hash(&self, level: u8, index: u64) -> Result<Hash, Self::Error>;

    /// `count` consecutive hashes of a level, from number `start` on; never more than 256, and
    /// never across the edge of a tile.
    fn hashes(&self, level: u8, start: u64, count: u16) -> Result<Vec<Hash>, Self::Error> {
        (start..)
            .take(usize::from(count))
            .map(|index| self.hash(level, index))
            .collect()
    }
}

/// The root of the tree of the first `size` leaves.
pub fn root_at<H: Hashes>(hashes: &H, size: u64) -> Result<Hash, ProveError<H::Error>> {
    if size == 0 {
        return Ok(empty_root());
    }
    Tiles::new(hashes, size).root(0, size)
}

/// The proof that leaf `index` is in the tree of the first `size` leaves.
///
/// RFC 6962 §2.1.1: "the shortest list of additional nodes in the Merkle Tree required to compute
/// the Merkle Tree Hash for that tree".
pub fn inclusion<H: Hashes>(
    hashes: &H,
    index: u64,
    size: u64,
) -> Result<Vec<Hash>, ProveError<H::Error>> {
    Inclusions::new(hashes, size).of(index)
}

/// Makes the inclusion proofs of many leaves of one tree. What their proofs have in common is
/// computed once, and no tile is read twice if their indexes ascend.
pub struct Inclusions<'a, H> {
    tiles: Tiles<'a, H>,
    /// The roots that were computed, by their first leaf and the one behind their last.
    roots: HashMap<(u64, u64), Hash>,
}

impl<'a, H: Hashes> Inclusions<'a, H> {
    /// Proofs in the tree of the first `size` leaves.
    pub fn new(hashes: &'a H, size: u64) -> Self {
        let (tiles, roots) = (Tiles::new(hashes, size), HashMap::new());
        Self { tiles, roots }
    }

    /// The proof that leaf `index` is in the tree, as [`inclusion`] makes it.
    pub fn of(&mut self, index: u64) -> Result<Vec<Hash>, ProveError<H::Error>> {
        let size = self.tiles.size;
        if index >= size {
            return Err(ProveError::IndexBeyond { index, size });
        }
        self.tiles.forget_all_but_around(index);
        let mut proof = Vec::new();
        let (mut start, mut end) = (0, size);
        while end - start > 1 {
            let middle = split(start, end);
            if index < middle {
                proof.push(self.root(middle, end)?);
                end = middle;
            } else {
                proof.push(self.root(start, middle)?);
                start = middle;
            }
        }
        proof.reverse();
        Ok(proof)
    }

    fn root(&mut self, start: u64, end: u64) -> Result<Hash, ProveError<H::Error>> {
        if let Some(root) = self.roots.get(&(start, end)) {
            return Ok(*root);
        }
        let root = self.tiles.root(start, end)?;
        self.roots.insert((start, end), root);
        Ok(root)
    }
}

/// The proof that the tree of the first `new` leaves continues that of the first `old`; empty if
/// `old` is 0 or the same.
///
/// RFC 6962 §2.1.2: "the list of nodes in the Merkle Tree required to verify that the first m
/// inputs D\[0:m\] are equal in both trees".
pub fn consistency<H: Hashes>(
    hashes: &H,
    old: u64,
    new: u64,
) -> Result<Vec<Hash>, ProveError<H::Error>> {
    if old > new {
        return Err(ProveError::Shrunk {
            old_size: old,
            new_size: new,
        });
    }
    let mut proof = Vec::new();
    if old == 0 {
        return Ok(proof);
    }
    let mut tiles = Tiles::new(hashes, new);
    let (mut start, mut end) = (0, new);
    while end != old {
        let middle = split(start, end);
        if old <= middle {
            proof.push(tiles.root(middle, end)?);
            end = middle;
        } else {
            proof.push(tiles.root(start, middle)?);
            start = middle;
        }
    }
    // From the left edge to the end of the old tree is the old tree, whose root the verifier knows.
    if start > 0 {
        proof.push(tiles.root(start, end)?);
    }
    proof.reverse();
    Ok(proof)
}

/// RFC 6962 §2.1: "let k be the largest power of two smaller than n", for the leaves from `start`
/// to `end`, of which there are at least two.
fn split(start: u64, end: u64) -> u64 {
    start + (1 << (end - start - 1).ilog2())
}

/// The tiles of a tree of `size` leaves, as far as they have been read.
struct Tiles<'a, H> {
    hashes: &'a H,
    size: u64,
    read: BTreeMap<Tile, Vec<Hash>>,
}

impl<'a, H: Hashes> Tiles<'a, H> {
    fn new(hashes: &'a H, size: u64) -> Self {
        Self {
            hashes,
            size,
            read: BTreeMap::new(),
        }
    }

    /// Forgets the tiles that contain neither the leaf nor the right edge of the tree.
    fn forget_all_but_around(&mut self, index: u64) {
        let size = self.size;
        self.read.retain(|tile, _| {
            let leaves = 8 * (u32::from(tile.level()) + 1);
            let tile_of = |leaf: u64| leaf.checked_shr(leaves).unwrap_or(0);
            [tile_of(index), tile_of(size)].contains(&tile.index())
        });
    }

    /// The root of the leaves from `start` to `end`, at least one. `start` is a multiple of some
    /// power of two that is no smaller than their number, as every node's first leaf is.
    ///
    /// Read in base 256, their number says how many whole tile hashes of each level follow each
    /// other, the largest first.
    fn root(&mut self, start: u64, end: u64) -> Result<Hash, ProveError<H::Error>> {
        let count = end - start;
        let mut found: Option<Hash> = None;
        for (level, row) in (0..).zip(count.to_le_bytes()) {
            if row == 0 {
                continue;
            }
            let height = 8 * u32::from(level);
            // Larger ones come before these.
            let larger = (count >> height) - u64::from(row);
            let first = (start >> height) + larger;
            for peak in self.row(level, first, row)?.peaks_upwards() {
                found = Some(match found {
                    Some(right) => node_hash(peak, &right),
                    None => *peak,
                });
            }
        }
        Ok(found.unwrap_or_else(empty_root))
    }

    /// Up to 255 hashes of a level, all of one tile, as a tree.
    fn row(&mut self, level: u8, first: u64, count: u8) -> Result<Tree, ProveError<H::Error>> {
        let missing = ProveError::Missing {
            level,
            index: first,
        };
        let Some(tile) = Tile::of(level, first / 256, self.size) else {
            return Err(missing);
        };
        if !self.read.contains_key(&tile) {
            let read = self.hashes.hashes(level, tile.first(), tile.width());
            self.read.insert(tile, read.map_err(ProveError::Hashes)?);
        }
        let in_tile = usize::try_from(first % 256).unwrap_or(usize::MAX);
        let row = self
            .read
            .get(&tile)
            .filter(|read| read.len() == usize::from(tile.width()))
            .and_then(|read| read.get(in_tile..)?.get(..usize::from(count)));
        let mut tree = Tree::default();
        for hash in row.ok_or(missing)? {
            tree.append(*hash, &mut |_| ());
        }
        Ok(tree)
    }
}

/// Why a proof cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError<E> {
    /// The hashes cannot be read.
    #[error("the hashes of the log cannot be read")]
    Hashes(#[source] E),
    /// There is no such leaf.
    #[error("the tree has {size} entries, none of them is number {index} (the first is 0)")]
    IndexBeyond {
        /// The number of the leaf.
        index: u64,
        /// How many there are.
        size: u64,
    },
    /// Other than as many hashes as were asked for have been read.
    #[error("the log holds no hash {index} of level {level}, or not all of its tile")]
    Missing {
        /// The tile level.
        level: u8,
        /// Which hash of it.
        index: u64,
    },
    /// A log only grows.
    #[error("a log of {old_size} entries cannot become one of {new_size}")]
    Shrunk {
        /// How many entries there were.
        old_size: u64,
        /// How many there are said to be now.
        new_size: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{self, Definition, Memory, wide};
    use crate::{verify_consistency, verify_inclusion};

    #[test]
    fn roots_and_inclusion_are_those_of_the_definition() {
        let leaves = reference::leaves(300);
        let definition = Definition::new(&leaves);
        let memory = Memory::new(&leaves);
        for size in 0..=300_usize {
            let root = definition.root(size);
            assert_eq!(root_at(&memory, wide(size)), Ok(root), "{size}");
            // Every leaf of small trees and of those around the edge of a tile; some of the others,
            // whose every leaf would take half a minute.
            let step = if size <= 70 || (254..=259).contains(&size) {
                1
            } else {
                13
            };
            for index in (0..size).step_by(step) {
                let proof = inclusion(&memory, wide(index), wide(size)).unwrap();
                assert_eq!(proof, definition.path(index, size));
                let leaf = &leaves[index];
                verify_inclusion(leaf, wide(index), wide(size), &proof, &root).unwrap();
            }
        }
    }

    #[test]
    fn consistency_is_that_of_the_definition() {
        let leaves = reference::leaves(300);
        let definition = Definition::new(&leaves);
        let memory = Memory::new(&leaves);
        let roots: Vec<_> = (0..=300).map(|n| definition.root(n)).collect();
        for new in 0..=300_usize {
            let step = if new <= 70 || (254..=259).contains(&new) {
                1
            } else {
                13
            };
            for old in (0..=new).step_by(step) {
                let proof = consistency(&memory, wide(old), wide(new)).unwrap();
                assert_eq!(proof, definition.proof(old, new), "{old} {new}");
                verify_consistency(wide(old), &roots[old], wide(new), &roots[new], &proof).unwrap();
            }
        }
    }

    #[test]
    fn proofs_across_three_levels_hold_and_read_each_tile_once() {
        let leaves = reference::leaves(70_000);
        let memory = Memory::new(&leaves);
        let root = root_at(&memory, 70_000).unwrap();
        assert_eq!(root, Definition::new(&leaves).root(70_000));
        assert_eq!(memory.scans.replace(0), 3);
        for index in [0, 255, 256, 65_535, 65_536, 69_000, 69_999] {
            let proof = inclusion(&memory, index, 70_000).unwrap();
            let leaf = &leaves[usize::try_from(index).unwrap()];
            verify_inclusion(leaf, index, 70_000, &proof, &root).unwrap();
            assert!(memory.scans.replace(0) <= 5, "{index}");
        }
        for old in [1, 255, 256, 257, 65_535, 65_536, 65_537, 69_888, 69_999] {
            let proof = consistency(&memory, old, 70_000).unwrap();
            assert!(memory.scans.replace(0) <= 6, "{old}");
            let old_root = root_at(&memory, old).unwrap();
            memory.scans.set(0);
            verify_consistency(old, &old_root, 70_000, &root, &proof).unwrap();
        }
    }

    #[test]
    fn many_proofs_of_one_tree_read_each_tile_once() {
        let memory = Memory::new(&reference::leaves(70_000));
        let mut inclusions = Inclusions::new(&memory, 70_000);
        let indexes: Vec<u64> = (0..70_000).step_by(100).collect();
        let proofs: Vec<_> = indexes
            .iter()
            .map(|index| inclusions.of(*index).unwrap())
            .collect();
        // 274 tiles of leaves, two of the level above, and one more.
        assert!(memory.scans.get() <= 277, "{}", memory.scans.get());
        // In whatever order, they are what each is alone.
        let mut backwards = Inclusions::new(&memory, 70_000);
        for (index, proof) in indexes.iter().zip(&proofs).rev() {
            assert_eq!(&inclusion(&memory, *index, 70_000).unwrap(), proof);
            assert_eq!(&backwards.of(*index).unwrap(), proof);
        }
        let (index, size) = (70_000, 70_000);
        assert_eq!(
            inclusions.of(index),
            Err(ProveError::IndexBeyond { index, size })
        );
    }

    #[test]
    fn what_is_not_in_the_tree_cannot_be_proved() {
        let memory = Memory::new(&reference::leaves(3));
        assert_eq!(
            inclusion(&memory, 3, 3),
            Err(ProveError::IndexBeyond { index: 3, size: 3 })
        );
        assert_eq!(
            consistency(&memory, 3, 2),
            Err(ProveError::Shrunk {
                old_size: 3,
                new_size: 2
            })
        );
    }

    /// Returns as many hashes as it was set to, whatever is asked.
    struct Some256(usize);

    impl Hashes for Some256 {
        type Error = std::convert::Infallible;

        fn hash(&self, _: u8, _: u64) -> Result<Hash, Self::Error> {
            Ok([0; 32])
        }

        fn hashes(&self, _: u8, _: u64, _: u16) -> Result<Vec<Hash>, Self::Error> {
            Ok(vec![[0; 32]; self.0])
        }
    }

    #[test]
    fn too_few_or_too_many_hashes_make_no_proof() {
        for count in [0, 1, 9, 11, 256, 300] {
            assert!(matches!(
                root_at(&Some256(count), 10),
                Err(ProveError::Missing { .. })
            ));
        }
    }

    #[test]
    fn the_largest_tree_is_proved_with_few_reads() {
        struct Counting(std::cell::Cell<usize>);
        impl Hashes for Counting {
            type Error = std::convert::Infallible;
            fn hash(&self, level: u8, index: u64) -> Result<Hash, Self::Error> {
                self.0.set(self.0.get() + 1);
                // A log of nothing but equal entries.
                let mut hash = crate::leaf_hash(b"");
                for _ in 0..8 * u32::from(level) {
                    hash = node_hash(&hash, &hash);
                }
                assert!(index <= u64::MAX >> (8 * u32::from(level)));
                Ok(hash)
            }
        }
        let log = Counting(std::cell::Cell::new(0));
        let leaf = crate::leaf_hash(b"");
        let root = root_at(&log, u64::MAX).unwrap();
        for index in [0, 1 << 40, u64::MAX / 3, u64::MAX - 1] {
            let proof = inclusion(&log, index, u64::MAX).unwrap();
            verify_inclusion(&leaf, index, u64::MAX, &proof, &root).unwrap();
            let old = root_at(&log, index + 1).unwrap();
            let proof = consistency(&log, index + 1, u64::MAX).unwrap();
            verify_consistency(index + 1, &old, u64::MAX, &root, &proof).unwrap();
        }
        assert!(log.0.get() < 13 * 16 * 256);
    }
}
