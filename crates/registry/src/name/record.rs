//! The record of a name, and its bytes on disk.

use handfast_id::{Handle, ParseError};
use handfast_wire::{Codec, DecodeError, Reader, Value};

use crate::access::principal::Principal;
use crate::lookup::fast_path::RecordRef;

/// The stored record of a name: its values, its state, and the data that proves them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name as it was registered.
    pub text: String,
    /// The key of its authority.
    pub authority: String,
    /// Whether the name is active, reserved or withdrawn.
    pub state: State,
    /// Increased by each change.
    pub version: u64,
    /// When it was created, in milliseconds since 1970.
    pub created: u64,
    /// When it was last changed.
    pub modified: u64,
    /// The event that first assigned it.
    pub first_event: u64,
    /// The event that made this version.
    pub last_event: u64,
    /// The random bytes of the commitments of this version.
    pub seed: [u8; 32],
    /// The random bytes that hide its key in events, if it was ever hidden.
    pub salt: Option<[u8; 32]>,
    /// The principal that administers this name alone, if it was transferred (`HDL-9`).
    pub holder: Option<Principal>,
    /// Why and when it was withdrawn.
    pub tombstone: Option<Tombstone>,
    /// Its values, sorted by index.
    pub values: Vec<Value<'static>>,
}

/// The state of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It resolves.
    Active,
    /// Not visible to the public; it cannot be assigned to anyone else.
    Reserved,
    /// No longer in use, with a tombstone; it may be restored.
    Withdrawn,
}

impl State {
    /// Reads the name of a state.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    const ALL: [Self; 3] = [Self::Active, Self::Reserved, Self::Withdrawn];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Reserved => "reserved",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// Why and when a name was withdrawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Why.
    pub reason: String,
    /// When, in milliseconds since 1970.
    pub date: u64,
    /// What to use instead.
    pub successor: Option<String>,
}

const FORMAT: u8 = 1;
/// The position of the time of the last change in the bytes of a record.
const MODIFIED: std::ops::Range<usize> = 17..25;
/// The position of the first event.
const FIRST_EVENT: std::ops::Range<usize> = 25..33;
/// The position of the last event.
const LAST_EVENT: std::ops::Range<usize> = 33..41;

impl Record {
    /// A new record before it is stored. Storing it adds versions, events and random bytes.
    pub(crate) fn new(text: String, authority: &str, state: State, created: u64) -> Self {
        Self {
            text,
            authority: authority.to_string(),
            state,
            version: 0,
            created,
            modified: created,
            first_event: 0,
            last_event: 0,
            seed: [0; 32],
            salt: None,
            holder: None,
            tombstone: None,
            values: Vec::new(),
        }
    }

    /// Why the name could not be registered here, if it was imported as it was (`HDL-8`).
    #[must_use]
    pub fn irregularity(&self) -> Option<ParseError> {
        // A name that is not a handle is registered in its canonical form.
        let is_handle = self.authority.starts_with("hdl:");
        is_handle.then(|| Handle::parse(&self.text).err()).flatten()
    }

    /// The properties beside the values; an event commits to them at index 0.
    #[must_use]
    pub fn detail(&self) -> Vec<u8> {
        let mut out = vec![self.state.code()];
        put_option(&mut out, self.tombstone.as_ref(), |out, tombstone| {
            put(out, tombstone.reason.as_bytes());
            out.extend(tombstone.date.to_be_bytes());
            put_option(out, tombstone.successor.as_ref(), |out, text| {
                put(out, text.as_bytes());
            });
        });
        put_option(&mut out, self.holder.as_ref(), |out, holder| {
            put(out, holder.to_string().as_bytes());
        });
        out
    }

