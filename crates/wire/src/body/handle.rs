//! Bodies with one handle, and empty bodies.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader};
use crate::field::wire_form;

/// A handle: what is asked for, where that is all there is to say.
///
/// Several operations ignore it. They are sent `/`, which is the default.
///
/// ```
/// use handfast_wire::{Codec, body::HandleRequest};
///
/// assert_eq!(HandleRequest::default().to_bytes(), [0, 0, 0, 1, b'/']);
/// assert_eq!(HandleRequest::new("20.1000/x").handle, "20.1000/x");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandleRequest<'a> {
    /// A handle, or a prefix with or without `0.NA/`.
    pub handle: Cow<'a, str>,
}

impl<'a> HandleRequest<'a> {
    /// A handle.
    #[must_use]
    pub fn new(handle: impl Into<Cow<'a, str>>) -> Self {
        Self {
            handle: handle.into(),
        }
    }
}

impl Default for HandleRequest<'_> {
    fn default() -> Self {
        Self::new("/")
    }
}

wire_form!(HandleRequest<'a> { handle });

/// No body: that it was done is all there is to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Empty;

impl Codec<'_> for Empty {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}
