//! The changes of an update in the values of a name, to be shown before or afterwards.

use handfast_wire::{Ttl, Value};

use crate::authority::path::AuthorityPath;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::import::outcome::shortened;
use crate::name::record::{Record, State};
use crate::name::show::Reading;
use crate::name::undo::{Difference, differences};

/// How many values were added, changed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueCounts {
    /// Added values.
    pub added: u64,
    /// Changed values.
    pub changed: u64,
    /// Removed values.
    pub removed: u64,
}

impl ValueCounts {
    pub(crate) fn add(&mut self, other: Self) {
        self.added += other.added;
        self.changed += other.changed;
        self.removed += other.removed;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.added + self.changed + self.removed
    }
}

/// A value before and after an update, as short texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// Its index.
    pub index: u32,
    /// Its type.
    pub value_type: String,
    /// The value before; `None` if there was none.
    pub before: Option<String>,
    /// The value after; `None` if it was removed.
    pub after: Option<String>,
}

/// The changes of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Counts of its changed values.
    pub counts: ValueCounts,
    /// Its old and new state, if they differ.
    pub state: Option<(State, State)>,
    /// The changed values, or the first of them.
    pub listed: Vec<ValueChange>,
}

/// The maximum number of bytes of a value that are shown.
const MAX_SHOWN_BYTES: usize = 300;
/// How many values of one name are listed.
const MAX_LISTED_VALUES: usize = handfast_api::limits::OUTCOME_CHANGES;

impl Changes {
    /// How many bytes the list has.
    pub(crate) fn text_bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let of = |change: &ValueChange| {
            50 + change.value_type.len() + length(&change.before) + length(&change.after)
        };
        self.listed.iter().map(of).sum()
    }
}

impl ChangeSet<'_> {
    /// Compares two versions of a name. Values are listed only on request, and secrets are never
    /// shown.
    pub(crate) fn changes(
        &self,
        path: &AuthorityPath,
        before: &Record,
        after: Option<&Record>,
        lists: bool,
    ) -> Result<Changes, RegistryError> {
        let new = after.map_or(&[][..], |after| &after.values);
        let mut changes = Changes::default();
        if let Some(after) = after.filter(|after| after.state != before.state) {
            changes.state = Some((before.state, after.state));
        }
        let reading = self.reading(self.who(), path, Some(before), &before.values)?;
        for difference in differences(&before.values, new) {
            let sides = sides(difference);
            for (index, before, after) in sides {
                let count = match (&before, &after) {
                    (None, _) => &mut changes.counts.added,
                    (_, None) => &mut changes.counts.removed,
                    _ => &mut changes.counts.changed,
                };
                *count += 1;
                if lists && changes.listed.len() < MAX_LISTED_VALUES {
                    let change = shown(index, before.as_ref(), after.as_ref(), reading);
                    changes.listed.push(change);
                }
            }
        }
        Ok(changes)
    }
}

type Sides = (u32, Option<Value<'static>>, Option<Value<'static>>);

/// A value of another type counts as one removed and one added value.
fn sides(difference: Difference) -> Vec<Sides> {
    let index = difference.index;
    match (difference.before, difference.after) {
        (Some(before), Some(after)) if before.value_type != after.value_type => {
            vec![(index, Some(before), None), (index, None, Some(after))]
        }
        (before, after) => vec![(index, before, after)],
    }
}

fn shown(
    index: u32,
    before: Option<&Value<'static>>,
    after: Option<&Value<'static>>,
    reading: Reading,
) -> ValueChange {
    let is_same_data = match (before, after) {
        (Some(before), Some(after)) => before.data == after.data,
        _ => false,
    };
    let text = |value: &Value<'static>| {
        let mut text = match value.text() {
            _ if value.is_secret() || !reading.shows(value) => "(hidden)".to_string(),
            Some(text) => shortened(text.to_string(), MAX_SHOWN_BYTES),
            None => format!("({} bytes)", value.data.len()),
        };
        // Something other than the data differs.
        if is_same_data {
            let ttl = match value.ttl {
                Ttl::Relative(seconds) => seconds.to_string(),
                Ttl::Absolute(time) => format!("until {time}"),
            };
            let (permissions, references) = (value.permissions, value.references.len());
            text =
                format!("{text} (TTL {ttl}, permissions {permissions}, {references} references)");
        }
        text
    };
    let either = after.or(before);
    let value_type = either.map_or_else(String::new, |value| value.value_type.to_string());
    ValueChange {
        index,
        value_type: shortened(value_type, MAX_SHOWN_BYTES),
        before: before.map(text),
        after: after.map(text),
    }
}
