//! The credential section: the end of a message, which authenticates it.
//!
//! A message is header, body and credential. The credential has a signature or a MAC over header
//! and body, and from version 2.7 on over fields of the envelope, too: [`Framing::covered`] returns
//! the bytes. The `crypto` feature signs and verifies them.
//!
//! ```
//! use handfast_wire::{Codec, Credential};
//!
//! let credential = Credential::new("HS_MAC", 3, "HMAC-SHA256", vec![7; 32]);
//! let bytes = credential.to_bytes();
//! assert_eq!(Credential::from_bytes(&bytes)?, credential);
//! # Ok::<_, handfast_wire::DecodeError>(())
//! ```

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_u32};
use crate::envelope::Envelope;
use crate::reference::Reference;
use crate::version::Version;

/// A signature or MAC, and by what it was made (`handle-protocol.md` §4.1).
///
/// ```
/// use handfast_wire::Credential;
///
/// let credential = Credential::new("HS_SIGNED", 0, "SHA-256", vec![1, 2]);
/// assert_eq!(credential.counter(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential<'a> {
    /// 0 in all that is deployed.
    pub version: u8,
    /// 0 in all that is deployed.
    pub reserved: u8,
    /// 0 in all that is deployed.
    pub options: u16,
    /// "always empty in deployed software", and in place of the index a counter.
    pub signer: Reference<'a>,
    /// [`Self::SIGNED`] or [`Self::MAC`].
    pub credential_type: Cow<'a, str>,
    /// The name of a digest or MAC algorithm, or one octet that is its code.
    pub algorithm: Cow<'a, [u8]>,
    /// The signature or MAC.
    pub signature: Cow<'a, [u8]>,
}

impl<'a> Credential<'a> {
    /// The type of a signature with a private key.
    pub const SIGNED: &'static str = "HS_SIGNED";
    /// The type of a MAC with a session key.
    pub const MAC: &'static str = "HS_MAC";
    /// The earlier name of signatures; they are verified in the same way.
    pub const OLD_SIGNED: &'static str = "HS_DSAPUBKEY";

    /// A credential as deployed software writes it. The counter is 0 outside of sessions.
    #[must_use]
    pub fn new(
        credential_type: impl Into<Cow<'a, str>>,
        counter: u32,
        algorithm: &'a str,
        signature: impl Into<Cow<'a, [u8]>>,
    ) -> Self {
        Self {
            version: 0,
            reserved: 0,
            options: 0,
            signer: Reference::new("", counter),
            credential_type: credential_type.into(),
            algorithm: algorithm.as_bytes().into(),
            signature: signature.into(),
        }
    }

    /// The number of the message in its session (`handle-protocol.md` §4.7).
    #[must_use]
    pub fn counter(&self) -> u32 {
        self.signer.index
    }

    /// Whether it is a signature with a private key.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        matches!(
            self.credential_type.as_ref(),
            Self::SIGNED | Self::OLD_SIGNED
        )
    }

    /// Whether it is a MAC with a session key.
    #[must_use]
    pub fn is_mac(&self) -> bool {
        self.credential_type == Self::MAC
    }
}

/// The data after the length of the section.
impl<'a> Codec<'a> for Credential<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.version, self.reserved]);
        out.extend_from_slice(&self.options.to_be_bytes());
        self.signer.encode(out);
        put_bytes(out, self.credential_type.as_bytes());
        let mut info = Vec::new();
        put_bytes(&mut info, &self.algorithm);
        put_bytes(&mut info, &self.signature);
        put_bytes(out, &info);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (version, reserved, options) = (reader.u8()?, reader.u8()?, reader.u16()?);
        let signer = Reference::decode(reader)?;
        let credential_type = reader.text()?;
        let mut info = Reader::new(reader.bytes()?);
        let (algorithm, signature) = (info.bytes()?, info.bytes()?);
        info.finish()?;
        Ok(Self {
            version,
            reserved,
            options,
            signer,
            credential_type: credential_type.into(),
            algorithm: algorithm.into(),
            signature: signature.into(),
        })
    }
}

