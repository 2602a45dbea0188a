//! The names of a log: each is assigned once, and changes from state to state.

use std::collections::{HashMap, HashSet};

use handfast_id::Prefix;
use handfast_log::Hash;

use super::authorities::Authorities;
use super::broken_rule::BrokenRule;
use super::canonical::{Form, as_registered, fits, form_of};
use super::finding::{Finding, Findings};
use super::namespaces::Namespaces;
use super::note::{CountedNote, Notes};
use crate::log::event::{Action, Commitments, Event, Subject, digest};

/// The names of a log.
#[derive(Default)]
pub(super) struct Names {
    /// Public names, by the digest of their key.
    public: HashMap<u128, NameFact>,
    /// Hidden names, by their commitment.
    hidden: HashMap<u128, NameFact>,
    /// The commitments of names that were hidden and are public now, and the digest of their key.
    opened: HashMap<u128, u128>,
    /// Digests of the uppercase form of keys that contain lowercase letters.
    in_upper_case: HashSet<u128>,
    /// Digests of the normalised keys of `info` URIs that were assigned in another spelling, with
    /// the event of the assignment.
    spelled_otherwise: HashMap<u128, u64>,
    erased: u64,
}

/// The state of a name in the audit.
#[derive(Clone, Copy)]
struct NameFact {
    first: u64,
    version: u64,
    authority: usize,
    /// A digest of the indexes of its values.
    values: u128,
    state: NameState,
    /// Whether it was hidden once.
    was_hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NameState {
    Active,
    Erased,
    Reserved,
    Withdrawn,
}

impl NameState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Erased => "erased",
            Self::Reserved => "reserved",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The state after an action, if this state allows it.
    fn after(self, action: Action) -> Option<Self> {
        use Action as A;
        match (self, action) {
            (Self::Erased, _) => None,
            (_, A::Erase) => Some(Self::Erased),
            (state, A::Transfer) => Some(state),
            (Self::Active | Self::Reserved, A::Change) => Some(self),
            (Self::Reserved, A::Activate) | (Self::Withdrawn, A::Restore) => Some(Self::Active),
            (Self::Active, A::Withdraw) => Some(Self::Withdrawn),
            _ => None,
        }
    }

    /// The state that an action leads to, whether or not it is allowed.
    fn meant_by(action: Action, before: Self) -> Self {
        match action {
            Action::Activate | Action::Restore => Self::Active,
            Action::Withdraw => Self::Withdrawn,
            _ => before,
        }
    }
}

/// Where the results of an event go.
pub(super) struct Context<'a> {
    pub(super) authorities: &'a mut Authorities,
    pub(super) namespaces: &'a Namespaces,
    pub(super) findings: &'a mut Findings,
    pub(super) notes: &'a mut Notes,
}

impl Context<'_> {
    fn rule(&mut self, event: u64, broken: BrokenRule) {
        self.findings.rule(event, broken);
    }
}

/// The name of an event.
enum Found<'e> {
    Hidden(u128),
    Public(u128, Option<&'e str>),
}

