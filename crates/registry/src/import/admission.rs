//! Who may import anything at all.

use std::ops::ControlFlow;

use handfast_store::{Table, TableKey};

use crate::access::principal::Principal;
use crate::authority::policy::{Authority, Role};
use crate::error::RegistryError;
use crate::registry::Registry;

impl Registry {
    /// Whether someone could have any line of an import accepted, as far as that is known before it is read: an account
    /// needs the role `write`, or a higher one, on some authority. Rights on each name are looked at later.
    ///
    /// Whoever takes what others send asks this before storing any of it.
    pub fn may_import(&self, who: &Principal) -> Result<(), RegistryError> {
        let refused = || {
            let problem = "an import needs the role write, or a higher one, on some authority";
            RegistryError::policy("no-role", problem)
        };
        self.read(|view| {
            if view.may_do_all(who)? {
                return Ok(());
            }
            match who {
                // What the protocol grants them stands in the records of prefixes.
                Principal::Identity { .. } => return Ok(()),
                Principal::Limited { limit, .. } if limit.role < Role::Write => {
                    return Err(refused());
                }
                _ => {}
            }
            let mut has_role = false;
            view.now.scan(
                &TableKey::named(Table::Authorities, b""),
                &mut |_, bytes| {
                    // One that cannot be read grants nothing.
                    let grants = postcard::from_bytes::<Authority>(bytes).map(|found| found.grants);
                    let mut grants = grants.unwrap_or_default().into_iter();
                    has_role = grants.any(|grant| grant.role >= Role::Write && grant.to == *who);
                    if has_role {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                },
            )?;
            has_role.then_some(()).ok_or_else(refused)
        })
    }
}
