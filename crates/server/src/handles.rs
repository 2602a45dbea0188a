//! Reading handles: the values that a caller may see, for the native protocol and the REST API.
//!
//! Values come from the registry, from a template of their prefix, or from a `DSpace` repository.

use std::ops::ControlFlow;

use handfast_id::Handle;
use handfast_registry::{AuthorityStatus, NewValue, Principal, Reading, Record, RecordRef, State};
use handfast_wire::body::ResolutionRequest;
use handfast_wire::json::ParsedValue;
use handfast_wire::{Reference, ResponseCode, Value};

use crate::auth::login::Authenticated;
use crate::context::ServerContext;
use crate::error::Fault;

/// The public values of a stored handle that a request selects.
pub(crate) struct PublicValues<'r> {
    record: RecordRef<'r>,
    asked: &'r ResolutionRequest<'r>,
}

impl<'r> PublicValues<'r> {
    /// Each value, with its bytes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Value<'r>, &'r [u8])> {
        let values = self.record.iter();
        values.filter(|(value, _)| value.permissions.public_read() && self.asked.selects(value))
    }
}

impl ServerContext {
    /// Gives `write` the public values of a stored handle that a request selects, straight from
    /// the store; `write` returns `None` if there are none. The result is `None` if the handle is
    /// not stored.
    pub(crate) fn public_values<T>(
        &self,
        asked: &ResolutionRequest<'_>,
        handle: &str,
        write: impl FnOnce(PublicValues<'_>) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let not_responsible = || Fault::plain(ResponseCode::ServerNotResponsible);
        let handle = Handle::from_stored(handle).map_err(|_| not_responsible())?;
        let written = self.registry.with_record(&handle, |record| {
            if record.state != State::Active {
                return Err(ResponseCode::HandleNotFound);
            }
            write(PublicValues { record, asked }).ok_or(ResponseCode::ValuesNotFound)
        })?;
        let written = written.ok_or_else(not_responsible)?;
        written.transpose().map_err(Fault::plain)
    }

    /// The values of a handle that a caller may read, at least one, whether it is stored or not.
    /// The error is `AuthenticationNeeded` if an administrator may read more.
    pub(crate) fn values_for(
        &self,
        asked: &ResolutionRequest<'_>,
        whole: &str,
        is_public_only: bool,
        who: Option<&Authenticated>,
    ) -> Result<Vec<Value<'static>>, Fault> {
        let values = self.all_values(whole)?;
        let selected = values.iter().filter(|value| asked.selects(value));
        let (public, restricted): (Vec<_>, Vec<_>) = selected
            .cloned()
            .partition(|value| value.permissions.public_read());
        let readable = match restricted.first() {
            Some(first) if !is_public_only => {
                let Some(who) = who else {
                    return Err(Fault::plain(if first.permissions.admin_read() {
                        ResponseCode::AuthenticationNeeded
                    } else {
                        ResponseCode::InsufficientPermissions
                    }));
                };
                let reading = self.registry.reading(&who.who, whole, &values)?;
                if reading == Reading::Public {
                    return Err(Fault::plain(ResponseCode::InvalidAdmin));
                }
                let selected = values.iter().filter(|value| asked.selects(value));
                let readable: Vec<_> = selected
                    .filter(|value| reading.shows(value))
                    .cloned()
                    .collect();
                if readable.is_empty() {
                    return Err(Fault::plain(ResponseCode::InsufficientPermissions));
                }
                readable
            }
            _ => public,
        };
        if readable.is_empty() {
            return Err(Fault::plain(ResponseCode::ValuesNotFound));
        }
        Ok(readable)
    }

    /// All values of a handle: as stored, as a template makes them, or as a repository says.
    fn all_values(&self, whole: &str) -> Result<Vec<Value<'static>>, Fault> {
        let not_found = || Fault::plain(ResponseCode::HandleNotFound);
        // A handle that was ever registered here is not asked for at a repository.
        if let Some(dspace) = self.dspace.as_ref().filter(|dspace| dspace.has(whole))
            && !self.registry.is_taken(whole)?
        {
            return Ok(vec![dspace.resolve(whole)?.ok_or_else(not_found)?]);
        }
        self.need_responsible(whole)?;
        if let Some(record) = self.registry.handle(whole)? {
            return Ok(record.values);
        }
        let made = self.registry.made_by_template(whole)?;
        made.ok_or_else(not_found)
    }

    /// Whether a repository may have to be asked for a handle, which takes time.
    pub(crate) fn has_source(&self, handle: &str) -> bool {
        self.dspace
            .as_ref()
            .is_some_and(|dspace| dspace.has(handle))
    }

    /// The value that a repository gives for a handle which was never registered here.
    pub(crate) fn ask_source(&self, handle: &str) -> Result<Option<Value<'static>>, Fault> {
        match self.dspace.as_ref().filter(|dspace| dspace.has(handle)) {
            Some(dspace) if !self.registry.is_taken(handle)? => dspace.resolve(handle),
            _ => Ok(None),
        }
    }

    /// The record of a handle, whose prefix must be homed here.
    pub(crate) fn found(&self, handle: &str) -> Result<Record, Fault> {
        self.need_responsible(handle)?;
        let record = self.registry.handle(handle)?;
        record.ok_or_else(|| Fault::plain(ResponseCode::HandleNotFound))
    }

    /// A prefix must be an authority of this server that is in force.
    pub(crate) fn need_in_force(&self, prefix: &str) -> Result<(), Fault> {
        let authority = self.registry.authority(&Principal::Operator, prefix);
        if authority.is_ok_and(|authority| authority.status.is_in_force()) {
            return Ok(());
        }
        Err(Fault::plain(ResponseCode::ServerNotResponsible))
    }

    pub(crate) fn need_responsible(&self, handle: &str) -> Result<(), Fault> {
        if self.registry.is_responsible(handle)? {
            return Ok(());
        }
        Err(Fault::plain(ResponseCode::ServerNotResponsible))
    }

    /// The handles `0.NA/PREFIX` of the prefixes that are homed here.
    pub(crate) fn prefix_handles(&self) -> Result<Vec<String>, Fault> {
        let authorities = self.registry.authorities()?;
        let prefixes = authorities
            .iter()
            .filter(|authority| authority.status != AuthorityStatus::Retired)
            .filter_map(|authority| authority.path.prefix());
        Ok(prefixes.map(|prefix| format!("0.NA/{prefix}")).collect())
    }
}

/// A value that a client has sent as JSON.
pub(crate) fn new_value(given: ParsedValue<'_>) -> NewValue {
    let references = given.references.into_iter();
    NewValue {
        permissions: given.permissions,
        ttl: given.ttl,
        references: references.map(Reference::into_owned).collect(),
        ..NewValue::new(given.index, &given.value_type, &given.data)
    }
}

/// Ends a visit of names or authorities when there are enough.
pub(crate) fn stop_if(is_enough: bool) -> ControlFlow<()> {
    if is_enough {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}
