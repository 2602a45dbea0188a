//! Applying an imported name to the stored one.

use handfast_id::Handle;
use handfast_wire::{AdminPermissions, Value};

use crate::access::hs_admin::touches_admins;
use crate::authority::policy::{Authority, Role};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::is_prefix_record;
use crate::import::changes::Changes;
use crate::import::merge::{NamedValue, merged};
use crate::import::outcome::Done;
use crate::log::event::Action;
use crate::name::record::{Record, State};
use crate::name::states::{Name, check_holder};
use crate::name::values::are_changed;

/// How an import treats a name that exists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConflictPolicy {
    /// Whether a different name is changed.
    pub(crate) update: bool,
    /// The first event of this import: names that an interrupted import has created count as its
    /// own.
    pub(crate) since: u64,
    /// Whether to list the changed values.
    pub(crate) lists_changes: bool,
}

/// The record that a line describes.
pub(crate) struct WantedRecord {
    pub(crate) record: Record,
    /// Whether the line sets the state of the name.
    pub(crate) says_state: bool,
    /// Which values of an existing name are changed; all of them if `None`.
    pub(crate) named: Option<Vec<NamedValue>>,
}

/// The result for a name.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) done: Done,
    pub(crate) changes: Changes,
}

impl From<Done> for Applied {
    fn from(done: Done) -> Self {
        Self {
            done,
            changes: Changes::default(),
        }
    }
}

impl ChangeSet<'_> {
    /// Creates or changes a name as the line says. If the line sets no state, the name keeps its
    /// own.
    pub(crate) fn apply_record(
        &mut self,
        key: &str,
        wanted: WantedRecord,
        conflicts: ConflictPolicy,
    ) -> Result<Applied, RegistryError> {
        let WantedRecord {
            record: mut wanted,
            says_state,
            named,
        } = wanted;
        let corrupt = || RegistryError::corrupt(format!("authority {}", wanted.authority));
        let authority = self
            .authority_by_key(&wanted.authority)?
            .ok_or_else(corrupt)?;
        let Some(old) = self.record(key)? else {
            if conflicts.update && wanted.values.is_empty() && !says_state {
                let problem = "the name does not exist, and the line gives no value: correct the \
                               name, or import without --update to create it empty";
                return Err(RegistryError::policy("no-values", problem));
            }
            return self.apply_new(key, wanted, &authority).map(Applied::from);
        };
        self.may_know(&old, &authority)?;
        if let Some(named) = &named {
            wanted.values = merged(&old.values, wanted.values, named)?;
            retain_tombstone(&old, &mut wanted);
        }
        // As after creating it: the name waits for approval.
        let waits = authority.policy.approval && old.state == State::Reserved;
        let waits = waits && self.role(self.who(), &authority.path)? < Some(Role::Lead);
        if !says_state || waits && wanted.state == State::Active {
            wanted.state = old.state;
            wanted.tombstone.clone_from(&old.tombstone);
        }
        if is_same(&old, &wanted) {
            let done = if old.first_event >= conflicts.since {
                Done::Created(Some(old.first_event))
            } else if old.last_event >= conflicts.since {
                Done::Changed(Some(old.last_event))
            } else {
                Done::Unchanged
            };
            return Ok(done.into());
        }
        let mut name = Name {
            key: key.to_string(),
            record: old,
            authority,
        };
        // The record of a prefix was created with its authority, and is empty until values are set.
        let is_empty = name.is_prefix() && name.record.values.is_empty();
        if !conflicts.update && !is_empty {
            return Err(RegistryError::Differs {
                id: wanted.text,
                event: name.record.last_event,
            });
        }
        if is_empty {
            name.record.created = wanted.created;
        }
        let (before, path) = (name.record.clone(), name.authority.path.clone());
        let done = self.apply_changed(name, wanted)?;
        let after = self.record(key)?;
        let changes = self.changes(&path, &before, after.as_ref(), conflicts.lists_changes)?;
        Ok(Applied { done, changes })
    }

    /// Whether the outcome reveals nothing that the principal may not know.
    fn may_know(&self, old: &Record, authority: &Authority) -> Result<(), RegistryError> {
        let read = AdminPermissions::READ_VALUE;
        if self.may_see(self.who(), &authority.path, old)?
            || self.protocol_grants(self.who(), read, &old.values)?
        {
            return Ok(());
        }
        if old.state == State::Reserved {
            return Err(RegistryError::Exists {
                id: old.text.clone(),
                event: None,
            });
        }
        Err(RegistryError::denied(Role::Write, &authority.path))
    }

    /// Creates a name as usual, but a withdrawn one is created and then withdrawn.
    fn apply_new(
        &mut self,
        key: &str,
        mut wanted: Record,
        authority: &Authority,
    ) -> Result<Done, RegistryError> {
        let path = &authority.path;
        self.active(path)?;
        let role = self.role(self.who(), path)?;
        if !self.prefix_grants(self.who(), path, AdminPermissions::ADD_HANDLE)? {
            let needs = Role::lead_if(touches_admins(&[], &wanted.values));
            self.need(self.who(), needs, path)?;
        }
        if is_prefix_record(key) {
            return Err(crate::name::states::prefix_record());
        }
        // A name that could not be registered here can never be corrected later. So only principals
        // that decide the policy of the authority may import it.
        if key.starts_with("hdl:") && Handle::parse(&wanted.text).is_err() {
            self.need(self.who(), Role::Lead, path)?;
        }
        if let Some(holder) = wanted.holder.clone() {
            check_holder(Some(&holder))?;
            self.need(self.who(), Role::Admin, path)?;
            self.ensure_account(&holder)?;
        }
        let tombstone = wanted.tombstone.take();
        if authority.policy.approval && role < Some(Role::Lead) {
            wanted.state = State::Reserved;
        } else if wanted.state == State::Withdrawn {
            wanted.state = State::Active;
        }
        let action = Action::of_new(wanted.state);
        let persistence = authority.policy.persistence;
        let event = self.assign(key, wanted, action, persistence)?;
        if let Some(tombstone) = tombstone {
            let record = self.record(key)?;
            let record = record.ok_or_else(|| RegistryError::NotFound(key.to_string()))?;
            let mut name = Name {
                key: key.to_string(),
                record: record.clone(),
                authority: authority.clone(),
            };
            let action = name.withdraw(self, tombstone)?;
            self.store_name(&record, name, action);
        }
        Ok(Done::Created(Some(event)))
    }

    fn apply_changed(&mut self, mut name: Name, wanted: Record) -> Result<Done, RegistryError> {
        let mut event = None;
        let mut old = name.record.clone();
        let mut keep = |change_set: &mut Self, name: &mut Name, action: Action| {
            event = Some(change_set.store_name(&old, name.clone(), action));
            if let Some(record) = change_set.record(&name.key)? {
                name.record = record;
            }
            old = name.record.clone();
            Ok::<_, RegistryError>(())
        };
        // A withdrawn name is restored before any other change.
        if name.record.state == State::Withdrawn && !is_same(&name.record, &wanted) {
            let action = name.restore(self)?;
            keep(self, &mut name, action)?;
        }
        let values = with_secrets(&name.record, wanted.values);
        if are_changed(&name.record.values, &values) {
            let action = name.edit(self, values)?;
            keep(self, &mut name, action)?;
        }
        if wanted.holder.is_some() && wanted.holder != name.record.holder {
            // An import restores everything in an export, accounts included.
            name.need(self, Role::Admin)?;
            if let Some(holder) = &wanted.holder {
                self.ensure_account(holder)?;
            }
            let action = name.transfer(self, wanted.holder, false)?;
            keep(self, &mut name, action)?;
        }
        if wanted.state == State::Reserved && name.record.state != State::Reserved {
            let problem = "a name that was public cannot be reserved again";
            return Err(RegistryError::policy("bad-state", problem));
        }
        if wanted.state != State::Reserved && name.record.state == State::Reserved {
            let action = name.activate(self)?;
            keep(self, &mut name, action)?;
        }
        if let Some(tombstone) = wanted.tombstone {
            let action = name.withdraw(self, tombstone)?;
            keep(self, &mut name, action)?;
        }
        Ok(event.map_or(Done::Unchanged, |event| Done::Changed(Some(event))))
    }
}

