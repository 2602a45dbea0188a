//! Signatures, MACs, secret keys and sessions of the handle protocol.
//!
//! Nothing here reads a clock or a random source: random bytes are arguments. Keys of old software
//! are verified as far as that is safe; new data follows the rules of the version of the message.
//!
//! ```
//! use handfast_wire::crypto::{SessionAlgorithm, SessionKey};
//! use handfast_wire::{Envelope, Framing, Version};
//!
//! let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32])?;
//! let framing = Framing::of(&Envelope { session_id: 9, ..Envelope::new(Version::CURRENT) });
//! let credential = key.mac(&framing, 1, b"header and body")?;
//! key.verify_mac(&credential, &framing, b"header and body")?;
//! assert!(key.verify_mac(&credential, &framing, b"something else").is_err());
//! # Ok::<_, handfast_wire::crypto::CryptoError>(())
//! ```

mod counter;
mod diffie_hellman;
mod digest;
mod generate;
mod key_file;
mod number;
mod old;
mod private_key;
mod secret;
mod session;
mod sign;
mod verify;

pub use counter::CounterWindow;
pub use diffie_hellman::{DhKeyPair, MODP_2048, SharedSecret};
pub use key_file::{KeyFileError, Protection, is_encrypted, read_private_key, write_private_key};
pub use private_key::{PrivateKey, RsaFactors};
pub use secret::{
    MAX_ANSWER_ITERATIONS, SecretAlgorithm, SecretAnswer, answer_with_secret, verify_secret_answer,
};
pub use session::{SessionAlgorithm, SessionKey};
pub use sign::{SigningKey, answer_with_key, certified_algorithm, sign_message};
pub use verify::{verify_key_answer, verify_message, verify_signature};

use crate::codec::DecodeError;

/// Why something cannot be signed, verified or decrypted.
///
/// ```
/// use handfast_wire::crypto::CryptoError;
///
/// assert_eq!(CryptoError::Mismatch.to_string(), "the signature or MAC does not match");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CryptoError {
    /// A name or code that stands for no algorithm known here.
    #[error("the algorithm is not known")]
    Algorithm,
    /// The bytes are not what they should be.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The ciphertext does not decrypt.
    #[error("the message does not decrypt with this key")]
    Decrypt,
    /// A key that cannot be used: its numbers make no sense, or are too small or too large.
    #[error("the key cannot be used")]
    Key,
    /// The signature or MAC is not that of the message, or of another key.
    #[error("the signature or MAC does not match")]
    Mismatch,
    /// A parameter that asks for too much work, or gives too little safety.
    #[error("a parameter asks for too much work or too little safety")]
    Parameter,
    /// DSA keys verify here, and do not sign.
    #[error("DSA keys do not sign here; use an RSA key")]
    VerifyOnly,
}
