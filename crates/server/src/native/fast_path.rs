//! The answer that is asked for most: all that everybody may read of a handle that is stored here.
//!
//! It is written straight from the store into what is sent: a header and a copy. Everything else, errors too, goes
//! the long way, which would say the same.

use handfast_id::Handle;
use handfast_registry::{RecordRef, State};
use handfast_wire::body::ResolutionRequest;
use handfast_wire::{
    Codec, Envelope, Header, OpFlags, Opcode, Reader, ResponseCode, put_bytes, put_message,
};

use crate::native::{Native, Way};

impl Native {
    /// Appends the reply, with its envelope, and says whether it did. If not, nothing is appended.
    pub(crate) fn answer_quickly(
        &self,
        envelope: &Envelope,
        payload: &[u8],
        out: &mut Vec<u8>,
        way: Way,
    ) -> bool {
        let start = out.len();
        let is_done = self.try_quickly(envelope, payload, out).is_some();
        if is_done {
            self.meters
                .count(way, Opcode::Resolution, ResponseCode::Success);
        } else {
            out.truncate(start);
        }
        is_done
    }

    fn try_quickly(&self, envelope: &Envelope, payload: &[u8], out: &mut Vec<u8>) -> Option<()> {
        if envelope.session_id != 0 || envelope.flags.is_encrypted || envelope.version.is_ancient()
        {
            return None;
        }
        let mut reader = Reader::new(payload);
        let header = Header::decode(&mut reader).ok()?;
        let is_plain = header.opcode == Opcode::Resolution
            && !header.is_reply()
            && header.flags.contains(OpFlags::PO)
            && !header.flags.intersects(OpFlags::CT | OpFlags::RD);
        if !is_plain {
            return None;
        }
        let body = reader
            .take(usize::try_from(header.body_length).ok()?)
            .ok()?;
        // A credential that does not fit makes the message malformed.
        if reader.rest().len() >= 4 {
            reader.bytes().ok()?;
        }
        let asked = ResolutionRequest::decode(&mut Reader::new(body)).ok()?;
        // What is computed is not stored as it is said.
        if asked.handle.starts_with("0.") || asked.is_excessive() {
            return None;
        }
        let handle = Handle::from_stored(&asked.handle).ok()?;
        let responder = self.responder();
        let lent = self.registry.with_record(&handle, |lent| {
            if lent.state != State::Active {
                return None;
            }
            let (envelope, header) = responder.head(envelope, &header, ResponseCode::Success);
            let mut has_any = false;
            put_message(out, &envelope, &header, |out| {
                has_any = put_public(out, &asked, lent);
            });
            has_any.then_some(())
        });
        lent.ok()??.flatten()
    }
}

/// Appends the body of a reply: the values that everybody may read, of those that are asked for. Whether there are
/// any.
pub(crate) fn put_public(
    out: &mut Vec<u8>,
    asked: &ResolutionRequest<'_>,
    lent: RecordRef<'_>,
) -> bool {
    put_bytes(out, asked.handle.as_bytes());
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0_u32;
    for (value, bytes) in lent.iter() {
        if value.permissions.public_read() && asked.selects(&value) {
            out.extend_from_slice(bytes);
            count += 1;
        }
    }
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&count.to_be_bytes());
    }
    count > 0
}