impl Names {
    /// The numbers of public, hidden and erased names.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let hidden = count(self.hidden.len()).saturating_sub(self.erased);
        (count(self.public.len()), hidden, self.erased)
    }

    /// The events that assigned names that were hidden then.
    pub(super) fn hidden_assignments(&self) -> HashSet<u64> {
        let opened = self.public.values().filter(|fact| fact.was_hidden);
        let all = self.hidden.values().chain(opened);
        all.map(|fact| fact.first).collect()
    }

    /// Applies an event to its name, and checks that it may.
    pub(super) fn follow(&mut self, event: &Event, context: &mut Context<'_>) {
        if event.subject == Subject::None {
            let action = event.action;
            context.rule(event.number, BrokenRule::NoSubject { action });
        } else if event.action.is_assignment() {
            self.assign(event, context);
        } else {
            self.change(event, context);
        }
    }

    fn assign(&mut self, event: &Event, context: &mut Context<'_>) {
        let number = event.number;
        let is_reserved = matches!(event.action, Action::Reserve | Action::MintReserved);
        let authority = context.authorities.id_of(&event.authority);
        context
            .authorities
            .check_active(authority, number, context.findings);
        context.authorities.note_retired_above(event, context.notes);
        if !context.namespaces.is_live(&event.authority) {
            context
                .notes
                .count(CountedNote::NotRegistered, number, &event.authority);
        }
        if event.version != 1 {
            context.findings.add(Finding::Unfollowed(number));
        }
        let fact = NameFact {
            first: number,
            version: event.version,
            authority,
            values: indexes_of(&event.commitments),
            state: if is_reserved {
                NameState::Reserved
            } else {
                NameState::Active
            },
            was_hidden: false,
        };
        let key = match &event.subject {
            Subject::None => return,
            Subject::Hidden(commitment) => {
                if !is_reserved {
                    context
                        .authorities
                        .shows_erasable(authority, number, context.findings);
                }
                self.assign_hidden(commitment, fact, context.findings);
                return;
            }
            Subject::Open(key) | Subject::Opened { key, .. } => key,
        };
        if let Some(known) = self.public.get(&digest_of(key)) {
            context
                .findings
                .twice(Some(key.clone()), known.first, number);
            return;
        }
        if matches!(event.subject, Subject::Opened { .. }) {
            subject_form(event, "a new name has no earlier events to open", context);
        }
        if is_reserved {
            subject_form(event, "the name of a reservation is hidden", context);
        }
        let is_prefix = is_prefix_record(key);
        if is_prefix && event.action != Action::Create {
            prefix_record(event, key, context);
        }
        self.check_key(event, key, number, context);
        if !is_prefix {
            context
                .authorities
                .shows_permanent(authority, number, context.findings, context.notes);
        }
        self.public.insert(digest_of(key), fact);
    }

    fn assign_hidden(&mut self, commitment: &Hash, fact: NameFact, out: &mut Findings) {
        let (id, again) = (id_of(commitment), fact.first);
        let opened = self.opened.get(&id);
        let public = opened.and_then(|id| self.public.get(id));
        if let Some(public) = public {
            out.twice(None, public.first, again);
            return;
        }
        match self.hidden.get_mut(&id) {
            None => {
                self.hidden.insert(id, fact);
            }
            Some(known) if known.state == NameState::Erased => {
                let first = known.first;
                out.rule(again, BrokenRule::ReusedCommitment { first });
            }
            Some(known) => {
                out.twice(None, known.first, again);
            }
        }
    }

    fn change(&mut self, event: &Event, context: &mut Context<'_>) {
        let (number, action) = (event.number, event.action);
        let Some(found) = self.find(event, context) else {
            context.findings.add(Finding::Unfollowed(number));
            return;
        };
        let (fact, key, is_public) = match found {
            Found::Hidden(id) => (self.hidden.get_mut(&id), None, false),
            Found::Public(id, key) => (self.public.get_mut(&id), key, true),
        };
        let Some(fact) = fact else {
            context.findings.add(Finding::Unfollowed(number));
            return;
        };
        let name = key.map(str::to_string);
        let authority = context.authorities.id_of(&event.authority);
        if authority != fact.authority {
            let was = context.authorities.key_of(fact.authority).to_string();
            let (name, is) = (name.clone(), event.authority.clone());
            let broken = BrokenRule::AuthorityChanged { name, was, is };
            context.rule(number, broken);
        }
        if fact.version.checked_add(1) != Some(event.version) {
            context.findings.add(Finding::Unfollowed(number));
        }
        fact.version = event.version;
        let values = indexes_of(&event.commitments);
        if values != fact.values && !matches!(action, Action::Change | Action::Erase) {
            let name = name.clone();
            let broken = BrokenRule::ValuesChanged { name, action };
            context.rule(number, broken);
        }
        fact.values = values;
        let before = fact.state;
        if is_public && action == Action::Erase {
            let key = name.unwrap_or_else(|| "a name".to_string());
            context.rule(number, BrokenRule::PublicErased { key });
            return;
        }
        if let Some(after) = before.after(action) {
            fact.state = after;
        } else {
            let broken = BrokenRule::State {
                name,
                action,
                state: before.as_str(),
            };
            context.rule(number, broken);
            fact.state = NameState::meant_by(action, before);
        }
        let (assigned_under, after) = (fact.authority, fact.state);
        if let Some(key) = key
            && is_prefix_record(key)
        {
            if !matches!(action, Action::Change | Action::Transfer) {
                prefix_record(event, key, context);
            }
        } else if is_public {
            context.authorities.shows_permanent(
                assigned_under,
                number,
                context.findings,
                context.notes,
            );
        } else if after != NameState::Reserved {
            context
                .authorities
                .shows_erasable(assigned_under, number, context.findings);
        }
        if after == NameState::Erased && before != NameState::Erased {
            self.erased += 1;
            context.authorities.erases(assigned_under, number);
        }
    }

    /// The name of an event; if the event opens the name, it is public from here on.
    fn find<'e>(&mut self, event: &'e Event, context: &mut Context<'_>) -> Option<Found<'e>> {
        let number = event.number;
        match &event.subject {
            Subject::None => None,
            Subject::Hidden(commitment) => {
                let id = id_of(commitment);
                let Some(public) = self.opened.get(&id) else {
                    return Some(Found::Hidden(id));
                };
                let first = self.public.get(public)?.first;
                context.rule(number, BrokenRule::HiddenAgain { first });
                Some(Found::Public(*public, None))
            }
            Subject::Open(key) => {
                let id = digest_of(key);
                if self.public.get(&id)?.was_hidden {
                    let should = "a hidden name is shown with its opening";
                    subject_form(event, should, context);
                }
                Some(Found::Public(id, Some(key)))
            }
            Subject::Opened { key, salt } => {
                let Subject::Hidden(commitment) = Subject::hide(key, salt) else {
                    return None;
                };
                self.open(event, key, id_of(&commitment), context)?;
                Some(Found::Public(digest_of(key), Some(key)))
            }
        }
    }

    /// Makes a hidden name public; `None` if there is none.
    fn open(
        &mut self,
        event: &Event,
        key: &str,
        commitment: u128,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let (number, id) = (event.number, digest_of(key));
        if self.opened.contains_key(&commitment) {
            return Some(());
        }
        let hidden = self.hidden.remove(&commitment);
        let known = self.public.get(&id).copied();
        let Some(fact) = hidden else {
            known?;
            let key = key.to_string();
            context.rule(number, BrokenRule::OtherSalt { key });
            return Some(());
        };
        self.opened.insert(commitment, id);
        self.check_key(event, key, fact.first, context);
        if is_prefix_record(key) {
            prefix_record(event, key, context);
        }
        if fact.state == NameState::Erased {
            let key = key.to_string();
            context.rule(number, BrokenRule::OpenedAfterErase { key });
            self.erased = self.erased.saturating_sub(1);
        }
        if fact.state == NameState::Reserved && event.action != Action::Activate {
            subject_form(
                event,
                "a reserved name is hidden until it is activated",
                context,
            );
        }
        if let Some(known) = known {
            context.findings.twice(
                Some(key.to_string()),
                known.first.min(fact.first),
                known.first.max(fact.first),
            );
        }
        let was_hidden = true;
        self.public.insert(id, NameFact { was_hidden, ..fact });
        Some(())
    }

    /// Checks that the key of a name that becomes public is canonical, and under its own authority.
    /// `assigned` is the event that assigned it, perhaps hidden.
    fn check_key(&mut self, event: &Event, key: &str, assigned: u64, context: &mut Context<'_>) {
        let number = event.number;
        match form_of(key) {
            Form::Canonical => {
                if context.namespaces.is_original(&event.authority) {
                    self.check_spelling(number, key, assigned, context);
                }
            }
            Form::Irregular => context.notes.count(CountedNote::Irregular, number, key),
            Form::Wrong(why) => {
                let key = key.to_string();
                context.rule(number, BrokenRule::NotCanonical { key, why });
            }
        }
        if !fits(key, &event.authority) {
            let (key, authority) = (key.to_string(), event.authority.clone());
            context.rule(number, BrokenRule::OtherAuthority { key, authority });
        }
        if self.differs_by_case(key) {
            context.notes.count(CountedNote::CaseOnly, number, key);
        }
    }

    /// Checks that the key of an `info` URI is in the normal form of the original registry, and
    /// that no other spelling of it was assigned.
    fn check_spelling(&mut self, number: u64, key: &str, assigned: u64, context: &mut Context<'_>) {
        let normal = as_registered(key);
        if normal.as_deref() != Some(key) {
            context.notes.count(CountedNote::NotNormalised, number, key);
        }
        let Some(normal) = normal else {
            return;
        };
        let id = digest_of(&normal);
        let mut other = self.spelled_otherwise.get(&id).copied();
        if normal != key {
            self.spelled_otherwise.entry(id).or_insert(assigned);
            other = other.or_else(|| Some(self.public.get(&id)?.first));
        }
        if let Some(other) = other {
            context
                .findings
                .twice(Some(normal), other.min(assigned), other.max(assigned));
        }
    }

    /// Whether another name has the same key apart from case. The policy of its authority, or the
    /// rule of its namespace, decides whether case counts; in an ARK it always does.
    fn differs_by_case(&mut self, key: &str) -> bool {
        let Some((tag, rest)) = key.split_once(':').filter(|(tag, _)| *tag != "ark") else {
            return false;
        };
        if tag == "hdl" {
            let prefix = rest.split('/').next().and_then(|p| Prefix::parse(p).ok());
            if prefix.is_none_or(|prefix| prefix.is_always_insensitive()) {
                return false;
            }
        }
        if rest.bytes().any(|byte| byte.is_ascii_lowercase()) {
            let upper = digest_of(&format!("{tag}:{}", rest.to_ascii_uppercase()));
            return !self.in_upper_case.insert(upper) || self.public.contains_key(&upper);
        }
        !self.in_upper_case.is_empty() && self.in_upper_case.contains(&digest_of(key))
    }
}

