//! Errors in the operations of a batch.

use std::fmt;

use super::lines::MAX_LINE;
use super::read::MAX_OPERATION;

/// What is wrong, and in which line. It never contains the text of the line, which may be a secret.
///
/// ```
/// use handfast_wire::batch::{BatchReader, BatchReason};
///
/// let entry = BatchReader::new(&b"CREATE a/b\n0 URL 1 1110 UTF8 x\n"[..]).next().unwrap()?;
/// let error = entry.operation.unwrap_err();
/// assert_eq!((error.line, error.reason), (2, BatchReason::Index));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchError {
    /// The line that is wrong, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: BatchReason,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for BatchError {}

/// What is wrong with a line.
///
/// ```
/// let reason = handfast_wire::batch::BatchReason::Kind;
/// assert_eq!(reason.to_string(), "the kind of data should be UTF8, ADMIN, LIST, FILE or HEX");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchReason {
    /// An administrator that is not `index:permissions:handle`.
    Admin,
    /// A command line of blanks.
    Blank,
    /// A word that is no command.
    Command,
    /// Whom to authenticate as.
    Credential,
    /// No line with the key or secret after `AUTHENTICATE`.
    CredentialLine,
    /// A value line that ends too soon.
    Fields,
    /// A file without a name.
    File,
    /// A command without its handle.
    Handle,
    /// Data after `HEX` that is not pairs of hexadecimal digits.
    Hex,
    /// An index out of range.
    Index,
    /// A kind of data that does not exist.
    Kind,
    /// An operation whose lines are longer together than any may be.
    Large,
    /// A group that is not `index:handle;index:handle`.
    List,
    /// A line that is not UTF-8.
    NotUtf8,
    /// Permissions that are not four digits.
    Permissions,
    /// A prefix handle that does not begin with `0.NA/`.
    Prefix,
    /// A `REMOVE` that is not `index,index:handle`.
    Remove,
    /// An address that is not `ip:port:protocol`.
    Server,
    /// A line of `SESSIONSETUP` that is unknown, comes twice or has no such value.
    Session,
    /// A line that is longer than any may be.
    TooLong,
    /// A TTL out of range.
    Ttl,
}

impl fmt::Display for BatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Admin => {
                "an administrator should be index:permissions:handle, with twelve digits 0 or 1"
            }
            Self::Blank => "a line between operations should be empty, without blanks",
            Self::Command => {
                "a command should be AUTHENTICATE, CREATE, ADD, MODIFY, REMOVE, DELETE, HOME, \
                 UNHOME or SESSIONSETUP"
            }
            Self::Credential => {
                "whom to authenticate as should be PUBKEY:index:handle or SECKEY:index:handle"
            }
            Self::CredentialLine => {
                "the line after AUTHENTICATE should hold a key file or a secret"
            }
            Self::Fields => {
                "a value should have an index, a type, a TTL, permissions, a kind and data"
            }
            Self::File => "there is no file name after FILE",
            Self::Handle => "there is no handle after the command",
            Self::Index => "the index should be a number from 1 to 2147483647",
            Self::Hex => "data after HEX should be pairs of the digits 0 to 9 and A to F",
            Self::Kind => "the kind of data should be UTF8, ADMIN, LIST, FILE or HEX",
            Self::Large => {
                return write!(
                    f,
                    "the lines of this operation have more than {MAX_OPERATION} bytes in total: \
                     give the values in several operations"
                );
            }
            Self::List => "a list should be index:handle;index:handle, with at least one",
            Self::NotUtf8 => "the line is not UTF-8",
            Self::Permissions => "permissions should be four digits 0 or 1",
            Self::Prefix => "the handle of a prefix should begin with 0.NA/",
            Self::Remove => "what to remove should be index,index:handle",
            Self::Server => "a server should be ip:port:TCP, ip:port:UDP or ip:port:HTTP",
            Self::Session => {
                "a line of SESSIONSETUP should be, once each, USESESSION:0 or 1, \
                 PUBEXNGKEYFILE:file or PUBEXNGKEYREF:index:handle, PRIVEXNGKEYFILE:file, \
                 PASSPHRASE:text, OPTIONS:digits or TIMEOUT:hours"
            }
            Self::TooLong => return write!(f, "the line is longer than {MAX_LINE} bytes"),
            Self::Ttl => "the TTL should be a number of seconds from 0 to 2147483647",
        })
    }
}
