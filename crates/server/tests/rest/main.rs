//! The handle REST API over real connections, by the tables of `http-interfaces.md` A and C.3.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may panic, and reads the clock"
)]

mod changing;
mod hostile;
mod logging_in;
mod native_logins;
mod one_reading;
mod reading;
mod searching;
mod server;
