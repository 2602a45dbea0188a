//! Events: the record of every accepted change.
//!
//! The bytes are a frozen format, drawn in `docs/format.md`: they are the leaves of the proof log
//! and are never rewritten. They contain no value and no name of a person: values enter as
//! commitments, actors as opaque ids, and a name that is not public as a commitment to its key.

use std::fmt;

use handfast_wire::{DecodeError, Reader};
use sha2::{Digest, Sha256};

use crate::name::record::State;

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The action.
    pub action: Action,
    /// Its number: 1, 2, 3 …
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// The actor, as an opaque id.
    pub actor: [u8; 16],
    /// The node that accepted it.
    pub node: u32,
    /// The name that it is about.
    pub subject: Subject,
    /// The key of its authority.
    pub authority: String,
    /// The version of the record, or of the authority, that it made.
    pub version: u64,
    /// A commitment for each value of that version.
    pub commitments: Commitments,
}

/// Defines the actions: each has its number on disk and its name.
macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident = $code:literal, $name:literal;)*) => {
        /// The action of an event. The numbers are on disk for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Action {
            $($(#[$doc])* $action,)*
        }

        impl Action {
            /// All actions, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$action,)*];

            /// Reads the name of an action.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$action),)*
                    _ => None,
                }
            }

            /// The number on disk.
            #[must_use]
            pub fn code(self) -> u8 {
                match self {
                    $(Self::$action => $code,)*
                }
            }

            /// The name, as people read it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)*
                }
            }

            /// The compiler reports a number that stands twice as an unreachable pattern.
            pub(crate) fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$action),)*
                    _ => None,
                }
            }
        }
    };
}

actions! {
    /// A name was created.
    Create = 0x01, "create";
    /// A name was reserved.
    Reserve = 0x02, "reserve";
    /// A reserved name became active.
    Activate = 0x03, "activate";
    /// The values of a name were changed.
    Change = 0x04, "change";
    /// A name was withdrawn.
    Withdraw = 0x05, "withdraw";
    /// A withdrawn name became active again.
    Restore = 0x06, "restore";
    /// The administration of a name was transferred.
    Transfer = 0x07, "transfer";
    /// A name was erased.
    Erase = 0x08, "erase";
    /// A name was minted here; `Create` is for a supplied name (`CID-4`).
    Mint = 0x09, "mint";
    /// A name was minted here and reserved.
    MintReserved = 0x0A, "mint and reserve";
    /// An authority was created.
    CreateAuthority = 0x10, "create authority";
    /// An authority was requested.
    RequestAuthority = 0x11, "request authority";
    /// A request was approved.
    ApproveAuthority = 0x12, "approve authority";
    /// A request was declined.
    DeclineAuthority = 0x13, "decline authority";
    /// Title, meaning, contact or policy of an authority were changed.
    ChangeAuthority = 0x14, "change authority";
    /// An authority was retired.
    RetireAuthority = 0x15, "retire authority";
    /// A role was granted.
    Grant = 0x16, "grant";
    /// A role was revoked.
    Revoke = 0x17, "revoke";
    /// An authority was transferred.
    TransferAuthority = 0x18, "transfer authority";
    /// An account was created or changed.
    Account = 0x20, "account";
    /// A group of accounts was created or changed.
    Group = 0x21, "group";
    /// A token was created or revoked.
    Token = 0x22, "token";
    /// An account asked for a role.
    RequestAccess = 0x23, "request access";
    /// A request for a role was declined, or taken back.
    DeclineAccess = 0x24, "decline access";
    /// A log began that continues another: the authority is that log's name, the version is its
    /// number of events, and the one commitment is its head.
    BeginLog = 0x30, "begin log";
    /// A namespace was proposed.
    ProposeNamespace = 0x40, "propose namespace";
    /// A namespace was registered, or is in good standing again.
    ApproveNamespace = 0x41, "approve namespace";
    /// A candidate or a claim was declined.
    RefuseNamespace = 0x42, "refuse namespace";
    /// Someone claimed a namespace.
    ClaimNamespace = 0x43, "claim namespace";
    /// A claim was verified.
    VerifyNamespace = 0x44, "verify namespace";
    /// The authority changed its entry.
    ChangeNamespace = 0x45, "change namespace";
    /// A namespace was deprecated.
    DeprecateNamespace = 0x46, "deprecate namespace";
    /// A namespace was withdrawn, or a candidate taken back.
    WithdrawNamespace = 0x47, "withdraw namespace";
    /// A provisional namespace was renewed.
    RenewNamespace = 0x48, "renew namespace";
    /// An entry was imported from the original registry.
    ImportNamespace = 0x49, "import namespace";
    /// A candidate got a comment.
    CommentNamespace = 0x4A, "comment on namespace";
    /// The policy of the registry of namespaces was set.
    NamespacePolicy = 0x4B, "namespace policy";
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Action {
    /// Whether it changes an existing name.
    pub(crate) fn changes_name(self) -> bool {
        matches!(
            self,
            Self::Activate
                | Self::Change
                | Self::Withdraw
                | Self::Restore
                | Self::Transfer
                | Self::Erase
        )
    }

    /// The action that creates a name which was not minted here.
    pub(crate) fn of_new(state: State) -> Self {
        match state {
            State::Reserved => Self::Reserve,
            _ => Self::Create,
        }
    }

    /// Whether it assigns a name.
    #[must_use]
    pub fn is_assignment(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Mint | Self::MintReserved | Self::Reserve
        )
    }

    /// Whether it is about a name.
    #[must_use]
    pub fn is_of_name(self) -> bool {
        self.code() < Self::CreateAuthority.code()
    }

    /// Whether it is about accounts, groups, tokens, or requests for access.
    #[must_use]
    pub fn is_of_people(self) -> bool {
        (Self::Account.code()..Self::BeginLog.code()).contains(&self.code())
    }

    /// Whether it is about an entry of the `info` registry, or its policy.
    #[must_use]
    pub fn is_of_namespace(self) -> bool {
        self.code() >= Self::ProposeNamespace.code()
    }
}

