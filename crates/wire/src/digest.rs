//! Request digests: what a reply shows of the request it answers.

use crate::codec::{DecodeError, Reader, put_bytes};
use crate::version::Version;

/// The digest of a request, at the start of a reply (`handle-protocol.md` §3.1): of "header + body of
/// the request exactly as received". Hashing is done elsewhere; see
/// [`Message::signed_part`](crate::Message::signed_part) for what is hashed.
///
/// ```
/// use handfast_wire::{DigestAlgorithm, RequestDigest, Version};
///
/// let digest = RequestDigest::Sha1([7; 20]);
/// assert_eq!(digest.algorithm(), DigestAlgorithm::for_version(Version::new(2, 6)));
/// assert_eq!(digest.as_bytes(), [7; 20]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestDigest {
    /// Algorithm 1.
    Md5([u8; 16]),
    /// Algorithm 2.
    Sha1([u8; 20]),
    /// Algorithm 3.
    Sha256([u8; 32]),
}

impl RequestDigest {
    /// A digest by an algorithm, if it has the length of one.
    #[must_use]
    pub fn new(algorithm: DigestAlgorithm, bytes: &[u8]) -> Option<Self> {
        match algorithm {
            DigestAlgorithm::Md5 => bytes.try_into().map(Self::Md5).ok(),
            DigestAlgorithm::Sha1 => bytes.try_into().map(Self::Sha1).ok(),
            DigestAlgorithm::Sha256 => bytes.try_into().map(Self::Sha256).ok(),
        }
    }

    /// By what it was made.
    #[must_use]
    pub fn algorithm(&self) -> DigestAlgorithm {
        match self {
            Self::Md5(_) => DigestAlgorithm::Md5,
            Self::Sha1(_) => DigestAlgorithm::Sha1,
            Self::Sha256(_) => DigestAlgorithm::Sha256,
        }
    }

    /// The digest alone.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Md5(bytes) => bytes,
            Self::Sha1(bytes) => bytes,
            Self::Sha256(bytes) => bytes,
        }
    }

    /// Appends the form that a message of a version has: before 2.1 a length and the digest, since
    /// then the number of the algorithm and the digest.
    pub fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version.is_ancient() {
            put_bytes(out, self.as_bytes());
        } else {
            out.push(self.algorithm().number());
            out.extend_from_slice(self.as_bytes());
        }
    }

    /// Reads either form; the old one is "recognisable because the first octet is 0".
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.offset();
        let number = match reader.rest() {
            [0, ..] => match reader.u32()? {
                16 => 1,
                20 => 2,
                32 => 3,
                found => return Err(DecodeError::Code { at, found }),
            },
            _ => reader.u8()?,
        };
        match number {
            1 => reader.array().map(Self::Md5),
            2 => reader.array().map(Self::Sha1),
            3 => reader.array().map(Self::Sha256),
            found => Err(DecodeError::Code {
                at,
                found: found.into(),
            }),
        }
    }
}

/// By what a digest is made.
///
/// ```
/// use handfast_wire::{DigestAlgorithm, Version};
///
/// assert_eq!(DigestAlgorithm::for_version(Version::CURRENT), DigestAlgorithm::Sha256);
/// assert_eq!(DigestAlgorithm::Sha256.number(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigestAlgorithm {
    /// Of versions before 2.1.
    Md5,
    /// Of versions from 2.1 to 2.6.
    Sha1,
    /// Of versions since 2.7.
    Sha256,
}

impl DigestAlgorithm {
    /// "Algorithm chosen by the reply version: 2.7+ → 3, 2.1–2.6 → 2" (`handle-protocol.md` §3.1).
    #[must_use]
    pub fn for_version(version: Version) -> Self {
        if version.is_ancient() {
            Self::Md5
        } else if version < Version::new(2, 7) {
            Self::Sha1
        } else {
            Self::Sha256
        }
    }

    /// The number on the wire.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Md5 => 1,
            Self::Sha1 => 2,
            Self::Sha256 => 3,
        }
    }
}
