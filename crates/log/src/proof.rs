//! Checking proofs.
//!
//! Both checks walk the proof once. A proof of any length is rejected after at most 64 steps,
//! whatever sizes it claims.
//!
//! ```
//! use handfast_log::{ProofError, leaf_hash, node_hash, verify_consistency};
//!
//! let (first, second) = (leaf_hash(b"first"), leaf_hash(b"second"));
//! let root = node_hash(&first, &second);
//! verify_consistency(1, &first, 2, &root, &[second])?;
//!
//! // A log that has replaced its first entry cannot prove anything.
//! let forged = leaf_hash(b"changed");
//! let refused = verify_consistency(1, &first, 2, &node_hash(&forged, &second), &[second]);
//! assert_eq!(refused, Err(ProofError::Root));
//! # Ok::<_, ProofError>(())
//! ```

use crate::{Hash, empty_root, node_hash};

/// Checks that `leaf` is number `index` of the `size` leaves under `root` (RFC 6962 §2.1.1).
pub fn verify_inclusion(
    leaf: &Hash,
    index: u64,
    size: u64,
    proof: &[Hash],
    root: &Hash,
) -> Result<(), ProofError> {
    let last = match size.checked_sub(1) {
        Some(last) if index <= last => last,
        _ => return Err(ProofError::IndexBeyond { index, size }),
    };
    let mut climb = Climb { node: index, last };
    let mut found = *leaf;
    for sibling in proof {
        found = match climb.step() {
            Some(Side::Left) => node_hash(sibling, &found),
            Some(Side::Right) => node_hash(&found, sibling),
            None => return Err(ProofError::Length { found: proof.len() }),
        };
    }
    if !climb.is_at_root() {
        return Err(ProofError::Length { found: proof.len() });
    }
    if found != *root {
        return Err(ProofError::Root);
    }
    Ok(())
}

/// Checks that the first `old_size` of the `new_size` leaves under `new_root` are those under
/// `old_root` (RFC 6962 §2.1.2).
///
/// Every tree continues the empty one, and itself; the proof of that is empty.
pub fn verify_consistency(
    old_size: u64,
    old_root: &Hash,
    new_size: u64,
    new_root: &Hash,
    proof: &[Hash],
) -> Result<(), ProofError> {
    if old_size > new_size {
        return Err(ProofError::Shrunk { old_size, new_size });
    }
    for (size, root) in [(old_size, old_root), (new_size, new_root)] {
        if size == 0 && *root != empty_root() {
            return Err(ProofError::Empty);
        }
    }
    let length = ProofError::Length { found: proof.len() };
    if old_size == 0 || old_size == new_size {
        if !proof.is_empty() {
            return Err(length);
        }
        return if old_size == 0 || old_root == new_root {
            Ok(())
        } else {
            Err(ProofError::Root)
        };
    }
    // The climb begins at the largest complete subtree that ends where the old tree ends. If that
    // is the whole old tree, its root is known and the proof leaves it out.
    let height = old_size.trailing_zeros();
    let mut climb = Climb {
        node: (old_size - 1) >> height,
        last: (new_size - 1) >> height,
    };
    let (start, rest) = if old_size.is_power_of_two() {
        (old_root, proof)
    } else {
        proof.split_first().ok_or(length)?
    };
    let (mut old_found, mut new_found) = (*start, *start);
    for sibling in rest {
        match climb.step() {
            Some(Side::Left) => {
                old_found = node_hash(sibling, &old_found);
                new_found = node_hash(sibling, &new_found);
            }
            // Hashes on the right were added after the old tree.
            Some(Side::Right) => new_found = node_hash(&new_found, sibling),
            None => return Err(length),
        }
    }
    if !climb.is_at_root() {
        return Err(length);
    }
    if old_found != *old_root {
        return Err(ProofError::OldRoot);
    }
    if new_found != *new_root {
        return Err(ProofError::Root);
    }
    Ok(())
}

/// The way from a node up to the root.
struct Climb {
    /// Which node of its height, from 0.
    node: u64,
    /// The last node of that height.
    last: u64,
}

/// Where the sibling stands.
enum Side {
    Left,
    Right,
}

impl Climb {
    /// The side of the next sibling, unless this is the root.
    fn step(&mut self) -> Option<Side> {
        if self.is_at_root() {
            return None;
        }
        let side = if self.node == self.last {
            // A last node without a sibling rises until it has one, which is then to its left.
            let lonely = self.node.trailing_zeros();
            self.node >>= lonely;
            self.last >>= lonely;
            Side::Left
        } else if self.node % 2 == 1 {
            Side::Left
        } else {
            Side::Right
        };
        self.node /= 2;
        self.last /= 2;
        Some(side)
    }

