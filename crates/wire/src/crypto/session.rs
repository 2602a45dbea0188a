//! Session keys: MACs and encryption.

use std::fmt;

use aws_lc_rs::cipher::{
    AES_128, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey,
    PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use zeroize::Zeroizing;

use super::CryptoError;
use super::old::{BLOCK, OldCipher};
use super::secret::compare;
use crate::codes::codes;
use crate::credential::{Credential, Framing};
use crate::digest::DigestAlgorithm;
use crate::version::Version;

codes! {
    /// The cipher of a session (`handle-protocol.md` §4.5).
    ///
    /// ```
    /// use handfast_wire::crypto::SessionAlgorithm;
    ///
    /// assert_eq!(SessionAlgorithm::from_code(3), Some(SessionAlgorithm::Aes));
    /// ```
    SessionAlgorithm: u32 {
        /// Code 1; below 2.4 the only one.
        Des = 1,
        /// Code 2.
        DesEde = 2,
        /// Code 3; AES-128.
        Aes = 3,
    }
}

impl SessionAlgorithm {
    /// How many octets a session key has. Those of AES are more than the cipher uses.
    #[must_use]
    pub fn key_length(self) -> usize {
        match self {
            Self::Des => 8,
            Self::DesEde => 24,
            Self::Aes => 32,
        }
    }

    /// How many octets stand before a ciphertext, from 2.4 on.
    #[must_use]
    pub fn iv_length(self) -> usize {
        match self {
            Self::Des | Self::DesEde => BLOCK,
            Self::Aes => 16,
        }
    }
}

/// The key of a session. It is forgotten when it is dropped, and not shown.
///
/// ```
/// use handfast_wire::Version;
/// use handfast_wire::crypto::{SessionAlgorithm, SessionKey};
///
/// let key = SessionKey::new(SessionAlgorithm::Aes, &[7; 32])?;
/// let sealed = key.encrypt(Version::CURRENT, b"header, body, credential", &[1; 16])?;
/// assert_eq!(*key.decrypt(Version::CURRENT, &sealed)?, b"header, body, credential");
/// assert_eq!(format!("{key:?}"), "SessionKey(Aes)");
/// # Ok::<_, handfast_wire::crypto::CryptoError>(())
/// ```
#[derive(Clone)]
pub struct SessionKey {
    algorithm: SessionAlgorithm,
    key: Zeroizing<Vec<u8>>,
}

impl SessionKey {
    /// A key of the length that the algorithm has.
    pub fn new(algorithm: SessionAlgorithm, key: &[u8]) -> Result<Self, CryptoError> {
        if key.len() != algorithm.key_length() {
            return Err(CryptoError::Key);
        }
        Ok(Self {
            algorithm,
            key: Zeroizing::new(key.to_vec()),
        })
    }

    /// The cipher.
    #[must_use]
    pub fn algorithm(&self) -> SessionAlgorithm {
        self.algorithm
    }

    /// The octets, for programs that store sessions themselves.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.key
    }

    /// The `HS_MAC` credential of a message, which is header and body before encryption
    /// (`handle-protocol.md` §4.4).
    pub fn mac(
        &self,
        framing: &Framing,
        counter: u32,
        message: &[u8],
    ) -> Result<Credential<'static>, CryptoError> {
        let algorithm = match framing.version {
            version if version >= Version::new(2, 7) => "HMAC-SHA256",
            Version { major: 2, minor: 6 } => "SHA1",
            _ => "\u{2}",
        };
        let mac = self.compute(framing, counter, message, algorithm.as_bytes())?;
        Ok(Credential::new(Credential::MAC, counter, algorithm, mac))
    }

    /// Verifies the `HS_MAC` credential of a message. Its counter is to be checked afterwards: see
    /// [`CounterWindow`](super::CounterWindow).
    pub fn verify_mac(
        &self,
        credential: &Credential<'_>,
        framing: &Framing,
        message: &[u8],
    ) -> Result<(), CryptoError> {
        if !credential.is_mac() {
            return Err(CryptoError::Mismatch);
        }
        let counter = credential.counter();
        let mac = self.compute(framing, counter, message, &credential.algorithm)?;
        compare(&mac, &credential.signature)
    }

    fn compute(
        &self,
        framing: &Framing,
        counter: u32,
        message: &[u8],
        algorithm: &[u8],
    ) -> Result<Vec<u8>, CryptoError> {
        let key = self.key.as_slice();
        if let Some(hash) = hmac_by_name(algorithm) {
            return hash.hmac(key, &[&framing.covered(counter, message)]);
        }
        let hash = DigestAlgorithm::from_name(algorithm).ok_or(CryptoError::Algorithm)?;
        Ok(match framing.version {
            version if version >= Version::new(2, 7) => {
                hash.digest(&[key, &framing.covered(counter, message), key])
            }
            // "SHA1(K[0..4] ‖ M ‖ K ‖ (len K + 10) zero octets) (quirk: no envelope field covered)"
            Version {
                major: 2,
                minor: 5 | 6,
            } => {
                let start = key.get(..4).unwrap_or(key);
                hash.digest(&[start, message, key, &vec![0; key.len() + 10]])
            }
            _ => hash.digest(&[key, message, key]),
        })
    }

    /// Encrypts what stands behind the envelope: header, body and credential section
    /// (`handle-protocol.md` §4.6). `iv` is random and fresh for each message; as much of it is
    /// used as the cipher needs, and none below 2.4.
    pub fn encrypt(
        &self,
        version: Version,
        message: &[u8],
        iv: &[u8; 16],
    ) -> Result<Vec<u8>, CryptoError> {
        let has_iv = version >= Version::new(2, 4);
        let cipher = match self.algorithm {
            SessionAlgorithm::Aes if has_iv => encrypt_aes(self.aes_key(), iv, message)?,
            SessionAlgorithm::Aes => return Err(CryptoError::Algorithm),
            SessionAlgorithm::Des | SessionAlgorithm::DesEde => {
                let first = iv.first_chunk().copied().filter(|_| has_iv);
                OldCipher::new(&self.key)?.encrypt(first, message)
            }
        };
        let iv = iv.get(..self.algorithm.iv_length()).filter(|_| has_iv);
        Ok([iv.unwrap_or_default(), &cipher].concat())
    }

    /// The reverse of [`Self::encrypt`].
    pub fn decrypt(
        &self,
        version: Version,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        match self.algorithm {
            SessionAlgorithm::Aes => {
                let (iv, cipher) = sealed.split_first_chunk().ok_or(CryptoError::Decrypt)?;
                decrypt_aes(self.aes_key(), iv, cipher)
            }
            SessionAlgorithm::Des | SessionAlgorithm::DesEde => {
                let (first, cipher) = if version >= Version::new(2, 4) {
                    let (iv, cipher) = sealed.split_first_chunk().ok_or(CryptoError::Decrypt)?;
                    (Some(*iv), cipher)
                } else {
                    (None, sealed)
                };
                OldCipher::new(&self.key)?.decrypt(first, cipher)
            }
        }
    }

    /// §4.5: "the cipher uses only the first 16 (AES-128)"
    fn aes_key(&self) -> &[u8] {
        self.key.get(..16).unwrap_or_default()
    }
}

