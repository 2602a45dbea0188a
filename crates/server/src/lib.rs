//! The doors: a request becomes a call of the registry, and what comes of it bytes.
//!
//! The native door speaks the handle protocol (`handle-protocol.md`) over UDP and TCP, the web door takes it
//! through HTTP. No rule about names
//! is here: who may do what, and what becomes of a name, is the registry's.

#![forbid(unsafe_code)]

mod admission;
mod dspace;
mod http;
mod listen;
mod native;
mod runtime;
mod setup;

pub use admission::udp_responses::UdpLimits;
pub use dspace::{Dspace, DspaceSource};
pub use http::api_v1::convert;
pub use http::api_v1::operator::{AS_HEADER, LocalApi, LocalBody};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use http::fuzzing;
pub use http::local_socket::{LocalSocket, SOCKET};
pub use http::{
    AccessLog, Acme, AcmeChallenge, BadNetwork, BadPublicUrl, Network, PublicUrl, Tls, TlsFiles,
    WebSettings,
};
pub use hyper::header::HeaderName;
pub use native::{Addresses, Door, Native, Served};
pub use runtime::panics::log_panics;
pub use setup::bundle::{Bundle, Contact};
pub use setup::identity::{Identity, IdentityError};
pub use setup::site_record::SiteNote;
pub use setup::takeover::{HandleServer, TakeoverError};