    /// The bytes on disk, as drawn in `docs/format.md`.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_with(&self.values)
    }

    /// The bytes on disk with other values.
    pub(crate) fn to_bytes_with(&self, values: &[Value<'_>]) -> Vec<u8> {
        let length: usize = values.iter().map(Value::encoded_length).sum();
        let mut out = Vec::with_capacity(192 + self.text.len() + self.authority.len() + length);
        out.push(FORMAT);
        out.extend(self.version.to_be_bytes());
        out.extend(self.created.to_be_bytes());
        out.extend(self.modified.to_be_bytes());
        out.extend(self.first_event.to_be_bytes());
        out.extend(self.last_event.to_be_bytes());
        out.extend(self.seed);
        put_option(&mut out, self.salt.as_ref(), |out, salt| out.extend(salt));
        put(&mut out, self.text.as_bytes());
        put(&mut out, self.authority.as_bytes());
        out.extend(self.detail());
        put_length(&mut out, values.len());
        for value in values {
            value.encode(&mut out);
        }
        out.extend(crc32fast::hash(&out).to_be_bytes());
        out
    }

    /// The name in bytes that may be damaged, as far as it can be read, to tell which record they
    /// are.
    #[must_use]
    pub fn name_in(bytes: &[u8]) -> Option<&str> {
        Self::at_text(bytes)?.text().ok()
    }

    /// The bytes of a record from its name on.
    fn at_text(bytes: &[u8]) -> Option<Reader<'_>> {
        let mut reader = Reader::new(bytes);
        // Format, five numbers and the seed come before the salt.
        reader.take(1 + 5 * 8 + 32).ok()?;
        if reader.u8().ok()? == 1 {
            reader.take(32).ok()?;
        }
        Some(reader)
    }

    /// Borrows state and values from the bytes; `None` if they are damaged.
    pub(crate) fn borrow(bytes: &[u8]) -> Option<RecordRef<'_>> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(body) != u32::from_be_bytes(*sum) {
            return None;
        }
        let mut reader = Self::at_text(body)?;
        let text = reader.text().ok()?;
        reader.text().ok()?;
        let state = State::from_code(reader.u8().ok()?)?;
        // Tombstone and holder.
        if reader.u8().ok()? == 1 {
            reader.text().ok()?;
            reader.u64().ok()?;
            if reader.u8().ok()? == 1 {
                reader.text().ok()?;
            }
        }
        if reader.u8().ok()? == 1 {
            reader.text().ok()?;
        }
        let count = reader.u32().ok()?;
        Some(RecordRef {
            text,
            state,
            count,
            values: reader.rest(),
            has_namespace: false,
        })
    }

    /// Sets the event of a new record and its time, in bytes that were built before both were
    /// known.
    pub(crate) fn set_event(bytes: &mut [u8], number: u64, time: u64) {
        let numbers = [
            (MODIFIED, time),
            (FIRST_EVENT, number),
            (LAST_EVENT, number),
        ];
        for (at, number) in numbers {
            if let Some(at) = bytes.get_mut(at) {
                at.copy_from_slice(&number.to_be_bytes());
            }
        }
        if let Some((body, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = crc32fast::hash(body).to_be_bytes();
        }
    }

    /// The event that made the record with these bytes.
    pub(crate) fn last_event_in(bytes: &[u8]) -> Option<u64> {
        let number = bytes.get(LAST_EVENT)?.try_into().ok()?;
        Some(u64::from_be_bytes(number))
    }

    /// The event that first assigned the name whose record has these bytes.
    pub(crate) fn first_event_in(bytes: &[u8]) -> Option<u64> {
        let number = bytes.get(FIRST_EVENT)?.try_into().ok()?;
        Some(u64::from_be_bytes(number))
    }

    /// The key of the authority in the bytes of a record, without reading the rest.
    pub(crate) fn authority_in(bytes: &[u8]) -> Option<&str> {
        let mut reader = Self::at_text(bytes)?;
        reader.text().ok()?;
        reader.text().ok()
    }

    /// The key of the authority and the state in the bytes of a record, without reading the rest.
    pub(crate) fn authority_and_state_in(bytes: &[u8]) -> Option<(&str, State)> {
        let mut reader = Self::at_text(bytes)?;
        reader.text().ok()?;
        let authority = reader.text().ok()?;
        Some((authority, State::from_code(reader.u8().ok()?)?))
    }

    /// The first event, the last event and the salt in the bytes of a record that was ever hidden.
    pub(crate) fn hidden_in(bytes: &[u8]) -> Option<(u64, u64, [u8; 32])> {
        let mut reader = Reader::new(bytes);
        // The format, the version and two times.
        reader.take(1 + 3 * 8).ok()?;
        let (first, last) = (reader.u64().ok()?, reader.u64().ok()?);
        // The seed.
        reader.take(32).ok()?;
        let is_hidden = reader.u8().ok()? == 1;
        is_hidden.then_some((first, last, reader.array().ok()?))
    }

    /// When the record with these bytes was last changed.
    pub(crate) fn modified_in(bytes: &[u8]) -> Option<u64> {
        let time = bytes.get(MODIFIED)?.try_into().ok()?;
        Some(u64::from_be_bytes(time))
    }

    /// The principal to which the name of a stored record was transferred. It reads no further
    /// than that, and does not detect damage: for looking through many records.
    pub(crate) fn holder_in(bytes: &[u8]) -> Option<Principal> {
        let reader = &mut Reader::new(bytes);
        let mut find = || -> Result<Option<String>, DecodeError> {
            reader.u8()?;
            for _ in 0..5 {
                reader.u64()?;
            }
            let _seed: [u8; 32] = reader.array()?;
            let _salt: Option<[u8; 32]> = option(reader, Reader::array)?;
            reader.text()?;
            reader.text()?;
            reader.u8()?;
            option(reader, |reader| {
                reader.text()?;
                reader.u64()?;
                option(reader, |reader| reader.text().map(|_| ()))
            })?;
            option(reader, |reader| Ok(reader.text()?.to_string()))
        };
        let found = find().ok().flatten()?;
        Principal::parse(&found).ok()
    }

    /// Reads a record from its bytes, and detects damage.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let (body, sum) = bytes.split_last_chunk().ok_or(RecordError::Damaged)?;
        if crc32fast::hash(body) != u32::from_be_bytes(*sum) {
            return Err(RecordError::Damaged);
        }
        let reader = &mut Reader::new(body);
        if reader.u8()? != FORMAT {
            return Err(RecordError::Damaged);
        }
        let record = Self {
            version: reader.u64()?,
            created: reader.u64()?,
            modified: reader.u64()?,
            first_event: reader.u64()?,
            last_event: reader.u64()?,
            seed: reader.array()?,
            salt: option(reader, Reader::array)?,
            text: reader.text()?.to_string(),
            authority: reader.text()?.to_string(),
            state: State::from_code(reader.u8()?).ok_or(RecordError::Damaged)?,
            tombstone: option(reader, |reader| {
                Ok(Tombstone {
                    reason: reader.text()?.to_string(),
                    date: reader.u64()?,
                    successor: option(reader, |reader| Ok(reader.text()?.to_string()))?,
                })
            })?,
            holder: option(reader, |reader| Ok(reader.text()?.to_string()))?
                .map(|text| Principal::parse(&text).map_err(|_| RecordError::Damaged))
                .transpose()?,
            values: reader.list(Value::MIN_LENGTH, |reader| {
                Ok(Value::decode(reader)?.into_owned())
            })?,
        };
        reader.finish()?;
        Ok(record)
    }
}

