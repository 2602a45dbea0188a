//! RFC 6962 §2.1 as it is written there: recursive, and over all leaves. What is clever elsewhere is
//! compared with this.

use std::collections::BTreeMap;
use std::convert::Infallible;

use crate::{Hash, Hashes, Tree, empty_root, leaf_hash, node_hash};

/// The entries of the test vectors of Certificate Transparency.
pub(crate) const CT_ENTRIES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

/// The leaves of entries 0, 1, 2 …
pub(crate) fn leaves(count: u32) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
}

/// "MTH(D\[n\])"
pub(crate) fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node_hash(&root(left), &root(right))
        }
    }
}

/// "PATH(m, D\[n\])"
pub(crate) fn path(index: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let k = split(leaves.len());
    let (left, right) = leaves.split_at(k);
    if index < k {
        [path(index, left), vec![root(right)]].concat()
    } else {
        [path(index - k, right), vec![root(left)]].concat()
    }
}

/// "PROOF(m, D\[n\])"
pub(crate) fn proof(old: usize, leaves: &[Hash]) -> Vec<Hash> {
    if old == 0 {
        return Vec::new();
    }
    subproof(old, leaves, true)
}

fn subproof(old: usize, leaves: &[Hash], known: bool) -> Vec<Hash> {
    if old == leaves.len() {
        return if known {
            Vec::new()
        } else {
            vec![root(leaves)]
        };
    }
    let k = split(leaves.len());
    let (left, right) = leaves.split_at(k);
    if old <= k {
        [subproof(old, left, known), vec![root(right)]].concat()
    } else {
        [subproof(old - k, right, false), vec![root(left)]].concat()
    }
}

/// A length or position as the interface takes it.
pub(crate) fn wide(number: usize) -> u64 {
    number.try_into().unwrap()
}

/// The largest power of two below `n`.
fn split(n: usize) -> usize {
    n.next_power_of_two() / 2
}

/// The hashes of a log, in memory, with a count of how often they were asked for.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) hashes: BTreeMap<(u8, u64), Hash>,
    pub(crate) scans: std::cell::Cell<usize>,
}

impl Memory {
    pub(crate) fn new(leaves: &[Hash]) -> Self {
        let mut memory = Self::default();
        let mut tree = Tree::default();
        for leaf in leaves {
            memory.hashes.insert((0, tree.size()), *leaf);
            tree.append(*leaf, &mut |tile| {
                memory.hashes.insert((tile.level, tile.index), tile.hash);
            });
        }
        memory
    }
}

impl Hashes for Memory {
    type Error = Infallible;

    fn hash(&self, level: u8, index: u64) -> Result<Hash, Infallible> {
        Ok(self.hashes[&(level, index)])
    }

    fn hashes(&self, level: u8, start: u64, count: u16) -> Result<Vec<Hash>, Infallible> {
        self.scans.set(self.scans.get() + 1);
        (start..start + u64::from(count))
            .map(|index| self.hash(level, index))
            .collect()
    }
}
