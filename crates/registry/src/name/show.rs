//! Showing a name, and listing the names of an authority.
//!
//! A principal sees the values that its roles and the permissions of the values allow. A reserved
//! name is shown only to principals with the role `read`.

use std::ops::ControlFlow;

use handfast_store::TableKey;
use handfast_wire::{Admin, AdminPermissions, Codec, Reference, Value};

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// A name and its record, as a principal may see it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its key in the store.
    pub key: String,
    /// Its record. The record of a prefix also has the computed `HS_ADMIN` values of its grants.
    pub record: Record,
}

impl Shown {
    /// The name without its values, for lists.
    pub(crate) fn without_values(mut self) -> Self {
        self.record.values = Vec::new();
        self
    }
}

impl Registry {
    /// A name. A reserved one only if the principal may see it.
    pub fn show(&self, who: &Principal, id: &str) -> Result<Shown, RegistryError> {
        self.read(|view| view.show(who, id))
    }

    /// Visits the names under an authority that a principal may see, in the order of their keys,
    /// after a key.
    pub fn names(
        &self,
        who: &Principal,
        path: &str,
        after: Option<&str>,
        visit: &mut dyn FnMut(Shown) -> ControlFlow<()>,
    ) -> Result<(), RegistryError> {
        self.read(|view| {
            let path = view.path(path)?;
            view.existing_authority(&path)?;
            let start = path.start_of_names();
            let role = view.role(who, &path)?;
            if role.is_none() && !view.prefix_grants(who, &path, AdminPermissions::LIST_HANDLES)? {
                return Err(RegistryError::denied(Role::Read, &path));
            }
            let sees_all = role.is_some();
            let from = TableKey::record(after.unwrap_or(&start).as_bytes());
            view.scan_while(&from, |table_key, bytes| {
                let key = String::from_utf8_lossy(table_key.name()).into_owned();
                if !key.starts_with(&start) {
                    return Ok(false);
                }
                let corrupt = |_| RegistryError::corrupt(format!("the record of {key}"));
                let record = Record::from_bytes(bytes).map_err(corrupt)?;
                let is_other = record.authority != path.key() || Some(key.as_str()) == after;
                let is_hidden = record.state == State::Reserved && !sees_all;
                Ok(is_other || is_hidden || visit(Shown { key, record }).is_continue())
            })
        })
    }

    /// Whether a principal administers a name, and may see data that is not public.
    pub fn may_know_all(&self, who: &Principal, id: &str) -> Result<bool, RegistryError> {
        self.read(|view| {
            view.show(who, id)?;
            let (key, path) = view.place_of(id)?;
            match view.record(&key)? {
                Some(record) => view.may_see(who, &path, &record),
                None => Ok(false),
            }
        })
    }
}

/// Which values of a name a principal may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// Values that everybody may read.
    Public,
    /// Values that administrators may read, too, but no secrets.
    Restricted,
    /// Secret keys, too. A principal that may set them learns nothing new, and the protocol shows
    /// them to its administrators.
    Secrets,
}

impl Reading {
    /// Whether a principal may read a value.
    #[must_use]
    pub fn shows(self, value: &Value<'_>) -> bool {
        value.permissions.public_read()
            || value.permissions.admin_read()
                && match self {
                    Self::Public => false,
                    Self::Restricted => !value.is_type("HS_SECKEY"),
                    Self::Secrets => true,
                }
    }
}

impl View<'_> {
    pub(crate) fn show(&self, who: &Principal, id: &str) -> Result<Shown, RegistryError> {
        let (key, path) = self.place_of(id)?;
        let not_found = || RegistryError::NotFound(id.to_string());
        let mut record = self.record(&key)?.ok_or_else(not_found)?;
        if record.state == State::Reserved && !self.may_see(who, &path, &record)? {
            return Err(not_found());
        }
        if key.starts_with("hdl:0.NA/") {
            self.add_grants(&path, &mut record, None)?;
        }
        let record = self.readable(who, &path, record)?;
        Ok(Shown { key, record })
    }

    /// A version of a record with the values that a principal may read. The operator reads
    /// everything. The public reads no values of a withdrawn name.
    pub(crate) fn readable(
        &self,
        who: &Principal,
        path: &AuthorityPath,
        mut record: Record,
    ) -> Result<Record, RegistryError> {
        if *who == Principal::Operator {
            return Ok(record);
        }
        let reading = self.reading(who, path, Some(&record), &record.values)?;
        record.holder = record.holder.filter(|_| reading > Reading::Public);
        if record.state == State::Withdrawn && reading == Reading::Public {
            record.values.clear();
        }
        record.values.retain(|value| reading.shows(value));
        Ok(record)
    }

    /// Which values a principal may read, of a stored record or of one that a template computed.
    pub(crate) fn reading(
        &self,
        who: &Principal,
        path: &AuthorityPath,
        record: Option<&Record>,
        values: &[Value<'_>],
    ) -> Result<Reading, RegistryError> {
        if self.protocol_grants(who, AdminPermissions::READ_VALUE, values)? {
            return Ok(Reading::Secrets);
        }
        let role = self.role(who, path)?;
        if role >= Some(Role::Lead) {
            return Ok(Reading::Secrets);
        }
        let holds = record.map(|record| self.holds(who, Role::Read, record));
        Ok(if role.is_some() || holds.transpose()? == Some(true) {
            Reading::Restricted
        } else {
            Reading::Public
        })
    }

    /// Whether a principal may see a reserved name.
    pub(crate) fn may_see(
        &self,
        who: &Principal,
        path: &AuthorityPath,
        record: &Record,
    ) -> Result<bool, RegistryError> {
        Ok(self.holds(who, Role::Read, record)? || self.role(who, path)? >= Some(Role::Read))
    }

    /// Adds the roles of handle identities as computed `HS_ADMIN` values, all of them or those of
    /// one handle. They are never read back.
    pub(crate) fn add_grants(
        &self,
        path: &AuthorityPath,
        record: &mut Record,
        of: Option<&str>,
    ) -> Result<(), RegistryError> {
        let Some(authority) = self.authority(path)? else {
            return Ok(());
        };
        for grant in &authority.grants {
            let Principal::Identity { index, handle } = &grant.to else {
                continue;
            };
            if of.is_some_and(|of| !of.eq_ignore_ascii_case(handle)) {
                continue;
            }
            let admin = Admin {
                permissions: permissions_of(grant.role),
                administrator: Reference::new(handle.as_str(), *index),
            };
            let taken = |index: &u32| record.values.iter().any(|value| value.index == *index);
            let Some(index) = (100..u32::MAX).find(|index| !taken(index)) else {
                break;
            };
            let data = admin.to_bytes();
            record
                .values
                .push(Value::new(index, "HS_ADMIN", &data).into_owned());
        }
        record.values.sort_by_key(|value| value.index);
        Ok(())
    }
}

/// The permission bits of a role in the protocol.
fn permissions_of(role: Role) -> AdminPermissions {
    use AdminPermissions as P;
    let read = P::READ_VALUE | P::LIST_HANDLES;
    let write = P::ADD_HANDLE | P::DELETE_HANDLE | P::ADD_VALUE | P::MODIFY_VALUE | P::REMOVE_VALUE;
    match role {
        Role::Read => read,
        Role::Write => read | write,
        Role::Lead | Role::Admin => P::ALL,
    }
}
