//! Requests by their opcode.

use super::{
    Body, ChallengeAnswer, DumpRequest, EncryptedSessionKey, HandleRequest, RemoveRequest,
    ResolutionRequest, RetrieveRequest, SessionSetup, ValuesRequest, VerifyRequest,
};
use crate::codec::DecodeError;
use crate::envelope::Envelope;
use crate::header::Header;
use crate::message::Message;
use crate::opcode::Opcode;

/// The enum, and its correspondence to opcodes and to bodies, from one table.
macro_rules! requests {
    ($($(#[$doc:meta])* $opcode:ident($body:ident),)*) => {
        /// A request, with the body of its opcode.
        ///
        /// ```
        /// use handfast_wire::body::{HandleRequest, Request};
        /// use handfast_wire::{Envelope, Opcode, Version};
        ///
        /// let request = Request::DeleteHandle(HandleRequest::new("20.1000/x"));
        /// let message = request.to_message(Envelope::new(Version::CURRENT), 1_700_043_200);
        /// assert_eq!(message.header.opcode, Opcode::DeleteHandle);
        /// assert_eq!(Request::of(&message)?, request);
        /// # Ok::<_, handfast_wire::DecodeError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Request<'a> {
            $($(#[$doc])* $opcode($body<'a>),)*
            /// An operation that is not known here, or none.
            Unknown(Opcode),
        }

        impl<'a> Request<'a> {
            /// The request of a message.
            pub fn of(message: &'a Message<'_>) -> Result<Self, DecodeError> {
                match message.header.opcode {
                    $(Opcode::$opcode => message.read().map(Self::$opcode),)*
                    opcode => Ok(Self::Unknown(opcode)),
                }
            }

            /// Its opcode.
            #[must_use]
            pub fn opcode(&self) -> Opcode {
                match self {
                    $(Self::$opcode(_) => Opcode::$opcode,)*
                    Self::Unknown(opcode) => *opcode,
                }
            }

            /// A message that asks for this, with the usual flags and no site record.
            #[must_use]
            pub fn to_message(&self, envelope: Envelope, expiration: u32) -> Message<'static> {
                let header = Header::request(self.opcode(), expiration);
                let mut body = Vec::new();
                match self {
                    $(Self::$opcode(request) => request.write(envelope.version, &mut body),)*
                    Self::Unknown(_) => {}
                }
                Message::with_body(envelope, header, body)
            }
        }
    };
}

requests! {
    /// The values of a handle.
    Resolution(ResolutionRequest),
    /// The site of the server; the handle is ignored.
    GetSiteInfo(HandleRequest),
    /// A new handle.
    CreateHandle(ValuesRequest),
    /// A handle less.
    DeleteHandle(HandleRequest),
    /// New values of a handle.
    AddValue(ValuesRequest),
    /// Values less.
    RemoveValue(RemoveRequest),
    /// Other values in place of those of the same index.
    ModifyValue(ValuesRequest),
    /// The handles under a prefix.
    ListHandles(HandleRequest),
    /// The prefixes derived from a prefix.
    ListDerivedPrefixes(HandleRequest),
    /// The answer to a challenge.
    ChallengeResponse(ChallengeAnswer),
    /// Whether an answer with a secret key is right.
    VerifyChallenge(VerifyRequest),
    /// The server becomes responsible for a prefix.
    HomePrefix(HandleRequest),
    /// The server is responsible for a prefix no longer.
    UnhomePrefix(HandleRequest),
    /// The prefixes that the server is responsible for; the handle is ignored.
    ListHomedPrefixes(HandleRequest),
    /// A new session.
    SessionSetup(SessionSetup),
    /// The end of a session; the handle is ignored.
    SessionTerminate(HandleRequest),
    /// The key of a session that was set up with the server's key.
    SessionExchangeKey(EncryptedSessionKey),
    /// The number of the next transaction; the handle is ignored.
    GetNextTransactionId(HandleRequest),
    /// The transactions since a point.
    RetrieveTransactions(RetrieveRequest),
    /// Everything.
    DumpHandles(DumpRequest),
    /// A checkpoint of the storage; the handle is ignored.
    BackupServer(HandleRequest),
}
