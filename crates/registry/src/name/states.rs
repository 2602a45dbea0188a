//! A name that exists, and what can become of it.
//!
//! Each of these says whether whoever acts may do it, and whether it can be done in the state the name is
//! in; what it makes of the record is kept by the draft.

use handfast_wire::{AdminPermissions, Value};

use crate::access::hs_admin::{needed_for, touches_identities};
use crate::access::principal::Principal;
use crate::authority::policy::{Authority, Persistence, Role};
use crate::change::change_set::ChangeSet;
use crate::error::{RegistryError, ValueProblem};
use crate::log::event::Action;
use crate::name::manage::Edit;
use crate::name::record::{Record, State, Tombstone};
use crate::name::values;

/// The longest reason of a withdrawal, in bytes.
const MAX_REASON_BYTES: usize = 10_000;

/// What becomes of values that are read-only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadOnlyRule {
    Enforce,
    Ignore,
}

/// Whether a text can be the reason of a withdrawal.
pub(crate) fn check_reason(reason: &str) -> Result<(), RegistryError> {
    if reason.trim().is_empty() || reason.len() > MAX_REASON_BYTES {
        let problem = format!("a reason is needed, of at most {MAX_REASON_BYTES} bytes");
        return Err(RegistryError::policy("bad-reason", problem));
    }
    Ok(())
}

/// A name that exists, and its authority.
#[derive(Clone)]
pub(crate) struct Name {
    pub(crate) key: String,
    pub(crate) record: Record,
    pub(crate) authority: Authority,
}

impl Name {
    /// Gives it other values.
    pub(crate) fn edit(
        &mut self,
        change_set: &ChangeSet<'_>,
        new: Vec<Value<'static>>,
    ) -> Result<Action, RegistryError> {
        if self.record.state == State::Withdrawn {
            return Err(self.in_state("restore it first"));
        }
        let new = values::settle(&self.record.values, new, change_set.timestamp())?;
        self.may_edit(change_set, &new, ReadOnlyRule::Enforce)?;
        self.record.values = new;
        Ok(Action::Change)
    }

    /// Gives it other values where the protocol overwrites: that values are read-only does not count (§9).
    pub(crate) fn overwrite(
        &mut self,
        change_set: &ChangeSet<'_>,
        new: Vec<Value<'static>>,
    ) -> Result<Action, RegistryError> {
        let new = values::settle(&self.record.values, new, change_set.timestamp())?;
        self.may_edit(change_set, &new, ReadOnlyRule::Ignore)?;
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

    /// What its values would be after an edit.
    pub(crate) fn applied(&self, edit: &Edit) -> Result<Vec<Value<'static>>, RegistryError> {
        let ttl = self.authority.policy.default_ttl;
        let new = apply(edit, &self.record.values, ttl)?;
        Ok(new.into_iter().map(Value::into_owned).collect())
    }

    /// Makes it active. Where names wait for approval a `lead` does.
    pub(crate) fn activate(&mut self, change_set: &ChangeSet<'_>) -> Result<Action, RegistryError> {
        let needs = if self.authority.policy.approval {
            Role::Lead
        } else {
            Role::Write
        };
        self.need(change_set, needs)?;
        if self.record.state != State::Reserved {
            return Err(self.in_state("only a reserved name can be activated"));
        }
        self.record.state = State::Active;
        Ok(Action::Activate)
    }

    /// Withdraws it, leaving a tombstone.
    pub(crate) fn withdraw(
        &mut self,
        change_set: &ChangeSet<'_>,
        tombstone: Tombstone,
    ) -> Result<Action, RegistryError> {
        let by_protocol = AdminPermissions::DELETE_HANDLE;
        if !change_set.protocol_grants(change_set.who(), by_protocol, &self.record.values)? {
            self.need(change_set, self.role_for_all())?;
        }
        match self.record.state {
            State::Active => {}
            State::Reserved => {
                return Err(self.in_state("activate it first; nobody has seen it"));
            }
            State::Withdrawn => return Err(self.in_state("nothing is left to do")),
        }
        if self.is_prefix() {
            return Err(prefix_record());
        }
        self.check_tombstone(change_set, &tombstone)?;
        self.record.state = State::Withdrawn;
        self.record.tombstone = Some(tombstone);
        Ok(Action::Withdraw)
    }

    fn check_tombstone(
        &self,
        change_set: &ChangeSet<'_>,
        tombstone: &Tombstone,
    ) -> Result<(), RegistryError> {
        check_reason(&tombstone.reason)?;
        if let Some(successor) = &tombstone.successor {
            let successor = change_set.identify(successor)?;
            if successor.key(&**change_set).as_str() == self.key {
                let problem = "a name cannot succeed itself";
                return Err(RegistryError::policy("bad-successor", problem));
            }
        }
        Ok(())
    }

    /// Makes it active again.
    pub(crate) fn restore(&mut self, change_set: &ChangeSet<'_>) -> Result<Action, RegistryError> {
        self.need(change_set, self.role_for_all())?;
        if self.record.state != State::Withdrawn {
            return Err(self.in_state("only a withdrawn name can be restored"));
        }
        self.record.state = State::Active;
        self.record.tombstone = None;
        Ok(Action::Restore)
    }

