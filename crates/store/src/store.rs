//! The store as the registry sees it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use crate::embedded::{Embedded, Snapshot};
use crate::error::StoreError;
use crate::health::{DiskSpace, Health};
use crate::loading::Loading;
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
    // The writer goes first, so that it ends before the folder is unlocked.
    writer: Writer,
    engine: Arc<Embedded>,
    health: Arc<Health>,
}

/// How much of a store is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// How many octets it can have at most.
    pub size: u64,
    /// How many of them have been used, pages that are free again among them.
    pub used: u64,
    /// How many places of readers have been taken so far; who comes later takes one that is free.
    pub readers: u64,
    /// How many places there are.
    pub most_readers: u64,
}

impl Store {
    /// How much of it is in use.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.engine.usage()
    }

    /// Makes a store in a folder that has none.
    pub fn create(folder: &Path) -> Result<Self, StoreError> {
        Self::create_with(folder, None)
    }

    /// The same with a map of a given size, for tests of what happens when it is full.
    pub fn create_with(folder: &Path, map_size: Option<usize>) -> Result<Self, StoreError> {
        let is_new = !Embedded::exists(folder);
        let store = Self::start(folder, map_size)?;
        // A folder whose making was interrupted has tables, and nothing in them.
        if !is_new && !store.is_empty()? {
            return Err(StoreError::AlreadyExists {
                folder: folder.to_path_buf(),
            });
        }
        let format = Write::put(format_place(), &FORMAT.to_be_bytes());
        store.change(move |_| Ok::<_, StoreError>((vec![format], ())))?;
        Ok(store)
    }

    /// Opens the store in a folder.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        if !Embedded::exists(folder) {
            return Err(StoreError::NoStore {
                folder: folder.to_path_buf(),
            });
        }
        Self::start(folder, None)?.of_known_format()
    }

    /// Opens the store in a folder for reading alone: beside a process that may be writing it, and without writing
    /// anything to it. Changes are errors.
    pub fn open_read_only(folder: &Path) -> Result<Self, StoreError> {
        if !Embedded::exists(folder) {
            return Err(StoreError::NoStore {
                folder: folder.to_path_buf(),
            });
        }
        let store = Self {
            writer: Writer::none(),
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
            // Made, but not finished.
            None => Err(StoreError::NoStore { folder }),
        }
    }

    fn is_empty(&self) -> Result<bool, StoreError> {
        self.read(|now| {
            // The format alone is nothing that anybody has kept.
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

    /// Asks whether the store can be written. `answer` is called by the writer, behind the changes that wait: with
    /// what the file system says if that forbids it, and otherwise with how a transaction begins. When the last
    /// commit failed, something is committed to see whether that works again: call this about once a second at
    /// most.
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
        match self.disk_space().and_then(DiskSpace::problem) {
            Some(problem) => answer(Err(problem)),
            None => self.writer.probe(answer),
        }
    }

    /// Whether the writer has been at one change or load for so long that it counts as stuck.
    #[must_use]
    pub fn is_writer_stuck(&self) -> bool {
        self.health.is_stuck()
    }

    /// Why the last commit failed; nothing if it succeeded.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.health.last_failure()
    }

    /// The file system that the store is on; nothing if the system does not say.
    #[must_use]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        self.engine.disk_space()
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.engine.folder()
    }

    /// How many commits there have been since it was opened: what was read under one number is as it was as long as
    /// the number is the same.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.engine.commits()
    }

    /// Reads from a snapshot: no lock, and nothing that is written meanwhile is seen.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&Snapshot<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.engine.read(read)
    }

    /// Hands in a change and waits until it is on disk, or refused.
    pub fn change<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        decide: impl FnOnce(&Snapshot<'_>) -> Change<T, R> + Send + 'static,
    ) -> Result<T, R> {
        let (answer, answered) = sync_channel(1);
        self.submit(decide, move |outcome| {
            // Nobody is waiting any more only if the caller has gone with its thread.
            drop(answer.send(outcome));
        });
        answered
            .recv()
            .unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Hands in a change; `answer` is called, by the writer, when it is on disk, refused or failed.
    pub fn submit<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        decide: impl FnOnce(&Snapshot<'_>) -> Change<T, R> + Send + 'static,
        answer: impl FnOnce(Result<T, R>) + Send + 'static,
    ) {
        self.writer.submit(decide, answer);
    }

    /// Hands in a load: many entries, in the order of their keys, in a transaction of its own. `answer` is
    /// called, by the writer, when it is on disk or has failed; what fails leaves nothing.
    ///
    /// ```
    /// use handfast_store::{TableKey, Store, StoreError};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path())?;
    /// let (done, wait) = std::sync::mpsc::channel();
    /// store.load(
    ///     |loading| {
    ///         for name in ["a", "b", "c"] {
    ///             loading.put(&TableKey::record(name.as_bytes()), b"")?;
    ///         }
    ///         Ok::<_, StoreError>(3)
    ///     },
    ///     move |outcome| done.send(outcome).unwrap(),
    /// );
    /// assert_eq!(wait.recv()??, 3);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn load<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        load: impl FnOnce(&mut Loading<'_>) -> Result<T, R> + Send + 'static,
        answer: impl FnOnce(Result<T, R>) + Send + 'static,
    ) {
        self.writer.submit_load(load, answer);
    }

    /// Writes a copy of the newest snapshot to a new file of mode 0600, while reads and writes go on.
    pub fn backup(&self, file: &Path) -> Result<(), StoreError> {
        let mut copy = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)
            .map_err(StoreError::io(file))?;
        // Half a copy is none.
        self.backup_to(&mut copy)
            .inspect_err(|_| drop(fs::remove_file(file)))
    }

    /// The same, to a file that is open.
    pub fn backup_to(&self, file: &mut File) -> Result<(), StoreError> {
        self.engine.copy_to(file)?;
        file.sync_all().map_err(StoreError::io("the copy"))
    }

    /// Makes a store in a folder that has none from a copy.
    pub fn restore(file: &Path, folder: &Path) -> Result<Self, StoreError> {
        if Embedded::exists(folder) {
            return Err(StoreError::AlreadyExists {
                folder: folder.to_path_buf(),
            });
        }
        fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
        // Under another name until it is whole: a copy that was cut short is no store.
        let (half, whole): (PathBuf, PathBuf) = (folder.join("restoring"), folder.join("data.mdb"));
        let copied = fs::copy(file, &half)
            .and_then(|_| File::open(&half)?.sync_all())
            .map_err(StoreError::io(file));
        if let Err(error) = copied {
            drop(fs::remove_file(&half));
            return Err(error);
        }
        fs::rename(&half, &whole)
            .and_then(|()| File::open(folder)?.sync_all())
            .map_err(StoreError::io(&whole))?;
        Self::open(folder).inspect_err(|_| drop(fs::remove_file(&whole)))
    }

    /// Reads all of every table. What cannot be read is reported; the rest is counted.
    pub fn check(&self) -> Result<Vec<TableCheck>, StoreError> {
        self.read(|now| {
            let check = |table: Table| {
                let mut count = 0;
                let from = TableKey::named(table, b"");
                let outcome = now.scan(&from, &mut |_, _| {
                    count += 1;
                    std::ops::ControlFlow::Continue(())
                });
                outcome.map(|()| count)
            };
            // The values of `reverse` are keys, which scanning does not unwrap.
            let tables = Table::ALL
                .into_iter()
                .filter(|table| *table != Table::Reverse);
            Ok(tables
                .map(|table| TableCheck {
                    table,
                    entries: check(table),
                })
                .collect())
        })
    }
}

/// What [`Store::check`] found in a table.
#[derive(Debug)]
pub struct TableCheck {
    /// The table.
    pub table: Table,
    /// How many entries it has, or the first that cannot be read.
    pub entries: Result<u64, StoreError>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("folder", &self.folder())
            .finish_non_exhaustive()
    }
}

pub(crate) fn format_place() -> TableKey<'static> {
    TableKey::named(Table::Meta, b"format")
}
