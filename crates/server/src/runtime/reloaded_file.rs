//! A file that is read again when it has changed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::runtime::lock::Lock;

/// How often the file is checked for a change, in milliseconds.
pub(crate) const CHECK_INTERVAL: u64 = 60_000;

/// The content of a file, which `read` makes.
#[derive(Debug)]
pub(crate) struct ReloadedFile<S, T> {
    source: S,
    file: PathBuf,
    read: fn(&S) -> io::Result<T>,
    loaded: Lock<Loaded<T>>,
}

#[derive(Debug)]
struct Loaded<T> {
    content: Arc<T>,
    modified: Option<SystemTime>,
    /// When the file was last checked for a change, in milliseconds.
    checked_at: u64,
}

impl<S, T> ReloadedFile<S, T> {
    /// Reads a source, which changes when `file` does.
    pub(crate) fn open(
        source: S,
        file: PathBuf,
        read: fn(&S) -> io::Result<T>,
        now: u64,
    ) -> io::Result<Self> {
        let loaded = Loaded {
            modified: modified(&file),
            content: Arc::new(read(&source)?),
            checked_at: now,
        };
        Ok(Self {
            source,
            file,
            read,
            loaded: Lock::new(loaded),
        })
    }

    /// The content, after a look whether the file has changed.
    pub(crate) fn current(&self, now: u64) -> Arc<T> {
        let mut loaded = self.loaded.lock();
        if now.saturating_sub(loaded.checked_at) >= CHECK_INTERVAL {
            loaded.checked_at = now;
            let modified = modified(&self.file);
            if modified != loaded.modified {
                // It may be half written: the old content is good until the new one is complete.
                match (self.read)(&self.source) {
                    Ok(new) => (loaded.content, loaded.modified) = (Arc::new(new), modified),
                    Err(error) => tracing::warn!(
                        %error,
                        "a file that has changed cannot be read: its old content stays in use"
                    ),
                }
            }
        }
        Arc::clone(&loaded.content)
    }

    /// The content as it was read last.
    pub(crate) fn loaded(&self) -> Arc<T> {
        Arc::clone(&self.loaded.lock().content)
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}