    /// Hands its administration to someone, or back to its authority (`HDL-9`).
    pub(crate) fn transfer(
        &mut self,
        change_set: &mut ChangeSet<'_>,
        to: Option<Principal>,
    ) -> Result<Action, RegistryError> {
        self.need(change_set, Role::Admin)?;
        check_holder(to.as_ref())?;
        if let Some(to) = &to {
            change_set.ensure_account(to)?;
        }
        self.record.holder = to;
        Ok(Action::Transfer)
    }

    /// A role on the authority, or being whom the name was handed to.
    pub(crate) fn need(
        &self,
        change_set: &ChangeSet<'_>,
        needs: Role,
    ) -> Result<(), RegistryError> {
        if needs <= Role::Write && change_set.holds(change_set.who(), needs, &self.record)? {
            return Ok(());
        }
        change_set.need(change_set.who(), needs, &self.authority.path)
    }

    /// What is needed to make all values come or go: a name by which, or by whose groups and keys, anybody
    /// is known, takes a `lead`.
    pub(crate) fn role_for_all(&self) -> Role {
        if touches_identities(&[], &self.record.values) {
            Role::Lead
        } else {
            Role::Write
        }
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
        let is_changed = new.len() != old.len()
            || new
                .iter()
                .zip(old)
                .any(|(new, old)| !new.is_unchanged_from(old));
        if is_identity && !is_changed {
            // §9: what overwrites nothing needs nothing; a modification needs its permission all the same.
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
        // What the public may write anybody who is known may; nobody writes nothing at all.
        let is_public = is_identity && is_changed && needed == AdminPermissions::NONE;
        if is_public || is_changed && change_set.protocol_grants(change_set.who(), needed, old)? {
            return match rule {
                ReadOnlyRule::Enforce => check_writable(old, new),
                ReadOnlyRule::Ignore => Ok(()),
            };
        }
        // The record of a prefix says who may do what under it.
        let needs = if self.is_prefix() || touches_identities(old, new) {
            Role::Lead
        } else {
            Role::Write
        };
        self.need(change_set, needs)
    }

    fn in_state(&self, way_out: &'static str) -> RegistryError {
        RegistryError::State {
            id: self.record.text.clone(),
            state: self.record.state.as_str(),
            way_out,
        }
    }

    /// The record of a prefix is never erased.
    pub(crate) fn persistence(&self) -> Persistence {
        if self.is_prefix() {
            Persistence::Permanent
        } else {
            self.authority.policy.persistence
        }
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.key.starts_with("hdl:0.NA/")
    }
}

/// Whether a name can be handed to someone.
pub(crate) fn check_holder(to: Option<&Principal>) -> Result<(), RegistryError> {
    if to == Some(&Principal::Operator) {
        let problem = "the operator may do everything already: name an account or INDEX:HANDLE";
        return Err(RegistryError::policy("bad-holder", problem));
    }
    Ok(())
}

/// The protocol changes no value that its administrators may not write.
fn check_writable(old: &[Value<'_>], new: &[Value<'_>]) -> Result<(), RegistryError> {
    let is_unchanged = |value: &Value<'_>| new.iter().any(|after| after.is_unchanged_from(value));
    let is_replaced = |value: &Value<'_>| new.iter().any(|after| after.index == value.index);
    let locked = old.iter().find(|value| {
        let is_writable = value.permissions.admin_write() || value.permissions.public_write();
        is_replaced(value) && !is_unchanged(value) && !is_writable
    });
    match locked {
        Some(value) => Err(RegistryError::Value {
            index: value.index,
            problem: ValueProblem::ReadOnly,
        }),
        None => Ok(()),
    }
}

pub(crate) fn prefix_record() -> RegistryError {
    let problem = "the record of a prefix goes with its authority: retire that instead";
    RegistryError::policy("prefix-record", problem)
}

fn apply<'v>(edit: &'v Edit, old: &[Value<'v>], ttl: u32) -> Result<Vec<Value<'v>>, RegistryError> {
    let at = |index: u32| old.iter().find(|value| value.index == index);
    if let Some(index) = edit.remove.iter().find(|index| at(**index).is_none()) {
        return Err(RegistryError::Value {
            index: *index,
            problem: ValueProblem::Missing,
        });
    }
    let mut values = old.to_vec();
    values.retain(|value| !edit.remove.contains(&value.index));
    if edit.urls.is_some() {
        values.retain(|value| !value.value_type.eq_ignore_ascii_case("URL"));
    }
    // One that is given twice is refused when the values are settled.
    values.retain(|value| edit.put.iter().all(|put| put.index != value.index));
    values.extend(
        edit.put
            .iter()
            .map(|put| put.settle_over(at(put.index), ttl)),
    );
    // URLs come last, as they take what indexes the others leave.
    let urls = edit.urls.iter().flatten().map(String::as_str);
    Ok(values::urls(urls, values, ttl))
}
