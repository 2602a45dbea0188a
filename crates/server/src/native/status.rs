//! `0.SITE/status`: what the server says of itself to its administrators (`handle-protocol.md`
//! §3.2).

use handfast_wire::body::{ResolutionReply, ResolutionRequest};
use handfast_wire::{Codec, Message, OpFlags, Permissions, ResponseCode, Value};

use crate::native::Native;
use crate::native::login::Authenticated;
use crate::native::operations::{Asked, Done};
use crate::native::response::Fault;

/// Whether a handle is the one of the status.
pub(crate) fn is_status(handle: &str) -> bool {
    handle.eq_ignore_ascii_case("0.SITE/status")
}

impl Native {
    /// The status, over the handle protocol: its values are for administrators, so others are asked
    /// who they are.
    pub(super) fn resolve_status(
        &self,
        request: &Message<'_>,
        asked: ResolutionRequest<'_>,
        who: Option<&Authenticated>,
    ) -> Result<Asked, Fault> {
        // Counting takes time, and is done for nobody else.
        let is_selected = asked.selects(&value(""));
        if !is_selected || request.header.flags.contains(OpFlags::PO) {
            return Err(Fault::plain(ResponseCode::ValuesNotFound));
        }
        let Some(who) = who else {
            return Ok(Asked::Who);
        };
        self.need_administrator(who)?;
        let reply = ResolutionReply {
            handle: asked.handle,
            values: vec![self.status()],
        };
        let done = Done {
            is_private: true,
            ..Done::with(reply.to_bytes())
        };
        Ok(done.into())
    }

    /// The status for whoever has logged in over the REST API: to those who administer nothing it
    /// is an empty record.
    pub(crate) fn status_for(
        &self,
        who: Option<&Authenticated>,
        asked: &ResolutionRequest<'_>,
    ) -> Result<Vec<Value<'static>>, Fault> {
        let Some(who) = who.filter(|_| asked.selects(&value(""))) else {
            return Ok(Vec::new());
        };
        match self.need_administrator(who) {
            Ok(()) => Ok(vec![self.status()]),
            Err(fault) if fault.code == ResponseCode::InvalidAdmin => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }

    /// As deployed servers write it: memory in octets, time in milliseconds.
    fn status(&self) -> Value<'static> {
        let (free, total) = memory().unwrap_or_default();
        let runtime = self.now().saturating_sub(self.started);
        let requests = self.meters.answered();
        value(&format!(
            "freemem={free}; totalmem={total}; maxmem={total}; runtime={runtime}; numreqs={requests}"
        ))
    }
}

/// The value that holds the status.
fn value(text: &str) -> Value<'static> {
    Value {
        permissions: Permissions::SECRET,
        ..Value::new(1, "CNRI.SERVER_STATUS", text.as_bytes()).into_owned()
    }
}

/// Memory that the system can still give, and all that it has, in octets.
fn memory() -> Option<(u64, u64)> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let of = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kibibytes << 10)
    };
    Some((of("MemAvailable:")?, of("MemTotal:")?))
}
