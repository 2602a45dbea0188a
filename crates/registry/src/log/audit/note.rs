//! Notes: unusual facts about a log that breaks no rule.

use std::fmt;

/// An unusual fact, or one that a log alone cannot decide. It is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Events create names below a retired authority: correct only if it was retired without those
    /// below.
    BelowRetired {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
        /// The authority that it is about.
        authority: String,
    },
    /// Keys differ by case only: they are different names only where case counts.
    CaseOnly {
        /// How many keys.
        count: u64,
        /// The event that assigned the first of them.
        event: u64,
        /// That key.
        key: String,
    },
    /// A log continues another, with which it was not compared.
    Continues {
        /// The event that begins it.
        event: u64,
        /// The name of the log that it continues.
        origin: String,
    },
    /// An authority erased names while it was erasable, and its names are permanent now.
    ErasedThenPermanent {
        /// The authority, by its key.
        authority: String,
        /// The first event that erased one of its names.
        event: u64,
    },
    /// A checkpoint has more lines than its origin, size and root.
    ExtraLines {
        /// Which checkpoint.
        what: String,
    },
    /// Names that could not be registered today: they have control characters, white space at an
    /// end, or are too long.
    Irregular {
        /// How many names.
        count: u64,
        /// The event that assigned the first of them.
        event: u64,
        /// Its key.
        key: String,
    },
    /// Keys of `info` URIs that the original registry would have normalised in another way.
    NotNormalised {
        /// How many names.
        count: u64,
        /// The event that assigned the first of them.
        event: u64,
        /// Its key.
        key: String,
    },
    /// Names or authorities of `info` namespaces that were not registered at that time.
    NotRegistered {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
        /// The authority that it is about.
        authority: String,
    },
    /// An export states another key than the trusted ones.
    OtherKey {
        /// The stated key.
        key: String,
    },
    /// Events are dated later than now, by more than a day.
    TimeAhead {
        /// How many events.
        count: u64,
        /// The first of them.
        event: u64,
    },
    /// Events are dated before earlier ones, by at most a day.
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

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BelowRetired {
                count,
                event,
                authority,
            } => write!(
                f,
                "{count} events name something below a retired authority, first event {event} at \
                 {authority}: \
                 right if the authorities below were kept, as earlier programs did"
            ),
            Self::CaseOnly { count, event, key } => write!(
                f,
                "{count} public names differ from others by case alone, first {key} by event \
                 {event}: they are different names only if case counts under their authority or in \
                 their namespace"
            ),
            Self::Continues { event, origin } if origin.is_empty() => write!(
                f,
                "event {event} begins a log that continues events of no log"
            ),
            Self::Continues { event, origin } => write!(
                f,
                "event {event} begins a log that continues {origin}: compare with a checkpoint of \
                 that log, \
                 by --from and --key"
            ),
            Self::ErasedThenPermanent { authority, event } => write!(
                f,
                "{authority} is permanent now, but erased names before, first by event {event}: \
                 one of them may have been assigned again"
            ),
            Self::ExtraLines { what } => {
                write!(f, "{what} has lines that this program does not know")
            }
            Self::Irregular { count, event, key } => write!(
                f,
                "{count} public names could not be registered today, first {key} by event {event}: \
                 they have control characters, white space at an end, a scheme in their prefix, or \
                 are too long"
            ),
            Self::NotNormalised { count, event, key } => write!(
                f,
                "{count} info URIs are not as the original registry normalises them, first {key} \
                 by event \
                 {event}: they may be other spellings of other names"
            ),
            Self::NotRegistered {
                count,
                event,
                authority,
            } => write!(
                f,
                "{count} events name something in info namespaces that were not registered then, \
                 first event \
                 {event} at {authority}: earlier programs let that be"
            ),
            Self::OtherKey { key } => write!(
                f,
                "the export says that its key is {key}, which is not one of the given keys"
            ),
            Self::TimeAhead { count, event } => write!(
                f,
                "{count} events are dated more than a day after now, first event {event}"
            ),
            Self::TimeBack {
                count,
                event,
                largest,
            } => write!(
                f,
                "{count} events are dated before an earlier one, first event {event}, by {} s at \
                 most",
                largest.div_ceil(1_000)
            ),
        }
    }
}

/// Notes that are counted while a log is read.
#[derive(Default)]
pub(super) struct Notes {
    all: Vec<Note>,
    below_retired: Option<(u64, u64, String)>,
    case_only: Option<(u64, u64, String)>,
    irregular: Option<(u64, u64, String)>,
    not_normalised: Option<(u64, u64, String)>,
    not_registered: Option<(u64, u64, String)>,
}

/// The maximum number of notes that are listed one by one.
const MAX_NOTES: usize = 1_000;

impl Notes {
    pub(super) fn add(&mut self, note: Note) {
        if self.all.len() < MAX_NOTES {
            self.all.push(note);
        }
    }

    pub(super) fn below_retired(&mut self, event: u64, authority: &str) {
        count(&mut self.below_retired, event, authority);
    }

    pub(super) fn not_normalised(&mut self, event: u64, key: &str) {
        count(&mut self.not_normalised, event, key);
    }

    pub(super) fn not_registered(&mut self, event: u64, authority: &str) {
        count(&mut self.not_registered, event, authority);
    }

    pub(super) fn case_only(&mut self, event: u64, key: &str) {
        count(&mut self.case_only, event, key);
    }

    pub(super) fn irregular(&mut self, event: u64, key: &str) {
        count(&mut self.irregular, event, key);
    }

    pub(super) fn finish(mut self) -> Vec<Note> {
        if let Some((count, event, key)) = self.case_only.take() {
            self.all.push(Note::CaseOnly { count, event, key });
        }
        if let Some((count, event, key)) = self.irregular.take() {
            self.all.push(Note::Irregular { count, event, key });
        }
        if let Some((count, event, authority)) = self.below_retired.take() {
            self.all.push(Note::BelowRetired {
                count,
                event,
                authority,
            });
        }
        if let Some((count, event, key)) = self.not_normalised.take() {
            self.all.push(Note::NotNormalised { count, event, key });
        }
        if let Some((count, event, authority)) = self.not_registered.take() {
            self.all.push(Note::NotRegistered {
                count,
                event,
                authority,
            });
        }
        self.all
    }
}

fn count(slot: &mut Option<(u64, u64, String)>, event: u64, key: &str) {
    match slot {
        Some((count, ..)) => *count += 1,
        None => *slot = Some((1, event, key.to_string())),
    }
}
