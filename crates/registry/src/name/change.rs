//! Changing a name that exists: every change goes through [`Registry::change_name`].

use crate::access::principal::Principal;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::lookup::name_list::ListedName;
use crate::name::edit::Edit;
use crate::name::record::{Record, State, Tombstone};
use crate::name::show::Shown;
use crate::name::states::Name;
use crate::registry::Registry;

/// A change of a name.
///
/// ```
/// use handfast_registry::{Edit, NameAction};
///
/// let action = NameAction::Edit(Edit::urls(&["https://example.org/"]));
/// assert!(!matches!(action, NameAction::Erase));
/// ```
#[derive(Clone, Debug)]
pub enum NameAction {
    /// Activates a reserved name. Under an authority that approves its names this takes a `lead`.
    Activate,
    /// Changes its values.
    Edit(Edit),
    /// Erases it, if its authority allows that.
    Erase,
    /// Makes a withdrawn name active again.
    Restore,
    /// Hands its administration to another principal.
    Transfer {
        /// To whom.
        to: Principal,
        /// Whether to create a missing account of that name, which the operator and administrators
        /// may.
        creates_account: bool,
    },
    /// Undoes what an event, by default the last one, did to it. This takes the right to make the
    /// opposite change.
    Undo(Option<u64>),
    /// Withdraws it and leaves a tombstone.
    Withdraw {
        /// Why.
        reason: String,
        /// What to use instead.
        successor: Option<String>,
    },
}

impl Registry {
    /// Changes a name, if it has the expected version. Returns what the principal may read of it,
    /// or `None` if it was erased.
    ///
    /// ```
    /// # use handfast_registry::{Edit, Environment, NameAction, NewAuthority, NewName};
    /// # use handfast_registry::{Principal, Registry};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/a", NewName::default())?;
    /// let edit = || NameAction::Edit(Edit::urls(&["https://example.org/"]));
    /// registry.change_name(&operator, "20.1000/a", Some(1), edit())?;
    /// let late = registry.change_name(&operator, "20.1000/a", Some(1), edit());
    /// assert_eq!(late.unwrap_err().code(), "other-version");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn change_name(
        &self,
        who: &Principal,
        id: &str,
        expected: Option<u64>,
        action: NameAction,
    ) -> Result<Option<Shown>, RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            change_set.change_name(&id, expected, action)
        })
    }

    /// Activates reserved names: all of them, or none if one cannot be activated. Names that are
    /// active already stay as they are. Returns how many were activated.
    pub fn activate_names(&self, who: &Principal, ids: &[String]) -> Result<u64, RegistryError> {
        let ids = ids.to_vec();
        self.change(who, move |change_set| {
            let mut activated = 0;
            for id in &ids {
                let mut name = change_set.find(id)?;
                if name.record.state == State::Active {
                    continue;
                }
                let old = name.record.clone();
                let action = name.activate(change_set)?;
                change_set.store_name(&old, name, action);
                activated += 1;
            }
            Ok(activated)
        })
    }

    /// For each name whether the principal may activate it, or why not. Nothing is changed.
    pub fn check_activation(
        &self,
        who: &Principal,
        ids: &[String],
    ) -> Result<Vec<Result<ListedName, RegistryError>>, RegistryError> {
        self.dry_run(who, |change_set| {
            let check = |id: &String| {
                let mut name = change_set.find(id)?;
                let (key, record) = (name.key.clone(), name.record.clone());
                name.activate(change_set)?;
                Ok(ListedName::new(Shown { key, record }))
            };
            Ok(ids.iter().map(check).collect())
        })
    }

    /// Changes the values of a name.
    pub fn edit_name(&self, who: &Principal, id: &str, edit: Edit) -> Result<Shown, RegistryError> {
        self.apply_to_name(who, id, NameAction::Edit(edit))
    }

    /// Withdraws a name and leaves a tombstone.
    pub fn withdraw_name(
        &self,
        who: &Principal,
        id: &str,
        reason: &str,
        successor: Option<&str>,
    ) -> Result<Shown, RegistryError> {
        let (reason, successor) = (reason.to_string(), successor.map(str::to_string));
        self.apply_to_name(who, id, NameAction::Withdraw { reason, successor })
    }

    fn apply_to_name(
        &self,
        who: &Principal,
        id: &str,
        action: NameAction,
    ) -> Result<Shown, RegistryError> {
        let changed = self.change_name(who, id, None, action)?;
        changed.ok_or_else(|| RegistryError::NotFound(id.to_string()))
    }
}

impl ChangeSet<'_> {
    /// Changes a name, and returns what the principal may read of it; `None` if it was erased.
    pub(crate) fn change_name(
        &mut self,
        id: &str,
        expected: Option<u64>,
        action: NameAction,
    ) -> Result<Option<Shown>, RegistryError> {
        let mut name = self.find(id)?;
        let old = name.record.clone();
        if expected.is_some_and(|expected| expected != old.version) {
            return Err(other_version(id, old.version));
        }
        let (key, path) = (name.key.clone(), name.authority.path.clone());
        let done = match action {
            NameAction::Erase => {
                self.erase(&name)?;
                return Ok(None);
            }
            NameAction::Undo(event) => {
                self.undo(name, event, &[])?;
                None
            }
            NameAction::Activate => Some((name.activate(self)?, name)),
            NameAction::Edit(edit) => Some((name.apply(self, &edit)?, name)),
            NameAction::Restore => Some((name.restore(self)?, name)),
            NameAction::Transfer {
                to,
                creates_account,
            } => Some((name.transfer(self, Some(to), creates_account)?, name)),
            NameAction::Withdraw { reason, successor } => {
                let tombstone = Tombstone {
                    reason,
                    date: self.time(),
                    successor,
                };
                let action = name.withdraw(self, tombstone)?;
                name.settle_successor(self)?;
                Some((action, name))
            }
        };
        if let Some((action, name)) = done {
            self.store_name(&old, name, action);
        }
        let record = self.record(&key)?;
        let record = record.ok_or_else(|| RegistryError::NotFound(id.to_string()))?;
        let record = self.readable(self.who(), &path, record)?;
        Ok(Some(Shown { key, record }))
    }

    /// A name that exists and that the principal may see.
    pub(crate) fn find(&self, id: &str) -> Result<Name, RegistryError> {
        let (key, path) = self.place_of(id)?;
        let not_found = || RegistryError::NotFound(id.to_string());
        let record = self.record(&key)?.ok_or_else(not_found)?;
        if record.state == State::Reserved && !self.may_see(self.who(), &path, &record)? {
            return Err(not_found());
        }
        Ok(Name {
            key,
            record,
            authority: self.existing_authority(&path)?,
        })
    }

    /// Stores the changed record of a name, and returns the number of the event.
    pub(crate) fn store_name(&mut self, old: &Record, name: Name, action: Action) -> u64 {
        let persistence = name.persistence();
        self.store_record(&name.key, Some(old), name.record, action, persistence)
    }
}

/// The error when another change came first.
pub(crate) fn other_version(what: &str, version: u64) -> RegistryError {
    let problem = format!("{what} has been changed since: it has version {version} now");
    RegistryError::policy("other-version", problem)
}
