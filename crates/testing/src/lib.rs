//! What the integration tests of several crates share.
//!
//! - [`Server`]: a server in the process of the test, which [`Setup`] makes; [`Server::start`]
//!   has names of every kind.
//! - [`Folder`]: a folder in which the program is run, and [`Process`]: the program as a server.
//! - [`HttpClient`] and its [`Response`]: raw HTTP/1.1. Both kinds of server are asked by it.
//! - [`native`]: messages of the handle protocol; [`Login`] answers a challenge.
//! - [`clock`]: the clock of this machine, or one that the test moves.
//!
//! Use it from `tests/` only. In unit tests, the crate under test is compiled a second time, and
//! its types are not those of this crate.

#![forbid(unsafe_code)]
#![expect(
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic, and uses what it asks for"
)]

pub mod clock;
mod folder;
mod http;
pub mod native;
mod process;
mod sample;
mod server;
pub mod tls;

pub use folder::{Folder, done, lines};
pub use http::{HttpClient, Response, bearer, exchange, read, without_nonce};
pub use native::Login;
pub use process::Process;
pub use sample::many_names;
pub use server::{OPERATOR, Server, Setup};
