//! Files that a command reads whole, within limits.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use rustix::fs::OFlags;

use crate::exit::UnreadableInput;

/// Reads a text that the command line names.
pub(crate) fn read_input(path: &Path) -> anyhow::Result<String> {
    read_text(path).with_context(|| UnreadableInput::new(path))
}

/// Reads a text; `-` is standard input.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let mut text = String::new();
    input.take(MAX_TEXT_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_TEXT_BYTES) {
        let problem = "it has more than 64 MiB: split it into several files";
        return Err(io::Error::other(problem));
    }
    Ok(text)
}

/// Reads a file whose content becomes a value. Devices and pipes have no end that could be known
/// before, and a value that no name holds need not be read.
pub(crate) fn read_value(path: &str) -> Result<Vec<u8>, String> {
    let unreadable = |error: io::Error| format!("cannot read {path}: {error}");
    // A pipe would wait for a process that writes to it.
    let without_waiting = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    let options = options.read(true).custom_flags(without_waiting);
    let file = options.open(path).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(format!(
            "{path} is not a regular file: write its content to one first"
        ));
    }
    let mut bytes = Vec::new();
    file.take(MAX_VALUE_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_VALUE_FILE) {
        return Err(format!(
            "{path} has more than {MAX_VALUE_FILE} bytes, which is more than a name holds: \
             publish the content on the web, and store its URL"
        ));
    }
    Ok(bytes)
}

/// How many bytes a file has, at most, whose content becomes a value: a name holds no more.
const MAX_VALUE_FILE: u64 = 260_000;
/// How many bytes a text has at most: some two million names. Devices have no end.
const MAX_TEXT_BYTES: u64 = 64 << 20;
