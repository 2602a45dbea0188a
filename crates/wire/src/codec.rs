//! Reading and writing the primitive encodings (`handle-protocol.md` §0). All integers are
//! big-endian.

/// Something that has a wire form. `encode` and `decode` list the same fields in the same order.
///
/// ```
/// use handfast_wire::{Codec, Reference};
///
/// let reference = Reference::new("20.1000/x", 300);
/// assert_eq!(Reference::from_bytes(&reference.to_bytes())?, reference);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
pub trait Codec<'a>: Sized {
    /// Appends the wire form.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads the wire form from where the reader stands.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// The wire form alone.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }

    /// Reads a wire form that fills `bytes` exactly.
    fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let read = Self::decode(&mut reader)?;
        reader.finish()?;
        Ok(read)
    }
}

/// The longest length or count that is believed, whatever follows it.
const MAX_LENGTH: usize = 1_048_576;

/// Reads primitives off the front of a buffer.
///
/// ```
/// use handfast_wire::Reader;
///
/// let mut reader = Reader::new(&[0, 0, 0, 2, b'h', b'i', 7]);
/// assert_eq!(reader.bytes()?, b"hi");
/// assert_eq!(reader.u8()?, 7);
/// reader.finish()?;
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            length: bytes.len(),
        }
    }

    /// How many bytes have been read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.length - self.rest.len()
    }

    /// The unread bytes.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    /// As many bytes as the array has.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let Some((head, rest)) = self.rest.split_first_chunk() else {
            return Err(self.truncated());
        };
        self.rest = rest;
        Ok(*head)
    }

    /// `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let Some((head, rest)) = self.rest.split_at_checked(count) else {
            return Err(self.truncated());
        };
        self.rest = rest;
        Ok(head)
    }

    /// A length of four bytes, and that many bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.length(1)?;
        self.take(length)
    }

    /// A length of four bytes, and that many bytes of UTF-8.
    pub fn text(&mut self) -> Result<&'a str, DecodeError> {
        let at = self.offset();
        std::str::from_utf8(self.bytes()?).map_err(|_| DecodeError::NotUtf8 { at })
    }

    /// A length or count of four bytes, believed only if that many items of at least `smallest`
    /// bytes can follow.
    pub fn length(&mut self, smallest: usize) -> Result<usize, DecodeError> {
        let at = self.offset();
        let claimed = self.u32()?;
        let count = usize::try_from(claimed).unwrap_or(usize::MAX);
        let fits = count <= MAX_LENGTH && count.saturating_mul(smallest) <= self.rest.len();
        if fits {
            Ok(count)
        } else {
            Err(DecodeError::Length { at, claimed })
        }
    }

    /// A count of four bytes, and that many items of at least `smallest` bytes each.
    pub fn list<T>(
        &mut self,
        smallest: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = self.length(smallest)?;
        (0..count).map(|_| item(self)).collect()
    }

    /// A length or count of four bytes that is at most `most`, not read past.
    pub(crate) fn check_limit(&self, limit: u32) -> Result<(), DecodeError> {
        let claimed = self.clone().u32()?;
        if claimed <= limit {
            Ok(())
        } else {
            Err(DecodeError::Limit {
                at: self.offset(),
                claimed,
                limit,
            })
        }
    }

    /// Nothing may be left.
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::Trailing {
                at: self.offset(),
                count: self.rest.len(),
            })
        }
    }

    fn truncated(&self) -> DecodeError {
        DecodeError::Truncated { at: self.length }
    }
}

/// Appends a length of four bytes and the bytes.
///
/// Encoded data has been decoded, or checked against the limits of a record, before: it is far
/// shorter than four bytes can count.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

pub(crate) fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}

/// Appends a number of four bytes.
pub(crate) fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}

/// Why bytes are not the wire form of something.
///
/// ```
/// use handfast_wire::{Codec, DecodeError, Value};
///
/// assert_eq!(Value::from_bytes(&[0; 3]), Err(DecodeError::Truncated { at: 3 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A code that says how to read on, and is not known.
    #[error("the code at byte {at}, {found}, is not known")]
    Code {
        /// Where it stands.
        at: usize,
        /// The claimed length.
        found: u32,
    },
    /// The data after the envelope is encrypted.
    #[error("the message is encrypted")]
    Encrypted,
    /// A length or count that is larger than what follows.
    #[error("the length at byte {at} says {claimed}, which is more than follows")]
    Length {
        /// Where it stands.
        at: usize,
        /// The claimed length.
        claimed: u32,
    },
    /// A length or count beyond what the protocol allows.
    #[error("the length at byte {at} says {claimed}; it may say {limit} at most")]
    Limit {
        /// Where it stands.
        at: usize,
        /// The claimed length.
        claimed: u32,
        /// The most it may say.
        limit: u32,
    },
    /// Text that is not UTF-8.
    #[error("the text at byte {at} is not UTF-8")]
    NotUtf8 {
        /// Where its length stands.
        at: usize,
    },
    /// Bytes behind the end.
    #[error("{count} bytes too many, from byte {at} on")]
    Trailing {
        /// Where they begin.
        at: usize,
        /// How many there are.
        count: usize,
    },
    /// The end came too soon.
    #[error("the bytes end too soon, at {at}")]
    Truncated {
        /// Where it is.
        at: usize,
    },
    /// A type that is not known here.
    #[error("the type at byte {at} is not known")]
    UnknownType {
        /// Where it stands.
        at: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_believed_that_cannot_follow() {
        let mut reader = Reader::new(&[0xFF, 0xFF, 0xFF, 0xFF, 1, 2]);
        assert_eq!(
            reader.bytes(),
            Err(DecodeError::Length {
                at: 0,
                claimed: u32::MAX
            })
        );
        let mut reader = Reader::new(&[0, 0, 0, 2, 1, 2, 3]);
        assert!(reader.list(8, Reader::u64).is_err());
    }

    #[test]
    fn offsets_are_those_of_the_whole_buffer() {
        let mut reader = Reader::new(&[1, 0, 0, 0, 1, 0xFF, 9]);
        reader.u8().unwrap();
        assert_eq!(reader.clone().text(), Err(DecodeError::NotUtf8 { at: 1 }));
        reader.bytes().unwrap();
        assert_eq!(
            reader.finish(),
            Err(DecodeError::Trailing { at: 6, count: 1 })
        );
    }
}
