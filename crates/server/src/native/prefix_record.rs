//! Creating the record of a prefix that was homed.
//!
//! On deployed servers HOME makes the server responsible for a prefix and nothing else, and the
//! administrator who has done it then creates `0.NA/PREFIX`. Here homing makes that record, empty:
//! see `is_unwritten_prefix` in the registry.

use handfast_registry::{Operation, prefix_of};

use crate::native::Native;
use crate::native::login::Authenticated;
use crate::native::response::Fault;

impl Native {
    /// By whose rights a handle is created, if not by those of whoever asks: the record of a prefix
    /// that was homed and never used is for administrators of the server, who may home it.
    pub(super) fn creator(
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
