//! Principals: who acts.

use std::fmt;

use handfast_id::{CaseRule, Handle};
use serde::{Deserialize, Serialize};

use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;

/// The principal of a request.
///
/// ```
/// use handfast_registry::Principal;
///
/// assert_eq!(Principal::parse("ann")?, Principal::account("ann")?);
/// // Identities compare by key.
/// assert_eq!(Principal::parse("300:0.NA/20.1000")?, Principal::parse("300:0.na/20.1000")?);
/// // A group has roles, and never acts.
/// assert_eq!(Principal::parse("group:editors")?, Principal::group("Editors")?);
/// assert!(Principal::parse_actor("group:editors").is_err());
/// assert!(Principal::parse("an:n").is_err());
/// # Ok::<_, handfast_registry::PrincipalError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Principal {
    /// The owner of an account.
    Account(String),
    /// The holder of the key at an index of a handle.
    Identity {
        /// The index; 0 stands for any.
        index: u32,
        /// The handle.
        handle: String,
    },
    /// The operator: may write the data folder, and may do everything.
    Operator,
    /// An account with a token that is limited to a part of its rights.
    Limited {
        /// The account.
        account: String,
        /// The limit of the token.
        limit: Limit,
    },
    /// The members of a group. Roles are granted to it; it never acts itself.
    Group(String),
}

/// The limit of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The authority, with everything below it; all authorities if `None`.
    pub authority: Option<AuthorityPath>,
    /// The highest role.
    pub role: Role,
}

impl Principal {
    /// Reads an account name, `group:NAME`, or `INDEX:HANDLE`: digits, a colon, a text with a `/`.
    pub fn parse(text: &str) -> Result<Self, PrincipalError> {
        let parsed = match text.strip_prefix(GROUP) {
            Some(name) => Self::group(name),
            None => Self::parse_actor(text),
        };
        parsed.map_err(|_| PrincipalError {
            text: text.to_string(),
            may_be_group: true,
        })
    }

    /// Reads a principal that can act: an account name or `INDEX:HANDLE`.
    pub fn parse_actor(text: &str) -> Result<Self, PrincipalError> {
        if let Some((index, handle)) = text.split_once(':') {
            let index = index
                .parse()
                .ok()
                .filter(|_| index.bytes().all(|b| b.is_ascii_digit()));
            if let (Some(index), Ok(_)) = (index, Handle::from_stored(handle)) {
                return Ok(Self::Identity {
                    index,
                    handle: handle.to_string(),
                });
            }
        }
        Self::account(text)
    }

    /// An account: letters, digits and `. _ @ -`, at most 64 of them.
    pub fn account(name: &str) -> Result<Self, PrincipalError> {
        checked_name(name).map(Self::Account)
    }

    /// A group: letters, digits and `. _ @ -`, at most 64 of them.
    pub fn group(name: &str) -> Result<Self, PrincipalError> {
        checked_name(name).map(Self::Group)
    }

    /// An anonymous principal: it has no role, and no name that anything could be granted to.
    #[must_use]
    pub fn nobody() -> Self {
        Self::Account(String::new())
    }

    /// The principal without the limits of this one request, as it is stored.
    #[must_use]
    pub(crate) fn lasting(&self) -> Self {
        match self {
            Self::Limited { account, .. } => Self::Account(account.clone()),
            other => other.clone(),
        }
    }

    /// Its key in the store; two principals are equal if their keys are.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Account(name) | Self::Limited { account: name, .. } => {
                format!("account:{}", name.to_lowercase())
            }
            Self::Identity { index, handle } => match Handle::from_stored(handle) {
                // handle-protocol.md §7.4: suffixes compare by their bytes, but under `0.` ignoring
                // case.
                Ok(handle) => format!("{index}:{}", handle.key(CaseRule::Sensitive)),
                Err(_) => format!("{index}:{handle}"),
            },
            Self::Operator => "operator".to_string(),
            Self::Group(name) => format!("{GROUP}{}", name.to_lowercase()),
        }
    }
}

/// The start of the text of a group. No account has a colon in its name.
const GROUP: &str = "group:";

/// The name of an account or of a group.
fn checked_name(name: &str) -> Result<String, PrincipalError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '@' | '-');
    let text = name.to_string();
    if name.is_empty()
        || name.len() > handfast_api::limits::ACCOUNT_NAME
        || !name.chars().all(allowed)
    {
        return Err(PrincipalError {
            text,
            may_be_group: false,
        });
    }
    Ok(text)
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Principal {}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(name) | Self::Limited { account: name, .. } => f.write_str(name),
            Self::Identity { index, handle } => write!(f, "{index}:{handle}"),
            Self::Operator => f.write_str("the operator"),
            Self::Group(name) => write!(f, "{GROUP}{name}"),
        }
    }
}

/// The text does not name a principal.
///
/// ```
/// let error = handfast_registry::Principal::parse("a b").unwrap_err();
/// assert!(error.to_string().contains("INDEX:HANDLE"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is neither an account (letters, digits and . _ @ -){} nor INDEX:HANDLE",
    or_group(*.may_be_group)
)]
pub struct PrincipalError {
    text: String,
    /// Whether a group could stand in its place.
    may_be_group: bool,
}

fn or_group(may_be_group: bool) -> &'static str {
    if may_be_group {
        ", nor group:NAME,"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format on disk: if this test fails, the code is wrong.
    #[test]
    fn the_bytes_of_principals_are_frozen() {
        for (text, bytes) in [
            ("ann", &b"\x00\x03ann"[..]),
            ("7:1/a", b"\x01\x07\x031/a"),
            ("group:Ed", b"\x04\x02Ed"),
        ] {
            let who = Principal::parse(text).unwrap();
            assert_eq!(postcard::to_stdvec(&who).unwrap(), bytes, "{text}");
            assert_eq!(who.to_string(), text);
        }
        let operator = postcard::to_stdvec(&Principal::Operator).unwrap();
        assert_eq!(operator, [2]);
    }

    #[test]
    fn a_group_is_no_account_of_the_same_name() {
        let group = Principal::parse("group:ann").unwrap();
        assert_ne!(group, Principal::parse("ann").unwrap());
        assert_eq!(group.key(), "group:ann");
        for wrong in ["group:", "group:a b", "group:a:b", "Group:ann"] {
            let error = Principal::parse(wrong).unwrap_err().to_string();
            assert!(
                error.contains("group:NAME") && error.contains(wrong),
                "{error}"
            );
        }
        let error = Principal::parse_actor("group:ann").unwrap_err().to_string();
        assert!(!error.contains("group:NAME"), "{error}");
    }
}
