//! The JSON dump of handle servers.

use std::io::{self, Write};

use handfast_wire::json::write_value;

use crate::authority::policy::AuthorityStatus;
use crate::export::ndjson::list;
use crate::export::{Given, Walk, Writer, is_handle};

/// Writes one JSON object.
pub(super) struct Dump {
    prefixes: Vec<String>,
    is_begun: bool,
}

impl Dump {
    pub(super) fn of(walk: &Walk<'_>) -> Self {
        let active = walk.authorities.iter();
        let active = active.filter(|authority| authority.status == AuthorityStatus::Active);
        let prefixes = active.filter_map(|authority| authority.path.prefix());
        Self {
            prefixes: prefixes.map(|prefix| format!("0.NA/{prefix}")).collect(),
            is_begun: false,
        }
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"homedPrefixes\":")?;
        serde_json::to_writer(&mut *out, &self.prefixes)?;
        out.write_all(b",\n\"handleRecords\":{")?;
        self.is_begun = true;
        Ok(())
    }
}

impl Writer for Dump {
    fn name(&mut self, out: &mut dyn Write, name: &Given<'_>) -> io::Result<Option<u64>> {
        if !is_handle(name) {
            return Ok(None);
        }
        if self.is_begun {
            out.write_all(b",")?;
        } else {
            self.begin(out)?;
        }
        let handle = serde_json::to_string(&name.record.text)?;
        let mut values = Vec::new();
        list(&mut values, name.values.iter(), |out, value| {
            write_value(out, value);
            Ok(())
        })?;
        write!(out, "\n{handle}:{{\"handle\":{handle},\"values\":[")?;
        out.write_all(&values)?;
        out.write_all(b"}")?;
        Ok(Some(0))
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.is_begun {
            self.begin(out)?;
        }
        out.write_all(b"\n}}\n")
    }
}
