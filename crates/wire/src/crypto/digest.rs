//! Digests: of requests, of values, and with keys.

use aws_lc_rs::{digest as sha, hmac};

use super::{CryptoError, old};
use crate::codec::Codec;
use crate::digest::{DigestAlgorithm, RequestDigest};
use crate::value::Value;
use crate::version::Version;

/// With the feature `crypto`.
impl DigestAlgorithm {
    /// The digest of the parts, one behind the other.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Md5 => old::md5(parts).to_vec(),
            Self::Sha1 => hash(&sha::SHA1_FOR_LEGACY_USE_ONLY, parts)
                .as_ref()
                .to_vec(),
            Self::Sha256 => hash(&sha::SHA256, parts).as_ref().to_vec(),
        }
    }

    /// The digest of a value, by which `HS_SIGNATURE` covers it (`handle-protocol.md` §6.10): "hash
    /// of the value encoding of §5 from offset 8 (index and timestamp excluded …)".
    ///
    /// ```
    /// use handfast_wire::{DigestAlgorithm, Value};
    ///
    /// let (first, second) = (Value::new(1, "URL", b"x"), Value::new(2, "URL", b"x"));
    /// let digest = |value| DigestAlgorithm::Sha256.value_digest(value);
    /// assert_eq!(digest(&first), digest(&second));
    /// ```
    #[must_use]
    pub fn value_digest(self, value: &Value<'_>) -> Vec<u8> {
        self.digest(&[value.to_bytes().get(8..).unwrap_or_default()])
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

/// With the feature `crypto`.
impl RequestDigest {
    /// The digest of header and body of a request, for a reply of a version.
    ///
    /// ```
    /// use handfast_wire::{RequestDigest, Version};
    ///
    /// let digest = RequestDigest::of(b"header and body", Version::CURRENT);
    /// assert!(digest.is_of(b"header and body"));
    /// assert!(!digest.is_of(b"something else"));
    /// ```
    #[must_use]
    pub fn of(request: &[u8], version: Version) -> Self {
        Self::by(DigestAlgorithm::for_version(version), request)
    }

    /// Whether it is the digest of this header and body.
    #[must_use]
    pub fn is_of(&self, request: &[u8]) -> bool {
        Self::by(self.algorithm(), request) == *self
    }

    fn by(algorithm: DigestAlgorithm, request: &[u8]) -> Self {
        let parts = &[request];
        match algorithm {
            DigestAlgorithm::Md5 => Self::Md5(old::md5(parts)),
            DigestAlgorithm::Sha1 => {
                Self::Sha1(array(&hash(&sha::SHA1_FOR_LEGACY_USE_ONLY, parts)))
            }
            DigestAlgorithm::Sha256 => Self::Sha256(array(&hash(&sha::SHA256, parts))),
        }
    }
}

fn hash(algorithm: &'static sha::Algorithm, parts: &[&[u8]]) -> sha::Digest {
    let mut context = sha::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    context.finish()
}

/// The octets of a digest. `N` is always the length of the algorithm that made it, so none is
/// missing or left.
fn array<const N: usize>(digest: &sha::Digest) -> [u8; N] {
    debug_assert_eq!(digest.as_ref().len(), N);
    digest.as_ref().try_into().unwrap_or([0; N])
}