    fn is_at_root(&self) -> bool {
        self.last == 0
    }
}

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// A tree without leaves has one root.
    #[error("the root of an empty tree is not the hash of nothing")]
    Empty,
    /// There is no such leaf.
    #[error("the tree has {size} entries, none of them is number {index} (the first is 0)")]
    IndexBeyond {
        /// The number of the leaf.
        index: u64,
        /// How many there are.
        size: u64,
    },
    /// Too few or too many hashes.
    #[error("a proof for trees of this size has more or fewer hashes than {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// The first of two trees is not the beginning of the second.
    #[error("the proof does not lead to the root of the older tree")]
    OldRoot,
    /// The hashes lead to another root.
    #[error("the proof does not lead to the root")]
    Root,
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
    use crate::reference::{self, Definition, wide};

    #[test]
    fn inclusion_is_accepted_for_every_leaf_of_every_small_tree() {
        let leaves = reference::leaves(300);
        let definition = Definition::new(&leaves);
        for size in 1..=300 {
            let root = definition.root(size);
            for (index, leaf) in leaves[..size].iter().enumerate() {
                let proof = definition.path(index, size);
                let verified = verify_inclusion(leaf, wide(index), wide(size), &proof, &root);
                assert_eq!(verified, Ok(()), "{index} {size}");
            }
        }
    }

    #[test]
    fn corrupted_inclusion_is_refused() {
        let leaves = reference::leaves(40);
        let definition = Definition::new(&leaves);
        for size in 1..=40_usize {
            let root = definition.root(size);
            for (index, leaf) in leaves[..size].iter().enumerate() {
                let proof = definition.path(index, size);
                let check = |i: usize, s: usize, proof: &[Hash]| {
                    verify_inclusion(leaf, wide(i), wide(s), proof, &root)
                };
                for wrong in corruptions(&proof) {
                    assert!(check(index, size, &wrong).is_err());
                }
                for other in 0..=size {
                    assert_eq!(check(other, size, &proof).is_ok(), other == index);
                }
                assert!(check(index, index, &proof).is_err());
                assert!(
                    verify_inclusion(&[1; 32], wide(index), wide(size), &proof, &root).is_err()
                );
                assert!(verify_inclusion(leaf, wide(index), wide(size), &proof, &[1; 32]).is_err());
            }
        }
    }

    #[test]
    fn corrupted_consistency_is_refused() {
        let leaves = reference::leaves(40);
        let definition = Definition::new(&leaves);
        let roots: Vec<_> = (0..=40).map(|n| definition.root(n)).collect();
        for new in 0..=40_usize {
            for old in 0..=new {
                let proof = definition.proof(old, new);
                let check = |o: usize, n: usize, proof: &[Hash]| {
                    verify_consistency(wide(o), &roots[old], wide(n), &roots[new], proof)
                };
                assert_eq!(check(old, new, &proof), Ok(()), "{old} {new}");
                for wrong in corruptions(&proof) {
                    assert!(check(old, new, &wrong).is_err(), "{old} {new}");
                }
                for other in (0..=new).filter(|other| *other != old) {
                    assert!(check(other, new, &proof).is_err(), "{old} {new} {other}");
                }
                if old < new {
                    assert!(matches!(
                        check(new, old, &proof),
                        Err(ProofError::Shrunk { .. })
                    ));
                }
            }
        }
    }

    /// Each hash flipped, each dropped, each doubled, and one more at the end.
    fn corruptions(proof: &[Hash]) -> Vec<Vec<Hash>> {
        let mut all = vec![[proof, &[[0; 32]]].concat()];
        for at in 0..proof.len() {
            let mut flipped = proof.to_vec();
            flipped[at][at % 32] ^= 1;
            let mut dropped = proof.to_vec();
            dropped.remove(at);
            let mut doubled = proof.to_vec();
            doubled.insert(at, proof[at]);
            all.extend([flipped, dropped, doubled]);
        }
        all
    }

    #[test]
    fn hostile_sizes_and_proofs_end_soon() {
        let long = vec![[0; 32]; 100_000];
        for size in [1, 2, 3, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX] {
            for index in [0, 1, size / 2, size - 1, u64::MAX] {
                for proof in [&long[..], &long[..64], &long[..63], &[]] {
                    let refused = verify_inclusion(&[0; 32], index, size, proof, &[1; 32]);
                    assert!(refused.is_err(), "{index} {size}");
                    let refused = verify_consistency(index, &[2; 32], size, &[1; 32], proof);
                    assert!(refused.is_err(), "{index} {size}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_in_an_empty_tree() {
        assert_eq!(
            verify_inclusion(&[0; 32], 0, 0, &[], &[0; 32]),
            Err(ProofError::IndexBeyond { index: 0, size: 0 })
        );
        assert_eq!(
            verify_consistency(0, &[0; 32], 1, &[1; 32], &[]),
            Err(ProofError::Empty)
        );
    }
}
