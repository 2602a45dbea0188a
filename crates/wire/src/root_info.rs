//! Root information: the file that says where resolution begins.

use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_list};
use crate::value::Value;

/// The values of `0.NA/0.NA` as the files `root_info` and `resolver_service` hold them
/// (`handle-protocol.md` §6.13): "`u32` length of what follows, `u32` count, values".
///
/// ```
/// use handfast_wire::{Codec, RootInfo};
///
/// assert_eq!(RootInfo::default().to_bytes(), [0, 0, 0, 4, 0, 0, 0, 0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootInfo<'a> {
    /// Sites, services and keys.
    pub values: Vec<Value<'a>>,
}

impl<'a> Codec<'a> for RootInfo<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut list = Vec::new();
        put_list(&mut list, &self.values, |out, value| value.encode(out));
        put_bytes(out, &list);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut list = Reader::new(reader.bytes()?);
        let values = list.list(Value::MIN_LENGTH, Value::decode)?;
        list.finish()?;
        Ok(Self { values })
    }
}
