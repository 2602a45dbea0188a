//! RFC 6962 §2.1 to the letter: recursive, and over all leaves. The faster code is compared with
//! it.

use std::cell::{Cell, RefCell};
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

/// A list of leaves, and the roots of it that have been computed. The definition asks for the same
/// ones again and again.
pub(crate) struct Definition<'a> {
    leaves: &'a [Hash],
    known: RefCell<BTreeMap<(usize, usize), Hash>>,
}

impl<'a> Definition<'a> {
    pub(crate) fn new(leaves: &'a [Hash]) -> Self {
        let known = RefCell::default();
        Self { leaves, known }
    }

    /// "MTH(D\[n\])"
    pub(crate) fn root(&self, size: usize) -> Hash {
        self.mth(0, size)
    }

    /// "PATH(m, D\[n\])"
    pub(crate) fn path(&self, index: usize, size: usize) -> Vec<Hash> {
        self.path_in(index, 0, size)
    }

    /// "PROOF(m, D\[n\])"
    pub(crate) fn proof(&self, old: usize, size: usize) -> Vec<Hash> {
        if old == 0 {
            return Vec::new();
        }
        self.subproof(old, 0, size, true)
    }

    fn mth(&self, start: usize, end: usize) -> Hash {
        if let Some(known) = self.known.borrow().get(&(start, end)) {
            return *known;
        }
        let root = match &self.leaves[start..end] {
            [] => empty_root(),
            [leaf] => *leaf,
            _ => {
                let middle = split(start, end);
                node_hash(&self.mth(start, middle), &self.mth(middle, end))
            }
        };
        self.known.borrow_mut().insert((start, end), root);
        root
    }

    fn path_in(&self, index: usize, start: usize, end: usize) -> Vec<Hash> {
        if end - start == 1 {
            return Vec::new();
        }
        let middle = split(start, end);
        if index < middle {
            let below = self.path_in(index, start, middle);
            [below, vec![self.mth(middle, end)]].concat()
        } else {
            let below = self.path_in(index, middle, end);
            [below, vec![self.mth(start, middle)]].concat()
        }
    }

    fn subproof(&self, old: usize, start: usize, end: usize, known: bool) -> Vec<Hash> {
        if old == end {
            let root = (!known).then(|| self.mth(start, end));
            return root.into_iter().collect();
        }
        let middle = split(start, end);
        if old <= middle {
            let below = self.subproof(old, start, middle, known);
            [below, vec![self.mth(middle, end)]].concat()
        } else {
            let below = self.subproof(old, middle, end, false);
            [below, vec![self.mth(start, middle)]].concat()
        }
    }
}

/// "let k be the largest power of two smaller than n"
fn split(start: usize, end: usize) -> usize {
    start + (end - start).next_power_of_two() / 2
}

/// A length or position as the interface takes it.
pub(crate) fn wide(number: usize) -> u64 {
    number.try_into().unwrap()
}

/// The hashes of a log, in memory, with a count of how often they were asked for.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) hashes: BTreeMap<(u8, u64), Hash>,
    pub(crate) scans: Cell<usize>,
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
