//! Lines of any length from a stream of any size, in constant memory.

use std::io::{self, BufRead, BufReader, Read};

/// The longest line that is passed on whole, in bytes. An identifier has at most 8 KiB, but white
/// space around one that a person pasted does not count.
pub(crate) const MAX_LINE: usize = 1 << 20;
/// A line of that length with its LF.
const MAX_READ: u64 = (1 << 20) + 1;

/// A line without its LF, or CR LF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// The beginning of a line that was longer than [`MAX_LINE`].
    Beginning(&'a [u8]),
}

/// Calls `visit` with each line. Calls `idle` whenever the next line has to be waited for, so that
/// what has been written so far can be passed on.
pub(crate) fn for_each<O, R: Read>(
    reader: &mut BufReader<R>,
    out: &mut O,
    mut idle: impl FnMut(&mut O) -> io::Result<()>,
    mut visit: impl FnMut(&mut O, Line<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut text = Vec::new();
    loop {
        text.clear();
        let mut limited = reader.by_ref().take(MAX_READ);
        // Nothing behind the last LF is no line.
        if limited.read_until(b'\n', &mut text)? == 0 {
            return idle(out);
        }
        if let Some(line) = text.strip_suffix(b"\n") {
            visit(out, Line::Whole(line.strip_suffix(b"\r").unwrap_or(line)))?;
        } else if text.len() <= MAX_LINE {
            // The last line need not end in LF; behind its end nothing is read.
            visit(out, Line::Whole(&text))?;
            return idle(out);
        } else {
            text.truncate(MAX_LINE);
            reader.skip_until(b'\n')?;
            visit(out, Line::Beginning(&text))?;
        }
        if !reader.buffer().contains(&b'\n') {
            idle(out)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], capacity: usize) -> Vec<(bool, Vec<u8>)> {
        let mut lines = Vec::new();
        let mut reader = BufReader::with_capacity(capacity, input);
        for_each(
            &mut reader,
            &mut lines,
            |_| Ok(()),
            |lines, line| {
                lines.push(match line {
                    Line::Whole(text) => (true, text.to_vec()),
                    Line::Beginning(text) => (false, text.to_vec()),
                });
                Ok(())
            },
        )
        .unwrap();
        lines
    }

    #[test]
    fn lines_end_at_lf_and_a_cr_before_it_is_dropped() {
        for capacity in [1, 2, 3, 100] {
            let texts: Vec<_> = lines(b"a\r\n\n\rb\r\r\nlast\r", capacity)
                .into_iter()
                .map(|(_, text)| text)
                .collect();
            assert_eq!(texts, [&b"a"[..], b"", b"\rb\r", b"last\r"], "{capacity}");
        }
        assert!(lines(b"", 8).is_empty());
        assert_eq!(lines(b"\n", 8), [(true, vec![])]);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_stream_goes_on() {
        let mut input = vec![b'x'; MAX_LINE + 5];
        input.extend(b"\nnext\n");
        let lines = lines(&input, 4096);
        assert_eq!(lines[0], (false, vec![b'x'; MAX_LINE]));
        assert_eq!(lines[1], (true, b"next".to_vec()));
    }

    #[test]
    fn idle_is_called_before_waiting_for_more() {
        let mut log = Vec::new();
        let mut reader = BufReader::with_capacity(4, &b"a\nb\nc\n"[..]);
        for_each(
            &mut reader,
            &mut log,
            |log| {
                log.push("idle");
                Ok(())
            },
            |log, _| {
                log.push("line");
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(log, ["line", "line", "idle", "line", "idle", "idle"]);
    }
}
