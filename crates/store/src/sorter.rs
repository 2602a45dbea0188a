//! External sorting: more entries than fit into memory.
//!
//! A tree of pages is filled fastest in the order of its keys. Entries in another order are
//! collected into sorted runs, which are written to unnamed files beside the data and merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use rayon::slice::ParallelSliceMut;

use crate::error::StoreError;

/// How many bytes are collected before they are written as a run.
const RUN_BYTES: usize = 64 << 20;

/// Accepts entries in any order and returns them by key, entries of one key by their order.
///
/// ```
/// use handfast_store::Sorter;
///
/// let folder = tempfile::tempdir()?;
/// let mut sorter = Sorter::new(folder.path());
/// for (order, key) in [(1, "b"), (2, "a"), (3, "b")] {
///     sorter.push(key.as_bytes(), order, b"payload")?;
/// }
/// let mut merge = sorter.merge()?;
/// let mut orders = Vec::new();
/// while let Some(entry) = merge.next()? {
///     orders.push(entry.order);
/// }
/// assert_eq!(orders, [2, 1, 3]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Sorter {
    folder: PathBuf,
    run_bytes: usize,
    gathered: Gathered,
    runs: Vec<Source>,
}

impl Sorter {
    /// A sorter with its files in a folder.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self::with_run_bytes(folder, RUN_BYTES)
    }

    fn with_run_bytes(folder: &Path, run_bytes: usize) -> Self {
        Self {
            folder: folder.to_path_buf(),
            run_bytes,
            gathered: Gathered::default(),
            runs: Vec::new(),
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], order: u64, payload: &[u8]) -> Result<(), StoreError> {
        if self.gathered.bytes.capacity() == 0 {
            // All the memory at once, so that nothing is moved while it fills; unused memory costs
            // nothing.
            self.gathered.bytes.reserve(self.run_bytes);
            self.gathered.entries.reserve(self.run_bytes / 128);
        }
        self.gathered.push(key, order, payload);
        if self.gathered.size() < self.run_bytes {
            return Ok(());
        }
        let mut run = Run::new(&self.folder)?;
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.sort();
        for entry in &gathered.entries {
            let (key, payload) = gathered.read(entry);
            run.push(key, entry.order, payload)?;
        }
        gathered.clear();
        self.gathered = gathered;
        self.add(run)
    }

    /// Adds a run, whose entries are sorted already.
    pub fn add(&mut self, run: Run) -> Result<(), StoreError> {
        self.runs.push(Source::File(run.finish()?));
        Ok(())
    }

    /// Returns all entries in order.
    pub fn merge(mut self) -> Result<Merge, StoreError> {
        self.gathered.sort();
        self.runs.push(Source::Memory(self.gathered, 0));
        let mut merge = Merge {
            heads: BinaryHeap::with_capacity(self.runs.len()),
            current: None,
            folder: self.folder,
        };
        for source in self.runs {
            merge.advance(Head {
                key: Vec::new(),
                order: 0,
                payload: Vec::new(),
                source,
            })?;
        }
        Ok(merge)
    }
}

/// A sorted run in a file.
pub struct Run {
    folder: PathBuf,
    file: BufWriter<File>,
}

impl Run {
    /// An empty run with its file in a folder.
    pub fn new(folder: &Path) -> Result<Self, StoreError> {
        let file = tempfile::tempfile_in(folder).map_err(StoreError::io(folder))?;
        Ok(Self {
            folder: folder.to_path_buf(),
            file: BufWriter::with_capacity(1 << 20, file),
        })
    }

    /// Adds an entry, which comes after all before it.
    pub fn push(&mut self, key: &[u8], order: u64, payload: &[u8]) -> Result<(), StoreError> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
        let mut write = || {
            self.file.write_all(&length(key))?;
            self.file.write_all(&length(payload))?;
            self.file.write_all(&order.to_be_bytes())?;
            self.file.write_all(key)?;
            self.file.write_all(payload)
        };
        write().map_err(StoreError::io(&self.folder))
    }

    fn finish(self) -> Result<BufReader<File>, StoreError> {
        let rewound = || {
            let mut file = self.file.into_inner()?;
            file.rewind()?;
            Ok(file)
        };
        let file = rewound().map_err(StoreError::io(self.folder))?;
        Ok(BufReader::with_capacity(1 << 16, file))
    }
}

/// The entries of a [`Sorter`], in order.
pub struct Merge {
    heads: BinaryHeap<Head>,
    current: Option<Head>,
    folder: PathBuf,
}

