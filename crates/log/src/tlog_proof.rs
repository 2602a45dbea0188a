//! Proof files: all that is needed to check that an entry is in a log (C2SP `tlog-proof`).
//!
//! A proof file holds the number of the entry, the hashes that lead to the root, and the signed
//! checkpoint. With the entry and the key of the log, anyone can check it, for ever and without asking
//! the log.
//!
//! ```
//! use handfast_log::{Checkpoint, SigningKey, TlogProof, leaf_hash, node_hash};
//!
//! let key = SigningKey::new("example.org/log", &[7; 32])?;
//! let (first, second) = (leaf_hash(b"first"), leaf_hash(b"second"));
//! let checkpoint = Checkpoint::new("example.org/log", 2, node_hash(&first, &second));
//! let file = TlogProof::new(0, vec![second], checkpoint.sign(&key)?)?.to_string();
//!
//! let proof: TlogProof = file.parse()?;
//! assert_eq!(proof.verify(b"first", key.verifying_key())?, checkpoint);
//! assert!(proof.verify(b"second", key.verifying_key()).is_err());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

use crate::text::{decimal, from_base64, hash, to_base64};
use crate::{
    Checkpoint, CheckpointError, Hash, NoteError, ProofError, SignedNote, VerifyingKey, leaf_hash,
    verify_inclusion,
};

/// That an entry is in a log, to be checked with the entry and the key of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlogProof {
    extra: Option<Vec<u8>>,
    index: u64,
    /// At most [`MAX_HASHES`].
    hashes: Vec<Hash>,
    checkpoint: SignedNote,
}

impl TlogProof {
    /// A proof for the entry `index`: the hashes as [`inclusion`](crate::inclusion) gives them, and the
    /// checkpoint of the tree they lead to.
    pub fn new(
        index: u64,
        hashes: Vec<Hash>,
        checkpoint: SignedNote,
    ) -> Result<Self, TlogProofError> {
        if hashes.len() > MAX_HASHES {
            return Err(TlogProofError::TooManyHashes);
        }
        Ok(Self {
            extra: None,
            index,
            hashes,
            checkpoint,
        })
    }

    /// The same with data of any kind, which nobody vouches for.
    #[must_use]
    pub fn with_extra(mut self, extra: Vec<u8>) -> Self {
        self.extra = Some(extra);
        self
    }

    /// Data of any kind, which nobody vouches for, [`TlogProof::verify`] neither.
    #[must_use]
    pub fn extra(&self) -> Option<&[u8]> {
        self.extra.as_deref()
    }

    /// The number of the entry, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The hashes from the leaf's sibling up.
    #[must_use]
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// The checkpoint as it was signed.
    #[must_use]
    pub fn checkpoint(&self) -> &SignedNote {
        &self.checkpoint
    }

    /// Checks that `key` has signed the checkpoint and that `entry` is in its tree at
    /// [`TlogProof::index`]; answers with the checkpoint.
    pub fn verify(&self, entry: &[u8], key: &VerifyingKey) -> Result<Checkpoint, TlogProofError> {
        let checkpoint = Checkpoint::open_note(&self.checkpoint, key)?;
        let leaf = leaf_hash(entry);
        let Checkpoint { size, root, .. } = &checkpoint;
        verify_inclusion(&leaf, self.index, *size, &self.hashes, root)?;
        Ok(checkpoint)
    }
}

impl fmt::Display for TlogProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", to_base64(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        for hash in &self.hashes {
            writeln!(f, "{}", to_base64(hash))?;
        }
        write!(f, "\n{}", self.checkpoint)
    }
}

impl FromStr for TlogProof {
    type Err = TlogProofError;

    fn from_str(file: &str) -> Result<Self, TlogProofError> {
        // "After the inclusion proof lines and an empty line, the checkpoint issued by the log is
        // included verbatim".
        let (head, checkpoint) = file
            .split_once("\n\n")
            .ok_or(TlogProofError::NoCheckpoint)?;
        let mut lines = head.split('\n').peekable();
        if lines.next() != Some(FIRST_LINE) {
            return Err(TlogProofError::FirstLine);
        }
        let extra = match lines.peek().and_then(|line| line.strip_prefix("extra ")) {
            Some(extra) => {
                lines.next();
                Some(from_base64(extra).ok_or(TlogProofError::Extra)?)
            }
            None => None,
        };
        let index = lines
            .next()
            .and_then(|line| line.strip_prefix("index "))
            .and_then(decimal)
            .ok_or(TlogProofError::Index)?;
        let mut hashes = Vec::new();
        for (line, number) in lines.zip(1..) {
            if number > MAX_HASHES {
                return Err(TlogProofError::TooManyHashes);
            }
            hashes.push(hash(line).ok_or(TlogProofError::Hash { number })?);
        }
        Ok(Self {
            extra,
            index,
            hashes,
            checkpoint: checkpoint.parse()?,
        })
    }
}

