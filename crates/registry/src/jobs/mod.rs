//! Jobs: running, showing, resuming and undoing work on many names.

pub(crate) mod access;
pub(crate) mod bulk;
pub(crate) mod errors;
pub(crate) mod job;
pub(crate) mod job_list;
pub(crate) mod preview;
pub(crate) mod running;
pub(crate) mod undo;
pub(crate) mod undone;
pub(crate) mod withdrawal;