/// The fields of an envelope that a credential covers.
///
/// ```
/// use handfast_wire::{Envelope, Framing, Version};
///
/// let envelope = Envelope { session_id: 9, request_id: 7, ..Envelope::new(Version::CURRENT) };
/// let framing = Framing::of(&envelope);
/// let covered = framing.covered(3, b"header and body");
/// assert!(covered.starts_with(&[2, 11, 2, 11, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 3]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The version of the message, by whose rules it is signed.
    pub version: Version,
    /// The version that the message suggests; without one, [`Version::NONE`].
    pub suggested: Version,
    /// The session.
    pub session_id: u32,
    /// The request.
    pub request_id: u32,
}

impl Framing {
    /// Those of this envelope.
    #[must_use]
    pub fn of(envelope: &Envelope) -> Self {
        Self {
            version: envelope.version,
            suggested: envelope.suggestion(),
            session_id: envelope.session_id,
            request_id: envelope.request_id,
        }
    }

    /// The bytes that a signature or an HMAC covers: `message` is header and body, before
    /// encryption (`handle-protocol.md` §4.4).
    #[must_use]
    pub fn covered(&self, counter: u32, message: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(message.len().saturating_add(16));
        let Version { major, minor } = self.version;
        let [session_high, session_low, ..] = self.session_id.to_be_bytes();
        if self.version >= Version::new(2, 7) {
            out.extend_from_slice(&[major, minor]);
            if self.version >= Version::new(2, 8) {
                let suggested = match self.suggested {
                    Version::NONE => self.version,
                    suggested => suggested,
                };
                // "suggested major without the flag bits"
                out.extend_from_slice(&[suggested.major & 0x1F, suggested.minor]);
            }
            put_u32(&mut out, self.session_id);
            put_u32(&mut out, self.request_id);
            put_u32(&mut out, counter);
        } else if self.version == Version::new(2, 6) {
            // "`02 06` ‖ high 16 bits of sessionId ‖ u32 counter ‖ six 00 ‖ M (quirk)"
            out.extend_from_slice(&[major, minor, session_high, session_low]);
            put_u32(&mut out, counter);
            out.extend_from_slice(&[0; 6]);
        }
        out.extend_from_slice(message);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(major: u8, minor: u8) -> Vec<u8> {
        let framing = Framing {
            version: Version::new(major, minor),
            suggested: Version::NONE,
            session_id: 0x0A0B_0C0D,
            request_id: 0x0102_0304,
        };
        framing.covered(5, b"M")
    }

    #[test]
    fn each_version_covers_what_the_table_says() {
        assert_eq!(
            covered(2, 8),
            b"\x02\x08\x02\x08\x0A\x0B\x0C\x0D\x01\x02\x03\x04\0\0\0\x05M"
        );
        assert_eq!(
            covered(2, 7),
            b"\x02\x07\x0A\x0B\x0C\x0D\x01\x02\x03\x04\0\0\0\x05M"
        );
        assert_eq!(covered(2, 6), b"\x02\x06\x0A\x0B\0\0\0\x05\0\0\0\0\0\0M");
        assert_eq!(covered(2, 5), b"M");
        assert_eq!(covered(2, 1), b"M");
        // Older than all of them.
        assert_eq!(covered(5, 0), b"M");
    }

    /// A major number of 0 is no suggestion, whatever the minor one is.
    #[test]
    fn the_version_stands_in_for_no_suggestion() {
        let envelope = Envelope {
            suggested: Version::new(0, 3),
            ..Envelope::new(Version::new(2, 9))
        };
        let covered = Framing::of(&envelope).covered(0, b"M");
        assert!(covered.starts_with(&[2, 9, 2, 9]));
    }

    #[test]
    fn octets_behind_the_signature_are_refused() {
        let mut bytes = Credential::new("HS_MAC", 1, "SHA1", vec![1]).to_bytes();
        bytes.push(0);
        assert!(Credential::from_bytes(&bytes).is_err());
    }
}
