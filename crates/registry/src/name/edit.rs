//! Editing the values of a name.

use handfast_wire::{AdminPermissions, Value};

use crate::access::hs_admin::{needed_for, touches_identities};
use crate::access::principal::Principal;
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::error::{RegistryError, ValueProblem};
use crate::log::event::Action;
use crate::name::record::State;
use crate::name::states::Name;
use crate::name::values;
use crate::name::values::NewValue;

/// A change of the values of a name, applied as a whole.
///
/// ```
/// use handfast_registry::Edit;
///
/// let edit = Edit { remove: vec![7], ..Edit::urls(&["https://example.org/"]) };
/// assert_eq!(edit.urls.unwrap().len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// Removes the values at these indexes, all of which must exist.
    pub remove: Vec<u32>,
    /// Replaces all `URL` values.
    pub urls: Option<Vec<String>>,
    /// Adds values, or replaces those of the same index.
    pub put: Vec<NewValue>,
}

impl Edit {
    /// Replaces all `URL` values.
    #[must_use]
    pub fn urls(urls: &[&str]) -> Self {
        let urls = urls.iter().map(|url| (*url).to_string()).collect();
        Self {
            urls: Some(urls),
            ..Self::default()
        }
    }

    /// Adds values, or replaces those of the same index.
    #[must_use]
    pub fn put(put: Vec<impl Into<NewValue>>) -> Self {
        Self {
            put: put.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Removes values.
    #[must_use]
    pub fn remove(remove: &[u32]) -> Self {
        Self {
            remove: remove.to_vec(),
            ..Self::default()
        }
    }
}

/// How a change treats read-only values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadOnlyRule {
    Enforce,
    Ignore,
}

impl Name {
    /// Replaces its values.
    pub(crate) fn edit(
        &mut self,
        change_set: &ChangeSet<'_>,
        new: Vec<Value<'static>>,
    ) -> Result<Action, RegistryError> {
        if self.record.state == State::Withdrawn {
            return Err(self.in_state("restore it first"));
        }
        self.replace(change_set, new, ReadOnlyRule::Enforce)
    }

    /// Replaces its values where the protocol overwrites them: read-only values may change, too
    /// (§9).
    pub(crate) fn overwrite(
        &mut self,
        change_set: &ChangeSet<'_>,
        new: Vec<Value<'static>>,
    ) -> Result<Action, RegistryError> {
        self.replace(change_set, new, ReadOnlyRule::Ignore)
    }

    fn replace(
        &mut self,
        change_set: &ChangeSet<'_>,
        new: Vec<Value<'static>>,
        rule: ReadOnlyRule,
    ) -> Result<Action, RegistryError> {
        let new = values::settle(&self.record.values, new, change_set.timestamp())?;
        self.may_edit(change_set, &new, rule)?;
        self.record.values = new;
        Ok(Action::Change)
    }

    /// Changes its values.
    pub(crate) fn apply(
        &mut self,
        change_set: &ChangeSet<'_>,
        edit: &Edit,
    ) -> Result<Action, RegistryError> {
        let new = self.applied(edit)?;
        self.edit(change_set, new)
    }

    /// Its values after an edit.
    pub(crate) fn applied(&self, edit: &Edit) -> Result<Vec<Value<'static>>, RegistryError> {
        let ttl = self.authority.policy.default_ttl;
        let new = apply(edit, &self.record.values, ttl)?;
        Ok(new.into_iter().map(Value::into_owned).collect())
    }

    fn may_edit(
        &self,
        change_set: &ChangeSet<'_>,
        new: &[Value<'_>],
        rule: ReadOnlyRule,
    ) -> Result<(), RegistryError> {
        let old = &self.record.values;
        let is_identity = matches!(change_set.who(), Principal::Identity { .. });
        let needed = needed_for(old, new);
        let is_changed = values::are_changed(old, new);
        if is_identity && !is_changed {
            // §9: a request that overwrites nothing needs no permission; a modification always
            // needs its own.
            let modifies = AdminPermissions::MODIFY_VALUE;
            let may = match rule {
                ReadOnlyRule::Ignore => true,
                ReadOnlyRule::Enforce => {
                    change_set.protocol_grants(change_set.who(), modifies, old)?
                }
            };
            if may {
                return Ok(());
            }
        }
        // Any known identity may write values that are open to public writing. An anonymous client
        // writes nothing.
        let is_public = is_identity && is_changed && needed == AdminPermissions::NONE;
        if is_public || is_changed && change_set.protocol_grants(change_set.who(), needed, old)? {
            return match rule {
                ReadOnlyRule::Enforce => check_writable(old, new),
                ReadOnlyRule::Ignore => Ok(()),
            };
        }
        // The record of a prefix decides the rights under it.
        let needs = Role::lead_if(self.is_prefix() || touches_identities(old, new));
        self.need(change_set, needs)
    }
}

/// Checks that the protocol changes no value that its administrators may not write.
fn check_writable(old: &[Value<'_>], new: &[Value<'_>]) -> Result<(), RegistryError> {
    let is_unchanged = |value: &Value<'_>| new.iter().any(|after| after.is_unchanged_from(value));
    let is_replaced = |value: &Value<'_>| new.iter().any(|after| after.index == value.index);
    let locked = old.iter().find(|value| {
        let is_writable = value.permissions.admin_write() || value.permissions.public_write();
        is_replaced(value) && !is_unchanged(value) && !is_writable
    });
    match locked {
        Some(value) => Err(RegistryError::value(value.index, ValueProblem::ReadOnly)),
        None => Ok(()),
    }
}

fn apply<'v>(edit: &'v Edit, old: &[Value<'v>], ttl: u32) -> Result<Vec<Value<'v>>, RegistryError> {
    let at = |index: u32| old.iter().find(|value| value.index == index);
    if let Some(index) = edit.remove.iter().find(|index| at(**index).is_none()) {
        return Err(RegistryError::value(*index, ValueProblem::Missing));
    }
    let mut values = old.to_vec();
    values.retain(|value| !edit.remove.contains(&value.index));
    if edit.urls.is_some() {
        values.retain(|value| !value.value_type.eq_ignore_ascii_case("URL"));
    }
    // A value that occurs twice is rejected when the values are checked.
    values.retain(|value| edit.put.iter().all(|put| put.index != value.index));
    values.extend(
        edit.put
            .iter()
            .map(|put| put.settle_over(at(put.index), ttl)),
    );
    // URLs come last, because they take the indexes that the other values leave free.
    let urls = edit.urls.iter().flatten().map(String::as_str);
    Ok(values::urls(urls, values, ttl))
}
