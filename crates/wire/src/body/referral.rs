//! Referrals: another server is to be asked.

use std::borrow::Cow;

use super::{reply_handle, reply_values};
use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_list};
use crate::value::Value;

/// A referral to other servers (`handle-protocol.md` §3.12). "The client uses the values if any
/// produce sites, otherwise the handle."
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Referral<'a> {
    /// A handle that has the values, or nothing; at most 2 048 bytes.
    pub handle: Cow<'a, str>,
    /// Sites and services; at most 2 048. Without any, not even their count is written.
    pub values: Vec<Value<'a>>,
}

impl<'a> Codec<'a> for Referral<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.handle.as_bytes());
        if !self.values.is_empty() {
            put_list(out, &self.values, |out, value| value.encode(out));
        }
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            handle: reply_handle(reader)?.into(),
            values: if reader.rest().is_empty() {
                Vec::new()
            } else {
                reply_values(reader)?
            },
        })
    }
}
