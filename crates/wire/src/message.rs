//! Whole messages.
//!
//! ```text
//! envelope (20 bytes) · header (24) · body · credential length u32 · credential
//! ```
//!
//! A request and its reply, without a network between:
//!
//! ```
//! use handfast_wire::body::{ErrorReply, ResolutionRequest};
//! use handfast_wire::{Codec, Envelope, Header, Message, Opcode, Responder, ResponseCode, Version};
//!
//! let request = Message::new(
//!     Envelope { request_id: 7, ..Envelope::new(Version::BLIND) },
//!     Header::request(Opcode::Resolution, 1_700_043_200),
//!     &ResolutionRequest::all("20.500.12345/abc"),
//! );
//! let bytes = request.to_bytes();
//!
//! let received = Message::from_bytes(&bytes)?;
//! let asked: ResolutionRequest = received.read()?;
//! assert_eq!(asked.handle, "20.500.12345/abc");
//! let server = Responder {
//!     maximum: Version::CURRENT,
//!     site_serial: 1,
//!     is_primary: true,
//!     expiration: 1_700_043_200,
//! };
//! let reply = server.reply(&received, ResponseCode::HandleNotFound, None, &ErrorReply::default());
//! assert_eq!(reply.envelope.request_id, 7);
//! assert_eq!(reply.envelope.version, Version::CURRENT);
//! # Ok::<_, handfast_wire::DecodeError>(())
//! ```

use std::borrow::Cow;

use crate::body::{Body, ErrorReply};
use crate::codec::{Codec, DecodeError, Reader, put_bytes};
use crate::digest::RequestDigest;
use crate::envelope::{Envelope, EnvelopeFlags};
use crate::header::{Header, OpFlags};
use crate::opcode::{Opcode, ResponseCode};
use crate::version::Version;

/// A message that is not encrypted (`handle-protocol.md` §1.2).
///
/// Encoding writes the lengths that are, whatever envelope and header say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who speaks, in which version.
    pub envelope: Envelope,
    /// What is asked or answered.
    pub header: Header,
    /// The body, with the request digest if it has one.
    pub body: Cow<'a, [u8]>,
    /// The credential, empty if there is none.
    pub credential: Cow<'a, [u8]>,
}

