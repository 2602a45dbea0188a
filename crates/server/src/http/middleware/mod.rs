//! Steps that every request and response passes: host and proxy checks, compression, the access
//! log.

pub(crate) mod access_log;
pub(crate) mod compression;
pub(crate) mod host;
pub(crate) mod proxies;
