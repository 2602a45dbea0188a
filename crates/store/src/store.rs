//! The store: opening, reading, changing, copying and checking it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::embedded::{Embedded, Snapshot};
use crate::error::StoreError;
use crate::health::{DiskSpace, Health};
use crate::table_key::{Table, TableKey};
use crate::writer::{Change, Write, Writer};

/// The format of the tables, drawn in `docs/format.md`.
pub const FORMAT: u32 = 2;

/// A folder of records.
///
/// ```
/// use handfast_store::{TableKey, Store, StoreError, Write};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::create(folder.path())?;
/// // A change looks before it writes: here, a name may be taken only once.
/// let take = |key: &'static [u8]| {
///     store.change(move |now| match now.get(&TableKey::record(key), |_| ())? {
///         Some(()) => Ok::<_, StoreError>((vec![], false)),
///         None => Ok((vec![Write::put(TableKey::record(key), b"taken")], true)),
///     })
/// };
/// assert!(take(b"hdl:20.1000/X")?);
/// assert!(!take(b"hdl:20.1000/X")?);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    // The writer comes first, so that it ends before the folder is unlocked.
    pub(crate) writer: Writer,
    engine: Arc<Embedded>,
    health: Arc<Health>,
}

/// The usage of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The maximum size in bytes.
    pub size: u64,
    /// The used bytes, including pages that are free again.
    pub used: u64,
    /// The number of reader slots used so far; later readers reuse free ones.
    pub readers: u64,
    /// The number of reader slots.
    pub max_readers: u64,
}

impl Store {
    /// How much of it is in use.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.engine.usage()
    }

    /// Creates a store in a folder that has none.
    pub fn create(folder: &Path) -> Result<Self, StoreError> {
        Self::create_with(folder, None)
    }

    /// The same with a map of a given size, for tests of what happens when it is full.
    pub fn create_with(folder: &Path, map_size: Option<usize>) -> Result<Self, StoreError> {
        let is_new = !Embedded::exists(folder);
        let store = Self::start(folder, map_size)?;
        // An interrupted creation leaves tables without entries.
        if !is_new && !store.is_empty()? {
            return Err(StoreError::AlreadyExists {
                folder: folder.to_path_buf(),
            });
        }
        let format = Write::put(format_place(), &FORMAT.to_be_bytes());
        store.change(move |_| Ok::<_, StoreError>((vec![format], ())))?;
        if is_new {
            let synced = sync_name(&folder.join("data.mdb")).and_then(|()| sync_name(folder));
            synced.map_err(StoreError::io(folder))?;
        }
        Ok(store)
    }

    /// Opens the store in a folder.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        check_exists(folder)?;
        Self::start(folder, None)?.of_known_format()
    }

    /// Opens the store in a folder, or creates it, with a map of a given size: for a store beside
    /// another one, which may be missing.
    pub fn open_or_create(folder: &Path, map_size: usize) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        reserve_lock_file(folder)?;
        if Embedded::exists(folder) {
            let store = Self::start(folder, Some(map_size))?;
            if store.read(|now| now.count(Table::Meta))? > 0 {
                return store.of_known_format();
            }
        }
        Self::create_with(folder, Some(map_size))
    }

    /// Whether it was opened read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    /// Opens the store in a folder read-only, also while another process writes it. Changes are
    /// errors.
    pub fn open_read_only(folder: &Path) -> Result<Self, StoreError> {
        check_exists(folder)?;
        let store = Self {
            writer: Writer::default(),
            engine: Arc::new(Embedded::open_read_only(folder)?),
            health: Arc::default(),
        };
        store.of_known_format()
    }

    fn of_known_format(self) -> Result<Self, StoreError> {
        let read = |bytes: &[u8]| bytes.try_into().map(u32::from_be_bytes).ok();
        let found = self.read(|now| now.get(&format_place(), read))?.flatten();
        let folder = self.folder().to_path_buf();
        match found {
            Some(FORMAT) => Ok(self),
            Some(found) => Err(StoreError::OtherFormat {
                folder,
                found,
                known: FORMAT,
            }),
            // The creation was not finished.
            None => Err(StoreError::NoStore { folder }),
        }
    }

    fn is_empty(&self) -> Result<bool, StoreError> {
        self.read(|now| {
            // A store with nothing but its format is still empty.
            let tables = Table::ALL.into_iter().filter(|table| *table != Table::Meta);
            let counts = tables.map(|table| now.count(table));
            Ok(counts
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .all(|count| count == 0))
        })
    }

    fn start(folder: &Path, map_size: Option<usize>) -> Result<Self, StoreError> {
        let engine = Arc::new(Embedded::open(folder, map_size)?);
        let health = Arc::new(Health::default());
        Ok(Self {
            writer: Writer::start(Arc::clone(&engine), Arc::clone(&health))?,
            engine,
            health,
        })
    }

    /// Asks whether the store can be written. The writer calls `answer`, after the waiting changes:
    /// with the error of the file system if it forbids writing, otherwise with the result of
    /// beginning a transaction. After a failed commit it commits something, to see whether that
    /// works again: call this about once a second at most.
    ///
    /// ```
    /// use handfast_store::Store;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path())?;
    /// let (done, wait) = std::sync::mpsc::channel();
    /// store.probe(move |outcome| done.send(outcome.is_ok()).unwrap());
    /// assert!(wait.recv()?);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn probe(&self, answer: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        let damage = self.is_damaged().then_some(StoreError::Damaged);
        let problem = damage.or_else(|| self.disk_space().and_then(DiskSpace::problem));
        match problem {
            Some(problem) => answer(Err(problem)),
            None => self.writer.probe(answer),
        }
    }

    /// Whether the writer has worked on one change or load for so long that it counts as stuck.
    #[must_use]
    pub fn is_writer_stuck(&self) -> bool {
        self.health.is_stuck()
    }

    /// Whether a read or a write has met damage since the store was opened. It stays set: nobody
    /// knows what else is damaged.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.engine.is_damaged()
    }

    /// Records that stored bytes cannot be decoded. The store itself does not know their meaning.
    pub fn note_damage(&self) {
        self.engine.note_damage();
    }

    /// Why the last commit failed; `None` if it succeeded.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.health.last_failure()
    }

    /// The file system of the store; `None` if the system does not tell.
    #[must_use]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        self.engine.disk_space()
    }

    /// The data folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.engine.folder()
    }

    /// The number of commits since it was opened: a value that was read at one number is valid
    /// while the number is unchanged.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.engine.commits()
    }

    /// Reads from a snapshot, without a lock. The read does not see later writes.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&Snapshot<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.engine.read(read)
    }

    /// Submits a change and waits until it is on disk, or rejected.
    pub fn change<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        decide: impl FnOnce(&Snapshot<'_>) -> Change<T, R> + Send + 'static,
    ) -> Result<T, R> {
        let (answer, answered) = sync_channel(1);
        self.submit(decide, move |outcome| {
            // The receiver is gone only if the caller's thread has ended.
            drop(answer.send(outcome));
        });
        answered
            .recv()
            .unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Writes a copy of the newest snapshot to a new file of mode 0600, while reads and writes
    /// continue.
    pub fn backup(&self, file: &Path) -> Result<(), StoreError> {
        let mut copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)
            .map_err(StoreError::io(file))?;
        // An incomplete copy is deleted.
        self.backup_to(&mut copy)
            .inspect_err(|_| drop(fs::remove_file(file)))
    }

    /// Writes a copy to an open file, from its position on. It reads all tables to their end first:
    /// a copy of a damaged store would look like a backup.
    pub fn backup_to(&self, file: &mut File) -> Result<(), StoreError> {
        for table in self.check()? {
            table.entries?;
        }
        self.engine.copy_to(file)?;
        file.sync_all().map_err(StoreError::io("the copy"))
    }

    /// Creates a store from a copy, in a folder that has none.
    pub fn restore(file: &Path, folder: &Path) -> Result<Self, StoreError> {
        let length = fs::metadata(file).map_err(StoreError::io(file))?.len();
        Self::restore_part(file, 0..length, folder)
    }

    /// Creates a store from a copy that is a part of a file, in a folder that has none.
    pub fn restore_part(file: &Path, part: Range<u64>, folder: &Path) -> Result<Self, StoreError> {
        if Embedded::exists(folder) {
            return Err(StoreError::AlreadyExists {
                folder: folder.to_path_buf(),
            });
        }
        fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        // Under another name until it is complete: an interrupted copy is not a store.
        let (half, whole): (PathBuf, PathBuf) = (folder.join("restoring"), folder.join("data.mdb"));
        if let Err(error) = copy_part(file, part, &half).map_err(StoreError::io(file)) {
            drop(fs::remove_file(&half));
            return Err(error);
        }
        fs::rename(&half, &whole)
            .and_then(|()| sync_name(&whole))
            .map_err(StoreError::io(&whole))?;
        Self::open(folder).inspect_err(|_| drop(fs::remove_file(&whole)))
    }

    /// Reads every entry of every table. Unreadable entries are reported; the rest is counted.
    pub fn check(&self) -> Result<Vec<TableCheck>, StoreError> {
        self.read(|now| {
            let check = |table| TableCheck {
                table,
                entries: now.count_by_reading(table),
            };
            Ok(Table::ALL.into_iter().map(check).collect())
        })
    }
}

