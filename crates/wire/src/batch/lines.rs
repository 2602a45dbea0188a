//! Lines of bounded length.

use std::io::{self, BufRead, Read};

/// The longest line that is read, without its end.
pub(super) const MAX_LINE: usize = 1_048_576;

/// Reads lines, each ended by `\n`, `\r\n` or the end of the file, and counts them.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    count: u64,
    /// A line that was read and given back.
    is_unread: bool,
    /// All lines since the caller took them last, if the caller wants to copy the input.
    copy: Option<Copied>,
}

/// Lines of the input as they were read, each ended by `\n`.
#[derive(Default)]
pub(super) struct Copied {
    pub(super) text: Vec<u8>,
    /// Where the last line begins.
    pub(super) last: usize,
}

/// A line of the input.
pub(super) enum Line<'a> {
    /// Its content, without its end.
    Bytes(&'a [u8]),
    /// Longer than the buffer.
    TooLong,
}

impl Line<'_> {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Bytes([]))
    }
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            count: 0,
            is_unread: false,
            copy: None,
        }
    }

    /// The same reader, which also copies what it reads.
    pub(super) fn copying(input: R) -> Self {
        let mut lines = Self::new(input);
        lines.copy = Some(Copied::default());
        lines
    }

    /// The copy so far, if there is one.
    pub(super) fn copy(&mut self) -> Option<&mut Copied> {
        self.copy.as_mut()
    }

    /// The number of the line that was read last, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.count
    }

    /// Gives the last line back: it is read again.
    pub(super) fn unread(&mut self) {
        self.is_unread = true;
    }

    /// The next line; `None` at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if !std::mem::take(&mut self.is_unread) {
            if !self.fill()? {
                return Ok(None);
            }
            if let Some(copy) = &mut self.copy {
                copy.last = copy.text.len();
                copy.text.extend_from_slice(&self.buffer);
                copy.text.push(b'\n');
            }
        }
        let line = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        // Editors put a byte order mark at the front, and the first command would not be known.
        let line = match self.count {
            1 => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            _ => line,
        };
        Ok(Some(if line.len() > MAX_LINE {
            Line::TooLong
        } else {
            Line::Bytes(line)
        }))
    }

    /// Puts the next line into the buffer; `false` at the end of the file. Of a line that is too
    /// long it keeps as much as shows that it is.
    fn fill(&mut self) -> io::Result<bool> {
        // Room for the mark and the carriage return that are not part of the line.
        let limit = u64::try_from(MAX_LINE + 5).unwrap_or(u64::MAX);
        self.buffer.clear();
        let mut start = self.input.by_ref().take(limit);
        if start.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(false);
        }
        // The last line need not end; behind its end nothing is read.
        let is_cut = start.limit() == 0;
        if self.buffer.pop_if(|byte| *byte == b'\n').is_none() && is_cut {
            self.input.skip_until(b'\n')?;
        }
        self.count += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(input: &[u8]) -> Vec<Option<usize>> {
        let mut lines = Lines::new(io::BufReader::with_capacity(7, input));
        let mut lengths = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            lengths.push(match line {
                Line::Bytes(bytes) => Some(bytes.len()),
                Line::TooLong => None,
            });
        }
        lengths
    }

    #[test]
    fn lines_end_in_either_way_and_the_last_need_not() {
        assert_eq!(lengths(b""), []);
        assert_eq!(lengths(b"\n"), [Some(0)]);
        assert_eq!(
            lengths(b"a\r\n\r\nlonger than the buffer"),
            [1, 0, 22].map(Some)
        );
        assert_eq!(lengths(b"\xEF\xBB\xBFab\n"), [Some(2)]);
    }

    /// Gives its parts one by one; an empty one says that nothing more comes for now.
    struct Parts(Vec<&'static [u8]>);

    impl Read for Parts {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.fill_buf()?.read(out)?;
            self.consume(count);
            Ok(count)
        }
    }

    impl BufRead for Parts {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            Ok(self.0.first().copied().unwrap_or_default())
        }

        fn consume(&mut self, count: usize) {
            if let Some(part) = self.0.first_mut() {
                *part = &part[count..];
                if part.is_empty() {
                    self.0.remove(0);
                }
            }
        }
    }

    /// Guards: after the end of a terminal's input, the next line was lost.
    #[test]
    fn a_line_after_an_end_of_the_input_is_read() {
        let mut lines = Lines::new(Parts(vec![b"a", b"", b"b\n"]));
        for line in [b"a", b"b"] {
            assert!(matches!(lines.next().unwrap(), Some(Line::Bytes(read)) if read == line));
        }
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn a_line_is_as_long_as_may_be_and_no_longer() {
        let max_line = vec![b'x'; MAX_LINE];
        let both = [&max_line[..], b"\r\n", &max_line, b"x\nz"].concat();
        assert_eq!(lengths(&both), [Some(MAX_LINE), None, Some(1)]);
        let far_too_long = [&max_line[..], &max_line, b"\n\n"].concat();
        assert_eq!(lengths(&far_too_long), [None, Some(0)]);
    }
}
