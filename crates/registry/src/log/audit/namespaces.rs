//! The entries of the `info` registry in a log.

use std::collections::HashMap;

use super::broken_rule::BrokenRule;
use super::canonical::is_namespace;
use super::finding::Findings;
use crate::log::event::{Action, Event};
use crate::namespace::is_historical;

/// The namespaces of a log.
#[derive(Default)]
pub(super) struct Namespaces {
    entries: HashMap<String, EntryFact>,
    /// The last version of the policy of the registry.
    policy: u64,
}

/// The state of an entry in the audit.
struct EntryFact {
    version: u64,
    state: EntryState,
    /// Whether a claim on it is open.
    is_claimed: bool,
    comments: u64,
    /// Whether an event may have given it other rules.
    has_other_rules: bool,
}

/// A log does not show that an entry has expired: it keeps its state, and more actions are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryState {
    Candidate,
    Deprecated,
    /// It does not exist yet.
    New,
    Refused,
    Registered,
    Withdrawn,
}

impl EntryState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "a candidate",
            Self::Deprecated => "deprecated",
            Self::New => "not there",
            Self::Refused => "refused",
            Self::Registered => "registered",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The state after an action, if this state allows it.
    fn after(self, action: Action, is_claimed: bool) -> Option<Self> {
        use Action as A;
        let is_live = matches!(self, Self::Registered | Self::Deprecated);
        match (self, action) {
            (Self::New | Self::Refused, A::ProposeNamespace) => Some(Self::Candidate),
            (Self::Candidate, A::ChangeNamespace | A::CommentNamespace) => Some(self),
            (Self::Candidate, A::RefuseNamespace | A::WithdrawNamespace) => Some(Self::Refused),
            (Self::New | Self::Registered, A::ImportNamespace)
            | (Self::Candidate, A::ApproveNamespace) => Some(Self::Registered),
            (_, A::ChangeNamespace) if is_live => Some(self),
            (_, A::ApproveNamespace | A::RenewNamespace) if is_live => Some(Self::Registered),
            (_, A::RefuseNamespace | A::VerifyNamespace) if is_live && is_claimed => Some(self),
            (_, A::ClaimNamespace) if is_live && !is_claimed => Some(self),
            (_, A::DeprecateNamespace) if is_live => Some(Self::Deprecated),
            (_, A::WithdrawNamespace) if is_live => Some(Self::Withdrawn),
            _ => None,
        }
    }
}

impl Namespaces {
    /// Whether names may be under an authority: an `info` namespace must be registered. A log does
    /// not show whether it has expired.
    pub(super) fn is_live(&self, authority: &str) -> bool {
        let Some(name) = authority.strip_prefix("info:").filter(|n| !n.is_empty()) else {
            return true;
        };
        match self.entries.get(name) {
            Some(entry) => matches!(entry.state, EntryState::Registered | EntryState::Deprecated),
            None => is_historical(name),
        }
    }

    /// Whether an authority belongs to an entry of the original registry whose rules no event has
    /// changed: they are known.
    pub(super) fn is_original(&self, authority: &str) -> bool {
        let Some(name) = authority.strip_prefix("info:") else {
            return false;
        };
        let entry = self.entries.get(name);
        is_historical(name) && entry.is_none_or(|entry| !entry.has_other_rules)
    }

    /// Applies an event to its namespace, and checks that it may.
    pub(super) fn follow(&mut self, event: &Event, out: &mut Findings) {
        let (number, action) = (event.number, event.action);
        let name = event.authority.strip_prefix("info:").unwrap_or_default();
        let unfollowed = || BrokenRule::NamespaceUnfollowed {
            namespace: event.authority.clone(),
        };
        if action == Action::NamespacePolicy {
            if event.authority != "info:" || self.policy.checked_add(1) != Some(event.version) {
                out.rule(number, unfollowed());
            }
            self.policy = event.version;
            return;
        }
        if !is_namespace(name) {
            let (key, why) = (
                event.authority.clone(),
                "it is not how a namespace is written",
            );
            out.rule(number, BrokenRule::NotCanonical { key, why });
        }
        let entry = self.entries.entry(name.to_string()).or_insert_with(|| {
            // Entries of the original registry come with the program, as version 1.
            let is_historical = is_historical(name);
            EntryFact {
                version: u64::from(is_historical),
                state: if is_historical {
                    EntryState::Registered
                } else {
                    EntryState::New
                },
                is_claimed: false,
                comments: 0,
                has_other_rules: false,
            }
        });
        let last = if action == Action::CommentNamespace {
            &mut entry.comments
        } else {
            &mut entry.version
        };
        if last.checked_add(1) != Some(event.version) {
            out.rule(number, unfollowed());
        }
        *last = event.version;
        if let Some(after) = entry.state.after(action, entry.is_claimed) {
            entry.state = after;
        } else {
            let broken = BrokenRule::NamespaceState {
                namespace: event.authority.clone(),
                action,
                state: entry.state.as_str(),
            };
            out.rule(number, broken);
        }
        // No other action changes how identifiers are normalised.
        entry.has_other_rules |= matches!(
            action,
            Action::ChangeNamespace | Action::ImportNamespace | Action::ProposeNamespace
        );
        match action {
            Action::ClaimNamespace => entry.is_claimed = true,
            Action::ProposeNamespace | Action::RefuseNamespace | Action::VerifyNamespace => {
                entry.is_claimed = false;
            }
            _ => {}
        }
    }
}
