//! The doors: a request becomes a call of the registry, and what comes of it bytes.
//!
//! The native door speaks the handle protocol (`handle-protocol.md`) over UDP and TCP, the web door takes it
//! through HTTP. No rule about names
//! is here: who may do what, and what becomes of a name, is the registry's.

#![forbid(unsafe_code)]

mod admission;
mod blocking;
mod bundle;
mod dspace;
mod handle_server;
mod identity;
mod key_files;
mod native;
mod panics;
mod shards;
mod site;
mod turn;
mod web;
mod zip;

pub use admission::udp_responses::UdpLimits;
pub use bundle::{Bundle, Contact};
pub use dspace::{Dspace, DspaceSource};
pub use handle_server::{HandleServer, TakeoverError};
pub use hyper::header::HeaderName;
pub use identity::{Identity, IdentityError};
pub use native::{Addresses, Door, Native, Served};
pub use panics::log_panics;
pub use site::SiteNote;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use web::fuzzing;
pub use web::{
    AccessLog, Acme, AcmeChallenge, BadNetwork, BadPublicUrl, Network, PublicUrl, Tls, TlsFiles,
    WebSettings,
};
