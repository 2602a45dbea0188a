//! New keys.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use zeroize::Zeroizing;

use super::{CryptoError, PrivateKey, RsaFactors};

impl PrivateKey {
    /// A new RSA key of 2048 bits, from the random bytes of the system.
    ///
    /// ```
    /// use handfast_wire::crypto::{PrivateKey, SigningKey};
    ///
    /// assert!(SigningKey::new(PrivateKey::generate()?).is_ok());
    /// # Ok::<_, handfast_wire::crypto::CryptoError>(())
    /// ```
    pub fn generate() -> Result<Self, CryptoError> {
        let pair = KeyPair::generate(KeySize::Rsa2048).map_err(|_| CryptoError::Key)?;
        let der = pair.as_der().map_err(|_| CryptoError::Key)?;
        let der: &[u8] = der.as_ref();
        read(der).ok_or(CryptoError::Key)
    }
}

/// The numbers of a key in PKCS #8 (RFC 5208 §5) around PKCS #1 (RFC 8017 §A.1.2).
fn read(der: &[u8]) -> Option<PrivateKey> {
    let (outer, _) = element(SEQUENCE, der)?;
    let (_, rest) = element(INTEGER, outer)?;
    let (_, rest) = element(SEQUENCE, rest)?;
    let (octets, _) = element(OCTET_STRING, rest)?;
    let (mut numbers, _) = element(SEQUENCE, octets)?;
    let mut next = || {
        let (number, rest) = element(INTEGER, numbers)?;
        numbers = rest;
        Some(number.to_vec())
    };
    let (_, n, e, d) = (next()?, next()?, next()?, Zeroizing::new(next()?));
    let mut secret = || next().map(Zeroizing::new);
    Some(PrivateKey::Rsa {
        n,
        d,
        factors: Some(RsaFactors {
            e,
            p: secret()?,
            q: secret()?,
            d_p: secret()?,
            d_q: secret()?,
            q_inverse: secret()?,
        }),
    })
}

const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// The content of an element of a kind, and the rest.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = if *length < 0x80 {
        (usize::from(*length), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(length & 0x7F))?;
        let length = bytes.iter().try_fold(0_usize, |length, byte| {
            length.checked_mul(256)?.checked_add(usize::from(*byte))
        })?;
        (length, rest)
    };
    (*first == tag).then(|| rest.split_at_checked(length))?
}
