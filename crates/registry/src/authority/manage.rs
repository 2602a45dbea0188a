//! What is done with authorities.

use std::ops::ControlFlow;
use std::sync::PoisonError;

use handfast_id::{CaseRule, Handle, Prefix};
use handfast_store::{Table, TableKey};
use handfast_wire::AdminPermissions;

use crate::access::principal::Principal;
use crate::authority::erasures::{NothingErased, check_nothing_erased, check_still_nothing_erased};
use crate::authority::path::AuthorityPath;
use crate::authority::pattern_cache;
use crate::authority::policy::{Authority, AuthorityStatus, Grant, Persistence, Policy, Role};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::conditional::other_version;
use crate::name::record::{Record, State};
use crate::registry::Registry;

/// What a new authority is to be. Unset fields of the policy are those of the parent.
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
    /// Its policy.
    pub change: AuthorityChange,
}

/// A change of an authority; what is not set stays.
///
/// ```
/// let change = handfast_registry::AuthorityChange {
///     pattern: Some(Some("[0-9]+".into())),
///     ..Default::default()
/// };
/// assert!(change.case_sensitive.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct AuthorityChange {
    /// For the public register.
    pub title: Option<String>,
    /// What its names mean.
    pub meaning: Option<String>,
    /// How to reach it.
    pub contact: Option<String>,
    /// Whether case counts in suffixes.
    pub case_sensitive: Option<bool>,
    /// Whether a name may ever be given again.
    pub persistence: Option<Persistence>,
    /// Whether its names are CORDRA identifiers.
    pub cordra: Option<bool>,
    /// What local names must match, or that they need not match anything.
    pub pattern: Option<Option<String>>,
    /// Whether new names wait for a `lead`.
    pub approval: Option<bool>,
    /// The TTL of new values.
    pub default_ttl: Option<u32>,
    /// The version that the authority must have for this to be done.
    pub expects: Option<u64>,
}

/// The words that our own web server uses as first segments (`URI-13`): a prefix of that name could not
/// be resolved there.
pub const RESERVED_SEGMENTS: [&str; 17] = [
    "api", "ark", "console", "doi", "hdl", "healthz", "hrls", "info", "log", "metrics", "oai",
    "readyz", "registry", "static", "uri-res", "urn", "urn-3",
];

/// What is done with an authority.
#[derive(Clone, Debug)]
pub enum AuthorityAction {
    /// A request is granted: whoever asked becomes its `admin`.
    Approve,
    /// A request is not granted: the path is free again.
    Decline,
    /// Someone gets a role; one that was granted before is replaced.
    Grant {
        /// Who.
        to: Principal,
        /// The role.
        role: Role,
        /// Whether an account of that name is created if there is none, which the operator and administrators may.
        creates_account: bool,
    },
    /// Its names keep resolving, its path stays taken, nothing new is named there or below.
    Retire {
        /// Whether the authorities below it go on naming.
        keep_children: bool,
    },
    /// A role is taken away.
    Revoke {
        /// From whom.
        from: Principal,
        /// Only if it is this one.
        role: Option<Role>,
    },
    /// Someone becomes its only `admin`.
    Transfer(Principal),
}

impl Registry {
    /// Creates an authority. Where its parent is kept here a `lead` there does, else the operator.
    pub fn create_authority(
        &self,
        who: &Principal,
        path: &str,
        new: NewAuthority,
    ) -> Result<AuthorityPath, RegistryError> {
        self.create_authority_over(who, path, new)
            .map(|(path, _)| path)
    }

