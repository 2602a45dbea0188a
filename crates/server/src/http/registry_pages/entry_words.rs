//! The status of an entry in one word, and its meaning.

use handfast_registry::{NamespaceEntry, NamespaceStatus};

/// A status: a word, a class with a colour, an icon, and what it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusBadge {
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    pub(super) icon: &'static str,
    pub(super) meaning: &'static str,
}

/// A status as the public reads it, also in the badge.
pub(super) fn status_word(status: NamespaceStatus) -> &'static str {
    match status {
        NamespaceStatus::Candidate => "proposed",
        NamespaceStatus::Refused => "declined",
        other => other.as_str(),
    }
}

/// The status of an entry at a time.
pub(super) fn badge(entry: &NamespaceEntry, now: u64) -> StatusBadge {
    let (word, class, icon, meaning) = match entry.state(now) {
        NamespaceStatus::Candidate => ("Proposed", "new", "info", "open to comments, not in force"),
        NamespaceStatus::Deprecated => (
            "Deprecated",
            "look",
            "warning",
            "registered, but its authority advises against it or cannot be reached",
        ),
        NamespaceStatus::Lapsed => (
            "Lapsed",
            "look",
            "clock",
            "was registered for a time, which is over",
        ),
        NamespaceStatus::Refused => (
            "Declined",
            "",
            "withdrawn",
            "was proposed, and not registered",
        ),
        NamespaceStatus::Registered if entry.historical && !entry.claimed => (
            "Historical",
            "",
            "clock",
            "from the first registry, not yet claimed by its owner",
        ),
        NamespaceStatus::Registered if entry.historical => (
            "Claimed",
            "good",
            "check",
            "from the first registry, and maintained by its owner",
        ),
        NamespaceStatus::Registered if entry.provisional_until.is_some() => (
            "Provisional",
            "reserved",
            "reserved",
            "registered for a time",
        ),
        NamespaceStatus::Registered => ("Registered", "good", "check", "in force"),
        NamespaceStatus::Withdrawn => (
            "Withdrawn",
            "withdrawn",
            "withdrawn",
            "no longer in use, and never used for anything else",
        ),
    };
    StatusBadge {
        word,
        class,
        icon,
        meaning,
    }
}
