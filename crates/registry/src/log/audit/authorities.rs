//! The authorities of a log: which were created, in what order, and whether their names are
//! permanent.

use std::collections::HashMap;

use super::broken_rule::BrokenRule;
use super::canonical::{has_names, is_authority};
use super::finding::Findings;
use super::note::{CountedNote, Note, Notes};
use crate::authority::path::parent_key;
use crate::log::event::{Action, Event};

/// The authorities of a log.
#[derive(Default)]
pub(super) struct Authorities {
    ids: HashMap<String, usize>,
    all: Vec<AuthorityFact>,
    /// Whether any was ever retired: only then is it worth looking above.
    any_retired: bool,
}

/// The state of an authority in the audit.
#[derive(Default)]
struct AuthorityFact {
    key: String,
    first: u64,
    version: u64,
    /// `None` until it is created or requested.
    state: Option<AuthorityState>,
    /// Whether its title or policy was changed after the last event that shows that its names may
    /// be erased.
    is_changed: bool,
    /// Whether something was done there while it was not in use.
    is_misused: bool,
    /// The first event that shows that its names are permanent.
    permanent: Option<u64>,
    /// The first event that shows that its names may be erased.
    erasable: Option<u64>,
    /// The first event that erased one of its names.
    erased: Option<u64>,
}

impl AuthorityFact {
    /// Something is done where the authority is not in use: what one missing event comes to is
    /// listed once.
    fn misuse(&mut self, number: u64, broken: BrokenRule, out: &mut Findings) {
        if self.is_misused {
            out.follows();
        } else {
            self.is_misused = true;
            out.rule(number, broken);
        }
    }
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
    pub(super) fn follow(&mut self, event: &Event, out: &mut Findings, notes: &mut Notes) {
        let number = event.number;
        let id = self.id_of(&event.authority);
        let begins = match event.action {
            Action::CreateAuthority => Some(AuthorityState::Active),
            Action::RequestAuthority => Some(AuthorityState::Requested),
            _ => None,
        };
        let parent_is_missing = begins
            .and_then(|_| self.missing_parent(&event.authority))
            .map(str::to_string);
        if parent_is_missing.is_none() {
            self.note_retired_above(event, notes);
        }
        self.any_retired |= event.action == Action::RetireAuthority;
        let Some(fact) = self.all.get_mut(id) else {
            return;
        };
        let authority = fact.key.clone();
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
            fact.is_changed = false;
            return;
        }
        let Some(state) = fact.state else {
            fact.misuse(number, BrokenRule::NoAuthority { authority }, out);
            return;
        };
        if fact.version.checked_add(1) != Some(event.version) {
            let authority = authority.clone();
            out.rule(number, BrokenRule::AuthorityUnfollowed { authority });
        }
        fact.version = event.version;
        fact.is_changed |= event.action == Action::ChangeAuthority;
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
            ..AuthorityFact::default()
        });
        id
    }

    pub(super) fn key_of(&self, id: usize) -> &str {
        self.all.get(id).map_or("", |fact| &fact.key)
    }

    fn state_of(&self, key: &str) -> Option<AuthorityState> {
        self.all.get(*self.ids.get(key)?)?.state
    }

    /// The authority above a new or requested one, if it does not allow one below it. In a URN
    /// namespace it must be active; a prefix may derive from one that is not registered here, but
    /// not from a retired one.
    fn missing_parent<'k>(&self, key: &'k str) -> Option<&'k str> {
        let parent = parent_key(key)?;
        let state = self.state_of(parent);
        let is_missing = if key.starts_with("urn:") {
            state != Some(AuthorityState::Active)
        } else {
            state == Some(AuthorityState::Retired)
        };
        is_missing.then_some(parent)
    }

    /// Notes an event that creates a name below a retired authority, or gives rights to do so. An
    /// authority may be retired without those below it, which earlier programs always did.
    pub(super) fn note_retired_above(&self, event: &Event, notes: &mut Notes) {
        use Action as A;
        let is_growth = event.action.is_assignment()
            || matches!(
                event.action,
                A::CreateAuthority | A::RequestAuthority | A::ApproveAuthority | A::ChangeAuthority
            );
        if !self.any_retired || !is_growth {
            return;
        }
        let mut above = parent_key(&event.authority);
        while let Some(key) = above {
            if self.state_of(key) == Some(AuthorityState::Retired) {
                notes.count(CountedNote::BelowRetired, event.number, &event.authority);
                return;
            }
            above = parent_key(key);
        }
    }

    /// Checks that an authority is active when a name is assigned under it.
    pub(super) fn check_active(&mut self, id: usize, number: u64, out: &mut Findings) {
        let Some(fact) = self.all.get_mut(id) else {
            return;
        };
        let authority = fact.key.clone();
        let broken = match fact.state {
            Some(AuthorityState::Active) if has_names(&authority) => return,
            Some(AuthorityState::Active) => {
                let state = "one that has no names of its own";
                BrokenRule::InactiveAuthority { authority, state }
            }
            Some(state) => {
                let state = state.as_str();
                BrokenRule::InactiveAuthority { authority, state }
            }
            None => BrokenRule::NoAuthority { authority },
        };
        fact.misuse(number, broken, out);
    }

    /// Records that the names of an authority are permanent, as an event shows. Erasable names
    /// become permanent by a change of the authority.
    pub(super) fn shows_permanent(
        &mut self,
        id: usize,
        number: u64,
        out: &mut Findings,
        notes: &mut Notes,
    ) {
        let Some(fact) = self.all.get_mut(id).filter(|fact| fact.permanent.is_none()) else {
            return;
        };
        fact.permanent = Some(number);
        let authority = fact.key.clone();
        if let Some(since) = fact.erasable.filter(|_| !fact.is_changed) {
            out.rule(number, BrokenRule::BecamePermanent { authority, since });
        } else if let Some(event) = fact.erased {
            notes.add(Note::ErasedThenPermanent { authority, event });
        }
    }

    /// Records that the names of an authority may be erased, as an event shows. An authority with
    /// names can become permanent, and never erasable; a URN is permanent from the beginning
    /// (`URN-7`).
    pub(super) fn shows_erasable(&mut self, id: usize, number: u64, out: &mut Findings) {
        let Some(fact) = self.all.get_mut(id) else {
            return;
        };
        fact.erasable.get_or_insert(number);
        // An earlier change has left its names erasable.
        fact.is_changed = false;
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
