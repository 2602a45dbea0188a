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

/// A name as it is shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it is looked up by.
    pub key: String,
    /// What is kept of it. Of a prefix, with the computed `HS_ADMIN` values of its grants.
    pub record: Record,
}

impl Shown {
    /// The same without its values, for lists.
    pub(crate) fn without_values(mut self) -> Self {
        self.record.values = Vec::new();
        self
    }
}

impl Registry {
    /// A name, to someone: a reserved one only to those who may see it.
    pub fn show(&self, who: &Principal, id: &str) -> Result<Shown, RegistryError> {
        self.read(|view| view.show(who, id))
    }

    /// The names under an authority that someone may see, in the order of their keys, from after a key
    /// on.
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
                return Err(RegistryError::Denied {
                    needs: Role::Read,
                    authority: path,
                });
            }
            let sees_all = role.is_some();
            let mut outcome = Ok(());
            let from = after.unwrap_or(&start);
            view.now.scan(
                &TableKey::record(from.as_bytes()),
                &mut |table_key, bytes| {
                    let key = String::from_utf8_lossy(table_key.name()).into_owned();
                    if !key.starts_with(&start) {
                        return ControlFlow::Break(());
                    }
                    let Ok(record) = Record::from_bytes(bytes) else {
                        outcome = Err(RegistryError::Corrupt {
                            what: format!("the record of {key}"),
                        });
                        return ControlFlow::Break(());
                    };
                    let is_other = record.authority != path.key() || Some(key.as_str()) == after;
                    let is_hidden = record.state == State::Reserved && !sees_all;
                    if is_other || is_hidden {
                        return ControlFlow::Continue(());
                    }
                    visit(Shown { key, record })
                },
            )?;
            outcome
        })
    }

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
}

/// What of the values of a name someone may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// What everybody may.
    Public,
    /// What administrators may too, but nothing by which one could pass for somebody.
    Restricted,
    /// Secret keys too. Whoever may put them there learns nothing by it, and the protocol gives them to its
    /// administrators.
    Secrets,
}

impl Reading {
    /// Whether a value is to be read.
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
        let identifier = self.identify_registered(id)?;
        let key = identifier.key(self).as_str().to_string();
        let path = AuthorityPath::of(&identifier, self);
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

    /// A version of a record as someone may read it, and the operator everything. Of a name that was withdrawn nothing is
    /// left to the public.
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

    /// What of values someone may read, of a record that is stored or that a template has made.
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

    /// Whether someone may see a reserved name.
    pub(crate) fn may_see(
        &self,
        who: &Principal,
        path: &AuthorityPath,
        record: &Record,
    ) -> Result<bool, RegistryError> {
        Ok(self.holds(who, Role::Read, record)? || self.role(who, path)? >= Some(Role::Read))
    }

    /// Roles of handle identities are shown as computed `HS_ADMIN` values, and never read back: all of them, or those
    /// of one handle.
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

/// The bits that a role comes to in the protocol.
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
