//! Retiring an authority: its names keep resolving, its path stays taken, and it creates no new
//! names.

use handfast_store::{Table, TableKey};

use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, AuthorityStatus};
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;

impl ChangeSet<'_> {
    /// Retires an authority and, unless `keep_children` is set, the active ones below it:
    /// privileges derive from a parent (`URN-5`).
    pub(crate) fn retire(&mut self, path: &str, keep_children: bool) -> Result<(), RegistryError> {
        let path = self.path(path)?;
        let authority = self.active(&path)?;
        self.need_over_child(&path, authority.parent.clone().as_ref())?;
        let mut retired = vec![authority];
        if !keep_children {
            retired.extend(self.active_below(&path)?);
        }
        for mut authority in retired {
            authority.status = AuthorityStatus::Retired;
            self.store_authority(authority, Action::RetireAuthority)?;
        }
        Ok(())
    }

    /// The active authorities below one.
    fn active_below(&self, path: &AuthorityPath) -> Result<Vec<Authority>, RegistryError> {
        let mut below = Vec::new();
        let from = TableKey::named(Table::Authorities, path.key().as_bytes());
        self.scan_names(&from, |table_key, bytes| {
            let key = String::from_utf8_lossy(table_key.name());
            let authority = postcard::from_bytes::<Authority>(bytes).ok();
            below.extend(authority.filter(|authority| {
                key != path.key()
                    && path.is_above(&key)
                    && authority.status == AuthorityStatus::Active
            }));
            Ok(())
        })?;
        Ok(below)
    }
}
