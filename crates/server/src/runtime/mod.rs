//! What the server needs to run on several cores: threads for blocking work, locks, counters,
//! snapshot reuse, and panics in the log.

pub(crate) mod blocking;
pub(crate) mod counters;
pub(crate) mod lock;
pub(crate) mod native_metrics;
pub(crate) mod own_runtime;
pub(crate) mod panics;
pub(crate) mod reloaded_file;
pub(crate) mod snapshot_reuse;
