//! References from one value to another.

use std::borrow::Cow;
use std::fmt;

use crate::field::wire_form;

/// A reference to a value: a handle and an index (`handle-protocol.md` §0, `ref`).
///
/// ```
/// use handfast_wire::Reference;
///
/// assert_eq!(Reference::new("0.NA/20.1000", 300).to_string(), "300:0.NA/20.1000");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference<'a> {
    /// The handle.
    pub handle: Cow<'a, str>,
    /// The index of the value; 0 stands for any.
    pub index: u32,
}

impl<'a> Reference<'a> {
    /// A reference to a value.
    #[must_use]
    pub fn new(handle: impl Into<Cow<'a, str>>, index: u32) -> Self {
        Self {
            handle: handle.into(),
            index,
        }
    }

    /// The same reference, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Reference<'static> {
        Reference {
            handle: Cow::Owned(self.handle.into_owned()),
            index: self.index,
        }
    }
}

wire_form!(Reference<'a> { handle, index });

impl fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.index, self.handle)
    }
}

/// The data of an `HS_VLIST` value: a group of administrators (`handle-protocol.md` §6.2).
///
/// ```
/// use handfast_wire::{Codec, Reference, ValueList};
///
/// let group = ValueList(vec![Reference::new("20.1000/ann", 300)]);
/// assert_eq!(ValueList::from_bytes(&group.to_bytes())?, group);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueList<'a>(pub Vec<Reference<'a>>);

wire_form!(ValueList<'a> { 0 });