impl<'a> Message<'a> {
    /// A message without a credential.
    #[must_use]
    pub fn new<'b>(envelope: Envelope, header: Header, body: &impl Body<'b>) -> Self {
        let mut bytes = Vec::new();
        body.write(envelope.version, &mut bytes);
        Self::with_body(envelope, header, bytes)
    }

    /// Reads what follows an envelope, such as what a session decrypted or packets were assembled to.
    ///
    /// "If fewer than 4 octets remain after the body, there is no credential." What follows the
    /// credential is ignored.
    pub fn open(envelope: Envelope, payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        let header = Header::decode(&mut reader)?;
        let length = usize::try_from(header.body_length).unwrap_or(usize::MAX);
        let Ok(body) = reader.take(length) else {
            return Err(DecodeError::Length {
                at: BODY_LENGTH_AT,
                claimed: header.body_length,
            });
        };
        let credential = if reader.rest().len() < 4 {
            &[]
        } else {
            reader.bytes()?
        };
        Ok(Self {
            envelope,
            header,
            body: body.into(),
            credential: credential.into(),
        })
    }

    /// What follows the envelope: header, body and credential. This is what a session encrypts.
    #[must_use]
    pub fn payload(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.length());
        self.put_payload(&mut out);
        out
    }

    /// Header and body: what request digests and credentials cover.
    #[must_use]
    pub fn signed_part(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Header::LENGTH + self.body.len());
        self.put_signed_part(&mut out);
        out
    }

    /// How long the message is without its envelope. Nobody reads more than
    /// [`Envelope::MAX_MESSAGE`].
    #[must_use]
    pub fn length(&self) -> usize {
        Header::LENGTH + self.body.len() + 4 + self.credential.len()
    }

    /// What came of the request: the response code as the version of the message means it.
    #[must_use]
    pub fn outcome(&self) -> ResponseCode {
        let code = self.header.response_code;
        code.received_in(self.envelope.version)
    }

    /// The digest of the request, if the message is a reply that has one.
    pub fn digest(&self) -> Result<Option<RequestDigest>, DecodeError> {
        self.digest_and_rest().map(|(digest, _)| digest)
    }

    /// The body, after the request digest if there is one. "Bodies may have unknown trailing octets":
    /// they are ignored but where the protocol forbids them.
    pub fn read<'b, T: Body<'b>>(&'b self) -> Result<T, DecodeError> {
        let mut reader = if T::HOLDS_DIGEST {
            Reader::new(&self.body)
        } else {
            self.digest_and_rest()?.1
        };
        T::read(self.envelope.version, &mut reader)
    }

    /// The same message, owning its bytes.
    #[must_use]
    pub fn into_owned(self) -> Message<'static> {
        Message {
            envelope: self.envelope,
            header: self.header,
            body: self.body.into_owned().into(),
            credential: self.credential.into_owned().into(),
        }
    }

    /// The same message with this credential.
    #[must_use]
    pub fn with_credential(mut self, credential: impl Into<Cow<'a, [u8]>>) -> Self {
        self.credential = credential.into();
        self.envelope.length = u32::try_from(self.length()).unwrap_or(u32::MAX);
        self
    }

    pub(crate) fn with_body(envelope: Envelope, header: Header, body: Vec<u8>) -> Self {
        let body_length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let message = Self {
            envelope,
            header: Header {
                body_length,
                ..header
            },
            body: body.into(),
            credential: Cow::default(),
        };
        message.with_credential(Cow::default())
    }

    fn put_payload(&self, out: &mut Vec<u8>) {
        self.put_signed_part(out);
        put_bytes(out, &self.credential);
    }

    fn put_signed_part(&self, out: &mut Vec<u8>) {
        let header = Header {
            body_length: u32::try_from(self.body.len()).unwrap_or(u32::MAX),
            ..self.header
        };
        header.encode(out);
        out.extend_from_slice(&self.body);
    }

    fn digest_and_rest(&self) -> Result<(Option<RequestDigest>, Reader<'_>), DecodeError> {
        let mut reader = Reader::new(&self.body);
        let has_digest = self.header.is_reply() && self.header.flags.contains(OpFlags::RD);
        let digest = has_digest.then(|| RequestDigest::read(&mut reader));
        Ok((digest.transpose()?, reader))
    }
}

impl<'a> Codec<'a> for Message<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        let envelope = Envelope {
            length: u32::try_from(self.length()).unwrap_or(u32::MAX),
            ..self.envelope
        };
        envelope.encode(out);
        self.put_payload(out);
    }

    /// Reads as many bytes as the envelope says. What is encrypted is refused: its envelope can be
    /// read alone.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let envelope = Envelope::decode(reader)?;
        if envelope.flags.is_encrypted {
            return Err(DecodeError::Encrypted);
        }
        let payload = reader.take(usize::try_from(envelope.length).unwrap_or(usize::MAX))?;
        Self::open(envelope, payload)
    }
}

/// What a server puts into every reply (`handle-protocol.md` §2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Responder {
    /// The newest version that it speaks.
    pub maximum: Version,
    /// The serial number of its site record.
    pub site_serial: u16,
    /// Whether it belongs to a primary site.
    pub is_primary: bool,
    /// Until when its replies are valid: [`Header::VALID_FOR`] from now.
    pub expiration: u32,
}

impl Responder {
    /// The version of a reply to a request: the body and the digest follow it.
    #[must_use]
    pub fn version_for(&self, request: &Message<'_>) -> Version {
        request.envelope.suggestion().negotiate(self.maximum)
    }

