//! What a change of a name would do, before it is made.

use crate::access::principal::Principal;
use crate::authority::policy::Role;
use crate::error::RegistryError;
use crate::name::change::NameAction;
use crate::name::edit::Edit;
use crate::name::history::{HistoryPage, HistoryPoint};
use crate::name::record::{Record, State};
use crate::name::show::Shown;
use crate::name::undo::{Difference, differences};
use crate::registry::Registry;

/// What a change would do to a name, as far as the principal may read it.
#[derive(Clone, Debug)]
pub struct NamePreview {
    /// The name before the change.
    pub before: Record,
    /// The name after it; `None` if it would be erased.
    pub after: Option<Record>,
    /// The differences in the values.
    pub changes: Vec<Difference>,
}

/// Something that a principal may do with a name in its current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRight {
    /// Make a reserved name active.
    Activate,
    /// Change its values.
    Edit,
    /// Make a withdrawn name active again.
    Restore,
    /// Hand it to another principal.
    Transfer,
    /// Withdraw it.
    Withdraw,
}

impl Registry {
    /// Decides a change of a name as [`Registry::change_name`] does, and writes nothing.
    ///
    /// An edit that would replace a value that the principal may not read is an error: the
    /// preview could not show what is lost.
    ///
    /// ```
    /// # use handfast_registry::{Edit, Environment, NameAction, NewAuthority, NewName};
    /// # use handfast_registry::{Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/a", NewName::urls(&["https://a.example/"]))?;
    /// let edit = NameAction::Edit(Edit::urls(&["https://b.example/"]));
    /// let preview = registry.preview_name_change(&operator, "20.1000/a", Some(1), edit)?;
    /// assert_eq!(preview.changes.len(), 1);
    /// assert_eq!(registry.show(&operator, "20.1000/a")?.record.version, 1);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn preview_name_change(
        &self,
        who: &Principal,
        id: &str,
        expected: Option<u64>,
        action: NameAction,
    ) -> Result<NamePreview, RegistryError> {
        self.dry_run(who, |change_set| {
            let name = change_set.find(id)?;
            let is_edit = matches!(action, NameAction::Edit(_));
            let after = change_set.change_name(id, expected, action)?;
            let (path, stored) = (&name.authority.path, name.record);
            let before = change_set.readable(who, path, stored.clone())?;
            if let Some(new) = change_set.record(&name.key)?.filter(|_| is_edit) {
                check_hidden(&stored, &before, &new)?;
            }
            let after = after.map(|shown| shown.record);
            let values = after.as_ref().map(|after| after.values.as_slice());
            Ok(NamePreview {
                changes: differences(&before.values, values.unwrap_or_default()),
                before,
                after,
            })
        })
    }

    /// What a principal may do with a name that it may see, in its current state.
    pub fn name_rights(&self, who: &Principal, id: &str) -> Result<Vec<NameRight>, RegistryError> {
        let withdrawal = NameAction::Withdraw {
            reason: "?".to_string(),
            successor: None,
        };
        let tried = match self.show(who, id)?.record.state {
            State::Active => vec![
                (NameRight::Edit, NameAction::Edit(Edit::default())),
                (NameRight::Withdraw, withdrawal),
            ],
            State::Reserved => vec![
                (NameRight::Activate, NameAction::Activate),
                (NameRight::Edit, NameAction::Edit(Edit::default())),
            ],
            State::Withdrawn => vec![(NameRight::Restore, NameAction::Restore)],
        };
        let mut rights = Vec::new();
        for (right, action) in tried {
            match self.preview_name_change(who, id, None, action) {
                Ok(_) => rights.push(right),
                Err(error) if error.is_failure() => return Err(error),
                Err(_) => {}
            }
        }
        let may_transfer = self.dry_run(who, |change_set| {
            let name = change_set.find(id)?;
            Ok(name.need(change_set, Role::Admin).is_ok())
        })?;
        rights.extend(may_transfer.then_some(NameRight::Transfer));
        Ok(rights)
    }

    /// The events of a name before the event of a number, or the last ones: the latest of them, in
    /// the order in which they happened, at most as many as requested.
    pub fn history_before(
        &self,
        who: &Principal,
        id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<HistoryPage, RegistryError> {
        let numbers = self.read(|view| {
            let Shown { key, .. } = view.show(who, id)?;
            view.events_of(&key)
        })?;
        let end = numbers.partition_point(|number| before.is_none_or(|before| *number < before));
        let numbers = numbers.get(..end).unwrap_or_default();
        let Some(last) = numbers.last() else {
            return Ok(HistoryPage::default());
        };
        // If the values of so many events are too large for a page, fewer of the latest are.
        let mut wanted = limit.clamp(1, numbers.len());
        loop {
            let first = numbers.get(numbers.len().saturating_sub(wanted)).copied();
            let first = first.unwrap_or(*last);
            let until = Some(HistoryPoint::Event(*last));
            let after = first.saturating_sub(1);
            let mut page = self.history_page(who, id, after, wanted, until)?;
            if page.entries.len() >= wanted || wanted == 1 {
                page.next = Some(first).filter(|_| wanted < numbers.len());
                return Ok(page);
            }
            wanted /= 2;
        }
    }
}

/// Checks that an edit replaces no value that the principal may not read.
fn check_hidden(stored: &Record, readable: &Record, new: &Record) -> Result<(), RegistryError> {
    let hidden = stored.values.iter().filter(|value| {
        let mut read = readable.values.iter();
        read.all(|read| read.index != value.index)
    });
    for value in hidden {
        let found = new.values.iter().find(|found| found.index == value.index);
        if found.is_none_or(|found| !found.is_unchanged_from(value)) {
            let index = value.index;
            let problem =
                format!("index {index} has a value that you may not read: choose another index");
            return Err(RegistryError::policy("hidden-value", problem));
        }
    }
    Ok(())
}
