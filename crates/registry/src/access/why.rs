//! Why a principal has a role: which grant, from whom, inherited from where.
//!
//! A stored grant has a principal and a role, and no more: its bytes are part of a commitment. Who
//! granted it, and when, is read from the earlier versions of the authority.

use std::collections::{BTreeMap, HashSet};

use handfast_store::{Table, TableKey};

use crate::access::account::Account;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Grant, Role};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

/// Why a principal has a role on an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The role.
    pub role: Role,
    /// The authority on which it was granted: this one, or one above it. Empty for an
    /// administrator, who has the role everywhere.
    pub authority: String,
    /// The group that it was granted to, if not to the principal itself.
    pub through: Option<String>,
    /// Who added the principal to that group, if that is known.
    pub joined_by: Option<Principal>,
    /// When it was added, in milliseconds since 1970, if that is known.
    pub joined_at: Option<u64>,
    /// Who granted it, if that is known.
    pub granted_by: Option<Principal>,
    /// When it was granted, in milliseconds since 1970, if that is known.
    pub granted_at: Option<u64>,
    /// The reason in the request for access that was granted.
    pub reason: Option<String>,
    /// Whether it was granted on an authority above.
    pub is_inherited: bool,
    /// Whether the principal is an administrator, who may do everything.
    pub is_administrator: bool,
}

/// A principal with a role on an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonHere {
    /// The account or the handle identity.
    pub who: Principal,
    /// The title of the account.
    pub title: String,
    /// Whether the account is suspended, so that it cannot use the role.
    pub is_suspended: bool,
    /// The strongest of its reasons.
    pub reason: Reason,
}

/// How many earlier versions of an authority are read to find out who granted a role.
const MAX_VERSIONS_READ: usize = 1_000;
/// The start of the keys, in the table `meta`, of the reasons of grants, by event.
const GRANT_REASONS: &[u8] = b"grant-reason:";

impl Registry {
    /// Why a principal has its role on an authority, strongest first; empty if it has none. The
    /// principal itself may ask, and a `lead` of the authority.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, Principal, Registry, Role, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// # let operator = Principal::Operator;
    /// # registry.create_authority(&operator, "20.1", NewAuthority::default())?;
    /// # registry.create_authority(&operator, "20.1.5", NewAuthority::default())?;
    /// let ann = Principal::parse("ann").unwrap();
    /// registry.grant(&operator, "20.1", &ann, Role::Write)?;
    /// let reasons = registry.why(&ann, &ann, "20.1.5")?;
    /// assert_eq!((reasons[0].role, reasons[0].authority.as_str()), (Role::Write, "20.1"));
    /// assert!(reasons[0].is_inherited);
    /// assert_eq!(reasons[0].granted_by, Some(operator));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn why(
        &self,
        who: &Principal,
        account: &Principal,
        authority: &str,
    ) -> Result<Vec<Reason>, RegistryError> {
        self.read(|view| {
            let path = view.path(authority)?;
            view.need_visible(who, &path)?;
            if who != account {
                view.need(who, Role::Lead, &path)?;
            }
            let mut reasons = Vec::new();
            if view.may_do_all(account)? {
                reasons.push(Reason::of_administrator());
            }
            for (depth, authority) in view.authorities_above(&path)?.iter().enumerate() {
                let mut wanted = Vec::new();
                for grant in &authority.grants {
                    if view.is_granted_to(account, &grant.to)? {
                        wanted.push(grant);
                    }
                }
                let granted = view.grant_events(authority, &wanted)?;
                for (grant, event) in wanted.into_iter().zip(granted) {
                    let through = group_of(account, grant);
                    let (joined_by, joined_at) = match &through {
                        Some(_) => view.joined(account, &grant.to)?,
                        None => (None, None),
                    };
                    reasons.push(Reason {
                        joined_by,
                        joined_at,
                        ..view.reason(authority, grant, event, depth > 0, through)?
                    });
                }
            }
            reasons.sort_by_key(|reason| std::cmp::Reverse(reason.strength()));
            Ok(reasons)
        })
    }

    /// Everybody who has a role on an authority, strongest role first, with the strongest reason of
    /// each. This needs the role `read` there.
    pub fn people(
        &self,
        who: &Principal,
        authority: &str,
    ) -> Result<Vec<PersonHere>, RegistryError> {
        self.read(|view| {
            let path = view.path(authority)?;
            view.need_visible(who, &path)?;
            view.need(who, Role::Read, &path)?;
            view.people(&path)
        })
    }
}

impl Reason {
    /// A grant on an authority of which nothing else is known.
    #[must_use]
    pub fn new(role: Role, authority: String) -> Self {
        Self {
            role,
            authority,
            through: None,
            joined_by: None,
            joined_at: None,
            granted_by: None,
            granted_at: None,
            reason: None,
            is_inherited: false,
            is_administrator: false,
        }
    }

    fn of_administrator() -> Self {
        Self {
            is_administrator: true,
            ..Self::new(Role::Admin, String::new())
        }
    }

    /// The higher role, then the more direct grant.
    fn strength(&self) -> (Role, bool, bool, bool) {
        (
            self.role,
            self.is_administrator,
            !self.is_inherited,
            self.through.is_none(),
        )
    }
}

