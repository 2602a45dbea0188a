//! Connections: the fast path, TLS, timeouts, and request bodies as they arrive.

pub(crate) mod fast_path;
pub(crate) mod handshake;
pub(crate) mod pending_responses;
pub(crate) mod prefixed_stream;
pub(crate) mod request_body;
pub(crate) mod self_signed;
pub(crate) mod timeouts;
pub(crate) mod tls;
