//! Batch files: operations on handles as lines of text (`handle-protocol.md` §12.1).
//!
//! Operations are read one at a time, whatever the size of the file. A malformed operation is
//! reported with its line, and the next one is read nevertheless.
//!
//! ```
//! use handfast_wire::batch::{BatchReader, Operation};
//!
//! let file = "CREATE 20.500.12345/abc\n1 URL 86400 1110 UTF8 https://example.org/abc\n\n\
//!             DELETE 20.500.12345/x\n";
//! let mut lines = Vec::new();
//! for entry in BatchReader::new(file.as_bytes()) {
//!     let entry = entry?;
//!     assert!(matches!(entry.operation?, Operation::Create { .. } | Operation::Delete { .. }));
//!     lines.push(entry.line);
//! }
//! assert_eq!(lines, [1, 4]);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod error;
mod inline;
mod lines;
pub(crate) mod parse;
mod read;
mod write;

use std::fmt;
use std::net::IpAddr;

pub use error::{BatchError, BatchReason};
pub use inline::{FileValue, inline_files};
pub use read::BatchReader;
pub use write::{BatchWriteError, write_create};

use crate::{Admin, AdminPermissions, Codec, Permissions, Reference, ValueList};

/// An operation and where it stands.
///
/// ```
/// use handfast_wire::batch::BatchReader;
///
/// let entry = BatchReader::new(&b"\n\nDELETE\n"[..]).next().unwrap()?;
/// assert_eq!(entry.line, 3);
/// let error = entry.operation.unwrap_err().to_string();
/// assert_eq!(error, "line 3: there is no handle after the command");
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchEntry {
    /// The line of its command, counted from 1.
    pub line: u64,
    /// The operation, or why it cannot be read.
    pub operation: Result<Operation, BatchError>,
}

/// An operation of a batch.
///
/// ```
/// use handfast_wire::batch::{BatchReader, Operation};
///
/// let entry = BatchReader::new(&b"remove 2,3:20.1000/x"[..]).next().unwrap()?;
/// let expected = Operation::Remove { indexes: vec![2, 3], handle: "20.1000/x".into() };
/// assert_eq!(entry.operation, Ok(expected));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Add values to a handle.
    Add {
        /// The handle.
        handle: String,
        /// The values.
        values: Vec<BatchValue>,
    },
    /// Be this administrator from here on.
    Authenticate {
        /// Who.
        administrator: Reference<'static>,
        /// By what.
        credential: BatchCredential,
    },
    /// Create a handle.
    Create {
        /// The handle.
        handle: String,
        /// Its values.
        values: Vec<BatchValue>,
    },
    /// Delete a handle.
    Delete {
        /// The handle.
        handle: String,
    },
    /// Tell a site that it serves prefixes.
    Home {
        /// Where the site is.
        server: BatchServer,
        /// The handles of the prefixes, each beginning with `0.NA/`.
        prefixes: Vec<String>,
    },
    /// Replace values of a handle.
    Modify {
        /// The handle.
        handle: String,
        /// The values, by their indexes.
        values: Vec<BatchValue>,
    },
    /// Remove values of a handle.
    Remove {
        /// The indexes of the values.
        indexes: Vec<u32>,
        /// The handle.
        handle: String,
    },
    /// Use a session from here on, or none.
    SessionSetup(BatchSessionSetup),
    /// Tell a site that it no longer serves prefixes.
    Unhome {
        /// Where the site is.
        server: BatchServer,
        /// The handles of the prefixes, each beginning with `0.NA/`.
        prefixes: Vec<String>,
    },
}

/// A value as a batch has it: no timestamp, no references, no absolute TTL.
///
/// ```
/// use handfast_wire::Permissions;
/// use handfast_wire::batch::{BatchData, BatchValue};
///
/// let value = BatchValue {
///     index: 1,
///     value_type: "URL".into(),
///     ttl: 86_400,
///     permissions: Permissions::DEFAULT,
///     data: BatchData::Text("https://example.org/".into()),
/// };
/// assert_eq!(value.data.to_bytes().unwrap(), b"https://example.org/");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchValue {
    /// The index, from 1 to 2³¹−1.
    pub index: u32,
    /// The type.
    pub value_type: String,
    /// How many seconds it may be cached.
    pub ttl: u32,
    /// Its permissions.
    pub permissions: Permissions,
    /// The data.
    pub data: BatchData,
}

/// The data of a value.
///
/// ```
/// use handfast_wire::batch::BatchData;
///
/// assert_eq!(BatchData::File("site.json".into()).to_bytes(), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchData {
    /// An administrator.
    Admin(Admin<'static>),
    /// Any bytes, in hexadecimal digits. Only this program knows this kind: see [`inline_files`].
    Bytes(Vec<u8>),
    /// The content of the file of this name; for `HS_SITE` it may be JSON. Nothing is opened here.
    File(String),
    /// A group of administrators.
    List(ValueList<'static>),
    /// Text.
    Text(String),
}

impl BatchData {
    /// The bytes, unless they are in a file.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Admin(admin) => Some(admin.to_bytes()),
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::File(_) => None,
            Self::List(list) => Some(list.to_bytes()),
            Self::Text(text) => Some(text.as_bytes().to_vec()),
        }
    }
}