impl State {
    fn code(self) -> u8 {
        match self {
            Self::Active => 1,
            Self::Reserved => 2,
            Self::Withdrawn => 3,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.code() == code)
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend(bytes);
}

/// Records are far smaller than four bytes can count.
fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}

fn put_option<T>(out: &mut Vec<u8>, item: Option<&T>, put: impl FnOnce(&mut Vec<u8>, &T)) {
    out.push(u8::from(item.is_some()));
    if let Some(item) = item {
        put(out, item);
    }
}

fn option<'a, T>(
    reader: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    if reader.u8()? == 0 {
        Ok(None)
    } else {
        read(reader).map(Some)
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The checksum does not match.
    #[error("the bytes are not those that were written")]
    Damaged,
    /// The fields are inconsistent.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            text: "20.1000/Ä".into(),
            authority: "hdl:20.1000".into(),
            state: State::Withdrawn,
            version: 3,
            created: 1,
            modified: 2,
            first_event: 4,
            last_event: 5,
            seed: [6; 32],
            salt: Some([7; 32]),
            holder: Some(Principal::parse("300:20.1000/ann").unwrap()),
            tombstone: Some(Tombstone {
                reason: "wrong".into(),
                date: 8,
                successor: Some("20.1000/b".into()),
            }),
            values: vec![Value::new(1, "URL", b"https://example.org").into_owned()],
        }
    }

    #[test]
    fn a_record_comes_back() {
        for record in [
            record(),
            Record {
                salt: None,
                holder: None,
                tombstone: None,
                values: vec![],
                ..record()
            },
        ] {
            assert_eq!(Record::name_in(&record.to_bytes()), Some("20.1000/Ä"));
            assert_eq!(Record::holder_in(&record.to_bytes()), record.holder);
            let hidden = record.salt.map(|salt| (4, 5, salt));
            assert_eq!(Record::hidden_in(&record.to_bytes()), hidden);
            let bytes = record.to_bytes();
            let borrowed = Record::borrow(&bytes).unwrap();
            assert_eq!(borrowed.state, record.state);
            let values: Vec<_> = borrowed
                .iter()
                .map(|(value, _)| value.into_owned())
                .collect();
            assert_eq!(values, record.values);
            assert_eq!(Record::from_bytes(&bytes), Ok(record));
        }
    }

    #[test]
    fn the_event_of_a_new_record_is_set_in_its_bytes() {
        let mut bytes = record().to_bytes();
        Record::set_event(&mut bytes, 77, 1_234);
        assert_eq!(Record::last_event_in(&bytes), Some(77));
        let expected = Record {
            first_event: 77,
            last_event: 77,
            modified: 1_234,
            ..record()
        };
        assert_eq!(Record::from_bytes(&bytes), Ok(expected));
    }

    #[test]
    fn a_flipped_bit_anywhere_is_noticed() {
        let bytes = record().to_bytes();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(Record::from_bytes(&damaged).is_err(), "byte {at}");
        }
        assert!(Record::from_bytes(&[]).is_err());
    }
}
