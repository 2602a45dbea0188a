//! How much of the store is in use, for operators.

pub use handfast_store::Usage;

use crate::registry::Registry;

impl Registry {
    /// How much of the store is in use.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.store.usage()
    }
}
