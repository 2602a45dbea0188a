//! Creating the record of a prefix that was homed.
//!
//! On deployed servers HOME makes the server responsible for a prefix and nothing else, and the administrator who has done
//! it then creates `0.NA/PREFIX`. Here homing makes that record, empty: see `is_unwritten_prefix` in the registry.

use handfast_registry::Operation;

use crate::native::response::Fault;
use crate::native::{Authenticated, Native};

impl Native {
    /// By whose rights a handle is created: by those of whoever asks, but for the record of a prefix that was homed and
    /// never used. Administrators of the server, who may home it, say what is in that.
    pub(super) fn creator(
        &self,
        operation: &Operation,
        who: Option<&Authenticated>,
    ) -> Result<Option<Authenticated>, Fault> {
        let Some(who) = who else {
            return Ok(None);
        };
        let mut creator = who.clone();
        if let Operation::Create {
            handle,
            mint: false,
            ..
        } = operation
            && handfast_registry::prefix_of(handle).is_some()
            && self.registry.is_unused_prefix(handle)?
            && self.need_administrator(who).is_ok()
        {
            creator.who = self.acting(&who.who)?;
        }
        Ok(Some(creator))
    }
}