/// The subject of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A commitment to a key that is not public: SHA-256 of 32 random bytes and the key.
    Hidden([u8; 32]),
    /// None: the event is about an authority or an account.
    None,
    /// A key.
    Open(String),
    /// A key that earlier events hide, and the random bytes that open them.
    Opened {
        /// The key.
        key: String,
        /// The random bytes.
        salt: [u8; 32],
    },
}

impl Subject {
    /// A commitment to a key.
    #[must_use]
    pub fn hide(key: &str, salt: &[u8; 32]) -> Self {
        Self::Hidden(digest(&[salt, key.as_bytes()]))
    }
}

/// Commitments to the values of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commitments {
    /// One for each value, by index. Index 0 commits to the other properties, such as the reason of
    /// a withdrawal.
    Each(Vec<(u32, [u8; 32])>),
    /// One for all values, if there are more than an event may list.
    Combined {
        /// The number of commitments.
        count: u32,
        /// SHA-256 over all indexes and commitments.
        digest: [u8; 32],
    },
}

/// The maximum number of commitments that an event lists: it stays far below 65,535 bytes.
pub(crate) const MAX_LISTED_COMMITMENTS: usize = 256;
/// The count that marks commitments that are not listed.
const COMBINED_MARK: u16 = 0xFFFF;
/// The format of the bytes.
const FORMAT: u8 = 1;
/// The position of the time in the bytes of an event: after the format, the action and the number.
const TIME: std::ops::Range<usize> = 10..18;

