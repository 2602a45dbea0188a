//! Which authorities a principal may list the names and events of.

use std::ops::ControlFlow;

use handfast_store::{Table, TableKey};
use handfast_wire::AdminPermissions;

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Role};
use crate::change::view::View;
use crate::error::RegistryError;

/// The authorities whose names and events a principal may list.
pub(crate) struct Listable {
    /// The authorities; `None` stands for all.
    pub(crate) authorities: Option<Vec<AuthorityPath>>,
    /// Whether reserved names are among them.
    pub(crate) with_reserved: bool,
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
        let path = self.existing_authority(&path)?.path;
        let with_reserved = self.role(who, &path)?.is_some();
        if !with_reserved && !self.prefix_grants(who, &path, AdminPermissions::LIST_HANDLES)? {
            return Err(RegistryError::denied(Role::Read, &path));
        }
        let mut authorities = vec![path.clone()];
        // A role holds for everything below; a permission of the protocol for one prefix.
        if with_children && with_reserved {
            self.visit_from(path.key(), &mut |below| {
                let is_other = below.path.key() != path.key();
                if is_other && self.derives_from(below.path.key(), path.key())? {
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

    fn authorities_with_role(&self, who: &Principal) -> Result<Vec<AuthorityPath>, RegistryError> {
        let mut authorities = Vec::new();
        for root in self.listable(who)? {
            self.visit_from(&root, &mut |below| {
                if self.role(who, &below.path)?.is_some() {
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
