//! Creating an authority.
//!
//! A new authority copies the policy of its parent. A new prefix also gets its prefix record,
//! `0.NA/PREFIX`.

use handfast_id::{CaseRule, Handle, Prefix};
use handfast_wire::AdminPermissions;

use crate::access::principal::Principal;
use crate::authority::change::AuthorityChange;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Grant, Persistence, Policy, Role};
use crate::authority::policy_check::{check_authority, check_case_unset, check_pattern};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// An authority to be created. Unset fields of the policy are copied from the parent.
///
/// ```
/// use handfast_registry::NewAuthority;
///
/// let maps = NewAuthority { title: "The map room".into(), ..NewAuthority::default() };
/// assert_eq!(maps.change.pattern, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct NewAuthority {
    /// For the public register.
    pub title: String,
    /// What its names mean.
    pub meaning: String,
    /// How to reach it.
    pub contact: String,
    /// Why it is asked for, in a request.
    pub reason: String,
    /// Its policy.
    pub change: AuthorityChange,
}

/// The words that our web server uses as first path segments (`URI-13`): it could not resolve a
/// prefix of that name.
pub const RESERVED_SEGMENTS: [&str; 17] = [
    "api", "ark", "console", "doi", "hdl", "healthz", "hrls", "info", "log", "metrics", "oai",
    "readyz", "registry", "static", "uri-res", "urn", "urn-3",
];

impl Registry {
    /// Creates an authority. This takes a `lead` on its parent, or the operator if the parent is
    /// not registered here.
    pub fn create_authority(
        &self,
        who: &Principal,
        path: &str,
        new: NewAuthority,
    ) -> Result<AuthorityPath, RegistryError> {
        self.create_authority_over(who, path, new)
            .map(|(path, _)| path)
    }

    /// Creates an authority, and also returns who had requested it: creating it declines the
    /// request.
    pub fn create_authority_over(
        &self,
        who: &Principal,
        path: &str,
        new: NewAuthority,
    ) -> Result<(AuthorityPath, Option<Principal>), RegistryError> {
        let path = path.to_string();
        check_pattern(&new.change)?;
        self.change(who, move |change_set| {
            let path = change_set.path(&path)?;
            let parent = change_set.parent_of(&path)?;
            change_set.need_to_create(&path, parent.as_ref())?;
            let requested_by = change_set.decline_in_passing(&path)?;
            let mut authority =
                change_set.new_authority(&path, parent, new, AuthorityStatus::Active)?;
            // INFO-10: the owner of the entry, not the creator, decides who creates names in a
            // namespace.
            let owner = match path.namespace() {
                Some(name) => change_set
                    .find_namespace(name)?
                    .and_then(|entry| entry.owner),
                None => None,
            };
            if let Some(to @ Principal::Account(_)) = owner
                && change_set.account(&to)?.is_some()
            {
                let role = Role::Admin;
                authority.grants.push(Grant { to, role });
            }
            change_set.store_authority(authority, Action::CreateAuthority)?;
            change_set.home(&path)?;
            Ok((path, requested_by))
        })
    }
}

