//! The handle protocol as bytes.
//!
//! Takes bytes and gives values, and back: no sockets, no clock, no threads. Lengths that come from
//! outside are checked against what remains in the buffer before anything is allocated.
//!
//! So far this holds what a stored record is made of: [`Value`]s, and the structured data inside
//! some of them: [`Admin`], [`ValueList`], [`PublicKey`] and [`Site`]; and two ways to write it down:
//! `json`, with the feature of that name, and [`batch`] files. [`Credential`] is the end of a message.
//! Of the files of deployed software it reads [`RootInfo`], [`LocalInfo`] and [`Dct`].
//!
//! | feature | gives |
//! | --- | --- |
//! | `crypto` | signatures, secret keys, sessions, private key files |
//! | `json` | values in JSON |
//! | `namespace` | template handles |
//!
//! ```
//! use handfast_wire::{Codec, Value};
//!
//! let value = Value::new(1, "URL", b"https://example.org/abc");
//! let bytes = value.to_bytes();
//! assert_eq!(Value::from_bytes(&bytes)?, value);
//! # Ok::<_, handfast_wire::DecodeError>(())
//! ```

#![forbid(unsafe_code)]

mod admin;
pub mod batch;
mod codec;
mod credential;
#[cfg(feature = "crypto")]
pub mod crypto;
mod dct;
#[cfg(feature = "json")]
pub mod json;
#[cfg(feature = "namespace")]
pub mod namespace;
mod permissions;
mod public_key;
mod reference;
mod root_info;
mod site;
mod value;

pub use admin::{Admin, AdminPermissions};
pub use codec::{Codec, DecodeError, Reader};
pub use credential::{Credential, Framing};
pub use dct::{Dct, DctError};
pub use permissions::{Permissions, PermissionsError};
pub use public_key::PublicKey;
pub use reference::{Reference, ValueList};
pub use root_info::{LocalInfo, LocalSite, RootInfo};
pub use site::{Site, SiteInterface, SiteServer};
pub use value::{Ttl, Value, type_matches};
