//! The embedded engine: LMDB.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use heed::types::Bytes;
use heed::{CompactionOption, Database, Env, PutFlags, RoTxn, RwTxn, WithoutTls};

use crate::checked_range::CheckedRange;
use crate::damage_handler::{Copying, InStore};
use crate::error::StoreError;
use crate::health::{DiskSpace, MIN_FREE_BYTES};
use crate::opening::{Access, bytes_promised, fill_up, flags, lock, open_env, whole};
use crate::snapshot_reuse;
use crate::store::{FORMAT, Usage, format_place};
use crate::table_key::{self, Table, TableKey};
use crate::writer::Write;

/// The map is sparse: only used pages take space on the disk.
const MAP_SIZE: usize = 1 << 40;

/// An open LMDB environment, and the lock against other writing processes.
pub(crate) struct Embedded {
    env: Env<WithoutTls>,
    tables: [Database<Bytes, Bytes>; Table::ALL.len()],
    folder: PathBuf,
    id: u64,
    commits: AtomicU64,
    /// Whether a read or a write has met a damaged page.
    is_damaged: AtomicBool,
    /// `None` for a process that only reads.
    _lock: Option<File>,
}

/// The number of environments opened in this process.
static OPENED: AtomicU64 = AtomicU64::new(0);

impl Embedded {
    pub(crate) fn usage(&self) -> Usage {
        let info = self.env.info();
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let page = u64::from(self.env.stat().page_size);
        Usage {
            size: wide(info.map_size),
            used: bytes_promised(wide(info.last_page_number), page),
            readers: info.number_of_readers.into(),
            max_readers: info.maximum_number_of_readers.into(),
        }
    }

    /// Opens the environment in `folder`, and creates missing tables.
    pub(crate) fn open(folder: &Path, map_size: Option<usize>) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        let lock = lock(folder)?;
        let _in_store = InStore::enter();
        let env = open_env(folder, map_size.unwrap_or(MAP_SIZE), Access::Write)?;
        fill_up(&env, folder)?;
        let mut txn = env.write_txn()?;
        let tables = Table::ALL.map(|table| {
            let mut options = env.database_options().types::<Bytes, Bytes>();
            options.name(table.name()).flags(flags(table));
            options.create(&mut txn)
        });
        let tables = whole(tables)?;
        txn.commit()?;
        Ok(Self::new(env, tables, folder, Some(lock)))
    }

    /// Opens the environment in `folder` read-only, also while another process writes it.
    pub(crate) fn open_read_only(folder: &Path) -> Result<Self, StoreError> {
        let _in_store = InStore::enter();
        let env = open_env(folder, MAP_SIZE, Access::Read)?;
        let txn = env.read_txn()?;
        let tables = Table::ALL.map(|table| {
            let mut options = env.database_options().types::<Bytes, Bytes>();
            options.name(table.name()).flags(flags(table));
            options
                .open(&txn)?
                .ok_or(heed::MdbError::Incompatible.into())
        });
        let tables = whole(tables)?;
        // Tables stay open when the transaction in which they were opened is committed.
        txn.commit()?;
        Ok(Self::new(env, tables, folder, None))
    }

    fn new(
        env: Env<WithoutTls>,
        tables: [Database<Bytes, Bytes>; Table::ALL.len()],
        folder: &Path,
        lock: Option<File>,
    ) -> Self {
        Self {
            env,
            tables,
            folder: folder.to_path_buf(),
            id: OPENED.fetch_add(1, Ordering::Relaxed),
            commits: AtomicU64::new(0),
            is_damaged: AtomicBool::new(false),
            _lock: lock,
        }
    }

    /// Whether a folder has an environment.
    pub(crate) fn exists(folder: &Path) -> bool {
        folder.join("data.mdb").exists()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads from the newest snapshot.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Snapshot<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _in_store = InStore::enter();
        snapshot_reuse::read(self, |txn| read(&Snapshot { engine: self, txn }))
    }

    pub(crate) fn begin_read(&self) -> Result<RoTxn<'_, WithoutTls>, StoreError> {
        self.env.read_txn().map_err(|error| self.noted(error))
    }

    /// Begins a read transaction that may outlive this call.
    pub(crate) fn begin_lasting_read(&self) -> Result<RoTxn<'static, WithoutTls>, StoreError> {
        let txn = self.env.clone().static_read_txn();
        txn.map_err(|error| self.noted(error))
    }

    /// The id of this environment in this process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The number of commits.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    pub(crate) fn begin(&self) -> Result<Writing<'_>, StoreError> {
        Ok(Writing {
            engine: self,
            txn: self.env.write_txn().map_err(|error| self.noted(error))?,
        })
    }

    /// The state of the file system.
    pub(crate) fn disk_space(&self) -> Option<DiskSpace> {
        DiskSpace::of(&self.folder)
    }

    /// Removes stale readers. A process that ended while it read keeps the pages of its snapshot
    /// from being reused, until its entry in the table of readers is removed.
    pub(crate) fn clear_stale_readers(&self) {
        // If this fails, the next call tries again.
        drop(self.env.clear_stale_readers());
    }

    /// Whether a read or a write has met damage since the store was opened.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    pub(crate) fn note_damage(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// Converts an error of the engine, and records it if it is damage.
    pub(crate) fn noted(&self, error: impl Into<StoreError>) -> StoreError {
        let error = error.into();
        if matches!(error, StoreError::Damaged) {
            self.note_damage();
        }
        error
    }

    /// LMDB reports an incomplete write as an input/output error: mostly the disk is full.
    pub(crate) fn diagnose(&self, error: StoreError) -> StoreError {
        let is_full = matches!(&error, StoreError::Engine(heed::Error::Io(_)))
            && self
                .disk_space()
                .is_some_and(|space| space.free < MIN_FREE_BYTES);
        if is_full { StoreError::Full } else { error }
    }

    /// Writes a copy of the newest snapshot to a file, while reads and writes continue.
    pub(crate) fn copy_to(&self, file: &mut File) -> Result<(), StoreError> {
        let _in_store = InStore::enter();
        // LMDB copies on a thread of its own.
        let _copying = Copying::begin();
        let copied = self.env.copy_to_file(file, CompactionOption::Enabled);
        copied.map_err(|error| self.noted(error))
    }

    pub(crate) fn table(&self, table: Table) -> &Database<Bytes, Bytes> {
        // There is a table for each variant.
        let [first, ..] = &self.tables;
        self.tables.get(table.number()).unwrap_or(first)
    }
}

