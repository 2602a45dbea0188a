//! Errors.

use std::io;

use handfast_wire::crypto::CryptoError;
use handfast_wire::{DecodeError, ResponseCode};

use crate::roots::RootsError;

/// Why a request failed. It contains no secrets.
///
/// ```
/// use handfast_client::{ClientError, Remedy};
/// use handfast_wire::ResponseCode;
///
/// let error = ClientError::Refused {
///     server: "127.0.0.1:2641 over UDP".into(),
///     code: ResponseCode::HandleNotFound,
///     message: String::new(),
/// };
/// assert_eq!(error.code(), Some(ResponseCode::HandleNotFound));
/// assert_eq!(error.remedy(), Remedy::Accept);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The text is not an address.
    #[error("`{0}` is no address of a server")]
    Address(String),
    /// Aliases form a loop, or a chain that is too long.
    #[error("the aliases of {0} lead in a circle, or too far")]
    Aliases(String),
    /// The text is not `INDEX:HANDLE`.
    #[error("`{0}` is no identity: an index, a colon and a handle, such as 300:20.1000/admin")]
    Identity(String),
    /// The server has more messages, but this transport returns the first only.
    #[error("{server} has more to say than fits into one reply this transport")]
    Incomplete {
        /// The server.
        server: String,
    },
    /// The key cannot be used.
    #[error("the key cannot be used: {0}")]
    Key(#[from] CryptoError),
    /// The server requires a login, and the client has none.
    #[error("{server} asks who you are")]
    LoginNeeded {
        /// The server.
        server: String,
    },
    /// The network failed.
    #[error("{server}: {source}")]
    Network {
        /// The server.
        server: String,
        /// Whether the server may have received the request.
        was_sent: bool,
        /// Why.
        source: io::Error,
    },
    /// There are no roots to find the servers of a handle.
    #[error("nothing says where {handle} is served: there is no root information")]
    NoRoots {
        /// The handle.
        handle: String,
    },
    /// No server for a handle is known, or none that accepts this request.
    #[error("no server is known that could be asked this about {handle}")]
    NoService {
        /// The handle.
        handle: String,
    },
    /// The request needs a chosen server.
    #[error("say which server is meant: this is asked of one alone")]
    NoTarget,
    /// Servers refer to each other without end.
    #[error("servers refer to servers too many times over {handle}")]
    Referrals {
        /// The handle.
        handle: String,
    },
    /// The server returned an error.
    #[error("{server} answers {code}{}", with_message(message))]
    Refused {
        /// The server.
        server: String,
        /// Its code.
        code: ResponseCode,
        /// Its message.
        message: String,
    },
    /// The answer of the server is not acceptable.
    #[error("the reply of {server} cannot be taken: {fault}")]
    Reply {
        /// The server.
        server: String,
        /// What is wrong with it.
        fault: ReplyFault,
    },
    /// The root information cannot be read.
    #[error(transparent)]
    Roots(#[from] RootsError),
}

/// What is wrong with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyFault {
    /// It cannot be read.
    #[error("{0}")]
    Decode(#[from] DecodeError),
    /// It answers another request.
    #[error("it answers another request")]
    Digest,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// It is about another handle.
    #[error("it is about another handle")]
    Handle,
    /// No key is known to verify its signature.
    #[error("no key is known to verify its signature with")]
    NoKey,
    /// It has no signature, though one was requested.
    #[error("it is not signed")]
    NotCertified,
    /// It is not a reply to this request.
    #[error("it is no reply to what was asked")]
    Opcode,
    /// It is a repetition.
    #[error("it was seen before")]
    Replayed,
    /// It has the number of another request.
    #[error("it has the number of another request")]
    RequestId,
    /// It is of another session.
    #[error("it is of another session")]
    Session,
    /// Its signature is not that of the server, or does not match the key of the session.
    #[error("its signature is wrong: {0}")]
    Signature(CryptoError),
}

/// What the caller can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing: this is the answer.
    Accept,
    /// Ask another server.
    AskAnotherServer,
    /// Correct the request.
    Correct,
    /// Log in, or use another login.
    LogIn,
    /// Try again later.
    TryLater,
}

impl ClientError {
    /// The response code of the server, if it answered.
    #[must_use]
    pub fn code(&self) -> Option<ResponseCode> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::LoginNeeded { .. } => Some(ResponseCode::AuthenticationNeeded),
            _ => None,
        }
    }

    /// What can be done about it.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Refused { code, .. } => remedy_of(*code),
            Self::LoginNeeded { .. } => Remedy::LogIn,
            Self::Network { .. } | Self::NoService { .. } => Remedy::TryLater,
            Self::Reply { .. } | Self::Referrals { .. } => Remedy::AskAnotherServer,
            Self::Aliases(_) => Remedy::Accept,
            Self::Address(_)
            | Self::Identity(_)
            | Self::Incomplete { .. }
            | Self::Key(_)
            | Self::NoRoots { .. }
            | Self::NoTarget
            | Self::Roots(_) => Remedy::Correct,
        }
    }

    /// Whether another server, or another transport to the same one, may help (`handle-protocol.md`
    /// §8.1): "Connection failures, RC 2, undecodable, expired or badly signed replies count as a
    /// failed attempt".
    pub(crate) fn is_failed_attempt(&self) -> bool {
        match self {
            Self::Network { .. } | Self::Reply { .. } => true,
            Self::Refused { code, .. } => *code == ResponseCode::Error,
            _ => false,
        }
    }

    /// Whether the server may have carried out the request although no reply came.
    pub(crate) fn may_be_done(&self) -> bool {
        match self {
            Self::Network { was_sent, .. } => *was_sent,
            Self::Reply { .. } => true,
            _ => false,
        }
    }

    /// Whether the session can no longer be used.
    pub(crate) fn is_lost_session(&self) -> bool {
        matches!(
            self.code(),
            Some(
                ResponseCode::SessionTimeout
                    | ResponseCode::SessionFailed
                    | ResponseCode::InvalidSessionKey
                    | ResponseCode::SessionMessageRejected
            )
        )
    }
}

fn remedy_of(code: ResponseCode) -> Remedy {
    match code {
        ResponseCode::AuthenticationNeeded
        | ResponseCode::InvalidAdmin
        | ResponseCode::InsufficientPermissions
        | ResponseCode::AuthenticationFailed
        | ResponseCode::InvalidCredential => Remedy::LogIn,
        ResponseCode::ServerTooBusy
        | ResponseCode::ServerBackup
        | ResponseCode::AuthenticationTimeout
        | ResponseCode::AuthenticationError
        | ResponseCode::SessionTimeout
        | ResponseCode::SessionFailed => Remedy::TryLater,
        ResponseCode::Error
        | ResponseCode::RecursionCountTooHigh
        | ResponseCode::OutOfDateSiteInfo
        | ResponseCode::ServerNotResponsible
        | ResponseCode::ServiceReferral
        | ResponseCode::PrefixReferral => Remedy::AskAnotherServer,
        ResponseCode::ProtocolError
        | ResponseCode::OperationNotSupported
        | ResponseCode::InvalidHandle
        | ResponseCode::InvalidValue => Remedy::Correct,
        _ => Remedy::Accept,
    }
}

fn with_message(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}
