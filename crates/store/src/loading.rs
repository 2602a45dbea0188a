//! Writing many entries at once.

use heed::PutFlags;

use crate::embedded::{Snapshot, Writing};
use crate::error::StoreError;
use crate::place::{self, Place, Table};
use crate::writer::Write;

/// A transaction that writes many entries, best in the order of their keys: behind the last one they are
/// appended, which is fastest and leaves no room unused.
pub struct Loading<'e> {
    writing: Writing<'e>,
    /// The last key of each table that was written to.
    last: [Option<Vec<u8>>; Table::ALL.len()],
    /// The last name that was held by a value which nothing held before.
    last_holder: Option<Vec<u8>>,
    /// Which places the caller wants to hear of.
    watch: Option<fn(&Place<'_>) -> bool>,
    /// Whether one of them was written.
    is_watched_written: bool,
}

impl<'e> Loading<'e> {
    pub(crate) fn new(writing: Writing<'e>) -> Self {
        Self {
            writing,
            last: Default::default(),
            last_holder: None,
            watch: None,
            is_watched_written: false,
        }
    }

    /// Has the load notice writes to certain places. A caller that caches what stands there asks
    /// [`is_watched_written`](Self::is_watched_written) at the end, and keeps its cache if not.
    pub fn watch(&mut self, places: fn(&Place<'_>) -> bool) {
        self.watch = Some(places);
    }

    /// Whether a place that is watched was written, or deleted.
    #[must_use]
    pub fn is_watched_written(&self) -> bool {
        self.is_watched_written
    }

    fn notice(&mut self, place: &Place<'_>) {
        if !self.is_watched_written {
            self.is_watched_written = self.watch.is_some_and(|watch| watch(place));
        }
    }

    /// The state that the writes so far leave.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<'_> {
        self.writing.snapshot()
    }

    /// Whether a place is behind all that its table holds.
    pub fn is_behind(&mut self, place: &Place<'_>) -> Result<bool, StoreError> {
        let key = place.key();
        let engine = self.writing.engine;
        let last = self.last(place.table());
        let last = last.map_err(|error| engine.noted(error))?;
        Ok(last.is_none_or(|last| last < &*key))
    }

    /// Keeps bytes at a place, instead of what was there.
    pub fn put(&mut self, place: &Place<'_>, value: &[u8]) -> Result<(), StoreError> {
        let outcome = self.put_checked(place, value);
        outcome.map_err(|error| self.writing.engine.noted(error))
    }

    fn put_checked(&mut self, place: &Place<'_>, value: &[u8]) -> Result<(), StoreError> {
        self.notice(place);
        let (table, key) = (place.table(), place.key());
        let is_behind = self.last(table)?.is_none_or(|last| last < &*key);
        if place.has_name_in_value() {
            self.writing.check_same_name(place)?;
        }
        let value = place.wrap(value);
        let database = self.writing.engine.table(table);
        let txn = &mut self.writing.txn;
        if is_behind {
            database.put_with_flags(txn, PutFlags::APPEND, &key, &value)?;
            self.set_last(table, &key);
        } else {
            database.put(txn, &key, &value)?;
        }
        Ok(())
    }

    /// Says that a name, by its key, holds a value.
    pub fn hold(&mut self, value: &[u8], key: &[u8]) -> Result<(), StoreError> {
        let outcome = self.hold_checked(value, key);
        outcome.map_err(|error| self.writing.engine.noted(error))
    }

    fn hold_checked(&mut self, value: &[u8], key: &[u8]) -> Result<(), StoreError> {
        let (value, key) = (place::short_name(value), place::short_name(key));
        let last = self.last(Table::Reverse)?;
        let is_behind = last.is_none_or(|last| last < &*value);
        let is_last = last == Some(&*value);
        let is_behind_holder =
            is_last && self.last_holder.as_deref().is_some_and(|last| last < &*key);
        let database = self.writing.engine.table(Table::Reverse);
        let txn = &mut self.writing.txn;
        if is_behind {
            database.put_with_flags(txn, PutFlags::APPEND, &value, &key)?;
            self.set_last(Table::Reverse, &value);
        } else if is_behind_holder {
            database.put_with_flags(txn, PutFlags::APPEND_DUP, &value, &key)?;
        } else {
            database.put(txn, &value, &key)?;
        }
        if is_behind || is_behind_holder {
            let last = self.last_holder.get_or_insert_default();
            last.clear();
            last.extend_from_slice(&key);
        }
        Ok(())
    }

    /// Any other write.
    pub fn apply(&mut self, write: &Write) -> Result<(), StoreError> {
        match write {
            Write::Put(place, value) => self.put(place, value),
            Write::Hold { value, key } => self.hold(value, key),
            Write::Delete(_) | Write::Release { .. } => {
                if let Write::Delete(place) = write {
                    self.notice(place);
                }
                // The last key of a table may have gone.
                self.last = Default::default();
                self.last_holder = None;
                self.writing.apply(write)
            }
        }
    }

    pub(crate) fn commit(self) -> Result<(), StoreError> {
        let engine = self.writing.engine;
        self.writing
            .commit()
            .map_err(|error| engine.diagnose(error))
    }

    fn last(&mut self, table: Table) -> Result<Option<&[u8]>, StoreError> {
        let slot = self.last.get_mut(table.number());
        let Some(slot) = slot else { return Ok(None) };
        if slot.is_none() {
            let database = self.writing.engine.table(table);
            *slot = database
                .last(&self.writing.txn)?
                .map(|(key, _)| key.to_vec());
        }
        Ok(slot.as_deref())
    }

    fn set_last(&mut self, table: Table, key: &[u8]) {
        if let Some(slot) = self.last.get_mut(table.number()) {
            let last = slot.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
    }
}
