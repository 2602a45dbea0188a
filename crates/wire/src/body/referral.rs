//! Referrals: another server is to be asked.

use std::borrow::Cow;

use super::limited;
use crate::codec::{Codec, DecodeError, Reader};
use crate::field::Field;
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
        self.handle.put(out);
        if !self.values.is_empty() {
            self.values.put(out);
        }
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            handle: limited(reader)?,
            values: if reader.rest().is_empty() {
                Vec::new()
            } else {
                limited(reader)?
            },
        })
    }
}