impl Commitments {
    /// Commits to values, by index, with random bytes that come from the seed of their version.
    #[must_use]
    pub fn to<'v>(seed: &[u8; 32], values: impl Iterator<Item = (u32, &'v [u8])>) -> Self {
        let commit = |(index, value)| (index, commit_with(&salt(seed, index), value));
        Self::from_each(values.map(commit).collect())
    }

    /// Commitments by index: each of them, or one for all if there are many.
    pub(crate) fn from_each(each: Vec<(u32, [u8; 32])>) -> Self {
        if each.len() <= MAX_LISTED_COMMITMENTS {
            return Self::Each(each);
        }
        let mut all = Sha256::new();
        for (index, commitment) in &each {
            all.update(index.to_be_bytes());
            all.update(commitment);
        }
        Self::Combined {
            count: u32::try_from(each.len()).unwrap_or(u32::MAX),
            digest: all.finalize().into(),
        }
    }
}

/// The 32 random bytes of one value. They are derived from the seed, so that opening one value
/// reveals nothing of the others.
#[must_use]
pub fn salt(seed: &[u8; 32], index: u32) -> [u8; 32] {
    digest(&[b"handfast salt", seed, &index.to_be_bytes()])
}

/// SHA-256 of 32 random bytes and a value.
pub(crate) fn commit_with(salt: &[u8; 32], value: &[u8]) -> [u8; 32] {
    digest(&[salt, value])
}

pub(crate) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

impl Event {
    /// The bytes, which are frozen.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Enough for most events, with the leaf hash that follows.
        let mut out = Vec::with_capacity(288);
        out.push(FORMAT);
        out.push(self.action.code());
        out.extend(self.number.to_be_bytes());
        out.extend(self.time.to_be_bytes());
        out.extend(self.actor);
        out.extend(self.node.to_be_bytes());
        match &self.subject {
            Subject::None => out.push(0),
            Subject::Open(key) => {
                out.push(1);
                put(&mut out, key);
            }
            Subject::Hidden(commitment) => {
                out.push(2);
                out.extend(commitment);
            }
            Subject::Opened { key, salt } => {
                out.push(3);
                put(&mut out, key);
                out.extend(salt);
            }
        }
        put(&mut out, &self.authority);
        out.extend(self.version.to_be_bytes());
        match &self.commitments {
            Commitments::Each(each) => {
                // At most `MAX_LISTED_COMMITMENTS`.
                out.extend(
                    u16::try_from(each.len())
                        .unwrap_or(COMBINED_MARK)
                        .to_be_bytes(),
                );
                for (index, commitment) in each {
                    out.extend(index.to_be_bytes());
                    out.extend(commitment);
                }
            }
            Commitments::Combined { count, digest } => {
                out.extend(COMBINED_MARK.to_be_bytes());
                out.extend(count.to_be_bytes());
                out.extend(digest);
            }
        }
        out
    }

    /// Reads the number from bytes that may be damaged.
    pub(crate) fn number_in(bytes: &[u8]) -> Option<u64> {
        let number = bytes.get(2..10)?.try_into().ok()?;
        Some(u64::from_be_bytes(number))
    }

    /// Sets the number in bytes that were built before it was known.
    pub(crate) fn set_number(bytes: &mut [u8], number: u64) {
        if let Some(at) = bytes.get_mut(2..10) {
            at.copy_from_slice(&number.to_be_bytes());
        }
    }

    /// Sets the time in bytes that were built before it was known.
    pub(crate) fn set_time(bytes: &mut [u8], time: u64) {
        if let Some(at) = bytes.get_mut(TIME) {
            at.copy_from_slice(&time.to_be_bytes());
        }
    }

    /// The time of an event from its bytes, in milliseconds since 1970.
    pub(crate) fn time_in(bytes: &[u8]) -> Option<u64> {
        let time = bytes.get(TIME)?.try_into().ok()?;
        Some(u64::from_be_bytes(time))
    }

    /// Reads an event from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EventError> {
        let reader = &mut Reader::new(bytes);
        let (format, action) = (reader.u8()?, reader.u8()?);
        if format != FORMAT {
            return Err(EventError::Unknown);
        }
        let event = Self {
            action: Action::from_code(action).ok_or(EventError::Unknown)?,
            number: reader.u64()?,
            time: reader.u64()?,
            actor: reader.array()?,
            node: reader.u32()?,
            subject: match reader.u8()? {
                0 => Subject::None,
                1 => Subject::Open(text(reader)?),
                2 => Subject::Hidden(reader.array()?),
                3 => Subject::Opened {
                    key: text(reader)?,
                    salt: reader.array()?,
                },
                _ => return Err(EventError::Unknown),
            },
            authority: text(reader)?,
            version: reader.u64()?,
            commitments: match reader.u16()? {
                COMBINED_MARK => Commitments::Combined {
                    count: reader.u32()?,
                    digest: reader.array()?,
                },
                count => {
                    let each = (0..count).map(|_| Ok((reader.u32()?, reader.array()?)));
                    Commitments::Each(each.collect::<Result<_, DecodeError>>()?)
                }
            },
        };
        reader.finish()?;
        Ok(event)
    }

    /// RFC 6962 §2.1: the leaf hash, SHA-256 of 0x00 and the bytes.
    #[must_use]
    pub fn leaf(bytes: &[u8]) -> [u8; 32] {
        handfast_log::leaf_hash(bytes)
    }
}

