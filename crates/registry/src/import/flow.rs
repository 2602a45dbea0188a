//! The flow of an import: from blocks of lines to chunks for the writer.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use handfast_store::{Run, Sorter};

use crate::authority::policy::Authority;
use crate::error::RegistryError;
use crate::import::changes::ValueCounts;
use crate::import::load::{Chunk, Loaded, Loader};
use crate::import::outcome::{Counts, Done, Outcome};
use crate::import::prepare::{PreparedGroup, Preparer};
use crate::import::prepared_name::{NameOptions, PreparedName, PreparedRecord};
use crate::import::reporter::Reporter;
use crate::import::source::Source;
use crate::import::{Import, Report, check_stop};
use crate::jobs::running::RunningJob;
use crate::lookup::value_index::IndexBuilder;
use crate::name::record::Record;
use crate::registry::{PendingLoad, Registry};

/// The number of names of a sorted input in one chunk.
const NAMES_PER_CHUNK: usize = 50_000;
/// The maximum number of chunks that wait for the writer.
const MAX_WAITING_CHUNKS: usize = 2;

/// A running import.
pub(crate) struct Flow<'r> {
    registry: &'r Registry,
    loader: Loader,
    import: &'r Import,
    running_job: Option<&'r Arc<RunningJob>>,
    reporter: Reporter<'r>,
    /// Whether the writer has left names out because the import is to stop.
    was_interrupted: bool,
    /// The key and the line of the last name that went straight to the writer.
    last: Option<(String, u64)>,
    /// The keys and lines of all names that did.
    seen: Option<Run>,
    /// The names that have to be sorted first, and the state that they were prepared with.
    sorter: Option<Sorter>,
    assumed: HashSet<(String, u64)>,
    /// Authorities that would exist after a dry run.
    planned: Arc<HashMap<String, Authority>>,
    /// Authorities to retire after their names are imported.
    retired: Vec<String>,
    /// The index entries of names that the writer does not index itself.
    index: IndexBuilder,
    /// Chunks that the writer has not finished.
    waiting: VecDeque<PendingLoad<Loaded>>,
}

impl<'r> Flow<'r> {
    pub(crate) fn new(
        registry: &'r Registry,
        loader: Loader,
        import: &'r Import,
        running_job: Option<&'r Arc<RunningJob>>,
        reporter: Reporter<'r>,
    ) -> Self {
        Self {
            registry,
            loader,
            import,
            running_job,
            reporter,
            was_interrupted: false,
            last: None,
            seen: None,
            sorter: None,
            assumed: HashSet::new(),
            planned: Arc::default(),
            retired: Vec::new(),
            index: IndexBuilder::new(registry),
            waiting: VecDeque::new(),
        }
    }

    /// Imports everything from a source. The next lines are prepared while the writer works on
    /// earlier ones.
    pub(crate) fn run(
        &mut self,
        mut source: impl Source + Send,
        options: &NameOptions,
        prefixes: &[String],
    ) -> Result<(), RegistryError> {
        let loader = self.loader.clone();
        let mut preparer = Preparer::new(self.registry, &loader, options, self.import);
        let first = preparer.prefixes(prefixes)?;
        self.push_group(first)?;
        thread::scope(|scope| {
            let (give, groups) = sync_channel(1);
            scope.spawn(move || {
                // The receiver is gone only if the import has failed.
                while let Some(next) = preparer.next(&mut source).transpose()
                    && give.send(next).is_ok()
                {}
            });
            for group in groups {
                self.push_group(group?)?;
            }
            Ok(())
        })
    }

    fn push_group(&mut self, group: PreparedGroup) -> Result<(), RegistryError> {
        if let Err(stopped) = self.check_stop() {
            return Err(self.stopped(stopped)?);
        }
        self.planned = group.planned;
        self.retired.extend(group.retired);
        for outcome in group.outcomes {
            self.tell(&outcome);
        }
        if !self.import.dry_run {
            self.index.add(&group.index)?;
        }
        self.position(group.chunk)?;
        self.reporter.progress();
        if let Some(source) = group.failed {
            self.finish()?;
            let what = self.import.source.clone();
            return Err(RegistryError::Input { what, source });
        }
        Ok(())
    }

    /// Passes a sorted chunk to the writer if it comes after all names before it, otherwise to the
    /// sorter.
    fn position(&mut self, chunk: Chunk) -> Result<(), RegistryError> {
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
                namespaces: chunk.namespaces,
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
        let new = || Sorter::new(self.registry.folder());
        let mut sorter = self.sorter.take().unwrap_or_else(new);
        if let Some(seen) = self.seen.take() {
            sorter.add(seen)?;
        }
        for name in chunk.names {
            sorter.push(name.key.as_bytes(), name.line, &name.prepared.to_bytes())?;
        }
        self.sorter = Some(sorter);
        self.assumed.extend(chunk.assumed);
        Ok(())
    }

    /// Whether an earlier line has the same name; if not, it becomes the last name.
    fn is_duplicate(&mut self, name: &PreparedName) -> bool {
        if let Some((last, line)) = &self.last
            && *last == name.key
        {
            let reason = format!("the same name stands in line {line} already");
            let id = Record::name_in(&name.prepared.record);
            self.tell(&Outcome::bad(name.line, id, "duplicate", reason));
            return true;
        }
        self.last = Some((name.key.clone(), name.line));
        false
    }