impl ChangeSet<'_> {
    /// Creating a child needs the same role as changing one, or the protocol's permission to create
    /// its prefix handle: on the parent's prefix handle for derived prefixes, on `0.NA/0.NA` for
    /// others (`handle-protocol.md` §7.6). The permission is for creating only.
    pub(crate) fn need_to_create(
        &self,
        path: &AuthorityPath,
        parent: Option<&AuthorityPath>,
    ) -> Result<(), RegistryError> {
        let Err(error) = self.need_over_child(path, parent) else {
            return Ok(());
        };
        let is_granted = match (parent, Prefix::parse("0.NA")) {
            (Some(parent), _) => {
                self.prefix_grants(self.who(), parent, AdminPermissions::ADD_DERIVED_PREFIX)?
            }
            (None, Ok(root))
                if path
                    .prefix()
                    .is_some_and(|prefix| prefix.parent().is_none()) =>
            {
                let root = AuthorityPath::of_prefix(&root);
                self.prefix_grants(self.who(), &root, AdminPermissions::ADD_HANDLE)?
            }
            _ => false,
        };
        if is_granted { Ok(()) } else { Err(error) }
    }

    /// Approving, changing and retiring a child needs `lead` on its parent, or the operator if the
    /// parent is not registered here.
    pub(crate) fn need_over_child(
        &self,
        path: &AuthorityPath,
        parent: Option<&AuthorityPath>,
    ) -> Result<(), RegistryError> {
        match parent {
            Some(parent) => self.need(self.who(), Role::Lead, parent),
            None if self.may_do_all(self.who())? => Ok(()),
            // INFO-10: the owner of a namespace decides who creates names in it.
            None if self.owns_path(path)? => Ok(()),
            None => Err(RegistryError::policy(
                "operator-only",
                format!(
                    "the parent of {path} is not registered here, so only the operator may do \
                    this"
                ),
            )),
        }
    }

    /// Whether the principal owns the namespace of an authority.
    fn owns_path(&self, path: &AuthorityPath) -> Result<bool, RegistryError> {
        match path.namespace() {
            Some(name) => self.owns_namespace(self.who(), name),
            None => Ok(false),
        }
    }

    pub(crate) fn new_authority(
        &self,
        path: &AuthorityPath,
        parent: Option<AuthorityPath>,
        new: NewAuthority,
        status: AuthorityStatus,
    ) -> Result<Authority, RegistryError> {
        let there = self.authority(path)?;
        if there.is_some_and(|there| there.status.is_in_force()) {
            return Err(RegistryError::AuthorityExists(path.clone()));
        }
        if let Some(prefix) = path.prefix()
            && RESERVED_SEGMENTS
                .iter()
                .any(|segment| prefix.as_str().eq_ignore_ascii_case(segment))
        {
            let problem = format!("{prefix} is a reserved word of the web server");
            return Err(RegistryError::policy("reserved-prefix", problem));
        }
        if let Some(name) = path.namespace() {
            self.live_namespace(name, self.time())?;
        }
        // URN-8: a new child copies the policy of its parent, and may change it.
        let inherited = match &parent {
            Some(parent) => self.existing_authority(parent)?.policy,
            None => Policy {
                case_sensitive: self.is_new_case_sensitive(path, &new.change),
                ..Policy::default()
            },
        };
        let mut authority = Authority {
            path: path.clone(),
            parent,
            title: new.title,
            meaning: new.meaning,
            contact: new.contact,
            policy: inherited,
            grants: Vec::new(),
            status,
            version: 0,
            created: self.time(),
            last_event: 0,
            seed: [0; 32],
        };
        check_case_unset(path, &new.change)?;
        check_pattern(&new.change)?;
        new.change.apply(&mut authority);
        check_authority(&authority)?;
        Ok(authority)
    }

    /// Whether case counts under a new prefix that does not set it (`HDL-6`).
    fn is_new_case_sensitive(&self, path: &AuthorityPath, change: &AuthorityChange) -> bool {
        self.rules().base.new_prefix_case() == CaseRule::Sensitive
            && change.cordra != Some(true)
            && path
                .prefix()
                .is_some_and(|prefix| !prefix.is_always_insensitive())
    }

    /// Creates the record of the prefix itself, `0.NA/PREFIX`.
    pub(crate) fn home(&mut self, path: &AuthorityPath) -> Result<(), RegistryError> {
        let Some(prefix) = path.prefix() else {
            return Ok(());
        };
        let (key, text) = (prefix_key(&prefix), format!("0.NA/{prefix}"));
        if self.record(&key)?.is_some() {
            return Ok(());
        }
        let record = Record::new(text, path.key(), State::Active, self.time());
        self.assign(&key, record, Action::Create, Persistence::Permanent)?;
        Ok(())
    }
}

/// The key of `0.NA/PREFIX`.
pub(crate) fn prefix_key(prefix: &Prefix<'_>) -> String {
    let text = format!("0.NA/{prefix}");
    Handle::from_stored(&text)
        .map(|h| h.key(handfast_id::CaseRule::default()).to_string())
        .unwrap_or_default()
}
