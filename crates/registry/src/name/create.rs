//! Creating a name.
//!
//! A new name must fit the grammar of its scheme, the policy of its authority and, for an `info`
//! URI, a registered namespace. It must never have been assigned before.

use handfast_id::{CordraId, Handle, Identifier, InfoUri};
use handfast_wire::{AdminPermissions, Value};

use crate::access::hs_admin::touches_admins;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Role};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::record::{Record, State};
use crate::name::show::Shown;
use crate::name::values;
use crate::name::values::NewValue;
use crate::registry::Registry;

/// A name to be created.
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

    /// What creating a name would do: the name as it would be registered, or the error. Nothing is
    /// stored.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1000", NewAuthority::default())?;
    /// let checked = registry.check_new_name(&operator, "hdl:20.1000/a", &NewName::default())?;
    /// assert_eq!(checked.record.text, "20.1000/a");
    /// assert!(registry.show(&operator, "20.1000/a").is_err());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn check_new_name(
        &self,
        who: &Principal,
        id: &str,
        new: &NewName,
    ) -> Result<Shown, RegistryError> {
        self.dry_run(who, |change_set| {
            change_set.create(id, new, Origin::Supplied)
        })
    }
}

impl ChangeSet<'_> {
    pub(crate) fn create(
        &mut self,
        id: &str,
        new: &NewName,
        origin: Origin,
    ) -> Result<Shown, RegistryError> {
        let identifier = self.identify_new(id)?;
        let path = AuthorityPath::of(&identifier, &**self);
        let authority = self.active_for(self.who(), &path)?;
        let key = identifier.key(&**self).as_str().to_string();
        let role = self.role(self.who(), &path)?;

        let ttl = authority.policy.default_ttl;
        let given = new.values.iter();
        let given: Vec<_> = given.map(|value| value.settle(ttl)).collect();
        let all = values::urls(new.urls.iter().map(String::as_str), given, ttl);
        if !self.prefix_grants(self.who(), &path, AdminPermissions::ADD_HANDLE)? {
            let needs = Role::lead_if(touches_admins(&[], &all));
            self.need(self.who(), needs, &path)?;
        }
        // Identifying the name has checked its grammar; now the policy of the authority.
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
            (Origin::Supplied, state) => Action::of_new(state),
        };
        self.assign(&key, record, action, authority.policy.persistence)?;
        let record = self
            .record(&key)?
            .ok_or_else(|| RegistryError::NotFound(id.to_string()))?;
        Ok(Shown { key, record })
    }
}

/// The origin of a new name (`CID-4`).
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// The registry minted it.
    Minted,
    /// The caller chose it.
    Supplied,
}

/// Checks the rules of an authority for its names, beyond the grammar.
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
            "{canonical} would be stored, but looked up as another name: the rules of its \
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

/// Whether the canonical form of an `info` URI is its own canonical form. Otherwise a lookup would
/// never find the name.
pub(crate) fn is_stable(canonical: &str, view: &View<'_>) -> bool {
    let again = InfoUri::parse(canonical).and_then(|uri| uri.canonical(view));
    again.is_ok_and(|again| again.as_str() == canonical)
}

/// The text of a name as it is registered: a handle without query and fragment, any other name in
/// canonical form, but a URN keeps the case that was chosen.
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
