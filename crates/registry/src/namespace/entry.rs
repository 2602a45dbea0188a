//! Entries, and the states they go through.

use handfast_api::NamespaceForm;
pub use handfast_api::{Capacity, NamespaceStatus};
use handfast_id::{Namespace, NamespaceError, NamespaceRecord};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;

/// An entry of the registry (`INFO-9`): what its authority says of it, and what the registry says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceEntry {
    /// What the authority says.
    #[serde(flatten)]
    pub form: NamespaceForm,
    /// Where it is in its life. Whether a provisional entry has lapsed depends on the time:
    /// [`state`](Self::state).
    pub status: NamespaceStatus,
    /// Whether it was in the original registry.
    pub historical: bool,
    /// The day it was registered, `YYYY-MM-DD`, if that is known.
    pub registered: Option<String>,
    /// Whether an authority that was verified looks after it.
    pub claimed: bool,
    /// Whether somebody says that it is theirs, and waits to be verified.
    pub claim_pending: bool,
    /// How it was verified whose it is.
    pub verified: Option<String>,
    /// When it lapses unless it is renewed, in milliseconds since 1970.
    pub provisional_until: Option<u64>,
    /// When it was proposed.
    pub proposed: Option<u64>,
    /// When this version was made. For a historical entry that nobody has touched, the day it was registered.
    pub changed: u64,
    /// Counted up by each change.
    pub version: u64,
    /// As what whoever made this version acted.
    pub by: Capacity,
    /// Why this version was made.
    pub why: String,
    /// What was done if it is not about what the entry says: somebody claims it, or a claim is gone. `changed`, `by`
    /// and `why` are then of the version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<NamespaceAside>,
    /// Whose it is, or of a candidate, who proposed it. An account is a person's: not for the public.
    #[serde(skip)]
    pub owner: Option<Principal>,
    /// Who waits to be verified.
    #[serde(skip)]
    pub claimant: Option<Principal>,
    /// The event that made this version; 0 for what came with the program.
    #[serde(skip)]
    pub last_event: u64,
    /// The random bytes behind the commitments of that event.
    #[serde(skip)]
    pub seed: [u8; 32],
}

/// Something that is done beside an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceAside {
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// As what.
    pub by: Capacity,
    /// Why.
    pub why: String,
}

impl NamespaceEntry {
    /// When, as what and why this version was made, be it by an act beside the entry.
    #[must_use]
    pub fn made(&self) -> (u64, Capacity, &str) {
        match &self.aside {
            Some(aside) => (aside.time, aside.by, &aside.why),
            None => (self.changed, self.by, &self.why),
        }
    }

    /// The namespace string.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.form.namespace
    }

    /// The beginning of all its identifiers, such as `info:lccn/`.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("info:{}/", self.name())
    }

    /// What software consults.
    pub fn rules(&self) -> Result<Namespace, NamespaceError> {
        let rules = self.form.rules()?;
        let record = NamespaceRecord {
            status: self.status.as_str().to_string(),
            registered: self.registered.clone(),
            ..rules.record().clone()
        };
        Ok(rules.with_record(record))
    }

    /// Where it is in its life at a time, in milliseconds since 1970.
    #[must_use]
    pub fn state(&self, now: u64) -> NamespaceStatus {
        match self.status {
            NamespaceStatus::Registered | NamespaceStatus::Deprecated
                if self.provisional_until.is_some_and(|end| end <= now) =>
            {
                NamespaceStatus::Lapsed
            }
            status => status,
        }
    }

    /// Whether it is registered at a time (`INFO-7`): `registered` is true for any live entry.
    #[must_use]
    pub fn is_live(&self, now: u64) -> bool {
        matches!(
            self.state(now),
            NamespaceStatus::Registered | NamespaceStatus::Deprecated
        )
    }

    /// Whether it was ever registered, so that its string is taken for good and its rules hold.
    #[must_use]
    pub fn was_registered(&self) -> bool {
        !matches!(
            self.status,
            NamespaceStatus::Candidate | NamespaceStatus::Refused
        )
    }

    /// When it last became what it is at a time: that it lapses is a change, too.
    #[must_use]
    pub fn changed_by(&self, now: u64) -> u64 {
        match (self.state(now), self.provisional_until) {
            (NamespaceStatus::Lapsed, Some(end)) => self.changed.max(end),
            _ => self.changed,
        }
    }
}
