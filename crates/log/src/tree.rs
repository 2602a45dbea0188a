//! A growing tree.
//!
//! To append an entry and to know the root, the right edge of the tree is enough: the roots of its
//! complete subtrees, its *peaks*, one for each bit of the size. All other hashes are in tiles,
//! which never change once they are full; their roots are returned when they are complete.
//!
//! ```
//! use handfast_log::{Tree, leaf_hash};
//!
//! let mut tree = Tree::default();
//! let mut kept = Vec::new();
//! for number in 0_u32..300 {
//!     tree.append(leaf_hash(&number.to_be_bytes()), &mut |tile| kept.push(tile));
//! }
//! // One full tile of 256 leaves; the 44 that remain are not yet one.
//! assert_eq!(kept.len(), 1);
//! assert_eq!((kept[0].level, kept[0].index), (1, 0));
//!
//! let bytes = tree.to_bytes();
//! assert_eq!(Tree::from_bytes(&bytes)?, tree);
//! # Ok::<_, handfast_log::TreeError>(())
//! ```

use crate::{Hash, empty_root, node_hash};

/// The right edge of a tree: its size, and the roots of its complete subtrees. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// Largest first; as many as the size has ones in binary.
    peaks: Vec<Hash>,
}

/// The root of a full tile, which is a hash in the tile above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileHash {
    /// The tile level of the hash: 1 for roots of 256 leaves, 2 for roots of 65 536, and so on.
    pub level: u8,
    /// Which one at that level, from 0.
    pub index: u64,
    /// The root.
    pub hash: Hash,
}

impl Tree {
    /// How many leaves there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root of the tree; see [`empty_root`] for a tree without leaves.
    #[must_use]
    pub fn root(&self) -> Hash {
        let peaks = self.peaks.iter().rev().copied();
        peaks
            .reduce(|right, left| node_hash(&left, &right))
            .unwrap_or_else(empty_root)
    }

    /// Appends a leaf, and hands to `keep` each hash that completes a tile, lowest level first.
    pub fn append(&mut self, leaf: Hash, keep: &mut impl FnMut(TileHash)) {
        let mut hash = leaf;
        let mut height = 0_u8;
        // The complete subtrees of this height so far. While their number is odd the last of them
        // waits for what has just been completed.
        let mut before = self.size;
        while before % 2 == 1
            && let Some(left) = self.peaks.pop()
        {
            hash = node_hash(&left, &hash);
            height += 1;
            before /= 2;
            if height.is_multiple_of(8) {
                keep(TileHash {
                    level: height / 8,
                    index: before,
                    hash,
                });
            }
        }
        self.peaks.push(hash);
        // `from_bytes` believes no more than 2^63 leaves; another 2^63 are out of anyone's reach.
        self.size += 1;
    }

    /// The size as eight bytes, big-endian, and the peaks, largest first.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.size.to_be_bytes().to_vec();
        out.extend(self.peaks.as_flattened());
        out
    }

    /// Reads what [`Tree::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TreeError> {
        let Some((size, rest)) = bytes.split_first_chunk() else {
            return Err(TreeError::NoSize { found: bytes.len() });
        };
        let size = u64::from_be_bytes(*size);
        if size > LARGEST {
            return Err(TreeError::TooLarge { size });
        }
        let (peaks, left_over) = rest.as_chunks();
        let expected = usize::try_from(size.count_ones()).unwrap_or(usize::MAX);
        if peaks.len() != expected || !left_over.is_empty() {
            return Err(TreeError::Peaks {
                size,
                expected,
                found: rest.len(),
            });
        }
        Ok(Self {
            size,
            peaks: peaks.to_vec(),
        })
    }

    /// The roots of the complete subtrees, smallest first.
    pub(crate) fn peaks_upwards(&self) -> impl Iterator<Item = &Hash> {
        self.peaks.iter().rev()
    }
}