fn subject_form(event: &Event, should: &'static str, context: &mut Context<'_>) {
    let action = event.action;
    context.rule(event.number, BrokenRule::SubjectForm { action, should });
}

fn prefix_record(event: &Event, key: &str, context: &mut Context<'_>) {
    let (key, action) = (key.to_string(), event.action);
    context.rule(event.number, BrokenRule::PrefixRecord { key, action });
}

fn is_prefix_record(key: &str) -> bool {
    key.starts_with("hdl:0.NA/")
}

/// A digest of the indexes of values in any order, or only of their number if they are combined.
/// Nobody can find a second set with the same digest: the operator chooses the indexes.
fn indexes_of(commitments: &Commitments) -> u128 {
    let hash = match commitments {
        Commitments::Each(each) => {
            let mut indexes: Vec<u32> = each.iter().map(|(index, _)| *index).collect();
            indexes.sort_unstable();
            let bytes: Vec<u8> = indexes.into_iter().flat_map(u32::to_be_bytes).collect();
            digest(&[b"indexes", &bytes])
        }
        Commitments::Combined { count, .. } => digest(&[b"count", &count.to_be_bytes()]),
    };
    id_of(&hash)
}

/// The digest of a public name in the audit.
fn digest_of(key: &str) -> u128 {
    id_of(&digest(&[b"name", key.as_bytes()]))
}

/// The digest of a hidden name in the audit.
fn id_of(hash: &Hash) -> u128 {
    hash.first_chunk()
        .map_or(0, |bytes| u128::from_be_bytes(*bytes))
}
