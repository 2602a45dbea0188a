//! The history of a name.

use std::collections::VecDeque;

use handfast_store::TableKey;
use handfast_wire::Value;

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::transactions::size;
use crate::log::event::Event;
use crate::name::record::{Record, State};
use crate::name::show::Shown;
use crate::name::undo::{Difference, differences};
use crate::registry::Registry;

/// A point in the history of a registry.
///
/// ```
/// use handfast_registry::HistoryPoint;
///
/// let then = HistoryPoint::Time(1_800_000_000_000);
/// assert_ne!(then, HistoryPoint::Event(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryPoint {
    /// Right after an event.
    Event(u64),
    /// At a time, in milliseconds since 1970.
    Time(u64),
}

/// One event in the history of a name.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    /// What happened.
    pub event: Event,
    /// Who did it, if the principal may see that.
    pub who: Option<Principal>,
    /// The version that it made; `None` if that was erased.
    pub version: Option<Record>,
    /// The changes in the values.
    pub changes: Vec<Difference>,
}

/// A page of the history of a name, oldest first.
#[derive(Clone, Debug, Default)]
pub struct HistoryPage {
    /// The events.
    pub entries: Vec<HistoryEntry>,
    /// The `after` of the next page, if there is one.
    pub next: Option<u64>,
}

/// The maximum number of bytes of values on a page of history, in versions and in differences; one
/// entry is returned even if it has more. A record has at most some 260,000 bytes, and an entry
/// three times as many: the version, and the values before and after.
const MAX_PAGE_BYTES: usize = 512 << 10;

impl Registry {
    /// The events of a name, oldest first, after the event of a number: as many as requested, or
    /// fewer if they have many bytes. Principals with a role there also see who acted. With a
    /// point, only the events before it.
    ///
    /// Building a page takes the current version and two more at a time, however long the history
    /// is.
    pub fn history_page(
        &self,
        who: &Principal,
        id: &str,
        after: u64,
        limit: usize,
        until: Option<HistoryPoint>,
    ) -> Result<HistoryPage, RegistryError> {
        self.read(|view| {
            let versions = Versions::of(view, who, id)?;
            let mut numbers = view.events_after(&versions.key, after, limit.saturating_add(1))?;
            let is_more = numbers.len() > limit;
            // A record knows its last event: without it, a page of the list of events is damaged.
            let current = versions.current.as_ref();
            let last_event = current.map_or(0, |record| record.last_event);
            if !is_more && last_event > after && numbers.last() != Some(&last_event) {
                return Err(RegistryError::corrupt(format!(
                    "the list of events of {}",
                    versions.key
                )));
            }
            numbers.truncate(limit);
            let (mut page, mut bytes, mut last) = (HistoryPage::default(), 0, None);
            for number in numbers {
                let event = view.existing_event(number)?;
                let is_past = match until {
                    Some(HistoryPoint::Event(until)) => number <= until,
                    Some(HistoryPoint::Time(until)) => event.time <= until,
                    None => true,
                };
                if matches!(until, Some(HistoryPoint::Event(_))) && !is_past {
                    return Ok(page);
                }
                if bytes >= MAX_PAGE_BYTES {
                    page.next = last;
                    return Ok(page);
                }
                if is_past {
                    let entry = versions.entry(event, page.entries.last())?;
                    let more = entry.bytes();
                    if bytes + more > MAX_PAGE_BYTES && !page.entries.is_empty() {
                        page.next = last;
                        return Ok(page);
                    }
                    bytes += more;
                    page.entries.push(entry);
                }
                last = Some(number);
            }
            page.next = last.filter(|_| is_more);
            Ok(page)
        })
    }

    /// The last events of a name, newest first: as many as requested, or fewer if they have many
    /// bytes. Principals with a role there also see who acted.
    ///
    /// ```
    /// # use handfast_registry::{Edit, NewAuthority, NewName, Principal, Registry, Environment};
    /// # use handfast_registry::NameAction;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1/a", NewName::urls(&["https://a.example/"]))?;
    /// let edit = Edit { urls: Some(vec!["https://b.example/".into()]), ..Edit::default() };
    /// registry.change_name(&operator, "20.1/a", None, NameAction::Edit(edit))?;
    /// let last = registry.recent_history(&Principal::nobody(), "20.1/a", 1)?;
    /// assert_eq!(last.len(), 1);
    /// assert_eq!(last[0].event.action.as_str(), "change");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn recent_history(
        &self,
        who: &Principal,
        id: &str,
        limit: usize,
    ) -> Result<Vec<HistoryEntry>, RegistryError> {
        self.read(|view| {
            let versions = Versions::of(view, who, id)?;
            let numbers = view.last_events(&versions.key, limit)?;
            let (mut entries, mut bytes) = (Vec::new(), 0);
            for number in numbers.into_iter().rev() {
                let entry = versions.entry(view.existing_event(number)?, None)?;
                bytes += entry.bytes();
                if bytes > MAX_PAGE_BYTES && !entries.is_empty() {
                    break;
                }
                entries.push(entry);
            }
            Ok(entries)
        })
    }

    /// Whether a name has events after a number.
    pub fn has_more_events(
        &self,
        who: &Principal,
        id: &str,
        than: usize,
    ) -> Result<bool, RegistryError> {
        self.read(|view| {
            let Shown { key, .. } = view.show(who, id)?;
            let numbers = view.events_after(&key, 0, than.saturating_add(1))?;
            Ok(numbers.len() > than)
        })
    }

    /// A name as it was at an earlier point.
    pub fn show_at(
        &self,
        who: &Principal,
        id: &str,
        point: HistoryPoint,
    ) -> Result<Shown, RegistryError> {
        self.read(|view| {
            let Shown { key, record } = view.show(who, id)?;
            let (_, path) = view.place_of(id)?;
            let sees_all = view.may_see(who, &path, &record)?;
            let is_past = |record: &Record| match point {
                HistoryPoint::Event(number) => record.last_event <= number,
                HistoryPoint::Time(time) => record.modified <= time,
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
                        retain_public(&mut record, &current);
                    }
                    return Ok(Shown { key, record });
                }
                if is_past(&record) {
                    break;
                }
                next = view.version(&key, record.version - 1)?;
            }
            Err(RegistryError::policy(
                "not-yet",
                format!("{id} was not registered then"),
            ))
        })
    }
}

