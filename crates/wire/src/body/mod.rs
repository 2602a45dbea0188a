//! The bodies of messages, by operation (`handle-protocol.md` §3).
//!
//! Bodies here do not include the request digest that a reply may begin with: [`Message::read`]
//! removes it and [`Responder::reply`] adds it. Only a [`Challenge`] has its own. [`Request`] and
//! [`Reply`] are any body of a message.
//!
//! | operation | request | reply |
//! |---|---|---|
//! | `RESOLUTION` | [`ResolutionRequest`] | [`ResolutionReply`] |
//! | `GET_SITE_INFO` | [`HandleRequest`] | [`SiteInfoReply`] |
//! | `CREATE_HANDLE` | [`ValuesRequest`] | [`CreateReply`] |
//! | `DELETE_HANDLE` | [`HandleRequest`] | [`Empty`] |
//! | `ADD_VALUE`, `MODIFY_VALUE` | [`ValuesRequest`] | [`Empty`] |
//! | `REMOVE_VALUE` | [`RemoveRequest`] | [`Empty`] |
//! | `LIST_HANDLES`, `LIST_DERIVED_PREFIXES` | [`HandleRequest`] | [`ListReply`] |
//! | `LIST_HOMED_PREFIXES` | [`HandleRequest`] | [`ListReply`] |
//! | `RESPONSE_TO_CHALLENGE` | [`ChallengeAnswer`] | that of the original request |
//! | `VERIFY_CHALLENGE` | [`VerifyRequest`] | [`VerifyReply`] |
//! | `HOME_PREFIX`, `UNHOME_PREFIX` | [`HandleRequest`] | [`Empty`] |
//! | `SESSION_SETUP` | [`SessionSetup`] | [`SessionSetupReply`] |
//! | `SESSION_TERMINATE` | [`HandleRequest`] | [`Empty`] |
//! | `SESSION_EXCHANGEKEY` | [`EncryptedSessionKey`] | [`Empty`] |
//! | `GET_NEXT_TXN_ID` | [`HandleRequest`] | [`NextTransaction`] |
//! | `RETRIEVE_TXN_LOG` | [`RetrieveRequest`] | [`RetrieveReply`] and a stream |
//! | `DUMP_HANDLES` | [`DumpRequest`] | [`Empty`] and a stream |
//! | `BACKUP_SERVER` | [`HandleRequest`] | [`Empty`] |
//! | any, `AUTHENTICATION_NEEDED` | | [`Challenge`] |
//! | any, referrals | | [`Referral`] |
//! | any, errors | | [`ErrorReply`] |
//!
//! [`Message::read`]: crate::Message::read
//! [`Responder::reply`]: crate::Responder::reply

mod challenge;
mod create;
mod error_reply;
mod handle;
mod list;
mod referral;
mod reply;
mod request;
mod resolve;
mod session;
mod site_info;
mod transactions;
mod values;
mod verify;

pub use challenge::{Challenge, ChallengeAnswer};
pub use create::CreateReply;
pub use error_reply::ErrorReply;
pub use handle::{Empty, HandleRequest};
pub use list::ListReply;
pub use referral::Referral;
pub use reply::Reply;
pub use request::Request;
pub use resolve::{ResolutionReply, ResolutionRequest};
pub use session::{DhOffer, EncryptedSessionKey, KeyExchange, SessionSetup, SessionSetupReply};
pub use site_info::SiteInfoReply;
pub use transactions::{
    DumpRequest, NextTransaction, Receiver, ReplicationPoint, ResumePoint, RetrieveReply,
    RetrieveRequest,
};
pub use values::{RemoveRequest, ValuesRequest};
pub use verify::{VerifyReply, VerifyRequest};

use crate::codec::{Codec, DecodeError, Reader};
use crate::field::Field;
use crate::version::Version;

/// Something that a message carries. Its layout may depend on the version of that message; whatever
/// is a [`Codec`] is a body with one layout.
///
/// ```
/// use handfast_wire::body::{Body, Challenge};
/// use handfast_wire::{Reader, RequestDigest, Version};
///
/// let digest = RequestDigest::Md5([7; 16]);
/// let challenge = Challenge { digest, nonce: vec![9; 16].into() };
/// for (version, length) in [(Version::new(2, 0), 40), (Version::CURRENT, 37)] {
///     let mut bytes = Vec::new();
///     challenge.write(version, &mut bytes);
///     assert_eq!(bytes.len(), length);
///     assert_eq!(Challenge::read(version, &mut Reader::new(&bytes))?, challenge);
/// }
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
pub trait Body<'a>: Sized {
    /// Whether it begins with the request digest itself.
    const HOLDS_DIGEST: bool = false;

    /// Appends the form that a message of this version has.
    fn write(&self, version: Version, out: &mut Vec<u8>);

    /// Reads the form that a message of this version has; something may follow it.
    fn read(version: Version, reader: &mut Reader<'a>) -> Result<Self, DecodeError>;
}

impl<'a, T: Codec<'a>> Body<'a> for T {
    fn write(&self, _: Version, out: &mut Vec<u8>) {
        self.encode(out);
    }

    fn read(_: Version, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        Self::decode(reader)
    }
}

/// The handle, or the values, of a reply: "2 048 octets", and 2 048 values; clients reject more
/// (`handle-protocol.md` §0).
fn limited<'a, T: Field<'a>>(reader: &mut Reader<'a>) -> Result<T, DecodeError> {
    reader.check_limit(MAX_IN_REPLY)?;
    T::get(reader)
}

/// "handle length in a resolution / referral / create response", and "values in a resolution /
/// referral response" (`handle-protocol.md` §0).
const MAX_IN_REPLY: u32 = 2_048;