    /// A reply, without a credential.
    ///
    /// RD is set if, and only if, the body begins with a digest. CN, OWE and MNS are the caller's to
    /// set, and so is a new session id. The final reply to what was challenged is a reply to the
    /// original request, and then the caller gives it the request id of the answer.
    #[must_use]
    pub fn reply<'b>(
        &self,
        request: &Message<'_>,
        code: ResponseCode,
        digest: Option<RequestDigest>,
        body: &impl Body<'b>,
    ) -> Message<'static> {
        let version = self.version_for(request);
        let mut bytes = Vec::new();
        let has_digest = write_body(version, digest, body, &mut bytes);
        let mut flags = request.header.flags & OpFlags::COPIED.without(OpFlags::RD) | OpFlags::REC;
        if self.is_primary {
            flags = flags | OpFlags::AT;
        }
        if has_digest {
            flags = flags | OpFlags::RD;
        }
        let envelope = Envelope {
            version,
            suggested: self.maximum,
            flags: EnvelopeFlags::default(),
            session_id: request.envelope.session_id,
            request_id: request.envelope.request_id,
            sequence: 0,
            length: 0,
        };
        let header = Header {
            opcode: request.header.opcode,
            response_code: code.sent_in(version),
            flags,
            site_serial: self.site_serial,
            recursion_count: request.header.recursion_count,
            reserved: 0,
            expiration: self.expiration,
            body_length: 0,
        };
        Message::with_body(envelope, header, bytes)
    }

    /// The reply to what could not be read (`handle-protocol.md` §10): "version 2.3, (…) session 0,
    /// opcode 0, flags 0x19000000, serial 0xFFFF".
    ///
    /// The reference gives [`Envelope::UNREAD_REQUEST`] as request id; a server does better that
    /// echoes the real one when the envelope was readable.
    #[must_use]
    pub fn refusal(&self, request_id: u32, code: ResponseCode, message: &str) -> Message<'static> {
        let envelope = Envelope {
            suggested: self.maximum,
            request_id,
            ..Envelope::new(Version::BLIND)
        };
        let header = Header {
            response_code: code.sent_in(Version::BLIND),
            ..Header::request(Opcode::Reserved, self.expiration)
        };
        Message::new(envelope, header, &ErrorReply::new(message))
    }
}

/// Whether what was written begins with a digest.
fn write_body<'b, T: Body<'b>>(
    version: Version,
    digest: Option<RequestDigest>,
    body: &T,
    out: &mut Vec<u8>,
) -> bool {
    // "RD must not be set in messages of version < 2.1", so nobody would look for a digest there.
    let digest = digest.filter(|_| !version.is_ancient() && !T::HOLDS_DIGEST);
    if let Some(digest) = digest {
        digest.write(version, out);
    }
    body.write(version, out);
    digest.is_some() || T::HOLDS_DIGEST && !version.is_ancient()
}

/// Where the header has the length of the body.
const BODY_LENGTH_AT: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Empty;

    fn request() -> Message<'static> {
        let header = Header::request(Opcode::DeleteHandle, 1);
        Message::new(Envelope::new(Version::CURRENT), header, &Empty)
    }

    #[test]
    fn a_credential_may_be_missing_or_cut_short_to_nothing() {
        let bytes = request().to_bytes();
        for missing in 1..=4 {
            let mut shorter = bytes[..bytes.len() - missing].to_vec();
            shorter[19] -= u8::try_from(missing).unwrap();
            assert!(Message::from_bytes(&shorter).unwrap().credential.is_empty());
        }
    }

    #[test]
    fn a_body_or_credential_longer_than_the_message_is_refused() {
        let mut bytes = request().to_bytes();
        bytes[43] = 5;
        let error = DecodeError::Length { at: 20, claimed: 5 };
        assert_eq!(Message::from_bytes(&bytes), Err(error));
        let mut bytes = request().to_bytes();
        bytes[47] = 1;
        let error = DecodeError::Length { at: 24, claimed: 1 };
        assert_eq!(Message::from_bytes(&bytes), Err(error));
    }

    #[test]
    fn an_encrypted_message_is_not_read_as_a_clear_one() {
        let mut message = request();
        message.envelope.flags.is_encrypted = true;
        let bytes = message.to_bytes();
        assert_eq!(Message::from_bytes(&bytes), Err(DecodeError::Encrypted));
    }

    #[test]
    fn flags_of_the_envelope_do_not_come_back() {
        let mut request = request();
        request.envelope.flags.is_truncated = true;
        request.envelope.flags.is_compressed = true;
        let server = Responder {
            maximum: Version::CURRENT,
            site_serial: 1,
            is_primary: false,
            expiration: 9,
        };
        let reply = server.reply(&request, ResponseCode::Success, None, &Empty);
        assert_eq!(reply.envelope.flags, EnvelopeFlags::default());
    }
}
