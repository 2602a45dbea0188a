//! Opening the file of a store: its lock, its map, and the check that it is complete.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use heed::types::Bytes;
use heed::{Database, DatabaseFlags, Env, EnvFlags, EnvOpenOptions, WithoutTls};

use crate::damage_handler;
use crate::error::StoreError;
use crate::table_key::Table;

/// How many pages an intact file may lack at its end.
const FEW_PAGES: u64 = 64;
/// The maximum number of concurrent readers.
const MAX_READERS: u32 = 8_192;

/// Locks a data folder: one process writes it. The lock ends with the process, however it ends.
pub(crate) fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("in-use");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(StoreError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::Locked {
            folder: folder.to_path_buf(),
        }),
        Err(fs::TryLockError::Error(error)) => Err(StoreError::io(path)(error)),
    }
}

/// How a table is opened.
pub(crate) fn flags(table: Table) -> DatabaseFlags {
    if table.is_multiple() {
        DatabaseFlags::DUP_SORT
    } else {
        DatabaseFlags::empty()
    }
}

type Opened = Result<Database<Bytes, Bytes>, heed::Error>;

/// All tables, or why one of them could not be opened.
pub(crate) fn whole(
    tables: [Opened; Table::ALL.len()],
) -> Result<[Database<Bytes, Bytes>; Table::ALL.len()], StoreError> {
    let tables: Vec<_> = tables.into_iter().collect::<Result<_, _>>()?;
    // There are as many results as tables.
    tables.try_into().map_err(|_| StoreError::Closed)
}

/// Whether an environment is opened for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

pub(crate) fn open_env(
    folder: &Path,
    map_size: usize,
    access: Access,
) -> Result<Env<WithoutTls>, StoreError> {
    let count = u32::try_from(Table::ALL.len()).unwrap_or(u32::MAX);
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options
        .map_size(map_size)
        .max_dbs(count)
        .max_readers(MAX_READERS);
    if access == Access::Write {
        // The values may contain secrets.
        for name in ["data.mdb", "lock.mdb"] {
            let path = folder.join(name);
            if path.exists() {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
                    .map_err(StoreError::io(&path))?;
            }
        }
    }
    #[expect(unsafe_code, reason = "LMDB maps a file; see the safety comment")]
    // Safety: the map is undefined behaviour if another process shortens or changes the file in
    // place. The folder is ours, its files are mode 0600, and the lock above keeps other writers of
    // ours out. Processes that only read are in LMDB's own table of readers. The flag only
    // restricts what may be done.
    let env = unsafe {
        if access == Access::Read {
            options.flags(EnvFlags::READ_ONLY);
        }
        options.open(folder)
    };
    let env = env?;
    let path = folder.join("data.mdb");
    damage_handler::watch(&path);
    if access == Access::Write {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
            .map_err(StoreError::io(&path))?;
    }
    Ok(env)
}

/// Extends the file to the size of the map. Missing pages would end the process when they are read.
/// An intact file may lack a few at its end, which were freed before they were ever written; a file
/// that lacks many was truncated.
pub(crate) fn fill_up(env: &Env<WithoutTls>, folder: &Path) -> Result<(), StoreError> {
    let file = folder.join("data.mdb");
    let length = file.metadata().map_err(StoreError::io(&file))?.len();
    let pages = u64::try_from(env.info().last_page_number).unwrap_or(u64::MAX);
    // The file states its page size: it may come from a machine with another one.
    let page = u64::from(env.stat().page_size);
    let promised = bytes_promised(pages, page);
    if promised <= length {
        return Ok(());
    }
    if promised - length > FEW_PAGES * page {
        return Err(StoreError::Damaged);
    }
    let writable = OpenOptions::new()
        .write(true)
        .open(&file)
        .map_err(StoreError::io(&file))?;
    writable.set_len(promised).map_err(StoreError::io(file))
}

/// The length of a file, from the number of its last page.
pub(crate) fn bytes_promised(last_page: u64, page_size: u64) -> u64 {
    last_page.saturating_add(1).saturating_mul(page_size)
}
