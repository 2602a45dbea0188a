//! Looking through a whole log: is it the one that was signed, did it only grow, and was no name ever given
//! twice?
//!
//! Events are looked at one by one, as they come; what is remembered of each name is a few bytes. All
//! that is wrong is named, not only the first.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use handfast_log::{Checkpoint, Hash, TileHash, Tree};

use crate::event::{Action, Commitments, Event, Subject};

/// Something that is wrong with a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A name was given twice.
    AssignedTwice {
        /// The name, by its key, unless it is hidden.
        key: Option<String>,
        /// The event that gave it first.
        first: u64,
        /// The event that gave it again.
        again: u64,
    },
    /// An event is not the one that was put into the tree.
    Changed(u64),
    /// The head is not the one that a checkpoint says.
    Head {
        /// Which checkpoint.
        what: String,
        /// How many events it is of.
        size: u64,
    },
    /// What the events say and what is kept do not agree.
    Kept(String),
    /// An event that begins a log does not name the head before it.
    Link(u64),
    /// An event is missing; or several, up to and with another.
    Missing(u64, u64),
    /// An event stands behind one that came after it.
    OutOfOrder(u64),
    /// There are fewer events than a checkpoint says.
    Short {
        /// Which checkpoint.
        what: String,
        /// How many events it is of.
        size: u64,
        /// How many there are.
        found: u64,
    },
    /// A checkpoint is not signed as it should be.
    Signature {
        /// Which checkpoint.
        what: String,
        /// Why.
        problem: String,
    },
    /// An event stands twice.
    Twice(u64),
    /// There are events that the checkpoint does not speak of.
    Unsigned {
        /// The first of them.
        from: u64,
        /// How many events the checkpoint is of.
        size: u64,
    },
    /// An event, by its place, cannot be read.
    Unreadable(u64),
    /// An event does not follow the last one of its name.
    Unfollowed(u64),
}

impl Finding {
    /// A stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AssignedTwice { .. } => "assigned-twice",
            Self::Changed(_) => "changed",
            Self::Head { .. } => "other-head",
            Self::Kept(_) => "kept-otherwise",
            Self::Link(_) => "bad-link",
            Self::Missing(..) => "missing",
            Self::OutOfOrder(_) => "out-of-order",
            Self::Short { .. } => "too-short",
            Self::Signature { .. } => "bad-signature",
            Self::Twice(_) => "twice",
            Self::Unsigned { .. } => "unsigned",
            Self::Unreadable(_) => "unreadable",
            Self::Unfollowed(_) => "unfollowed",
        }
    }

    /// The event it is about.
    #[must_use]
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::AssignedTwice { again, .. } => Some(*again),
            Self::Unsigned { from, .. } => Some(*from),
            Self::Changed(number)
            | Self::Link(number)
            | Self::Missing(number, _)
            | Self::OutOfOrder(number)
            | Self::Twice(number)
            | Self::Unfollowed(number)
            | Self::Unreadable(number) => Some(*number),
            _ => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AssignedTwice { key, first, again } => {
                let key = key.as_deref().unwrap_or("a hidden name");
                write!(
                    f,
                    "{key} was assigned twice: by event {first} and by event {again}"
                )
            }
            Self::Changed(number) => write!(f, "event {number} was changed"),
            Self::Head { what, size } => write!(
                f,
                "the first {size} events are not those of {what}: one of them was changed"
            ),
            Self::Kept(problem) => f.write_str(problem),
            Self::Link(number) => {
                write!(
                    f,
                    "event {number} begins a log, but does not name the head before it"
                )
            }
            Self::Missing(from, to) if from == to => write!(f, "event {from} is missing"),
            Self::Missing(from, to) => write!(f, "events {from} to {to} are missing"),
            Self::OutOfOrder(number) => write!(f, "event {number} is out of order"),
            Self::Short { what, size, found } => {
                write!(f, "{what} is of {size} events, but there are {found}")
            }
            Self::Signature { what, problem } => write!(f, "{what}: {problem}"),
            Self::Twice(number) => write!(f, "event {number} stands twice"),
            Self::Unsigned { from, size } => write!(
                f,
                "event {from} and what follows is not signed: the checkpoint is of {size} events"
            ),
            Self::Unreadable(number) => write!(f, "event {number} cannot be read"),
            Self::Unfollowed(number) => {
                write!(f, "event {number} does not follow the last one of its name")
            }
        }
    }
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// How many events were read.
    pub events: u64,
    /// How many names were ever given, and not erased.
    pub names: u64,
    /// The head of the tree of all events.
    pub root: Hash,
    /// The checkpoints that were compared: which, and of how many events.
    pub checkpoints: Vec<(String, u64)>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// The most findings that are kept: a log that is all wrong is wrong.
const MOST: usize = 10_000;

/// Looks through a log.
pub(crate) struct Audit {
    tree: Tree,
    /// The head that each size should have.
    expected: BTreeMap<u64, Vec<(String, Hash)>>,
    names: HashMap<u128, Fact>,
    /// The number of the next event.
    next: u64,
    /// Numbers that were left out, from and to, and may yet come.
    missing: BTreeMap<u64, u64>,
    audited: Audited,
}

