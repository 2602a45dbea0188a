//! The authorities of a log: which were created, in what order, and whether their names are
//! permanent.

use std::collections::HashMap;

use super::broken_rule::BrokenRule;
use super::canonical::{is_authority, urn_parent};
use super::finding::Findings;
use super::note::{Note, Notes};
use crate::log::event::{Action, Event};

/// The authorities of a log.
#[derive(Default)]
pub(super) struct Authorities {
    ids: HashMap<String, usize>,
    all: Vec<AuthorityFact>,
}

/// The state of an authority in the audit.
struct AuthorityFact {
    key: String,
    first: u64,
    version: u64,
    /// `None` until it is created or requested.
    state: Option<AuthorityState>,
    /// The first event that shows that its names are permanent.
    permanent: Option<u64>,
    /// The first event that erased one of its names.
    erased: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AuthorityState {
    Active,
    Declined,
    Requested,
    Retired,
}

impl AuthorityState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Declined => "declined",
            Self::Requested => "only asked for",
            Self::Retired => "retired",
        }
    }

    /// The state after an action, if this state allows it.
    fn after(self, action: Action, authority: &str) -> Option<Self> {
        use Action as A;
        match (self, action) {
            (Self::Declined, _) => None,
            (state, A::Grant | A::Revoke | A::TransferAuthority) => Some(state),
            (Self::Active, A::RetireAuthority) => Some(Self::Retired),
            (Self::Active, A::ChangeAuthority) | (Self::Requested, A::ApproveAuthority) => {
                Some(Self::Active)
            }
            // A retired prefix that is homed again is approved; nothing else comes back.
            (Self::Retired, A::ApproveAuthority) if authority.starts_with("hdl:") => {
                Some(Self::Active)
            }
            (Self::Requested, A::DeclineAuthority) => Some(Self::Declined),
            _ => None,
        }
    }
}

impl Authorities {
    /// Applies an event to its authority, and checks that it may.
    pub(super) fn follow(&mut self, event: &Event, out: &mut Findings) {
        let number = event.number;
        let id = self.id_of(&event.authority);
        let parent_is_missing = urn_parent(&event.authority)
            .filter(|parent| self.state_of(parent) != Some(AuthorityState::Active))
            .map(str::to_string);
        let Some(fact) = self.all.get_mut(id) else {
            return;
        };
        let authority = fact.key.clone();
        let begins = match event.action {
            Action::CreateAuthority => Some(AuthorityState::Active),
            Action::RequestAuthority => Some(AuthorityState::Requested),
            _ => None,
        };
        if let Some(begins) = begins {
            if !is_authority(&authority) {
                let why = "it is not how an authority is written";
                let key = authority.clone();
                out.rule(number, BrokenRule::NotCanonical { key, why });
            }
            if let Some(parent) = parent_is_missing {
                let authority = authority.clone();
                out.rule(number, BrokenRule::NoParent { authority, parent });
            }
            if fact
                .state
                .is_none_or(|state| state == AuthorityState::Declined)
            {
                if event.version != 1 {
                    out.rule(number, BrokenRule::AuthorityUnfollowed { authority });
                }
                fact.first = number;
            } else {
                let first = fact.first;
                out.rule(number, BrokenRule::AuthorityTwice { authority, first });
            }
            fact.state = Some(begins);
            fact.version = event.version;
            return;
        }
        let Some(state) = fact.state else {
            out.rule(number, BrokenRule::NoAuthority { authority });
            return;
        };
        if fact.version.checked_add(1) != Some(event.version) {
            let authority = authority.clone();
            out.rule(number, BrokenRule::AuthorityUnfollowed { authority });
        }
        fact.version = event.version;
        match state.after(event.action, &authority) {
            Some(after) => fact.state = Some(after),
            None => out.rule(
                number,
                BrokenRule::AuthorityState {
                    authority,
                    action: event.action,
                    state: state.as_str(),
                },
            ),
        }
    }

    /// The number of an authority in the audit.
    pub(super) fn id_of(&mut self, key: &str) -> usize {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        let id = self.all.len();
        self.ids.insert(key.to_string(), id);
        self.all.push(AuthorityFact {
            key: key.to_string(),
            first: 0,
            version: 0,
            state: None,
            permanent: None,
            erased: None,
        });
        id
    }

    pub(super) fn key_of(&self, id: usize) -> &str {
        self.all.get(id).map_or("", |fact| &fact.key)
    }

    fn state_of(&self, key: &str) -> Option<AuthorityState> {
        self.all.get(*self.ids.get(key)?)?.state
    }

    /// Checks that an authority is active when a name is assigned under it.
    pub(super) fn check_active(&self, id: usize, number: u64, out: &mut Findings) {
        let authority = self.key_of(id).to_string();
        match self.all.get(id).and_then(|fact| fact.state) {
            Some(AuthorityState::Active) => {}
            Some(state) => {
                let state = state.as_str();
                out.rule(number, BrokenRule::InactiveAuthority { authority, state });
            }
            None => out.rule(number, BrokenRule::NoAuthority { authority }),
        }
    }

    /// Records that the names of an authority are permanent, as an event shows.
    pub(super) fn shows_permanent(&mut self, id: usize, number: u64, notes: &mut Notes) {
        let Some(fact) = self.all.get_mut(id).filter(|fact| fact.permanent.is_none()) else {
            return;
        };
        fact.permanent = Some(number);
        if let Some(event) = fact.erased {
            let authority = fact.key.clone();
            notes.add(Note::ErasedThenPermanent { authority, event });
        }
    }

    /// Records that the names of an authority may be erased, as an event shows. An authority with
    /// names can become permanent, and never erasable; a URN is permanent from the beginning
    /// (`URN-7`).
    pub(super) fn shows_erasable(&self, id: usize, number: u64, out: &mut Findings) {
        let Some(fact) = self.all.get(id) else { return };
        let is_urn = fact.key.starts_with("urn:");
        if let Some(since) = fact.permanent.or_else(|| is_urn.then_some(fact.first)) {
            let authority = fact.key.clone();
            out.rule(number, BrokenRule::BecameErasable { authority, since });
        }
    }

    pub(super) fn erases(&mut self, id: usize, number: u64) {
        if let Some(fact) = self.all.get_mut(id) {
            fact.erased.get_or_insert(number);
        }
    }

    /// The authorities that erased names, each with its first such event.
    pub(super) fn erasing(&self) -> Vec<(String, u64)> {
        let erasing = self.all.iter();
        let erasing = erasing.filter_map(|fact| Some((fact.key.clone(), fact.erased?)));
        erasing.collect()
    }
}
