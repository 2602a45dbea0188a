//! Answers to challenges with a secret key.

use std::num::NonZeroU32;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::pbkdf2;
use zeroize::Zeroizing;

use super::CryptoError;
use crate::codec::{Reader, put_bytes, put_u32};
use crate::codes::codes;
use crate::digest::DigestAlgorithm;
use crate::version::Version;

codes! {
    /// How a secret key answers a challenge (`handle-protocol.md` §7.3).
    ///
    /// ```
    /// use handfast_wire::Version;
    /// use handfast_wire::crypto::SecretAlgorithm;
    ///
    /// let algorithm = SecretAlgorithm::for_version(Version::CURRENT);
    /// assert_eq!(algorithm, SecretAlgorithm::Pbkdf2HmacSha1);
    /// assert_eq!(SecretAlgorithm::from_code(0x11), None);
    /// ```
    SecretAlgorithm: u8 {
        /// MD5(S ‖ N ‖ D ‖ S)
        Md5 = 0x01,
        /// SHA1(S ‖ N ‖ D ‖ S)
        Sha1 = 0x02,
        /// SHA256(S ‖ N ‖ D ‖ S)
        Sha256 = 0x03,
        /// HMAC-SHA1(S, N ‖ D)
        HmacSha1 = 0x12,
        /// HMAC-SHA256(S, N ‖ D)
        HmacSha256 = 0x13,
        /// HMAC-SHA1 with a key that PBKDF2 makes of S.
        Pbkdf2HmacSha1 = 0x22,
    }
}

impl SecretAlgorithm {
    /// How many octets its MAC has.
    fn mac_length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 | Self::HmacSha1 | Self::Pbkdf2HmacSha1 => 20,
            Self::Sha256 | Self::HmacSha256 => 32,
        }
    }

    /// The version that clients use: "the lower of the challenge's message version and its
    /// suggested version".
    #[must_use]
    pub fn for_version(version: Version) -> Self {
        if version >= Version::new(2, 7) {
            Self::Pbkdf2HmacSha1
        } else {
            Self::Sha1
        }
    }
}

/// The `response` field of an answer to a challenge. `salt` is used for PBKDF2 only, and random.
///
/// ```
/// use handfast_wire::Version;
/// use handfast_wire::crypto::{SecretAlgorithm, answer_with_secret, verify_secret_answer};
///
/// let (nonce, digest) = ([7; 16], [9; 32]);
/// let algorithm = SecretAlgorithm::for_version(Version::CURRENT);
/// let response = answer_with_secret(b"secret", algorithm, &nonce, &digest, &[1; 16])?;
/// verify_secret_answer(b"secret", &nonce, &digest, &response)?;
/// assert!(verify_secret_answer(b"guess", &nonce, &digest, &response).is_err());
/// # Ok::<_, handfast_wire::crypto::CryptoError>(())
/// ```
pub fn answer_with_secret(
    secret: &[u8],
    algorithm: SecretAlgorithm,
    nonce: &[u8],
    digest: &[u8],
    salt: &[u8; 16],
) -> Result<Vec<u8>, CryptoError> {
    let mut out = vec![algorithm.code()];
    match algorithm {
        SecretAlgorithm::Pbkdf2HmacSha1 => {
            let key = derive(secret, salt, ITERATIONS, KEY_BITS / 8)?;
            put_bytes(&mut out, salt);
            put_u32(&mut out, ITERATIONS);
            put_u32(&mut out, KEY_BITS);
            put_bytes(
                &mut out,
                &DigestAlgorithm::Sha1.hmac(&key, &[nonce, digest])?,
            );
        }
        _ => out.extend(plain_mac(secret, algorithm, nonce, digest)?),
    }
    Ok(out)
}

/// Whether `response` was made with the secret: [`SecretAnswer::read`] and
/// [`SecretAnswer::verify`].
///
/// ```
/// use handfast_wire::crypto::{CryptoError, verify_secret_answer};
///
/// // 2^32 - 1 iterations are not computed.
/// let costly = b"\x22\0\0\0\0\xFF\xFF\xFF\xFF\0\0\0\xA0\0\0\0\0";
/// let verified = verify_secret_answer(b"secret", &[7; 16], &[9; 32], costly);
/// assert_eq!(verified, Err(CryptoError::Parameter));
/// ```
pub fn verify_secret_answer(
    secret: &[u8],
    nonce: &[u8],
    digest: &[u8],
    response: &[u8],
) -> Result<(), CryptoError> {
    SecretAnswer::read(response)?.verify(secret, nonce, digest)
}

