//! What the handle protocol does to handles (`handle-protocol.md` §3 and §9).
//!
//! Beside what the commands do there are a few things of its own: a handle that exists may be replaced
//! by creating it, values are added and modified by index, and deleting goes as far as the authority lets
//! names go.

use handfast_id::{Guid, Handle, Identifier};
use handfast_wire::{AdminPermissions, Value};

use crate::admin::needed_for;
use crate::authority::Persistence;
use crate::draft::Draft;
use crate::event::Action;
use crate::name::Name;
use crate::names::{Edit, NewName, Origin};
use crate::path::AuthorityPath;
use crate::principal::Principal;
use crate::record::{Record, State, Tombstone};
use crate::refusal::{Refusal, ValueProblem};
use crate::registry::Registry;
use crate::values::{self, NewValue};

/// Why handles that the protocol deletes are withdrawn.
const REASON: &str = "deleted";

/// How a handle came to be what it was to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It was not there.
    Created(String),
    /// It was, and all its values were replaced.
    Replaced(String),
}

impl Registry {
    /// A handle as it is kept, whoever asks, with the computed values of a prefix; `None` if there is
    /// none that the protocol knows. What of it is given to whom is for the door to say.
    pub fn handle(&self, handle: &str) -> Result<Option<Record>, Refusal> {
        self.read(|view| {
            let whole = with_slash(handle);
            match view.show(&Principal::Operator, &whole) {
                Ok(shown) => Ok(Some(shown.record)),
                Err(Refusal::NotFound(_) | Refusal::Identifier { .. }) => Ok(None),
                Err(refusal) => Err(refusal),
            }
        })
    }

    /// Whether this registry is responsible for a handle: its prefix is kept here, or it is the record of
    /// a prefix that is.
    pub fn is_responsible(&self, handle: &str) -> Result<bool, Refusal> {
        let whole = with_slash(handle);
        let Ok(handle) = Handle::from_stored(&whole) else {
            return Ok(false);
        };
        self.read(|view| {
            let path = AuthorityPath::of(&Identifier::Handle(handle.borrowed()), view);
            let own = AuthorityPath::of_prefix(&handle.prefix());
            Ok(view.authority(&path)?.is_some() || view.authority(&own)?.is_some())
        })
    }

    /// Creates a handle; with `overwrite` one that exists has all its values replaced (§9). With `mint`
    /// the handle is the beginning of one, and gets an end that was never used.
    pub fn put_handle(
        &self,
        who: &Principal,
        handle: &str,
        values: Vec<NewValue>,
        overwrite: bool,
        mint: bool,
    ) -> Result<Put, Refusal> {
        let handle = handle.to_string();
        self.change(who, move |draft| {
            if mint {
                return draft.mint_handle(&handle, values).map(Put::Created);
            }
            draft.put_handle(&handle, values, overwrite)
        })
    }

    /// Adds values; with `overwrite` those whose index is taken replace what is there. Says whether any
    /// was.
    pub fn add_values(
        &self,
        who: &Principal,
        handle: &str,
        add: Vec<NewValue>,
        overwrite: bool,
    ) -> Result<bool, Refusal> {
        let handle = with_slash(handle);
        self.change(who, move |draft| {
            draft
                .add_values(&handle, add, overwrite)
                .map(|(_, is_met)| is_met)
        })
    }

    /// Replaces values by index.
    pub fn modify_values(
        &self,
        who: &Principal,
        handle: &str,
        put: Vec<NewValue>,
    ) -> Result<(), Refusal> {
        let handle = with_slash(handle);
        self.change(who, move |draft| {
            draft.modify_values(&handle, put).map(|_| ())
        })
    }

    /// Removes values by index.
    pub fn remove_values(
        &self,
        who: &Principal,
        handle: &str,
        indexes: &[u32],
    ) -> Result<(), Refusal> {
        let (handle, edit) = (with_slash(handle), Edit::remove(indexes));
        self.change(who, move |draft| {
            draft.edit_handle(&handle, &edit).map(|_| ())
        })
    }

    /// Deletes a handle as far as its authority lets names go: erases it, or withdraws it.
    pub fn delete_handle(&self, who: &Principal, handle: &str) -> Result<(), Refusal> {
        let handle = with_slash(handle);
        self.change(who, move |draft| draft.delete_handle(&handle).map(|_| ()))
    }
}

/// A name without a slash is a prefix, and stands for its record.
fn with_slash(handle: &str) -> String {
    if handle.contains('/') {
        handle.to_string()
    } else {
        format!("0.NA/{handle}")
    }
}

