//! Errors.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader};
use crate::field::Field;

/// An error message (`handle-protocol.md` §3.13).
///
/// The message is always written, for clients "read it unconditionally"; it may be missing in what
/// old servers send.
///
/// ```
/// use handfast_wire::{Codec, body::ErrorReply};
///
/// assert_eq!(ErrorReply::default().to_bytes(), [0; 4]);
/// assert_eq!(ErrorReply::from_bytes(&[])?, ErrorReply::default());
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorReply<'a> {
    /// For people; may be empty.
    pub message: Cow<'a, str>,
    /// The indexes that are at fault. Deployed software neither sends nor reads them; without any,
    /// not even their count is written.
    pub indexes: Vec<u32>,
}

impl<'a> ErrorReply<'a> {
    /// An error with a message.
    #[must_use]
    pub fn new(message: impl Into<Cow<'a, str>>) -> Self {
        Self {
            message: message.into(),
            indexes: Vec::new(),
        }
    }
}

impl<'a> Codec<'a> for ErrorReply<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.message.put(out);
        if !self.indexes.is_empty() {
            self.indexes.put(out);
        }
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        if reader.rest().is_empty() {
            return Ok(Self::default());
        }
        let message = reader.text()?.into();
        // The message is what counts: something else that follows it is no reason to lose it.
        let mut ahead = reader.clone();
        let indexes = ahead.list(4, Reader::u32).unwrap_or_default();
        if !indexes.is_empty() {
            *reader = ahead;
        }
        Ok(Self { message, indexes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_does_not_hide_the_message() {
        let mut reader = Reader::new(&[0, 0, 0, 1, b'x', 9, 9]);
        let error = ErrorReply::decode(&mut reader);
        assert_eq!(error, Ok(ErrorReply::new("x")));
        assert_eq!(reader.rest(), [9, 9]);
    }
}
