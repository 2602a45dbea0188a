//! Diffie–Hellman: the key exchange of a session.
//!
//! aws-lc-rs has no Diffie–Hellman in groups that the peer chooses, which the protocol asks for.
//! `crypto-bigint` computes powers in constant time, and is what DSA verification stands on anyway.

use std::fmt;

use zeroize::Zeroizing;

use super::CryptoError;
use super::number::{bits, canonical, is_within, power, trim};
use super::session::{SessionAlgorithm, SessionKey};
use crate::public_key::PublicKey;

/// A key pair for one session (`handle-protocol.md` §4.5).
///
/// ```
/// use handfast_wire::crypto::{DhKeyPair, MODP_2048, SessionAlgorithm};
///
/// // Both sides fill the buffer from a good source of chance.
/// let client = DhKeyPair::generate(&MODP_2048, &[2], &mut |bytes| bytes.fill(7))?;
/// let server = DhKeyPair::generate_for(&client.public_key(), &mut |bytes| bytes.fill(9))?;
/// let ours = server.agree(&client.public_key())?.session_key(SessionAlgorithm::Aes)?;
/// let theirs = client.agree(&server.public_key())?.session_key(SessionAlgorithm::Aes)?;
/// assert!(ours == theirs);
/// # Ok::<_, handfast_wire::crypto::CryptoError>(())
/// ```
pub struct DhKeyPair {
    x: Zeroizing<Vec<u8>>,
    y: Vec<u8>,
    p: Vec<u8>,
    g: Vec<u8>,
}

impl DhKeyPair {
    /// A key pair of the side that chooses the group: a prime of 1024 to 4096 bits, and a
    /// generator.
    pub fn generate(
        p: &[u8],
        g: &[u8],
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, CryptoError> {
        let mut x = Zeroizing::new(vec![0; EXPONENT_OCTETS]);
        random(&mut x);
        Self::from_exponent(p, g, x)
    }

    /// A key pair in the group of the other side.
    pub fn generate_for(
        peer: &PublicKey<'_>,
        random: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, CryptoError> {
        let PublicKey::Dh { p, g, .. } = peer else {
            return Err(CryptoError::Key);
        };
        Self::generate(p, g, random)
    }

    /// A key pair with a secret exponent that is known already.
    pub fn from_exponent(p: &[u8], g: &[u8], x: Zeroizing<Vec<u8>>) -> Result<Self, CryptoError> {
        let is_odd = p.last().is_some_and(|last| last % 2 == 1);
        let is_sized = (MIN_BITS..=MAX_BITS).contains(&bits(p));
        if !is_odd || !is_sized || !is_within(g, p) || x.len() > MAX_BITS / 8 {
            return Err(CryptoError::Key);
        }
        Ok(Self {
            y: power(g, &x, p)?.to_vec(),
            p: trim(p).to_vec(),
            g: trim(g).to_vec(),
            x,
        })
    }

    /// The public number for the other side.
    #[must_use]
    pub fn public_key(&self) -> PublicKey<'static> {
        PublicKey::Dh {
            y: canonical(&self.y),
            p: canonical(&self.p),
            g: canonical(&self.g),
        }
    }

    /// The secret that both sides can compute. The other key must be of the same group, and not one
    /// whose powers anyone can guess.
    pub fn agree(&self, peer: &PublicKey<'_>) -> Result<SharedSecret, CryptoError> {
        let PublicKey::Dh { y, p, g } = peer else {
            return Err(CryptoError::Key);
        };
        if trim(p) != self.p || trim(g) != self.g || !is_within(y, p) {
            return Err(CryptoError::Key);
        }
        power(y, &self.x, &self.p).map(SharedSecret)
    }
}

impl fmt::Debug for DhKeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DhKeyPair({} bits)", bits(&self.p))
    }
}

/// The shared secret: as long as the prime, with leading zeros.
///
/// ```
/// use handfast_wire::crypto::{DhKeyPair, MODP_2048};
///
/// let pair = DhKeyPair::generate(&MODP_2048, &[2], &mut |bytes| bytes.fill(7))?;
/// let secret = pair.agree(&pair.public_key())?;
/// assert_eq!(format!("{secret:?}"), "SharedSecret(..)");
/// # Ok::<_, handfast_wire::crypto::CryptoError>(())
/// ```
pub struct SharedSecret(Zeroizing<Vec<u8>>);

