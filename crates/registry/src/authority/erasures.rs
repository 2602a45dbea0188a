//! Finding out whether an authority has ever erased a name. Such names may have been assigned
//! again, so the authority cannot become permanent.

use handfast_store::{Table, TableKey};

use crate::authority::path::AuthorityPath;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::record::Record;

/// The maximum number of later events to read one by one. If there are more, all names are checked
/// again.
const MAX_LATER_EVENTS: u64 = 10_000;

/// A check result: no name of an authority was erased up to an event.
pub(crate) struct NothingErased {
    events: u64,
}

/// Checks all names that an authority ever had, however many they are. It runs before the change
/// reaches the writer.
pub(crate) fn check_nothing_erased(
    view: &View<'_>,
    path: &AuthorityPath,
) -> Result<NothingErased, RegistryError> {
    let events = view.now.count(Table::Events)?;
    let start = path.start_of_names();
    let mut last: Option<(Vec<u8>, u64)> = None;
    let from = TableKey::event_of(start.as_bytes(), 0);
    view.scan_names(&from, |table_key, _| {
        let number = table_key.number().unwrap_or_default();
        let name = table_key.name();
        let first = match &last {
            Some((known, first)) if known == name => *first,
            _ => {
                let read = |bytes: &[u8]| Record::from_bytes(bytes).ok();
                let record = view.now.get(&TableKey::record(name), read)?.flatten();
                // Without a record, all events may belong to an erased name.
                let first = record.map_or(u64::MAX, |record| record.first_event);
                last = Some((name.to_vec(), first));
                first
            }
        };
        // An event before the first one of the record belongs to an earlier name with the same key.
        if number < first {
            check_event(view, path, number)?;
        }
        Ok(())
    })?;
    Ok(NothingErased { events })
}

/// Repeats the check inside the writer, which must not wait for millions of names: it reads only
/// the events after the first check.
pub(crate) fn check_still_nothing_erased(
    view: &View<'_>,
    path: &AuthorityPath,
    before: Option<&NothingErased>,
) -> Result<(), RegistryError> {
    let events = view.now.count(Table::Events)?;
    let later = before.filter(|before| events.saturating_sub(before.events) <= MAX_LATER_EVENTS);
    let Some(before) = later else {
        return check_nothing_erased(view, path).map(|_| ());
    };
    (before.events + 1..=events).try_for_each(|number| check_event(view, path, number))
}

fn check_event(view: &View<'_>, path: &AuthorityPath, number: u64) -> Result<(), RegistryError> {
    let event = view.event(number)?;
    let erases = |event: &crate::log::event::Event| {
        event.action == Action::Erase && event.authority == path.key()
    };
    if event.as_ref().is_none_or(|event| !erases(event)) {
        return Ok(());
    }
    let problem = format!(
        "{path} cannot become permanent: event {number} has erased one of its names, which may \
         have been assigned again. Create another authority for permanent names"
    );
    Err(RegistryError::policy("erased-names", problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AuthorityChange, Environment, NameAction, NewAuthority, NewName, Persistence, Principal,
        Registry,
    };

    /// A name erased between the first check and the change would be missed.
    #[test]
    fn what_is_erased_after_the_look_is_seen_by_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let registry = Registry::create(&data, Environment::new(|| 1, |b| b.fill(1))).unwrap();
        let operator = Principal::Operator;
        for path in ["20.1", "20.2"] {
            let change = AuthorityChange {
                persistence: Some(Persistence::Erasable),
                ..AuthorityChange::default()
            };
            let new = NewAuthority {
                change,
                ..NewAuthority::default()
            };
            registry.create_authority(&operator, path, new).unwrap();
            let id = format!("{path}/x");
            registry
                .create_name(&operator, &id, NewName::default())
                .unwrap();
        }
        let look = || registry.read(|view| check_nothing_erased(view, &view.path("20.1")?));
        let again = |before: Option<&NothingErased>| {
            registry
                .read(|view| check_still_nothing_erased(view, &view.path("20.1")?, before))
                .map_err(|error| error.code())
        };
        let before = look().unwrap();
        registry
            .change_name(&operator, "20.2/x", None, NameAction::Erase)
            .unwrap();
        assert_eq!(again(Some(&before)), Ok(()), "of another authority");
        registry
            .change_name(&operator, "20.1/x", None, NameAction::Erase)
            .unwrap();
        assert_eq!(again(Some(&before)), Err("erased-names"));
        assert_eq!(again(None), Err("erased-names"));
        assert!(look().is_err());
    }
}
