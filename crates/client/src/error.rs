//! Why something could not be had.

use std::io;

use handfast_wire::crypto::CryptoError;
use handfast_wire::{DecodeError, ResponseCode};

use crate::roots::RootsError;

/// Why something could not be had. Secrets are in none of it.
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
    /// What should be an address is none.
    #[error("`{0}` is no address of a server")]
    Address(String),
    /// Aliases lead in a circle, or too far.
    #[error("the aliases of {0} lead in a circle, or too far")]
    Aliases(String),
    /// What should be `INDEX:HANDLE` is not.
    #[error("`{0}` is no identity: an index, a colon and a handle, such as 300:20.1000/admin")]
    Identity(String),
    /// The server goes on, but this request shows the start only.
    #[error("{server} has more to say than fits into one reply this transport")]
    Incomplete {
        /// The server.
        server: String,
    },
    /// A key that cannot be used.
    #[error("the key cannot be used: {0}")]
    Key(#[from] CryptoError),
    /// The server wants to know who asks, and nothing was given to say so with.
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
        /// Whether the request may have arrived.
        was_sent: bool,
        /// Why.
        source: io::Error,
    },
    /// Nothing is known from where to find the servers of a handle.
    #[error("nothing says where {handle} is served: there is no root information")]
    NoRoots {
        /// The handle.
        handle: String,
    },
    /// Nobody says who serves a handle, or nobody who does can be asked this.
    #[error("no server is known that could be asked this about {handle}")]
    NoService {
        /// The handle.
        handle: String,
    },
    /// Which server is meant has to be said.
    #[error("say which server is meant: this is asked of one alone")]
    NoTarget,
    /// Servers refer to each other without end.
    #[error("servers refer to servers too many times over {handle}")]
    Referrals {
        /// The handle.
        handle: String,
    },
    /// The server has answered, and the answer is no.
    #[error("{server} answers {code}{}", with_message(message))]
    Refused {
        /// The server.
        server: String,
        /// What it says.
        code: ResponseCode,
        /// And in words.
        message: String,
    },
    /// The server has answered, and the answer cannot be taken.
    #[error("the reply of {server} cannot be taken: {fault}")]
    Reply {
        /// The server.
        server: String,
        /// What is wrong with it.
        fault: ReplyFault,
    },
    /// Root information that is none.
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
    /// Nothing is known to verify its signature with.
    #[error("no key is known to verify its signature with")]
    NoKey,
    /// It was to be signed, and is not.
    #[error("it is not signed")]
    NotCertified,
    /// It is no reply to what was asked.
    #[error("it is no reply to what was asked")]
    Opcode,
    /// It came before.
    #[error("it was seen before")]
    Replayed,
    /// It has the number of another request.
    #[error("it has the number of another request")]
    RequestId,
    /// It is of another session.
    #[error("it is of another session")]
    Session,
    /// Its signature is not that of the server, or its session's key does not fit.
    #[error("its signature is wrong: {0}")]
    Signature(CryptoError),
}

/// What whoever asked can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing: that is the answer.
    Accept,
    /// Ask another server.
    AskElsewhere,
    /// Ask otherwise: the request is wrong.
    Correct,
    /// Say who you are, or be somebody else.
    LogIn,
    /// Try again later.
    TryLater,
}

impl ClientError {
    /// What the server answered, if it did.
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
            Self::Reply { .. } | Self::Referrals { .. } => Remedy::AskElsewhere,
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

    /// Whether another server, or another transport to the same, may do better (`handle-protocol.md` §8.1): "Connection
    /// failures, RC 2, undecodable, expired or badly signed replies count as a failed attempt".
    pub(crate) fn is_failed_attempt(&self) -> bool {
        match self {
            Self::Network { .. } | Self::Reply { .. } => true,
            Self::Refused { code, .. } => *code == ResponseCode::Error,
            _ => false,
        }
    }

    /// Whether the request may have been carried out although no reply came.
    pub(crate) fn may_be_done(&self) -> bool {
        match self {
            Self::Network { was_sent, .. } => *was_sent,
            Self::Reply { .. } => true,
            _ => false,
        }
    }

    /// Whether the session is of no use any longer.
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
        | ResponseCode::PrefixReferral => Remedy::AskElsewhere,
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
