//! Values to be created, added, changed or removed.

use std::borrow::Cow;

use crate::field::wire_form;
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

wire_form!(ValuesRequest<'a> { handle, values });

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

wire_form!(RemoveRequest<'a> { handle, indexes });
