//! Replies by their code and opcode.

use super::{
    Challenge, CreateReply, ErrorReply, ListReply, NextTransaction, Referral, ResolutionReply,
    RetrieveReply, SessionSetupReply, SiteInfoReply, VerifyReply,
};
use crate::codec::DecodeError;
use crate::message::Message;
use crate::opcode::{Opcode, ResponseCode};

/// A reply, with the body of its response code and its opcode.
///
/// ```
/// use handfast_wire::body::{Reply, ErrorReply};
/// use handfast_wire::{Message, ResponseCode, Responder, Version};
///
/// let server = Responder {
///     maximum: Version::CURRENT,
///     site_serial: 1,
///     is_primary: true,
///     expiration: 1_700_043_200,
/// };
/// let message = server.error(7, ResponseCode::ProtocolError, "Invalid message length");
/// let error = ErrorReply::new("Invalid message length");
/// assert_eq!(Reply::of(&message)?, Reply::Error(ResponseCode::ProtocolError, error));
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// Authenticate first.
    Challenge(Challenge<'a>),
    /// The handle that was created.
    Created(CreateReply<'a>),
    /// It is done; that is all. A stream may follow.
    Done,
    /// It is not done.
    Error(ResponseCode, ErrorReply<'a>),
    /// Some handles, or prefixes.
    List(ListReply<'a>),
    /// The number of the next transaction.
    NextTransaction(NextTransaction),
    /// Ask another server.
    Referral(ResponseCode, Referral<'a>),
    /// The message is a request.
    Request,
    /// The values of a handle.
    Resolution(ResolutionReply<'a>),
    /// The server's part of a session key.
    SessionSetup(SessionSetupReply<'a>),
    /// The site of the server.
    SiteInfo(SiteInfoReply),
    /// Transactions follow.
    Transactions(RetrieveReply),
    /// Whether the answer was right.
    Verification(VerifyReply),
}

impl<'a> Reply<'a> {
    /// The reply of a message. An operation whose reply has no body, or that is unknown, is
    /// [`Done`](Self::Done).
    pub fn of(message: &'a Message<'_>) -> Result<Self, DecodeError> {
        match message.outcome() {
            ResponseCode::Reserved => Ok(Self::Request),
            ResponseCode::Success => Self::of_success(message),
            ResponseCode::AuthenticationNeeded => message.read().map(Self::Challenge),
            code if code.is_referral() => message.read().map(|body| Self::Referral(code, body)),
            code => message.read().map(|body| Self::Error(code, body)),
        }
    }

    fn of_success(message: &'a Message<'_>) -> Result<Self, DecodeError> {
        match message.header.opcode {
            Opcode::Resolution => message.read().map(Self::Resolution),
            Opcode::GetSiteInfo => message.read().map(Self::SiteInfo),
            Opcode::CreateHandle => message.read().map(Self::Created),
            Opcode::ListHandles | Opcode::ListDerivedPrefixes | Opcode::ListHomedPrefixes => {
                message.read().map(Self::List)
            }
            Opcode::VerifyChallenge => message.read().map(Self::Verification),
            Opcode::SessionSetup => message.read().map(Self::SessionSetup),
            Opcode::GetNextTransactionId => message.read().map(Self::NextTransaction),
            Opcode::RetrieveTransactions => message.read().map(Self::Transactions),
            _ => Ok(Self::Done),
        }
    }
}
