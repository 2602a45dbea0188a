//! Packets: messages that are longer than a datagram.
//!
//! "One datagram ≤ 512 octets including envelope. A message longer than 492 octets is cut into
//! consecutive 492-octet pieces; the last is shorter. Every piece is preceded by a full envelope,
//! identical except for the sequence number" (`handle-protocol.md` §1.4).
//!
//! ```
//! use handfast_wire::{Envelope, Reassembly, Version, packets};
//!
//! let envelope = Envelope { request_id: 7, ..Envelope::new(Version::CURRENT) };
//! let message = vec![1; 1000];
//! let mut sent: Vec<_> = packets(&envelope, &message).collect();
//! assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), [512, 512, 36]);
//!
//! sent.reverse();
//! let mut reassembly = Reassembly::begin(&sent[0])?;
//! reassembly.add(&sent[1])?;
//! reassembly.add(&sent[2])?;
//! let (envelope, received) = reassembly.finish().unwrap();
//! assert_eq!((envelope.request_id, received), (7, message));
//! # Ok::<_, handfast_wire::FragmentError>(())
//! ```

use std::collections::BTreeMap;

use crate::codec::{Codec, DecodeError, Reader};
use crate::envelope::{Envelope, EnvelopeFlags};

/// The longest datagram.
pub const MAX_PACKET: usize = 512;

/// Cuts what follows an envelope into packets, with the sequence numbers, the length, and TC where
/// there is more than one. "Set TC in both directions; require it in neither."
pub fn packets(envelope: &Envelope, payload: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let envelope = Envelope {
        flags: EnvelopeFlags {
            is_truncated: payload.len() > STRIDE,
            ..envelope.flags
        },
        length: u32::try_from(payload.len()).unwrap_or(u32::MAX),
        ..*envelope
    };
    // Nothing has no pieces, but its envelope is sent.
    let nothing: Option<&[u8]> = payload.is_empty().then_some(&[]);
    let pieces = payload.chunks(STRIDE).chain(nothing);
    (0..).zip(pieces).map(move |(sequence, piece)| {
        let mut packet = Vec::with_capacity(Envelope::LENGTH + piece.len());
        let envelope = Envelope {
            sequence,
            ..envelope
        };
        envelope.encode(&mut packet);
        packet.extend_from_slice(piece);
        packet
    })
}

/// Packets of one message, in whatever order they come.
///
/// Packets belong together that come from one address with one request id: to keep them apart, to
/// end what stays incomplete, and to bound how many are waited for, is up to the caller. One
/// message keeps at most [`Envelope::MAX_MESSAGE`] bytes, and only what has come.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// As it is in all packets, but for sequence number and TC.
    envelope: Envelope,
    pieces: BTreeMap<u32, Box<[u8]>>,
}

impl Reassembly {
    /// The first packet that comes, whichever it is.
    pub fn begin(packet: &[u8]) -> Result<Self, FragmentError> {
        let envelope = common(&Envelope::decode(&mut Reader::new(packet))?);
        let mut reassembly = Self {
            envelope,
            pieces: BTreeMap::new(),
        };
        reassembly.add(packet)?;
        Ok(reassembly)
    }

    /// A further packet; whether the message is complete now.
    ///
    /// Repeated packets are ignored, and so are bytes after the piece. A rejected packet changes
    /// nothing.
    pub fn add(&mut self, packet: &[u8]) -> Result<bool, FragmentError> {
        let mut reader = Reader::new(packet);
        let envelope = Envelope::decode(&mut reader)?;
        if common(&envelope) != self.envelope {
            return Err(FragmentError::Foreign);
        }
        let (sequence, count) = (envelope.sequence, self.count());
        if sequence >= count {
            return Err(FragmentError::Sequence { sequence, count });
        }
        let expected = self.piece_length(sequence);
        let Ok(piece) = reader.take(expected) else {
            let found = reader.rest().len();
            return Err(FragmentError::Short {
                sequence,
                expected,
                found,
            });
        };
        self.pieces.entry(sequence).or_insert_with(|| piece.into());
        Ok(self.is_complete())
    }

    /// Whether all packets have come.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        u32::try_from(self.pieces.len()).is_ok_and(|buffered_bytes| buffered_bytes == self.count())
    }

    /// The envelope of the message: sequence number 0, TC clear.
    #[must_use]
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The number of buffered bytes.
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        self.pieces.values().map(|piece| piece.len()).sum()
    }

    /// The envelope and what follows it, if all packets have come: for
    /// [`Message::open`](crate::Message::open), or to be decrypted.
    #[must_use]
    pub fn finish(self) -> Option<(Envelope, Vec<u8>)> {
        let is_complete = self.is_complete();
        is_complete.then(|| {
            let pieces: Vec<_> = self.pieces.into_values().collect();
            (self.envelope, pieces.concat())
        })
    }

    /// "Number of packets = ceil(length / 492)", and one for a message of nothing.
    fn count(&self) -> u32 {
        self.envelope.length.div_ceil(STRIDE_U32).max(1)
    }

    /// All pieces are of full length but the last.
    fn piece_length(&self, sequence: u32) -> usize {
        let before = sequence.saturating_mul(STRIDE_U32);
        let rest = self.envelope.length.saturating_sub(before);
        usize::try_from(rest.min(STRIDE_U32)).unwrap_or(STRIDE)
    }
}

