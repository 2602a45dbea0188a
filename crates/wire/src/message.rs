//! Whole messages.
//!
//! ```text
//! envelope (20 bytes) · header (24) · body · credential length u32 · credential
//! ```
//!
//! A request and its reply, without a network:
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

use crate::body::Body;
use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_u32};
use crate::digest::RequestDigest;
use crate::envelope::Envelope;
use crate::header::{Header, OpFlags};
use crate::opcode::ResponseCode;

/// A message that is not encrypted (`handle-protocol.md` §1.2).
///
/// Encoding writes the lengths that are, whatever envelope and header say.
///
/// ```
/// use handfast_wire::{Codec, Envelope, Header, Message, Opcode, Version, body::HandleRequest};
///
/// let envelope = Envelope::new(Version::BLIND);
/// let header = Header::request(Opcode::GetSiteInfo, 1_700_043_200);
/// let message = Message::new(envelope, header, &HandleRequest::default());
/// assert_eq!(Message::from_bytes(&message.to_bytes())?, message);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The envelope.
    pub envelope: Envelope,
    /// The operation and the response code.
    pub header: Header,
    /// The body, with the request digest if it has one.
    pub body: Cow<'a, [u8]>,
    /// The credential; empty if there is none.
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

    /// Reads what follows an envelope, such as what a session decrypted or packets were assembled
    /// to.
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

    /// The bytes after the envelope: header, body and credential. A session encrypts these.
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

    /// How long the message is without its envelope.
    #[must_use]
    pub fn length(&self) -> usize {
        Header::LENGTH + self.body.len() + 4 + self.credential.len()
    }

    /// Whether it is longer than [`Envelope::MAX_MESSAGE`], so that receivers reject it.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        u32::try_from(self.length()).map_or(true, |length| length > Envelope::MAX_MESSAGE)
    }

    /// The response code, as the version of the message defines it.
    #[must_use]
    pub fn outcome(&self) -> ResponseCode {
        let code = self.header.response_code;
        code.received_in(self.envelope.version)
    }

    /// The digest of the request, if the message is a reply that has one.
    pub fn digest(&self) -> Result<Option<RequestDigest>, DecodeError> {
        self.digest_and_rest().map(|(digest, _)| digest)
    }

    /// The body, after the request digest if there is one. "Bodies may have unknown trailing
    /// octets": they are ignored but where the protocol forbids them.
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

/// Where the header has the length of the body.
const BODY_LENGTH_AT: usize = 20;

/// Appends a message without a credential whose body `write` appends: so that a body need not stand
/// somewhere else first. The lengths are set when it is there.
///
/// ```
/// use handfast_wire::{Codec, Envelope, Header, Message, Opcode, Version, put_message};
///
/// let header = Header::request(Opcode::GetSiteInfo, 1);
/// let mut out = Vec::new();
/// let envelope = Envelope::new(Version::CURRENT);
/// put_message(&mut out, &envelope, &header, |out| out.extend([0, 0, 0, 1, b'/']));
/// assert_eq!(*Message::from_bytes(&out)?.body, [0, 0, 0, 1, b'/']);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
pub fn put_message(
    out: &mut Vec<u8>,
    envelope: &Envelope,
    header: &Header,
    write: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    envelope.encode(out);
    header.encode(out);
    let body = out.len();
    write(out);
    let body_length = out.len() - body;
    // No credential.
    put_u32(out, 0);
    let length = out.len() - start - Envelope::LENGTH;
    for (end, length) in [(start + Envelope::LENGTH, length), (body, body_length)] {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        if let Some(at) = out.get_mut(end - 4..end) {
            at.copy_from_slice(&length.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Empty;
    use crate::opcode::Opcode;
    use crate::version::Version;

    fn request() -> Message<'static> {
        let header = Header::request(Opcode::DeleteHandle, 1);
        Message::new(Envelope::new(Version::CURRENT), header, &Empty)
    }

    #[test]
    fn a_credential_may_be_missing_or_empty() {
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
}
