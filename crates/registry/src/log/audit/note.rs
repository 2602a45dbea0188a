//! Notes: unusual facts about a log that breaks no rule.

use std::collections::BTreeMap;

/// An unusual fact, or one that a log alone cannot decide. It is not an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Note {
    /// Events create names below a retired authority: correct only if it was retired without those
    /// below.
    #[error(
        "{count} events name something below a retired authority, first event {event} at \
         {authority}: right if the authorities below were kept, as earlier programs did"
    )]
    BelowRetired {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
        /// The authority that it is about.
        authority: String,
    },
    /// Keys differ by case only: they are different names only where case counts.
    #[error(
        "{count} public names differ from others by case alone, first {key} by event {event}: \
         they are different names only if case counts under their authority or in their namespace"
    )]
    CaseOnly {
        /// How many keys.
        count: u64,
        /// The event that assigned the first of them.
        event: u64,
        /// That key.
        key: String,
    },
    /// A log continues another, with which it was not compared.
    #[error("event {event} begins a log that continues {}", continued(.origin))]
    Continues {
        /// The event that begins it.
        event: u64,
        /// The name of the log that it continues.
        origin: String,
    },
    /// An authority erased names while it was erasable, and its names are permanent now.
    #[error(
        "{authority} is permanent now, but erased names before, first by event {event}: one of \
         them may have been assigned again"
    )]
    ErasedThenPermanent {
        /// The authority, by its key.
        authority: String,
        /// The first event that erased one of its names.
        event: u64,
    },
    /// A checkpoint has more lines than its origin, size and root.
    #[error("{what} has lines that this program does not know")]
    ExtraLines {
        /// Which checkpoint.
        what: String,
    },
    /// Names that could not be registered today: they have control characters, white space at an
    /// end, or are too long.
    #[error(
        "{count} public names could not be registered today, first {key} by event {event}: they \
         have control characters, white space at an end, a scheme in their prefix, or are too \
         long"
    )]
    Irregular {
        /// How many names.
        count: u64,
        /// The event that assigned the first of them.
        event: u64,
        /// Its key.
        key: String,
    },
    /// Keys of `info` URIs that the original registry would have normalised in another way.
    #[error(
        "{count} info URIs are not as the original registry normalises them, first {key} by event \
         {event}: they may be other spellings of other names"
    )]
    NotNormalised {
        /// How many names.
        count: u64,
        /// The event that assigned the first of them.
        event: u64,
        /// Its key.
        key: String,
    },
    /// Names or authorities of `info` namespaces that were not registered at that time.
    #[error(
        "{count} events name something in info namespaces that were not registered then, first \
         event {event} at {authority}: earlier programs let that be"
    )]
    NotRegistered {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
        /// The authority that it is about.
        authority: String,
    },
    /// An export states another key than the trusted ones.
    #[error("the export says that its key is {key}, which is not one of the given keys")]
    OtherKey {
        /// The stated key.
        key: String,
    },
    /// Events are dated later than now, by more than a day.
    #[error("{count} events are dated more than a day after now, first event {event}")]
    TimeAhead {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
    },
    /// Events are dated before earlier ones, by at most a day.
    #[error(
        "{count} events are dated before an earlier one, first event {event}, by {} s at most",
        .largest.div_ceil(1_000)
    )]
    TimeBack {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
        /// By how many milliseconds at most.
        largest: u64,
    },
}

impl Note {
    /// Returns a stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BelowRetired { .. } => "below-retired",
            Self::CaseOnly { .. } => "case-only",
            Self::Continues { .. } => "continues",
            Self::ErasedThenPermanent { .. } => "erased-then-permanent",
            Self::ExtraLines { .. } => "extra-lines",
            Self::Irregular { .. } => "irregular",
            Self::NotNormalised { .. } => "not-normalised",
            Self::NotRegistered { .. } => "not-registered",
            Self::OtherKey { .. } => "other-key",
            Self::TimeAhead { .. } => "time-ahead",
            Self::TimeBack { .. } => "time-back",
        }
    }

    /// The event that it is about, or the first of them.
    #[must_use]
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::BelowRetired { event, .. }
            | Self::CaseOnly { event, .. }
            | Self::Continues { event, .. }
            | Self::ErasedThenPermanent { event, .. }
            | Self::Irregular { event, .. }
            | Self::NotNormalised { event, .. }
            | Self::NotRegistered { event, .. }
            | Self::TimeAhead { event, .. }
            | Self::TimeBack { event, .. } => Some(*event),
            Self::ExtraLines { .. } | Self::OtherKey { .. } => None,
        }
    }
}

fn continued(origin: &str) -> String {
    if origin.is_empty() {
        return "events of no log".to_string();
    }
    format!("{origin}: compare with a checkpoint of that log, by --from and --key")
}

/// Notes that stand once in the list, however many events they are about. They are listed in this
/// order, behind all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CountedNote {
    CaseOnly,
    Irregular,
    BelowRetired,
    NotNormalised,
    NotRegistered,
}

/// The notes of an audit.
#[derive(Default)]
pub(super) struct Notes {
    all: Vec<Note>,
    /// How many events each is about, the first of them, and its key or authority.
    counted: BTreeMap<CountedNote, (u64, u64, String)>,
}

/// The maximum number of notes that are listed one by one.
const MAX_NOTES: usize = 1_000;

impl Notes {
    pub(super) fn add(&mut self, note: Note) {
        if self.all.len() < MAX_NOTES {
            self.all.push(note);
        }
    }

    pub(super) fn count(&mut self, what: CountedNote, event: u64, key: &str) {
        let first = || (0, event, key.to_string());
        self.counted.entry(what).or_insert_with(first).0 += 1;
    }

    pub(super) fn finish(mut self) -> Vec<Note> {
        let counted = self.counted.into_iter();
        let counted = counted.map(|(what, (count, event, key))| {
            let authority = key.clone();
            match what {
                CountedNote::CaseOnly => Note::CaseOnly { count, event, key },
                CountedNote::Irregular => Note::Irregular { count, event, key },
                CountedNote::BelowRetired => Note::BelowRetired {
                    count,
                    event,
                    authority,
                },
                CountedNote::NotNormalised => Note::NotNormalised { count, event, key },
                CountedNote::NotRegistered => Note::NotRegistered {
                    count,
                    event,
                    authority,
                },
            }
        });
        self.all.extend(counted);
        self.all
    }
}
