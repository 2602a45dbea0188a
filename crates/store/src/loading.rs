//! Loads: writing many entries in one transaction.

use heed::PutFlags;

use crate::embedded::{Snapshot, Writing};
use crate::error::StoreError;
use crate::table_key::{self, Table, TableKey};
use crate::writer::Write;

/// A transaction that writes many entries, best in the order of their keys: entries after the last
/// key are appended, which is fastest and leaves no space unused.
pub struct Loading<'e> {
    writing: Writing<'e>,
    /// The last key of each table that was written to.
    last: [Option<Vec<u8>>; Table::ALL.len()],
    /// The last name in the index under the last value.
    last_indexed_name: Option<Vec<u8>>,
    /// Selects the keys that the caller watches.
    watch: Option<fn(&TableKey<'_>) -> bool>,
    /// Whether one of them was written.
    is_watched_written: bool,
}

impl<'e> Loading<'e> {
    pub(crate) fn new(writing: Writing<'e>) -> Self {
        Self {
            writing,
            last: Default::default(),
            last_indexed_name: None,
            watch: None,
            is_watched_written: false,
        }
    }

    /// Watches writes to some keys. A caller that caches their values asks
    /// [`is_watched_written`](Self::is_watched_written) at the end, and keeps its cache if not.
    pub fn watch(&mut self, keys: fn(&TableKey<'_>) -> bool) {
        self.watch = Some(keys);
    }

    /// Whether a watched key was written or deleted.
    #[must_use]
    pub fn is_watched_written(&self) -> bool {
        self.is_watched_written
    }

    fn notice(&mut self, table_key: &TableKey<'_>) {
        if !self.is_watched_written {
            self.is_watched_written = self.watch.is_some_and(|watch| watch(table_key));
        }
    }

    /// The state after the writes so far.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<'_> {
        self.writing.snapshot()
    }

    /// Whether a table key is behind all entries of its table.
    pub fn is_behind(&mut self, table_key: &TableKey<'_>) -> Result<bool, StoreError> {
        let key = table_key.encoded();
        let engine = self.writing.engine;
        let last = self.last(table_key.table());
        let last = last.map_err(|error| engine.noted(error))?;
        Ok(last.is_none_or(|last| last < &*key))
    }

    /// Stores bytes under a table key, and replaces the old ones.
    pub fn put(&mut self, table_key: &TableKey<'_>, value: &[u8]) -> Result<(), StoreError> {
        let outcome = self.put_checked(table_key, value);
        outcome.map_err(|error| self.writing.engine.noted(error))
    }

    fn put_checked(&mut self, table_key: &TableKey<'_>, value: &[u8]) -> Result<(), StoreError> {
        self.notice(table_key);
        let (table, key) = (table_key.table(), table_key.encoded());
        let is_behind = self.last(table)?.is_none_or(|last| last < &*key);
        if table_key.has_name_in_value() {
            self.writing.check_same_name(table_key)?;
        }
        let value = table_key.wrap(value);
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

    /// Adds a name, given by its key, to the index entry of a value.
    pub fn index_insert(&mut self, value: &[u8], key: &[u8]) -> Result<(), StoreError> {
        let outcome = self.hold_checked(value, key);
        outcome.map_err(|error| self.writing.engine.noted(error))
    }

    fn hold_checked(&mut self, value: &[u8], key: &[u8]) -> Result<(), StoreError> {
        let (value, key) = (table_key::short_name(value), table_key::short_name(key));
        let last = self.last(Table::Reverse)?;
        let is_behind = last.is_none_or(|last| last < &*value);
        let is_last = last == Some(&*value);
        let is_behind_indexed_name = is_last
            && self
                .last_indexed_name
                .as_deref()
                .is_some_and(|last| last < &*key);
        let database = self.writing.engine.table(Table::Reverse);
        let txn = &mut self.writing.txn;
        if is_behind {
            database.put_with_flags(txn, PutFlags::APPEND, &value, &key)?;
            self.set_last(Table::Reverse, &value);
        } else if is_behind_indexed_name {
            database.put_with_flags(txn, PutFlags::APPEND_DUP, &value, &key)?;
        } else {
            database.put(txn, &value, &key)?;
        }
        if is_behind || is_behind_indexed_name {
            (*key).clone_into(self.last_indexed_name.get_or_insert_default());
        }
        Ok(())
    }

    /// Any other write.
    pub fn apply(&mut self, write: &Write) -> Result<(), StoreError> {
        match write {
            Write::Put(table_key, value) => self.put(table_key, value),
            Write::IndexInsert { value, key } => self.index_insert(value, key),
            Write::Delete(_) | Write::IndexRemove { .. } => {
                if let Write::Delete(table_key) = write {
                    self.notice(table_key);
                }
                // The last key of a table may be gone.
                self.last = Default::default();
                self.last_indexed_name = None;
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
            key.clone_into(slot.get_or_insert_default());
        }
    }
}
