//! Digests, and the digest of a request that its reply repeats.

use aws_lc_rs::{digest as sha, hmac};

use super::{CryptoError, old};
use crate::codec::{Codec, DecodeError, Reader};
use crate::value::Value;

/// A digest algorithm (`handle-protocol.md` §3.1, §4.2).
///
/// ```
/// use handfast_wire::crypto::DigestAlgorithm;
///
/// assert_eq!(DigestAlgorithm::from_name(b"SHA256"), Some(DigestAlgorithm::Sha256));
/// assert_eq!(DigestAlgorithm::from_name(&[2]), Some(DigestAlgorithm::Sha1));
/// assert_eq!(DigestAlgorithm::for_version((2, 6)), DigestAlgorithm::Sha1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigestAlgorithm {
    /// Code 1; only old software uses it.
    Md5,
    /// Code 2.
    Sha1,
    /// Code 3.
    Sha256,
}

impl DigestAlgorithm {
    /// By its code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0x01 => Some(Self::Md5),
            0x02 => Some(Self::Sha1),
            0x03 => Some(Self::Sha256),
            _ => None,
        }
    }

    /// By a name as in a credential, or one octet that is its code.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"MD5" => Some(Self::Md5),
            b"SHA1" | b"SHA-1" => Some(Self::Sha1),
            b"SHA-256" | b"SHA256" => Some(Self::Sha256),
            [code] => Self::from_code(*code),
            _ => None,
        }
    }

    /// §3.1: "chosen by the *reply* version: 2.7+ → 3, 2.1–2.6 → 2."
    #[must_use]
    pub fn for_version(version: (u8, u8)) -> Self {
        match version {
            version if version >= (2, 7) => Self::Sha256,
            version if version >= (2, 1) => Self::Sha1,
            _ => Self::Md5,
        }
    }

    /// Its code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Md5 => 0x01,
            Self::Sha1 => 0x02,
            Self::Sha256 => 0x03,
        }
    }

    /// Its name as deployed software writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA-256",
        }
    }

    /// How many octets a digest has.
    #[must_use]
    pub fn length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// The digest of the parts, one behind the other.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let algorithm = match self {
            Self::Md5 => return old::md5(parts).to_vec(),
            Self::Sha1 => &sha::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &sha::SHA256,
        };
        let mut context = sha::Context::new(algorithm);
        for part in parts {
            context.update(part);
        }
        context.finish().as_ref().to_vec()
    }

    /// The HMAC of a message, unless of MD5: "not supported" (§7.3).
    pub(super) fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Result<Vec<u8>, CryptoError> {
        let algorithm = match self {
            Self::Md5 => return Err(CryptoError::Algorithm),
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
        };
        let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, key));
        for part in parts {
            context.update(part);
        }
        Ok(context.sign().as_ref().to_vec())
    }
}

/// The digest of a value, by which `HS_SIGNATURE` covers it (`handle-protocol.md` §6.10): "hash of the value encoding
/// of §5 from offset 8 (index and timestamp excluded …)".
///
/// ```
/// use handfast_wire::Value;
/// use handfast_wire::crypto::{DigestAlgorithm, value_digest};
///
/// let (first, second) = (Value::new(1, "URL", b"x"), Value::new(2, "URL", b"x"));
/// let digest = |value| value_digest(DigestAlgorithm::Sha256, value);
/// assert_eq!(digest(&first), digest(&second));
/// ```
#[must_use]
pub fn value_digest(algorithm: DigestAlgorithm, value: &Value<'_>) -> Vec<u8> {
    algorithm.digest(&[value.to_bytes().get(8..).unwrap_or_default()])
}

/// The digest of a request, as its reply repeats it (`handle-protocol.md` §3.1).
///
/// ```
/// use handfast_wire::Codec;
/// use handfast_wire::crypto::RequestDigest;
///
/// let digest = RequestDigest::of(b"header and body", (2, 11));
/// assert_eq!(RequestDigest::from_bytes(&digest.to_bytes())?, digest);
/// assert!(digest.is_of(b"header and body"));
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestDigest {
    algorithm: DigestAlgorithm,
    bytes: Vec<u8>,
}

impl RequestDigest {
    /// The digest of header and body of a request, for a reply of a version.
    #[must_use]
    pub fn of(request: &[u8], version: (u8, u8)) -> Self {
        let algorithm = DigestAlgorithm::for_version(version);
        let bytes = algorithm.digest(&[request]);
        Self { algorithm, bytes }
    }

    /// By which algorithm.
    #[must_use]
    pub fn algorithm(&self) -> DigestAlgorithm {
        self.algorithm
    }

    /// The octets, without the algorithm.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it is the digest of this header and body.
    #[must_use]
    pub fn is_of(&self, request: &[u8]) -> bool {
        self.algorithm.digest(&[request]) == self.bytes
    }
}

impl Codec<'_> for RequestDigest {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.algorithm.code());
        out.extend_from_slice(&self.bytes);
    }

    /// Version 2.0 wrote "`u32 length` + MD5, recognisable because the first octet is 0".
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.offset();
        let code = reader.u8()?;
        let unknown = |claimed| DecodeError::Length { at, claimed };
        let algorithm = match code {
            0 => match reader.array()? {
                [0, 0, 16] => DigestAlgorithm::Md5,
                [a, b, c] => return Err(unknown(u32::from_be_bytes([0, a, b, c]))),
            },
            code => DigestAlgorithm::from_code(code).ok_or(unknown(u32::from(code)))?,
        };
        let bytes = reader.take(algorithm.length())?.to_vec();
        Ok(Self { algorithm, bytes })
    }
}
