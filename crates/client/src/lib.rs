//! A client for any handle server: it finds the server, resolves and administers handles.
//!
//! A [`Client`] asks the server of a handle, which it finds from [`Roots`], or a chosen [`Target`].
//! It uses UDP, repeats lost requests, switches to TCP and to HTTP, verifies signatures, answers
//! challenges with a [`Login`], and caches answers for as long as their TTLs allow. It is
//! asynchronous, on tokio; dropping a future stops its work.
//!
//! ```no_run
//! use handfast_client::{Client, Creation, Login, Query, ServerAddress, Environment};
//! use handfast_wire::Value;
//!
//! # async fn example() -> Result<(), handfast_client::ClientError> {
//! let server: ServerAddress = "127.0.0.1:2641".parse()?;
//! let client = Client::new(Environment::system()).at(server);
//!
//! let login = Login::with_secret("300:20.1000/admin", b"secret")?;
//! let values = [Value::new(1, "URL", b"https://example.org/")];
//! let admin = client.with_login(login);
//! admin.create("20.1000/5555", &values, Creation::default()).await?;
//! admin.end_sessions().await;
//!
//! let found = client.resolve("20.1000/5555", &Query::all()).await?;
//! assert_eq!(found.values.len(), 1);
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

mod administration;
mod authentication;
mod cache;
mod client;
mod environment;
mod error;
mod exchange;
#[cfg(feature = "https")]
pub mod https;
mod locate;
mod public_address;
mod resolve;
mod roots;
mod service;
mod session;
mod shared;
mod target;
mod transport;

pub use administration::{Created, Creation};
pub use authentication::Login;
pub use client::Client;
pub use environment::Environment;
pub use error::{ClientError, Remedy, ReplyFault};
pub use resolve::{Query, Resolution};
pub use roots::{Roots, RootsError};
pub use target::{ServerAddress, Target, Transport};
