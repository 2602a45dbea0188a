//! Which authorities a principal may list the names and events of.

use std::ops::ControlFlow;

use handfast_store::{Table, TableKey};
use handfast_wire::AdminPermissions;

use crate::access::principal::Principal;
use crate::authority::lineage::Lineage;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Role};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::lookup::known_roles::KnownRoles;
use crate::registry::Registry;

/// The authorities whose names and events a principal may list.
pub(crate) struct Listable {
    /// The authorities; `None` stands for all.
    pub(crate) authorities: Option<Vec<AuthorityPath>>,
    /// Whether reserved names are among them.
    pub(crate) with_reserved: bool,
}

impl Registry {
    /// Active authorities under which a principal may create names, by key and without their
    /// grants, up to a number.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// registry.create_authority(&Principal::Operator, "20.1000", NewAuthority::default())?;
    /// assert_eq!(registry.writable_authorities(&Principal::Operator, 10)?.len(), 1);
    /// assert!(registry.writable_authorities(&Principal::nobody(), 10)?.is_empty());
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    pub fn writable_authorities(
        &self,
        who: &Principal,
        limit: usize,
    ) -> Result<Vec<Authority>, RegistryError> {
        self.read(|view| {
            let mut found: Vec<Authority> = Vec::new();
            let mut roles = KnownRoles::of(view, who)?;
            for root in view.listable(who)? {
                let from = TableKey::named(Table::Authorities, root.as_bytes());
                view.scan_while(&from, |table_key, bytes| {
                    if !table_key.name().starts_with(root.as_bytes()) {
                        return Ok(false);
                    }
                    let Ok(mut authority) = postcard::from_bytes::<Authority>(bytes) else {
                        return Ok(true);
                    };
                    if authority.status == AuthorityStatus::Active
                        && !authority.path.is_delegating_root(view)
                        && roles.role(&authority)? >= Some(Role::Write)
                    {
                        authority.grants.clear();
                        found.push(authority);
                    }
                    Ok(found.len() < limit)
                })?;
                if found.len() >= limit {
                    break;
                }
            }
            Ok(found)
        })
    }
}

impl View<'_> {
    /// The authorities that a principal may list: all with a role, or one of them, alone or with
    /// those below it.
    pub(crate) fn listable_authorities(
        &self,
        who: &Principal,
        authority: Option<&str>,
        with_children: bool,
    ) -> Result<Listable, RegistryError> {
        let Some(authority) = authority else {
            let authorities = if self.may_do_all(who)? {
                None
            } else {
                Some(self.authorities_with_role(who)?)
            };
            return Ok(Listable {
                authorities,
                with_reserved: true,
            });
        };
        let path = self.path(authority)?;
        let Authority { path, status, .. } = self.existing_authority(&path)?;
        let with_reserved = self.role(who, &path)?.is_some();
        if !with_reserved && !self.prefix_grants(who, &path, AdminPermissions::LIST_HANDLES)? {
            // A request for an authority is not public.
            return Err(if status.is_in_force() {
                RegistryError::denied(Role::Read, &path)
            } else {
                RegistryError::NoAuthority(path)
            });
        }
        let mut authorities = vec![path.clone()];
        // A role holds for everything below; a permission of the protocol for one prefix.
        if with_children && with_reserved {
            let mut lineage = Lineage::of(self, path.key());
            self.visit_from(path.key(), &mut |below| {
                let is_other = below.path.key() != path.key();
                let derives = match &below.parent {
                    Some(parent) => lineage.derives(parent.key())?,
                    None => false,
                };
                if is_other && derives {
                    authorities.push(below.path);
                }
                Ok(())
            })?;
        }
        Ok(Listable {
            authorities: Some(authorities),
            with_reserved,
        })
    }

    /// The keys of all authorities.
    pub(crate) fn all_authority_keys(&self) -> Result<Vec<String>, RegistryError> {
        let mut keys = Vec::new();
        let from = TableKey::named(Table::Authorities, b"");
        self.scan_names(&from, |table_key, _| {
            keys.push(String::from_utf8_lossy(table_key.name()).into_owned());
            Ok(())
        })?;
        Ok(keys)
    }

    fn authorities_with_role(&self, who: &Principal) -> Result<Vec<AuthorityPath>, RegistryError> {
        let mut authorities = Vec::new();
        let mut roles = KnownRoles::of(self, who)?;
        for root in self.listable(who)? {
            self.visit_from(&root, &mut |below| {
                if roles.role(&below)?.is_some() {
                    authorities.push(below.path);
                }
                Ok(())
            })?;
        }
        Ok(authorities)
    }

    /// Visits the authorities whose keys begin with a text.
    fn visit_from(
        &self,
        start: &str,
        visit: &mut dyn FnMut(Authority) -> Result<(), RegistryError>,
    ) -> Result<(), RegistryError> {
        let mut found = Vec::new();
        let from = TableKey::named(Table::Authorities, start.as_bytes());
        self.now.scan(&from, &mut |table_key, bytes| {
            if !table_key.name().starts_with(start.as_bytes()) {
                return ControlFlow::Break(());
            }
            found.extend(postcard::from_bytes(bytes).ok());
            ControlFlow::Continue(())
        })?;
        found.into_iter().try_for_each(visit)
    }
}
