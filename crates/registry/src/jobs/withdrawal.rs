//! Withdrawing a list of names: which part of the list is stored.
//!
//! A list may be as long as a request, and stays until its job has ended. So rights are checked
//! first: a name that the principal may not change is rejected at once, and only its position in
//! the list is stored.

use std::collections::HashMap;

use handfast_wire::AdminPermissions;
use sha2::{Digest, Sha256};

use crate::access::principal::Principal;
use crate::authority::policy::Role;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::Outcome;
use crate::jobs::job::JobKind;
use crate::name::record::State;
use crate::name::withdraw::check_reason;
use crate::registry::Registry;

/// A withdrawal, as a job.
pub(crate) fn withdrawal(ids: &[String], reason: &str) -> JobKind {
    let mut hash = Sha256::new();
    for id in ids {
        hash.update(id);
        hash.update([0]);
    }
    JobKind::Withdraw {
        count: u64::try_from(ids.len()).unwrap_or(u64::MAX),
        fingerprint: hash.finalize().into(),
        reason: reason.to_string(),
    }
}

/// A list is rejected as a whole after this many names, if all of them were rejected.
const MAX_REFUSED_AT_START: usize = 1_000;

/// A list of names, some of them rejected.
#[derive(Default)]
pub(crate) struct Permitted {
    /// The names, with an empty text for each rejected one.
    pub(crate) list: Vec<String>,
    /// The rejected names, each with its line.
    pub(crate) refused: Vec<(u64, String)>,
}

impl Registry {
    /// Checks which names of a list a principal may withdraw; rejects the whole list if there are
    /// none.
    pub(crate) fn permitted(
        &self,
        who: &Principal,
        ids: &[String],
        reason: &str,
    ) -> Result<Permitted, RegistryError> {
        check_reason(reason)?;
        if ids.iter().all(|id| id.trim().is_empty()) {
            return Err(RegistryError::policy("no-names", "the list has no names"));
        }
        self.read(|view| {
            if view.may_do_all(who)? {
                return Ok(Permitted {
                    list: ids.to_vec(),
                    refused: Vec::new(),
                });
            }
            let mut roles = HashMap::new();
            let mut permitted = Permitted::default();
            // A missing role is the most useful reason.
            let (mut first, mut denied) = (None, None);
            for (line, id) in (1..).zip(ids) {
                // If the principal may change none of many names, the rest is not checked.
                let looked_at = permitted.list.len();
                if looked_at == MAX_REFUSED_AT_START && permitted.refused.len() == looked_at {
                    break;
                }
                match view.may_withdraw(who, id, &mut roles) {
                    Ok(()) => permitted.list.push(id.clone()),
                    Err(failure) if failure.is_failure() => return Err(failure),
                    Err(error) => {
                        permitted.list.push(String::new());
                        permitted.refused.push((line, id.clone()));
                        let said = match error {
                            RegistryError::Denied { .. } => &mut denied,
                            _ => &mut first,
                        };
                        said.get_or_insert(error);
                    }
                }
            }
            match denied.or(first) {
                Some(error) if permitted.refused.len() == permitted.list.len() => Err(error),
                _ => Ok(permitted),
            }
        })
    }

    /// Reports the names of a list that were rejected before its job started.
    pub(crate) fn report_refused(
        &self,
        who: &Principal,
        refused: &[(u64, String)],
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<(), RegistryError> {
        let mut roles = HashMap::new();
        for (line, id) in refused {
            let why = self.read(|view| Ok(view.may_withdraw(who, id, &mut roles)))?;
            let gone =
                |()| RegistryError::policy("not-now", "it was not permitted when the job began");
            let why = why.map_or_else(|error| error, gone);
            report(&Outcome::refused(*line, Some(id), &why));
        }
        Ok(())
    }
}

impl View<'_> {
    /// Checks that a principal may withdraw a name, as far as its roles can tell.
    fn may_withdraw(
        &self,
        who: &Principal,
        id: &str,
        roles: &mut HashMap<String, bool>,
    ) -> Result<(), RegistryError> {
        let (key, path) = self.place_of(id)?;
        let has_role = if let Some(has_role) = roles.get(path.key()) {
            *has_role
        } else {
            let has_role = self.role(who, &path)? >= Some(Role::Write);
            roles.insert(path.key().to_string(), has_role);
            has_role
        };
        if has_role {
            return Ok(());
        }
        let record = self.record(&key)?;
        let record = record.ok_or_else(|| RegistryError::NotFound(id.to_string()))?;
        let by_protocol = AdminPermissions::DELETE_HANDLE;
        if self.holds(who, Role::Write, &record)?
            || self.protocol_grants(who, by_protocol, &record.values)?
        {
            return Ok(());
        }
        if record.state == State::Reserved && !self.may_see(who, &path, &record)? {
            return Err(RegistryError::NotFound(id.to_string()));
        }
        Err(RegistryError::denied(Role::Write, &path))
    }
}