/// The `response` field of an answer with a secret key. A verifier knows its cost before any secret
/// is looked up, so that several secrets can be tried within one budget.
///
/// ```
/// use handfast_wire::crypto::{SecretAlgorithm, SecretAnswer, answer_with_secret};
///
/// let algorithm = SecretAlgorithm::Pbkdf2HmacSha1;
/// let response = answer_with_secret(b"secret", algorithm, &[7; 16], &[9; 32], &[1; 16])?;
/// let answer = SecretAnswer::read(&response)?;
/// assert_eq!((answer.algorithm(), answer.iterations()), (algorithm, 10_000));
/// answer.verify(b"secret", &[7; 16], &[9; 32])?;
/// # Ok::<_, handfast_wire::crypto::CryptoError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SecretAnswer<'a> {
    algorithm: SecretAlgorithm,
    derivation: Option<Derivation<'a>>,
    mac: &'a [u8],
}

/// The parameters of PBKDF2.
#[derive(Clone, Copy, Debug)]
struct Derivation<'a> {
    salt: &'a [u8],
    iterations: u32,
    key_bits: u32,
}

impl<'a> SecretAnswer<'a> {
    /// Reads an answer. All of its parameters are the sender's choice: those that would cost much
    /// work, or make a key that can be guessed, are refused.
    ///
    /// An answer of 16 octets is that of version 2.0: MD5 without the octet that says so.
    pub fn read(response: &'a [u8]) -> Result<Self, CryptoError> {
        let (algorithm, mac) = match response {
            bare if bare.len() == 16 => (SecretAlgorithm::Md5, bare),
            [code, mac @ ..] => {
                let algorithm = SecretAlgorithm::from_code(*code).ok_or(CryptoError::Algorithm)?;
                (algorithm, mac)
            }
            [] => return Err(CryptoError::Algorithm),
        };
        let (derivation, mac) = if algorithm == SecretAlgorithm::Pbkdf2HmacSha1 {
            let mut reader = Reader::new(mac);
            let derivation = Derivation {
                salt: reader.bytes()?,
                iterations: reader.u32()?,
                key_bits: reader.u32()?,
            };
            let mac = reader.bytes()?;
            reader.finish()?;
            (Some(derivation), mac)
        } else {
            (None, mac)
        };
        let answer = Self {
            algorithm,
            derivation,
            mac,
        };
        if derivation.is_some_and(|derivation| !derivation.is_safe())
            || answer.work() > u64::from(MAX_ANSWER_ITERATIONS)
        {
            return Err(CryptoError::Parameter);
        }
        if mac.len() != algorithm.mac_length() {
            return Err(CryptoError::Mismatch);
        }
        Ok(answer)
    }

    /// How the answer was made.
    #[must_use]
    pub fn algorithm(&self) -> SecretAlgorithm {
        self.algorithm
    }

    /// How many iterations of PBKDF2 it takes to try one secret; 0 for all other algorithms, which
    /// cost next to nothing.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        u32::try_from(self.work()).unwrap_or(u32::MAX)
    }

    fn work(&self) -> u64 {
        self.derivation.map_or(0, |derivation| {
            // Each 160 bits of the key cost all iterations again.
            u64::from(derivation.iterations) * u64::from(derivation.key_bits.div_ceil(160))
        })
    }

    /// Whether the answer was made with this secret.
    pub fn verify(&self, secret: &[u8], nonce: &[u8], digest: &[u8]) -> Result<(), CryptoError> {
        // Anyone can answer with an empty secret.
        if secret.is_empty() {
            return Err(CryptoError::Key);
        }
        let expected = match self.derivation {
            None => plain_mac(secret, self.algorithm, nonce, digest)?,
            Some(Derivation {
                salt,
                iterations,
                key_bits,
            }) => {
                let key = derive(secret, salt, iterations, key_bits / 8)?;
                DigestAlgorithm::Sha1.hmac(&key, &[nonce, digest])?
            }
        };
        compare(&expected, self.mac)
    }
}

