//! Keys with names, for signing notes (C2SP `signed-note`, Ed25519).
//!
//! A key has a name, such as the address of a log, and an id of four bytes, computed from the name
//! and the public key. Each signature carries both, so that a reader finds the right key.
//!
//! ```
//! use handfast_log::{SigningKey, VerifyingKey};
//!
//! let key = SigningKey::new("example.org/log", &[7; 32])?;
//! let public: VerifyingKey = key.verifying_key().to_string().parse()?;
//! assert_eq!(&public, key.verifying_key());
//!
//! // The secret is shown only to those who ask for it by name.
//! assert_eq!(format!("{key:?}"), format!("SigningKey({public})"));
//! let again: SigningKey = key.secret_text().parse()?;
//! assert_eq!(again.verifying_key(), &public);
//! # Ok::<_, handfast_log::KeyError>(())
//! ```

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::text::{from_base64, to_base64};

/// The public half of a key: who may be believed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VerifyingKey {
    name: String,
    id: u32,
    public: [u8; 32],
}

impl VerifyingKey {
    /// A key from its name and the 32 bytes of its public key (RFC 8032 §5.1.5).
    pub fn new(name: &str, public: [u8; 32]) -> Result<Self, KeyError> {
        if !is_key_name(name) {
            return Err(KeyError::Name);
        }
        // "key ID = SHA-256(key name || 0x0A || 0x01 || 32-byte Ed25519 public key)[:4]"
        let [a, b, c, d, ..]: [u8; 32] = Sha256::new()
            .chain_update(name)
            .chain_update([0x0A, ED25519_TYPE])
            .chain_update(public)
            .finalize()
            .into();
        Ok(Self {
            name: name.to_owned(),
            id: u32::from_be_bytes([a, b, c, d]),
            public,
        })
    }

    /// Whose key this is: not empty, without spaces and `+`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A short hash of name and key. Anyone can make a key with the same id: it is for finding a
    /// key, not for trusting it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The 32 bytes of the public key.
    #[must_use]
    pub fn public_key(&self) -> &[u8; 32] {
        &self.public
    }

    /// Whether `signature` was made over `message` with this key.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.public)
            .verify(message, signature)
            .is_ok()
    }
}

/// `<name>+<id>+<base64 of 0x01 and the public key>`
impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = to_base64(typed(&self.public).as_slice());
        write!(f, "{}+{:08x}+{key}", self.name, self.id)
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({self})")
    }
}

impl FromStr for VerifyingKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (name, id, bytes) = parts(text)?;
        let key = Self::new(name, *bytes)?;
        key.check_id(id)?;
        Ok(key)
    }
}

impl VerifyingKey {
    fn check_id(&self, written: &str) -> Result<(), KeyError> {
        if format!("{:08x}", self.id) == written {
            Ok(())
        } else {
            Err(KeyError::Id { expected: self.id })
        }
    }
}

/// The secret half of a key.
pub struct SigningKey {
    seed: Zeroizing<[u8; 32]>,
    pair: Ed25519KeyPair,
    public: VerifyingKey,
}

impl SigningKey {
    /// A key from its name and the 32 bytes that RFC 8032 §5.1.5 calls the private key. They must
    /// come from a good source of chance, and stay secret.
    pub fn new(name: &str, seed: &[u8; 32]) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyError::Unusable)?;
        let public = pair.public_key().as_ref().try_into();
        let public = VerifyingKey::new(name, public.map_err(|_| KeyError::Unusable)?)?;
        Ok(Self {
            seed: Zeroizing::new(*seed),
            pair,
            public,
        })
    }

    /// The public half, to be given to everyone.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// The secret as text, to be stored where only the log can read it:
    /// `PRIVATE+KEY+<name>+<id>+<base64 of 0x01 and the seed>`.
    ///
    /// A method with a name, and not `Display`, so that no key slips into a message.
    #[must_use]
    pub fn secret_text(&self) -> String {
        let seed = to_base64(typed(&self.seed).as_slice());
        let VerifyingKey { name, id, .. } = &self.public;
        format!("{SECRET}{name}+{id:08x}+{seed}")
    }

    /// The 64 bytes of a signature over `message`.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = self.pair.try_sign(message);
        Ok(signature.map_err(|_| KeyError::Unusable)?.as_ref().to_vec())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public)
    }
}

impl FromStr for SigningKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (name, id, seed) = parts(text.strip_prefix(SECRET).ok_or(KeyError::NotSecret)?)?;
        let key = Self::new(name, &seed)?;
        key.public.check_id(id)?;
        Ok(key)
    }
}

