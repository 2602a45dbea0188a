//! Lists of handles.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_list};

/// Handles under a prefix, or prefixes (`handle-protocol.md` §3.9). Every message of a list but the
/// last has the flag CN.
///
/// ```
/// use handfast_wire::{Codec, body::ListReply};
///
/// assert_eq!(ListReply::default().to_bytes(), [0; 4]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListReply<'a> {
    /// The handles.
    pub handles: Vec<Cow<'a, str>>,
}

impl ListReply<'_> {
    /// How many handles a message has at most.
    pub const PER_MESSAGE: usize = 50;
}

impl<'a> Codec<'a> for ListReply<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_list(out, &self.handles, |out, handle| {
            put_bytes(out, handle.as_bytes());
        });
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let handles = reader.list(4, |reader| reader.text().map(Cow::Borrowed))?;
        Ok(Self { handles })
    }
}