    /// Passes the sorted names to the writer, and builds the index of values when everything is on
    /// disk.
    pub(crate) fn finish(&mut self) -> Result<(Counts, ValueCounts), RegistryError> {
        if let Some(sorter) = self.sorter.take()
            && let Err(error) = self.merge(sorter)
        {
            return Err(self.stopped(error)?);
        }
        self.wait_for_all()?;
        if self.was_interrupted
            && let Err(stopped) = self.check_stop()
        {
            return Err(self.stopped(stopped)?);
        }
        self.finish_what_is_there()?;
        if !self.import.dry_run {
            self.retire()?;
        }
        self.reporter.progress();
        Ok((self.reporter.counts, self.reporter.values))
    }

    /// Waits for the writer and reports the outcomes. Unless the import continues, it also builds
    /// the index of values.
    fn stopped(&mut self, error: RegistryError) -> Result<RegistryError, RegistryError> {
        match error.code() {
            "cancelled" => self.finish_what_is_there()?,
            "cut-short" => {
                self.wait_for_all()?;
                self.reporter.progress();
            }
            _ => {}
        }
        Ok(error)
    }

    fn finish_what_is_there(&mut self) -> Result<(), RegistryError> {
        self.wait_for_all()?;
        if !self.import.dry_run {
            let index = std::mem::replace(&mut self.index, IndexBuilder::new(self.registry));
            index.finish(self.registry)?;
        }
        self.reporter.progress();
        Ok(())
    }

    /// Retires authorities last of all: no names can be created under a retired one.
    fn retire(&mut self) -> Result<(), RegistryError> {
        let loader = self.loader.at(self.registry.time());
        let retired = std::mem::take(&mut self.retired);
        if retired.is_empty() {
            return Ok(());
        }
        self.registry.load(move |loading| {
            for path in retired {
                // An authority that is already retired was retired before the import was
                // interrupted.
                drop(loader.decide(loading, |change_set| change_set.retire(&path, true))?);
            }
            Ok(())
        })
    }

    fn merge(&mut self, sorter: Sorter) -> Result<(), RegistryError> {
        let mut merge = sorter.merge()?;
        let mut chunk = Chunk::default();
        self.last = None;
        while let Some(entry) = merge.next()? {
            let key = String::from_utf8_lossy(entry.key).into_owned();
            // An entry without a payload went straight to the writer before.
            if entry.payload.is_empty() {
                self.last = Some((key, entry.order));
                continue;
            }
            let corrupt = || RegistryError::corrupt(format!("the prepared record of {key}"));
            let name = PreparedName {
                prepared: PreparedRecord::from_bytes(entry.payload).ok_or_else(corrupt)?,
                line: entry.order,
                key,
            };
            if self.is_duplicate(&name) {
                continue;
            }
            chunk.names.push(name);
            if chunk.names.len() == NAMES_PER_CHUNK {
                let full = std::mem::take(&mut chunk);
                self.submit(Chunk {
                    assumed: self.assumed.clone(),
                    ..full
                })?;
                self.reporter.progress();
            }
        }
        chunk.assumed = std::mem::take(&mut self.assumed);
        self.submit(chunk)
    }

    fn submit(&mut self, chunk: Chunk) -> Result<(), RegistryError> {
        if chunk.names.is_empty() {
            return Ok(());
        }
        self.check_stop()?;
        if self.import.dry_run {
            let loaded = self
                .registry
                .store
                .read(|now| Ok(self.loader.judge(now, &self.planned, chunk)))??;
            self.tell_loaded(&loaded);
            return Ok(());
        }
        while self.waiting.len() >= MAX_WAITING_CHUNKS {
            self.wait()?;
        }
        let loader = self.loader.at(self.registry.time());
        let running_job = self.running_job.cloned();
        let is_to_stop = move || running_job.as_ref().is_some_and(|it| it.stop().is_some());
        let awaited = self
            .registry
            .begin_load(move |loading| loader.load(loading, chunk, is_to_stop));
        self.waiting.push_back(awaited);
        Ok(())
    }

    fn check_stop(&self) -> Result<(), RegistryError> {
        check_stop(self.running_job.map(|running_job| &**running_job))
    }

    fn wait_for_all(&mut self) -> Result<(), RegistryError> {
        while !self.waiting.is_empty() {
            self.wait()?;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), RegistryError> {
        if let Some(awaited) = self.waiting.pop_front() {
            let loaded = awaited.wait()?;
            self.tell_loaded(&loaded);
        }
        Ok(())
    }

    fn tell_loaded(&mut self, loaded: &Loaded) {
        self.was_interrupted |= loaded.was_interrupted;
        let (parsed, before, after) = loaded.parsed;
        self.index.were_given(parsed, before, after);
        self.reporter.loaded(loaded);
    }

    fn tell(&mut self, outcome: &Outcome) {
        self.reporter.counts.add(&outcome.done);
        if self.import.tells_all || matches!(outcome.done, Done::Refused { .. }) {
            (self.reporter.report)(Report::Line(outcome));
        }
    }
}
