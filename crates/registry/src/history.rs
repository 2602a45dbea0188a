//! How a name came to be what it is.

use handfast_wire::Value;

use crate::event::{Action, Event};
use crate::names::Shown;
use crate::path::AuthorityPath;
use crate::principal::Principal;
use crate::record::{Record, State};
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::undo::{Difference, differences};

/// A moment in the history of a registry.
///
/// ```
/// use handfast_registry::Moment;
///
/// let then = Moment::Time(1_800_000_000_000);
/// assert_ne!(then, Moment::Event(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After an event.
    Event(u64),
    /// At a time, in milliseconds since 1970.
    Time(u64),
}

/// One event in the history of a name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What happened.
    pub event: Event,
    /// Who did it, for those who may see that.
    pub who: Option<Principal>,
    /// The version it made; `None` if that was erased.
    pub version: Option<Record>,
    /// What that changed in the values.
    pub changes: Vec<Difference>,
}

impl Registry {
    /// The events of a name, oldest first. Who acted is shown to those with a role there.
    pub fn history(&self, who: &Principal, id: &str) -> Result<Vec<Entry>, Refusal> {
        self.read(|view| {
            let Shown { key, record } = view.show(who, id)?;
            let identifier = view.identify_kept(id)?;
            let path = AuthorityPath::of(&identifier, view);
            let sees_all = view.may_see(who, &path, &record)?;
            let current = view.record(&key)?;
            let entry = |number: u64| {
                let missing = || Refusal::Corrupt {
                    what: format!("event {number}"),
                };
                let event = view.event(number)?.ok_or_else(missing)?;
                let version = match &current {
                    Some(current) if current.last_event == number => Some(current.clone()),
                    _ => view.version(&key, event.version)?,
                };
                let version = version.filter(|record| record.last_event == number);
                // What was reserved then is not for everybody now.
                let version = version.filter(|record| sees_all || record.state != State::Reserved);
                let version = version
                    .map(|record| view.readable(who, &path, record))
                    .transpose()?
                    .map(|mut record| {
                        if let Some(current) = current.as_ref().filter(|_| !sees_all) {
                            keep_public(&mut record, current);
                        }
                        record
                    });
                let who = if sees_all {
                    view.actor(&event.actor)?
                } else {
                    None
                };
                Ok(Entry {
                    event,
                    who,
                    version,
                    changes: Vec::new(),
                })
            };
            let numbers = view.events_of(&key)?.into_iter();
            let mut entries = numbers.map(entry).collect::<Result<Vec<_>, Refusal>>()?;
            let mut before: Vec<Value<'static>> = Vec::new();
            for entry in &mut entries {
                if entry.event.action == Action::Erase {
                    before.clear();
                } else if let Some(version) = &entry.version {
                    entry.changes = differences(&before, &version.values);
                    before.clone_from(&version.values);
                }
            }
            Ok(entries)
        })
    }

    /// A name as it was.
    pub fn show_at(&self, who: &Principal, id: &str, moment: Moment) -> Result<Shown, Refusal> {
        self.read(|view| {
            let Shown { key, record } = view.show(who, id)?;
            let path = AuthorityPath::of(&view.identify_kept(id)?, view);
            let sees_all = view.may_see(who, &path, &record)?;
            let is_past = |record: &Record| match moment {
                Moment::Event(number) => record.last_event <= number,
                Moment::Time(time) => record.modified <= time,
            };
            let current = view.record(&key)?;
            let withdrawn = current.as_ref();
            let withdrawn = withdrawn.is_some_and(|record| record.state == State::Withdrawn);
            if withdrawn && !sees_all {
                return Ok(Shown { key, record });
            }
            let mut next = current.clone();
            while let Some(record) = next {
                if is_past(&record) && (sees_all || record.state != State::Reserved) {
                    let mut record = view.readable(who, &path, record)?;
                    if let Some(current) = current.filter(|_| !sees_all) {
                        keep_public(&mut record, &current);
                    }
                    return Ok(Shown { key, record });
                }
                if is_past(&record) {
                    break;
                }
                next = view.version(&key, record.version - 1)?;
            }
            Err(Refusal::policy(
                "not-yet",
                format!("{id} was not registered then"),
            ))
        })
    }
}

/// What was public and is not any more is not for the public: nothing of a name that was withdrawn, nor what only
/// administrators may read today.
fn keep_public(version: &mut Record, current: &Record) {
    if current.state == State::Withdrawn {
        version.values.clear();
    }
    version.values.retain(|value| {
        let mut current = current.values.iter();
        current.all(|today| today.index != value.index || today.permissions.public_read())
    });
}
