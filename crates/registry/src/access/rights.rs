//! Rights: may this principal do this?
//!
//! A principal may do what a role here allows, or what the protocol grants. Roles apply to the
//! whole subtree below the authority on which they were granted (`URN-5`), and a role of a group to
//! all of its members.

use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::Record;

impl View<'_> {
    /// The highest role that a principal has on an authority, by a grant there or above.
    pub(crate) fn role(
        &self,
        who: &Principal,
        path: &AuthorityPath,
    ) -> Result<Option<Role>, RegistryError> {
        if self.may_do_all(who)? {
            return Ok(Some(Role::Admin));
        }
        let mut highest = None;
        let mut is_within = is_for(who, path);
        let mut next = Some(path.clone());
        while let Some(path) = next {
            // A path that is not registered here has no grants, but one above it may have.
            let Some(authority) = self.authority(&path)? else {
                break;
            };
            for grant in &authority.grants {
                if Some(grant.role) > highest && self.is_granted_to(who, &grant.to)? {
                    highest = Some(grant.role);
                }
            }
            is_within |= is_for(who, &path);
            next = authority.parent;
        }
        Ok(match who {
            Principal::Limited { limit, .. } => highest
                .map(|role| role.min(limit.role))
                .filter(|_| is_within),
            _ => highest,
        })
    }

    /// Whether something that was granted to one principal counts for another: it is the same one,
    /// or a member of the group.
    pub(crate) fn is_granted_to(
        &self,
        who: &Principal,
        to: &Principal,
    ) -> Result<bool, RegistryError> {
        match (who, to) {
            (Principal::Account(_) | Principal::Limited { .. }, Principal::Group(_)) => {
                self.is_in_group(who, to)
            }
            _ => Ok(who == to),
        }
    }

    /// Whether a name was transferred to the principal, and the limit of its token allows the role.
    pub(crate) fn holds(
        &self,
        who: &Principal,
        needs: Role,
        record: &Record,
    ) -> Result<bool, RegistryError> {
        let is_holder = match &record.holder {
            Some(holder) => self.is_granted_to(who, holder)?,
            None => false,
        };
        if !is_holder {
            return Ok(false);
        }
        let Principal::Limited { limit, .. } = who else {
            return Ok(true);
        };
        let mut next = self.authority_by_key(&record.authority)?;
        let mut is_within = limit.authority.is_none();
        while let Some(authority) = next {
            is_within |= is_for(who, &authority.path);
            next = match &authority.parent {
                Some(parent) => self.authority(parent)?,
                None => None,
            };
        }
        Ok(is_within && limit.role >= needs)
    }

    /// Whether a principal is the operator or an administrator.
    pub(crate) fn may_do_all(&self, who: &Principal) -> Result<bool, RegistryError> {
        Ok(*who == Principal::Operator
            || self.is_one_of(who, self.administrators)?
            || self.administers(who)?)
    }

    /// Checks that a principal has at least a role. The error says which role is needed, and where.
    pub(crate) fn need(
        &self,
        who: &Principal,
        needs: Role,
        path: &AuthorityPath,
    ) -> Result<(), RegistryError> {
        if self.role(who, path)? >= Some(needs) {
            Ok(())
        } else {
            Err(RegistryError::denied(needs, path))
        }
    }
}

/// Whether the token of a principal, if it has one, covers an authority.
pub(crate) fn is_for(who: &Principal, path: &AuthorityPath) -> bool {
    match who {
        Principal::Limited { limit, .. } => {
            let mut authority = limit.authority.iter();
            authority.all(|authority| authority.key() == path.key())
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use handfast_wire::{Codec, Reference, ValueList};

    use crate::{Environment, NewAuthority, NewName, NewValue, Operation, Principal, Registry};

    #[test]
    fn administrators_may_do_all_by_index_and_by_group() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(|| 0, |bytes| bytes.fill(1));
        let registry = Registry::create(folder.path(), environment).unwrap();
        let operator = Principal::Operator;
        registry
            .create_authority(&operator, "20.1000", NewAuthority::default())
            .unwrap();
        let members = ValueList(vec![Reference::new("20.1000/ann", 300)]);
        let group = NewName {
            values: vec![NewValue::new(200, "HS_VLIST", &members.to_bytes())],
            ..NewName::default()
        };
        registry
            .create_name(&operator, "20.1000/group", group)
            .unwrap();
        let list = ["200:20.1000/group", "0:20.1000/eve", "bob"];
        let list = list.map(|who| Principal::parse(who).unwrap());
        let registry = registry.with_administrators(list.to_vec());
        let cases = [
            ("300:20.1000/ann", true),
            ("301:20.1000/ann", false),
            ("7:20.1000/eve", true),
            ("7:20.1000/EVE", false),
            ("200:20.1000/group", true),
            // The list contains identities only.
            ("bob", false),
        ];
        for (number, (who, may)) in cases.into_iter().enumerate() {
            let who = Principal::parse(who).unwrap();
            assert_eq!(registry.is_administrator(&who).unwrap(), may, "{who}");
            let prefix = format!("20.200{number}");
            let homed = registry.perform(&who, Operation::Home { prefix });
            assert_eq!(homed.is_ok(), may, "{who}");
        }
    }
}