/// A snapshot of the store: the committed state at its start or, inside a change, the state after
/// the earlier changes of the batch.
///
/// ```
/// use handfast_store::{TableKey, Store, StoreError, Write};
/// use std::ops::ControlFlow;
///
/// # let folder = tempfile::tempdir()?;
/// # let store = Store::create(folder.path())?;
/// let writes = ["b", "a"].map(|name| Write::put(TableKey::record(name.as_bytes()), b""));
/// store.change(move |_| Ok::<_, StoreError>((writes.to_vec(), ())))?;
/// let mut names = Vec::new();
/// store.read(|now| {
///     now.scan(&TableKey::record(b""), &mut |table_key, _| {
///         names.push(table_key.name().to_vec());
///         ControlFlow::Continue(())
///     })
/// })?;
/// assert_eq!(names, [b"a", b"b"]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Snapshot<'s> {
    engine: &'s Embedded,
    txn: &'s RoTxn<'s, WithoutTls>,
}

/// A visitor of index entries: the value, the key of a name that has it, and its record.
pub type VisitIndex<'v> = dyn FnMut(&[u8], &[u8], &[u8]) -> ControlFlow<()> + 'v;

impl Snapshot<'_> {
    /// Passes the stored bytes of a table key to a function.
    pub fn get<T>(
        &self,
        table_key: &TableKey<'_>,
        lend: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let found = self
            .engine
            .table(table_key.table())
            .get(self.txn, &table_key.encoded())
            .map_err(|error| self.engine.noted(error))?;
        Ok(found.and_then(|value| table_key.unwrap(value)).map(lend))
    }

    /// Whether the stored key of a table key belongs to another name. Only a name of 480 bytes that
    /// ends in the digest of a longer one has such a key, and an attacker would have to search for
    /// it: that name cannot be stored beside the longer one.
    pub fn is_of_other_name(&self, table_key: &TableKey<'_>) -> Result<bool, StoreError> {
        if !table_key.has_name_in_value() {
            return Ok(false);
        }
        let key = table_key.encoded();
        let found = self.engine.table(table_key.table()).get(self.txn, &key);
        let found = found.map_err(|error| self.engine.noted(error))?;
        let other = found.and_then(|value| table_key::read(table_key.table(), &key, value));
        Ok(other.is_some_and(|(other, _)| other.name() != table_key.name()))
    }

    /// Visits the entries of a table in the order of their keys, from a table key on.
    pub fn scan(
        &self,
        from: &TableKey<'_>,
        visit: &mut dyn FnMut(&TableKey<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let scanned = self.scan_checked(from, visit);
        scanned.inspect_err(|error| {
            // A key that is none, or a value that is not of its key, comes from no write of ours.
            if error.is_damage() {
                self.engine.note_damage();
            }
        })
    }

    fn scan_checked(
        &self,
        from: &TableKey<'_>,
        visit: &mut dyn FnMut(&TableKey<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let table = from.table();
        let key = from.encoded();
        let mut entries = CheckedRange::begin(self.engine.table(table), self.txn, &key)?;
        while let Some((key, value)) = entries.next()? {
            let (table_key, value) = table_key::read(table, key, value)
                .ok_or_else(|| StoreError::corrupt(table, key))?;
            if visit(&table_key, value).is_break() {
                return entries.stop();
            }
        }
        Ok(())
    }

    /// The last key of a table that is equal to a table key or stands before it.
    pub fn at_or_before(
        &self,
        table_key: &TableKey<'_>,
    ) -> Result<Option<TableKey<'static>>, StoreError> {
        let table = table_key.table();
        let found = self
            .engine
            .table(table)
            .get_lower_than_or_equal_to(self.txn, &table_key.encoded())
            .map_err(|error| self.engine.noted(error))?;
        let Some((key, value)) = found else {
            return Ok(None);
        };
        let read = table_key::read(table, key, value);
        let read = read.ok_or_else(|| StoreError::corrupt(table, key))?;
        Ok(Some(read.0.into_owned()))
    }

    /// The largest number in a table whose keys are numbers.
    pub fn last_number(&self, table: Table) -> Result<Option<u64>, StoreError> {
        let last = self.engine.table(table).last(self.txn);
        let last = last.map_err(|error| self.engine.noted(error))?;
        let number = last.and_then(|(key, value)| table_key::read(table, key, value)?.0.number());
        Ok(number)
    }

    /// Visits the keys of names that have a value.
    pub fn names_with_value(
        &self,
        value: &[u8],
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let value = table_key::short_name(value);
        let table = self.engine.table(Table::Reverse);
        let noted = |error| self.engine.noted(error);
        let entries = table.get_duplicates(self.txn, &value).map_err(noted)?;
        let mut last: Option<&[u8]> = None;
        for entry in entries.into_iter().flatten() {
            let (_, key) = entry.map_err(noted)?;
            if last.is_some_and(|last| last >= key) {
                return Err(self.engine.noted(StoreError::Damaged));
            }
            if visit(key).is_break() {
                break;
            }
            last = Some(key);
        }
        Ok(())
    }

    /// Visits the values that start with some bytes and the names that have them, in the order of
    /// the values: the value as it is stored (see [`index_value`](crate::index_value)), the key of
    /// the name, and its record. Of a long start, only the first bytes count.
    pub fn scan_index(&self, start: &[u8], visit: &mut VisitIndex<'_>) -> Result<(), StoreError> {
        let scanned = self.scan_index_checked(start, visit);
        scanned.map_err(|error| self.engine.noted(error))
    }

    fn scan_index_checked(
        &self,
        start: &[u8],
        visit: &mut VisitIndex<'_>,
    ) -> Result<(), StoreError> {
        let start = start
            .get(..table_key::LONG_KEY_PREFIX_BYTES)
            .unwrap_or(start);
        let records = self.engine.table(Table::Records);
        let reverse = self.engine.table(Table::Reverse);
        let mut entries = CheckedRange::begin(reverse, self.txn, start)?;
        while let Some((value, key)) = entries.next()? {
            if !value.starts_with(start) {
                return entries.stop();
            }
            let record = records.get(self.txn, key)?;
            let found = record.and_then(|bytes| table_key::read(Table::Records, key, bytes));
            if let Some((table_key, record)) = found
                && visit(value, table_key.name(), record).is_break()
            {
                return entries.stop();
            }
        }
        Ok(())
    }

    /// Whether a read or a write has met damage since the store was opened, in any snapshot.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.engine.is_damaged()
    }

    /// The number of entries of a table, by reading all of them.
    pub(crate) fn count_by_reading(&self, table: Table) -> Result<u64, StoreError> {
        // The values of such a table are keys, which scanning does not unwrap.
        if table.is_multiple() {
            let entries = CheckedRange::begin(self.engine.table(table), self.txn, b"");
            let count = entries.and_then(CheckedRange::count);
            return count.map_err(|error| self.engine.noted(error));
        }
        let mut count = 0;
        self.scan(&TableKey::named(table, b""), &mut |_, _| {
            count += 1;
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    /// The number of entries of a table.
    pub fn count(&self, table: Table) -> Result<u64, StoreError> {
        let count = self.engine.table(table).len(self.txn);
        count.map_err(|error| self.engine.noted(error))
    }
}

/// The write transaction.
pub(crate) struct Writing<'e> {
    pub(crate) engine: &'e Embedded,
    pub(crate) txn: RwTxn<'e>,
}

impl Writing<'_> {
    /// The state after the writes so far.
    pub(crate) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            engine: self.engine,
            txn: &self.txn,
        }
    }

    pub(crate) fn apply(&mut self, write: &Write) -> Result<(), StoreError> {
        let engine = self.engine;
        let applied = self.apply_checked(write);
        applied.map_err(|error| engine.noted(error))
    }

    fn apply_checked(&mut self, write: &Write) -> Result<(), StoreError> {
        match write {
            Write::Put(table_key, value) => {
                let table = self.engine.table(table_key.table());
                if table_key.has_name_in_value() {
                    self.check_same_name(table_key)?;
                }
                let (key, value) = (table_key.encoded(), table_key.wrap(value));
                // Events come in the order of their numbers: appending fills pages completely,
                // where putting would leave each of them half empty.
                let is_last = table_key.table() == Table::Events
                    && table.last(&self.txn)?.is_none_or(|(last, _)| last < &*key);
                if is_last {
                    table.put_with_flags(&mut self.txn, PutFlags::APPEND, &key, &value)?;
                } else {
                    table.put(&mut self.txn, &key, &value)?;
                }
            }
            Write::Delete(table_key) => {
                self.engine
                    .table(table_key.table())
                    .delete(&mut self.txn, &table_key.encoded())?;
            }
            Write::IndexInsert { value, key } => {
                let (value, key) = (table_key::short_name(value), table_key::short_name(key));
                self.engine
                    .table(Table::Reverse)
                    .put(&mut self.txn, &value, &key)?;
            }
            Write::IndexRemove { value, key } => {
                let (value, key) = (table_key::short_name(value), table_key::short_name(key));
                let table = self.engine.table(Table::Reverse);
                table.delete_one_duplicate(&mut self.txn, &value, &key)?;
            }
        }
        Ok(())
    }

    /// Checks that a change can be applied: none of its writes meets another name at a shortened
    /// key.
    pub(crate) fn check_names(&self, writes: &[Write]) -> Result<(), StoreError> {
        writes.iter().try_for_each(|write| match write {
            Write::Put(table_key, _) if table_key.has_name_in_value() => {
                self.check_same_name(table_key)
            }
            _ => Ok(()),
        })
    }

    /// Writes the format again: a commit that changes nothing.
    pub(crate) fn rewrite_format(&mut self) -> Result<(), StoreError> {
        self.apply(&Write::put(format_place(), &FORMAT.to_be_bytes()))
    }

    /// Checks that a shortened key belongs to the same name: a name with the same digest, which
    /// would have to be made on purpose, never overwrites it.
    pub(crate) fn check_same_name(&self, table_key: &TableKey<'_>) -> Result<(), StoreError> {
        let found = self
            .engine
            .table(table_key.table())
            .get(&self.txn, &table_key.encoded())
            .map_err(|error| self.engine.noted(error))?;
        match found {
            Some(value) if table_key.unwrap(value).is_none() => {
                Err(StoreError::corrupt(table_key.table(), table_key.name()))
            }
            _ => Ok(()),
        }
    }

    /// Commits. The writes are on disk when this returns.
    pub(crate) fn commit(self) -> Result<(), StoreError> {
        let engine = self.engine;
        self.txn.commit().map_err(|error| engine.noted(error))?;
        self.engine.commits.fetch_add(1, Ordering::Release);
        Ok(())
    }
}
