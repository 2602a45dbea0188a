//! Reassembly of messages that come in several datagrams.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use handfast_wire::{Codec, Envelope, Reader, Reassembly};

/// How long packets of one message may be apart, in milliseconds.
const REASSEMBLY_TIMEOUT: u64 = 5_000;
/// How many bytes of incomplete messages a socket buffers, approximately.
const MAX_BUFFERED: usize = 4 << 20;
/// The approximate memory of a buffered datagram beside its bytes.
const OVERHEAD: usize = 256;

/// Messages that are not whole yet, by who sends them and their request id.
#[derive(Default)]
pub(crate) struct MessageParts {
    waiting: HashMap<(IpAddr, u32), MessagePart>,
    /// Their approximate memory.
    buffered: usize,
}

/// A message that is not whole yet.
struct MessagePart {
    began: u64,
    buffered: usize,
    parts: Reassembly,
}

impl MessageParts {
    /// The message that a packet is, or makes whole.
    pub(crate) fn whole<'p>(
        &mut self,
        packet: &'p [u8],
        from: IpAddr,
        now: impl FnOnce() -> u64,
    ) -> Option<(Envelope, Cow<'p, [u8]>)> {
        let envelope = Envelope::decode(&mut Reader::new(packet)).ok()?;
        let payload = packet.get(Envelope::LENGTH..)?;
        let length = usize::try_from(envelope.length).ok()?;
        // Bytes behind the message are ignored.
        if let Some(payload) = payload.get(..length) {
            return Some((envelope, Cow::Borrowed(payload)));
        }
        let now = now();
        let key = (from, envelope.request_id);
        let buffered = payload.len() + OVERHEAD;
        if self.buffered + buffered > MAX_BUFFERED {
            self.evict(now);
        }
        let is_whole = match self.waiting.get_mut(&key) {
            Some(part) if now.saturating_sub(part.began) < REASSEMBLY_TIMEOUT => {
                part.buffered += buffered;
                part.parts.add(packet).unwrap_or(false)
            }
            _ => {
                self.remove(&key);
                let parts = Reassembly::begin(packet).ok()?;
                let is_whole = parts.is_complete();
                let part = MessagePart {
                    began: now,
                    buffered,
                    parts,
                };
                self.waiting.insert(key, part);
                is_whole
            }
        };
        self.buffered += buffered;
        if !is_whole {
            return None;
        }
        let (envelope, message) = self.remove(&key)?.parts.finish()?;
        Some((envelope, Cow::Owned(message)))
    }

    fn remove(&mut self, key: &(IpAddr, u32)) -> Option<MessagePart> {
        let part = self.waiting.remove(key)?;
        self.buffered = self.buffered.saturating_sub(part.buffered);
        Some(part)
    }

    /// Looks at everything, so it is for when much has come since the last time: what is outdated
    /// goes, and if that is not half of it, everything.
    fn evict(&mut self, now: u64) {
        self.waiting
            .retain(|_, part| now.saturating_sub(part.began) < REASSEMBLY_TIMEOUT);
        self.buffered = self.waiting.values().map(|part| part.buffered).sum();
        if self.buffered > MAX_BUFFERED / 2 {
            self.waiting.clear();
            self.buffered = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const SOMEONE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn piece(request_id: u32, sequence: u32, length: u32, octets: usize) -> Vec<u8> {
        let mut packet = Vec::new();
        let envelope = Envelope {
            request_id,
            sequence,
            length,
            ..Envelope::new(handfast_wire::Version::CURRENT)
        };
        envelope.encode(&mut packet);
        packet.resize(packet.len() + octets, 0);
        packet
    }

    /// Each piece cost a look at all others, and small ones were counted by their octets alone.
    #[test]
    fn pieces_without_an_end_take_bounded_memory() {
        let mut parts = MessageParts::default();
        for request_id in 0..200_000 {
            let packet = piece(request_id, 0, 262_144, usize::from(request_id % 2 == 0));
            assert!(parts.whole(&packet, SOMEONE, || 0).is_none());
            assert!(parts.buffered <= MAX_BUFFERED);
        }
        assert!(parts.waiting.len() <= MAX_BUFFERED / OVERHEAD);
    }

    #[test]
    fn a_message_is_reassembled_among_others_and_then_forgotten() {
        let mut parts = MessageParts::default();
        assert!(parts.whole(&piece(1, 0, 600, 492), SOMEONE, || 0).is_none());
        assert!(parts.whole(&piece(2, 0, 600, 492), SOMEONE, || 0).is_none());
        let last = piece(1, 1, 600, 108);
        let (envelope, payload) = parts.whole(&last, SOMEONE, || 1).unwrap();
        assert_eq!((envelope.request_id, payload.len()), (1, 600));
        assert_eq!(parts.buffered, 492 + OVERHEAD);
    }

    #[test]
    fn parts_too_far_apart_are_not_reassembled() {
        let mut parts = MessageParts::default();
        assert!(parts.whole(&piece(1, 0, 600, 492), SOMEONE, || 0).is_none());
        assert!(
            parts
                .whole(&piece(1, 1, 600, 108), SOMEONE, || REASSEMBLY_TIMEOUT)
                .is_none()
        );
        assert_eq!(parts.waiting.len(), 1);
    }
}