/// Why something is not a proof, or proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlogProofError {
    /// The checkpoint is not that of the log.
    #[error("the checkpoint in the proof is not to be believed")]
    Checkpoint(#[from] CheckpointError),
    /// The extra data.
    #[error("the extra data in the proof is not base64")]
    Extra,
    /// Another kind of file, or another version.
    #[error("the first line of a proof is {FIRST_LINE}")]
    FirstLine,
    /// A line that should be a hash.
    #[error("hash {number} of the proof is not 32 bytes in base64")]
    Hash {
        /// Which one, from 1.
        number: usize,
    },
    /// The number of the entry.
    #[error("the index in the proof is not a plain decimal number")]
    Index,
    /// No empty line.
    #[error("the proof has no checkpoint: it follows an empty line")]
    NoCheckpoint,
    /// What should be the checkpoint is not a note.
    #[error("the checkpoint in the proof is not a signed note")]
    Note(#[from] NoteError),
    /// The entry is not in the tree.
    #[error("the proof does not show that the entry is in the log")]
    Proof(#[from] ProofError),
    /// More hashes than the largest tree has levels.
    #[error("a proof has at most {MAX_HASHES} hashes")]
    TooManyHashes,
}

/// "The first line MUST be the string `c2sp.org/tlog-proof@v1`."
const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

/// How many hashes lead to the root of the largest tree.
const MAX_HASHES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{self, Definition};
    use crate::{SigningKey, inclusion};

    fn key() -> SigningKey {
        SigningKey::new("example.com/log", &[1; 32]).unwrap()
    }

    fn proof() -> TlogProof {
        let leaves = reference::leaves(100);
        let memory = reference::Memory::new(&leaves);
        let checkpoint =
            Checkpoint::new("example.com/log", 100, Definition::new(&leaves).root(100));
        let hashes = inclusion(&memory, 42, 100).unwrap();
        TlogProof::new(42, hashes, checkpoint.sign(&key()).unwrap()).unwrap()
    }

    const ENTRY: [u8; 4] = 42_u32.to_be_bytes();

    #[test]
    fn a_proof_is_read_back_and_verifies() {
        for proof in [
            proof(),
            proof().with_extra(Vec::new()),
            proof().with_extra(vec![0, 1, 2]),
        ] {
            let read: TlogProof = proof.to_string().parse().unwrap();
            assert_eq!(read, proof);
            let checkpoint = read.verify(&ENTRY, key().verifying_key()).unwrap();
            assert_eq!(checkpoint.size, 100);
        }
    }

    #[test]
    fn only_the_right_entry_index_and_key_will_do() {
        let good = proof();
        assert_eq!(
            good.verify(b"other", key().verifying_key()),
            Err(TlogProofError::Proof(ProofError::Root))
        );
        let mut moved = good.clone();
        moved.index = 43;
        assert!(moved.verify(&ENTRY, key().verifying_key()).is_err());
        moved.index = 100;
        assert!(matches!(
            moved.verify(&ENTRY, key().verifying_key()),
            Err(TlogProofError::Proof(ProofError::IndexBeyond { .. }))
        ));
        let other = SigningKey::new("example.com/log", &[2; 32]).unwrap();
        assert!(matches!(
            good.verify(&ENTRY, other.verifying_key()),
            Err(TlogProofError::Checkpoint(CheckpointError::OtherKey { .. }))
        ));
    }

    #[test]
    fn what_is_no_proof_is_refused_with_the_reason() {
        let note = proof().checkpoint().to_string();
        let hash = to_base64([0; 32]);
        let many = format!("{hash}\n").repeat(65);
        for (head, error) in [
            (
                "c2sp.org/tlog-proof@v2\nindex 0\n".to_owned(),
                TlogProofError::FirstLine,
            ),
            (format!("{FIRST_LINE}\n"), TlogProofError::Index),
            (format!("{FIRST_LINE}\nindex 00\n"), TlogProofError::Index),
            (format!("{FIRST_LINE}\nindex \n"), TlogProofError::Index),
            (
                format!("{FIRST_LINE}\nextra\nindex 0\n"),
                TlogProofError::Index,
            ),
            (
                format!("{FIRST_LINE}\nextra ?\nindex 0\n"),
                TlogProofError::Extra,
            ),
            (
                format!("{FIRST_LINE}\nindex 0\nextra AA==\n"),
                TlogProofError::Hash { number: 1 },
            ),
            (
                format!("{FIRST_LINE}\nindex 0\n{hash}\nAA==\n"),
                TlogProofError::Hash { number: 2 },
            ),
            (
                format!("{FIRST_LINE}\nindex 0\n{many}"),
                TlogProofError::TooManyHashes,
            ),
        ] {
            let file = format!("{head}\n{note}");
            assert_eq!(file.parse::<TlogProof>(), Err(error), "{head}");
        }
        assert_eq!(
            format!("{FIRST_LINE}\nindex 0\n").parse::<TlogProof>(),
            Err(TlogProofError::NoCheckpoint)
        );
        assert_eq!(
            format!("{FIRST_LINE}\nindex 0\n\nlog\n").parse::<TlogProof>(),
            Err(TlogProofError::Note(NoteError::NoSignatures))
        );
    }
}
