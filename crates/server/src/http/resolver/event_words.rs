//! The last events of a name, in words.

use handfast_registry::{Action, HistoryEntry, Principal, Registry};

/// One event of a name, for people.
pub(crate) struct EventLine {
    /// When, in milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) words: String,
    /// Its position in the log.
    pub(crate) number: u64,
}

/// The last events of a name that everybody may know of, newest first.
pub(crate) fn recent(registry: &Registry, id: &str, limit: usize) -> Vec<EventLine> {
    let found = registry.recent_history(&Principal::nobody(), id, limit);
    let found = found.unwrap_or_default();
    let lines = found.iter().map(|entry| EventLine {
        time: entry.event.time,
        words: words(entry),
        number: entry.event.number,
    });
    lines.collect()
}

/// What happened, in a few words.
fn words(entry: &HistoryEntry) -> String {
    match entry.event.action {
        Action::Transfer => "Given to another holder".to_string(),
        Action::Change => changed(entry),
        action => state_words(action).unwrap_or(action.as_str()).to_string(),
    }
}

/// What happened to the state of a name.
pub(crate) fn state_words(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Create | Action::Mint => "Registered",
        Action::Reserve | Action::MintReserved => "Reserved",
        Action::Activate => "Made active",
        Action::Withdraw => "Withdrawn",
        Action::Restore => "Restored",
        Action::Erase => "Erased",
        _ => return None,
    })
}

/// Which values were changed.
pub(crate) fn changed(entry: &HistoryEntry) -> String {
    let mut all = entry.changes.iter().map(|change| {
        let value = change.after.as_ref().or(change.before.as_ref());
        let value_type = value.map_or("Value", |value| &*value.value_type);
        let verb = match (&change.before, &change.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        format!("{value_type} {} {verb}", change.index)
    });
    let shown: Vec<_> = all.by_ref().take(MAX_CHANGES).collect();
    let more = all.count();
    match (shown.is_empty(), more) {
        (true, _) => "Changed".to_string(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// How many changed values a line names.
const MAX_CHANGES: usize = 3;
