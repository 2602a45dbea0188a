//! Signed notes: text with signatures under it (C2SP `signed-note`).
//!
//! The text of a note must not be trusted until a signature by a known key has been checked. So
//! [`SignedNote::verify`] returns it.
//!
//! ```
//! use handfast_log::{NoteError, SignedNote, SigningKey};
//!
//! let key = SigningKey::new("example.org/log", &[7; 32])?;
//! let note = SignedNote::sign("Hello.\n", &key)?;
//! let read: SignedNote = note.to_string().parse()?;
//! assert_eq!(read.verify(&[key.verifying_key().clone()])?, "Hello.\n");
//!
//! let other = SigningKey::new("example.org/log", &[8; 32])?;
//! let refused = read.verify(&[other.verifying_key().clone()]);
//! assert_eq!(refused, Err(NoteError::OtherKeys));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

use crate::key::is_key_name;
use crate::text::{from_base64, to_base64};
use crate::{KeyError, SigningKey, VerifyingKey};

/// Text with signatures, which may or may not be those of known keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedNote {
    text: String,
    /// At least one.
    signatures: Vec<NoteSignature>,
}

/// A signature under a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteSignature {
    name: String,
    id: u32,
    signature: Vec<u8>,
}

impl NoteSignature {
    /// The name of the key that is said to have made it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of that key.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The bytes of the signature, at least one.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    fn is_by(&self, key: &VerifyingKey) -> bool {
        self.name == key.name() && self.id == key.id()
    }
}

impl SignedNote {
    /// Signs a text, which ends in a newline and contains no other control characters.
    pub fn sign(text: &str, key: &SigningKey) -> Result<Self, NoteError> {
        check_characters(text)?;
        if !text.ends_with('\n') {
            return Err(NoteError::NoNewline);
        }
        let mut note = Self {
            text: text.to_owned(),
            signatures: Vec::new(),
        };
        note.add_signature(key)?;
        Ok(note)
    }

    /// Signs the note with one more key; an earlier signature by the same key is replaced.
    pub fn add_signature(&mut self, key: &SigningKey) -> Result<(), NoteError> {
        let public = key.verifying_key();
        let signature = NoteSignature {
            name: public.name().to_owned(),
            id: public.id(),
            signature: key.sign(self.text.as_bytes())?,
        };
        let mut signed = self.clone();
        signed.signatures.retain(|earlier| !earlier.is_by(public));
        signed.signatures.push(signature);
        // A text that cannot be read back must not be written.
        check_size(signed.to_string().len())?;
        check_count(signed.signatures.len())?;
        *self = signed;
        Ok(())
    }

    /// The text, if it is signed by one of `keys`.
    ///
    /// "If the key name and ID match a known key, verifiers MUST verify the signature. If a
    /// signature from a known key fails to verify, clients SHOULD reject the whole note."
    /// Signatures by others are passed over.
    pub fn verify(&self, keys: &[VerifyingKey]) -> Result<&str, NoteError> {
        let mut is_signed = false;
        for signature in &self.signatures {
            // Two keys may share name and id, though that takes someone who wants it.
            let known = || keys.iter().filter(|key| signature.is_by(key));
            if known().next().is_none() {
                continue;
            }
            if !known().any(|key| key.verifies(self.text.as_bytes(), &signature.signature)) {
                return Err(NoteError::Forged {
                    name: signature.name.clone(),
                    id: signature.id,
                });
            }
            is_signed = true;
        }
        if is_signed {
            Ok(&self.text)
        } else {
            Err(NoteError::OtherKeys)
        }
    }

    /// The unverified text, for display only.
    #[must_use]
    pub fn unverified_text(&self) -> &str {
        &self.text
    }

    /// The signatures, in their order.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }
}

impl fmt::Display for SignedNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        for signature in &self.signatures {
            let bytes = [&signature.id.to_be_bytes()[..], &signature.signature].concat();
            writeln!(f, "{DASH}{} {}", signature.name, to_base64(bytes))?;
        }
        Ok(())
    }
}

impl FromStr for SignedNote {
    type Err = NoteError;

