//! Operations and response codes, by their numbers.

use std::fmt;

use crate::version::Version;

/// An enum of protocol numbers with an arm for those that are not known.
macro_rules! numbers {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$doc:meta])* $variant:ident = $number:literal $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A number that is not known here.
            Unknown(u32),
        }

        impl $name {
            /// All that are known.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// From the number on the wire.
            #[must_use]
            pub fn from_number(number: u32) -> Self {
                match number {
                    $($number => Self::$variant,)*
                    _ => Self::Unknown(number),
                }
            }

            /// The number on the wire.
            #[must_use]
            pub fn number(self) -> u32 {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Unknown(number) => number,
                }
            }
        }

        /// The name that the protocol gives it, or the number.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.write_str($text),)*
                    Self::Unknown(number) => number.fmt(f),
                }
            }
        }
    };
}

numbers! {
    /// The operation of a message (`handle-protocol.md` §2.2).
    ///
    /// ```
    /// use handfast_wire::Opcode;
    ///
    /// assert_eq!(Opcode::from_number(100), Opcode::CreateHandle);
    /// assert_eq!(Opcode::Unknown(7).number(), 7);
    /// assert_eq!(Opcode::Resolution.to_string(), "RESOLUTION");
    /// ```
    Opcode {
        /// Nothing: in replies to what could not be read.
        Reserved = 0 "RESERVED",
        /// The values of a handle.
        Resolution = 1 "RESOLUTION",
        /// The site of the server.
        GetSiteInfo = 2 "GET_SITE_INFO",
        /// A new handle.
        CreateHandle = 100 "CREATE_HANDLE",
        /// A handle less.
        DeleteHandle = 101 "DELETE_HANDLE",
        /// New values of a handle.
        AddValue = 102 "ADD_VALUE",
        /// Values less.
        RemoveValue = 103 "REMOVE_VALUE",
        /// Other values in place of those of the same index.
        ModifyValue = 104 "MODIFY_VALUE",
        /// The handles under a prefix.
        ListHandles = 105 "LIST_HANDLES",
        /// The prefixes derived from a prefix.
        ListDerivedPrefixes = 106 "LIST_DERIVED_PREFIXES",
        /// The answer to a challenge.
        ChallengeResponse = 200 "RESPONSE_TO_CHALLENGE",
        /// Whether an answer with a secret key is right.
        VerifyChallenge = 201 "VERIFY_CHALLENGE",
        /// The server becomes responsible for a prefix.
        HomePrefix = 300 "HOME_PREFIX",
        /// The server is responsible for a prefix no longer.
        UnhomePrefix = 301 "UNHOME_PREFIX",
        /// The prefixes that the server is responsible for.
        ListHomedPrefixes = 302 "LIST_HOMED_PREFIXES",
        /// A new session.
        SessionSetup = 400 "SESSION_SETUP",
        /// The end of a session.
        SessionTerminate = 401 "SESSION_TERMINATE",
        /// The key of a session that was set up with the server's key.
        SessionExchangeKey = 402 "SESSION_EXCHANGEKEY",
        /// The number of the next transaction.
        GetNextTransactionId = 1000 "GET_NEXT_TXN_ID",
        /// The transactions since one.
        RetrieveTransactions = 1001 "RETRIEVE_TXN_LOG",
        /// Everything.
        DumpHandles = 1002 "DUMP_HANDLES",
        /// A checkpoint of the storage.
        BackupServer = 1003 "BACKUP_SERVER",
    }
}

impl Opcode {
    /// Whether its request begins with the handle that it is about.
    #[must_use]
    pub fn is_about_a_handle(self) -> bool {
        matches!(
            self,
            Self::Resolution
                | Self::CreateHandle
                | Self::DeleteHandle
                | Self::AddValue
                | Self::RemoveValue
                | Self::ModifyValue
                | Self::VerifyChallenge
        )
    }

    /// Whether only an interface for administration may take it (`handle-protocol.md` §1.7).
    #[must_use]
    pub fn needs_admin_interface(self) -> bool {
        matches!(
            self,
            Self::CreateHandle
                | Self::DeleteHandle
                | Self::AddValue
                | Self::RemoveValue
                | Self::ModifyValue
                | Self::ListHandles
                | Self::ListDerivedPrefixes
                | Self::HomePrefix
                | Self::UnhomePrefix
                | Self::ListHomedPrefixes
                | Self::GetNextTransactionId
                | Self::RetrieveTransactions
                | Self::DumpHandles
                | Self::BackupServer
        )
    }
}

