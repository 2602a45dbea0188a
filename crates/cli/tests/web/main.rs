//! HTTP as the users of the program meet it: operations, the API, and commands beside a server.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod api;
mod beside;
mod groups;
mod imports;
mod jobs;
mod namespaces;
mod operations;
mod operator;
mod quotas;
mod remote;
mod server;
mod sign_in;
mod updates;
