//! What waits for a principal: decisions that only some may make, and names that were reserved.

use std::sync::Arc;

use handfast_store::{Snapshot, Table, TableKey};

use crate::access::access_request::AccessRequest;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Role};
use crate::authority::request_list::AuthorityRequest;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::lookup::derived::counts::{StateCounts, stored_counts};
use crate::lookup::derived::environment::Position;
use crate::namespace::{NamespaceEntry, NamespaceStatus};
use crate::registry::Registry;

/// What waits for a decision of a principal.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// Requests for access that it may grant, oldest first.
    pub access: Vec<AccessRequest>,
    /// Requests for authorities that it may approve.
    pub authorities: Vec<AuthorityRequest>,
    /// Candidates, and entries that someone claims, that it may decide.
    pub namespaces: Vec<Arc<NamespaceEntry>>,
    /// Its authorities that have reserved names which it may activate.
    pub reserved: Vec<OwnAuthority>,
    /// All authorities on which it has a role; for one that may do everything, also those that no
    /// other authority created.
    pub own: Vec<OwnAuthority>,
    /// The last event whose effects are in the numbers of names.
    pub as_of_event: u64,
}

/// An authority on which a principal has a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnAuthority {
    /// Its path, as people write it.
    pub authority: String,
    /// Its key.
    pub key: String,
    /// A title for people.
    pub title: String,
    /// The role that was granted there; `None` for a principal that may do everything without.
    pub role: Option<Role>,
    /// The number of its own names, without those of authorities below it.
    pub counts: StateCounts,
}

/// The maximum number of authorities that are looked at. Requests for authorities beyond them are
/// on the pages of the authorities above them.
const MAX_AUTHORITIES: usize = 20_000;
/// The maximum number of authorities of a principal whose names are counted.
const MAX_OWN: usize = 500;

impl Waiting {
    /// The number of decisions.
    #[must_use]
    pub fn decisions(&self) -> usize {
        self.access.len() + self.authorities.len() + self.namespaces.len() + self.reserved.len()
    }
}

impl Registry {
    /// What waits for a principal, at most `limit` of each kind. The work is bounded.
    ///
    /// ```
    /// # use handfast_registry::{Environment, NewAuthority, Principal, Registry, Role};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// registry.create_account(&operator, "ann", "")?;
    /// let ann = Principal::parse("ann").unwrap();
    /// registry.request_access(&ann, "20.1", Role::Write, "For the maps")?;
    /// assert_eq!(registry.waiting(&operator, 10)?.decisions(), 1);
    /// assert_eq!(registry.waiting(&ann, 10)?.decisions(), 0);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn waiting(&self, who: &Principal, limit: usize) -> Result<Waiting, RegistryError> {
        let mut waiting = self.dry_run(who, |change_set| change_set.waiting(limit))?;
        if let Ok(derived) = self.current_derived() {
            derived.read(|now| Ok(waiting.count(now)))??;
        }
        waiting.reserved.retain(|own| own.counts.reserved > 0);
        waiting.reserved.truncate(limit);
        waiting.own.truncate(limit);
        Ok(waiting)
    }
}

impl Waiting {
    /// Sets the numbers of names.
    fn count(&mut self, derived: &Snapshot<'_>) -> Result<(), RegistryError> {
        for own in self.own.iter_mut().chain(&mut self.reserved) {
            own.counts = stored_counts(derived, &own.key)?;
        }
        self.as_of_event = Position::of(derived)?.unwrap_or_default().event;
        Ok(())
    }
}

impl ChangeSet<'_> {
    fn waiting(&self, limit: usize) -> Result<Waiting, RegistryError> {
        let who = self.who();
        let mut waiting = Waiting::default();
        for request in self.all_requests()? {
            let is_others = request.is_open() && !request.is_of(who);
            if is_others && self.may_decide(who, &request)? {
                waiting.access.push(request);
            }
        }
        waiting
            .access
            .sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        waiting.access.truncate(limit);
        waiting.namespaces = self.namespaces_to_decide(limit)?;
        let sees_all = self.may_do_all(who)?;
        let mut left = MAX_AUTHORITIES;
        let from = TableKey::named(Table::Authorities, b"");
        self.scan_while(&from, |_, bytes| {
            // A damaged authority is reported where it is read.
            if let Ok(authority) = postcard::from_bytes::<Authority>(bytes) {
                self.look_at_authority(authority, sees_all, limit, &mut waiting)?;
            }
            left -= 1;
            Ok(left > 0)
        })?;
        Ok(waiting)
    }

    fn look_at_authority(
        &self,
        authority: Authority,
        sees_all: bool,
        limit: usize,
        waiting: &mut Waiting,
    ) -> Result<(), RegistryError> {
        let who = self.who();
        if let AuthorityStatus::Requested { by } = &authority.status {
            let may_decide = by != who
                && waiting.authorities.len() < limit
                && self
                    .need_over_child(&authority.path, authority.parent.as_ref())
                    .is_ok();
            if may_decide {
                let request = self.open_request(&authority, by.clone())?;
                waiting.authorities.push(request);
            }
            return Ok(());
        }
        let mut role = None;
        for grant in &authority.grants {
            if Some(grant.role) > role && self.is_granted_to(who, &grant.to)? {
                role = Some(grant.role);
            }
        }
        let is_root = sees_all && authority.parent.is_none();
        if role.is_none() && !is_root || waiting.own.len() >= limit.max(MAX_OWN) {
            return Ok(());
        }
        // A name that needs an approval is activated by a `lead`.
        let needs = if authority.policy.approval {
            Role::Lead
        } else {
            Role::Write
        };
        let own = OwnAuthority {
            authority: authority.path.to_string(),
            key: authority.path.key().to_string(),
            title: authority.title,
            role,
            counts: StateCounts::default(),
        };
        if role >= Some(needs) {
            waiting.reserved.push(own.clone());
        }
        waiting.own.push(own);
        Ok(())
    }

    /// Candidates and claims of others, if the principal decides about namespaces.
    fn namespaces_to_decide(
        &self,
        limit: usize,
    ) -> Result<Vec<Arc<NamespaceEntry>>, RegistryError> {
        let who = self.who();
        if self.role(who, &AuthorityPath::info_root())? < Some(Role::Lead) {
            return Ok(Vec::new());
        }
        let all = self.namespaces()?;
        let waits = |entry: &&Arc<NamespaceEntry>| {
            let asks = if entry.status == NamespaceStatus::Candidate {
                entry.owner.as_ref()
            } else if entry.claim_pending {
                entry.claimant.as_ref()
            } else {
                return false;
            };
            asks != Some(who)
        };
        let waiting = all.entries.iter().filter(waits).take(limit);
        Ok(waiting.map(Arc::clone).collect())
    }
}
