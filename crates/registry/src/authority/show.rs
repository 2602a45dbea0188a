//! Reading authorities.

use std::ops::ControlFlow;

use handfast_store::TableKey;
use handfast_wire::AdminPermissions;

use crate::access::principal::Principal;
use crate::authority::create::prefix_key;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus, Role};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::registry::Registry;

/// The error code for an authority that is requested and not approved.
const NOT_APPROVED: &str = "not-approved";

impl Registry {
    /// An authority, for the public register. Only principals with a role on it see its grants. One
    /// that is only requested exists for those who asked for it or have a role there.
    pub fn authority(&self, who: &Principal, path: &str) -> Result<Authority, RegistryError> {
        self.read(|view| {
            let path = view.path(path)?;
            view.need_visible(who, &path)?;
            let mut authority = view.existing_authority(&path)?;
            if view.role(who, &path)? < Some(Role::Read) {
                authority.grants.clear();
            }
            Ok(authority)
        })
    }

    /// All authorities that are in force, by key, without open requests.
    pub fn authorities(&self) -> Result<Vec<Authority>, RegistryError> {
        let mut all = Vec::new();
        self.visit_authorities(None, &mut |authority| {
            all.extend(Some(authority).filter(|found| found.status.is_in_force()));
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }
}

impl View<'_> {
    /// An authority that is registered here, in any status.
    pub(crate) fn existing_authority(
        &self,
        path: &AuthorityPath,
    ) -> Result<Authority, RegistryError> {
        self.authority(path)?
            .ok_or_else(|| RegistryError::NoAuthority(path.clone()))
    }

    /// Checks that an authority exists for a principal: a request for one is not public, and exists
    /// for those who asked for it, have a role there, or own its namespace.
    pub(crate) fn need_visible(
        &self,
        who: &Principal,
        path: &AuthorityPath,
    ) -> Result<(), RegistryError> {
        let authority = self.existing_authority(path)?;
        if self.is_visible(who, &authority)? {
            return Ok(());
        }
        Err(RegistryError::NoAuthority(path.clone()))
    }

    /// Whether an authority exists for a principal.
    pub(crate) fn is_visible(
        &self,
        who: &Principal,
        authority: &Authority,
    ) -> Result<bool, RegistryError> {
        let path = &authority.path;
        match &authority.status {
            AuthorityStatus::Active | AuthorityStatus::Retired => Ok(true),
            AuthorityStatus::Requested { by } if by == who => Ok(true),
            AuthorityStatus::Requested { .. } if self.role(who, path)?.is_some() => Ok(true),
            // INFO-10: the owner of a namespace decides who creates names in it.
            AuthorityStatus::Requested { .. } => match path.namespace() {
                Some(name) => self.owns_namespace(who, name),
                None => Ok(false),
            },
        }
    }

    /// Whether an authority is registered here and not only requested.
    pub(crate) fn is_in_force(&self, path: &AuthorityPath) -> Result<bool, RegistryError> {
        let found = self.authority(path)?;
        Ok(found.is_some_and(|authority| authority.status.is_in_force()))
    }

    /// An active authority.
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

    /// An active authority, for a principal that uses it. A request for an authority is not
    /// public: only those for whom it exists learn of it.
    pub(crate) fn active_for(
        &self,
        who: &Principal,
        path: &AuthorityPath,
    ) -> Result<Authority, RegistryError> {
        self.need_visible(who, path)?;
        self.active(path)
    }

    /// The parent of a new authority. In a URN namespace it must exist and not be retired; the
    /// parent of a prefix may be registered on another server.
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
            // A parent that is only requested must not block what was possible without it.
            Err(RegistryError::Policy { code, .. }) if code == NOT_APPROVED && !path.is_urn() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the `HS_ADMIN` values of the prefix handle grant a permission to a principal.
    pub(crate) fn prefix_grants(
        &self,
        who: &Principal,
        path: &AuthorityPath,
        needed: AdminPermissions,
    ) -> Result<bool, RegistryError> {
        // The protocol knows identities only: for other principals the record need not be read.
        let (Principal::Identity { .. }, Some(prefix)) = (who, path.prefix()) else {
            return Ok(false);
        };
        match self.record(&prefix_key(&prefix))? {
            Some(record) => self.protocol_grants(who, needed, &record.values),
            None => Ok(false),
        }
    }

    /// Whether an authority has ever had a name.
    pub(crate) fn has_names(&self, path: &AuthorityPath) -> Result<bool, RegistryError> {
        let start = path.start_of_names();
        let mut found = false;
        // The events tell, because they stay when a name is erased.
        self.scan_while(&TableKey::event_of(start.as_bytes(), 0), |table_key, _| {
            found = table_key.name().starts_with(start.as_bytes());
            Ok(false)
        })?;
        Ok(found)
    }
}