impl SharedSecret {
    /// The key of the session, by its algorithm (`handle-protocol.md` §4.5, table).
    pub fn session_key(&self, algorithm: SessionAlgorithm) -> Result<SessionKey, CryptoError> {
        let length = algorithm.key_length();
        let secret: &[u8] = match algorithm {
            // "skip leading zero octets of padded Z (as long as ≥ 32 octets remain)"
            SessionAlgorithm::Aes => {
                let limit = self.0.len().saturating_sub(length);
                let zeros = self.0.iter().take(limit).take_while(|octet| **octet == 0);
                self.0.get(zeros.count()..).unwrap_or_default()
            }
            SessionAlgorithm::Des | SessionAlgorithm::DesEde => &self.0,
        };
        let key = secret.get(..length).ok_or(CryptoError::Key)?;
        let mut key = Zeroizing::new(key.to_vec());
        if algorithm != SessionAlgorithm::Aes {
            super::old::odd_parity(&mut key);
        }
        SessionKey::new(algorithm, &key)
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSecret(..)")
    }
}

/// The minimum of the reference software; shorter primes can be broken.
const MIN_BITS: usize = 1024;
/// Longer primes cost a server too much.
const MAX_BITS: usize = 4096;
/// 512 bits: twice the strength of the largest group here, and far cheaper than an exponent as long
/// as the prime.
const EXPONENT_OCTETS: usize = 64;

/// The group of 2048 bits of RFC 3526 §3, with generator 2: a good choice for clients.
///
/// ```
/// assert_eq!(handfast_wire::crypto::MODP_2048.len(), 256);
/// ```
pub const MODP_2048: [u8; 256] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x0f, 0xda, 0xa2, 0x21, 0x68, 0xc2, 0x34,
    0xc4, 0xc6, 0x62, 0x8b, 0x80, 0xdc, 0x1c, 0xd1, 0x29, 0x02, 0x4e, 0x08, 0x8a, 0x67, 0xcc, 0x74,
    0x02, 0x0b, 0xbe, 0xa6, 0x3b, 0x13, 0x9b, 0x22, 0x51, 0x4a, 0x08, 0x79, 0x8e, 0x34, 0x04, 0xdd,
    0xef, 0x95, 0x19, 0xb3, 0xcd, 0x3a, 0x43, 0x1b, 0x30, 0x2b, 0x0a, 0x6d, 0xf2, 0x5f, 0x14, 0x37,
    0x4f, 0xe1, 0x35, 0x6d, 0x6d, 0x51, 0xc2, 0x45, 0xe4, 0x85, 0xb5, 0x76, 0x62, 0x5e, 0x7e, 0xc6,
    0xf4, 0x4c, 0x42, 0xe9, 0xa6, 0x37, 0xed, 0x6b, 0x0b, 0xff, 0x5c, 0xb6, 0xf4, 0x06, 0xb7, 0xed,
    0xee, 0x38, 0x6b, 0xfb, 0x5a, 0x89, 0x9f, 0xa5, 0xae, 0x9f, 0x24, 0x11, 0x7c, 0x4b, 0x1f, 0xe6,
    0x49, 0x28, 0x66, 0x51, 0xec, 0xe4, 0x5b, 0x3d, 0xc2, 0x00, 0x7c, 0xb8, 0xa1, 0x63, 0xbf, 0x05,
    0x98, 0xda, 0x48, 0x36, 0x1c, 0x55, 0xd3, 0x9a, 0x69, 0x16, 0x3f, 0xa8, 0xfd, 0x24, 0xcf, 0x5f,
    0x83, 0x65, 0x5d, 0x23, 0xdc, 0xa3, 0xad, 0x96, 0x1c, 0x62, 0xf3, 0x56, 0x20, 0x85, 0x52, 0xbb,
    0x9e, 0xd5, 0x29, 0x07, 0x70, 0x96, 0x96, 0x6d, 0x67, 0x0c, 0x35, 0x4e, 0x4a, 0xbc, 0x98, 0x04,
    0xf1, 0x74, 0x6c, 0x08, 0xca, 0x18, 0x21, 0x7c, 0x32, 0x90, 0x5e, 0x46, 0x2e, 0x36, 0xce, 0x3b,
    0xe3, 0x9e, 0x77, 0x2c, 0x18, 0x0e, 0x86, 0x03, 0x9b, 0x27, 0x83, 0xa2, 0xec, 0x07, 0xa2, 0x8f,
    0xb5, 0xc5, 0x5d, 0xf0, 0x6f, 0x4c, 0x52, 0xc9, 0xde, 0x2b, 0xcb, 0xf6, 0x95, 0x58, 0x17, 0x18,
    0x39, 0x95, 0x49, 0x7c, 0xea, 0x95, 0x6a, 0xe5, 0x15, 0xd2, 0x26, 0x18, 0x98, 0xfa, 0x05, 0x10,
    0x15, 0x72, 0x8e, 0x5a, 0x8a, 0xac, 0xaa, 0x68, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
];
