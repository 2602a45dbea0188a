//! Backups: one file with the copies of two environments.
//!
//! A backup begins with the copy of the registry's environment, as it always did. If there are
//! observations, a copy of their environment follows, then its length (u64) and a mark. A program
//! that does not know the second copy restores the first one: it takes the whole file for the copy,
//! and the engine overwrites what follows the pages of the first one.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use handfast_store::{Store, StoreError, sync_name};

use crate::clock::{parse_rfc3339, rfc3339};
use crate::error::RegistryError;
use crate::observed::last_seen::OBSERVED;
use crate::registry::Registry;

/// The last bytes of a backup with observations.
const MARK: &[u8; 17] = b"handfast observed";
/// The file in the data folder that says when the last backup was made.
const LAST_BACKUP: &str = "last-backup";
/// The length of the second copy, and the mark.
const TRAILER_BYTES: u64 = 8 + 17;

impl Registry {
    /// Writes a copy to a new file of mode 0600, while reads and writes continue.
    pub fn backup(&self, file: &Path) -> Result<(), RegistryError> {
        let mut options = OpenOptions::new();
        let created = options.write(true).create_new(true).mode(0o600).open(file);
        let mut copy = created.map_err(|source| StoreError::Io {
            path: file.to_path_buf(),
            source,
        })?;
        // An incomplete copy is deleted.
        self.backup_to(&mut copy)
            .inspect_err(|_| drop(fs::remove_file(file)))?;
        self.note_backup();
        Ok(())
    }

    /// Notes that a backup was made now, in a file of its own: a command that makes one opens the
    /// store to read only. A folder that cannot be written has no such note.
    pub fn note_backup(&self) {
        let text = format!("{}\n", rfc3339(self.time()));
        drop(fs::write(self.folder().join(LAST_BACKUP), text));
    }

    /// When the last backup of this folder was made, in milliseconds since 1970, if that is known.
    ///
    /// ```
    /// # use handfast_registry::{Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let data = folder.path().join("data");
    /// # let registry = Registry::create(&data, Environment::new(|| 7_000, |b| b.fill(1)))?;
    /// assert_eq!(registry.last_backup(), None);
    /// registry.backup(&folder.path().join("copy"))?;
    /// assert_eq!(registry.last_backup(), Some(7_000));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    #[must_use]
    pub fn last_backup(&self) -> Option<u64> {
        let text = fs::read_to_string(self.folder().join(LAST_BACKUP)).ok()?;
        parse_rfc3339(text.trim())
    }

    /// Writes a copy to an open, empty file.
    pub fn backup_to(&self, file: &mut File) -> Result<(), RegistryError> {
        self.store.backup_to(file)?;
        let folder = self.folder().join(OBSERVED);
        if !folder.join("data.mdb").exists() {
            return Ok(());
        }
        let io = |source| RegistryError::Output { source };
        let start = file.stream_position().map_err(io)?;
        let observed = match self.observed_store() {
            // A server is about to make it.
            Err(RegistryError::Store(StoreError::NoStore { .. })) => return Ok(()),
            outcome => outcome,
        };
        let copied = observed.and_then(|observed| {
            if !observed.is_read_only() {
                // Times are written in the background: this waits for those before.
                observed.change(|_| Ok::<_, StoreError>((Vec::new(), ())))?;
            }
            Ok(observed.backup_to(file)?)
        });
        copied.map_err(|error| match error {
            RegistryError::Store(error) if error.is_damage() => {
                let problem = format!(
                    "{} is damaged: move it away and try again; only the times of last use are \
                     lost",
                    folder.display()
                );
                RegistryError::policy("damaged-observations", problem)
            }
            error => error,
        })?;
        let length = file.stream_position().map_err(io)?.saturating_sub(start);
        file.write_all(&length.to_be_bytes()).map_err(io)?;
        file.write_all(MARK).map_err(io)?;
        file.sync_all().map_err(io)
    }
}

/// Restores the copies of a backup to a folder that has none, and returns the registry's.
pub(crate) fn restore(file: &Path, folder: &Path) -> Result<Store, StoreError> {
    let io = |source| StoreError::Io {
        path: file.to_path_buf(),
        source,
    };
    let mut backup = File::open(file).map_err(io)?;
    let length = backup.metadata().map_err(io)?.len();
    let observed = observed_length(&mut backup, length).map_err(io)?;
    let Some(observed) = observed else {
        return Store::restore(file, folder);
    };
    let end = length.saturating_sub(TRAILER_BYTES);
    let start = end.saturating_sub(observed);
    let store = Store::restore_part(file, 0..start, folder)?;
    let folder = folder.join(OBSERVED);
    drop(Store::restore_part(file, start..end, &folder)?);
    sync_name(&folder).map_err(io)?;
    Ok(store)
}

/// The length of the second copy, if there is one.
fn observed_length(backup: &mut File, length: u64) -> std::io::Result<Option<u64>> {
    let Some(at) = length.checked_sub(TRAILER_BYTES) else {
        return Ok(None);
    };
    backup.seek(SeekFrom::Start(at))?;
    let (mut observed, mut mark) = ([0; 8], [0; MARK.len()]);
    backup.read_exact(&mut observed)?;
    backup.read_exact(&mut mark)?;
    let observed = u64::from_be_bytes(observed);
    Ok((mark == *MARK && observed < at).then_some(observed))
}