impl Derivation<'_> {
    /// A key of no or few bits is known to those who do not know the secret.
    fn is_safe(&self) -> bool {
        (128..=MAX_KEY_BITS).contains(&self.key_bits)
            && self.key_bits.is_multiple_of(8)
            && self.iterations > 0
            && self.salt.len() <= MAX_SALT
    }
}

fn plain_mac(
    secret: &[u8],
    algorithm: SecretAlgorithm,
    nonce: &[u8],
    digest: &[u8],
) -> Result<Vec<u8>, CryptoError> {
    let around = [secret, nonce, digest, secret];
    match algorithm {
        SecretAlgorithm::Md5 => Ok(DigestAlgorithm::Md5.digest(&around)),
        SecretAlgorithm::Sha1 => Ok(DigestAlgorithm::Sha1.digest(&around)),
        SecretAlgorithm::Sha256 => Ok(DigestAlgorithm::Sha256.digest(&around)),
        SecretAlgorithm::HmacSha1 => DigestAlgorithm::Sha1.hmac(secret, &[nonce, digest]),
        SecretAlgorithm::HmacSha256 => DigestAlgorithm::Sha256.hmac(secret, &[nonce, digest]),
        SecretAlgorithm::Pbkdf2HmacSha1 => Err(CryptoError::Algorithm),
    }
}

/// In constant time.
pub(super) fn compare(expected: &[u8], found: &[u8]) -> Result<(), CryptoError> {
    verify_slices_are_equal(expected, found).map_err(|_| CryptoError::Mismatch)
}

/// PBKDF2-HMAC-SHA1 with the quirk of `handle-protocol.md` §6.8: "each password octet is taken as a
/// Unicode code point 0–255 and the resulting string is encoded in UTF-8". The caller has checked
/// what it costs.
pub(super) fn derive(
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    octets: u32,
) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let iterations = NonZeroU32::new(iterations).ok_or(CryptoError::Parameter)?;
    let octets = usize::try_from(octets).map_err(|_| CryptoError::Parameter)?;
    // Two octets for each at most: a text that grows leaves its old bytes behind.
    let mut text = Zeroizing::new(String::with_capacity(password.len() * 2));
    text.extend(password.iter().map(|octet| char::from(*octet)));
    let mut key = Zeroizing::new(vec![0; octets]);
    let algorithm = pbkdf2::PBKDF2_HMAC_SHA1;
    pbkdf2::derive(algorithm, iterations, salt, text.as_bytes(), &mut key);
    Ok(key)
}

/// The number of iterations that deployed clients send.
const ITERATIONS: u32 = 10_000;
const KEY_BITS: u32 = 160;

/// The maximum number of iterations of PBKDF2 in an answer, for each secret that is tried: ten
/// times as many as deployed clients send. The client is not authenticated yet.
///
/// ```
/// assert_eq!(handfast_wire::crypto::MAX_ANSWER_ITERATIONS, 100_000);
/// ```
pub const MAX_ANSWER_ITERATIONS: u32 = 100_000;
const MAX_KEY_BITS: u32 = 512;
const MAX_SALT: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// `handle-protocol.md` B.14
    #[test]
    fn octets_of_a_password_are_code_points() {
        let salt: Vec<u8> = (0..16).collect();
        let key = derive(&[0xE9], &salt, 1, 20).unwrap();
        assert_eq!(key.first_chunk(), Some(&[0x04, 0x85, 0x4F, 0x3E]));
        let key = derive(b"secret", &salt, ITERATIONS, KEY_BITS / 8).unwrap();
        assert_eq!(key.first_chunk(), Some(&[0xC3, 0xBB, 0x57, 0xE6]));
    }

    /// With a key of no bits, anyone could compute the MAC.
    #[test]
    fn an_answer_with_a_key_of_few_bits_is_refused() {
        for (bits, octets) in [(0, 0), (8, 1), (120, 15), (129, 16), (520, 65)] {
            let key = derive(b"secret", &[1; 16], 1, octets).unwrap();
            let mut response = vec![0x22];
            put_bytes(&mut response, &[1; 16]);
            put_u32(&mut response, 1);
            put_u32(&mut response, bits);
            put_bytes(
                &mut response,
                &DigestAlgorithm::Sha1.hmac(&key, &[b"N", b"D"]).unwrap(),
            );
            let verified = verify_secret_answer(b"secret", b"N", b"D", &response);
            assert_eq!(verified, Err(CryptoError::Parameter), "{bits}");
        }
    }
}
