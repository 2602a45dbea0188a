//! Creating the record of a prefix that was homed.
//!
//! On deployed servers HOME makes the server responsible for a prefix and nothing else, and the
//! administrator who has done it then creates `0.NA/PREFIX`. Here homing makes that record, empty:
//! see `is_unwritten_prefix` in the registry.

use handfast_registry::{Operation, prefix_of};

use crate::auth::login::Authenticated;
use crate::context::ServerContext;
use crate::error::Fault;

impl ServerContext {
    /// The principal that creates a handle, if it is not the caller: server administrators may
    /// create the record of a prefix that was homed and never used, because they may home it.
    pub(crate) fn creator(
        &self,
        operation: &Operation,
        who: Option<&Authenticated>,
    ) -> Result<Option<Authenticated>, Fault> {
        let (
            Some(who),
            Operation::Create {
                handle,
                mint: false,
                ..
            },
        ) = (who, operation)
        else {
            return Ok(None);
        };
        let is_meant = prefix_of(handle).is_some()
            && self.registry.is_unused_prefix(handle)?
            && self.need_administrator(who).is_ok();
        if !is_meant {
            return Ok(None);
        }
        Ok(Some(Authenticated {
            who: self.acting(&who.who)?,
            ..who.clone()
        }))
    }
}
