//! Envelopes: the 20 bytes in front of every message and of every packet of one.

use crate::codec::{Codec, DecodeError, Reader, put_u32};
use crate::version::Version;

/// The envelope before a message (`handle-protocol.md` §1.1).
///
/// ```text
/// major u8 · minor u8 · flags and suggested major u8 · suggested minor u8 · session id u32 ·
/// request id u32 · sequence number u32 · message length u32
/// ```
///
/// ```
/// use handfast_wire::{Codec, Envelope, Version};
///
/// let envelope = Envelope { request_id: 7, length: 56, ..Envelope::new(Version::BLIND) };
/// assert_eq!(envelope.to_bytes()[..4], [2, 3, 2, 11]);
/// assert_eq!(Envelope::from_bytes(&envelope.to_bytes())?, envelope);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// The version of this message: its layouts and its cryptography follow it.
    pub version: Version,
    /// The version that the sender prefers, as on the wire, where 0 is none: see
    /// [`suggestion`](Self::suggestion). The major number has five bits.
    pub suggested: Version,
    /// CP, TC and EC.
    pub flags: EnvelopeFlags,
    /// A session or a pending challenge; 0 if there is none.
    pub session_id: u32,
    /// Chosen by who asks, echoed by who answers.
    pub request_id: u32,
    /// Counts the packets of a message, from 0.
    pub sequence: u32,
    /// How long the whole message is, without any envelope: also in each packet of it.
    pub length: u32,
}

/// The flags of an envelope.
///
/// ```
/// use handfast_wire::{Codec, Envelope, EnvelopeFlags, Version};
///
/// let flags = EnvelopeFlags { is_encrypted: true, ..EnvelopeFlags::default() };
/// let envelope = Envelope { flags, ..Envelope::new(Version::CURRENT) };
/// assert_eq!(envelope.to_bytes()[2], 0x42);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EnvelopeFlags {
    /// CP: never set, never acted on.
    pub is_compressed: bool,
    /// EC: what follows is the ciphertext of a session.
    pub is_encrypted: bool,
    /// TC: this is a packet of a longer message. Servers of the reference do not set it, and set it
    /// where nothing is truncated; the length tells.
    pub is_truncated: bool,
}

impl Envelope {
    /// How many bytes an envelope has.
    pub const LENGTH: usize = 20;
    /// "message length (…) 262 144 (0x40000), inclusive" (`handle-protocol.md` §0).
    pub const MAX_MESSAGE: u32 = 262_144;
    /// The request id of an error that was sent before the request could be read.
    pub const UNREAD_REQUEST: u32 = 0xFFFF_FFFF;

    /// An envelope that suggests [`Version::CURRENT`]; all else is 0.
    #[must_use]
    pub fn new(version: Version) -> Self {
        Self {
            version,
            suggested: Version::CURRENT,
            ..Self::default()
        }
    }

    /// The request id in bytes that begin with an envelope, even a malformed one, so that the error
    /// can echo it.
    ///
    /// ```
    /// use handfast_wire::{Codec, Envelope, Version};
    ///
    /// let current = Envelope::new(Version::CURRENT);
    /// let envelope = Envelope { request_id: 7, length: u32::MAX, ..current };
    /// let bytes = envelope.to_bytes();
    /// assert!(Envelope::from_bytes(&bytes).is_err());
    /// assert_eq!(Envelope::request_id_in(&bytes), Some(7));
    /// assert_eq!(Envelope::request_id_in(&bytes[..19]), None);
    /// ```
    #[must_use]
    pub fn request_id_in(bytes: &[u8]) -> Option<u32> {
        let (envelope, _) = bytes.split_first_chunk::<{ Self::LENGTH }>()?;
        let mut reader = Reader::new(envelope);
        reader.take(REQUEST_ID_AT).ok()?;
        reader.u32().ok()
    }

    /// The version that is suggested. "A suggested major of 0 means 'no suggestion': substitute the
    /// message's own version."
    #[must_use]
    pub fn suggestion(&self) -> Version {
        if self.suggested.major == 0 {
            self.version
        } else {
            self.suggested
        }
    }
}

impl Codec<'_> for Envelope {
    fn encode(&self, out: &mut Vec<u8>) {
        let bit = |bit: u8, is_set: bool| if is_set { bit } else { 0 };
        let flags = bit(COMPRESSED, self.flags.is_compressed)
            | bit(ENCRYPTED, self.flags.is_encrypted)
            | bit(TRUNCATED, self.flags.is_truncated);
        out.extend_from_slice(&[self.version.major, self.version.minor]);
        out.push(flags | self.suggested.major & SUGGESTED_MAJOR);
        out.push(self.suggested.minor);
        put_u32(out, self.session_id);
        put_u32(out, self.request_id);
        put_u32(out, self.sequence);
        put_u32(out, self.length);
    }

    /// Refuses a message that is longer than [`MAX_MESSAGE`](Self::MAX_MESSAGE).
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = Version::new(reader.u8()?, reader.u8()?);
        let (octet, minor) = (reader.u8()?, reader.u8()?);
        Ok(Self {
            version,
            suggested: Version::new(octet & SUGGESTED_MAJOR, minor),
            flags: EnvelopeFlags {
                is_compressed: octet & COMPRESSED != 0,
                is_encrypted: octet & ENCRYPTED != 0,
                is_truncated: octet & TRUNCATED != 0,
            },
            session_id: reader.u32()?,
            request_id: reader.u32()?,
            sequence: reader.u32()?,
            length: {
                reader.check_limit(Self::MAX_MESSAGE)?;
                reader.u32()?
            },
        })
    }
}

/// Where the request id stands.
const REQUEST_ID_AT: usize = 8;
const COMPRESSED: u8 = 0x80;
const ENCRYPTED: u8 = 0x40;
const TRUNCATED: u8 = 0x20;
/// The reference reads two bits of these five.
const SUGGESTED_MAJOR: u8 = 0x1F;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_message_is_allowed_and_one_byte_more_is_not() {
        let envelope = |length| Envelope {
            length,
            ..Envelope::new(Version::CURRENT)
        };
        let largest = envelope(Envelope::MAX_MESSAGE);
        assert_eq!(Envelope::from_bytes(&largest.to_bytes()), Ok(largest));
        let error = DecodeError::Limit {
            at: 16,
            claimed: Envelope::MAX_MESSAGE + 1,
            limit: Envelope::MAX_MESSAGE,
        };
        let longer = envelope(Envelope::MAX_MESSAGE + 1);
        assert_eq!(Envelope::from_bytes(&longer.to_bytes()), Err(error));
    }

    #[test]
    fn no_suggestion_is_the_version_of_the_message() {
        let envelope = Envelope {
            suggested: Version::NONE,
            ..Envelope::new(Version::new(2, 1))
        };
        assert_eq!(envelope.suggestion(), Version::new(2, 1));
    }
}
