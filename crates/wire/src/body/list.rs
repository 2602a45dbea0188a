//! Lists of handles.

use std::borrow::Cow;

use crate::field::wire_form;

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

wire_form!(ListReply<'a> { handles });
