//! Names: their records and values, and everything that is done with them.

pub(crate) mod conditional;
pub(crate) mod history;
pub(crate) mod manage;
pub(crate) mod mint;
pub(crate) mod record;
pub(crate) mod rewrite;
pub(crate) mod states;
pub(crate) mod undo;
pub(crate) mod url;
pub(crate) mod values;
