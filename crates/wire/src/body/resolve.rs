//! Resolution: the values of a handle.

use std::borrow::Cow;

use super::limited;
use crate::codec::{Codec, DecodeError, Reader};
use crate::field::{Field, wire_form};
use crate::value::{Value, type_matches};

/// Which values of which handle are asked for (`handle-protocol.md` §3.2).
///
/// ```
/// use handfast_wire::Value;
/// use handfast_wire::body::ResolutionRequest;
///
/// let request = ResolutionRequest {
///     indexes: vec![100],
///     types: vec!["URL.".into()],
///     ..ResolutionRequest::all("20.500.12345/abc")
/// };
/// assert!(request.selects(&Value::new(1, "url.de", b"")));
/// assert!(request.selects(&Value::new(100, "HS_ADMIN", b"")));
/// assert!(!request.selects(&Value::new(2, "EMAIL", b"")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolutionRequest<'a> {
    /// The handle.
    pub handle: Cow<'a, str>,
    /// Values of these indexes, if any; see [`selects`](Self::selects).
    pub indexes: Vec<u32>,
    /// Values of these types, if any; one that ends in a dot stands for its subtypes too.
    pub types: Vec<Cow<'a, str>>,
}

impl<'a> ResolutionRequest<'a> {
    /// As many indexes, or types, as a record has values at most (§3.2).
    pub const MAX_SELECTED: usize = 2_048;

    /// Whether more is asked for than any record has: each entry is compared with each value.
    #[must_use]
    pub fn is_excessive(&self) -> bool {
        self.indexes.len() > Self::MAX_SELECTED || self.types.len() > Self::MAX_SELECTED
    }

    /// All values of a handle.
    #[must_use]
    pub fn all(handle: impl Into<Cow<'a, str>>) -> Self {
        Self {
            handle: handle.into(),
            indexes: Vec::new(),
            types: Vec::new(),
        }
    }

    /// Whether a value is asked for. "Both lists empty → all values. Otherwise a value is selected
    /// if its index is in `indexes` or its type matches an entry of `types`."
    #[must_use]
    pub fn selects(&self, value: &Value<'_>) -> bool {
        let is_wanted = |wanted: &Cow<'_, str>| match wanted.strip_suffix('.') {
            Some(parent) => type_matches(&value.value_type, parent),
            None => value.value_type.eq_ignore_ascii_case(wanted),
        };
        self.indexes.is_empty() && self.types.is_empty()
            || self.indexes.contains(&value.index)
            || self.types.iter().any(is_wanted)
    }
}

wire_form!(ResolutionRequest<'a> { handle, indexes, types });

/// The values that were asked for (`handle-protocol.md` §3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolutionReply<'a> {
    /// The handle as it stood in the request; at most 2 048 bytes.
    pub handle: Cow<'a, str>,
    /// The values, in the order in which they are stored; at most 2 048.
    pub values: Vec<Value<'a>>,
}

impl<'a> Codec<'a> for ResolutionReply<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.handle.put(out);
        self.values.put(out);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            handle: limited(reader)?,
            values: limited(reader)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_named_selects_all_and_a_type_selects_no_subtypes() {
        let all = ResolutionRequest::all("a/b");
        let subtype = Value::new(1, "URL.de", b"");
        assert!(all.selects(&subtype));
        let typed = ResolutionRequest {
            types: vec!["url".into()],
            ..all
        };
        assert!(!typed.selects(&subtype));
        assert!(typed.selects(&Value::new(1, "URL", b"")));
    }

    #[test]
    fn more_values_than_are_allowed_are_refused() {
        let reply = |count| ResolutionReply {
            handle: "a/b".into(),
            values: vec![Value::new(1, "", b""); count],
        };
        let limit = reply(2_048).to_bytes();
        assert!(ResolutionReply::from_bytes(&limit).is_ok());
        let more = reply(2_049).to_bytes();
        let error = DecodeError::Limit {
            at: 7,
            claimed: 2_049,
            limit: 2_048,
        };
        assert_eq!(ResolutionReply::from_bytes(&more), Err(error));
    }
}
