//! Usage of the store, and whether it can be written, for operators.

pub use handfast_store::{DiskSpace, Usage};

use crate::error::RegistryError;
use crate::registry::Registry;

impl Registry {
    /// How much of the store is in use.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.store.usage()
    }

    /// Asks whether the store can be written: see [`Store::probe`](handfast_store::Store::probe).
    pub fn probe_store(&self, answer: impl FnOnce(Result<(), RegistryError>) + Send + 'static) {
        self.store
            .probe(move |outcome| answer(outcome.map_err(RegistryError::from)));
    }

    /// Whether the writer has worked on one change for so long that it counts as stuck.
    #[must_use]
    pub fn is_writer_stuck(&self) -> bool {
        self.store.is_writer_stuck()
    }

    /// Whether a read or a write has met damage since the folder was opened.
    #[must_use]
    pub fn is_store_damaged(&self) -> bool {
        self.store.is_damaged()
    }

    /// Why the last commit failed; `None` if it succeeded.
    #[must_use]
    pub fn last_store_failure(&self) -> Option<String> {
        self.store.last_failure()
    }

    /// The file system of the store; `None` if the system does not tell.
    #[must_use]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        self.store.disk_space()
    }
}
