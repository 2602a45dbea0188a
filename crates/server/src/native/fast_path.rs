//! The most frequent answer: the public values of a stored handle.
//!
//! It is written straight from the store into the reply: a header and a copy. Everything else,
//! errors too, takes the slow path, which would give the same answer.

use handfast_wire::body::ResolutionRequest;
use handfast_wire::{
    Codec, Envelope, Header, OpFlags, Opcode, Reader, ResponseCode, put_bytes, put_message,
};

use crate::handles::PublicValues;
use crate::native::Native;
use crate::runtime::native_metrics::Transport;

impl Native {
    /// Appends the reply, with its envelope, and says whether it did. If not, nothing is appended.
    pub(crate) fn answer_fast(
        &self,
        envelope: &Envelope,
        payload: &[u8],
        out: &mut Vec<u8>,
        transport: Transport,
    ) -> bool {
        let start = out.len();
        let is_done = self.try_fast(envelope, payload, out).is_some();
        if is_done {
            self.context
                .metrics
                .count(transport, Opcode::Resolution, ResponseCode::Success);
        } else {
            out.truncate(start);
        }
        is_done
    }

    fn try_fast(&self, envelope: &Envelope, payload: &[u8], out: &mut Vec<u8>) -> Option<()> {
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
        // The values of `0.` handles are computed.
        if asked.handle.starts_with("0.") || asked.is_excessive() {
            return None;
        }
        let responder = self.responder();
        let written = self.context.public_values(&asked, &asked.handle, |values| {
            let (envelope, header) = responder.head(envelope, &header, ResponseCode::Success);
            let mut has_any = false;
            put_message(out, &envelope, &header, |out| {
                has_any = put_resolution(out, &asked, &values);
            });
            has_any.then_some(())
        });
        written.ok()?
    }
}

/// Appends the body of a resolution reply; `false` if there are no values.
pub(crate) fn put_resolution(
    out: &mut Vec<u8>,
    asked: &ResolutionRequest<'_>,
    values: &PublicValues<'_>,
) -> bool {
    put_bytes(out, asked.handle.as_bytes());
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0_u32;
    for (_, bytes) in values.iter() {
        out.extend_from_slice(bytes);
        count += 1;
    }
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&count.to_be_bytes());
    }
    count > 0
}