/// Text and bytes are not shown: they are a secret in a value of type `HS_SECKEY`.
impl fmt::Debug for BatchData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admin(admin) => f.debug_tuple("Admin").field(admin).finish(),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::List(list) => f.debug_tuple("List").field(list).finish(),
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
        }
    }
}

/// By what an administrator proves who they are.
///
/// ```
/// use handfast_wire::batch::{BatchCredential, Secret};
///
/// let credential = BatchCredential::SecretKey(Secret::new("open sesame"));
/// assert_eq!(format!("{credential:?}"), "SecretKey(Secret)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchCredential {
    /// A private key in a file.
    PrivateKey {
        /// The file.
        path: String,
        /// The passphrase.
        passphrase: Option<Secret>,
    },
    /// A secret key.
    SecretKey(Secret),
}

/// Text that no message and no log may show.
///
/// ```
/// let secret = handfast_wire::batch::Secret::new("open sesame");
/// assert_eq!(secret.expose(), "open sesame");
/// assert_eq!(format!("{secret:?}"), "Secret");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for what it is needed for.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Where a server of a site listens.
///
/// ```
/// use handfast_wire::batch::{BatchReader, Operation};
///
/// let entry = BatchReader::new(&b"HOME [::1]:2641:tcp\n0.NA/20.1000\n"[..]).next().unwrap()?;
/// let Ok(Operation::Home { server, .. }) = entry.operation else { unreachable!() };
/// assert!(server.address.is_ipv6() && server.port == 2641);
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchServer {
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
    /// Its protocol.
    pub protocol: BatchProtocol,
}

/// The protocol of a server.
///
/// ```
/// assert_eq!("udp".parse(), Ok(handfast_wire::batch::BatchProtocol::Udp));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchProtocol {
    /// The handle protocol in HTTP.
    Http,
    /// The handle protocol over TCP.
    Tcp,
    /// The handle protocol over UDP.
    Udp,
}

impl std::str::FromStr for BatchProtocol {
    type Err = BatchReason;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            name if name.eq_ignore_ascii_case("HTTP") => Ok(Self::Http),
            name if name.eq_ignore_ascii_case("TCP") => Ok(Self::Tcp),
            name if name.eq_ignore_ascii_case("UDP") => Ok(Self::Udp),
            _ => Err(BatchReason::Server),
        }
    }
}

/// How sessions are made. What is not said is `None`.
///
/// ```
/// use handfast_wire::batch::{BatchReader, Operation};
///
/// let entry = BatchReader::new(&b"SESSIONSETUP\nUSESESSION:1\nTIMEOUT:24\n"[..]).next().unwrap()?;
/// let Ok(Operation::SessionSetup(setup)) = entry.operation else { unreachable!() };
/// assert_eq!((setup.is_used, setup.hours), (Some(true), Some(24)));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchSessionSetup {
    /// Whether there is a session.
    pub is_used: Option<bool>,
    /// The public key for exchanging keys.
    pub public_key: Option<ExchangeKey>,
    /// The file of its private key.
    pub private_key_path: Option<String>,
    /// The passphrase of that file.
    pub passphrase: Option<Secret>,
    /// The protection of messages.
    pub options: Option<SessionOptions>,
    /// How many hours the session lasts.
    pub hours: Option<u32>,
}

/// The protection of the messages of a session.
///
/// ```
/// use handfast_wire::batch::SessionOptions;
///
/// let options = SessionOptions { is_encrypted: true, is_authenticated: true };
/// assert!(options.is_encrypted);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// They are encrypted.
    pub is_encrypted: bool,
    /// They are authenticated.
    pub is_authenticated: bool,
}

/// Where the public key for exchanging keys is.
///
/// ```
/// use handfast_wire::{Reference, batch::ExchangeKey};
///
/// let key = ExchangeKey::Value(Reference::new("20.1000/key", 300));
/// assert_ne!(key, ExchangeKey::File("key.bin".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeKey {
    /// In a file.
    File(String),
    /// In a value.
    Value(Reference<'static>),
}

/// Reads an administrator as batch files have it, `<index>:<12 permission characters>:<handle>`;
/// without permissions all are meant.
///
/// ```
/// use handfast_wire::AdminPermissions;
/// use handfast_wire::batch::read_admin;
///
/// let admin = read_admin("300:0.NA/20.1000").unwrap();
/// assert_eq!(admin.permissions, AdminPermissions::ALL);
/// assert_eq!(read_admin("200:111111111111:0.NA/20.1000").unwrap().administrator.index, 200);
/// assert_eq!(read_admin("somebody"), None);
/// ```
#[must_use]
pub fn read_admin(text: &str) -> Option<Admin<'static>> {
    parse::admin(text).or_else(|| {
        let [administrator] = <[_; 1]>::try_from(parse::list(text)?.0).ok()?;
        // The text instead of permissions is not a handle.
        let is_handle = administrator.handle.contains('/') && !administrator.handle.contains(':');
        is_handle.then_some(Admin {
            permissions: AdminPermissions::ALL,
            administrator,
        })
    })
}

/// Reads a list of references as batch files have it, `<index>:<handle>;<index>:<handle>;…`.
///
/// ```
/// let list = handfast_wire::batch::read_list("300:20.1000/a;301:20.1000/b").unwrap();
/// assert_eq!(list.0.len(), 2);
/// ```
#[must_use]
pub fn read_list(text: &str) -> Option<ValueList<'static>> {
    parse::list(text)
}