    /// The same; also says whose request for it was declined by that.
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
            if !change_set.may_do_all(change_set.who())? && change_set.owns_path(&path)? {
                let (to, role) = (change_set.who().lasting(), Role::Admin);
                authority.grants.push(Grant { to, role });
            }
            change_set.store_authority(authority, Action::CreateAuthority)?;
            change_set.home(&path)?;
            Ok((path, requested_by))
        })
    }

    /// Asks for an authority, which an administrator of its parent approves or declines (`URN-5`).
    pub fn request_authority(
        &self,
        who: &Principal,
        path: &str,
        new: NewAuthority,
    ) -> Result<AuthorityPath, RegistryError> {
        // What is counted is not asked for by two at once.
        let requesting = self.requesting.lock();
        let _only = requesting.unwrap_or_else(PoisonError::into_inner);
        self.check_request(who, path, &new)?;
        check_pattern(&new.change)?;
        let path = path.to_string();
        self.change(who, move |change_set| {
            let path = change_set.path(&path)?;
            let parent = change_set.parent_of(&path)?;
            if let Some(AuthorityStatus::Requested { by }) = change_set
                .authority(&path)?
                .map(|authority| authority.status)
            {
                let problem = format!("{by} has asked for {path}: approve or decline that first");
                return Err(RegistryError::policy("requested", problem));
            }
            let by = change_set.who().lasting();
            let status = AuthorityStatus::Requested { by: by.clone() };
            let authority = change_set.new_authority(&path, parent, new, status)?;
            change_set.ensure_account(&by)?;
            change_set.store_authority(authority, Action::RequestAuthority)?;
            Ok(path)
        })
    }

    /// Approves a request: whoever asked becomes its `admin`.
    pub fn approve_authority(&self, who: &Principal, path: &str) -> Result<(), RegistryError> {
        self.act_on_authority(who, path, None, AuthorityAction::Approve)
    }

    /// Declines a request: the path is free again.
    pub fn decline_authority(&self, who: &Principal, path: &str) -> Result<(), RegistryError> {
        self.act_on_authority(who, path, None, AuthorityAction::Decline)
    }

    /// Does something with an authority, if it has the version that is expected of it.
    pub fn act_on_authority(
        &self,
        who: &Principal,
        path: &str,
        expected: Option<u64>,
        action: AuthorityAction,
    ) -> Result<(), RegistryError> {
        let text = path.to_string();
        self.change(who, move |change_set| {
            let path = change_set.path(&text)?;
            let now = change_set.existing_authority(&path)?.version;
            if expected.is_some_and(|expected| expected != now) {
                return Err(other_version(&text, now));
            }
            match action {
                AuthorityAction::Approve => change_set.decide_request(&path, true),
                AuthorityAction::Decline => change_set.decide_request(&path, false),
                AuthorityAction::Grant {
                    to,
                    role,
                    creates_account,
                } => change_set.grant(&path, to, role, creates_account),
                AuthorityAction::Retire { keep_children } => {
                    change_set.retire(&text, keep_children)
                }
                AuthorityAction::Revoke { from, role } => change_set.revoke(&path, &from, role),
                AuthorityAction::Transfer(to) => change_set.transfer_authority(&path, to),
            }
        })
    }

    /// Retires an authority and those below it: their names keep resolving, their paths stay taken, nothing new is
    /// named.
    pub fn retire_authority(&self, who: &Principal, path: &str) -> Result<(), RegistryError> {
        let keep_children = false;
        self.act_on_authority(who, path, None, AuthorityAction::Retire { keep_children })
    }

    /// Changes title, meaning, contact or policy. A `lead` sets the local pattern and whether names wait;
    /// the rest needs `admin`, or `lead` on the parent.
    pub fn change_authority(
        &self,
        who: &Principal,
        path: &str,
        change: AuthorityChange,
    ) -> Result<(), RegistryError> {
        let path = path.to_string();
        check_pattern(&change)?;
        // What takes long is done before the writer is asked.
        let nothing_erased = self.dry_run(who, |change_set| {
            let path = change_set.path(&path)?;
            change_set.look_for_erased(&path, &change)
        })?;
        self.change(who, move |change_set| {
            let path = change_set.path(&path)?;
            let authority = change_set.changed(&path, change, nothing_erased.as_ref())?;
            change_set
                .store_authority(authority, Action::ChangeAuthority)
                .map(|_| ())
        })
    }

    /// Grants a role; a role that was granted before is replaced. An account that is not there yet is created, if the
    /// operator or an administrator grants: [`AuthorityAction::Grant`] can refuse it instead.
    pub fn grant(
        &self,
        who: &Principal,
        path: &str,
        to: &Principal,
        role: Role,
    ) -> Result<(), RegistryError> {
        let to = to.clone();
        let grant = AuthorityAction::Grant {
            to,
            role,
            creates_account: true,
        };
        self.act_on_authority(who, path, None, grant)
    }

    /// Revokes the role that someone was granted there; with `role`, only if it is that one.
    pub fn revoke(
        &self,
        who: &Principal,
        path: &str,
        from: &Principal,
        role: Option<Role>,
    ) -> Result<(), RegistryError> {
        let from = from.clone();
        self.act_on_authority(who, path, None, AuthorityAction::Revoke { from, role })
    }

    /// Hands an authority to someone, who becomes its only `admin`.
    pub fn transfer_authority(
        &self,
        who: &Principal,
        path: &str,
        to: &Principal,
    ) -> Result<(), RegistryError> {
        let action = AuthorityAction::Transfer(to.clone());
        self.act_on_authority(who, path, None, action)
    }

    /// An authority, for the public register. Who has which role is for those who have one.
    pub fn authority(&self, who: &Principal, path: &str) -> Result<Authority, RegistryError> {
        self.read(|view| {
            let path = view.path(path)?;
            let mut authority = view.existing_authority(&path)?;
            if view.role(who, &path)? < Some(Role::Read) {
                authority.grants.clear();
            }
            Ok(authority)
        })
    }

    /// All authorities that are in force, by key: none that is only asked for.
    pub fn authorities(&self) -> Result<Vec<Authority>, RegistryError> {
        let mut all = self.authorities_and_requests()?;
        all.retain(|authority| authority.status.is_in_force());
        Ok(all)
    }

    /// All authorities, also those that are only asked for, by key.
    pub fn authorities_and_requests(&self) -> Result<Vec<Authority>, RegistryError> {
        let mut all = Vec::new();
        self.visit_authorities(None, &mut |authority| {
            all.push(authority);
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }
}

impl View<'_> {
    /// An authority that is kept here, whatever its status.
    pub(crate) fn existing_authority(
        &self,
        path: &AuthorityPath,
    ) -> Result<Authority, RegistryError> {
        self.authority(path)?
            .ok_or_else(|| RegistryError::NoAuthority(path.clone()))
    }

    /// Whether an authority is kept here, and not only asked for.
    pub(crate) fn is_in_force(&self, path: &AuthorityPath) -> Result<bool, RegistryError> {
        let found = self.authority(path)?;
        Ok(found.is_some_and(|authority| authority.status.is_in_force()))
    }

    /// An authority that is in use.
    pub(crate) fn active(&self, path: &AuthorityPath) -> Result<Authority, RegistryError> {
        let authority = self.existing_authority(path)?;
        match authority.status {
            AuthorityStatus::Active => Ok(authority),
            AuthorityStatus::Retired => Err(RegistryError::Retired(path.clone())),
            AuthorityStatus::Requested { .. } => Err(RegistryError::policy(
                NOT_APPROVED,
                format!("authority {path} was asked for and is not approved yet"),
            )),
        }
    }

    /// The parent of a new authority: in a URN namespace it must exist and not be retired; of a prefix it
    /// may be kept elsewhere.
    pub(crate) fn parent_of(
        &self,
        path: &AuthorityPath,
    ) -> Result<Option<AuthorityPath>, RegistryError> {
        let Some(parent) = path.parent() else {
            return Ok(None);
        };
        match self.active(&parent) {
            Ok(_) => Ok(Some(parent)),
            Err(RegistryError::NoAuthority(_)) if !path.is_urn() => Ok(None),
            // One that is only asked for keeps nobody from what was possible before.
            Err(RegistryError::Policy { code, .. }) if code == NOT_APPROVED && !path.is_urn() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the `HS_ADMIN` values of the prefix handle give someone a permission.
    pub(crate) fn prefix_grants(
        &self,
        who: &Principal,
        path: &AuthorityPath,
        needed: AdminPermissions,
    ) -> Result<bool, RegistryError> {
        // The protocol knows nobody but identities: for others the record need not be read.
        let (Principal::Identity { .. }, Some(prefix)) = (who, path.prefix()) else {
            return Ok(false);
        };
        match self.record(&prefix_key(&prefix))? {
            Some(record) => self.protocol_grants(who, needed, &record.values),
            None => Ok(false),
        }
    }

    /// Whether any name was ever given under an authority.
    pub(crate) fn has_names(&self, path: &AuthorityPath) -> Result<bool, RegistryError> {
        let start = path.start_of_names();
        let mut found = false;
        // By events, which stay when a name is erased.
        self.now.scan(
            &TableKey::event_of(start.as_bytes(), 0),
            &mut |table_key, _| {
                found = table_key.name().starts_with(start.as_bytes());
                ControlFlow::Break(())
            },
        )?;
        Ok(found)
    }
}

impl ChangeSet<'_> {
    /// Creating a child needs what changing one does, or the protocol's permission to create its prefix
    /// handle: for derived prefixes on the parent's, for others on `0.NA/0.NA` (`handle-protocol.md`
    /// §7.6). That is for creating alone.
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

    /// Approving, changing and retiring a child needs `lead` on its parent; without a parent here, the
    /// operator.
    pub(crate) fn need_over_child(
        &self,
        path: &AuthorityPath,
        parent: Option<&AuthorityPath>,
    ) -> Result<(), RegistryError> {
        match parent {
            Some(parent) => self.need(self.who(), Role::Lead, parent),
            None if self.may_do_all(self.who())? => Ok(()),
            // INFO-10: its own authority decides who names in a namespace.
            None if self.owns_path(path)? => Ok(()),
            None => Err(RegistryError::policy(
                "operator-only",
                format!("the parent of {path} is not kept here, so only the operator may do this"),
            )),
        }
    }

    /// Whether whoever acts owns the namespace that an authority is of.
    fn owns_path(&self, path: &AuthorityPath) -> Result<bool, RegistryError> {
        match path.namespace() {
            Some(name) => self.owns_namespace(self.who(), name),
            None => Ok(false),
        }
    }

    /// Retires an authority and, unless they are to go on, those below it that are in use: privileges derive from a parent
    /// (`URN-5`).
    pub(crate) fn retire(&mut self, path: &str, keep_children: bool) -> Result<(), RegistryError> {
        let path = self.path(path)?;
        let authority = self.active(&path)?;
        self.need_over_child(&path, authority.parent.clone().as_ref())?;
        let mut retired = vec![authority];
        if !keep_children {
            retired.extend(self.active_below(&path)?);
        }
        for mut authority in retired {
            authority.status = AuthorityStatus::Retired;
            self.store_authority(authority, Action::RetireAuthority)?;
        }
        Ok(())
    }

    /// The authorities below one that are in use.
    fn active_below(&self, path: &AuthorityPath) -> Result<Vec<Authority>, RegistryError> {
        let mut below = Vec::new();
        let from = TableKey::named(Table::Authorities, path.key().as_bytes());
        self.now.scan(&from, &mut |table_key, bytes| {
            let key = String::from_utf8_lossy(table_key.name());
            if !key.starts_with(path.key()) {
                return ControlFlow::Break(());
            }
            let authority = postcard::from_bytes::<Authority>(bytes).ok();
            below.extend(authority.filter(|authority| {
                key != path.key()
                    && path.is_above(&key)
                    && authority.status == AuthorityStatus::Active
            }));
            ControlFlow::Continue(())
        })?;
        Ok(below)
    }

    /// Whether a change that makes an authority permanent may be made by whoever acts, and that none of its names
    /// was erased; `None` for any other change.
    pub(crate) fn look_for_erased(
        &self,
        path: &AuthorityPath,
        change: &AuthorityChange,
    ) -> Result<Option<NothingErased>, RegistryError> {
        let authority = self.may_change(path, change)?;
        becomes_permanent(&authority, change)
            .then(|| check_nothing_erased(self, path))
            .transpose()
    }

    /// An authority that whoever acts may change.
    fn may_change(
        &self,
        path: &AuthorityPath,
        change: &AuthorityChange,
    ) -> Result<Authority, RegistryError> {
        let authority = self.active(path)?;
        let version = authority.version;
        if change.expects.is_some_and(|expected| expected != version) {
            return Err(other_version(&path.to_string(), version));
        }
        let local = change.case_sensitive.is_none()
            && change.persistence.is_none()
            && change.cordra.is_none()
            && change.default_ttl.is_none();
        let over_child = self.need_over_child(path, authority.parent.clone().as_ref());
        if over_child.is_err() {
            self.need(
                self.who(),
                if local { Role::Lead } else { Role::Admin },
                path,
            )?;
        }
        Ok(authority)
    }

    /// An authority with another title, meaning, contact or policy. That nothing was erased there may have been
    /// looked at before.
    pub(crate) fn changed(
        &self,
        path: &AuthorityPath,
        change: AuthorityChange,
        nothing_erased: Option<&NothingErased>,
    ) -> Result<Authority, RegistryError> {
        let mut authority = self.may_change(path, &change)?;
        let moves_keys = change
            .case_sensitive
            .is_some_and(|c| c != authority.policy.case_sensitive)
            || change.cordra.is_some_and(|c| c != authority.policy.cordra);
        let is_named = self.has_names(path)?;
        if moves_keys && is_named {
            return Err(RegistryError::policy(
                "case-fixed",
                format!("{path} has names: what they are looked up by cannot change any more"),
            ));
        }
        let becomes_erasable = change.persistence == Some(Persistence::Erasable)
            && authority.policy.persistence == Persistence::Permanent;
        if becomes_erasable && is_named {
            return Err(RegistryError::policy(
                "permanent",
                format!("{path} has given names that are permanent: they cannot become erasable"),
            ));
        }
        check_case_given(path, &change)?;
        check_pattern(&change)?;
        if becomes_permanent(&authority, &change) {
            check_still_nothing_erased(self, path, nothing_erased)?;
        }
        change.apply(&mut authority);
        check_authority(&authority)?;
        Ok(authority)
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
            let problem = format!("{prefix} is the name of a door of the web server");
            return Err(RegistryError::policy("reserved-prefix", problem));
        }
        if let Some(name) = path.namespace() {
            self.live_namespace(name, self.time())?;
        }
        // URN-8: a policy is copied to a new child, which may change it.
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
        check_case_given(path, &new.change)?;
        check_pattern(&new.change)?;
        new.change.apply(&mut authority);
        check_authority(&authority)?;
        Ok(authority)
    }

    /// Whether case counts under a new prefix that does not say (`HDL-6`).
    fn is_new_case_sensitive(&self, path: &AuthorityPath, change: &AuthorityChange) -> bool {
        self.rules().base.new_prefix_case() == CaseRule::Sensitive
            && change.cordra != Some(true)
            && path
                .prefix()
                .is_some_and(|prefix| !prefix.is_always_insensitive())
    }

    /// Makes the record of the prefix itself, `0.NA/PREFIX`.
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

fn becomes_permanent(authority: &Authority, change: &AuthorityChange) -> bool {
    change.persistence == Some(Persistence::Permanent)
        && authority.policy.persistence == Persistence::Erasable
}

/// The key of `0.NA/PREFIX`.
pub(crate) fn prefix_key(prefix: &Prefix<'_>) -> String {
    let text = format!("0.NA/{prefix}");
    Handle::from_stored(&text)
        .map(|h| h.key(handfast_id::CaseRule::default()).to_string())
        .unwrap_or_default()
}

impl AuthorityChange {
    fn apply(self, authority: &mut Authority) {
        let policy = &mut authority.policy;
        set(&mut authority.title, self.title);
        set(&mut authority.meaning, self.meaning);
        set(&mut authority.contact, self.contact);
        set(&mut policy.case_sensitive, self.case_sensitive);
        set(&mut policy.persistence, self.persistence);
        set(&mut policy.cordra, self.cordra);
        set(&mut policy.pattern, self.pattern);
        set(&mut policy.approval, self.approval);
        set(&mut policy.default_ttl, self.default_ttl);
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// The code of an authority that is asked for and not approved.
const NOT_APPROVED: &str = "not-approved";

/// The longest title, meaning or contact, in bytes.
const MAX_TEXT_BYTES: usize = 10_000;

fn check_authority(authority: &Authority) -> Result<(), RegistryError> {
    let texts = [&authority.title, &authority.meaning, &authority.contact];
    if texts.iter().any(|text| text.len() > MAX_TEXT_BYTES) {
        let problem =
            format!("title, meaning and contact have at most {MAX_TEXT_BYTES} bytes each");
        return Err(RegistryError::policy("too-large", problem));
    }
    check_policy(&authority.path, &authority.policy)
}

/// Case rule and profile are those of a prefix; elsewhere scheme and namespace have them.
fn check_case_given(path: &AuthorityPath, change: &AuthorityChange) -> Result<(), RegistryError> {
    if path.prefix().is_some() || change.case_sensitive.is_none() && change.cordra.is_none() {
        return Ok(());
    }
    let (code, problem) = if path.is_urn() {
        let problem = "the case rule of a URN belongs to its namespace (URN-3)";
        ("case-of-nid", problem)
    } else {
        let problem = "case and profile are chosen for prefixes only: here the scheme, or the entry of the namespace, says it";
        ("prefix-policy", problem)
    };
    Err(RegistryError::policy(code, format!("{path}: {problem}")))
}

/// Whether a pattern that is to be set is one, and cheap. Callers do so before they go to the one writer, which then finds
/// the pattern compiled.
fn check_pattern(change: &AuthorityChange) -> Result<(), RegistryError> {
    let Some(Some(pattern)) = &change.pattern else {
        return Ok(());
    };
    pattern_cache::check_new(pattern).map_err(|error| {
        let problem = format!("the pattern cannot be taken: {error}");
        let hint = "; if it is too big, write [A-Za-z0-9_] for \\w, [0-9] for \\d, and repeat less";
        RegistryError::policy("bad-pattern", problem + hint)
    })
}

fn check_policy(path: &AuthorityPath, policy: &Policy) -> Result<(), RegistryError> {
    let refuse =
        |code, problem: &str| Err(RegistryError::policy(code, format!("{path}: {problem}")));
    if ["info:ark", "info:doi", "info:hdl"].contains(&path.key()) {
        return refuse(
            "other-authority",
            "its names are handles, DOIs or ARKs and belong to their prefixes",
        );
    }
    if let Some(pattern) = &policy.pattern
        && let Err(error) = pattern_cache::compiled(pattern)
    {
        return refuse("bad-pattern", &format!("the pattern is not one: {error}"));
    }
    if path.is_urn() && policy.case_sensitive {
        return refuse(
            "case-of-nid",
            "the case rule of a URN belongs to its namespace (URN-3)",
        );
    }
    if path.is_urn() && policy.persistence == Persistence::Erasable {
        return refuse(
            "permanent",
            "a URN once assigned is never assigned again (URN-7)",
        );
    }
    if policy.cordra && policy.case_sensitive {
        return refuse(
            "case-of-cordra",
            "case never counts under a cordra authority (CID-11)",
        );
    }
    let Some(prefix) = path.prefix() else {
        if policy.cordra || policy.case_sensitive {
            return refuse(
                "prefix-policy",
                "case and profile are chosen for prefixes only",
            );
        }
        return Ok(());
    };
    if policy.cordra
        && prefix
            .as_str()
            .bytes()
            .any(|b| b != b'.' && !b.is_ascii_digit())
    {
        return refuse(
            "not-cordra",
            "a CORDRA naming authority is digits joined by dots (CID-2)",
        );
    }
    if policy.case_sensitive && prefix.is_always_insensitive() {
        return refuse(
            "always-insensitive",
            "case never counts under 10, 10.* and 0.* (HDL-6)",
        );
    }
    Ok(())
}
