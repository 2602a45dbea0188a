//! Checkpoints: the signed heads of a log (C2SP `tlog-checkpoint`).
//!
//! The text of a checkpoint is the origin, which names the log, the number of entries, and the root
//! of the tree over them; rarely, other lines follow. It is published as a [`SignedNote`].
//!
//! ```
//! use handfast_log::{Checkpoint, CheckpointError, SigningKey, empty_root};
//!
//! let key = SigningKey::new("example.org/log", &[7; 32])?;
//! let note = Checkpoint::new("example.org/log", 0, empty_root()).sign(&key)?.to_string();
//! let root = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
//! assert!(note.starts_with(&format!("example.org/log\n0\n{root}\n\n— ")));
//! assert_eq!(Checkpoint::open(&note, key.verifying_key())?.size, 0);
//!
//! let other = SigningKey::new("example.org/log", &[8; 32])?;
//! let refused = Checkpoint::open(&note, other.verifying_key());
//! assert!(matches!(refused, Err(CheckpointError::OtherKey { .. })));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

use crate::text::{decimal, hash, to_base64};
use crate::{Hash, NoteError, SignedNote, SigningKey, VerifyingKey};

/// The state of a log: its name, the number of its entries, and the root of the tree over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log; not empty.
    pub origin: String,
    /// How many entries there are.
    pub size: u64,
    /// The root of the tree.
    pub root: Hash,
    /// Further lines, none of them empty, whose meaning is not known here.
    pub extensions: Vec<String>,
}

impl Checkpoint {
    /// A checkpoint without extensions.
    #[must_use]
    pub fn new(origin: &str, size: u64, root: Hash) -> Self {
        Self {
            origin: origin.to_owned(),
            size,
            root,
            extensions: Vec::new(),
        }
    }

    /// Signs the checkpoint with the key of the log, whose name is the origin.
    pub fn sign(&self, key: &SigningKey) -> Result<SignedNote, CheckpointError> {
        self.check_origin(key.verifying_key())?;
        let text = self.to_string();
        // Lines within lines would say something else when read.
        if text.parse().as_ref() != Ok(self) {
            return Err(CheckpointError::Lines);
        }
        Ok(SignedNote::sign(&text, key)?)
    }

    /// Reads a signed note and checks that `key` has signed it, and that it is the key of this log.
    pub fn open(note: &str, key: &VerifyingKey) -> Result<Self, CheckpointError> {
        Self::open_note(&note.parse()?, key)
    }