/// What is remembered of a name.
struct Fact {
    first: u64,
    version: u64,
    /// What hides it, if anything does or did.
    hidden: u128,
}

impl Audit {
    pub(crate) fn new() -> Self {
        Self {
            tree: Tree::default(),
            expected: BTreeMap::new(),
            names: HashMap::new(),
            next: 1,
            missing: BTreeMap::new(),
            audited: Audited::default(),
        }
    }

    /// Says which head the log has at a size.
    pub(crate) fn expect(&mut self, what: &str, checkpoint: &Checkpoint) {
        let heads = self.expected.entry(checkpoint.size).or_default();
        heads.push((what.to_string(), checkpoint.root));
        let compared = (what.to_string(), checkpoint.size);
        self.audited.checkpoints.push(compared);
        if checkpoint.size == 0 {
            self.compare();
        }
    }

    pub(crate) fn find(&mut self, finding: Finding) {
        if self.audited.findings.len() < MOST {
            self.audited.findings.push(finding);
        }
    }

    /// Looks at the next event; `leaf` is the hash that is said to be its own. Hashes that complete tiles
    /// are handed to `keep`.
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
            self.next += 1;
            return true;
        }
        if number > self.next {
            self.missing.insert(self.next, number - 1);
            self.next = number + 1;
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

    /// What an event does to its name, and whether it may.
    fn follow(&mut self, event: &Event) {
        if event.action == Action::BeginLog {
            let head = Commitments::Each(vec![(0, self.tree.root())]);
            if event.version != self.tree.size() || event.commitments != head {
                self.find(Finding::Link(event.number));
            }
        }
        let (id, key) = match &event.subject {
            Subject::None => return,
            Subject::Open(key) => (id(key.as_bytes()), Some(key)),
            Subject::Hidden(commitment) => (id_of(commitment), None),
            Subject::Opened { key, salt } => {
                let Subject::Hidden(commitment) = Subject::hide(key, salt) else {
                    return;
                };
                self.open(event.number, key, id_of(&commitment));
                (id(key.as_bytes()), Some(key))
            }
        };
        let first = self.names.get(&id).map(|fact| fact.first);
        if event.action.is_assignment() {
            if let Some(first) = first {
                self.find(Finding::AssignedTwice {
                    key: key.cloned(),
                    first,
                    again: event.number,
                });
            } else {
                let hidden = if key.is_none() { id } else { 0 };
                self.names.insert(
                    id,
                    Fact {
                        first: event.number,
                        version: event.version,
                        hidden,
                    },
                );
            }
            if event.version != 1 {
                self.find(Finding::Unfollowed(event.number));
            }
            return;
        }
        let follows = match self.names.get_mut(&id) {
            Some(fact) => {
                let follows = event.version == fact.version + 1;
                fact.version = event.version;
                follows
            }
            None => false,
        };
        if !follows {
            self.find(Finding::Unfollowed(event.number));
        }
        if event.action == Action::Erase {
            self.names.remove(&id);
        }
    }

    /// A name that was hidden is known from here on.
    fn open(&mut self, number: u64, key: &str, hidden: u128) {
        let id = id(key.as_bytes());
        let was_hidden = self.names.remove(&hidden);
        match (self.names.get(&id), was_hidden) {
            (None, Some(fact)) => {
                self.names.insert(id, fact);
            }
            (Some(known), Some(fact)) => {
                let (first, again) = (known.first.min(fact.first), known.first.max(fact.first));
                self.find(Finding::AssignedTwice {
                    key: Some(key.to_string()),
                    first,
                    again,
                });
            }
            // Opened before.
            (Some(known), None) if known.hidden == hidden => {}
            (_, None) => self.find(Finding::Unfollowed(number)),
        }
    }

    fn compare(&mut self) {
        let Some(heads) = self.expected.remove(&self.tree.size()) else {
            return;
        };
        let root = self.tree.root();
        for (what, expected) in heads {
            if expected != root {
                let size = self.tree.size();
                self.find(Finding::Head { what, size });
            }
        }
    }

    pub(crate) fn finish(mut self) -> (Tree, Audited) {
        for (from, to) in std::mem::take(&mut self.missing) {
            self.find(Finding::Missing(from, to));
        }
        let found = self.tree.size();
        for (size, heads) in std::mem::take(&mut self.expected) {
            for (what, _) in heads {
                self.find(Finding::Short { what, size, found });
            }
        }
        self.audited.names = u64::try_from(self.names.len()).unwrap_or(u64::MAX);
        self.audited.root = self.tree.root();
        (self.tree, self.audited)
    }
}

/// What a name is remembered by.
fn id(key: &[u8]) -> u128 {
    id_of(&crate::event::digest(&[b"name", key]))
}

fn id_of(hash: &Hash) -> u128 {
    hash.first_chunk()
        .map_or(0, |bytes| u128::from_be_bytes(*bytes))
}