impl Draft<'_> {
    fn put_handle(
        &mut self,
        handle: &str,
        values: Vec<NewValue>,
        overwrite: bool,
    ) -> Result<Put, Refusal> {
        let new = NewName {
            values,
            ..NewName::default()
        };
        let created = self.create(handle, &new, Origin::Supplied);
        let refusal = match created {
            Ok(shown) => return Ok(Put::Created(shown.record.text)),
            Err(refusal) => refusal,
        };
        // Whoever may not create a handle may still be allowed to replace what is in one.
        let may_exist = matches!(refusal, Refusal::Exists { .. } | Refusal::Denied { .. });
        let is_prefix =
            matches!(&refusal, Refusal::Policy { code, .. } if *code == "prefix-record");
        if !(overwrite && (may_exist || is_prefix)) {
            return Err(refusal);
        }
        let Ok(mut name) = self.find(handle) else {
            return Err(refusal);
        };
        // What was withdrawn is never given again, whatever is asked.
        if name.record.state == State::Withdrawn {
            return Err(refusal);
        }
        let old = name.record.clone();
        let ttl = name.authority.policy.default_ttl;
        let wanted: Vec<Value<'static>> =
            new.values.iter().map(|value| value.settle(ttl)).collect();
        let wanted = values::settle(&old.values, wanted, self.timestamp())?;
        let action = if self.may_replace(&name, &wanted)? {
            name.record.values = wanted;
            Action::Change
        } else {
            name.edit(self, wanted)?
        };
        let text = old.text.clone();
        self.keep_name(&old, name, action);
        Ok(Put::Replaced(text))
    }

    /// §9 (c) and (d): who may add administrators, and who may delete the handle and create it again,
    /// may replace it. What else the difference needs is asked for as in any change.
    fn may_replace(&self, name: &Name, wanted: &[Value<'_>]) -> Result<bool, Refusal> {
        let old = &name.record.values;
        let (who, path) = (self.who(), &name.authority.path);
        if needed_for(old, wanted) == AdminPermissions::NONE {
            return Ok(false);
        }
        let deletes = self.protocol_grants(who, AdminPermissions::DELETE_HANDLE, old)?;
        Ok(self.protocol_grants(who, AdminPermissions::ADD_ADMIN, old)?
            || deletes && self.prefix_grants(who, path, AdminPermissions::ADD_HANDLE)?)
    }

    /// A handle with a random end that was never used.
    fn mint_handle(&mut self, start: &str, values: Vec<NewValue>) -> Result<String, Refusal> {
        let new = NewName {
            values,
            ..NewName::default()
        };
        for attempt in 0..100 {
            let random = self.random(&format!("mint {attempt}"));
            let random = random.first_chunk().copied().unwrap_or_default();
            let guid = Guid::v4(random).to_string().to_lowercase();
            let handle = format!("{start}{}", crate::mint::hyphenated(&guid));
            match self.create(&handle, &new, Origin::Minted) {
                Ok(shown) => return Ok(shown.record.text),
                Err(Refusal::Exists { .. }) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        let problem = "no name that was never used could be found";
        Err(Refusal::policy("used-up", problem))
    }

    /// Adds values; returns the event's number, and whether any index was taken.
    pub(crate) fn add_values(
        &mut self,
        handle: &str,
        add: Vec<NewValue>,
        overwrite: bool,
    ) -> Result<(u64, bool), Refusal> {
        let name = self.find_active(handle)?;
        let taken = add.iter().find(|value| has(&name.record, value.index));
        if let Some(taken) = taken.filter(|_| !overwrite) {
            return Err(Refusal::Value {
                index: taken.index,
                problem: ValueProblem::Exists,
            });
        }
        let is_taken = taken.is_some();
        let event = self.edit_handle(handle, &Edit::put(add))?;
        Ok((event, is_taken))
    }

    /// Replaces values, all of which must be there; returns the event's number.
    pub(crate) fn modify_values(
        &mut self,
        handle: &str,
        put: Vec<NewValue>,
    ) -> Result<u64, Refusal> {
        let name = self.find_active(handle)?;
        if let Some(value) = put.iter().find(|value| !has(&name.record, value.index)) {
            return Err(Refusal::Value {
                index: value.index,
                problem: ValueProblem::Missing,
            });
        }
        self.edit_handle(handle, &Edit::put(put))
    }

    pub(crate) fn edit_handle(&mut self, handle: &str, edit: &Edit) -> Result<u64, Refusal> {
        let mut name = self.find_active(handle)?;
        let old = name.record.clone();
        let action = name.apply(self, edit)?;
        Ok(self.keep_name(&old, name, action))
    }

    /// Erases, or withdraws; returns the event's number.
    pub(crate) fn delete_handle(&mut self, handle: &str) -> Result<u64, Refusal> {
        let mut name = self.find_active(handle)?;
        if name.persistence() == Persistence::Erasable && name.record.salt.is_some() {
            let by_protocol = AdminPermissions::DELETE_HANDLE;
            if self.protocol_grants(self.who(), by_protocol, &name.record.values)? {
                return Ok(self.erase_record(&name.key, &name.record));
            }
            return self.erase(&name);
        }
        let old = name.record.clone();
        let tombstone = Tombstone {
            reason: REASON.into(),
            date: self.time(),
            successor: None,
        };
        let action = name.withdraw(self, tombstone)?;
        Ok(self.keep_name(&old, name, action))
    }

    /// A name that the protocol knows: one that was withdrawn is not there for it.
    fn find_active(&self, handle: &str) -> Result<Name, Refusal> {
        let name = self.find(handle)?;
        if name.record.state == State::Withdrawn {
            return Err(Refusal::NotFound(handle.to_string()));
        }
        Ok(name)
    }
}

fn has(record: &Record, index: u32) -> bool {
    record.values.iter().any(|value| value.index == index)
}
