//! From blocks of lines to chunks for the writer.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use handfast_store::{Run, Sorter, StoreError};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::authority::Authority;
use crate::draft::Draft;
use crate::import::given::{GivenAuthority, GivenName, GivenStatus};
use crate::import::load::{Chunk, Loaded, Loader, judged};
use crate::import::outcome::{Counts, Done, Outcome};
use crate::import::ready::{Kept, Preparing, Reading, Ready};
use crate::import::source::{Block, Source};
use crate::import::{Import, Report};
use crate::record::Record;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::view::View;

/// How many blocks are prepared side by side, and then kept together.
const BLOCKS: usize = 8;
/// How many names of a sorted input are kept together.
const CHUNK: usize = 50_000;
/// How many chunks may wait for the writer.
const WAITING: usize = 2;

/// An import on its way.
pub(crate) struct Flow<'r> {
    registry: &'r Registry,
    loader: Loader,
    reading: Reading,
    import: &'r Import,
    read: &'r AtomicU64,
    report: &'r mut dyn FnMut(Report<'_>),
    counts: Counts,
    /// The key and the line of the last name that went straight to the writer.
    last: Option<(String, u64)>,
    /// The keys and lines of all that did.
    seen: Option<Run>,
    /// What has to be sorted first, and what it was prepared with.
    sorter: Option<Sorter>,
    assumed: HashMap<String, u64>,
    /// Authorities that would be there after a dry run.
    planned: HashMap<String, Authority>,
    /// Authorities that are to be retired when their names are there.
    retired: Vec<String>,
    answer: Sender<Result<Loaded, Refusal>>,
    answers: Receiver<Result<Loaded, Refusal>>,
    waiting: usize,
}

/// What became of a block.
#[derive(Default)]
struct Prepared {
    names: Vec<Ready>,
    refused: Vec<Outcome>,
    assumed: HashMap<String, u64>,
}

