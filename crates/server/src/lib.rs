//! The network interfaces of Handfast: a request becomes a call of the registry, and the result
//! becomes bytes.
//!
//! `native` speaks the handle protocol (`handle-protocol.md`) over UDP and TCP; `http` holds
//! the resolver, the REST API, `/api/v1`, and pages. Both share a [`ServerContext`]. This crate
//! has no rules about names: the registry decides who may do what, and what happens to a name.

#![forbid(unsafe_code)]

mod admission;
mod auth;
mod context;
mod dspace;
mod error;
mod handles;
mod http;
mod listen;
mod native;
mod runtime;
mod setup;
mod status;

pub use admission::network::{BadNetwork, Network};
pub use admission::udp_responses::UdpLimits;
pub use context::ServerContext;
pub use dspace::{Dspace, DspaceSource};
pub use http::api_v1::convert;
pub use http::api_v1::operator::{AS_HEADER, LocalApi, LocalBody};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use http::fuzzing;
pub use http::local_socket::{LocalSocket, SOCKET};
pub use http::{
    AccessLog, Acme, AcmeChallenge, BadColour, BadPublicUrl, Colour, PublicUrl, ShownSetting,
    SiteSettings, Tls, TlsFiles, WebSettings, base_url,
};
pub use hyper::header::HeaderName;
pub use listen::{Addresses, Listener, RunningServer};
pub use runtime::panics::log_panics;
pub use setup::bundle::{Bundle, Contact};
pub use setup::identity::{Identity, IdentityError};
pub use setup::site_record::SiteNote;
pub use setup::takeover::{HandleServer, TakeoverError};
