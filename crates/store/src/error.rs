//! Errors of a store.

use std::io;
use std::path::PathBuf;

use crate::table_key::Table;

/// Why a store could not do something.
///
/// ```
/// use handfast_store::{Store, StoreError};
///
/// # let folder = tempfile::tempdir()?;
/// let error = Store::open(folder.path()).unwrap_err();
/// assert!(matches!(error, StoreError::NoStore { .. }));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder has a store already.
    #[error("{} holds a store already", .folder.display())]
    AlreadyExists {
        /// The folder.
        folder: PathBuf,
    },
    /// The function that decides a change panicked.
    #[error("this change failed inside the server: it was not made")]
    ChangePanicked,
    /// Stored data cannot be read.
    #[error("the store is damaged: table {table} at key {key}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The key, as text if it is text.
        key: String,
    },
    /// The file is not a store, or pages of it are missing or changed.
    #[error("the store is damaged: pages of data.mdb are missing or changed")]
    Damaged,
    /// The engine failed.
    #[error("the store failed: {0}")]
    Engine(#[source] heed::Error),
    /// The disk, or the map, is full.
    #[error("no room is left for the store; nothing of this change was kept")]
    Full,
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process has the folder open.
    #[error("{} is in use by another process", .folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has no store.
    #[error("{} holds no store", .folder.display())]
    NoStore {
        /// The folder.
        folder: PathBuf,
    },
    /// The file system cannot be written.
    #[error("the store is on a file system that is mounted read-only")]
    ReadOnlyFileSystem,
    /// This program does not know the format.
    #[error("{} has format {found}; this program knows format {known}", .folder.display())]
    OtherFormat {
        /// The folder.
        folder: PathBuf,
        /// The format of the folder.
        found: u32,
        /// The format of this program.
        known: u32,
    },
    /// The writer has stopped, because of an earlier failure.
    #[error("the store has been closed")]
    Closed,
}

impl From<heed::Error> for StoreError {
    fn from(error: heed::Error) -> Self {
        match error {
            heed::Error::Mdb(heed::MdbError::MapFull) => Self::Full,
            heed::Error::Mdb(
                heed::MdbError::Corrupted
                | heed::MdbError::Invalid
                | heed::MdbError::PageNotFound
                | heed::MdbError::VersionMismatch
                | heed::MdbError::Incompatible
                | heed::MdbError::BadTxn
                | heed::MdbError::CursorFull
                | heed::MdbError::PageFull
                | heed::MdbError::BadDbi
                | heed::MdbError::Problem
                | heed::MdbError::MapResized,
            ) => Self::Damaged,
            heed::Error::Io(error) if error.kind() == io::ErrorKind::StorageFull => Self::Full,
            error => Self::Engine(error),
        }
    }
}

impl StoreError {
    /// Whether pages of the store, or entries in them, are damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Damaged)
    }

    /// A copy of the error, for each of several callers whose changes fail in one batch.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Damaged => Self::Damaged,
            Self::Full => Self::Full,
            Self::Corrupt { table, key } => Self::Corrupt {
                table,
                key: key.clone(),
            },
            Self::Closed => Self::Closed,
            Self::ChangePanicked => Self::ChangePanicked,
            Self::ReadOnlyFileSystem => Self::ReadOnlyFileSystem,
            Self::Engine(error) => {
                Self::Engine(heed::Error::Io(io::Error::other(error.to_string())))
            }
            other => Self::Engine(heed::Error::Io(io::Error::other(other.to_string()))),
        }
    }

    pub(crate) fn corrupt(table: Table, key: &[u8]) -> Self {
        Self::Corrupt {
            table: table.name(),
            key: String::from_utf8_lossy(key).into_owned(),
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Io { path, source }
    }
}