numbers! {
    /// The response code of a message (`handle-protocol.md` §2.3).
    ///
    /// "The reference client fails to decode any response code not in this table (and RC 0 on a
    /// reply). Send only codes listed here."
    ///
    /// ```
    /// use handfast_wire::ResponseCode;
    ///
    /// assert_eq!(ResponseCode::from_number(100), ResponseCode::HandleNotFound);
    /// assert_eq!(ResponseCode::Unknown(900).number(), 900);
    /// ```
    ResponseCode {
        /// None: this is a request.
        Reserved = 0 "RESERVED",
        /// Done.
        Success = 1 "SUCCESS",
        /// Something failed that was not foreseen.
        Error = 2 "ERROR",
        /// Try later.
        ServerTooBusy = 3 "SERVER_TOO_BUSY",
        /// The message is malformed, or came by the wrong interface.
        ProtocolError = 4 "PROTOCOL_ERROR",
        /// The server does not do this.
        OperationNotSupported = 5 "OPERATION_NOT_SUPPORTED",
        /// Servers asked servers too many times.
        RecursionCountTooHigh = 6 "RECURSION_COUNT_TOO_HIGH",
        /// The server takes no changes for now.
        ServerBackup = 7 "SERVER_BACKUP",
        /// No such handle.
        HandleNotFound = 100 "HANDLE_NOT_FOUND",
        /// There is such a handle.
        HandleAlreadyExists = 101 "HANDLE_ALREADY_EXISTS",
        /// No handle can be named so.
        InvalidHandle = 102 "INVALID_HANDLE",
        /// The handle has no such values.
        ValuesNotFound = 200 "VALUES_NOT_FOUND",
        /// The index is taken.
        ValueAlreadyExists = 201 "VALUE_ALREADY_EXISTS",
        /// No value can be such.
        InvalidValue = 202 "INVALID_VALUE",
        /// The site information of the client is out of date.
        OutOfDateSiteInfo = 300 "OUT_OF_DATE_SITE_INFO",
        /// The server is not responsible for the handle.
        ServerNotResponsible = 301 "SERVER_NOT_RESP",
        /// Ask another service.
        ServiceReferral = 302 "SERVICE_REFERRAL",
        /// Ask who is responsible for the prefix.
        PrefixReferral = 303 "PREFIX_REFERRAL",
        /// The identity is no administrator with these permissions.
        InvalidAdmin = 400 "INVALID_ADMIN",
        /// The value does not permit it.
        InsufficientPermissions = 401 "INSUFFICIENT_PERMISSIONS",
        /// A challenge.
        AuthenticationNeeded = 402 "AUTHENTICATION_NEEDED",
        /// The answer to the challenge is wrong.
        AuthenticationFailed = 403 "AUTHENTICATION_FAILED",
        /// The credential is of no use.
        InvalidCredential = 404 "INVALID_CREDENTIAL",
        /// The answer came too late, or without a challenge.
        AuthenticationTimeout = 405 "AUTHEN_TIMEOUT",
        /// Authentication itself failed.
        AuthenticationError = 406 "AUTHEN_ERROR",
        /// No such session, or no longer.
        SessionTimeout = 500 "SESSION_TIMEOUT",
        /// The session could not be set up, or the message not decrypted.
        SessionFailed = 501 "SESSION_FAILED",
        /// The authentication code of the message is wrong.
        InvalidSessionKey = 502 "INVALID_SESSION_KEY",
        /// Not used.
        NeedRsaKeyForSessionExchange = 503 "NEED_RSAKEY_FOR_SESSIONEXCHANGE",
        /// Not used.
        InvalidSessionSetupRequest = 504 "INVALID_SESSIONSETUP_REQUEST",
        /// The message was seen before.
        SessionMessageRejected = 505 "SESSION_MESSAGE_REJECTED",
    }
}

impl ResponseCode {
    /// The code that says this in a reply of a version. "Below 2.5, code 7 (server backup) is sent
    /// as 303 and code 202 (invalid value) is sent as 201" (`handle-protocol.md` §1.3).
    ///
    /// ```
    /// use handfast_wire::{ResponseCode, Version};
    ///
    /// let busy = ResponseCode::ServerBackup;
    /// assert_eq!(busy.sent_in(Version::new(2, 4)), ResponseCode::PrefixReferral);
    /// assert_eq!(busy.sent_in(Version::new(2, 4)).received_in(Version::new(2, 4)), busy);
    /// ```
    #[must_use]
    pub fn sent_in(self, version: Version) -> Self {
        match self {
            Self::ServerBackup if version < RENUMBERED => Self::PrefixReferral,
            Self::InvalidValue if version < RENUMBERED => Self::ValueAlreadyExists,
            code => code,
        }
    }

    /// The meaning of this code in a reply of a version: "a received 303 means server backup" below
    /// 2.5.
    #[must_use]
    pub fn received_in(self, version: Version) -> Self {
        match self {
            Self::PrefixReferral if version < RENUMBERED => Self::ServerBackup,
            code => code,
        }
    }

    /// Whether the body says where else to ask.
    #[must_use]
    pub fn is_referral(self) -> bool {
        matches!(self, Self::ServiceReferral | Self::PrefixReferral)
    }

    /// Whether the body is an error message: of every code but success, challenge and referrals.
    #[must_use]
    pub fn is_error(self) -> bool {
        let is_other = matches!(
            self,
            Self::Reserved | Self::Success | Self::AuthenticationNeeded
        );
        !is_other && !self.is_referral()
    }
}

/// Since this version, codes 7 and 202 are sent as themselves.
const RENUMBERED: Version = Version::new(2, 5);
