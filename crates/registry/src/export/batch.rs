//! Handle batch files.

use std::io::{self, Write};

use handfast_wire::batch::{BatchWriteError, write_create};

use crate::export::{Given, Writer, is_handle};

/// Writes `CREATE` blocks. `HOME` needs the address of a server, which a file cannot know.
pub(super) struct Batch;

impl Writer for Batch {
    fn name(&mut self, mut out: &mut dyn Write, name: &Given<'_>) -> io::Result<Option<u64>> {
        if !is_handle(name) {
            return Ok(None);
        }
        match write_create(&mut out, &name.record.text, name.values) {
            Ok(unsaid) => Ok(u64::try_from(unsaid.len()).ok()),
            Err(BatchWriteError::Io(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}