/// The result of [`Store::check`] for a table.
#[derive(Debug)]
pub struct TableCheck {
    /// The table.
    pub table: Table,
    /// The number of entries, or the first one that cannot be read.
    pub entries: Result<u64, StoreError>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("folder", &self.folder())
            .finish_non_exhaustive()
    }
}

/// Takes the room of the file that LMDB maps for its readers. On a full disk the map would have no
/// pages behind it, and the kernel would end the process as if the store were damaged.
fn reserve_lock_file(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join("lock.mdb");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(&path).map_err(StoreError::io(&path))?;
    // A file system that cannot do this has to be trusted.
    match rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, LOCK_FILE_BYTES) {
        Err(Errno::NOSPC) => Err(StoreError::Full),
        _ => Ok(()),
    }
}

/// A little more than LMDB needs.
const LOCK_FILE_BYTES: u64 = 1 << 20;

/// Copies a part of a file to a new file of mode 0600.
fn copy_part(file: &Path, part: Range<u64>, to: &Path) -> io::Result<()> {
    let mut source = File::open(file)?;
    source.seek(SeekFrom::Start(part.start))?;
    let mut source = source.take(part.end.saturating_sub(part.start));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut copy = options.open(to)?;
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()
}

/// Syncs the folder of a path. After a crash a file has its name only if its folder was synced.
pub fn sync_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

pub(crate) fn format_place() -> TableKey<'static> {
    TableKey::named(Table::Meta, b"format")
}

fn check_exists(folder: &Path) -> Result<(), StoreError> {
    if Embedded::exists(folder) {
        return Ok(());
    }
    Err(StoreError::NoStore {
        folder: folder.to_path_buf(),
    })
}
