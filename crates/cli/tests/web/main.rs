//! The web door as those meet it who run the program: operations, the API, and commands beside a
//! server.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod api;
mod beside;
mod elsewhere;
mod guarded;
mod imports;
mod jobs;
mod namespaces;
mod operations;
mod operator;
mod quotas;
mod server;
mod updates;
