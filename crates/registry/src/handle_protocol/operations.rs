//! The operations of the handle protocol on handles (`handle-protocol.md` §3 and §9).
//!
//! They differ from the commands in a few ways: creating an existing handle may replace it, values
//! are added and modified by index, and deleting erases or withdraws a handle, as its authority
//! allows.

use handfast_id::{Guid, Handle, Identifier, Prefix};
use handfast_wire::{AdminPermissions, Value};

use crate::access::hs_admin::{needed_for, touches_identities};
use crate::access::principal::Principal;
use crate::authority::create::{NewAuthority, prefix_key};
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Persistence, Role};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::{RegistryError, ValueProblem};
use crate::handle_protocol::prefix_record::{prefix_of, with_slash};
use crate::log::event::Action;
use crate::name::create::{NewName, Origin};
use crate::name::edit::Edit;
use crate::name::record::{Record, State, Tombstone};
use crate::name::show::Reading;
use crate::name::states::Name;
use crate::name::values::{self, NewValue};
use crate::registry::Registry;

/// The reason in the tombstone of a handle that the protocol deletes.
const REASON: &str = "deleted";

/// An operation of the protocol.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Adds values. With `overwrite` a value replaces one with the same index.
    Add {
        /// The handle.
        handle: String,
        /// The values.
        values: Vec<NewValue>,
        /// Whether a value may replace one with the same index.
        overwrite: bool,
    },
    /// Creates a handle.
    Create {
        /// The handle, or its beginning.
        handle: String,
        /// Its values.
        values: Vec<NewValue>,
        /// Whether the values of an existing handle are replaced (§9).
        overwrite: bool,
        /// Whether to append a new random end.
        mint: bool,
    },
    /// Deletes a handle: erases or withdraws it, as its authority allows.
    Delete {
        /// The handle.
        handle: String,
    },
    /// Makes this server responsible for a prefix.
    Home {
        /// The prefix.
        prefix: String,
    },
    /// Replaces values by index.
    Modify {
        /// The handle.
        handle: String,
        /// The values.
        values: Vec<NewValue>,
    },
    /// Removes values by index.
    Remove {
        /// The handle.
        handle: String,
        /// The indexes.
        indexes: Vec<u32>,
    },
    /// Retires a prefix: this server is no longer responsible for it.
    Unhome {
        /// The prefix.
        prefix: String,
    },
}

impl Operation {
    /// The handle or the prefix that it is about.
    fn handle(&self) -> &str {
        let (Self::Add { handle, .. }
        | Self::Create { handle, .. }
        | Self::Delete { handle }
        | Self::Modify { handle, .. }
        | Self::Remove { handle, .. }
        | Self::Home { prefix: handle }
        | Self::Unhome { prefix: handle }) = self;
        handle
    }
}

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performed {
    /// The handle, as it was created.
    pub handle: String,
    /// Whether an existing value or handle was overwritten.
    pub overwrote: bool,
}

impl Registry {
    /// Performs an operation of the protocol.
    pub fn perform(
        &self,
        who: &Principal,
        operation: Operation,
    ) -> Result<Performed, RegistryError> {
        self.malformed_urls.count(&operation);
        self.change(who, move |change_set| change_set.perform(operation))
    }

    /// A stored handle, without regard to the caller, with the computed values of a prefix; `None`
    /// if the protocol knows no such handle. The server decides which values a client may read.
    pub fn handle(&self, handle: &str) -> Result<Option<Record>, RegistryError> {
        let record = self.assigned(handle)?;
        Ok(record.filter(|record| record.state == State::Active))
    }

