//! The arithmetic of a transparency log.
//!
//! A log is a list of entries that only grows. Its operator signs, now and then, a *checkpoint*:
//! the number of entries, and the root of a Merkle tree over them. From then on anyone can check,
//! with a few hashes, that an entry is among them ([`verify_inclusion`]) and that a later
//! checkpoint contains all entries of an earlier one ([`verify_consistency`]).
//!
//! Hashes and proofs are those of RFC 6962 §2.1 with SHA-256. The published forms follow C2SP:
//! `tlog-tiles` ([`Tile`], [`Bundle`]), `signed-note` ([`SignedNote`]) and `tlog-checkpoint`
//! ([`Checkpoint`]).
//!
//! There is no I/O here, and no meaning of entries: hashes come through [`Hashes`], keys and texts
//! are arguments. An auditor of a log needs this crate only.
//!
//! ```
//! use handfast_log::{Checkpoint, SigningKey, Tree, leaf_hash, verify_inclusion};
//!
//! let mut tree = Tree::default();
//! for entry in ["first", "second"] {
//!     tree.append(leaf_hash(entry.as_bytes()), &mut |_| ());
//! }
//!
//! // The operator signs …
//! let key = SigningKey::new("example.org/log", &[7; 32])?;
//! let note = Checkpoint::new("example.org/log", tree.size(), tree.root()).sign(&key)?;
//!
//! // … and anyone checks, here that "second" is entry 1: its only sibling is "first".
//! let checkpoint = Checkpoint::open(&note.to_string(), key.verifying_key())?;
//! let proof = [leaf_hash(b"first")];
//! verify_inclusion(&leaf_hash(b"second"), 1, checkpoint.size, &proof, &checkpoint.root)?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod checkpoint;
mod hash;
mod key;
mod note;
mod proof;
mod prove;
#[cfg(test)]
mod reference;
mod text;
mod tile;
mod tree;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use hash::{Hash, empty_root, leaf_hash, node_hash};
pub use key::{KeyError, SigningKey, VerifyingKey};
pub use note::{NoteError, NoteSignature, SignedNote};
pub use proof::{ProofError, verify_consistency, verify_inclusion};
pub use prove::{Hashes, Inclusions, ProveError, consistency, inclusion, root_at};
pub use tile::{Bundle, Tile, TilePathError};
pub use tree::{TileHash, Tree, TreeError};
