//! `BACKUP_SERVER`: deployed servers write a checkpoint of their storage.

use crate::auth::login::Authenticated;
use crate::error::Fault;
use crate::native::Native;
use crate::native::operations::{Asked, Done};

impl Native {
    /// Answers administrators that it is done. There is nothing to do: every change is on disk
    /// before it is acknowledged, and a copy of the folder is made by `handfast backup`.
    pub(crate) fn checkpoint(&self, who: Option<&Authenticated>) -> Result<Asked, Fault> {
        let Some(who) = who else {
            return Ok(Asked::Who);
        };
        self.context.need_administrator(who)?;
        Ok(Done::empty().into())
    }
}
