//! Request digests: they show which request a reply answers.

use crate::codec::{DecodeError, Reader, put_bytes};
use crate::codes::codes;
use crate::version::Version;

/// The digest of a request, at the start of a reply (`handle-protocol.md` §3.1): of "header + body
/// of the request exactly as received", which [`Message::signed_part`](crate::Message::signed_part)
/// gives. With the feature `crypto`, `RequestDigest::of` makes it.
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
    /// Code 1.
    Md5([u8; 16]),
    /// Code 2.
    Sha1([u8; 20]),
    /// Code 3.
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
    /// then the code of the algorithm and the digest.
    pub fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version.is_ancient() {
            put_bytes(out, self.as_bytes());
        } else {
            out.push(self.algorithm().code());
            out.extend_from_slice(self.as_bytes());
        }
    }

    /// Reads either form; the old one is "recognisable because the first octet is 0".
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.offset();
        let (algorithm, found) = if let [0, ..] = reader.rest() {
            let length = reader.u32()?;
            (DigestAlgorithm::from_length(length), length)
        } else {
            let code = reader.u8()?;
            (DigestAlgorithm::from_code(code), code.into())
        };
        match algorithm.ok_or(DecodeError::Code { at, found })? {
            DigestAlgorithm::Md5 => reader.array().map(Self::Md5),
            DigestAlgorithm::Sha1 => reader.array().map(Self::Sha1),
            DigestAlgorithm::Sha256 => reader.array().map(Self::Sha256),
        }
    }
}

codes! {
    /// By what a digest is made (`handle-protocol.md` §3.1, §4.2).
    ///
    /// ```
    /// use handfast_wire::{DigestAlgorithm, Version};
    ///
    /// assert_eq!(DigestAlgorithm::for_version(Version::CURRENT), DigestAlgorithm::Sha256);
    /// assert_eq!(DigestAlgorithm::from_name(b"SHA256"), Some(DigestAlgorithm::Sha256));
    /// assert_eq!(DigestAlgorithm::from_name(&[2]), Some(DigestAlgorithm::Sha1));
    /// ```
    DigestAlgorithm: u8 {
        /// Code 1; of versions before 2.1.
        Md5 = 0x01,
        /// Code 2; of versions from 2.1 to 2.6.
        Sha1 = 0x02,
        /// Code 3; of versions since 2.7.
        Sha256 = 0x03,
    }
}

impl DigestAlgorithm {
    const ALL: [Self; 3] = [Self::Md5, Self::Sha1, Self::Sha256];

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

    fn from_length(length: u32) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|algorithm| u32::try_from(algorithm.length()) == Ok(length))
    }
}
