//! The tree of authorities, and what a principal may do on one, for interfaces that show only what
//! works.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use crate::access::principal::Principal;
use crate::authority::lineage::MAX_DEPTH;
use crate::authority::policy::{Authority, AuthorityStatus, Role};
use crate::error::RegistryError;
use crate::lookup::derived::counts::StateCounts;
use crate::registry::Registry;

/// An authority in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityNode {
    /// Its path, as people write it.
    pub path: String,
    /// Its key.
    pub key: String,
    /// The key of the authority that it was created under.
    pub parent: Option<String>,
    /// A title for people.
    pub title: String,
    /// Whether it is retired.
    pub is_retired: bool,
    /// The number of its names, and of those below it, that the principal may know of.
    pub names: u64,
}

/// What a principal may do on an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RightsOn {
    /// Its role, by a grant there or above.
    pub role: Option<Role>,
    /// Whether it may approve, change and retire the authority as one that is below another: this
    /// takes `lead` on the parent.
    pub is_over: bool,
}

impl RightsOn {
    /// Whether the role is at least another one.
    #[must_use]
    pub fn has(&self, role: Role) -> bool {
        self.role >= Some(role)
    }
}

impl Registry {
    /// All authorities in force, by key. Their numbers have reserved names only where the principal
    /// has a role.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, NewName, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// registry.create_authority(&operator, "20.1.5", NewAuthority::default())?;
    /// let reserved = NewName { reserve: true, ..NewName::default() };
    /// registry.create_name(&operator, "20.1.5/a", reserved)?;
    ///
    /// let tree = registry.authority_tree(&operator)?;
    /// assert_eq!(tree[1].parent.as_ref(), Some(&tree[0].key));
    /// assert_eq!((tree[0].names, tree[1].names), (1, 1));
    /// assert_eq!(registry.authority_tree(&Principal::nobody())?[1].names, 0);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn authority_tree(&self, who: &Principal) -> Result<Vec<AuthorityNode>, RegistryError> {
        let counts = self.counts_of_all()?;
        let sees_all = self.is_administrator(who)?;
        let mut granted: HashSet<String> = HashSet::new();
        for role in self.roles_granted_to(who, usize::MAX)? {
            granted.insert(self.read(|view| Ok(view.path(&role.authority)?.key().to_string()))?);
        }
        let mut parents: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut tree = Vec::new();
        self.visit_authorities(None, &mut |authority| {
            if authority.status.is_in_force() {
                let node = AuthorityNode::new(&authority);
                parents.insert(node.key.clone(), node.parent.clone());
                tree.push(node);
            }
            ControlFlow::Continue(())
        })?;
        for node in &mut tree {
            let found = counts.get(&node.key).map(|counts| counts.with_children);
            let found: StateCounts = found.unwrap_or_default();
            let mut is_seen = sees_all;
            let mut next = Some(&node.key);
            for _ in 0..MAX_DEPTH {
                let Some(key) = next.filter(|_| !is_seen) else {
                    break;
                };
                is_seen = granted.contains(key);
                next = parents.get(key).and_then(Option::as_ref);
            }
            node.names = if is_seen {
                found.total()
            } else {
                found.public()
            };
        }
        Ok(tree)
    }

    /// What a principal may do on an authority.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, Principal, Registry, Role, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// registry.create_authority(&operator, "20.1.5", NewAuthority::default())?;
    /// let ann = Principal::parse("ann").unwrap();
    /// registry.grant(&operator, "20.1", &ann, Role::Lead)?;
    /// assert!(!registry.rights_on(&ann, "20.1")?.is_over);
    /// assert!(registry.rights_on(&ann, "20.1.5")?.is_over);
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn rights_on(&self, who: &Principal, authority: &str) -> Result<RightsOn, RegistryError> {
        self.dry_run(who, |change_set| {
            let path = change_set.path(authority)?;
            let parent = change_set.existing_authority(&path)?.parent;
            let over = change_set.need_over_child(&path, parent.as_ref());
            Ok(RightsOn {
                role: change_set.role(change_set.who(), &path)?,
                is_over: over.is_ok(),
            })
        })
    }
}

impl AuthorityNode {
    fn new(authority: &Authority) -> Self {
        let parent = authority.parent.as_ref();
        Self {
            path: authority.path.to_string(),
            key: authority.path.key().to_string(),
            parent: parent.map(|parent| parent.key().to_string()),
            title: authority.title.clone(),
            is_retired: authority.status == AuthorityStatus::Retired,
            names: 0,
        }
    }
}