/// Appends a length of two bytes and a text. Keys and paths are at most 8,196 bytes long.
fn put(out: &mut Vec<u8>, text: &str) {
    out.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend(text.as_bytes());
}

fn text(reader: &mut Reader<'_>) -> Result<String, EventError> {
    let length = usize::from(reader.u16()?);
    let bytes = reader.take(length)?.to_vec();
    String::from_utf8(bytes).map_err(|_| EventError::Unknown)
}

/// Why bytes are not an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The bytes are inconsistent.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A format, action or subject that this program does not know.
    #[error("not an event that this program knows")]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(subject: Subject, commitments: Commitments) -> Event {
        Event {
            action: Action::Create,
            number: 7,
            time: 1_700_000_000_000,
            actor: [3; 16],
            node: 1,
            subject,
            authority: "hdl:20.1000".into(),
            version: 1,
            commitments,
        }
    }

    /// The format is frozen: if this test fails, the code is wrong.
    #[test]
    fn the_bytes_are_frozen() {
        let bytes = event(
            Subject::Open("hdl:20.1000/X".into()),
            Commitments::Each(vec![(1, [9; 32])]),
        )
        .to_bytes();
        let mut expected = vec![
            1, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 1, 0x8B, 0xCF, 0xE5, 0x68, 0,
        ];
        expected.extend([3; 16]);
        expected.extend([0, 0, 0, 1, 1, 0, 13]);
        expected.extend(b"hdl:20.1000/X");
        expected.extend([0, 11]);
        expected.extend(b"hdl:20.1000");
        expected.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1]);
        expected.extend([9; 32]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn all_forms_come_back() {
        for subject in [
            Subject::None,
            Subject::Open("é".into()),
            Subject::hide("hdl:1/X", &[5; 32]),
            Subject::Opened {
                key: "hdl:1/X".into(),
                salt: [5; 32],
            },
        ] {
            for count in [0, 1, 256, 257, 5_000] {
                let values: Vec<_> = (0..count).map(|index| (index, &b"v"[..])).collect();
                let event = event(
                    subject.clone(),
                    Commitments::to(&[1; 32], values.into_iter()),
                );
                let bytes = event.to_bytes();
                assert!(bytes.len() < 20_000);
                assert_eq!(Event::from_bytes(&bytes), Ok(event));
                assert!(Event::from_bytes(&bytes[1..]).is_err());
            }
        }
    }

    #[test]
    fn a_commitment_can_be_opened_and_differs_by_seed_and_index() {
        let Commitments::Each(each) = Commitments::to(&[1; 32], [(5, &b"value"[..])].into_iter())
        else {
            panic!("one is listed");
        };
        let opened: [u8; 32] = Sha256::digest([&salt(&[1; 32], 5)[..], b"value"].concat()).into();
        assert_eq!(each, [(5, opened)]);
        assert_ne!(commit_with(&salt(&[2; 32], 5), b"value"), opened);
        assert_ne!(commit_with(&salt(&[1; 32], 6), b"value"), opened);
    }
}
