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
                    .transpose()?;
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
            let mut next = view.record(&key)?;
            while let Some(record) = next {
                if is_past(&record) && (sees_all || record.state != State::Reserved) {
                    let record = view.readable(who, &path, record)?;
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
