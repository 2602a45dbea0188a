//! Who may start an import at all.

use handfast_store::{Table, TableKey};

use crate::access::principal::Principal;
use crate::authority::policy::{Authority, Role};
use crate::error::RegistryError;
use crate::registry::Registry;

impl Registry {
    /// Checks that a principal could have any line of an import accepted, as far as that is known
    /// before reading it: an account needs at least the role `write` on some authority. The rights
    /// on each name are checked later.
    ///
    /// A server calls this before it stores any of an upload.
    pub fn may_import(&self, who: &Principal) -> Result<(), RegistryError> {
        let refused = || {
            let account = who.lasting();
            let problem = format!(
                "an import needs the role write, or a higher one, on some authority: someone with \
                 role lead or admin there, or the operator, can run `handfast authority grant \
                 AUTHORITY --to {account} --role write`"
            );
            RegistryError::policy("no-role", problem)
        };
        self.read(|view| {
            if view.may_do_all(who)? {
                return Ok(());
            }
            match who {
                // The grants of the protocol are in the records of prefixes.
                Principal::Identity { .. } => return Ok(()),
                Principal::Limited { limit, .. } if limit.role < Role::Write => {
                    let problem = format!(
                        "an import needs the role write, and this token has the role {} at most: \
                         its account can have another one, by `handfast token create {} --role \
                         write`",
                        limit.role,
                        who.lasting()
                    );
                    return Err(RegistryError::policy("no-role", problem));
                }
                _ => {}
            }
            let mut has_role = false;
            view.scan_while(&TableKey::named(Table::Authorities, b""), |_, bytes| {
                // An authority that cannot be read grants nothing.
                let grants = postcard::from_bytes::<Authority>(bytes).map(|found| found.grants);
                for grant in grants.unwrap_or_default() {
                    has_role |= grant.role >= Role::Write && view.is_granted_to(who, &grant.to)?;
                }
                Ok(!has_role)
            })?;
            has_role.then_some(()).ok_or_else(refused)
        })
    }
}
