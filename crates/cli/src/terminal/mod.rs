//! What commands read from and write to a terminal.

pub(crate) mod lines;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod words;