/// The versions of a name, as a principal may see them.
struct Versions<'v> {
    view: &'v View<'v>,
    who: &'v Principal,
    key: String,
    path: AuthorityPath,
    sees_all: bool,
    current: Option<Record>,
}

impl<'v> Versions<'v> {
    fn of(view: &'v View<'v>, who: &'v Principal, id: &str) -> Result<Self, RegistryError> {
        let Shown { key, record } = view.show(who, id)?;
        let (_, path) = view.place_of(id)?;
        Ok(Self {
            view,
            who,
            sees_all: view.may_see(who, &path, &record)?,
            path,
            current: view.record(&key)?,
            key,
        })
    }

    /// A version; `None` if it was erased or the principal may not see it.
    fn version(&self, version: u64) -> Result<Option<Record>, RegistryError> {
        let found = match &self.current {
            Some(current) if current.version == version => Some(current.clone()),
            _ => self.view.version(&self.key, version)?,
        };
        // A version that was reserved then is not public now.
        let found = found.filter(|record| self.sees_all || record.state != State::Reserved);
        let Some(record) = found else {
            return Ok(None);
        };
        let mut record = self.view.readable(self.who, &self.path, record)?;
        if let Some(current) = self.current.as_ref().filter(|_| !self.sees_all) {
            retain_public(&mut record, current);
        }
        Ok(Some(record))
    }

    /// The changes of an event, compared with the entry before it on the same page.
    fn entry(
        &self,
        event: Event,
        last: Option<&HistoryEntry>,
    ) -> Result<HistoryEntry, RegistryError> {
        // A version of the same number may belong to a later life of the name.
        let version = self.version(event.version)?;
        let version = version.filter(|record| record.last_event == event.number);
        let mut changes = Vec::new();
        if let Some(version) = &version {
            let number_before = version.version.saturating_sub(1);
            let last = last.and_then(|last| last.version.as_ref());
            // An erased earlier life has left no versions, so this one belongs to the same life.
            changes = if let Some(last) = last.filter(|last| last.version == number_before) {
                differences(&last.values, &version.values)
            } else {
                let before = self.version(number_before)?;
                let before = before.map(|record| record.values).unwrap_or_default();
                differences(&before, &version.values)
            };
        }
        let who = if self.sees_all {
            self.view.actor(&event.actor)?
        } else {
            None
        };
        Ok(HistoryEntry {
            event,
            who,
            version,
            changes,
        })
    }
}

impl HistoryEntry {
    /// The number of bytes of its values and of its differences.
    fn bytes(&self) -> usize {
        let version = self.version.as_ref();
        let changes = self.changes.iter();
        let values = changes.flat_map(|change| [&change.before, &change.after]);
        let changes: usize = values.flatten().map(Value::encoded_length).sum();
        changes + version.map_or(0, |record| size(&record.values))
    }
}

impl View<'_> {
    /// The numbers of up to `limit` events of a name after a number.
    fn events_after(&self, key: &str, after: u64, limit: usize) -> Result<Vec<u64>, RegistryError> {
        let mut numbers = Vec::new();
        self.visit_events(key, after, &mut |number| {
            numbers.push(number);
            numbers.len() < limit
        })?;
        Ok(numbers)
    }

    /// The numbers of the last events of a name, oldest first.
    fn last_events(&self, key: &str, limit: usize) -> Result<VecDeque<u64>, RegistryError> {
        let mut numbers = VecDeque::new();
        self.visit_events(key, 0, &mut |number| {
            numbers.push_back(number);
            if numbers.len() > limit {
                numbers.pop_front();
            }
            true
        })?;
        Ok(numbers)
    }

    /// Visits the numbers of the events of a name after a number, as long as `visit` says so.
    fn visit_events(
        &self,
        key: &str,
        after: u64,
        visit: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), RegistryError> {
        let from = TableKey::event_of(key.as_bytes(), after.saturating_add(1));
        self.scan_while(&from, |table_key, _| {
            match table_key.name().strip_prefix(key.as_bytes()) {
                Some([]) => Ok(table_key.number().is_none_or(&mut *visit)),
                // Entries of other keys may stand between, if a key has the same beginning and
                // continues with the byte of a small number.
                Some([0, ..]) => Ok(true),
                _ => Ok(false),
            }
        })
    }
}

/// Removes values that were public and are no longer: all values of a withdrawn name, and those
/// that only administrators may read today.
fn retain_public(version: &mut Record, current: &Record) {
    if current.state == State::Withdrawn {
        version.values.clear();
    }
    version.values.retain(|value| {
        let mut current = current.values.iter();
        current.all(|today| today.index != value.index || today.permissions.public_read())
    });
}
