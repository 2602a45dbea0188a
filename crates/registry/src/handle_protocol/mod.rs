//! The operations of the handle protocol, and the data that mirrors copy.

pub(crate) mod dump;
pub(crate) mod operations;
pub(crate) mod prefix_record;
pub(crate) mod transactions;
pub(crate) mod unmirrored;
