//! Entries, and the states they go through.

use handfast_api::NamespaceForm;
pub use handfast_api::{Capacity, NamespaceStatus};
use handfast_id::{Namespace, NamespaceError, NamespaceRecord};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::error::RegistryError;

/// An entry of the registry (`INFO-9`): the form of its authority, and the data of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceEntry {
    /// The form of the authority.
    #[serde(flatten)]
    pub form: NamespaceForm,
    /// Its stored status. Whether a provisional entry has expired depends on the time: see
    /// [`state`](Self::state).
    pub status: NamespaceStatus,
    /// Whether it was in the original registry.
    pub historical: bool,
    /// The day it was registered, `YYYY-MM-DD`, if that is known.
    pub registered: Option<String>,
    /// Whether a verified authority owns it.
    pub claimed: bool,
    /// Whether a claim on it waits to be verified.
    pub claim_pending: bool,
    /// How its owner was verified.
    pub verified: Option<String>,
    /// When it expires unless it is renewed, in milliseconds since 1970.
    pub provisional_until: Option<u64>,
    /// When it was proposed.
    pub proposed: Option<u64>,
    /// When this version was made. For an unchanged historical entry, the day of its registration.
    pub changed: u64,
    /// Increased by each change.
    pub version: u64,
    /// The capacity of the author of this version.
    pub by: Capacity,
    /// Why this version was made.
    pub why: String,
    /// An action that does not change the form: a claim, or the end of one. `changed`, `by` and
    /// `why` are then those of the version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<NamespaceAside>,
    /// Its owner, or the proposer of a candidate. Accounts are personal data and not public.
    #[serde(skip)]
    pub owner: Option<Principal>,
    /// The claimant who waits to be verified.
    #[serde(skip)]
    pub claimant: Option<Principal>,
    /// The event that made this version; 0 for an entry that comes with the program.
    #[serde(skip)]
    pub last_event: u64,
    /// The random bytes of the commitments in that event.
    #[serde(skip)]
    pub seed: [u8; 32],
}

/// An action that does not change the form of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceAside {
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// The capacity of the actor.
    pub by: Capacity,
    /// Why.
    pub why: String,
}

impl NamespaceEntry {
    /// A registered entry of the original registry, without a version.
    pub(super) fn original(form: NamespaceForm) -> Self {
        Self {
            form,
            status: NamespaceStatus::Registered,
            historical: true,
            registered: None,
            claimed: false,
            claim_pending: false,
            verified: None,
            provisional_until: None,
            proposed: None,
            changed: 0,
            version: 0,
            by: Capacity::Original,
            why: String::new(),
            aside: None,
            owner: None,
            claimant: None,
            last_event: 0,
            seed: [0; 32],
        }
    }

    /// When, in which capacity and why this version was made, also by an action that does not
    /// change the form.
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

    /// The start of all its identifiers, such as `info:lccn/`.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("info:{}/", self.name())
    }

    /// Its rules for software.
    pub fn rules(&self) -> Result<Namespace, NamespaceError> {
        let rules = self.form.rules()?;
        let record = NamespaceRecord {
            status: self.status.as_str().to_string(),
            registered: self.registered.clone(),
            ..rules.record().clone()
        };
        Ok(rules.with_record(record))
    }

    /// Its state at a time, in milliseconds since 1970.
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

    /// The error when its state does not allow an action.
    pub(super) fn in_state(&self, now: u64, way_out: &'static str) -> RegistryError {
        RegistryError::State {
            id: self.uri(),
            state: self.state(now).as_str(),
            way_out,
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

    /// Whether it was ever registered, so that its string is taken for good and its rules apply.
    #[must_use]
    pub fn was_registered(&self) -> bool {
        !matches!(
            self.status,
            NamespaceStatus::Candidate | NamespaceStatus::Refused
        )
    }

    /// The last change of its state at a time: expiry counts as a change.
    #[must_use]
    pub fn changed_by(&self, now: u64) -> u64 {
        match (self.state(now), self.provisional_until) {
            (NamespaceStatus::Lapsed, Some(end)) => self.changed.max(end),
            _ => self.changed,
        }
    }
}
