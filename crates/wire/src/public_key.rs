//! Public keys: the data of `HS_PUBKEY`, and every embedded key.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes};

/// A public key (`handle-protocol.md` §6.5). Numbers are big-endian and unsigned; leading zeros do
/// not count.
///
/// ```
/// use handfast_wire::{Codec, PublicKey};
///
/// let key = PublicKey::Rsa { e: vec![1, 0, 1].into(), n: vec![0, 0xC5].into() };
/// // The four zeros at the end are part of the encoding: key pinning compares it.
/// assert!(key.to_bytes().ends_with(&[0, 0, 0, 2, 0, 0xC5, 0, 0, 0, 0]));
/// assert_eq!(PublicKey::from_bytes(&key.to_bytes())?, key);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey<'a> {
    /// `DH_PUB_KEY`
    Dh {
        /// The public value.
        y: Cow<'a, [u8]>,
        /// The prime.
        p: Cow<'a, [u8]>,
        /// The generator.
        g: Cow<'a, [u8]>,
    },
    /// `DSA_PUB_KEY`
    Dsa {
        /// The order of the subgroup.
        q: Cow<'a, [u8]>,
        /// The prime.
        p: Cow<'a, [u8]>,
        /// The generator.
        g: Cow<'a, [u8]>,
        /// The public value.
        y: Cow<'a, [u8]>,
    },
    /// `RSA_PUB_KEY`
    Rsa {
        /// The exponent.
        e: Cow<'a, [u8]>,
        /// The modulus.
        n: Cow<'a, [u8]>,
    },
    /// A type that is not known here, with all that follows its name.
    Unknown {
        /// The type.
        key_type: Cow<'a, str>,
        /// Flags and numbers.
        rest: Cow<'a, [u8]>,
    },
}

impl<'a> Codec<'a> for PublicKey<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut put = |key_type: &str, numbers: &[&[u8]]| {
            put_bytes(out, key_type.as_bytes());
            out.extend_from_slice(&[0, 0]);
            for number in numbers {
                put_bytes(out, number);
            }
        };
        match self {
            Self::Dh { y, p, g } => put("DH_PUB_KEY", &[y, p, g]),
            Self::Dsa { q, p, g, y } => put("DSA_PUB_KEY", &[q, p, g, y]),
            Self::Rsa { e, n } => put("RSA_PUB_KEY", &[e, n, &[]]),
            Self::Unknown { key_type, rest } => {
                put_bytes(out, key_type.as_bytes());
                out.extend_from_slice(rest);
            }
        }
    }

    /// Bytes after the numbers are ignored.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let key_type = reader.text()?;
        if !matches!(key_type, "DH_PUB_KEY" | "DSA_PUB_KEY" | "RSA_PUB_KEY") {
            let rest = reader.take(reader.rest().len())?;
            return Ok(Self::Unknown {
                key_type: key_type.into(),
                rest: rest.into(),
            });
        }
        reader.u16()?;
        let mut number = || reader.bytes().map(Cow::Borrowed);
        let key = match key_type {
            "DH_PUB_KEY" => Self::Dh {
                y: number()?,
                p: number()?,
                g: number()?,
            },
            "DSA_PUB_KEY" => Self::Dsa {
                q: number()?,
                p: number()?,
                g: number()?,
                y: number()?,
            },
            _ => Self::Rsa {
                e: number()?,
                n: number()?,
            },
        };
        reader.take(reader.rest().len())?;
        Ok(key)
    }
}

/// The bytes without leading zeros.
#[cfg(any(feature = "crypto", feature = "json"))]
pub(crate) fn trim(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|octet| **octet == 0).count();
    number.get(zeros..).unwrap_or_default()
}

/// `handle-protocol.md` §6.5: "a leading 00 octet iff the top bit would be set".
#[cfg(any(feature = "crypto", feature = "json"))]
pub(crate) fn canonical(number: &[u8]) -> Cow<'static, [u8]> {
    let number = trim(number);
    match number.first() {
        Some(..0x80) => Cow::Owned(number.to_vec()),
        _ => Cow::Owned([&[0], number].concat()),
    }
}
