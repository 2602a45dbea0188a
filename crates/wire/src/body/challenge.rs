//! Challenges and their answers.

use std::borrow::Cow;

use super::Body;
use crate::codec::{DecodeError, Reader, put_bytes};
use crate::digest::RequestDigest;
use crate::field::wire_form;
use crate::reference::Reference;
use crate::version::Version;

/// A challenge that must be answered before a request is carried out (`handle-protocol.md` §3.5).
/// The session id in its envelope identifies the answer.
///
/// Since 2.1 the digest comes first, and RD is set; before, the nonce does, and RD is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// The digest of the request.
    pub digest: RequestDigest,
    /// An unpredictable number: 16 bytes, but any length is accepted.
    pub nonce: Cow<'a, [u8]>,
}

impl<'a> Body<'a> for Challenge<'a> {
    const HOLDS_DIGEST: bool = true;

    fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version.is_ancient() {
            put_bytes(out, &self.nonce);
            self.digest.write(version, out);
        } else {
            self.digest.write(version, out);
            put_bytes(out, &self.nonce);
        }
    }

    fn read(version: Version, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        if version.is_ancient() {
            let nonce = reader.bytes()?.into();
            let digest = RequestDigest::read(reader)?;
            Ok(Self { digest, nonce })
        } else {
            let digest = RequestDigest::read(reader)?;
            let nonce = reader.bytes()?.into();
            Ok(Self { digest, nonce })
        }
    }
}

/// The answer to a challenge (`handle-protocol.md` §3.6), in an envelope with the challenge's
/// session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeAnswer<'a> {
    /// `HS_PUBKEY` or `HS_SECKEY`, exactly so.
    pub authentication_type: Cow<'a, str>,
    /// The key that answers; its index may be 0.
    pub key: Reference<'a>,
    /// The signature or MAC over nonce and digest (`handle-protocol.md` §7.2, §7.3).
    pub response: Cow<'a, [u8]>,
}

wire_form!(ChallengeAnswer<'a> { authentication_type, key, response });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_2_1_the_nonce_comes_first() {
        let challenge = Challenge {
            digest: RequestDigest::Md5([7; 16]),
            nonce: vec![1, 2].into(),
        };
        let mut bytes = Vec::new();
        challenge.write(Version::new(5, 0), &mut bytes);
        assert_eq!(bytes[..10], [0, 0, 0, 2, 1, 2, 0, 0, 0, 16]);
        let mut reader = Reader::new(&bytes);
        let read = Challenge::read(Version::new(2, 0), &mut reader);
        assert_eq!(read, Ok(challenge));
    }
}
