//! The handle protocol as bytes.
//!
//! It takes bytes and returns values, and back: no sockets, no clock, no threads. Lengths from
//! outside are checked against the rest of the buffer before anything is allocated.
//!
//! There are two layers. The first is the content of a stored record: [`Value`]s, and the
//! structured data inside some of them: [`Admin`], [`ValueList`], [`PublicKey`] and [`Site`]; with
//! two text forms: `json`, with the feature of that name, and [`batch`] files. The second is the
//! protocol: a [`Message`] of [`Envelope`], [`Header`] and a [`body`] for each operation, with a
//! [`Credential`] at its end, which [`packets`] cuts into datagrams and a [`Reassembly`] puts
//! together again. Of the files of deployed software it reads [`RootInfo`], [`LocalInfo`] and
//! [`Dct`].
//!
//! | feature | gives |
//! | --- | --- |
//! | `crypto` | signatures, secret keys, sessions, private key files, the choice of a server |
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
pub mod body;
mod codec;
mod codes;
mod credential;
#[cfg(feature = "crypto")]
pub mod crypto;
mod dct;
mod digest;
mod envelope;
mod field;
mod fragment;
#[cfg(feature = "crypto")]
mod handle_hash;
mod header;
#[cfg(feature = "json")]
pub mod json;
mod message;
#[cfg(feature = "namespace")]
pub mod namespace;
mod opcode;
mod permissions;
mod public_key;
mod reference;
mod responder;
mod root_info;
mod site;
mod value;
mod version;

pub use admin::{Admin, AdminPermissions};
pub use codec::{Codec, DecodeError, Reader, put_bytes};
pub use credential::{Credential, Framing};
pub use dct::{Dct, DctError};
pub use digest::{DigestAlgorithm, RequestDigest};
pub use envelope::{Envelope, EnvelopeFlags};
pub use fragment::{FragmentError, MAX_PACKET, Reassembly, packets};
#[cfg(feature = "crypto")]
pub use handle_hash::handle_hash;
pub use header::{Header, OpFlags};
pub use message::{Message, put_message};
pub use opcode::{Opcode, ResponseCode};
pub use permissions::{Permissions, PermissionsError};
pub use public_key::PublicKey;
pub use reference::{Reference, ValueList};
pub use responder::Responder;
pub use root_info::{LocalInfo, LocalSite, RootInfo};
pub use site::{Site, SiteInterface, SiteServer};
pub use value::{Ttl, Value, type_matches};
pub use version::Version;
