//! Values to be created, added, changed or removed.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_list, put_u32};
use crate::value::Value;

/// Values for a handle: to create it with, to add to it, or to put in place of those of the same
/// index (`handle-protocol.md` §3.3, §3.4).
///
/// ```
/// use handfast_wire::{Codec, Value, body::ValuesRequest};
///
/// let values = vec![Value::new(1, "URL", b"https://example.org/")];
/// let request = ValuesRequest { handle: "20.1000/x".into(), values };
/// assert_eq!(ValuesRequest::from_bytes(&request.to_bytes())?, request);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuesRequest<'a> {
    /// The handle, or its initial portion where the rest is to be minted.
    pub handle: Cow<'a, str>,
    /// The values. Their timestamps are ignored.
    pub values: Vec<Value<'a>>,
}

impl<'a> Codec<'a> for ValuesRequest<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.handle.as_bytes());
        put_list(out, &self.values, |out, value| value.encode(out));
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            handle: reader.text()?.into(),
            values: reader.list(Value::MIN_LENGTH, Value::decode)?,
        })
    }
}

/// Values to be removed from a handle (`handle-protocol.md` §3.4).
///
/// ```
/// use handfast_wire::{Codec, body::RemoveRequest};
///
/// let request = RemoveRequest { handle: "20.1000/x".into(), indexes: vec![1, 2] };
/// assert_eq!(RemoveRequest::from_bytes(&request.to_bytes())?, request);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveRequest<'a> {
    /// The handle.
    pub handle: Cow<'a, str>,
    /// The indexes of the values.
    pub indexes: Vec<u32>,
}

impl<'a> Codec<'a> for RemoveRequest<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.handle.as_bytes());
        put_list(out, &self.indexes, |out, index| put_u32(out, *index));
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            handle: reader.text()?.into(),
            indexes: reader.list(4, Reader::u32)?,
        })
    }
}
