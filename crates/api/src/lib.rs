//! The JSON of `/api/v1`: one type for each request and each response.
//!
//! The server writes and reads these types, a client may use the same ones, and the `OpenAPI`
//! document is derived from them: the comment of a type or field is its description there.
//!
//! ```
//! use handfast_api::NewName;
//!
//! let new: NewName = NewName {
//!     id: "20.1000/report-7".into(),
//!     urls: vec!["https://example.org/reports/7".into()],
//!     ..NewName::default()
//! };
//! assert_eq!(
//!     serde_json::to_string(&new)?,
//!     r#"{"id":"20.1000/report-7","urls":["https://example.org/reports/7"]}"#,
//! );
//! // A request with an unknown member is an error, so that a typing error is noticed.
//! assert!(serde_json::from_str::<NewName>(r#"{"id": "20.1000/a", "url": "x"}"#).is_err());
//! # Ok::<_, serde_json::Error>(())
//! ```
//!
//! In requests, a member that is `None` or empty is left out. In responses, a member without a
//! value is `null`, unless its comment says that it is left out; unknown members of responses are
//! ignored, so that a client can talk to a newer server.
//!
//! Members stand in alphabetical order, as `serde_json` writes its maps: a response has the same
//! bytes whether it is written from a type or from a map.

#![forbid(unsafe_code)]

mod access;
mod account;
mod authority;
mod job;
pub mod limits;
mod log;
mod name;
mod namespace;
mod namespace_form;
mod problem;
mod server;
mod sign_in;
mod value;
mod words;

pub use access::*;
pub use account::*;
pub use authority::*;
pub use job::*;
pub use log::*;
pub use name::*;
pub use namespace::*;
pub use namespace_form::*;
pub use problem::*;
pub use server::*;
pub use sign_in::*;
pub use value::*;

/// Whether a member says what it would say if it were left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