/// Why something is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not the three parts of a key.
    #[error("a key is a name, an id of 8 hexadecimal digits and base64, joined by +")]
    Format,
    /// The id is that of another name or key.
    #[error("the id of the key does not belong to its name; it would be {expected:08x}")]
    Id {
        /// The id that belongs to it.
        expected: u32,
    },
    /// Other than 32 bytes.
    #[error("an Ed25519 key has 32 bytes, and there are {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// A name that is empty or contains a space, a control character or `+`.
    #[error("the name of a key is not empty and holds no spaces, control characters or +")]
    Name,
    /// A secret key says so at its beginning.
    #[error("a secret key begins with {SECRET}")]
    NotSecret,
    /// Not Ed25519.
    #[error("only Ed25519 keys (type 1) are known, and this one is of type {found}")]
    Type {
        /// The type.
        found: u8,
    },
    /// The cryptographic library refuses the key.
    #[error("the key cannot be used for signing")]
    Unusable,
}

/// `signed-note`: "Key names MUST be non-empty and MUST NOT contain any Unicode spaces or plus
/// (U+002B) characters", nor what may stand in no note.
pub(crate) fn is_key_name(name: &str) -> bool {
    let forbidden = |c: char| c.is_whitespace() || c == '+' || c < ' ';
    !name.is_empty() && !name.contains(forbidden)
}

/// Name, id and key of `<name>+<id>+<base64>`.
fn parts(text: &str) -> Result<(&str, &str, Zeroizing<[u8; 32]>), KeyError> {
    let (name, rest) = text.split_once('+').ok_or(KeyError::Format)?;
    // Base64 may hold `+` itself.
    let (id, key) = rest.split_once('+').ok_or(KeyError::Format)?;
    let bytes = Zeroizing::new(from_base64(key).ok_or(KeyError::Format)?);
    let (found, key) = bytes.split_first().ok_or(KeyError::Format)?;
    if *found != ED25519_TYPE {
        return Err(KeyError::Type { found: *found });
    }
    let length = KeyError::Length { found: key.len() };
    let key = key.try_into().map_err(|_| length)?;
    Ok((name, id, Zeroizing::new(key)))
}

fn typed(key: &[u8; 32]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new([&[ED25519_TYPE], key.as_slice()].concat())
}

/// `signed-note`: "`0x01` — Ed25519 signatures as specified by this document."
const ED25519_TYPE: u8 = 0x01;

/// How secret keys begin.
const SECRET: &str = "PRIVATE+KEY+";

#[cfg(test)]
mod tests {
    use super::*;

    /// The key in the documentation of Go's `note` package.
    const PETER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    #[test]
    fn the_key_of_the_go_documentation_is_read_and_written() {
        let key: VerifyingKey = PETER.parse().unwrap();
        assert_eq!(key.name(), "PeterNeumann");
        assert_eq!(key.id(), 0xc74f_20a3);
        assert_eq!(key.to_string(), PETER);
    }

    #[test]
    fn a_key_whose_id_is_not_its_own_is_refused() {
        let renamed = PETER.replace("Peter", "Petra");
        assert!(matches!(
            renamed.parse::<VerifyingKey>(),
            Err(KeyError::Id { .. })
        ));
        let shouted = PETER.replace("c74f", "C74F");
        assert!(shouted.parse::<VerifyingKey>().is_err());
    }

    #[test]
    fn what_is_no_key_is_refused_with_the_reason() {
        for (text, error) in [
            ("", KeyError::Format),
            ("a+b", KeyError::Format),
            ("a+00000000+", KeyError::Format),
            ("a+00000000+?", KeyError::Format),
            ("a+00000000+AQ==", KeyError::Length { found: 0 }),
            ("a+00000000+BA==", KeyError::Type { found: 4 }),
        ] {
            assert_eq!(text.parse::<VerifyingKey>(), Err(error), "{text}");
        }
        assert_eq!(PETER.parse::<SigningKey>().err(), Some(KeyError::NotSecret));
        for name in ["", "a b", "a+b", "a\u{a0}b", "a\nb", "\u{1}"] {
            assert_eq!(VerifyingKey::new(name, [0; 32]), Err(KeyError::Name));
        }
    }

    #[test]
    fn a_secret_is_not_in_the_debug_text() {
        let key = SigningKey::new("log", &[7; 32]).unwrap();
        let secret = key.secret_text();
        let seed = secret.rsplit('+').next().unwrap();
        assert!(!format!("{key:?}").contains(seed));
    }

    /// RFC 8032 §7.1, test 1.
    #[test]
    fn signatures_are_those_of_rfc_8032() {
        let seed = [
            0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec,
            0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03,
            0x1c, 0xae, 0x7f, 0x60,
        ];
        let key = SigningKey::new("log", &seed).unwrap();
        let public = key.verifying_key().public_key();
        assert_eq!(public[..4], [0xd7, 0x5a, 0x98, 0x01]);
        let signature = key.sign(b"").unwrap();
        assert_eq!(signature[..4], [0xe5, 0x56, 0x43, 0x00]);
        assert!(key.verifying_key().verifies(b"", &signature));
        assert!(!key.verifying_key().verifies(b"x", &signature));
    }
}
