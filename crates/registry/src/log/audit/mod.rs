//! Auditing a whole log: is it the one that was signed, did it only grow, and does every event
//! follow the rules that an honest program follows?
//!
//! The audit does not trust the holder of the log's key: [`BrokenRule`] lists the rules. It reads
//! events one by one and stores a few bytes for each name. It reports all errors, not only the
//! first. A [`Note`] is something that a log alone cannot decide.

mod authorities;
mod broken_rule;
mod canonical;
mod clock;
mod finding;
mod names;
mod namespaces;
mod note;
mod origins;

use std::collections::{BTreeMap, HashSet};

use handfast_log::{Checkpoint, Hash, TileHash, Tree, VerifyingKey};

use self::authorities::Authorities;
use self::clock::EventClock;
use self::finding::Findings;
use self::names::{Context, Names};
use self::namespaces::Namespaces;
use self::note::{CountedNote, Notes};
use self::origins::Origins;
use crate::log::event::{Action, Commitments, Event, MAX_LISTED_COMMITMENTS, Subject};

pub use self::broken_rule::BrokenRule;
pub use self::finding::Finding;
pub use self::note::Note;
pub use self::origins::BrokenOrigin;

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// The number of events.
    pub events: u64,
    /// The number of names that are, or were, public.
    pub names: u64,
    /// The number of hidden names that were not erased: an auditor knows only that they were
    /// assigned.
    pub hidden: u64,
    /// The number of erased names.
    pub erased: u64,
    /// How many erased names have been assigned again; `None` for an export, which cannot show it.
    pub reassigned: Option<u64>,
    /// The head of the tree of all events.
    pub root: Hash,
    /// The compared checkpoints: which, and of how many events.
    pub checkpoints: Vec<(String, u64)>,
    /// Notes for the auditor.
    pub notes: Vec<Note>,
    /// The errors: first the changed and missing events.
    pub findings: Vec<Finding>,
    /// How many more findings there are that can follow from these, and are not listed.
    pub following: u64,
}

/// An audit in progress.
#[derive(Default)]
pub(crate) struct Audit {
    tree: Tree,
    /// The expected heads for each size.
    expected: BTreeMap<u64, Vec<Expected>>,
    origins: Origins,
    authorities: Authorities,
    names: Names,
    namespaces: Namespaces,
    clock: EventClock,
    /// The number of the next event.
    next: u64,
    /// Missing numbers, from and to, which may still come.
    missing: BTreeMap<u64, u64>,
    findings: Findings,
    notes: Notes,
    audited: Audited,
}

/// An expected head of the log.
struct Expected {
    what: String,
    root: Hash,
    /// The key that has signed it.
    key: VerifyingKey,
}

/// The state of an audit at its end.
pub(crate) struct Finished {
    pub(crate) tree: Tree,
    pub(crate) audited: Audited,
    /// The events that assigned names that were hidden then.
    pub(crate) hidden_assignments: HashSet<u64>,
    /// The authorities that erased names, each with its first such event.
    pub(crate) erasing: Vec<(String, u64)>,
}

impl Audit {
    /// An audit with the given keys, all of which must belong to this log, and with the current
    /// time, if that is known: later events are noted.
    pub(crate) fn new(given: &[VerifyingKey], now: Option<u64>) -> Self {
        let mut audit = Self {
            next: 1,
            ..Self::default()
        };
        audit.origins.given = given.to_vec();
        audit.clock.now = now;
        audit
    }

    /// Sets the key that signs the log now.
    pub(crate) fn signed_by(&mut self, key: &VerifyingKey) {
        self.origins.current = Some(key.clone());
    }

    /// Sets the expected head of the log at a size, and the key that has signed it.
    pub(crate) fn expect(&mut self, what: &str, checkpoint: &Checkpoint, key: &VerifyingKey) {
        let heads = self.expected.entry(checkpoint.size).or_default();
        heads.push(Expected {
            what: what.to_string(),
            root: checkpoint.root,
            key: key.clone(),
        });
        let compared = (what.to_string(), checkpoint.size);
        self.audited.checkpoints.push(compared);
        if !checkpoint.extensions.is_empty() {
            let what = what.to_string();
            self.notes.add(Note::ExtraLines { what });
        }
        if checkpoint.size == 0 {
            self.compare();
        }
    }

    pub(crate) fn find(&mut self, finding: Finding) {
        self.findings.add(finding);
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.notes.add(note);
    }

    /// Checks the next event; `leaf` is its stated leaf hash. Hashes that complete tiles are passed
    /// to `keep`.
    pub(crate) fn event(
        &mut self,
        bytes: &[u8],
        leaf: Option<&Hash>,
        keep: &mut impl FnMut(TileHash),
    ) {
        self.audited.events += 1;
        let own = Event::leaf(bytes);
        match Event::from_bytes(bytes) {
            Err(_) => self.find(Finding::Unreadable(self.audited.events)),
            Ok(event) => {
                if leaf.is_some_and(|leaf| *leaf != own) {
                    self.find(Finding::Changed(event.number));
                }
                if self.is_new(event.number) {
                    self.follow(&event);
                }
            }
        }
        self.tree.append(own, keep);
        self.compare();
    }

