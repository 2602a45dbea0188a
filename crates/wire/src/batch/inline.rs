//! Files that a batch names, put into the batch itself.
//!
//! A batch may say `FILE path` instead of the data of a value. Such a path means a file on the
//! machine of the author, so the author's program reads it and sends a batch that names no files.
//! The receiver of a batch never opens a file.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

use super::read::{BatchReader, FileLine};
use super::{BatchData, BatchValue};

/// A value whose data is in a file.
///
/// ```
/// use handfast_wire::batch::{FileValue, inline_files};
///
/// let batch = b"CREATE 20.1000/x\n3 PHOTO 86400 1110 FILE photo.jpg\n";
/// let mut out = Vec::new();
/// inline_files(&batch[..], &mut out, &mut |value: FileValue<'_>| {
///     assert_eq!((value.line, value.value_type, value.path), (2, "PHOTO", "photo.jpg"));
///     Ok(Some(vec![0xFF, 0xD8]))
/// })?;
/// assert_eq!(out, b"CREATE 20.1000/x\n3 PHOTO 86400 1110 HEX FFD8\n");
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FileValue<'v> {
    /// The line that names the file, counted from 1.
    pub line: u64,
    /// The type of the value.
    pub value_type: &'v str,
    /// The file.
    pub path: &'v str,
}

/// Copies a batch, with the bytes that `read` gives for a file in place of its name. Where it gives
/// `None` the line stays as it is. Every line keeps its number.
pub fn inline_files(
    input: impl BufRead,
    out: &mut impl Write,
    read: &mut dyn FnMut(FileValue<'_>) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<()> {
    let mut entries = BatchReader::copying(input);
    loop {
        let is_end = match entries.next() {
            Some(Err(error)) => return Err(error),
            Some(Ok(_)) => false,
            None => true,
        };
        let (text, files) = entries.take_copy();
        let mut copied = 0;
        for FileLine { line, value, at } in files {
            let BatchData::File(path) = &value.data else {
                continue;
            };
            let given = read(FileValue {
                line,
                value_type: &value.value_type,
                path,
            })?;
            if let Some(bytes) = given {
                out.write_all(text.get(copied..at.start).unwrap_or_default())?;
                writeln!(out, "{}", with_bytes(&value, &bytes))?;
                copied = at.end;
            }
        }
        out.write_all(text.get(copied..).unwrap_or_default())?;
        if is_end {
            return Ok(());
        }
    }
}

/// The line of a value with other data.
fn with_bytes(value: &BatchValue, bytes: &[u8]) -> String {
    let BatchValue {
        index,
        value_type,
        ttl,
        permissions,
        ..
    } = value;
    let mut line = format!("{index} {value_type} {ttl} {permissions} HEX ");
    for byte in bytes {
        // A string takes everything.
        let _ = write!(line, "{byte:02X}");
    }
    line
}
