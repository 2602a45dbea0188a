//! `0.SITE/status`: the status of the server, for its administrators (`handle-protocol.md`
//! §3.2).

use handfast_wire::body::ResolutionRequest;
use handfast_wire::{Permissions, ResponseCode, Value};

use crate::auth::login::Authenticated;
use crate::context::ServerContext;
use crate::error::Fault;

/// Whether a handle is the one of the status.
pub(crate) fn is_status(handle: &str) -> bool {
    handle.eq_ignore_ascii_case("0.SITE/status")
}

impl ServerContext {
    /// The status for a client of the REST API; an empty record for clients that are not
    /// administrators.
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
    pub(crate) fn status(&self) -> Value<'static> {
        let (free, total) = memory().unwrap_or_default();
        let runtime = self.now().saturating_sub(self.started);
        let requests = self.metrics.answered();
        value(&format!(
            "freemem={free}; totalmem={total}; maxmem={total}; runtime={runtime}; \
             numreqs={requests}"
        ))
    }
}

/// The value that holds the status.
pub(crate) fn value(text: &str) -> Value<'static> {
    Value {
        permissions: Permissions::SECRET,
        ..Value::new(1, "CNRI.SERVER_STATUS", text.as_bytes()).into_owned()
    }
}

/// Memory that the system can still give, and all that it has, in octets.
fn memory() -> Option<(u64, u64)> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    Some((octets(&told, "MemAvailable:")?, octets(&told, "MemTotal:")?))
}

/// A number of the system's about memory: `VmRSS:     1024 kB`.
pub(crate) fn octets(told: &str, field: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}
