//! Sources of lines: they return blocks of lines, each some work for one thread.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr_iter, memrchr};

use crate::import::outcome::Outcome;
use crate::import::parsed::ParsedName;

/// The size of the text of a block.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;
/// The maximum length of a line. The values of a name have at most 260,000 bytes, and JSON may need
/// six bytes for each.
const MAX_LINE_BYTES: usize = 4 << 20;

/// Lines that are prepared as one block.
pub(crate) enum Block {
    /// Lines of NDJSON, not parsed yet.
    Lines {
        /// The number of the first.
        first: u64,
        /// Whole lines.
        text: Vec<u8>,
    },
    /// Names that the reader of their format has parsed.
    Names(Vec<Item>),
}

/// A name, or why there is none.
pub(crate) struct Item {
    pub(crate) line: u64,
    pub(crate) parsed: Result<ParsedName<'static>, Outcome>,
}

/// Returns one block after the other.
pub(crate) trait Source {
    fn next(&mut self) -> io::Result<Option<Block>>;
}

/// NDJSON: blocks of whole lines, however long the input is.
pub(crate) struct LineInput<R> {
    input: R,
    line: u64,
    /// Bytes that were read and not returned yet.
    rest: Vec<u8>,
    is_at_end: bool,
}

impl<R: Read> LineInput<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            line: 1,
            rest: Vec::new(),
            is_at_end: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        // Reserve all the memory at once, so that nothing is copied.
        self.rest.reserve(BLOCK_BYTES + 64);
        let mut more = (&mut self.input).take(u64::try_from(BLOCK_BYTES).unwrap_or(u64::MAX));
        let read = more.read_to_end(&mut self.rest)?;
        self.is_at_end = read == 0;
        Ok(())
    }

    /// Skips the rest of a line that is too long.
    fn skip_line(&mut self) -> io::Result<Item> {
        let line = self.line;
        loop {
            let end = memchr_iter(b'\n', &self.rest).next();
            match end {
                Some(end) => {
                    self.rest.drain(..=end);
                    break;
                }
                None if self.is_at_end => {
                    self.rest.clear();
                    break;
                }
                None => {
                    self.rest.clear();
                    self.fill()?;
                }
            }
        }
        self.line += 1;
        let reason = format!("the line is longer than {MAX_LINE_BYTES} bytes");
        Ok(Item {
            line,
            parsed: Err(Outcome::bad(line, None, "too-long", reason)),
        })
    }
}

impl<R: Read> Source for LineInput<R> {
    fn next(&mut self) -> io::Result<Option<Block>> {
        loop {
            if !self.is_at_end && self.rest.len() < BLOCK_BYTES {
                self.fill()?;
            }
            let end = match memrchr(b'\n', &self.rest) {
                Some(end) => end + 1,
                // The last line need not end in LF.
                None if self.is_at_end => self.rest.len(),
                None if self.rest.len() > MAX_LINE_BYTES => {
                    return Ok(Some(Block::Names(vec![self.skip_line()?])));
                }
                None => {
                    self.fill()?;
                    continue;
                }
            };
            if end == 0 {
                return Ok(None);
            }
            let carried = self.rest.split_off(end);
            let text = std::mem::replace(&mut self.rest, carried);
            let first = self.line;
            let lines = u64::try_from(memchr_iter(b'\n', &text).count()).unwrap_or(u64::MAX);
            self.line = first.saturating_add(lines);
            return Ok(Some(Block::Lines { first, text }));
        }
    }
}

/// The maximum number of names in a block, for formats that are parsed name by name.
pub(crate) const MAX_NAMES_PER_BLOCK: usize = 5_000;

/// An input that fails where one item is longer than the limit. The parser buffers an item as a
/// whole, and the input may come from an untrusted client.
pub(crate) struct BoundedItems<R> {
    input: R,
    left: ItemBudget,
}

/// How many more bytes may be read for the current item.
#[derive(Clone)]
pub(crate) struct ItemBudget(Arc<AtomicU64>);

/// The maximum number of bytes of one item, including bytes that are read ahead.
const MAX_ITEM: u64 = 8 << 20;

impl ItemBudget {
    /// Starts a new item.
    pub(crate) fn renew(&self) {
        self.0.store(MAX_ITEM, Ordering::Relaxed);
    }
}

impl<R: Read> BoundedItems<R> {
    /// An input, and the budget that marks the start of a new item. The first item may have more
    /// bytes than the others.
    pub(crate) fn new(input: R, first: u64) -> (Self, ItemBudget) {
        let left = ItemBudget(Arc::new(AtomicU64::new(first.max(MAX_ITEM))));
        let budget = left.clone();
        (Self { input, left }, budget)
    }
}

impl<R: Read> Read for BoundedItems<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.0.load(Ordering::Relaxed);
        if left == 0 {
            let problem = format!("one entry of the input is longer than {MAX_ITEM} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        let max_read = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let count = self
            .input
            .read(buffer.get_mut(..max_read).unwrap_or_default())?;
        let read = u64::try_from(count).unwrap_or(0);
        self.left
            .0
            .store(left.saturating_sub(read), Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, usize)> {
        let mut lines = LineInput::new(input);
        let mut found = Vec::new();
        while let Some(block) = lines.next().unwrap() {
            match block {
                Block::Lines { first, text } => {
                    let parts = text.split(|byte| *byte == b'\n');
                    let numbered = (first..).zip(parts);
                    found.extend(
                        numbered
                            .filter(|(_, text)| !text.is_empty())
                            .map(|(n, t)| (n, t.len())),
                    );
                }
                Block::Names(items) => {
                    found.extend(items.iter().map(|item| (item.line, usize::MAX)));
                }
            }
        }
        found
    }

    #[test]
    fn lines_keep_their_numbers_across_blocks() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"a\n\nbc"), [(1, 1), (3, 2)]);
        let long = vec![b'x'; 300_000];
        let many: Vec<u8> = std::iter::repeat_n([&long[..], b"\n"].concat(), 20)
            .flatten()
            .collect();
        let expected: Vec<_> = (1..=20).map(|line| (line, 300_000)).collect();
        assert_eq!(lines(&many), expected);
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_rest_goes_on() {
        let mut input = b"first\n".to_vec();
        input.extend(vec![b'x'; MAX_LINE_BYTES + 2 * BLOCK_BYTES]);
        input.extend(b"\nlast");
        assert_eq!(lines(&input), [(1, 5), (2, usize::MAX), (3, 4)]);
    }
}
