//! The logs under which the events were published: a log that begins anew has another key, and
//! names the one before it.

use handfast_log::VerifyingKey;

use super::finding::{Finding, Findings};
use super::note::{Note, Notes};

/// How the logs of the events do not follow each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenOrigin {
    /// The name that an event gives for the log before it is not a valid name.
    #[error("event {event} begins a log, but {name:?} is not the name of a log that it continues")]
    BadName {
        /// The event that begins a log.
        event: u64,
        /// The name.
        name: String,
    },
    /// A given key belongs to a log that nothing continues.
    #[error(
        "no event says that this log continues {origin}, whose key was given: leave that --key \
         out if the two have nothing to do with each other"
    )]
    NotContinued {
        /// The name of that log.
        origin: String,
    },
    /// Two checkpoints are signed by different keys, and no event between them begins a log.
    #[error(
        "{what} is of the log {origin}, but the same events are also signed by another key, of \
         {other}, and no event between them begins a log"
    )]
    NotBegun {
        /// The checkpoint.
        what: String,
        /// Its log.
        origin: String,
        /// The log of the other checkpoint.
        other: String,
    },
    /// An event begins a log, and names another log before it than the real one.
    #[error(
        "event {event} begins a log and says that it continues {said:?}, but {what} shows that \
         these were events of {origin}"
    )]
    OtherLog {
        /// The event.
        event: u64,
        /// The log that it names.
        said: String,
        /// The checkpoint that shows the real one.
        what: String,
        /// The real one.
        origin: String,
    },
    /// An event begins a log, but its key is that of an earlier log.
    #[error(
        "event {event} begins a log, but its key is the one of an earlier log: a new log has a \
         new key"
    )]
    SameKey {
        /// The event.
        event: u64,
    },
    /// An export states another key than the one that signed its checkpoint.
    #[error(
        "the export says that its key is {said}, but its checkpoint is signed by that of {origin}"
    )]
    WrongKey {
        /// The stated key.
        said: String,
        /// The log of the key that signed.
        origin: String,
    },
}

impl BrokenOrigin {
    /// Returns a stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadName { .. } => "bad-link",
            Self::NotContinued { .. } | Self::NotBegun { .. } => "not-continued",
            Self::OtherLog { .. } => "other-log",
            Self::SameKey { .. } => "same-key",
            Self::WrongKey { .. } => "wrong-key",
        }
    }

    /// The event that it is about.
    #[must_use]
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::BadName { event, .. }
            | Self::OtherLog { event, .. }
            | Self::SameKey { event } => Some(*event),
            Self::NotContinued { .. } | Self::NotBegun { .. } | Self::WrongKey { .. } => None,
        }
    }
}

/// The logs of the events.
#[derive(Default)]
pub(super) struct Origins {
    begun: Vec<LogStartEvent>,
    heads: Vec<Head>,
    /// The logs of checkpoints that do not cover these events; that is a finding of its own.
    refuted: Vec<String>,
    /// The key of the last log, once it has verified a signature.
    pub(super) current: Option<VerifyingKey>,
    /// The given keys.
    pub(super) given: Vec<VerifyingKey>,
}

/// An event that begins a log.
struct LogStartEvent {
    event: u64,
    /// The number of events before it.
    size: u64,
    /// The log that it claims to continue.
    name: String,
}

/// A checkpoint that covers these events.
struct Head {
    what: String,
    size: u64,
    key: VerifyingKey,
}

impl Origins {
    /// Adds an event that begins a log. Only the events before the first log can belong to none.
    pub(super) fn begin(&mut self, event: u64, size: u64, name: &str, out: &mut Findings) {
        let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '+');
        let is_first = name.is_empty() && self.begun.is_empty();
        if !is_name && !is_first {
            let name = name.to_string();
            out.add(Finding::Origin(BrokenOrigin::BadName { event, name }));
        }
        self.begun.push(LogStartEvent {
            event,
            size,
            name: name.to_string(),
        });
    }

    /// Adds a checkpoint that covers these events.
    pub(super) fn agree(&mut self, what: String, size: u64, key: VerifyingKey) {
        self.heads.push(Head { what, size, key });
    }

    /// Adds a checkpoint that covers other events.
    pub(super) fn disagree(&mut self, key: &VerifyingKey) {
        self.refuted.push(key.name().to_string());
    }

    /// Compares the signing keys with the events.
    pub(super) fn finish(&self, out: &mut Findings, notes: &mut Notes) {
        // By the number of logs begun so far: the key that signed at that time, and its checkpoint.
        let mut keys: Vec<Option<&VerifyingKey>> = vec![None; self.begun.len() + 1];
        if let Some(last) = keys.last_mut() {
            *last = self.current.as_ref();
        }
        let mut reported = self.refuted.clone();
        for head in &self.heads {
            let before = self.begun.partition_point(|begun| begun.size < head.size);
            let (what, origin) = (head.what.clone(), head.key.name().to_string());
            if let Some(next) = self.begun.get(before).filter(|next| next.name != origin) {
                let (event, said) = (next.event, next.name.clone());
                reported.push(origin.clone());
                out.add(Finding::Origin(BrokenOrigin::OtherLog {
                    event,
                    said,
                    what,
                    origin,
                }));
                continue;
            }
            let Some(key) = keys.get_mut(before) else {
                continue;
            };
            if let Some(other) = key.filter(|key| **key != head.key) {
                let other = other.name().to_string();
                reported.push(origin.clone());
                out.add(Finding::Origin(BrokenOrigin::NotBegun {
                    what,
                    origin,
                    other,
                }));
            }
            *key = key.or(Some(&head.key));
        }
        self.check_given(&reported, out);
        for (at, begun) in self.begun.iter().enumerate() {
            let own = keys.get(at + 1).copied().flatten();
            let mut earlier = keys.iter().take(at + 1).flatten();
            if earlier.any(|key| Some(*key) == own) {
                let event = begun.event;
                out.add(Finding::Origin(BrokenOrigin::SameKey { event }));
            }
            let is_compared = keys.get(at).copied().flatten().is_some();
            let is_trusted = self.given.iter().any(|key| key.name() == begun.name);
            if !is_compared && !is_trusted {
                let (event, origin) = (begun.event, begun.name.clone());
                notes.add(Note::Continues { event, origin });
            }
        }
    }

    /// Checks that every given key belongs to this log, or to one that it continues.
    fn check_given(&self, reported: &[String], out: &mut Findings) {
        let Some(current) = &self.current else {
            return;
        };
        for key in self.given.iter().filter(|key| *key != current) {
            let is_named = self.begun.iter().any(|begun| begun.name == key.name());
            let origin = key.name().to_string();
            if !is_named && !reported.contains(&origin) {
                out.add(Finding::Origin(BrokenOrigin::NotContinued { origin }));
            }
        }
    }
}
