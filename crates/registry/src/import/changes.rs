//! What an update does to the values of a name, for whoever looks at it before or afterwards.

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
    /// Values at indexes where there was none.
    pub added: u64,
    /// Values that are different now.
    pub changed: u64,
    /// Values that are gone.
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
    /// As it was; `None` if it was not there.
    pub before: Option<String>,
    /// As it is; `None` if it is not there any more.
    pub after: Option<String>,
}

/// What became of a name that was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// How many of its values.
    pub counts: ValueCounts,
    /// The state it was in, and the one it is in, if these are two.
    pub state: Option<(State, State)>,
    /// The values, or the first of them.
    pub listed: Vec<ValueChange>,
}

/// How many bytes a value is shown with.
const MAX_SHOWN_BYTES: usize = 300;
/// How many values of one name are listed.
const MAX_LISTED_VALUES: usize = 100;

impl Changes {
    /// How many values are not listed.
    #[must_use]
    pub fn unlisted(&self) -> u64 {
        let listed = u64::try_from(self.listed.len()).unwrap_or(u64::MAX);
        self.counts.total().saturating_sub(listed)
    }

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
    /// What became of a name. Values are listed only where someone wants to see them, and secrets are never shown.
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

/// A value of another type is another value: one is removed, and one is added.
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
        // What differs is something else.
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
