//! Fields: types whose wire form is that of their fields, one behind the other.
//!
//! A list of fields in [`wire_form`] is both `encode` and `decode`, so the two cannot differ.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_length, put_u32};
use crate::header::OpFlags;
use crate::opcode::{Opcode, ResponseCode};
use crate::permissions::Permissions;
use crate::reference::Reference;
use crate::value::{Ttl, Value};

/// A type that fields have.
pub(crate) trait Field<'a>: Sized {
    /// How many bytes its wire form has at least.
    const MIN: usize;

    /// Appends the wire form.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads the wire form from where the reader stands.
    fn get(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;
}

/// The wire form of a type, by the names of its fields; after `field` and its shortest length, of a
/// type that only stands in others.
macro_rules! wire_form {
    ($name:ident<'a> { $($field:tt),* }) => {
        impl<'a> crate::codec::Codec<'a> for $name<'a> {
            wire_form!(@functions encode decode 'a $($field)*);
        }
    };
    ($name:ident { $($field:tt),* }) => {
        impl crate::codec::Codec<'_> for $name {
            wire_form!(@functions encode decode '_ $($field)*);
        }
    };
    (field $min:literal $name:ident { $($field:tt),* }) => {
        impl crate::field::Field<'_> for $name {
            const MIN: usize = $min;

            wire_form!(@functions put get '_ $($field)*);
        }
    };
    (@functions $put:ident $get:ident $life:lifetime $($field:tt)*) => {
        fn $put(&self, out: &mut Vec<u8>) {
            $(crate::field::Field::put(&self.$field, out);)*
        }

        fn $get(
            reader: &mut crate::codec::Reader<$life>,
        ) -> Result<Self, crate::codec::DecodeError> {
            Ok(Self {
                $($field: crate::field::Field::get(reader)?),*
            })
        }
    };
}
pub(crate) use wire_form;

/// Types of fields: the shortest length, how one is written, and how it is read.
macro_rules! fields {
    ($($type:ty: $min:expr, |$it:ident, $out:ident| $put:expr, |$reader:ident| $get:expr;)*) => {$(
        impl<'a> Field<'a> for $type {
            const MIN: usize = $min;

            fn put(&self, $out: &mut Vec<u8>) {
                let $it = self;
                $put;
            }

            fn get($reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                $get
            }
        }
    )*};
}

fields! {
    u8: 1, |it, out| out.push(*it), |reader| reader.u8();
    u16: 2, |it, out| out.extend_from_slice(&it.to_be_bytes()), |reader| reader.u16();
    u32: 4, |it, out| put_u32(out, *it), |reader| reader.u32();
    i64: 8, |it, out| out.extend_from_slice(&it.to_be_bytes()),
        |reader| reader.array().map(Self::from_be_bytes);
    bool: 1, |it, out| out.push((*it).into()), |reader| Ok(reader.u8()? & 1 != 0);
    [u8; 16]: 16, |it, out| out.extend_from_slice(it), |reader| reader.array();
    Cow<'a, [u8]>: 4, |it, out| put_bytes(out, it), |reader| reader.bytes().map(Cow::Borrowed);
    Cow<'a, str>: 4, |it, out| put_bytes(out, it.as_bytes()),
        |reader| reader.text().map(Cow::Borrowed);
    String: 4, |it, out| put_bytes(out, it.as_bytes()), |reader| reader.text().map(Into::into);
    Opcode: 4, |it, out| put_u32(out, it.number()), |reader| reader.u32().map(Self::from_number);
    ResponseCode: 4, |it, out| put_u32(out, it.number()),
        |reader| reader.u32().map(Self::from_number);
    OpFlags: 4, |it, out| put_u32(out, it.bits()), |reader| reader.u32().map(Self::from_bits);
    Permissions: 1, |it, out| out.push(it.bits()), |reader| reader.u8().map(Self::from_bits);
    Reference<'a>: 8, |it, out| it.encode(out), |reader| Self::decode(reader);
    Value<'a>: Self::MIN_LENGTH, |it, out| it.encode(out), |reader| Self::decode(reader);
}

/// A type of one byte and a time of four. Types that are not known count as relative.
impl Field<'_> for Ttl {
    const MIN: usize = 5;

    fn put(&self, out: &mut Vec<u8>) {
        let (ttl_type, ttl) = match self {
            Self::Relative(seconds) => (0, seconds),
            Self::Absolute(time) => (1, time),
        };
        out.push(ttl_type);
        put_u32(out, *ttl);
    }

    fn get(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match (reader.u8()?, reader.u32()?) {
            (1, time) => Self::Absolute(time),
            (_, seconds) => Self::Relative(seconds),
        })
    }
}

impl<'a, A: Field<'a>, B: Field<'a>> Field<'a> for (A, B) {
    const MIN: usize = A::MIN + B::MIN;

    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Ok((A::get(reader)?, B::get(reader)?))
    }
}

/// A count of four bytes and the items.
impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    const MIN: usize = 4;

    fn put(&self, out: &mut Vec<u8>) {
        put_length(out, self.len());
        for item in self {
            item.put(out);
        }
    }

    fn get(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.list(T::MIN, T::get)
    }
}
