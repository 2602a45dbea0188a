//! The hashes of the tree: RFC 6962 §2.1 with SHA-256.
//!
//! Leaves and nodes begin with different bytes, so that an attacker cannot present two hashes as an
//! entry.
//!
//! ```
//! use handfast_log::{leaf_hash, node_hash};
//!
//! let (left, right) = (leaf_hash(b"a"), leaf_hash(b"b"));
//! let disguised = leaf_hash(&[left, right].concat());
//! assert_ne!(node_hash(&left, &right), disguised);
//! ```

use sha2::{Digest, Sha256};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// RFC 6962 §2.1: "MTH({d(0)}) = SHA-256(0x00 || d(0))".
#[must_use]
pub fn leaf_hash(entry: &[u8]) -> Hash {
    Sha256::new()
        .chain_update([0x00])
        .chain_update(entry)
        .finalize()
        .into()
}

/// RFC 6962 §2.1: "MTH(D\[n\]) = SHA-256(0x01 || MTH(D\[0:k\]) || MTH(D\[k:n\]))".
#[must_use]
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new()
        .chain_update([0x01])
        .chain_update(left)
        .chain_update(right)
        .finalize()
        .into()
}

/// RFC 6962 §2.1: "The hash of an empty list is the hash of an empty string".
#[must_use]
pub fn empty_root() -> Hash {
    Sha256::digest([]).into()
}