/// An entry, borrowed from the sorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorted<'m> {
    /// The key that it is sorted by.
    pub key: &'m [u8],
    /// The order among the entries of one key.
    pub order: u64,
    /// Its data.
    pub payload: &'m [u8],
}

impl Merge {
    /// The next entry.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot lend what it holds"
    )]
    pub fn next(&mut self) -> Result<Option<Sorted<'_>>, StoreError> {
        if let Some(head) = self.current.take() {
            self.advance(head)?;
        }
        self.current = self.heads.pop();
        Ok(self.current.as_ref().map(|head| Sorted {
            key: &head.key,
            order: head.order,
            payload: &head.payload,
        }))
    }

    fn advance(&mut self, mut head: Head) -> Result<(), StoreError> {
        if head.read().map_err(StoreError::io(&self.folder))? {
            self.heads.push(head);
        }
        Ok(())
    }
}

/// The next entry of a run.
struct Head {
    key: Vec<u8>,
    order: u64,
    payload: Vec<u8>,
    source: Source,
}

enum Source {
    File(BufReader<File>),
    Memory(Gathered, usize),
}

impl Head {
    /// Reads the next entry; returns whether there was one.
    fn read(&mut self) -> io::Result<bool> {
        let file = match &mut self.source {
            Source::File(file) => file,
            Source::Memory(gathered, at) => {
                let Some(entry) = gathered.entries.get(*at) else {
                    return Ok(false);
                };
                *at += 1;
                let (key, payload) = gathered.read(entry);
                key.clone_into(&mut self.key);
                payload.clone_into(&mut self.payload);
                self.order = entry.order;
                return Ok(true);
            }
        };
        let mut lengths = [0; 8];
        match file.read_exact(&mut lengths) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
        let [k0, k1, k2, k3, p0, p1, p2, p3] = lengths;
        let mut order = [0; 8];
        file.read_exact(&mut order)?;
        self.order = u64::from_be_bytes(order);
        fill(file, &mut self.key, [k0, k1, k2, k3])?;
        fill(file, &mut self.payload, [p0, p1, p2, p3])?;
        Ok(true)
    }
}

fn fill(file: &mut impl Read, buffer: &mut Vec<u8>, length: [u8; 4]) -> io::Result<()> {
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    buffer.resize(length, 0);
    file.read_exact(buffer)
}

impl Ord for Head {
    /// A heap returns its greatest element first: here that is the least key.
    fn cmp(&self, other: &Self) -> Ordering {
        (&other.key, other.order).cmp(&(&self.key, self.order))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

/// Entries in memory, one after the other.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    entries: Vec<Span>,
}

/// The position of an entry.
struct Span {
    start: usize,
    key: usize,
    end: usize,
    order: u64,
}

impl Gathered {
    fn push(&mut self, key: &[u8], order: u64, payload: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        let end = self.bytes.len();
        self.entries.push(Span {
            start,
            key,
            end,
            order,
        });
    }

    fn read(&self, entry: &Span) -> (&[u8], &[u8]) {
        let key = self.bytes.get(entry.start..entry.key);
        let payload = self.bytes.get(entry.key..entry.end);
        (key.unwrap_or_default(), payload.unwrap_or_default())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |entry: &Span| bytes.get(entry.start..entry.key).unwrap_or_default();
        self.entries
            .par_sort_unstable_by(|a, b| (key(a), a.order).cmp(&(key(b), b.order)));
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.entries.len() * size_of::<Span>()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_comes_back_sorted_from_many_runs() {
        let folder = tempfile::tempdir().unwrap();
        for run_bytes in [1, 500, 1 << 20] {
            let mut sorter = Sorter::with_run_bytes(folder.path(), run_bytes);
            let mut seen = Run::new(folder.path()).unwrap();
            let mut expected = Vec::new();
            for order in 0..1_000_u64 {
                let key = format!("{:03}", order * 7_919 % 331);
                sorter.push(key.as_bytes(), order, key.as_bytes()).unwrap();
                expected.push((key.clone(), order, key));
            }
            for order in 2_000..2_010_u64 {
                let key = format!("{order}");
                seen.push(key.as_bytes(), order, b"").unwrap();
                expected.push((key, order, String::new()));
            }
            sorter.add(seen).unwrap();
            expected.sort();
            let mut merge = sorter.merge().unwrap();
            let mut found = Vec::new();
            while let Some(entry) = merge.next().unwrap() {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                found.push((text(entry.key), entry.order, text(entry.payload)));
            }
            assert_eq!(found, expected, "runs of {run_bytes} bytes");
        }
    }
}
