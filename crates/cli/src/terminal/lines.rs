//! Lines of any length from a stream of any size, in constant memory.

use std::io::{self, BufRead};

/// The longest line that is passed on whole, in bytes. An identifier has at most 8 KiB, but white
/// space around one that a person pasted does not count.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// A line without its LF, or CR LF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// The beginning of a line that was longer than [`MAX_LINE`].
    Beginning(&'a [u8]),
}

/// Calls `visit` with each line. Calls `idle` whenever the next line has to be waited for, so that
/// what has been written so far can be passed on.
pub(crate) fn for_each<O>(
    reader: &mut impl BufRead,
    out: &mut O,
    mut idle: impl FnMut(&mut O) -> io::Result<()>,
    mut visit: impl FnMut(&mut O, Line<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut carried = Vec::new();
    let mut is_whole = true;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            // The last line need not end in LF. Nothing behind the last LF is no line.
            if !carried.is_empty() {
                visit(out, line(&carried, is_whole))?;
            }
            return idle(out);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let consumed = match (end.and_then(|end| buffer.get(..end)), carried.is_empty()) {
            (Some(text), true) => {
                visit(out, line(without_cr(text), true))?;
                text.len() + 1
            }
            (Some(text), false) => {
                is_whole &= carry(&mut carried, text);
                visit(out, line(without_cr(&carried), is_whole))?;
                carried.clear();
                is_whole = true;
                text.len() + 1
            }
            (None, _) => {
                is_whole &= carry(&mut carried, buffer);
                buffer.len()
            }
        };
        let is_last_in_buffer = consumed == buffer.len();
        reader.consume(consumed);
        if is_last_in_buffer {
            idle(out)?;
        }
    }
}

/// Appends what fits; whether that was all.
fn carry(carried: &mut Vec<u8>, text: &[u8]) -> bool {
    let free = MAX_LINE.saturating_sub(carried.len());
    carried.extend(text.iter().take(free));
    text.len() <= free
}

fn line(text: &[u8], is_whole: bool) -> Line<'_> {
    if is_whole {
        Line::Whole(text)
    } else {
        Line::Beginning(text)
    }
}

fn without_cr(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

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