impl<'r> Flow<'r> {
    pub(crate) fn new(
        registry: &'r Registry,
        loader: Loader,
        reading: Reading,
        import: &'r Import,
        read: &'r AtomicU64,
        report: &'r mut dyn FnMut(Report<'_>),
    ) -> Self {
        let (answer, answers) = channel();
        Self {
            registry,
            loader,
            reading,
            import,
            read,
            report,
            counts: Counts::default(),
            last: None,
            seen: None,
            sorter: None,
            assumed: HashMap::new(),
            planned: HashMap::new(),
            retired: Vec::new(),
            answer,
            answers,
            waiting: 0,
        }
    }

    /// Takes all that a source gives.
    pub(crate) fn run(&mut self, mut source: impl Source) -> Result<(), Refusal> {
        loop {
            let mut blocks = Vec::with_capacity(BLOCKS);
            let mut failed = None;
            while blocks.len() < BLOCKS {
                match source.next() {
                    Ok(Some(block)) => blocks.push(block),
                    Ok(None) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            if blocks.is_empty() && failed.is_none() {
                return Ok(());
            }
            self.authorities(&blocks)?;
            self.names(blocks)?;
            self.tell_progress();
            // What was read before is kept: good lines are not lost with the bad end of a file.
            if let Some(source) = failed {
                self.finish()?;
                return Err(Refusal::Input {
                    what: self.import.source.clone(),
                    source,
                });
            }
        }
    }

    /// Authorities for the prefixes that a handle server is responsible for.
    pub(crate) fn prefixes(&mut self, prefixes: &[String]) -> Result<(), Refusal> {
        let given = prefixes.iter().map(|prefix| GivenAuthority::named(prefix));
        // All that a dump says of a prefix is that it is there: one that is there is right.
        let new: Vec<_> = given
            .filter(|given| self.registry.authority(&self.loader.who, &given.authority).is_err())
            .map(|given| (0, given))
            .collect();
        self.take_authorities(new)
    }

    fn authorities(&mut self, blocks: &[Block]) -> Result<(), Refusal> {
        let mut found = Vec::new();
        for block in blocks {
            let Block::Lines { first, text } = block else {
                continue;
            };
            for (number, line) in numbered(*first, text) {
                if !is_authority(line) {
                    continue;
                }
                match serde_json::from_slice::<GivenAuthority>(line) {
                    Ok(given) => found.push((number, given)),
                    Err(error) => self.tell(bad_json(number, &error)),
                }
            }
        }
        self.take_authorities(found)
    }

    fn take_authorities(&mut self, found: Vec<(u64, GivenAuthority)>) -> Result<(), Refusal> {
        if found.is_empty() {
            return Ok(());
        }
        let retired = found.iter().filter(|(_, given)| given.status == GivenStatus::Retired);
        let retired = retired.map(|(_, given)| given.authority.clone());
        self.retired.extend(retired);
        let outcomes = if self.import.dry_run {
            self.plan_authorities(&found)?
        } else {
            let loader = self.loader.clone();
            self.registry.load(move |loading| {
                let mut outcomes = Vec::new();
                for (line, given) in found {
                    let done = loader.decide(loading, |draft| {
                        Ok(draft.take_authority(&given, loader.taking)?.0)
                    })?;
                    outcomes.push(Outcome::of(line, given.authority, done));
                }
                Ok(outcomes)
            })?
        };
        outcomes.into_iter().for_each(|outcome| self.tell(outcome));
        Ok(())
    }

    fn plan_authorities(
        &mut self,
        found: &[(u64, GivenAuthority)],
    ) -> Result<Vec<Outcome>, Refusal> {
        let mut outcomes = Vec::new();
        for (line, given) in found {
            let taken = self.registry.store.read(|now| {
                let view = View::new(now, &self.loader.rules).with_planned(&self.planned);
                Ok(Draft::begin(view, self.loader.call()).and_then(|mut draft| {
                    draft.take_authority(given, self.loader.taking)
                }))
            })?;
            let done = judged(taken)?.map(|(done, authority)| {
                let key = authority.path.key().to_string();
                self.planned.insert(key, authority);
                done
            });
            outcomes.push(Outcome::of(*line, given.authority.clone(), done));
        }
        Ok(outcomes)
    }

    fn names(&mut self, blocks: Vec<Block>) -> Result<(), Refusal> {
        let (registry, loader, reading) = (self.registry, &self.loader, &self.reading);
        let planned = &self.planned;
        let prepared = blocks
            .into_par_iter()
            .map(|block| {
                registry.store.read(|now| {
                    let view = View::new(now, &loader.rules).with_planned(planned);
                    let preparing = Preparing::new(&view, reading, &loader.stamp);
                    Ok(prepare(preparing, block))
                })
            })
            .collect::<Result<Vec<_>, StoreError>>()?;
        let mut chunk = Chunk::default();
        for block in prepared {
            let block = block?;
            chunk.names.extend(block.names);
            chunk.assumed.extend(block.assumed);
            block.refused.into_iter().for_each(|outcome| self.tell(outcome));
        }
        // Stable, because what is sorted already is then left as it is.
        chunk
            .names
            .sort_by(|a, b| (&a.key, a.line).cmp(&(&b.key, b.line)));
        self.place(chunk)
    }

    /// Hands a sorted chunk to the writer if it comes behind all before it, and else to the sorter.
    fn place(&mut self, chunk: Chunk) -> Result<(), Refusal> {
        let Some(first) = chunk.names.first() else {
            return Ok(());
        };
        let is_behind = self
            .last
            .as_ref()
            .is_none_or(|(last, _)| *last <= first.key);
        if self.sorter.is_none() && is_behind {
            let mut seen = match self.seen.take() {
                Some(seen) => seen,
                None => Run::new(self.registry.folder())?,
            };
            let mut once = Chunk {
                names: Vec::with_capacity(chunk.names.len()),
                assumed: chunk.assumed,
            };
            for name in chunk.names {
                if self.is_duplicate(&name) {
                    continue;
                }
                seen.push(name.key.as_bytes(), name.line, &[])?;
                once.names.push(name);
            }
            self.seen = Some(seen);
            return self.submit(once);
        }
        let mut sorter = match self.sorter.take() {
            Some(sorter) => sorter,
            None => {
                let mut sorter = Sorter::new(self.registry.folder());
                if let Some(seen) = self.seen.take() {
                    sorter.add(seen)?;
                }
                sorter
            }
        };
        for name in chunk.names {
            sorter.push(name.key.as_bytes(), name.line, &name.kept.to_bytes())?;
        }
        self.sorter = Some(sorter);
        self.assumed.extend(chunk.assumed);
        Ok(())
    }

    /// Whether a name stands in an earlier line; if not it is now the last.
    fn is_duplicate(&mut self, name: &Ready) -> bool {
        if let Some((last, line)) = &self.last
            && *last == name.key
        {
            let reason = format!("the same name stands in line {line} already");
            let id = Record::name_in(&name.kept.record);
            self.tell(Outcome::bad(name.line, id, "duplicate", reason));
            return true;
        }
        self.last = Some((name.key.clone(), name.line));
        false
    }

    /// What was sorted goes to the writer; then all that it has to say is waited for.
    pub(crate) fn finish(&mut self) -> Result<Counts, Refusal> {
        if let Some(sorter) = self.sorter.take() {
            self.merge(sorter)?;
        }
        while self.waiting > 0 {
            self.wait()?;
        }
        if !self.import.dry_run {
            let (loader, retired) = (self.loader.clone(), std::mem::take(&mut self.retired));
            if !retired.is_empty() {
                self.registry.load(move |loading| {
                    for path in retired {
                        // One that was refused cannot be retired either, and that has been told.
                        drop(loader.decide(loading, |draft| draft.retire(&path))?);
                    }
                    Ok(())
                })?;
            }
        }
        self.tell_progress();
        Ok(self.counts)
    }

    fn merge(&mut self, sorter: Sorter) -> Result<(), Refusal> {
        let mut merge = sorter.merge()?;
        let mut chunk = Chunk::default();
        self.last = None;
        while let Some(entry) = merge.next()? {
            let key = String::from_utf8_lossy(entry.key).into_owned();
            // One without a payload went straight to the writer before.
            if entry.payload.is_empty() {
                self.last = Some((key, entry.order));
                continue;
            }
            let corrupt = || Refusal::Corrupt {
                what: format!("what was prepared for {key}"),
            };
            let name = Ready {
                kept: Kept::from_bytes(entry.payload).ok_or_else(corrupt)?,
                line: entry.order,
                key,
            };
            if self.is_duplicate(&name) {
                continue;
            }
            chunk.names.push(name);
            if chunk.names.len() == CHUNK {
                let full = std::mem::take(&mut chunk);
                self.submit(Chunk {
                    assumed: self.assumed.clone(),
                    ..full
                })?;
                self.tell_progress();
            }
        }
        chunk.assumed = std::mem::take(&mut self.assumed);
        self.submit(chunk)
    }

    fn submit(&mut self, chunk: Chunk) -> Result<(), Refusal> {
        if chunk.names.is_empty() {
            return Ok(());
        }
        if self.import.dry_run {
            let loaded = self
                .registry
                .store
                .read(|now| Ok(self.loader.judge(now, &self.planned, chunk)))??;
            self.tell_loaded(loaded);
            return Ok(());
        }
        while self.waiting >= WAITING {
            self.wait()?;
        }
        self.waiting += 1;
        let (loader, answer) = (self.loader.clone(), self.answer.clone());
        self.registry.store.load(
            move |loading| loader.load(loading, chunk),
            move |outcome| {
                // Nobody is waiting any more only if the import has failed.
                drop(answer.send(outcome));
            },
        );
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Refusal> {
        let closed = |_| Refusal::Store(StoreError::Closed);
        let loaded = self.answers.recv().map_err(closed)?;
        self.waiting -= 1;
        self.tell_loaded(loaded?);
        Ok(())
    }

    fn tell_loaded(&mut self, loaded: Loaded) {
        self.counts.add_counts(loaded.counts);
        for outcome in &loaded.outcomes {
            (self.report)(Report::Line(outcome));
        }
    }

    fn tell(&mut self, outcome: Outcome) {
        self.counts.add(&outcome.done);
        if self.import.tells_all || matches!(outcome.done, Done::Refused { .. }) {
            (self.report)(Report::Line(&outcome));
        }
    }

    fn tell_progress(&mut self) {
        (self.report)(Report::Progress {
            bytes: self.read.load(Ordering::Relaxed),
            counts: self.counts,
        });
    }
}

fn prepare(mut preparing: Preparing<'_>, block: Block) -> Result<Prepared, Refusal> {
    let mut prepared = Prepared::default();
    match block {
        Block::Lines { first, text } => {
            for (line, text) in numbered(first, &text) {
                if is_authority(text) {
                    continue;
                }
                match serde_json::from_slice::<GivenName<'_>>(text) {
                    Ok(given) => prepared.take(&mut preparing, line, &given)?,
                    Err(error) => prepared.refused.push(bad_json(line, &error)),
                }
            }
        }
        Block::Names(items) => {
            for item in items {
                match item.given {
                    Ok(given) => prepared.take(&mut preparing, item.line, &given)?,
                    Err(outcome) => prepared.refused.push(outcome),
                }
            }
        }
    }
    let assumed = preparing.assumed();
    prepared.assumed = assumed.map(|(key, version)| (key.to_string(), version)).collect();
    Ok(prepared)
}

impl Prepared {
    fn take(
        &mut self,
        preparing: &mut Preparing<'_>,
        line: u64,
        given: &GivenName<'_>,
    ) -> Result<(), Refusal> {
        match judged(preparing.ready(line, given))? {
            Ok(name) => self.names.push(name),
            Err(refusal) => {
                let outcome = Outcome::refused(line, Some(&given.id.0), &refusal);
                self.refused.push(outcome);
            }
        }
        Ok(())
    }
}

/// The lines of a block that are not blank, with their numbers.
fn numbered(first: u64, text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain(std::iter::once(text.len()));
    let lines = ends.map(move |end| {
        let line = text.get(start..end).unwrap_or_default();
        start = end + 1;
        line.trim_ascii()
    });
    (first..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// Lines of authorities begin by saying so.
fn is_authority(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    rest.starts_with(br#""authority""#)
}

fn bad_json(line: u64, error: &serde_json::Error) -> Outcome {
    let (problem, column) = (error.to_string(), error.column());
    // Each line is a text of its own, in which all errors are in line 1.
    let problem = problem.split(" at line 1 column").next().unwrap_or_default();
    let code = match error.classify() {
        serde_json::error::Category::Data => "bad-field",
        _ => "bad-json",
    };
    Outcome::bad(line, None, code, format!("{problem}, at column {column}"))
}
