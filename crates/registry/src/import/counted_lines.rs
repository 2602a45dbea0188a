//! Line numbers of the records of a table.
//!
//! The CSV reader counts a newline when it consumes it. In Windows files that happens with the next
//! record, and it skips empty lines in the same way. So the line that it reports for a record is
//! the end of the record before.

use std::io::{self, Read};

/// An input that knows the line of an offset, for growing offsets.
pub(crate) struct CountedLines<R> {
    input: R,
    /// The bytes read lately: at most a buffer and a record.
    recent: Vec<u8>,
    /// How many of them are counted.
    counted: usize,
    /// The offset at which the rest begins, and its line.
    offset: u64,
    line: u64,
}

impl<R> CountedLines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            recent: Vec::new(),
            counted: 0,
            offset: 0,
            line: 1,
        }
    }

    /// The line of the first byte at or after an offset that is not a line ending, as far as was
    /// read.
    pub(crate) fn line_at(&mut self, offset: u64) -> u64 {
        let rest = self.recent.get(self.counted..).unwrap_or_default();
        let before = usize::try_from(offset.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let (before, behind) = rest.split_at_checked(before).unwrap_or((rest, &[]));
        let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let ends = behind.iter().take_while(is_end);
        let passed = before.len() + ends.clone().count();
        let newlines = before.iter().chain(ends);
        let newlines = newlines.filter(|byte| **byte == b'\n').count();
        self.counted += passed;
        self.offset = self.offset.saturating_add(passed.try_into().unwrap_or(0));
        self.line = self.line.saturating_add(newlines.try_into().unwrap_or(0));
        self.line
    }
}

impl<R: Read> Read for CountedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        let read = buffer.get(..length).unwrap_or_default();
        // Once for each buffer, not for each record: the rest moves to the front.
        self.recent.drain(..self.counted);
        self.counted = 0;
        self.recent.extend_from_slice(read);
        Ok(length)
    }
}
