//! Asking the holder of a secret key to verify an answer.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes};
use crate::digest::RequestDigest;
use crate::field::wire_form;
use crate::reference::Reference;

/// A challenge and its answer, for the holder of the secret key (`handle-protocol.md` §3.7).
///
/// The digest is written with its length and without its algorithm. It is read in the other form
/// too, by algorithm and without a length: such a form does not begin with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyRequest<'a> {
    /// The secret key; index 0 stands for every secret key of the handle.
    pub key: Reference<'a>,
    /// The nonce of the challenge.
    pub nonce: Cow<'a, [u8]>,
    /// The digest in the challenge, without its algorithm.
    pub digest: Cow<'a, [u8]>,
    /// The answer as the client sent it.
    pub response: Cow<'a, [u8]>,
}

impl<'a> Codec<'a> for VerifyRequest<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.key.encode(out);
        put_bytes(out, &self.nonce);
        put_bytes(out, &self.digest);
        put_bytes(out, &self.response);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            key: Reference::decode(reader)?,
            nonce: reader.bytes()?.into(),
            digest: match reader.rest() {
                [0, ..] => reader.bytes()?.into(),
                _ => RequestDigest::read(reader)?.as_bytes().to_vec().into(),
            },
            response: reader.bytes()?.into(),
        })
    }
}

/// Whether the answer was right (`handle-protocol.md` §3.7). "Unknown handle value → success with 0
/// (not an error)."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyReply {
    /// Whether the secret key makes that answer.
    pub is_match: bool,
}

wire_form!(VerifyReply { is_match });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_by_algorithm_is_read_too() {
        let request = VerifyRequest {
            key: Reference::new("a/b", 300),
            nonce: vec![1].into(),
            digest: vec![7; 20].into(),
            response: vec![2].into(),
        };
        let mut bytes = request.to_bytes();
        assert_eq!(VerifyRequest::from_bytes(&bytes).as_ref(), Ok(&request));
        // The length of the digest follows reference (11 bytes) and nonce (5).
        bytes.splice(16..20, [2]);
        assert_eq!(VerifyRequest::from_bytes(&bytes), Ok(request));
        bytes[16] = 9;
        let error = DecodeError::Code { at: 16, found: 9 };
        assert_eq!(VerifyRequest::from_bytes(&bytes), Err(error));
    }
}