/// Why bytes are not a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// Fewer bytes than the size takes.
    #[error("the size of a tree takes 8 bytes, and there are {found}")]
    NoSize {
        /// How many bytes there are.
        found: usize,
    },
    /// Too few or too many hashes for the size.
    #[error(
        "a tree of {size} leaves is {expected} hashes of 32 bytes, and there are {found} bytes"
    )]
    Peaks {
        /// The size.
        size: u64,
        /// How many hashes belong to it.
        expected: usize,
        /// How many bytes there are.
        found: usize,
    },
    /// More leaves than any log has.
    #[error("no log has {size} entries")]
    TooLarge {
        /// The size.
        size: u64,
    },
}

/// The most leaves that are believed, so that there is room to append.
const LARGEST: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{self, Definition};

    #[test]
    fn roots_are_those_of_the_definition() {
        let leaves = reference::leaves(600);
        let definition = Definition::new(&leaves);
        let mut tree = Tree::default();
        for (size, leaf) in leaves.iter().enumerate() {
            assert_eq!(tree.root(), definition.root(size), "{size}");
            tree.append(*leaf, &mut |_| ());
        }
        assert_eq!(tree.root(), definition.root(600));
        assert_eq!(tree.size(), 600);
    }

    /// The test vectors of Certificate Transparency.
    #[test]
    fn roots_are_those_of_certificate_transparency() {
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut tree = Tree::default();
        for (size, expected) in roots.into_iter().enumerate() {
            let (high, low) = expected.split_at(32);
            let expected = [high, low].map(|half| u128::from_str_radix(half, 16).unwrap());
            assert_eq!(tree.root(), *expected.map(u128::to_be_bytes).as_flattened());
            if let Some(entry) = reference::CT_ENTRIES.get(size) {
                tree.append(crate::leaf_hash(entry), &mut |_| ());
            }
        }
    }

    #[test]
    fn full_tiles_are_handed_out_once_and_in_order() {
        let leaves = reference::leaves(65_536 + 300);
        let mut tree = Tree::default();
        let mut tiles = Vec::new();
        for leaf in &leaves {
            tree.append(*leaf, &mut |tile| tiles.push(tile));
        }
        let expected: Vec<_> = (0..257).map(|index| (1, index)).collect();
        let first: Vec<_> = tiles.iter().filter(|t| t.level == 1).collect();
        assert_eq!(
            first.iter().map(|t| (t.level, t.index)).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            first[256].hash,
            Definition::new(&leaves[65_536..]).root(256)
        );
        let second: Vec<_> = tiles.iter().filter(|t| t.level != 1).collect();
        assert_eq!(second.len(), 1);
        assert_eq!((second[0].level, second[0].index), (2, 0));
        assert_eq!(second[0].hash, Definition::new(&leaves).root(65_536));
    }

    #[test]
    fn bytes_are_read_back_and_their_length_counts() {
        let mut tree = Tree::default();
        for leaf in reference::leaves(70) {
            let bytes = tree.to_bytes();
            assert_eq!(Tree::from_bytes(&bytes), Ok(tree.clone()));
            for wrong in [[&bytes[..], &[0]].concat(), [&bytes[..], &[0; 32]].concat()] {
                assert!(matches!(
                    Tree::from_bytes(&wrong),
                    Err(TreeError::Peaks { .. })
                ));
            }
            assert!(Tree::from_bytes(&bytes[..bytes.len() - 1]).is_err());
            tree.append(leaf, &mut |_| ());
        }
        assert_eq!(Tree::from_bytes(&[1]), Err(TreeError::NoSize { found: 1 }));
    }

    #[test]
    fn a_size_that_cannot_grow_is_rejected() {
        let bytes = [&[0xFF; 8][..], &[0; 64 * 32]].concat();
        assert_eq!(
            Tree::from_bytes(&bytes),
            Err(TreeError::TooLarge { size: u64::MAX })
        );
    }
}
