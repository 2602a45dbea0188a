//! Creation: the created handle.

use std::borrow::Cow;

use super::limited;
use crate::codec::{Codec, DecodeError, Reader, put_bytes};

/// The handle that was created, as requested or as minted (`handle-protocol.md` §3.3). "Older
/// servers send an empty body."
///
/// ```
/// use handfast_wire::{Codec, body::CreateReply};
///
/// assert_eq!(CreateReply::from_bytes(&[])?.handle, None);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateReply<'a> {
    /// The handle, unless the server is an old one; at most 2 048 bytes.
    pub handle: Option<Cow<'a, str>>,
}

impl<'a> Codec<'a> for CreateReply<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        if let Some(handle) = &self.handle {
            put_bytes(out, handle.as_bytes());
        }
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let is_told = !reader.rest().is_empty();
        let handle = is_told.then(|| limited(reader)).transpose()?;
        Ok(Self { handle })
    }
}
