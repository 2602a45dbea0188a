//! Withdrawing a name, restoring it, and erasing it.
//!
//! A withdrawn name stays assigned and leaves a tombstone. Only an authority whose names are not
//! permanent can erase one.

use handfast_wire::AdminPermissions;

use crate::authority::policy::Persistence;
use crate::change::change_set::ChangeSet;
use crate::error::RegistryError;
use crate::log::event::Action;
use crate::name::record::{State, Tombstone};
use crate::name::states::{Name, prefix_record};

/// The maximum length of the reason of a withdrawal, in bytes.
const MAX_REASON_BYTES: usize = handfast_api::limits::WITHDRAWAL_REASON;

/// Checks the reason of a withdrawal.
pub(crate) fn check_reason(reason: &str) -> Result<(), RegistryError> {
    if reason.trim().is_empty() || reason.len() > MAX_REASON_BYTES {
        let problem = format!("a reason is needed, of at most {MAX_REASON_BYTES} bytes");
        return Err(RegistryError::policy("bad-reason", problem));
    }
    Ok(())
}

impl Name {
    /// Withdraws it and leaves a tombstone.
    pub(crate) fn withdraw(
        &mut self,
        change_set: &ChangeSet<'_>,
        tombstone: Tombstone,
    ) -> Result<Action, RegistryError> {
        let by_protocol = AdminPermissions::DELETE_HANDLE;
        if !change_set.protocol_grants(change_set.who(), by_protocol, &self.record.values)? {
            self.need(change_set, self.role_for_all())?;
        }
        match self.record.state {
            State::Active => {}
            State::Reserved => {
                return Err(self.in_state("activate it first: it was never public"));
            }
            State::Withdrawn => return Err(self.in_state("nothing is left to do")),
        }
        if self.is_prefix() {
            return Err(prefix_record());
        }
        self.check_tombstone(change_set, &tombstone)?;
        self.record.state = State::Withdrawn;
        self.record.tombstone = Some(tombstone);
        Ok(Action::Withdraw)
    }

    fn check_tombstone(
        &self,
        change_set: &ChangeSet<'_>,
        tombstone: &Tombstone,
    ) -> Result<(), RegistryError> {
        check_reason(&tombstone.reason)?;
        if let Some(successor) = &tombstone.successor {
            let successor = change_set.identify(successor)?;
            if successor.key(&**change_set).as_str() == self.key {
                let problem = "a name cannot succeed itself";
                return Err(RegistryError::policy("bad-successor", problem));
            }
        }
        Ok(())
    }

    /// Writes the successor as it is registered, or in its usual form: not as a person typed it.
    pub(crate) fn settle_successor(
        &mut self,
        change_set: &ChangeSet<'_>,
    ) -> Result<(), RegistryError> {
        let tombstone = self.record.tombstone.as_mut();
        let Some(successor) = tombstone.and_then(|found| found.successor.as_mut()) else {
            return Ok(());
        };
        let identifier = change_set.identify(successor)?;
        let record = change_set.record(identifier.key(&**change_set).as_str())?;
        let text = match record {
            Some(record) if record.state != State::Reserved => record.text,
            _ => identifier.canonical(&**change_set),
        };
        *successor = text;
        Ok(())
    }

    /// Makes it active again.
    pub(crate) fn restore(&mut self, change_set: &ChangeSet<'_>) -> Result<Action, RegistryError> {
        self.need(change_set, self.role_for_all())?;
        if self.record.state != State::Withdrawn {
            return Err(self.in_state("only a withdrawn name can be restored"));
        }
        self.record.state = State::Active;
        self.record.tombstone = None;
        Ok(Action::Restore)
    }
}

impl ChangeSet<'_> {
    /// Erases a name, and returns the number of the event.
    pub(crate) fn erase(&mut self, name: &Name) -> Result<u64, RegistryError> {
        name.need(self, name.role_for_all())?;
        if name.is_prefix() {
            return Err(prefix_record());
        }
        // A record without salt was permanent when it was created, whatever its authority says now.
        if name.persistence() == Persistence::Permanent || name.record.salt.is_none() {
            let problem = format!(
                "{} is permanent: withdraw the name instead",
                name.authority.path
            );
            return Err(RegistryError::policy("permanent", problem));
        }
        Ok(self.erase_record(&name.key, &name.record))
    }
}
