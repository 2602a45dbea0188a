//! Findings: the errors of a log.

use std::collections::HashSet;

use super::broken_rule::BrokenRule;
use super::origins::BrokenOrigin;

/// An error of a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// A name was assigned twice.
    #[error(
        "{} was assigned twice: by event {first} and by event {again}",
        .key.as_deref().unwrap_or("a hidden name")
    )]
    AssignedTwice {
        /// The name, by its key, unless it is hidden.
        key: Option<String>,
        /// The event that assigned it first.
        first: u64,
        /// The event that assigned it again.
        again: u64,
    },
    /// An event differs from the one in the tree.
    #[error("event {0} was changed")]
    Changed(u64),
    /// The head differs from the one of a checkpoint.
    #[error("the first {size} events are not those of {what}: one of them was changed")]
    Head {
        /// Which checkpoint.
        what: String,
        /// The number of events of the checkpoint.
        size: u64,
    },
    /// The stored data does not agree with the events.
    #[error("{0}")]
    StoreDiffers(String),
    /// An event that begins a log does not name the head before it.
    #[error("event {0} begins a log, but does not name the head before it")]
    Link(u64),
    /// An event is missing, or a range of events.
    #[error("{} missing", range(*.0, *.1))]
    Missing(u64, u64),
    /// The logs under which the events were published do not follow each other.
    #[error("{0}")]
    Origin(BrokenOrigin),
    /// An event stands behind a later one.
    #[error("event {0} is out of order")]
    OutOfOrder(u64),
    /// An event breaks a rule.
    #[error("event {event} {broken}")]
    Rule {
        /// The event.
        event: u64,
        /// The rule that it breaks, and how.
        broken: BrokenRule,
    },
    /// There are fewer events than a checkpoint covers.
    #[error("{what} is of {size} events, but there are {found}")]
    Short {
        /// Which checkpoint.
        what: String,
        /// The number of events of the checkpoint.
        size: u64,
        /// The number of events.
        found: u64,
    },
    /// A checkpoint has no valid signature.
    #[error("{what}: {problem}")]
    Signature {
        /// Which checkpoint.
        what: String,
        /// Why.
        problem: String,
    },
    /// An event occurs twice.
    #[error("event {0} stands twice")]
    Twice(u64),
    /// There are events that the checkpoint does not cover.
    #[error("event {from} and what follows is not signed: the checkpoint is of {size} events")]
    Unsigned {
        /// The first of them.
        from: u64,
        /// The number of events of the checkpoint.
        size: u64,
    },
    /// An event, given by its position, cannot be read.
    #[error("event {0} cannot be read: it is damaged, or of a newer program than this one")]
    Unreadable(u64),
    /// An event does not follow the last one of its name.
    #[error("event {0} does not follow the last one of its name")]
    Unfollowed(u64),
}

impl Finding {
    /// Returns a stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AssignedTwice { .. } => "assigned-twice",
            Self::Changed(_) => "changed",
            Self::Head { .. } => "other-head",
            Self::StoreDiffers(_) => "kept-otherwise",
            Self::Link(_) => "bad-link",
            Self::Missing(..) => "missing",
            Self::Origin(broken) => broken.code(),
            Self::OutOfOrder(_) => "out-of-order",
            Self::Rule { broken, .. } => broken.code(),
            Self::Short { .. } => "too-short",
            Self::Signature { .. } => "bad-signature",
            Self::Twice(_) => "twice",
            Self::Unsigned { .. } => "unsigned",
            Self::Unreadable(_) => "unreadable",
            Self::Unfollowed(_) => "unfollowed",
        }
    }

    /// The event that it is about.
    #[must_use]
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::AssignedTwice { again, .. } => Some(*again),
            Self::Origin(broken) => broken.event(),
            Self::Rule { event, .. } => Some(*event),
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

    /// Whether an event is not what it was: what later events build on is not known then. Gives its
    /// number.
    fn as_cause(&self) -> Option<u64> {
        match self {
            Self::Changed(number) | Self::Missing(number, _) | Self::Unreadable(number) => {
                Some(*number)
            }
            _ => None,
        }
    }

    /// Whether an event before this one that is not what it was can be the reason for it.
    fn may_follow(&self, cause: u64) -> bool {
        match self {
            Self::Link(number) => *number > cause,
            Self::Unfollowed(number) => *number >= cause,
            Self::Rule { event, broken } => *event > cause && broken.may_follow(),
            _ => false,
        }
    }
}

fn range(from: u64, to: u64) -> String {
    if from == to {
        format!("event {from} is")
    } else {
        format!("events {from} to {to} are")
    }
}

/// The maximum number of listed findings.
const MAX_FINDINGS: usize = 10_000;

/// The findings so far.
#[derive(Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
    /// How many more there are that follow from one of them.
    follow: u64,
}

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        if self.all.len() < MAX_FINDINGS {
            self.all.push(finding);
        }
    }

    /// Adds an event that breaks a rule.
    pub(super) fn rule(&mut self, event: u64, broken: BrokenRule) {
        self.add(Finding::Rule { event, broken });
    }

    /// Adds a name that two events assign.
    pub(super) fn twice(&mut self, key: Option<String>, first: u64, again: u64) {
        self.add(Finding::AssignedTwice { key, first, again });
    }

    /// The same is wrong as before.
    pub(super) fn follows(&mut self) {
        self.follow += 1;
    }

    /// The findings, causes first, and how many more follow from them: an event that was changed or
    /// is missing makes later ones look wrong that are not.
    pub(super) fn finish(self) -> (Vec<Finding>, u64) {
        let Self { all, mut follow } = self;
        let is_cause = |finding: &Finding| finding.as_cause().is_some();
        let (mut listed, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_cause);
        listed.sort_by_key(Finding::as_cause);
        let causes: HashSet<u64> = listed.iter().filter_map(Finding::as_cause).collect();
        let first = causes.iter().min().copied();
        for finding in others {
            // The content of a changed event is not the signed one.
            let is_said_there =
                matches!(&finding, Finding::Rule { event, .. } if causes.contains(event));
            if is_said_there || first.is_some_and(|first| finding.may_follow(first)) {
                follow += 1;
            } else {
                listed.push(finding);
            }
        }
        (listed, follow)
    }
}