impl View<'_> {
    /// An authority, its parent, and so on, as far as they are registered here.
    pub(crate) fn authorities_above(
        &self,
        path: &AuthorityPath,
    ) -> Result<Vec<Authority>, RegistryError> {
        let mut found = Vec::new();
        let mut next = self.authority(path)?;
        while let Some(authority) = next {
            next = match &authority.parent {
                Some(parent) => self.authority(parent)?,
                None => None,
            };
            found.push(authority);
        }
        Ok(found)
    }

    fn people(&self, path: &AuthorityPath) -> Result<Vec<PersonHere>, RegistryError> {
        let mut people: BTreeMap<String, (Principal, Reason)> = BTreeMap::new();
        let mut add = |who: Principal, reason: Reason| {
            let found = people.entry(who.key());
            let (_, best) = found.or_insert_with(|| (who, reason.clone()));
            if reason.strength() > best.strength() {
                *best = reason;
            }
        };
        for (depth, authority) in self.authorities_above(path)?.iter().enumerate() {
            let grants: Vec<_> = authority.grants.iter().collect();
            let granted = self.grant_events(authority, &grants)?;
            for (grant, event) in grants.into_iter().zip(granted) {
                let Principal::Group(name) = &grant.to else {
                    let reason = self.reason(authority, grant, event, depth > 0, None)?;
                    add(grant.to.clone(), reason);
                    continue;
                };
                let through = Some(name.clone());
                let reason = self.reason(authority, grant, event, depth > 0, through)?;
                let group = self.group(&grant.to)?;
                for member in group.into_iter().flat_map(|group| group.members) {
                    add(Principal::Account(member), reason.clone());
                }
            }
        }
        let mut accounts: BTreeMap<String, Account> = BTreeMap::new();
        self.scan_names(
            &TableKey::named(Table::Accounts, b"account:"),
            |_, bytes| {
                if let Some(account) = Account::from_bytes(bytes) {
                    let who = Principal::Account(account.name.clone());
                    if account.is_administrator && !account.is_suspended {
                        add(who.clone(), Reason::of_administrator());
                    }
                    accounts.insert(who.key(), account);
                }
                Ok(())
            },
        )?;
        let person = |(key, (who, reason)): (String, (Principal, Reason))| {
            let account = accounts.remove(&key);
            PersonHere {
                who,
                is_suspended: account.as_ref().is_some_and(|found| found.is_suspended),
                title: account.map(|found| found.title).unwrap_or_default(),
                reason,
            }
        };
        let mut listed: Vec<_> = people.into_iter().map(person).collect();
        listed.sort_by_key(|person| std::cmp::Reverse(person.reason.role));
        Ok(listed)
    }

    fn reason(
        &self,
        authority: &Authority,
        grant: &Grant,
        event: Option<u64>,
        is_inherited: bool,
        through: Option<String>,
    ) -> Result<Reason, RegistryError> {
        let granted = match event {
            Some(number) => self.event(number)?,
            None => None,
        };
        let granted_by = match &granted {
            Some(event) => self.actor(&event.actor)?,
            None => None,
        };
        let reason = match event {
            Some(number) => self.decode_stored(Table::Meta, &reason_key(number))?,
            None => None,
        };
        Ok(Reason {
            role: grant.role,
            authority: authority.path.to_string(),
            through,
            joined_by: None,
            joined_at: None,
            granted_by,
            granted_at: granted.map(|event| event.time),
            reason,
            is_inherited,
            is_administrator: false,
        })
    }

    /// Who added an account to a group, and when, as far as that is known.
    fn joined(
        &self,
        account: &Principal,
        group: &Principal,
    ) -> Result<(Option<Principal>, Option<u64>), RegistryError> {
        let event = match self.membership_event(account, group)? {
            Some(number) => self.event(number)?,
            None => None,
        };
        match event {
            Some(event) => Ok((self.actor(&event.actor)?, Some(event.time))),
            None => Ok((None, None)),
        }
    }

    /// For each grant of an authority, the event since which it has been there without a break;
    /// `None` if too many versions lie between.
    fn grant_events(
        &self,
        authority: &Authority,
        wanted: &[&Grant],
    ) -> Result<Vec<Option<u64>>, RegistryError> {
        let keys: Vec<_> = wanted.iter().map(|grant| grant_key(grant)).collect();
        let mut events = vec![None; keys.len()];
        let mut open: HashSet<usize> = (0..keys.len()).collect();
        let (mut version, mut since) = (authority.version, authority.last_event);
        for _ in 0..MAX_VERSIONS_READ {
            if open.is_empty() {
                break;
            }
            let before = match version.checked_sub(1) {
                None | Some(0) => None,
                Some(before) => self.authority_at(authority.path.key(), before)?,
            };
            let grants = before.as_ref().map(|before| before.grants.as_slice());
            let there: HashSet<_> = grants.unwrap_or_default().iter().map(grant_key).collect();
            open.retain(|at| {
                let stays = keys.get(*at).is_some_and(|key| there.contains(key));
                if let Some(event) = events.get_mut(*at).filter(|_| !stays) {
                    *event = Some(since);
                }
                stays
            });
            let Some(before) = before else {
                break;
            };
            (version, since) = (before.version, before.last_event);
        }
        Ok(events)
    }
}

/// The key, in the table `meta`, of the reason of the grant that an event made.
pub(crate) fn reason_key(event: u64) -> Vec<u8> {
    [GRANT_REASONS, &event.to_be_bytes()[..]].concat()
}

fn grant_key(grant: &Grant) -> (String, Role) {
    (grant.to.key(), grant.role)
}

/// The group that a grant counts through, if it was not granted to the principal itself.
pub(crate) fn group_of(account: &Principal, grant: &Grant) -> Option<String> {
    match &grant.to {
        Principal::Group(name) if grant.to != *account => Some(name.clone()),
        _ => None,
    }
}
