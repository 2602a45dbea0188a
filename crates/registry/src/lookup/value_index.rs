//! The index of values: which names hold a value.
//!
//! A change keeps it as it goes. An import leaves it for later, marks from which event on, and builds it
//! at its end from what is kept then, in the order of its keys; the mark stays until that is done, so that
//! one that was cut short is finished by the next.

use std::ops::ControlFlow;

use handfast_store::{Loading, Sorter, Table, TableKey, Write};
use handfast_wire::Value;

use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::Record;
use crate::registry::{PendingLoad, Registry};

/// What the index finds a value by: its type in uppercase, a NUL, and its data.
pub(crate) fn reverse_value(value: &Value<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(value.value_type.len() + 1 + value.data.len());
    put_reverse_value(&mut key, value);
    key
}

/// The same, behind what is there.
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

/// Where the first event is kept whose name may not be in the index yet.
fn mark() -> TableKey<'static> {
    TableKey::named(Table::Meta, b"reverse-from")
}

/// How many entries share a transaction.
const ENTRIES_PER_TRANSACTION: usize = 200_000;

/// Says that the names of events from a number on are not in the index.
pub(crate) fn leave_for_later(loading: &mut Loading<'_>, event: u64) -> Result<(), RegistryError> {
    if loading.snapshot().get(&mark(), |_| ())?.is_none() {
        loading.put(&mark(), &event.to_be_bytes())?;
    }
    Ok(())
}

/// From which event on names may not be in the index.
pub(crate) fn left_for_later(view: &View<'_>) -> Result<Option<u64>, RegistryError> {
    let read = |bytes: &[u8]| bytes.try_into().map(u64::from_be_bytes).ok();
    Ok(view.now.get(&mark(), read)?.flatten())
}

/// Values and the names that hold them, in the order they come.
#[derive(Default)]
pub(crate) struct IndexEntries {
    bytes: Vec<u8>,
    /// Where each value, and then its name, ends.
    ends: Vec<(usize, usize)>,
    /// How many names there are.
    names: u64,
}

impl IndexEntries {
    /// With room for the values of so many bytes of lines.
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

/// Values and the names that hold them, on their way into the index.
pub(crate) struct IndexBuilder {
    sorter: Sorter,
    names: u64,
    /// How many of the names were given, each by one event.
    given: u64,
    /// How many events there are now, if none but those of these names have come.
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

    /// Says that some of the names were given, between two counts of all events. While nothing else
    /// happens, all names hold what they were prepared with; otherwise each is looked at again.
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

    /// Puts all of them into the index, and takes the mark away. Values that a name does not hold by now
    /// are left out.
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
    /// Puts names into the index that an import which was cut short has left for later.
    pub(crate) fn finish_reverse(&self) -> Result<(), RegistryError> {
        let mut index = IndexBuilder::new(self);
        let is_left = self.read(|view| {
            let Some(from) = left_for_later(view)? else {
                return Ok(false);
            };
            let mut outcome = Ok(());
            view.now
                .scan(&TableKey::record(b""), &mut |table_key, bytes| {
                    outcome = index.gather(table_key, bytes, from);
                    match outcome {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    }
                })?;
            outcome.map(|()| true)
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
        let corrupt = |_| RegistryError::Corrupt {
            what: format!("the record of {key}"),
        };
        let record = Record::from_bytes(bytes).map_err(corrupt)?;
        let mut values = IndexEntries::default();
        values.add(&key, &record.values);
        self.add(&[values])
    }
}

/// Unless there are just the events that were seen, what was gathered may have been refused, or have
/// changed since: then it is compared with what is kept.
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
