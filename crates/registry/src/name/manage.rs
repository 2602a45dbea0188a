//! What is done with names.

use std::ops::ControlFlow;

use handfast_id::{CordraId, Handle, Identifier, InfoUri};
use handfast_store::TableKey;
use handfast_wire::{Admin, AdminPermissions, Codec, Reference, Value};

use crate::access::hs_admin::touches_admins;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Persistence, Role};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::record::{Record, State, Tombstone};
use crate::name::states::{Name, prefix_record};
use crate::name::values::{self, NewValue};
use crate::registry::Registry;

/// What a new name is to be.
///
/// ```
/// use handfast_registry::NewName;
///
/// let name = NewName::urls(&["https://example.org/1", "https://example.org/2"]);
/// assert!(!name.reserve);
/// ```
#[derive(Clone, Debug, Default)]
pub struct NewName {
    /// Ordered URLs, which become `URL` values at indexes 1, 2, …
    pub urls: Vec<String>,
    /// Other values.
    pub values: Vec<NewValue>,
    /// Whether it starts reserved.
    pub reserve: bool,
}

impl NewName {
    /// A name with ordered URLs.
    #[must_use]
    pub fn urls(urls: &[&str]) -> Self {
        let urls = urls.iter().map(|url| (*url).to_string()).collect();
        Self {
            urls,
            ..Self::default()
        }
    }
}

