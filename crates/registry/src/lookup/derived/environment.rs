//! Opening the environment `derived/`, and its position in the log.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use handfast_store::{Snapshot, Store, StoreError, Table, TableKey, Write};

use crate::error::RegistryError;
use crate::registry::{Registry, locked};

/// The folder, inside the data folder.
pub(crate) const DERIVED: &str = "derived";
/// The size of the map of an environment beside the registry's. It is sparse.
pub(crate) const SIDE_MAP_SIZE: usize = 1 << 36;
/// The format of the derived data. Data of another format is rebuilt.
const DERIVED_FORMAT: u32 = 1;
/// A file that is there while the environment is opened and read. If reading it has ended the
/// process, the next process finds the file and rebuilds the environment.
const OPENING: &str = "opening";

/// The environment, opened at first use.
#[derive(Default)]
pub(crate) struct Derived {
    opened: Mutex<Option<Arc<Store>>>,
    /// Locked by the one thread that brings it up to date.
    pub(crate) following: Mutex<()>,
    /// Whether a background thread follows the events.
    pub(crate) is_followed: AtomicBool,
}

/// The last event whose effects are in the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// Its number; 0 before the first one.
    pub(crate) event: u64,
    /// Its leaf hash, which tells whether the log is still the same.
    pub(crate) leaf: [u8; 32],
}

impl Position {
    /// The position of a snapshot of the environment; `None` if it is empty or of another format.
    pub(crate) fn of(derived: &Snapshot<'_>) -> Result<Option<Self>, StoreError> {
        let read = |bytes: &[u8]| {
            let (format, rest) = bytes.split_first_chunk::<4>()?;
            let (event, leaf) = rest.split_first_chunk::<8>()?;
            let position = Self {
                event: u64::from_be_bytes(*event),
                leaf: leaf.try_into().ok()?,
            };
            (u32::from_be_bytes(*format) == DERIVED_FORMAT).then_some(position)
        };
        Ok(derived.get(&position_key(), read)?.flatten())
    }

    pub(crate) fn write(self) -> Write {
        let format = DERIVED_FORMAT.to_be_bytes();
        let bytes = [&format[..], &self.event.to_be_bytes(), &self.leaf].concat();
        Write::Put(position_key(), bytes)
    }
}

fn position_key() -> TableKey<'static> {
    TableKey::named(Table::Meta, b"position")
}

impl Registry {
    /// The environment as it is.
    pub(crate) fn derived_store(&self) -> Result<Arc<Store>, RegistryError> {
        let mut opened = locked(&self.derived.opened);
        if let Some(store) = &*opened {
            return Ok(Arc::clone(store));
        }
        let folder = self.folder().join(DERIVED);
        let store = if self.store.is_read_only() {
            Store::open_read_only(&folder)?
        } else {
            open(&folder)?
        };
        Ok(Arc::clone(opened.insert(Arc::new(store))))
    }

    /// The environment, up to date if no background thread follows the events. With such a thread
    /// nobody waits: the environment may be some events behind.
    pub(crate) fn current_derived(&self) -> Result<Arc<Store>, RegistryError> {
        let is_followed = self.derived.is_followed.load(Ordering::Acquire);
        if !is_followed && !self.store.is_read_only() {
            self.follow_now(&AtomicBool::new(false))?;
        }
        self.derived_store()
    }

    /// Deletes the environment and makes an empty one.
    pub(crate) fn discard_derived(&self) -> Result<Arc<Store>, RegistryError> {
        *locked(&self.derived.opened) = None;
        let folder = self.folder().join(DERIVED);
        remove(&folder)?;
        self.derived_store()
    }
}

/// Opens the environment. A damaged one, or one of another format, is replaced by an empty one.
fn open(folder: &Path) -> Result<Store, RegistryError> {
    let mark = folder.join(OPENING);
    if mark.exists() {
        remove(folder)?;
    }
    let failed = |source| StoreError::Io {
        path: mark.clone(),
        source,
    };
    fs::create_dir_all(folder).map_err(failed)?;
    File::create(&mark).map_err(failed)?;
    let store = match open_checked(folder) {
        Err(error) if is_disposable(&error) => {
            remove(folder)?;
            Store::open_or_create(folder, SIDE_MAP_SIZE)?
        }
        outcome => outcome?,
    };
    // The folder may be a new one, without the file.
    drop(fs::remove_file(&mark));
    Ok(store)
}

/// Opens it and reads all of it: a damaged page is found here, and not later.
fn open_checked(folder: &Path) -> Result<Store, StoreError> {
    let store = Store::open_or_create(folder, SIDE_MAP_SIZE)?;
    for table in store.check()? {
        table.entries?;
    }
    Ok(store)
}

/// Whether an environment that can be rebuilt is deleted because of an error.
pub(crate) fn is_disposable(error: &StoreError) -> bool {
    error.is_damage() || matches!(error, StoreError::OtherFormat { .. })
}

fn remove(folder: &Path) -> Result<(), StoreError> {
    fs::remove_dir_all(folder).or_else(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(StoreError::Io {
            path: folder.to_path_buf(),
            source,
        }),
    })
}
