//! Undoing a change. An undo is a new change: nothing is ever removed from the history.

use std::collections::HashMap;

use handfast_wire::Value;

use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::{Action, Event};
use crate::name::record::Record;
use crate::name::states::Name;

/// The error code when an undo would overwrite a later change.
const CHANGED_SINCE: &str = "changed-since";

impl ChangeSet<'_> {
    /// Undoes what an event, by default the last one, did to a name, and returns the number of the
    /// new event. `own` lists events that are undone with it; they do not count as later changes.
    pub(crate) fn undo(
        &mut self,
        mut name: Name,
        event: Option<u64>,
        own: &[u64],
    ) -> Result<u64, RegistryError> {
        let old = name.record.clone();
        let number = event.unwrap_or(old.last_event);
        let (event, made, before) = self.around(&name, number)?;
        let action = match event.action {
            Action::Change => {
                let values = put_back(&old, &made, &before)?;
                name.edit(self, values)?
            }
            // The name was restored, and the restore is undone: it is withdrawn as before.
            Action::Withdraw if old.tombstone.is_some() && old.tombstone == made.tombstone => {
                name.restore(self)?
            }
            Action::Withdraw | Action::Restore if self.has_other_state(&name, number, own)? => {
                return Err(changed_since("its state"));
            }
            Action::Withdraw => name.restore(self)?,
            Action::Restore => match before.tombstone {
                Some(tombstone) => name.withdraw(self, tombstone)?,
                None => return Err(changed_since("its state")),
            },
            Action::Transfer if old.holder == made.holder => {
                name.transfer(self, before.holder, true)?
            }
            Action::Transfer => return Err(changed_since("its holder")),
            Action::Activate => {
                return Err(impossible(
                    "a name that was public cannot be reserved again",
                ));
            }
            _ => {
                return Err(impossible("an assigned name stays: withdraw it instead"));
            }
        };
        Ok(self.store_name(&old, name, action))
    }

    /// Undoes everything that a job did to a name, last event first. Returns `None` if the name is
    /// already as it was before.
    pub(crate) fn undo_what_is_left(
        &mut self,
        mut name: Name,
        events: &[u64],
    ) -> Result<Option<u64>, RegistryError> {
        let (Some(last), Some(first)) = (events.first(), events.last()) else {
            return Ok(None);
        };
        if self.is_as_before(&name, *first, *last)? {
            return Ok(None);
        }
        let first = *first;
        for number in events.iter().filter(|number| **number != first) {
            self.undo(name.clone(), Some(*number), events)?;
            let record = self.record(&name.key)?;
            name.record = record.ok_or_else(|| RegistryError::NotFound(name.key.clone()))?;
        }
        self.undo(name, Some(first), events).map(Some)
    }

    /// Whether a name is as it was before some events, given first to last.
    fn is_as_before(&self, name: &Name, first: u64, last: u64) -> Result<bool, RegistryError> {
        let (_, made, mut before) = self.around(name, last)?;
        if first != last {
            (_, _, before) = self.around(name, first)?;
        }
        let now = &name.record;
        let values = differences(&before.values, &made.values);
        let has_other_state = before.tombstone != made.tombstone;
        let has_other_holder = before.holder != made.holder;
        let is_touched = has_other_state || has_other_holder || !values.is_empty();
        Ok(is_touched
            && (!has_other_state || now.tombstone == before.tombstone)
            && (!has_other_holder || now.holder == before.holder)
            && values
                .iter()
                .all(|difference| is_there(now, difference.index, difference.before.as_ref())))
    }

    /// An event of a name, the version that it made, and the version before it.
    fn around(&self, name: &Name, number: u64) -> Result<(Event, Record, Record), RegistryError> {
        let event = self.event_of(name, number)?;
        let made = if name.record.last_event == number {
            Some(name.record.clone())
        } else {
            self.version(&name.key, event.version)?
        };
        let before = match event.version {
            0 | 1 => None,
            version => self.version(&name.key, version - 1)?,
        };
        match (made.filter(|made| made.last_event == number), before) {
            (Some(made), Some(before)) => Ok((event, made, before)),
            _ => Err(impossible("an assigned name stays: withdraw it instead")),
        }
    }

    /// Whether the state of a name was changed after an event.
    fn has_other_state(&self, name: &Name, event: u64, own: &[u64]) -> Result<bool, RegistryError> {
        let later = self.events_of(&name.key)?.into_iter();
        for number in later.filter(|number| *number > event && !own.contains(number)) {
            let action = self.event(number)?.map(|event| event.action);
            if matches!(action, Some(Action::Withdraw | Action::Restore)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn event_of(&self, name: &Name, number: u64) -> Result<Event, RegistryError> {
        let event = self.event(number)?;
        match event.filter(|_| number >= name.record.first_event) {
            Some(event) if self.events_of(&name.key)?.contains(&number) => Ok(event),
            _ => Err(RegistryError::policy(
                "other-event",
                format!("event {number} is not one of {}", name.record.text),
            )),
        }
    }
}

/// The current values without the changes of one event. Values that were changed again since then
/// are not overwritten.
fn put_back(
    now: &Record,
    made: &Record,
    before: &Record,
) -> Result<Vec<Value<'static>>, RegistryError> {
    let mut values = now.values.clone();
    for difference in differences(&before.values, &made.values) {
        if !is_there(now, difference.index, difference.after.as_ref()) {
            return Err(changed_since(&format!("value {}", difference.index)));
        }
        values.retain(|value| value.index != difference.index);
        values.extend(difference.before.map(|before| Value {
            // It is restored here.
            timestamp: 0,
            ..before
        }));
    }
    Ok(values)
}

/// Whether a name has this value at an index, or no value if `None`.
fn is_there(now: &Record, index: u32, value: Option<&Value<'static>>) -> bool {
    let found = now.values.iter().find(|found| found.index == index);
    match (found, value) {
        (Some(found), Some(value)) => found.is_unchanged_from(value),
        (None, None) => true,
        _ => false,
    }
}

/// A value before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its index.
    pub index: u32,
    /// The value before; `None` if there was none.
    pub before: Option<Value<'static>>,
    /// The value after; `None` if it was removed.
    pub after: Option<Value<'static>>,
}

/// The differences between two sets of values, by index.
pub(crate) fn differences(old: &[Value<'static>], new: &[Value<'static>]) -> Vec<Difference> {
    let by_index = |values: &'_ [Value<'static>]| -> HashMap<u32, usize> {
        let positions = values.iter().enumerate();
        positions
            .map(|(at, value)| (value.index, at))
            .rev()
            .collect()
    };
    let (in_old, in_new) = (by_index(old), by_index(new));
    let mut indexes: Vec<_> = old.iter().chain(new).map(|value| value.index).collect();
    indexes.sort_unstable();
    indexes.dedup();
    let differences = indexes.into_iter().filter_map(|index| {
        let before = in_old.get(&index).and_then(|at| old.get(*at));
        let after = in_new.get(&index).and_then(|at| new.get(*at));
        let is_same = match (before, after) {
            (Some(before), Some(after)) => after.is_unchanged_from(before),
            _ => false,
        };
        (!is_same).then(|| Difference {
            index,
            before: before.cloned(),
            after: after.cloned(),
        })
    });
    differences.collect()
}

fn impossible(problem: &str) -> RegistryError {
    RegistryError::policy("cannot-undo", problem)
}

fn changed_since(what: &str) -> RegistryError {
    let problem = format!("{what} has been changed since: undo the later change first");
    RegistryError::policy(CHANGED_SINCE, problem)
}
