//! The index of values: it finds the names that have a value.
//!
//! A change updates the index in its own transaction. An import postpones it, marks the first event
//! that is not indexed, and builds the index at its end from the stored records, in the order of
//! the keys. The mark stays until that is done, so that the next start finishes the work of an
//! interrupted import.

use handfast_store::{Loading, Sorter, Table, TableKey, Write};
use handfast_wire::Value;

use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::Record;
use crate::registry::{PendingLoad, Registry};

/// The index key of a value: its type in uppercase, a NUL, and its data.
pub(crate) fn reverse_value(value: &Value<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(value.value_type.len() + 1 + value.data.len());
    put_reverse_value(&mut key, value);
    key
}

/// Appends the index key of a value.
fn put_reverse_value(out: &mut Vec<u8>, value: &Value<'_>) {
    out.extend(
        value
            .value_type
            .bytes()
            .map(|byte| byte.to_ascii_uppercase()),
    );
    out.push(0);
    out.extend_from_slice(&value.data);
}

/// The key of the mark: the first event whose name may not be indexed yet.
fn mark() -> TableKey<'static> {
    TableKey::named(Table::Meta, b"reverse-from")
}

/// The number of index entries in one transaction.
const ENTRIES_PER_TRANSACTION: usize = 200_000;

/// Marks the names of events from a number on as not indexed.
pub(crate) fn leave_for_later(loading: &mut Loading<'_>, event: u64) -> Result<(), RegistryError> {
    if loading.snapshot().get(&mark(), |_| ())?.is_none() {
        loading.put(&mark(), &event.to_be_bytes())?;
    }
    Ok(())
}

/// The first event whose name may not be indexed yet.
pub(crate) fn left_for_later(view: &View<'_>) -> Result<Option<u64>, RegistryError> {
    let read = |bytes: &[u8]| bytes.try_into().map(u64::from_be_bytes).ok();
    Ok(view.now.get(&mark(), read)?.flatten())
}

/// Values and the names that have them, in input order.
#[derive(Default)]
pub(crate) struct IndexEntries {
    bytes: Vec<u8>,
    /// The ends of each value and of its name in `bytes`.
    ends: Vec<(usize, usize)>,
    /// The number of names.
    names: u64,
}

impl IndexEntries {
    /// Reserves memory for the values of so many bytes of input.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(bytes / 100),
            names: 0,
        }
    }

    /// Adds the public values of a name.
    pub(crate) fn add(&mut self, key: &str, values: &[Value<'_>]) {
        self.names += 1;
        for value in values.iter().filter(|value| value.is_public()) {
            put_reverse_value(&mut self.bytes, value);
            let middle = self.bytes.len();
            self.bytes.extend_from_slice(key.as_bytes());
            self.ends.push((middle, self.bytes.len()));
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(middle, end)| {
            let value = self.bytes.get(start..*middle).unwrap_or_default();
            let key = self.bytes.get(*middle..*end).unwrap_or_default();
            start = *end;
            (value, key)
        })
    }
}

/// Builds the index from values and names.
pub(crate) struct IndexBuilder {
    sorter: Sorter,
    names: u64,
    /// How many of the names were created, each by one event.
    given: u64,
    /// The number of events, if only these names have added any.
    events: Option<u64>,
    is_exact: bool,
}

impl IndexBuilder {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self {
            sorter: Sorter::new(registry.folder()),
            names: 0,
            given: 0,
            events: None,
            is_exact: true,
        }
    }

    /// Records that some of the names were created, between two counts of all events. While no
    /// other change happens, all names have the values that they were prepared with. Otherwise each
    /// is checked again.
    pub(crate) fn were_given(&mut self, given: u64, before: u64, after: u64) {
        let follows = self.events.is_none_or(|events| events == before);
        self.is_exact &= follows && after - before == given;
        self.events = Some(after);
        self.given += given;
    }

    pub(crate) fn add(&mut self, blocks: &[IndexEntries]) -> Result<(), RegistryError> {
        for block in blocks {
            self.names += block.names;
            for (value, key) in block.iter() {
                self.sorter.push(value, 0, key)?;
            }
        }
        Ok(())
    }

    /// Writes all entries into the index and removes the mark. It skips values that a name no
    /// longer has.
    pub(crate) fn finish(self, registry: &Registry) -> Result<(), RegistryError> {
        let is_exact = self.is_exact && self.given == self.names;
        let seen = self.events.filter(|_| is_exact);
        let mut merge = self.sorter.merge()?;
        let mut chunk = IndexEntries::default();
        let mut before: Option<PendingLoad<()>> = None;
        while let Some(entry) = merge.next()? {
            chunk.bytes.extend_from_slice(entry.key);
            let middle = chunk.bytes.len();
            chunk.bytes.extend_from_slice(entry.payload);
            chunk.ends.push((middle, chunk.bytes.len()));
            if chunk.ends.len() == ENTRIES_PER_TRANSACTION {
                let full = std::mem::take(&mut chunk);
                if let Some(before) = before.take() {
                    PendingLoad::wait(before)?;
                }
                before =
                    Some(registry.begin_load(move |loading| insert_entries(loading, &full, seen)));
            }
        }
        if let Some(before) = before {
            before.wait()?;
        }
        registry.load(move |loading| {
            insert_entries(loading, &chunk, seen)?;
            Ok(loading.apply(&Write::Delete(mark()))?)
        })
    }
}

impl Registry {
    /// Finishes the index of an interrupted import.
    pub(crate) fn finish_reverse(&self) -> Result<(), RegistryError> {
        let mut index = IndexBuilder::new(self);
        let is_left = self.read(|view| {
            let Some(from) = left_for_later(view)? else {
                return Ok(false);
            };
            view.scan_names(&TableKey::record(b""), |table_key, bytes| {
                index.gather(table_key, bytes, from)
            })?;
            Ok(true)
        })?;
        if is_left { index.finish(self) } else { Ok(()) }
    }
}

impl IndexBuilder {
    fn gather(
        &mut self,
        table_key: &TableKey<'_>,
        bytes: &[u8],
        from: u64,
    ) -> Result<(), RegistryError> {
        if Record::last_event_in(bytes) < Some(from) {
            return Ok(());
        }
        let key = String::from_utf8_lossy(table_key.name());
        let corrupt = |_| RegistryError::corrupt(format!("the record of {key}"));
        let record = Record::from_bytes(bytes).map_err(corrupt)?;
        let mut values = IndexEntries::default();
        values.add(&key, &record.values);
        self.add(&[values])
    }
}

/// If other events were added since, a name may have been rejected or changed: then each entry is
/// compared with the stored record.
fn insert_entries(
    loading: &mut Loading<'_>,
    entries: &IndexEntries,
    seen: Option<u64>,
) -> Result<(), RegistryError> {
    let is_as_seen = Some(crate::log::tree::read(&loading.snapshot())?.size()) == seen;
    for (value, key) in entries.iter() {
        if is_as_seen || still_has_value(loading, value, key)? {
            loading.index_insert(value, key)?;
        }
    }
    Ok(())
}

fn still_has_value(loading: &Loading<'_>, value: &[u8], key: &[u8]) -> Result<bool, RegistryError> {
    let record = loading
        .snapshot()
        .get(&TableKey::record(key), Record::from_bytes)?;
    Ok(record.and_then(Result::ok).is_some_and(|record| {
        let mut values = record.values.iter();
        values.any(|index| index.is_public() && reverse_value(index) == value)
    }))
}
