//! Private keys in key files.

use std::fmt;

use zeroize::Zeroizing;

use super::number::{canonical, power, trim};
use crate::codec::{DecodeError, Reader, put_bytes};
use crate::public_key::PublicKey;

/// A private key (`handle-protocol.md` §6.8). Its numbers are forgotten when it is dropped, and not
/// shown.
///
/// ```
/// use handfast_wire::crypto::PrivateKey;
///
/// let key = PrivateKey::from_plain(b"\0\0\0\x0CRSA_PRIV_KEY\0\0\0\x01\x23\0\0\0\x01\x05")?;
/// assert_eq!(format!("{key:?}"), "PrivateKey(RSA, 6 bits)");
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
pub enum PrivateKey {
    /// `DSA_PRIV_KEY`: read for its public key, but it does not sign here.
    Dsa {
        /// The secret exponent.
        x: Zeroizing<Vec<u8>>,
        /// The prime.
        p: Vec<u8>,
        /// The order of the subgroup.
        q: Vec<u8>,
        /// The generator.
        g: Vec<u8>,
    },
    /// `RSA_PRIVCRT_KEY`, or without the factors `RSA_PRIV_KEY`.
    Rsa {
        /// The modulus.
        n: Vec<u8>,
        /// The secret exponent.
        d: Zeroizing<Vec<u8>>,
        /// The part that a key without them lacks.
        factors: Option<RsaFactors>,
    },
}

/// The public exponent and the numbers of the Chinese remainder theorem.
///
/// ```
/// use handfast_wire::crypto::RsaFactors;
///
/// assert_eq!(format!("{:?}", RsaFactors::default()), "RsaFactors(..)");
/// ```
#[derive(Clone, Default)]
pub struct RsaFactors {
    /// The public exponent.
    pub e: Vec<u8>,
    /// The first prime.
    pub p: Zeroizing<Vec<u8>>,
    /// The second prime.
    pub q: Zeroizing<Vec<u8>>,
    /// d mod (p - 1)
    pub d_p: Zeroizing<Vec<u8>>,
    /// d mod (q - 1)
    pub d_q: Zeroizing<Vec<u8>>,
    /// 1/q mod p
    pub q_inverse: Zeroizing<Vec<u8>>,
}

impl PrivateKey {
    /// Reads the form of §6.8, decrypted: "No flags field and no trailing octets."
    pub fn from_plain(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let key_type = reader.text()?;
        let mut number = || reader.bytes().map(<[u8]>::to_vec);
        let key = match key_type {
            "DSA_PRIV_KEY" => Self::Dsa {
                x: number()?.into(),
                p: number()?,
                q: number()?,
                g: number()?,
            },
            "RSA_PRIVCRT_KEY" => {
                let (n, e) = (number()?, number()?);
                Self::Rsa {
                    n,
                    d: number()?.into(),
                    factors: Some(RsaFactors {
                        e,
                        p: number()?.into(),
                        q: number()?.into(),
                        d_p: number()?.into(),
                        d_q: number()?.into(),
                        q_inverse: number()?.into(),
                    }),
                }
            }
            "RSA_PRIV_KEY" => Self::Rsa {
                n: number()?,
                d: number()?.into(),
                factors: None,
            },
            _ => return Err(DecodeError::UnknownType { at: 0 }),
        };
        reader.finish()?;
        Ok(key)
    }

    /// Writes the form of §6.8, not encrypted.
    #[must_use]
    pub fn to_plain(&self) -> Zeroizing<Vec<u8>> {
        // Room for all of it: a vector that grows leaves its old bytes behind.
        let mut out = Zeroizing::new(Vec::with_capacity(8192));
        let mut put = |key_type: &str, numbers: &[&[u8]]| {
            put_bytes(&mut out, key_type.as_bytes());
            for number in numbers {
                put_bytes(&mut out, number);
            }
        };
        match self {
            Self::Dsa { x, p, q, g } => put("DSA_PRIV_KEY", &[x, p, q, g]),
            Self::Rsa { n, d, factors } => match factors {
                None => put("RSA_PRIV_KEY", &[n, d]),
                Some(f) => put(
                    "RSA_PRIVCRT_KEY",
                    &[n, &f.e, d, &f.p, &f.q, &f.d_p, &f.d_q, &f.q_inverse],
                ),
            },
        }
        out
    }

    /// The public key that belongs to it, unless it is an RSA key that does not say its public
    /// exponent.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey<'static>> {
        match self {
            Self::Dsa { x, p, q, g } => Some(PublicKey::Dsa {
                q: canonical(q),
                p: canonical(p),
                g: canonical(g),
                y: canonical(&power(g, x, p).ok()?),
            }),
            Self::Rsa { n, factors, .. } => Some(PublicKey::Rsa {
                e: canonical(&factors.as_ref()?.e),
                n: canonical(n),
            }),
        }
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, modulus) = match self {
            Self::Dsa { p, .. } => ("DSA", p),
            Self::Rsa { n, .. } => ("RSA", n),
        };
        let bits = super::number::bits(trim(modulus));
        write!(f, "PrivateKey({name}, {bits} bits)")
    }
}

impl fmt::Debug for RsaFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaFactors(..)")
    }
}
