//! `BACKUP_SERVER`: deployed servers write a checkpoint of their storage.

use crate::auth::login::Authenticated;
use crate::error::Fault;
use crate::native::Native;
use crate::native::operations::{OperationReply, Outcome};

impl Native {
    /// Answers administrators that it is done. There is nothing to do: every change is on disk
    /// before it is acknowledged, and a copy of the folder is made by `handfast backup`.
    pub(crate) fn checkpoint(&self, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let Some(who) = who else {
            return Ok(Outcome::LoginNeeded);
        };
        self.context.need_administrator(who)?;
        Ok(OperationReply::empty().into())
    }
}
