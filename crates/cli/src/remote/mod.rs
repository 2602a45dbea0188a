//! Commands that speak to a server: over its API, over the handle protocol, or through the socket of a data folder.

pub(crate) mod api;
pub(crate) mod authority_api;
pub(crate) mod handle_names;
pub(crate) mod handle_server;
pub(crate) mod http_client;
pub(crate) mod job_api;
pub(crate) mod log_api;
pub(crate) mod name_api;
pub(crate) mod namespace_api;
pub(crate) mod socket;
