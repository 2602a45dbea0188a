//! Messages that come in several packets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use handfast_wire::{Codec, Envelope, Reader, Reassembly};

/// How long packets of one message may be apart, in milliseconds.
const PATIENCE: u64 = 5_000;
/// How many octets of messages that are not whole are kept by a socket, about.
const MOST: usize = 4 << 20;
/// What a packet that is kept costs beyond its octets, about.
const OVERHEAD: usize = 256;

/// Messages that are not whole yet, by who sends them and their request id.
#[derive(Default)]
pub(crate) struct Parts {
    waiting: HashMap<(IpAddr, u32), Part>,
    /// What they hold, about.
    held: usize,
}

/// A message that is not whole yet.
struct Part {
    began: u64,
    held: usize,
    parts: Reassembly,
}

impl Parts {
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
        // What is there beyond the message is ignored.
        if let Some(payload) = payload.get(..length) {
            return Some((envelope, Cow::Borrowed(payload)));
        }
        let now = now();
        let key = (from, envelope.request_id);
        let held = payload.len() + OVERHEAD;
        if self.held + held > MOST {
            self.make_room(now);
        }
        let is_whole = match self.waiting.get_mut(&key) {
            Some(part) if now.saturating_sub(part.began) < PATIENCE => {
                part.held += held;
                part.parts.add(packet).unwrap_or(false)
            }
            _ => {
                self.remove(&key);
                let parts = Reassembly::begin(packet).ok()?;
                let is_whole = parts.is_complete();
                let part = Part {
                    began: now,
                    held,
                    parts,
                };
                self.waiting.insert(key, part);
                is_whole
            }
        };
        self.held += held;
        if !is_whole {
            return None;
        }
        let (envelope, message) = self.remove(&key)?.parts.finish()?;
        Some((envelope, Cow::Owned(message)))
    }

    fn remove(&mut self, key: &(IpAddr, u32)) -> Option<Part> {
        let part = self.waiting.remove(key)?;
        self.held = self.held.saturating_sub(part.held);
        Some(part)
    }

    /// Looks at everything, so it is for when much has come since the last time: what is outdated goes, and if
    /// that is not half of it, everything.
    fn make_room(&mut self, now: u64) {
        self.waiting
            .retain(|_, part| now.saturating_sub(part.began) < PATIENCE);
        self.held = self.waiting.values().map(|part| part.held).sum();
        if self.held > MOST / 2 {
            self.waiting.clear();
            self.held = 0;
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
        let mut parts = Parts::default();
        for request_id in 0..200_000 {
            let packet = piece(request_id, 0, 262_144, usize::from(request_id % 2 == 0));
            assert!(parts.whole(&packet, SOMEONE, || 0).is_none());
            assert!(parts.held <= MOST);
        }
        assert!(parts.waiting.len() <= MOST / OVERHEAD);
    }

    #[test]
    fn a_message_is_put_together_among_others_and_is_forgotten_then() {
        let mut parts = Parts::default();
        assert!(parts.whole(&piece(1, 0, 600, 492), SOMEONE, || 0).is_none());
        assert!(parts.whole(&piece(2, 0, 600, 492), SOMEONE, || 0).is_none());
        let last = piece(1, 1, 600, 108);
        let (envelope, payload) = parts.whole(&last, SOMEONE, || 1).unwrap();
        assert_eq!((envelope.request_id, payload.len()), (1, 600));
        assert_eq!(parts.held, 492 + OVERHEAD);
    }

    #[test]
    fn pieces_too_far_apart_are_not_put_together() {
        let mut parts = Parts::default();
        assert!(parts.whole(&piece(1, 0, 600, 492), SOMEONE, || 0).is_none());
        assert!(
            parts
                .whole(&piece(1, 1, 600, 108), SOMEONE, || PATIENCE)
                .is_none()
        );
        assert_eq!(parts.waiting.len(), 1);
    }
}