/// In constant time.
impl PartialEq for SessionKey {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm == other.algorithm && compare(&self.key, &other.key).is_ok()
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({:?})", self.algorithm)
    }
}

/// §4.2: "the HMAC names are compared ignoring case and punctuation"; and octets 12, 13.
fn hmac_by_name(name: &[u8]) -> Option<DigestAlgorithm> {
    if name.len() > 32 {
        return None;
    }
    let letters = name.iter().filter(|octet| octet.is_ascii_alphanumeric());
    let letters: Vec<u8> = letters.map(u8::to_ascii_lowercase).collect();
    match (name, letters.as_slice()) {
        ([0x12], _) | (_, b"hmacsha1") => Some(DigestAlgorithm::Sha1),
        ([0x13], _) | (_, b"hmacsha256") => Some(DigestAlgorithm::Sha256),
        _ => None,
    }
}

/// AES-128-CBC with padding (PKCS #7).
pub(super) fn encrypt_aes(key: &[u8], iv: &[u8; 16], plain: &[u8]) -> Result<Vec<u8>, CryptoError> {
    let key = UnboundCipherKey::new(&AES_128, key).map_err(|_| CryptoError::Key)?;
    let key = PaddedBlockEncryptingKey::cbc_pkcs7(key).map_err(|_| CryptoError::Key)?;
    let mut cipher = Vec::with_capacity(plain.len().saturating_add(16));
    cipher.extend_from_slice(plain);
    key.less_safe_encrypt(&mut cipher, EncryptionContext::Iv128(FixedLength::from(iv)))
        .map_err(|_| CryptoError::Key)?;
    Ok(cipher)
}

/// The reverse of [`encrypt_aes`].
pub(super) fn decrypt_aes(
    key: &[u8],
    iv: &[u8; 16],
    cipher: &[u8],
) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let key = UnboundCipherKey::new(&AES_128, key).map_err(|_| CryptoError::Key)?;
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(key).map_err(|_| CryptoError::Key)?;
    let mut plain = Zeroizing::new(cipher.to_vec());
    let context = DecryptionContext::Iv128(FixedLength::from(iv));
    let length = key
        .decrypt(&mut plain, context)
        .map_err(|_| CryptoError::Decrypt)?
        .len();
    plain.truncate(length);
    Ok(plain)
}