/// Why a packet does not help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// It has no envelope, or one that is refused.
    #[error("the packet has no envelope: {0}")]
    Envelope(#[from] DecodeError),
    /// It is a packet of another message.
    #[error("the packet is one of another message")]
    Foreign,
    /// The message has fewer packets.
    #[error("packet {sequence} of a message of {count} packets")]
    Sequence {
        /// The sequence number.
        sequence: u32,
        /// How many packets the message has.
        count: u32,
    },
    /// It has less than its piece of the message.
    #[error("packet {sequence} has {found} bytes of the message, not {expected}")]
    Short {
        /// The sequence number.
        sequence: u32,
        /// How many bytes the piece has.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

/// The fields that all packets of a message share.
fn common(envelope: &Envelope) -> Envelope {
    Envelope {
        flags: EnvelopeFlags {
            is_truncated: false,
            ..envelope.flags
        },
        sequence: 0,
        ..*envelope
    }
}

/// How much of a message a packet has.
const STRIDE: usize = MAX_PACKET - Envelope::LENGTH;
const STRIDE_U32: u32 = 492;
const _: () = assert!(STRIDE == 492);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    fn sent(length: usize) -> Vec<Vec<u8>> {
        packets(&Envelope::new(Version::CURRENT), &vec![7; length]).collect()
    }

    #[test]
    fn the_example_of_2413_bytes() {
        let lengths: Vec<_> = sent(2413).iter().map(Vec::len).collect();
        assert_eq!(lengths, [512, 512, 512, 512, 465]);
        for (sequence, packet) in (0..).zip(sent(2413)) {
            let envelope = Envelope::decode(&mut Reader::new(&packet)).unwrap();
            assert_eq!((envelope.sequence, envelope.length), (sequence, 0x96D));
            assert!(envelope.flags.is_truncated);
        }
    }

    #[test]
    fn what_fits_into_one_packet_is_not_truncated() {
        for (length, count) in [(0, 1), (1, 1), (492, 1), (493, 2), (984, 2), (985, 3)] {
            let packets = sent(length);
            assert_eq!(packets.len(), count, "{length}");
            assert_eq!(packets[0][2] & 0x20 != 0, count > 1, "{length}");
        }
    }

    #[test]
    fn what_came_before_is_ignored() {
        let packets = sent(1000);
        let mut reassembly = Reassembly::begin(&packets[1]).unwrap();
        let mut forged = packets[1].clone();
        forged[100] = 0;
        assert_eq!(reassembly.add(&forged), Ok(false));
        assert_eq!(reassembly.buffered_bytes(), 492);
        assert_eq!(reassembly.add(&packets[0]), Ok(false));
        assert_eq!(reassembly.add(&packets[2]), Ok(true));
        let (_, message) = reassembly.finish().unwrap();
        assert_eq!(message, [7; 1000]);
    }

    #[test]
    fn lengths_and_numbers_that_lie_are_refused() {
        let packets = sent(1000);
        let mut reassembly = Reassembly::begin(&packets[0]).unwrap();
        let mut beyond = packets[1].clone();
        beyond[15] = 3;
        let error = FragmentError::Sequence {
            sequence: 3,
            count: 3,
        };
        assert_eq!(reassembly.add(&beyond), Err(error));
        let mut longer = packets[1].clone();
        longer[19] += 1;
        assert_eq!(reassembly.add(&longer), Err(FragmentError::Foreign));
        let error = FragmentError::Short {
            sequence: 1,
            expected: 492,
            found: 491,
        };
        assert_eq!(reassembly.add(&packets[1][..511]), Err(error));
        assert_eq!(reassembly.buffered_bytes(), 492);
        assert!(reassembly.finish().is_none());
    }

    #[test]
    fn a_packet_may_lack_tc_and_have_more_than_its_piece() {
        let packets = sent(500);
        let mut reassembly = Reassembly::begin(&packets[0]).unwrap();
        let mut other = packets[1].clone();
        other[2] &= !0x20;
        other.extend([9; 30]);
        assert_eq!(reassembly.add(&other), Ok(true));
        assert_eq!(reassembly.finish().unwrap().1, [7; 500]);
    }
}
