//! Errors in the operations of a batch.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BatchError {
    /// The line that is wrong, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: BatchReason,
}

/// What is wrong with a line.
///
/// ```
/// let reason = handfast_wire::batch::BatchReason::Kind;
/// assert_eq!(reason.to_string(), "the kind of data should be UTF8, ADMIN, LIST, FILE or HEX");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchReason {
    /// An administrator that is not `index:permissions:handle`.
    #[error("an administrator should be index:permissions:handle, with twelve digits 0 or 1")]
    Admin,
    /// A command line of blanks.
    #[error("a line between operations should be empty, without blanks")]
    Blank,
    /// A word that is no command.
    #[error(
        "a command should be AUTHENTICATE, CREATE, ADD, MODIFY, REMOVE, DELETE, HOME, UNHOME or \
         SESSIONSETUP"
    )]
    Command,
    /// Whom to authenticate as.
    #[error("whom to authenticate as should be PUBKEY:index:handle or SECKEY:index:handle")]
    Credential,
    /// No line with the key or secret after `AUTHENTICATE`.
    #[error("the line after AUTHENTICATE should hold a key file or a secret")]
    CredentialLine,
    /// A value line that ends too soon.
    #[error("a value should have an index, a type, a TTL, permissions, a kind and data")]
    Fields,
    /// A file without a name.
    #[error("there is no file name after FILE")]
    File,
    /// A command without its handle.
    #[error("there is no handle after the command")]
    Handle,
    /// Data after `HEX` that is not pairs of hexadecimal digits.
    #[error("data after HEX should be pairs of the digits 0 to 9 and A to F")]
    Hex,
    /// An index out of range.
    #[error("the index should be a number from 1 to 2147483647")]
    Index,
    /// A kind of data that does not exist.
    #[error("the kind of data should be UTF8, ADMIN, LIST, FILE or HEX")]
    Kind,
    /// An operation whose lines are longer together than any may be.
    #[error(
        "the lines of this operation have more than {MAX_OPERATION} bytes in total: give the \
         values in several operations"
    )]
    Large,
    /// A group that is not `index:handle;index:handle`.
    #[error("a list should be index:handle;index:handle, with at least one")]
    List,
    /// A line that is not UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// Permissions that are not four digits.
    #[error("permissions should be four digits 0 or 1")]
    Permissions,
    /// A prefix handle that does not begin with `0.NA/`.
    #[error("the handle of a prefix should begin with 0.NA/")]
    Prefix,
    /// A `REMOVE` that is not `index,index:handle`.
    #[error("what to remove should be index,index:handle")]
    Remove,
    /// An address that is not `ip:port:protocol`.
    #[error("a server should be ip:port:TCP, ip:port:UDP or ip:port:HTTP")]
    Server,
    /// A line of `SESSIONSETUP` that is unknown, comes twice or has no such value.
    #[error(
        "a line of SESSIONSETUP should be, once each, USESESSION:0 or 1, PUBEXNGKEYFILE:file or \
         PUBEXNGKEYREF:index:handle, PRIVEXNGKEYFILE:file, PASSPHRASE:text, OPTIONS:digits or \
         TIMEOUT:hours"
    )]
    Session,
    /// A line that is longer than any may be.
    #[error("the line is longer than {MAX_LINE} bytes")]
    TooLong,
    /// A TTL out of range.
    #[error("the TTL should be a number of seconds from 0 to 2147483647")]
    Ttl,
}