/// Whether the stored name is already as the line says.
pub(crate) fn is_same(old: &Record, wanted: &Record) -> bool {
    let is_same_tombstone = match (&old.tombstone, &wanted.tombstone) {
        (Some(old), Some(wanted)) => {
            old.reason == wanted.reason && old.successor == wanted.successor
        }
        (None, None) => true,
        _ => false,
    };
    let is_same_holder = wanted.holder.is_none() || wanted.holder == old.holder;
    let is_said = |value: &Value<'_>| {
        let mut said = wanted.values.iter();
        value.is_secret() || said.any(|said| said.index == value.index)
    };
    old.state == wanted.state
        && is_same_tombstone
        && is_same_holder
        && old.values.iter().all(is_said)
        && wanted.values.iter().all(|value| {
            let mut old = old.values.iter();
            old.any(|old| value.is_unchanged_from(old))
        })
}

/// A withdrawn name that stays withdrawn keeps its reason and successor unless the line gives
/// others.
fn retain_tombstone(old: &Record, wanted: &mut Record) {
    if let (Some(old), Some(wanted)) = (&old.tombstone, &mut wanted.tombstone) {
        if wanted.reason.is_empty() {
            wanted.reason.clone_from(&old.reason);
        }
        if wanted.successor.is_none() {
            wanted.successor.clone_from(&old.successor);
        }
    }
}

/// Exports leave secrets out. So a line without them does not remove them.
fn with_secrets(old: &Record, mut wanted: Vec<Value<'static>>) -> Vec<Value<'static>> {
    for value in old.values.iter().filter(|value| value.is_secret()) {
        if wanted.iter().all(|wanted| wanted.index != value.index) {
            wanted.push(value.clone());
        }
    }
    wanted.sort_by_key(|value| value.index);
    wanted
}
