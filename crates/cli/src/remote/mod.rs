//! Where commands get their answers: the API of this program, and handle servers.

pub(crate) mod client;
pub(crate) mod handle_names;
pub(crate) mod handle_server;
pub(crate) mod http_client;