    /// Whether a number comes for the first time.
    fn is_new(&mut self, number: u64) -> bool {
        if number == self.next {
            self.next = self.next.saturating_add(1);
            return true;
        }
        if number > self.next {
            self.missing.insert(self.next, number - 1);
            self.next = number.saturating_add(1);
            return true;
        }
        let range = self.missing.range(..=number).next_back();
        match range.map(|(from, to)| (*from, *to)) {
            Some((from, to)) if number <= to => {
                self.missing.remove(&from);
                if from < number {
                    self.missing.insert(from, number - 1);
                }
                if number < to {
                    self.missing.insert(number + 1, to);
                }
                self.find(Finding::OutOfOrder(number));
                true
            }
            _ => {
                self.find(Finding::Twice(number));
                false
            }
        }
    }

    /// Applies an event, and checks that it may.
    fn follow(&mut self, event: &Event) {
        let (number, action) = (event.number, event.action);
        self.clock.tick(number, event.time, &mut self.findings);
        if let Some(what) = wrong_form(event) {
            self.findings.rule(number, BrokenRule::Form { what });
        }
        let is_of_name = action.is_of_name();
        if !is_of_name && event.subject != Subject::None {
            self.findings
                .rule(number, BrokenRule::StraySubject { action });
        }
        match action {
            _ if action.is_of_people() => {}
            Action::BeginLog => {
                let head = Commitments::Each(vec![(0, self.tree.root())]);
                let size = self.tree.size();
                if event.version != size || event.commitments != head {
                    self.find(Finding::Link(number));
                }
                let name = &event.authority;
                self.origins.begin(number, size, name, &mut self.findings);
            }
            _ if is_of_name => self.names.follow(
                event,
                &mut Context {
                    authorities: &mut self.authorities,
                    namespaces: &self.namespaces,
                    findings: &mut self.findings,
                    notes: &mut self.notes,
                },
            ),
            _ if action.is_of_namespace() => self.namespaces.follow(event, &mut self.findings),
            _ => {
                let begins = matches!(action, Action::CreateAuthority | Action::RequestAuthority);
                if begins && !self.namespaces.is_live(&event.authority) {
                    self.notes
                        .count(CountedNote::NotRegistered, number, &event.authority);
                }
                self.authorities
                    .follow(event, &mut self.findings, &mut self.notes);
            }
        }
    }

    fn compare(&mut self) {
        let Some(heads) = self.expected.remove(&self.tree.size()) else {
            return;
        };
        let root = self.tree.root();
        let size = self.tree.size();
        for Expected {
            what,
            root: expected,
            key,
        } in heads
        {
            if expected == root {
                self.origins.agree(what, size, key);
            } else {
                self.origins.disagree(&key);
                self.find(Finding::Head { what, size });
            }
        }
    }

    pub(crate) fn finish(mut self) -> Finished {
        for (from, to) in std::mem::take(&mut self.missing) {
            self.find(Finding::Missing(from, to));
        }
        let found = self.tree.size();
        for (size, heads) in std::mem::take(&mut self.expected) {
            for Expected { what, key, .. } in heads {
                self.origins.disagree(&key);
                self.find(Finding::Short { what, size, found });
            }
        }
        self.origins.finish(&mut self.findings, &mut self.notes);
        self.clock.finish(&mut self.notes);
        let (names, hidden, erased) = self.names.counts();
        let (findings, following) = self.findings.finish();
        let audited = Audited {
            names,
            hidden,
            erased,
            root: self.tree.root(),
            notes: self.notes.finish(),
            findings,
            following,
            ..self.audited
        };
        Finished {
            tree: self.tree,
            audited,
            hidden_assignments: self.names.hidden_assignments(),
            erasing: self.authorities.erasing(),
        }
    }
}

/// The last millisecond of the year 9999, in milliseconds since 1970.
const MAX_TIME: u64 = 253_402_300_799_999;
/// The largest index of a value.
const MAX_INDEX: u32 = 2_147_483_647;

/// What is inconsistent in an event, without regard to earlier events.
fn wrong_form(event: &Event) -> Option<&'static str> {
    if event.actor == [0; 16] {
        return Some("the actor is missing");
    }
    if event.time > MAX_TIME {
        return Some("no clock shows a year after 9999");
    }
    let (each, is_listed) = match &event.commitments {
        Commitments::Each(each) => (each.as_slice(), each.len() <= MAX_LISTED_COMMITMENTS),
        Commitments::Combined { count, .. } => {
            let is_many = usize::try_from(*count).is_ok_and(|count| count > MAX_LISTED_COMMITMENTS);
            (&[][..], is_many)
        }
    };
    if !is_listed {
        return Some("commitments are listed if they are few, and only then");
    }
    let is_sorted = each.is_sorted_by(|before, after| before.0 < after.0);
    if !is_sorted
        && each
            .iter()
            .map(|(index, _)| index)
            .collect::<HashSet<_>>()
            .len()
            < each.len()
    {
        return Some("two commitments have one index");
    }
    if each.iter().any(|(index, _)| *index > MAX_INDEX) {
        return Some("no value has such an index");
    }
    let is_combined = matches!(event.commitments, Commitments::Combined { .. });
    let is_empty = each.is_empty() && !is_combined;
    let has_detail = is_combined || each.first().is_some_and(|(index, _)| *index == 0);
    match event.action {
        Action::Erase if !is_empty => Some("nothing is left of an erased name"),
        Action::Erase => None,
        _ if !has_detail => Some("the commitment to the event's content is missing"),
        action
            if (is_combined || each.len() > 1)
                && !action.is_of_name()
                && !action.is_of_namespace() =>
        {
            Some("only names and namespaces have values")
        }
        Action::BeginLog if event.version == 0 => Some("a log that continues nothing just begins"),
        action if action.is_of_people() && !(event.authority.is_empty() && event.version == 0) => {
            Some("an account, group, token or request has neither authority nor version")
        }
        _ => None,
    }
}
