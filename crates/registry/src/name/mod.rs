//! Names: their records and values, and all operations on them.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod edit;
pub(crate) mod history;
pub(crate) mod link;
pub(crate) mod mint;
pub(crate) mod preview;
pub(crate) mod record;
pub(crate) mod rewrite;
pub(crate) mod show;
pub(crate) mod states;
pub(crate) mod undo;
pub(crate) mod url;
pub(crate) mod values;
pub(crate) mod withdraw;
