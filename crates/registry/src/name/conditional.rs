//! A change of a name that is made only if the name is still what it was taken to be.

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::error::RegistryError;
use crate::name::manage::{Edit, Shown};
use crate::name::record::Tombstone;
use crate::registry::Registry;

/// What is to become of a name.
///
/// ```
/// use handfast_registry::{Edit, NameAction};
///
/// let action = NameAction::Edit(Edit::urls(&["https://example.org/"]));
/// assert!(!matches!(action, NameAction::Erase));
/// ```
#[derive(Clone, Debug)]
pub enum NameAction {
    /// A reserved name becomes active.
    Activate,
    /// Its values change.
    Edit(Edit),
    /// It goes, where that is allowed.
    Erase,
    /// A withdrawn name becomes active again.
    Restore,
    /// Someone else looks after it.
    Transfer(Principal),
    /// What an event, by default the last one, did to it is undone.
    Undo(Option<u64>),
    /// It goes, leaving a tombstone.
    Withdraw {
        /// Why.
        reason: String,
        /// What to use instead.
        successor: Option<String>,
    },
}

impl Registry {
    /// Whether someone looks after a name, and may know what is not for the public.
    pub fn may_know_all(&self, who: &Principal, id: &str) -> Result<bool, RegistryError> {
        self.read(|view| {
            let Shown { key, .. } = view.show(who, id)?;
            let path = AuthorityPath::of(&view.identify_registered(id)?, view);
            match view.record(&key)? {
                Some(record) => view.may_see(who, &path, &record),
                None => Ok(false),
            }
        })
    }

    /// Changes a name, if it has the version that is expected of it. What comes back is what whoever asked may read of
    /// it; nothing if it was erased.
    ///
    /// ```
    /// # use handfast_registry::{Edit, NameAction, NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// registry.create_name(&operator, "20.1000/a", NewName::default())?;
    /// let edit = || NameAction::Edit(Edit::urls(&["https://example.org/"]));
    /// registry.act(&operator, "20.1000/a", Some(1), edit())?;
    /// let late = registry.act(&operator, "20.1000/a", Some(1), edit());
    /// assert_eq!(late.unwrap_err().code(), "other-version");
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn act(
        &self,
        who: &Principal,
        id: &str,
        expected: Option<u64>,
        action: NameAction,
    ) -> Result<Option<Shown>, RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            let mut name = change_set.find(&id)?;
            let old = name.record.clone();
            if expected.is_some_and(|expected| expected != old.version) {
                return Err(other_version(&id, old.version));
            }
            let key = name.key.clone();
            let done = match action {
                NameAction::Erase => {
                    change_set.erase(&name)?;
                    return Ok(None);
                }
                NameAction::Undo(event) => {
                    change_set.undo(name, event, &[])?;
                    None
                }
                NameAction::Activate => Some((name.activate(change_set)?, name)),
                NameAction::Edit(edit) => Some((name.apply(change_set, &edit)?, name)),
                NameAction::Restore => Some((name.restore(change_set)?, name)),
                NameAction::Transfer(to) => Some((name.transfer(change_set, Some(to))?, name)),
                NameAction::Withdraw { reason, successor } => {
                    let date = change_set.time();
                    let tombstone = Tombstone {
                        reason,
                        date,
                        successor,
                    };
                    Some((name.withdraw(change_set, tombstone)?, name))
                }
            };
            if let Some((action, name)) = done {
                change_set.store_name(&old, name, action);
            }
            let path = AuthorityPath::of(&change_set.identify_registered(&id)?, &**change_set);
            let record = change_set
                .record(&key)?
                .ok_or(RegistryError::NotFound(id))?;
            let record = change_set.readable(change_set.who(), &path, record)?;
            Ok(Some(Shown { key, record }))
        })
    }
}

/// Someone else was faster.
pub(crate) fn other_version(what: &str, version: u64) -> RegistryError {
    let problem = format!("{what} has been changed since: it has version {version} now");
    RegistryError::policy("other-version", problem)
}
