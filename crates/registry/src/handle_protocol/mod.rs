//! What the handle protocol does to handles, and what mirrors copy.

pub(crate) mod dump;
pub(crate) mod operations;
pub(crate) mod transactions;
pub(crate) mod unmirrored;