    fn from_str(note: &str) -> Result<Self, NoteError> {
        check_size(note.len())?;
        check_characters(note)?;
        // "the text is separated from the signatures by the last empty line in the note"
        let (text, lines) = note.rsplit_once("\n\n").ok_or(NoteError::NoSignatures)?;
        if lines.is_empty() {
            return Err(NoteError::NoSignatures);
        }
        let lines = lines.strip_suffix('\n').ok_or(NoteError::NoNewline)?;
        let mut signatures = Vec::new();
        for (line, number) in lines.split('\n').zip(1..) {
            check_count(number)?;
            let signature = signature(line).ok_or(NoteError::SignatureLine { number })?;
            signatures.push(signature);
        }
        Ok(Self {
            text: format!("{text}\n"),
            signatures,
        })
    }
}

/// "em dash (U+2014), space (U+0020), key name, space, base64-encoded signature"
fn signature(line: &str) -> Option<NoteSignature> {
    let (name, encoded) = line.strip_prefix(DASH)?.split_once(' ')?;
    let bytes = from_base64(encoded)?;
    let (id, signature) = bytes.split_first_chunk()?;
    if !is_key_name(name) || signature.is_empty() {
        return None;
    }
    Some(NoteSignature {
        name: name.to_owned(),
        id: u32::from_be_bytes(*id),
        signature: signature.to_vec(),
    })
}

/// "MUST NOT contain any ASCII control characters (those below U+0020) other than newline"
fn check_characters(note: &str) -> Result<(), NoteError> {
    match note.bytes().position(|byte| byte < b' ' && byte != b'\n') {
        Some(at) => Err(NoteError::Control { at }),
        None => Ok(()),
    }
}

fn check_size(found: usize) -> Result<(), NoteError> {
    if found > MAX_SIZE {
        return Err(NoteError::TooLong { found });
    }
    Ok(())
}

fn check_count(found: usize) -> Result<(), NoteError> {
    if found > MAX_SIGNATURES {
        return Err(NoteError::TooManySignatures);
    }
    Ok(())
}

/// Why something is not a note, or not to be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// A control character other than newline.
    #[error("the note holds a control character at byte {at}")]
    Control {
        /// Where it stands.
        at: usize,
    },
    /// A known key has not made the signature that bears its name.
    #[error("the signature by {name} (key {id:08x}) is not genuine")]
    Forged {
        /// The name of the key.
        name: String,
        /// The id of the key.
        id: u32,
    },
    /// The key does not sign.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Text and note end in a newline.
    #[error("the note does not end in a newline")]
    NoNewline,
    /// The signatures are missing after the last empty line, or there is no empty line.
    #[error("the note has no signatures: they follow an empty line")]
    NoSignatures,
    /// None of the signatures is by a known key.
    #[error("the note is signed by other keys than those known")]
    OtherKeys,
    /// A line below the text is not a signature.
    #[error("line {number} below the text is not a signature")]
    SignatureLine {
        /// Which one, from 1.
        number: usize,
    },
    /// Longer than any note needs to be.
    #[error("the note has {found} bytes; at most {MAX_SIZE} are read")]
    TooLong {
        /// How long it is.
        found: usize,
    },
    /// More signatures than anyone wants to check.
    #[error("the note has more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
}

/// How signature lines begin.
const DASH: &str = "— ";

/// The longest note that is read, in bytes.
const MAX_SIZE: usize = 1_048_576;