    /// A handle in any state.
    fn assigned(&self, handle: &str) -> Result<Option<Record>, RegistryError> {
        self.read(|view| {
            let whole = with_slash(handle);
            if !view.is_exact(&whole)? {
                return Ok(None);
            }
            match view.show(&Principal::Operator, &whole) {
                Ok(shown) => Ok(Some(shown.record)),
                Err(RegistryError::NotFound(_) | RegistryError::Identifier { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// The roles that a handle has on its own prefix, as `HS_ADMIN` values: something to show for a
    /// handle without any public value.
    pub fn roles_of(&self, handle: &str) -> Result<Vec<Value<'static>>, RegistryError> {
        let Some(mut record) = self.handle(handle)? else {
            return Ok(Vec::new());
        };
        self.read(|view| {
            let (_, path) = view.place_of(handle)?;
            let before = record.values.clone();
            let text = record.text.clone();
            view.add_grants(&path, &mut record, Some(&text))?;
            record.values.retain(|value| !before.contains(value));
            Ok(record.values)
        })
    }

    /// Whether a handle is assigned: also if it was withdrawn, or is reserved.
    pub fn is_taken(&self, handle: &str) -> Result<bool, RegistryError> {
        Ok(self.assigned(handle)?.is_some())
    }

    /// Whether the public may learn that a handle is assigned: it resolves, or once did. Only
    /// principals that may see a reserved handle learn of it. The record of a prefix that has been
    /// empty since the prefix was homed still counts as free.
    pub fn is_known(&self, handle: &str) -> Result<bool, RegistryError> {
        let is_prefix = !handle.contains('/') || prefix_of(handle).is_some();
        if is_prefix && self.read(|view| view.is_unwritten_prefix(handle))? {
            return Ok(false);
        }
        let record = self.assigned(handle)?;
        Ok(record.is_some_and(|record| record.state != State::Reserved))
    }

    /// Whether a handle is the record of a prefix that was homed and never used: the record is
    /// empty, nobody has a role on the prefix, and no name was created under it.
    pub fn is_unused_prefix(&self, handle: &str) -> Result<bool, RegistryError> {
        self.read(|view| {
            if !view.is_unwritten_prefix(handle)? {
                return Ok(false);
            }
            let path = view.path(prefix_of(&with_slash(handle)).unwrap_or_default())?;
            let authority = view.authority(&path)?;
            let is_free = authority.is_some_and(|authority| {
                authority.status == AuthorityStatus::Active && authority.grants.is_empty()
            });
            Ok(is_free && !view.has_names(&path)?)
        })
    }

    /// Whether this registry is responsible for a handle: its prefix is registered here, or it is
    /// the record of a registered prefix or of one that derives from it.
    pub fn is_responsible(&self, handle: &str) -> Result<bool, RegistryError> {
        let whole = with_slash(handle);
        let Ok(handle) = Handle::from_stored(&whole) else {
            return Ok(false);
        };
        self.read(|view| {
            let path = AuthorityPath::of(&Identifier::Handle(handle.borrowed()), view);
            let own = AuthorityPath::of_prefix(&handle.prefix());
            if view.is_in_force(&own)? {
                return Ok(true);
            }
            let mut next = Some(path).filter(|path| *path != own);
            while let Some(path) = next {
                if view.is_in_force(&path)? {
                    return Ok(true);
                }
                next = path.parent();
            }
            Ok(false)
        })
    }

    /// Which values of a handle a principal may read. The handle need not be stored: a template may
    /// have computed the values.
    pub fn reading(
        &self,
        who: &Principal,
        handle: &str,
        values: &[Value<'_>],
    ) -> Result<Reading, RegistryError> {
        self.read(|view| {
            let (key, path) = view.place_of(&with_slash(handle))?;
            let record = view.record(&key)?;
            view.reading(who, &path, record.as_ref(), values)
        })
    }
}

impl View<'_> {
    /// Whether a handle is the empty record that homing a prefix created. Deployed servers create
    /// none at that time, and clients create it.
    fn is_unwritten_prefix(&self, handle: &str) -> Result<bool, RegistryError> {
        let whole = with_slash(handle);
        let Some(prefix) = prefix_of(&whole).and_then(|prefix| Prefix::parse(prefix).ok()) else {
            return Ok(false);
        };
        let record = self.record(&prefix_key(&prefix))?;
        Ok(record.is_some_and(|record| {
            record.version == 1 && record.values.is_empty() && record.state == State::Active
        }))
    }

    /// Checks that a text is a handle to the letter. A person may have pasted white space, brackets
    /// or a scheme with it, which is removed; from a program they are part of the handle.
    fn is_exact(&self, text: &str) -> Result<bool, RegistryError> {
        if self.is_bare_handle(text) {
            return Ok(true);
        }
        let Ok(handle) = Handle::from_stored(text) else {
            return Ok(false);
        };
        let key = Identifier::Handle(handle).key(self);
        Ok(self.record(key.as_str())?.is_some())
    }
}

impl ChangeSet<'_> {
    fn need_exact(&self, operation: &Operation) -> Result<(), RegistryError> {
        if let Operation::Create {
            handle, mint: true, ..
        } = operation
        {
            // It is only the beginning of a handle.
            return self.identify_new(&format!("{handle}0")).map(|_| ());
        }
        let whole = with_slash(operation.handle());
        if self.is_exact(&whole)? {
            return Ok(());
        }
        // Parsing reports the errors of a handle.
        self.identify_new(&whole)?;
        let problem = "a handle is sent as it is: without white space or brackets around it, and \
            without a scheme";
        Err(RegistryError::policy("not-a-handle", problem))
    }

    fn perform(&mut self, operation: Operation) -> Result<Performed, RegistryError> {
        self.need_exact(&operation)?;
        let mut handle = operation.handle().to_string();
        let mut overwrote = false;
        match operation {
            Operation::Add {
                values, overwrite, ..
            } => (_, overwrote) = self.add_values(&with_slash(&handle), values, overwrite)?,
            Operation::Create {
                values, mint: true, ..
            } => handle = self.mint_handle(&handle, values)?,
            Operation::Create {
                values, overwrite, ..
            } => overwrote = self.put_handle(&handle, values, overwrite)?,
            Operation::Delete { .. } => {
                self.delete_handle(&with_slash(&handle))?;
            }
            Operation::Home { .. } => {
                self.home_prefix(&handle)?;
            }
            Operation::Modify { values, .. } => {
                self.modify_values(&with_slash(&handle), values)?;
            }
            Operation::Remove { indexes, .. } => {
                let whole = with_slash(&handle);
                self.need_to_touch(&self.find_active(&whole)?, &[], &indexes)?;
                self.edit_handle(&whole, &Edit::remove(&indexes))?;
            }
            Operation::Unhome { .. } => {
                let found = self.authority(&self.path(&handle)?)?;
                if found.is_none_or(|found| found.status != AuthorityStatus::Retired) {
                    // UNHOME applies to this prefix only.
                    self.retire(&handle, true)?;
                }
            }
        }
        Ok(Performed { handle, overwrote })
    }

    /// Homes a prefix. An active prefix stays as it is, and a retired one becomes active again,
    /// with its names.
    pub(crate) fn home_prefix(&mut self, prefix: &str) -> Result<Authority, RegistryError> {
        let path = self.path(prefix)?;
        let there = self.authority(&path)?;
        if let Some(mut authority) = there.filter(|there| there.status.is_in_force()) {
            if authority.status == AuthorityStatus::Retired {
                self.need_to_create(&path, authority.parent.as_ref())?;
                authority.status = AuthorityStatus::Active;
                self.store_authority(authority.clone(), Action::ApproveAuthority)?;
            }
            return Ok(authority);
        }
        let parent = self.parent_of(&path)?;
        self.need_to_create(&path, parent.as_ref())?;
        self.decline_in_passing(&path)?;
        let new = NewAuthority::default();
        let authority = self.new_authority(&path, parent, new, AuthorityStatus::Active)?;
        self.store_authority(authority.clone(), Action::CreateAuthority)?;
        self.home(&path)?;
        Ok(authority)
    }

    /// Creates a handle, or replaces it. Returns whether it existed.
    fn put_handle(
        &mut self,
        handle: &str,
        values: Vec<NewValue>,
        overwrite: bool,
    ) -> Result<bool, RegistryError> {
        let new = NewName {
            values,
            ..NewName::default()
        };
        let created = match prefix_of(handle) {
            Some(prefix) => self.create_prefix(prefix, &new),
            None => self.create(handle, &new, Origin::Supplied).map(|_| ()),
        };
        let Err(error) = created else {
            return Ok(false);
        };
        // A principal that may not create a handle may still be allowed to replace its values.
        let may_exist = matches!(
            error,
            RegistryError::Exists { .. } | RegistryError::Denied { .. }
        );
        if !(overwrite && may_exist) {
            return Err(error);
        }
        let Ok(mut name) = self.find(handle) else {
            return Err(error);
        };
        // A withdrawn name is never assigned again.
        if name.record.state == State::Withdrawn {
            return Err(error);
        }
        let old = name.record.clone();
        let indexes: Vec<_> = old.values.iter().map(|value| value.index).collect();
        self.need_to_touch(&name, &new.values, &indexes)?;
        let ttl = name.authority.policy.default_ttl;
        let wanted: Vec<Value<'static>> =
            new.values.iter().map(|value| value.settle(ttl)).collect();
        let wanted = values::settle(&old.values, wanted, self.timestamp())?;
        let action = if self.may_replace(&name, &wanted)? {
            name.record.values = wanted;
            Action::Change
        } else {
            name.overwrite(self, wanted)?
        };
        self.store_name(&old, name, action);
        Ok(true)
    }

    /// Creates a prefix and its record: a principal that may create the prefix may fill its record.
    /// If the prefix is homed and its record still empty, the same principal or a `lead` there may
    /// fill it.
    fn create_prefix(&mut self, prefix: &str, new: &NewName) -> Result<(), RegistryError> {
        let path = self.path(prefix)?;
        let there = self.authority(&path)?;
        if let Some(authority) = there.filter(|there| there.status.is_in_force()) {
            if !self.is_unwritten_prefix(&format!("0.NA/{prefix}"))? {
                return Err(RegistryError::Exists {
                    id: format!("0.NA/{prefix}"),
                    event: Some(authority.last_event),
                });
            }
            if let Err(error) = self.need(self.who(), Role::Lead, &path)
                && self
                    .need_to_create(&path, authority.parent.as_ref())
                    .is_err()
            {
                return Err(error);
            }
        }
        let authority = self.home_prefix(prefix)?;
        let key = prefix_key(
            &path
                .prefix()
                .ok_or_else(|| RegistryError::NoAuthority(path.clone()))?,
        );
        let not_found = || RegistryError::NotFound(format!("0.NA/{prefix}"));
        let old = self.record(&key)?.ok_or_else(not_found)?;
        let ttl = authority.policy.default_ttl;
        let values: Vec<_> = new.values.iter().map(|value| value.settle(ttl)).collect();
        let mut name = Name {
            key,
            record: old.clone(),
            authority,
        };
        name.record.values = values::settle(&[], values, self.timestamp())?;
        if !name.record.values.is_empty() {
            self.store_name(&old, name, Action::Change);
        }
        Ok(())
    }

    /// §9 (c) and (d): a principal that may add administrators, or may delete the handle and create
    /// it again, may replace it. Other permissions are checked as in any change.
    fn may_replace(&self, name: &Name, wanted: &[Value<'_>]) -> Result<bool, RegistryError> {
        let old = &name.record.values;
        let (who, path) = (self.who(), &name.authority.path);
        if needed_for(old, wanted) == AdminPermissions::NONE {
            return Ok(false);
        }
        let deletes = self.protocol_grants(who, AdminPermissions::DELETE_HANDLE, old)?;
        Ok(self.protocol_grants(who, AdminPermissions::ADD_ADMIN, old)?
            || deletes && self.prefix_grants(who, path, AdminPermissions::ADD_HANDLE)?)
    }

    /// Creates a handle with a random end that was never used.
    fn mint_handle(&mut self, start: &str, values: Vec<NewValue>) -> Result<String, RegistryError> {
        let new = NewName {
            values,
            ..NewName::default()
        };
        for attempt in 0..100 {
            let random = self.random(&format!("mint {attempt}"));
            let random = random.first_chunk().copied().unwrap_or_default();
            let guid = Guid::v4(random).to_string().to_lowercase();
            let handle = format!("{start}{}", crate::name::mint::hyphenated(&guid));
            match self.create(&handle, &new, Origin::Minted) {
                Ok(shown) => return Ok(shown.record.text),
                Err(RegistryError::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let problem = "no name that was never used could be found";
        Err(RegistryError::policy("used-up", problem))
    }

    /// Adds values. Returns the number of the event, and whether an index was in use.
    pub(crate) fn add_values(
        &mut self,
        handle: &str,
        add: Vec<NewValue>,
        overwrite: bool,
    ) -> Result<(u64, bool), RegistryError> {
        let name = self.find_active(handle)?;
        self.need_to_touch(&name, &add, &[])?;
        let taken = add.iter().find(|value| has(&name.record, value.index));
        if let Some(taken) = taken.filter(|_| !overwrite) {
            return Err(RegistryError::value(taken.index, ValueProblem::Exists));
        }
        if taken.is_none() {
            return Ok((self.edit_handle(handle, &Edit::put(add))?, false));
        }
        let (mut name, old) = (name, self.find_active(handle)?.record);
        let values = name.applied(&Edit::put(add))?;
        let action = name.overwrite(self, values)?;
        Ok((self.store_name(&old, name, action), true))
    }

    /// Replaces values, all of which must exist. Returns the number of the event.
    pub(crate) fn modify_values(
        &mut self,
        handle: &str,
        put: Vec<NewValue>,
    ) -> Result<u64, RegistryError> {
        let name = self.find_active(handle)?;
        self.need_to_touch(&name, &put, &[])?;
        if let Some(value) = put.iter().find(|value| !has(&name.record, value.index)) {
            return Err(RegistryError::value(value.index, ValueProblem::Missing));
        }
        self.edit_handle(handle, &Edit::put(put))
    }

    pub(crate) fn edit_handle(&mut self, handle: &str, edit: &Edit) -> Result<u64, RegistryError> {
        let mut name = self.find_active(handle)?;
        let old = name.record.clone();
        let action = name.apply(self, edit)?;
        Ok(self.store_name(&old, name, action))
    }

    /// Erases or withdraws a handle. Returns the number of the event.
    pub(crate) fn delete_handle(&mut self, handle: &str) -> Result<u64, RegistryError> {
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
        Ok(self.store_name(&old, name, action))
    }

    /// A principal without rights on a name must not learn anything about values that it cannot
    /// read: neither that an index is used or free, nor that a value is already there. For values
    /// that it can read, and for those that are open to public writing, the usual checks decide.
    fn need_to_touch(
        &self,
        name: &Name,
        put: &[NewValue],
        indexes: &[u32],
    ) -> Result<(), RegistryError> {
        let values = &name.record.values;
        let is_seen = |index: u32| {
            let value = values.iter().find(|value| value.index == index);
            let permissions = value.map(|value| value.permissions);
            permissions.is_some_and(|given| given.public_read() || given.public_write())
        };
        let put: Vec<_> = put.iter().filter(|value| !is_seen(value.index)).collect();
        let anything = AdminPermissions::NONE;
        if put.is_empty() && indexes.iter().all(|index| is_seen(*index))
            || self.protocol_grants(self.who(), anything, values)?
        {
            return Ok(());
        }
        // The error depends on the request only.
        let ttl = name.authority.policy.default_ttl;
        let put: Vec<_> = put.into_iter().map(|value| value.settle(ttl)).collect();
        let needs = Role::lead_if(name.is_prefix() || touches_identities(&[], &put));
        name.need(self, needs)
    }

    /// A name that the protocol knows. For the protocol a withdrawn name does not exist.
    fn find_active(&self, handle: &str) -> Result<Name, RegistryError> {
        let name = self.find(handle)?;
        if name.record.state == State::Withdrawn {
            return Err(RegistryError::NotFound(handle.to_string()));
        }
        Ok(name)
    }
}

fn has(record: &Record, index: u32) -> bool {
    record.values.iter().any(|value| value.index == index)
}