/// A change of the values of a name, made as one.
///
/// ```
/// use handfast_registry::Edit;
///
/// let edit = Edit { remove: vec![7], ..Edit::urls(&["https://example.org/"]) };
/// assert_eq!(edit.urls.unwrap().len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// Removes the values at these indexes, all of which must be there.
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
    /// Creates a name, or reserves it.
    pub fn create_name(
        &self,
        who: &Principal,
        id: &str,
        new: NewName,
    ) -> Result<Shown, RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            change_set.create(&id, &new, Origin::Supplied)
        })
    }

    /// Changes the values of a name.
    pub fn edit_name(&self, who: &Principal, id: &str, edit: Edit) -> Result<Shown, RegistryError> {
        self.change_name(who, id, move |change_set, name| {
            name.apply(change_set, &edit)
        })
    }

    /// Makes a reserved name active. Where names wait for approval a `lead` does.
    pub fn activate_name(&self, who: &Principal, id: &str) -> Result<Shown, RegistryError> {
        self.change_name(who, id, |change_set, name| name.activate(change_set))
    }

    /// Withdraws a name, leaving a tombstone.
    pub fn withdraw_name(
        &self,
        who: &Principal,
        id: &str,
        reason: &str,
        successor: Option<&str>,
    ) -> Result<Shown, RegistryError> {
        let (reason, successor) = (reason.to_string(), successor.map(str::to_string));
        self.change_name(who, id, move |change_set, name| {
            let date = change_set.time();
            name.withdraw(
                change_set,
                Tombstone {
                    reason,
                    date,
                    successor,
                },
            )
        })
    }

    /// Makes a withdrawn name active again.
    pub fn restore_name(&self, who: &Principal, id: &str) -> Result<Shown, RegistryError> {
        self.change_name(who, id, |change_set, name| name.restore(change_set))
    }

    /// Hands the administration of a name to someone (`HDL-9`); the name stays.
    pub fn transfer_name(
        &self,
        who: &Principal,
        id: &str,
        to: &Principal,
    ) -> Result<Shown, RegistryError> {
        let to = to.clone();
        self.change_name(who, id, move |change_set, name| {
            name.transfer(change_set, Some(to))
        })
    }

    /// Erases a name under an authority where that is allowed.
    pub fn erase_name(&self, who: &Principal, id: &str) -> Result<(), RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            let name = change_set.find(&id)?;
            change_set.erase(&name).map(|_| ())
        })
    }

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

    fn change_name(
        &self,
        who: &Principal,
        id: &str,
        change: impl FnOnce(&mut ChangeSet<'_>, &mut Name) -> Result<Action, RegistryError>
        + Send
        + 'static,
    ) -> Result<Shown, RegistryError> {
        let id = id.to_string();
        self.change(who, move |change_set| {
            let mut name = change_set.find(&id)?;
            let old = name.record.clone();
            let action = change(change_set, &mut name)?;
            let key = name.key.clone();
            change_set.store_name(&old, name, action);
            let record = change_set
                .record(&key)?
                .ok_or(RegistryError::NotFound(id))?;
            Ok(Shown { key, record })
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

impl ChangeSet<'_> {
    /// A name that exists and that whoever acts may know of.
    pub(crate) fn find(&self, id: &str) -> Result<Name, RegistryError> {
        let identifier = self.identify_registered(id)?;
        let key = identifier.key(&**self).as_str().to_string();
        let path = AuthorityPath::of(&identifier, &**self);
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

    /// Erases a name; returns the event's number.
    pub(crate) fn erase(&mut self, name: &Name) -> Result<u64, RegistryError> {
        name.need(self, name.role_for_all())?;
        if name.is_prefix() {
            return Err(prefix_record());
        }
        // One without salt was permanent when it was given, whatever its authority says now.
        if name.persistence() == Persistence::Permanent || name.record.salt.is_none() {
            let problem = format!(
                "{} is permanent: withdraw the name instead",
                name.authority.path
            );
            return Err(RegistryError::policy("permanent", problem));
        }
        Ok(self.erase_record(&name.key, &name.record))
    }

    /// Keeps what has become of a name; returns the event's number.
    pub(crate) fn store_name(&mut self, old: &Record, name: Name, action: Action) -> u64 {
        let persistence = name.persistence();
        self.store_changed(&name.key, old, name.record, action, persistence)
    }

    pub(crate) fn create(
        &mut self,
        id: &str,
        new: &NewName,
        origin: Origin,
    ) -> Result<Shown, RegistryError> {
        let identifier = self.identify_new(id)?;
        let path = AuthorityPath::of(&identifier, &**self);
        let authority = self.active(&path)?;
        let key = identifier.key(&**self).as_str().to_string();
        let role = self.role(self.who(), &path)?;

        let ttl = authority.policy.default_ttl;
        let given = new.values.iter();
        let given: Vec<_> = given.map(|value| value.settle(ttl)).collect();
        let all = values::urls(new.urls.iter().map(String::as_str), given, ttl);
        if !self.prefix_grants(self.who(), &path, AdminPermissions::ADD_HANDLE)? {
            let needs = if touches_admins(&[], &all) {
                Role::Lead
            } else {
                Role::Write
            };
            self.need(self.who(), needs, &path)?;
        }
        // Grammar first, which identifying has seen to; then the local policy.
        check_name(&identifier, &authority, self)?;
        if let Some(name) = path.namespace() {
            self.live_namespace(name, self.time())?;
        }
        if let Some(record) = self.record(&key)? {
            let visible =
                record.state != State::Reserved || self.may_see(self.who(), &path, &record)?;
            let event = visible.then_some(record.first_event);
            return Err(RegistryError::Exists {
                id: id.to_string(),
                event,
            });
        }
        let waits = authority.policy.approval && role < Some(Role::Lead);
        let state = if new.reserve || waits {
            State::Reserved
        } else {
            State::Active
        };
        let values = values::settle(&[], all, self.timestamp())?;
        let values = values.into_iter().map(Value::into_owned).collect();
        let text = registered_text(&identifier, self);
        let record = Record {
            values,
            ..Record::new(text, path.key(), state, self.time())
        };
        let action = match (origin, state) {
            (Origin::Minted, State::Reserved) => Action::MintReserved,
            (Origin::Minted, _) => Action::Mint,
            (Origin::Supplied, State::Reserved) => Action::Reserve,
            (Origin::Supplied, _) => Action::Create,
        };
        self.assign(&key, record, action, authority.policy.persistence)?;
        let record = self
            .record(&key)?
            .ok_or_else(|| RegistryError::NotFound(id.to_string()))?;
        Ok(Shown { key, record })
    }
}

/// Where a new name comes from (`CID-4`).
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// It was made here.
    Minted,
    /// Whoever asks has chosen it.
    Supplied,
}

/// What an authority demands of its names beyond the grammar.
pub(crate) fn check_name(
    identifier: &Identifier<'_>,
    authority: &Authority,
    view: &View<'_>,
) -> Result<(), RegistryError> {
    let named = identifier.named(view);
    let identifier = named.as_ref().unwrap_or(identifier);
    let path = &authority.path;
    if path.is_delegating_root(view) {
        let problem = format!("{path} is the root of its namespace, which holds no names (URN-5)");
        return Err(RegistryError::policy("root", problem));
    }
    let handle = match identifier {
        Identifier::Cordra(id) => Some(id.record().borrowed()),
        Identifier::Doi(doi) => Some(doi.handle().borrowed()),
        Identifier::Handle(handle) => Some(handle.borrowed()),
        Identifier::Hdl(uri) => Some(uri.handle().borrowed()),
        Identifier::Ark(_) | Identifier::Info(_) | Identifier::Urn(_) => None,
    };
    if let Some(handle) = &handle {
        if handle.prefix().as_str().eq_ignore_ascii_case("0.NA") {
            let problem = "the record of a prefix is made by `handfast authority create`";
            return Err(RegistryError::policy("prefix-record", problem));
        }
        if authority.policy.cordra && CordraId::from_handle(handle).is_none() {
            let problem = format!("{path} takes CORDRA identifiers only: 32 hex digits (CID-3)");
            return Err(RegistryError::policy("not-cordra", problem));
        }
    }
    let canonical = identifier.canonical(view);
    if matches!(identifier, Identifier::Info(_)) && !is_stable(&canonical, view) {
        let problem = format!(
            "{canonical} is what it is kept as, but would be looked for as something else: the rules of its \
             namespace change it again"
        );
        return Err(RegistryError::policy("not-stable", problem));
    }
    let local = match (identifier, &handle) {
        (Identifier::Urn(urn), _) => urn.resource_name().unwrap_or(urn.nss()),
        (_, Some(handle)) => handle.suffix(),
        _ => canonical.split_once('/').map_or("", |(_, local)| local),
    };
    if !authority.policy.fits(local) {
        let pattern = authority.policy.pattern.as_deref().unwrap_or_default();
        let problem = format!("`{local}` does not match the pattern `{pattern}` of {path}");
        return Err(RegistryError::policy("pattern", problem));
    }
    Ok(())
}

/// Whether the canonical form of an `info` URI is its own: a name that is kept under another is never found.
pub(crate) fn is_stable(canonical: &str, view: &View<'_>) -> bool {
    let again = InfoUri::parse(canonical).and_then(|uri| uri.canonical(view));
    again.is_ok_and(|again| again.as_str() == canonical)
}

/// The name as it is registered: a handle bare, without query and fragment; the rest canonical, but a
/// URN in the case that was chosen.
pub(crate) fn registered_text(identifier: &Identifier<'_>, view: &View<'_>) -> String {
    let shown = |handle: &Handle<'_>| Identifier::Handle(handle.borrowed()).canonical(view);
    let named = identifier.named(view);
    match named.as_ref().unwrap_or(identifier) {
        Identifier::Cordra(id) => id.record().to_string(),
        Identifier::Doi(doi) => shown(doi.handle()),
        Identifier::Handle(handle) => shown(handle),
        Identifier::Hdl(uri) => shown(uri.handle()),
        Identifier::Urn(urn) => format!("urn:{}:{}", urn.nid(), urn.nss()),
        other => other.canonical(view),
    }
}