/// "Verifiers SHOULD apply a maximum limit to the number of signatures in a note […], but MUST
/// accept at least up to 16 signatures."
const MAX_SIGNATURES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> SigningKey {
        SigningKey::new(&format!("example.org/{number}"), &[number; 32]).unwrap()
    }

    fn public(numbers: &[u8]) -> Vec<VerifyingKey> {
        let key = |number: &u8| key(*number).verifying_key().clone();
        numbers.iter().map(key).collect()
    }

    /// The example in the documentation of Go's `note` package.
    #[test]
    fn the_note_of_the_go_documentation_verifies() {
        let peter = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let text = "If you think cryptography is the answer to your problem,\n\
                    then you don't know what your problem is.\n\
                    \n\
                    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUg\
                    YN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
        let note: SignedNote = text.parse().unwrap();
        assert_eq!(note.to_string(), text);
        note.verify(&[peter.parse().unwrap()]).unwrap();
    }

    #[test]
    fn signatures_by_known_keys_must_all_be_genuine() {
        let mut note = SignedNote::sign("text\n", &key(1)).unwrap();
        note.add_signature(&key(2)).unwrap();
        assert_eq!(note.verify(&public(&[1])), Ok("text\n"));
        assert_eq!(note.verify(&public(&[2, 3])), Ok("text\n"));
        assert_eq!(note.verify(&public(&[3])), Err(NoteError::OtherKeys));
        assert_eq!(note.verify(&[]), Err(NoteError::OtherKeys));

        let mut forged = note.clone();
        forged.signatures[1].signature[0] ^= 1;
        assert_eq!(forged.verify(&public(&[1])), Ok("text\n"));
        assert!(matches!(
            forged.verify(&public(&[1, 2])),
            Err(NoteError::Forged { .. })
        ));
        let changed: SignedNote = note.to_string().replace("text", "test").parse().unwrap();
        assert!(matches!(
            changed.verify(&public(&[1])),
            Err(NoteError::Forged { .. })
        ));
    }

    #[test]
    fn signing_twice_leaves_one_signature() {
        let mut note = SignedNote::sign("text\n", &key(1)).unwrap();
        note.add_signature(&key(2)).unwrap();
        note.add_signature(&key(1)).unwrap();
        let names: Vec<_> = note.signatures().iter().map(NoteSignature::name).collect();
        assert_eq!(names, ["example.org/2", "example.org/1"]);
    }

    #[test]
    fn text_may_hold_empty_lines_and_lines_like_signatures() {
        for text in ["\n", "a\n\n", "\n\n\n", "a\n\n— b AAAAAAA=\n"] {
            let note = SignedNote::sign(text, &key(1)).unwrap();
            let read: SignedNote = note.to_string().parse().unwrap();
            assert_eq!(read, note);
            assert_eq!(read.verify(&public(&[1])), Ok(text));
        }
    }

    #[test]
    fn what_is_no_note_is_refused_with_the_reason() {
        for (note, error) in [
            ("", NoteError::NoSignatures),
            ("text\n", NoteError::NoSignatures),
            ("text\n\n", NoteError::NoSignatures),
            ("text\n— a AAAAAAA=\n", NoteError::NoSignatures),
            ("\n— a AAAAAAA=\n", NoteError::NoSignatures),
            ("text\n\n— a AAAAAAA=", NoteError::NoNewline),
            ("te\txt\n\n— a AAAAAAA=\n", NoteError::Control { at: 2 }),
            ("text\r\n\n— a AAAAAAA=\n", NoteError::Control { at: 4 }),
        ] {
            assert_eq!(note.parse::<SignedNote>(), Err(error), "{note:?}");
        }
        for line in [
            "- a AAAAAAA=",
            "—a AAAAAAA=",
            "—  AAAAAAA=",
            "— a",
            "— a ",
            "— a AAAAAA==",
            "— a AAAAAAB=",
            "— a AAAAAAA",
            "— a AAAAAAA= ",
            "— a  AAAAAAA=",
            "— a+b AAAAAAA=",
            "— a\u{a0}b AAAAAAA=",
        ] {
            let note = format!("text\n\n— a AAAAAAA=\n{line}\n");
            assert_eq!(
                note.parse::<SignedNote>(),
                Err(NoteError::SignatureLine { number: 2 }),
                "{line}"
            );
        }
        assert_eq!(SignedNote::sign("text", &key(1)), Err(NoteError::NoNewline));
        assert_eq!(
            SignedNote::sign("te\0xt\n", &key(1)),
            Err(NoteError::Control { at: 2 })
        );
    }

    #[test]
    fn there_are_limits() {
        let line = "— a AAAAAAA=\n";
        let note = |count| format!("text\n\n{}", line.repeat(count));
        assert!(note(100).parse::<SignedNote>().is_ok());
        assert_eq!(
            note(101).parse::<SignedNote>(),
            Err(NoteError::TooManySignatures)
        );
        let mut full: SignedNote = note(100).parse().unwrap();
        assert_eq!(
            full.add_signature(&key(1)),
            Err(NoteError::TooManySignatures)
        );
        let long = format!("{}\n\n{line}", "a".repeat(MAX_SIZE));
        assert!(matches!(
            long.parse::<SignedNote>(),
            Err(NoteError::TooLong { .. })
        ));
        let text = format!("{}\n", "a".repeat(MAX_SIZE - 1));
        assert!(matches!(
            SignedNote::sign(&text, &key(1)),
            Err(NoteError::TooLong { .. })
        ));
    }
}
