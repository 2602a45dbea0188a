//! The health of the writer: the last error, and the state of the file system.
//!
//! A full disk or a read-only file system shows in two ways: a commit fails, which is recorded
//! until one succeeds; and the file system reports its free space and how it is mounted, which
//! needs no writer.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::error::StoreError;

/// With less free space than this, in bytes, the store counts as full.
pub(crate) const MIN_FREE_BYTES: u64 = 1 << 20;

/// How long one batch or one load may take before the writer counts as stuck. Loads of large
/// imports take seconds.
const MAX_WORK_TIME: Duration = Duration::from_mins(1);

/// The state of the writer.
#[derive(Debug, Default)]
pub(crate) struct Health {
    last_failure: Mutex<Option<String>>,
    working_since: Mutex<Option<Instant>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Health {
    /// Records the result of a commit.
    pub(crate) fn note(&self, committed: &Result<(), StoreError>) {
        match committed {
            Ok(()) => *locked(&self.last_failure) = None,
            Err(error) => self.failed(error),
        }
    }

    /// Records that a transaction could not begin or be committed.
    pub(crate) fn failed(&self, error: &StoreError) {
        *locked(&self.last_failure) = Some(error.to_string());
    }

    /// Why the last commit failed; `None` if it succeeded.
    pub(crate) fn last_failure(&self) -> Option<String> {
        locked(&self.last_failure).clone()
    }

    /// Runs work of the writer, and measures its time.
    pub(crate) fn work(&self, work: impl FnOnce()) {
        *locked(&self.working_since) = Some(now());
        work();
        *locked(&self.working_since) = None;
    }

    /// Whether the writer has spent too long on one piece of work.
    pub(crate) fn is_stuck(&self) -> bool {
        locked(&self.working_since).is_some_and(|since| since.elapsed() > MAX_WORK_TIME)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long the writer works is about this machine, not about the records"
)]
fn now() -> Instant {
    Instant::now()
}

/// The file system of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// How many bytes this process may still write.
    pub free: u64,
    /// Whether nothing can be written at all.
    pub is_read_only: bool,
}

impl DiskSpace {
    /// The state of the file system of a folder; `None` if the system does not tell.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let space = statvfs(folder).ok()?;
        Some(Self {
            free: space.f_bavail.saturating_mul(space.f_frsize),
            is_read_only: space.f_flag.contains(StatVfsMountFlags::RDONLY),
        })
    }

    /// Whether the store can grow.
    #[must_use]
    pub fn is_enough(self) -> bool {
        self.problem().is_none()
    }

    /// Why the store cannot grow, if it cannot.
    pub(crate) fn problem(self) -> Option<StoreError> {
        if self.is_read_only {
            Some(StoreError::ReadOnlyFileSystem)
        } else if self.free < MIN_FREE_BYTES {
            Some(StoreError::Full)
        } else {
            None
        }
    }
}