    /// As [`Checkpoint::open`], for a note that has been read.
    pub fn open_note(note: &SignedNote, key: &VerifyingKey) -> Result<Self, CheckpointError> {
        let text = match note.verify(std::slice::from_ref(key)) {
            Ok(text) => text,
            Err(NoteError::OtherKeys) => {
                return Err(CheckpointError::OtherKey {
                    name: key.name().to_owned(),
                    id: key.id(),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let checkpoint: Self = text.parse()?;
        checkpoint.check_origin(key)?;
        Ok(checkpoint)
    }

    /// "The log's key name in its signature line SHOULD match the origin line": here it must, so
    /// that one key can speak for one log only.
    fn check_origin(&self, key: &VerifyingKey) -> Result<(), CheckpointError> {
        if self.origin == key.name() {
            return Ok(());
        }
        Err(CheckpointError::OtherLog {
            origin: self.origin.clone(),
            key: key.name().to_owned(),
        })
    }
}

/// The text that is signed.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.origin)?;
        writeln!(f, "{}", self.size)?;
        writeln!(f, "{}", to_base64(self.root))?;
        for line in &self.extensions {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// Reads the text of a note. Whether anyone has signed it is another question:
/// [`Checkpoint::open`] asks it.
impl FromStr for Checkpoint {
    type Err = CheckpointError;

    /// "The note text is a sequence of at least three non-empty lines, separated by newlines".
    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let lines = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?;
        if lines.split('\n').any(str::is_empty) {
            return Err(CheckpointError::Lines);
        }
        let mut lines = lines.split('\n');
        let mut next = || lines.next().ok_or(CheckpointError::Lines);
        Ok(Self {
            origin: next()?.to_owned(),
            size: decimal(next()?).ok_or(CheckpointError::Size)?,
            root: hash(next()?).ok_or(CheckpointError::Root)?,
            extensions: lines.map(str::to_owned).collect(),
        })
    }
}

/// Why something is not a checkpoint, or not to be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Too few lines, or an empty one.
    #[error("a checkpoint is three lines or more, none of them empty: origin, size, root")]
    Lines,
    /// Not a note, or not properly signed.
    #[error("the checkpoint is not properly signed")]
    Note(#[from] NoteError),
    /// The key has not signed it.
    #[error("the checkpoint is signed by another key, not by {name} (key {id:08x})")]
    OtherKey {
        /// The name of the key that was expected.
        name: String,
        /// Its id.
        id: u32,
    },
    /// The key is that of another log.
    #[error("the checkpoint is of the log {origin}, and the key is that of {key}")]
    OtherLog {
        /// The log that the checkpoint is of.
        origin: String,
        /// The name of the key.
        key: String,
    },
    /// The third line.
    #[error("the root in the checkpoint is not 32 bytes in base64")]
    Root,
    /// The second line.
    #[error("the size in the checkpoint is not a plain decimal number")]
    Size,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";

    fn key() -> SigningKey {
        SigningKey::new("example.com/log", &[1; 32]).unwrap()
    }

    /// The text of the example in `tlog-checkpoint`.
    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let text = format!("example.com/behind-the-sofa\n20852163\n{ROOT}\n");
        let checkpoint: Checkpoint = text.parse().unwrap();
        assert_eq!(checkpoint.origin, "example.com/behind-the-sofa");
        assert_eq!(checkpoint.size, 20_852_163);
        assert_eq!(checkpoint.to_string(), text);
        let more = format!("{text}more\nand more\n");
        let checkpoint: Checkpoint = more.parse().unwrap();
        assert_eq!(checkpoint.extensions, ["more", "and more"]);
        assert_eq!(checkpoint.to_string(), more);
    }

    #[test]
    fn what_is_no_checkpoint_is_refused_with_the_reason() {
        for (text, error) in [
            (String::new(), CheckpointError::Lines),
            ("log\n1\n".to_owned(), CheckpointError::Lines),
            (format!("log\n1\n{ROOT}"), CheckpointError::Lines),
            (format!("\n1\n{ROOT}\n"), CheckpointError::Lines),
            (format!("log\n1\n{ROOT}\n\n"), CheckpointError::Lines),
            (format!("log\n1\n{ROOT}\n\nmore\n"), CheckpointError::Lines),
            (format!("log\n01\n{ROOT}\n"), CheckpointError::Size),
            (format!("log\n+1\n{ROOT}\n"), CheckpointError::Size),
            (
                format!("log\n18446744073709551616\n{ROOT}\n"),
                CheckpointError::Size,
            ),
            ("log\n1\nAAAA\n".to_owned(), CheckpointError::Root),
            (format!("log\n1\n{ROOT} \n"), CheckpointError::Root),
        ] {
            assert_eq!(text.parse::<Checkpoint>(), Err(error), "{text:?}");
        }
    }

    #[test]
    fn a_checkpoint_that_reads_as_another_is_not_signed() {
        let good = Checkpoint::new("example.com/log", 1, [0; 32]);
        assert!(good.sign(&key()).is_ok());
        for line in ["", "a\nb", "a\n"] {
            let mut bad = good.clone();
            bad.extensions.push(line.to_owned());
            assert_eq!(bad.sign(&key()), Err(CheckpointError::Lines), "{line:?}");
        }
        let mut bad = good;
        bad.extensions.push("tab\t".to_owned());
        assert!(matches!(bad.sign(&key()), Err(CheckpointError::Note(_))));
    }

    #[test]
    fn a_key_speaks_for_one_log_only() {
        let checkpoint = Checkpoint::new("example.com/other", 1, [0; 32]);
        assert!(matches!(
            checkpoint.sign(&key()),
            Err(CheckpointError::OtherLog { .. })
        ));
        let note = SignedNote::sign(&checkpoint.to_string(), &key()).unwrap();
        assert!(matches!(
            Checkpoint::open_note(&note, key().verifying_key()),
            Err(CheckpointError::OtherLog { .. })
        ));
    }

    #[test]
    fn a_changed_checkpoint_is_refused() {
        let checkpoint = Checkpoint::new("example.com/log", 41, [0; 32]);
        let note = checkpoint.sign(&key()).unwrap().to_string();
        assert_eq!(
            Checkpoint::open(&note, key().verifying_key()),
            Ok(checkpoint)
        );
        let changed = note.replace("\n41\n", "\n42\n");
        assert!(matches!(
            Checkpoint::open(&changed, key().verifying_key()),
            Err(CheckpointError::Note(NoteError::Forged { .. }))
        ));
    }
}
