//! Replies: built from a request and the properties of a server.

use crate::body::{Body, ErrorReply};
use crate::digest::RequestDigest;
use crate::envelope::{Envelope, EnvelopeFlags};
use crate::header::{Header, OpFlags};
use crate::message::Message;
use crate::opcode::{Opcode, ResponseCode};
use crate::version::Version;

/// The properties of a server that are part of every reply (`handle-protocol.md` §2.6).
///
/// ```
/// use handfast_wire::{Responder, ResponseCode, Version};
///
/// let server = Responder {
///     maximum: Version::CURRENT,
///     site_serial: 1,
///     is_primary: true,
///     expiration: 1_700_043_200,
/// };
/// let error = server.error(7, ResponseCode::ProtocolError, "Invalid message length");
/// assert_eq!(error.envelope.version, Version::BLIND);
/// ```
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
    /// RD is set if, and only if, the body begins with a digest. CN, OWE and MNS are the caller's
    /// to set, and so is a new session id. The final reply to what was challenged is a reply to the
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
        let (envelope, mut header) = self.head(&request.envelope, &request.header, code);
        if has_digest {
            header.flags = header.flags | OpFlags::RD;
        }
        Message::with_body(envelope, header, bytes)
    }

    /// The beginning of a reply without a digest; the lengths are set later.
    #[must_use]
    pub fn head(
        &self,
        envelope: &Envelope,
        header: &Header,
        code: ResponseCode,
    ) -> (Envelope, Header) {
        let version = envelope.suggestion().negotiate(self.maximum);
        let mut flags = header.flags & OpFlags::COPIED.without(OpFlags::RD) | OpFlags::REC;
        if self.is_primary {
            flags = flags | OpFlags::AT;
        }
        let envelope = Envelope {
            version,
            suggested: self.maximum,
            flags: EnvelopeFlags::default(),
            session_id: envelope.session_id,
            request_id: envelope.request_id,
            sequence: 0,
            length: 0,
        };
        let header = Header {
            opcode: header.opcode,
            response_code: code.sent_in(version),
            flags,
            site_serial: self.site_serial,
            recursion_count: header.recursion_count,
            reserved: 0,
            expiration: self.expiration,
            body_length: 0,
        };
        (envelope, header)
    }

    /// The reply to what could not be read (`handle-protocol.md` §10): "version 2.3, (…) session 0,
    /// opcode 0, flags 0x19000000, serial 0xFFFF".
    ///
    /// The reference gives [`Envelope::UNREAD_REQUEST`] as request id; a server does better that
    /// echoes the real one when the envelope was readable.
    #[must_use]
    pub fn error(&self, request_id: u32, code: ResponseCode, message: &str) -> Message<'static> {
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
    // "RD must not be set in messages of version < 2.1", so a client would not look for a digest
    // there.
    let digest = digest.filter(|_| !version.is_ancient() && !T::HOLDS_DIGEST);
    if let Some(digest) = digest {
        digest.write(version, out);
    }
    body.write(version, out);
    digest.is_some() || T::HOLDS_DIGEST && !version.is_ancient()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Empty;

    #[test]
    fn flags_of_the_envelope_do_not_come_back() {
        let header = Header::request(Opcode::DeleteHandle, 1);
        let mut request = Message::new(Envelope::new(Version::CURRENT), header, &Empty);
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
