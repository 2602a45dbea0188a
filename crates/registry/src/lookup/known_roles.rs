//! The roles of a principal on many authorities.
//!
//! A list asks for the role on each of thousands of authorities, most of which have the same
//! parents. Here each authority is read once, and so are the groups of the principal.

use std::collections::HashMap;

use crate::access::principal::Principal;
use crate::access::rights::is_for;
use crate::authority::policy::{Authority, Role};
use crate::change::view::View;
use crate::error::RegistryError;

/// The roles of a principal, as far as they were asked for.
pub(crate) struct KnownRoles<'v> {
    view: &'v View<'v>,
    who: &'v Principal,
    may_do_all: bool,
    /// The groups of which the principal is a member, by their keys.
    granted_to: Vec<String>,
    known: HashMap<String, KnownRole>,
}

/// What counts for an authority and for all below it.
#[derive(Clone, Copy)]
struct KnownRole {
    highest: Option<Role>,
    /// Whether the limit of a token allows it.
    is_within: bool,
}

impl<'v> KnownRoles<'v> {
    pub(crate) fn of(view: &'v View<'v>, who: &'v Principal) -> Result<Self, RegistryError> {
        let mut granted_to = vec![who.key()];
        if matches!(who, Principal::Account(_) | Principal::Limited { .. }) {
            let groups = view.groups_of(who)?.into_iter();
            granted_to.extend(groups.map(|name| Principal::Group(name).key()));
        }
        Ok(Self {
            view,
            who,
            may_do_all: view.may_do_all(who)?,
            granted_to,
            known: HashMap::new(),
        })
    }

    /// Whether an authority itself grants the principal a role.
    pub(crate) fn is_granted_on(&self, authority: &Authority) -> bool {
        let mut grants = authority.grants.iter();
        grants.any(|grant| self.granted_to.contains(&grant.to.key()))
    }

    /// The highest role on an authority: the same as [`View::role`] finds.
    pub(crate) fn role(&mut self, authority: &Authority) -> Result<Option<Role>, RegistryError> {
        if self.may_do_all {
            return Ok(Some(Role::Admin));
        }
        let mut found = KnownRole {
            highest: None,
            is_within: false,
        };
        // From the authority upwards, until one is known.
        let mut unknown = vec![(authority.path.key().to_string(), self.own(authority))];
        let mut parent = authority.parent.clone();
        while let Some(path) = parent {
            if let Some(known) = self.known.get(path.key()) {
                found.highest = known.highest;
                found.is_within |= known.is_within;
                break;
            }
            let above = self.view.authority(&path)?;
            let is_cycle = unknown.iter().any(|(key, _)| key == path.key());
            let Some(above) = above.filter(|_| !is_cycle) else {
                break;
            };
            unknown.push((path.key().to_string(), self.own(&above)));
            parent = above.parent;
        }
        while let Some((key, own)) = unknown.pop() {
            found.highest = found.highest.max(own.highest);
            found.is_within |= own.is_within;
            self.known.insert(key, found);
        }
        Ok(match self.who {
            Principal::Limited { limit, .. } => found
                .highest
                .map(|role| role.min(limit.role))
                .filter(|_| found.is_within),
            _ => found.highest,
        })
    }

    fn own(&self, authority: &Authority) -> KnownRole {
        let grants = authority.grants.iter();
        let own = grants.filter(|grant| self.granted_to.contains(&grant.to.key()));
        KnownRole {
            highest: own.map(|grant| grant.role).max(),
            is_within: is_for(self.who, &authority.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::principal::Limit;
    use crate::{Environment, NewAuthority, Registry};

    /// Each principal asks for all authorities, in either order, and gets what `View::role` finds.
    #[test]
    fn a_known_role_is_the_role() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
        let registry = Registry::create(folder.path(), environment).unwrap();
        let operator = Principal::Operator;
        let paths = ["20.1", "20.1.2", "20.1.2.3", "20.1.4", "20.5"];
        for path in paths {
            let new = NewAuthority::default();
            registry.create_authority(&operator, path, new).unwrap();
        }
        for account in ["ann", "ben", "eve"] {
            registry.create_account(&operator, account, "").unwrap();
        }
        registry.create_group(&operator, "staff", "").unwrap();
        registry.add_to_group(&operator, "staff", "Ben").unwrap();
        for (path, to, role) in [
            ("20.1", "ann", Role::Read),
            ("20.1.2", "ann", Role::Lead),
            ("20.1.2", "group:staff", Role::Write),
            ("20.1.2.3", "ben", Role::Read),
            ("20.5", "eve", Role::Admin),
        ] {
            let to = Principal::parse(to).unwrap();
            registry.grant(&operator, path, &to, role).unwrap();
        }
        let limited = |account: &str, authority: Option<&str>, role| {
            let path = |text: &str| registry.authority(&operator, text).unwrap().path;
            Principal::Limited {
                account: account.to_string(),
                limit: Limit {
                    authority: authority.map(path),
                    role,
                },
            }
        };
        let everybody = [
            Principal::Account("Ann".to_string()),
            Principal::Account("ben".to_string()),
            Principal::Account("eve".to_string()),
            limited("ann", None, Role::Write),
            limited("ann", Some("20.1.2"), Role::Write),
            limited("ann", Some("20.1.2.3"), Role::Admin),
            limited("ben", Some("20.1"), Role::Read),
            Principal::nobody(),
            Principal::Operator,
        ];
        let read = registry.read(|view| {
            for who in &everybody {
                for is_reversed in [false, true] {
                    let mut roles = KnownRoles::of(view, who)?;
                    let mut paths = paths.to_vec();
                    if is_reversed {
                        paths.reverse();
                    }
                    for path in paths {
                        let authority = view.existing_authority(&view.path(path)?)?;
                        let expected = view.role(who, &authority.path)?;
                        assert_eq!(roles.role(&authority)?, expected, "{who} on {path}");
                    }
                }
            }
            Ok(())
        });
        read.unwrap();
    }
}
