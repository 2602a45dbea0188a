//! Importing names, a few or a hundred million.
//!
//! ```text
//! input ─▶ blocks of lines ─▶ prepared side by side ─▶ sorted by key ─▶ the writer, chunk by chunk
//! ```
//!
//! Names in the order of their keys go straight to the writer. From the first name out of order on,
//! the rest is sorted on disk and written at the end: filling the tree of pages in order is many
//! times faster. Duplicates in the input are found on the way, because equal keys meet.
//!
//! A chunk is written as a whole or not at all. An interrupted import is started again with the
//! same input: names that are stored and equal are not written twice, and keep their outcome.

mod admission;
mod apply;
mod authority;
mod batch;
mod changes;
mod counted_lines;
mod dry_run;
mod dump;
mod flow;
mod histories;
mod load;
mod merge;
mod outcome;
mod parsed;
mod prepare;
mod prepared_name;
mod reporter;
mod source;
mod table;

use std::fmt;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

pub(crate) use apply::ConflictPolicy;
pub use changes::{Changes, ValueChange, ValueCounts};
pub(crate) use load::{Loader, split_failure};
pub use outcome::{Counts, Done, Outcome};
pub(crate) use parsed::ParsedAuthority;
pub(crate) use prepared_name::ImportContext;

use crate::access::principal::Principal;
use crate::error::RegistryError;
use crate::import::dump::DumpInput;
use crate::import::flow::Flow;
use crate::import::prepared_name::NameOptions;
use crate::import::reporter::Reporter;
use crate::import::source::LineInput;
use crate::import::table::TableInput;
use crate::jobs::errors::JobErrors;
use crate::jobs::job::{Begun, Job, JobKind};
use crate::jobs::running::{RunningJob, Stop};
use crate::registry::{Registry, locked};

/// The options of an import.
///
/// ```
/// use handfast_registry::{Import, NewAuthority, Principal, Registry, Report, Environment};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
/// let registry = Registry::create(folder.path(), environment)?;
/// registry.create_authority(&Principal::Operator, "20.1000", NewAuthority::default())?;
/// let lines = r#"{"id":"20.1000/a","urls":["https://example.org/a"]}
/// {"id":"20.1000/b","urls":["javascript:alert(1)"]}"#;
/// let mut refused = Vec::new();
/// let imported = registry.import(
///     &Principal::Operator,
///     &Import::default(),
///     lines.as_bytes(),
///     &mut |report| {
///         if let Report::Line(outcome) = report {
///             refused.push(outcome.line);
///         }
///     },
/// )?;
/// assert_eq!((imported.counts.created, refused), (1, vec![2]));
/// # Ok::<_, handfast_registry::RegistryError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own")]
pub struct Import {
    /// The name of the input.
    pub source: String,
    /// Its format; if `None`, its name or its beginning decides.
    pub format: Option<Format>,
    /// An authority for local names (`HDL-10`).
    pub authority: Option<String>,
    /// Whether existing names that differ are changed.
    ///
    /// A line of NDJSON, or a row of a table, changes the values that it names, and no others.
    pub update: bool,
    /// Whether changed names lose the values that their line does not name.
    pub replace: bool,
    /// Whether names that could not be registered here are accepted (`HDL-8`).
    pub migrate: bool,
    /// Whether this is a new import, even if one of the same input was interrupted.
    pub restart: bool,
    /// Whether this is a dry run.
    pub dry_run: bool,
    /// Whether to report all lines, and not only the rejected ones.
    pub tells_all: bool,
    /// The length of the input in bytes, if that is known.
    pub size: Option<u64>,
}

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A handle batch file.
    Batch,
    /// A table with a header.
    Csv,
    /// The JSON dump of a handle server.
    Dump,
    /// A line of JSON for each name.
    Ndjson,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Batch, Self::Csv, Self::Dump, Self::Ndjson];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Csv => "csv",
            Self::Dump => "json",
            Self::Ndjson => "ndjson",
        }
    }

    /// Detects the format by the name of a file, or by the beginning of its content.
    ///
    /// ```
    /// use handfast_registry::Format;
    ///
    /// assert_eq!(Format::detect("names.csv", b""), Format::Csv);
    /// assert_eq!(Format::detect("-", br#"{"handleRecords": {}}"#), Format::Dump);
    /// ```
    #[must_use]
    pub fn detect(name: &str, beginning: &[u8]) -> Self {
        let end = name
            .rsplit_once('.')
            .map(|(_, end)| end.to_ascii_lowercase());
        match end.as_deref() {
            Some("csv") => return Self::Csv,
            Some("ndjson" | "jsonl") => return Self::Ndjson,
            _ => {}
        }
        let text = beginning.trim_ascii_start();
        let squeezed: Vec<u8> = text
            .iter()
            .filter(|byte| !byte.is_ascii_whitespace())
            .take(20)
            .copied()
            .collect();
        if squeezed.starts_with(br#"{"homedPrefixes""#)
            || squeezed.starts_with(br#"{"handleRecords""#)
        {
            return Self::Dump;
        }
        if text.starts_with(b"{") {
            return Self::Ndjson;
        }
        let word = text
            .split(u8::is_ascii_whitespace)
            .next()
            .unwrap_or_default();
        let commands: [&[u8]; 8] = [
            b"AUTHENTICATE",
            b"CREATE",
            b"ADD",
            b"MODIFY",
            b"REMOVE",
            b"DELETE",
            b"HOME",
            b"SESSIONSETUP",
        ];
        if commands
            .iter()
            .any(|command| word.eq_ignore_ascii_case(command))
        {
            return Self::Batch;
        }
        let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let mut titles = header.split(|byte| *byte == b',');
        if titles.any(|title| title.trim_ascii().eq_ignore_ascii_case(b"id")) {
            return Self::Csv;
        }
        Self::Ndjson
    }
}

/// A report of a running import.
#[derive(Debug)]
pub enum Report<'a> {
    /// The outcome of a line.
    Line(&'a Outcome),
    /// The progress.
    Progress {
        /// The number of bytes read.
        bytes: u64,
        /// The counts so far.
        counts: Counts,
    },
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The counts of its lines.
    pub counts: Counts,
    /// Counts of changed values, by this run.
    pub values: ValueCounts,
    /// The job; `None` for a dry run.
    pub job: Option<u64>,
    /// Whether it resumed an interrupted import.
    pub is_resumed: bool,
    /// The format of the input.
    pub format: Format,
}

/// How much of the input is read to detect its format and to identify it.
const DETECTION_BYTES: u64 = 1 << 20;

impl Registry {
    /// Imports names. Rejected lines are reported and write nothing; all others are applied.
    pub fn import<R: Read + Send>(
        &self,
        who: &Principal,
        import: &Import,
        mut input: R,
        report: &mut dyn FnMut(Report<'_>),
    ) -> Result<Imported, RegistryError> {
        let started = self.start_import(who, import, &mut input)?;
        self.finish_import(who, started, input, report)
    }

    /// Reads the beginning of an input and starts an import, or resumes an interrupted one of the
    /// same input: [`finish_import`](Self::finish_import) runs it.
    pub fn start_import(
        &self,
        who: &Principal,
        import: &Import,
        input: &mut dyn Read,
    ) -> Result<StartedImport, RegistryError> {
        let unreadable = |source: io::Error| RegistryError::Input {
            what: import.source.clone(),
            source,
        };
        let mut beginning = Vec::new();
        input
            .take(DETECTION_BYTES)
            .read_to_end(&mut beginning)
            .map_err(unreadable)?;
        // Some editors put a byte order mark in front.
        if beginning.starts_with(b"\xEF\xBB\xBF") {
            beginning.drain(..3);
        }
        let detect = || Format::detect(&import.source, &beginning);
        let format = import.format.unwrap_or_else(detect);
        if format == Format::Csv {
            table::check_header(&beginning).map_err(|problem| {
                RegistryError::policy("bad-header", format!("{}: {problem}", import.source))
            })?;
        }
        if format == Format::Dump {
            dump::check_beginning(&beginning).map_err(unreadable)?;
        }
        let path = |text: &String| {
            self.read(|view| {
                let path = view.path(text)?;
                view.active(&path)?;
                Ok(path)
            })
        };
        let options = NameOptions {
            authority: import.authority.as_ref().map(path).transpose()?,
            migrate: import.migrate,
            handles: format == Format::Dump,
            merges: import.merges(format),
        };
        let kind = JobKind::Import {
            source: import.source.clone(),
            fingerprint: import.fingerprint(format, &beginning),
        };
        // An empty input changes nothing and creates no job.
        let is_blank = beginning.iter().all(u8::is_ascii_whitespace)
            && u64::try_from(beginning.len()).is_ok_and(|length| length < DETECTION_BYTES - 3);
        let begun = if import.dry_run || is_blank {
            None
        } else {
            if import.restart {
                self.give_up(who, &kind)?;
            }
            Some(self.begin_job(who, kind, &[])?)
        };
        if let (Some(begun), Some(size)) = (&begun, import.size) {
            begun.entered.running_job.set_total(size);
        }
        Ok(StartedImport {
            import: import.clone(),
            format,
            options,
            beginning,
            begun,
        })
    }

    /// Runs an import that was started, to its end or until it is told to stop.
    pub fn finish_import<R: Read + Send>(
        &self,
        who: &Principal,
        started: StartedImport,
        input: R,
        report: &mut dyn FnMut(Report<'_>),
    ) -> Result<Imported, RegistryError> {
        let StartedImport {
            import,
            format,
            options,
            beginning,
            begun,
        } = started;
        let read = Arc::new(AtomicU64::new(0));
        let input = Counted {
            input: Cursor::new(beginning).chain(input),
            read: Arc::clone(&read),
        };
        // One import at a time: each builds the index of values at its end. Dry runs build none,
        // but wait for each other because of their memory.
        let _only = locked(if import.dry_run {
            &self.dry_running
        } else {
            &self.importing
        });
        let (job, entered, actor) = match begun {
            Some(begun) => {
                let job = if begun.is_new {
                    self.now_begins(begun.job)?
                } else {
                    begun.job
                };
                (Some(job), Some(begun.entered), begun.actor)
            }
            None => (None, None, [0; 16]),
        };
        let is_resumed = match &job {
            Some(job) => job.first_event <= self.event_count()?,
            None => false,
        };
        let loader = self.loader(who, actor, &import, format, job.as_ref());
        let number = loader.job;
        let errors = number.map(|number| JobErrors::of(self, number));
        let mut errors = errors.transpose()?;
        let running_job = entered.as_ref().map(|entered| &entered.running_job);
        let mut telling = |reporter: Report<'_>| {
            match &reporter {
                Report::Line(outcome) => {
                    if let Some(errors) = &mut errors {
                        errors.add(outcome);
                        if errors.are_many() {
                            // The outcome is reported, even if it cannot be stored.
                            drop(errors.write(self));
                        }
                    }
                }
                Report::Progress { bytes, counts } => {
                    if let Some(running_job) = running_job {
                        running_job.at(*bytes, *counts);
                    }
                }
            }
            match reporter {
                Report::Line(outcome) if import.dry_run => {
                    report(Report::Line(&outcome.clone().planned()));
                }
                reporter => report(reporter),
            }
        };
        let reporter = Reporter::new(&read, &mut telling);
        let outcome = if format == Format::Batch {
            let running_job = running_job.map(|running_job| &**running_job);
            self.import_batch(&loader, &options, running_job, job.clone(), input, reporter)
        } else {
            let mut flow = Flow::new(self, loader, &import, running_job, reporter);
            let applied = flow_of(format, &mut flow, input, &options);
            applied.and_then(|()| {
                let (counts, values) = flow.finish()?;
                Ok((job.clone(), counts, values))
            })
        };
        if let Some(errors) = &mut errors {
            errors.write(self)?;
        }
        let (counts, values) = self.end_import(job, outcome)?;
        Ok(Imported {
            counts,
            values,
            job: number,
            is_resumed,
            format,
        })
    }

    /// The loader that writes the names of an import.
    fn loader(
        &self,
        who: &Principal,
        actor: [u8; 16],
        import: &Import,
        format: Format,
        job: Option<&Job>,
    ) -> Loader {
        let conflicts = ConflictPolicy {
            update: import.update,
            // A batch knows its progress, and never meets its own names again.
            since: match job {
                Some(job) if format != Format::Batch => job.first_event,
                _ => u64::MAX,
            },
            lists_changes: import.tells_all,
        };
        Loader {
            conflicts,
            tells_all: import.tells_all,
            job: job.map(|job| job.number),
            ..self.runner(who, actor)
        }
    }

    /// Ends an import and returns its result.
    fn end_import(
        &self,
        job: Option<Job>,
        outcome: Result<(Option<Job>, Counts, ValueCounts), RegistryError>,
    ) -> Result<(Counts, ValueCounts), RegistryError> {
        match outcome {
            Ok((job, counts, values)) => {
                if let Some(job) = job {
                    self.end_job(Job { counts, ..job })?;
                }
                Ok((counts, values))
            }
            Err(error) => {
                // A broken input will be broken the next time: there is nothing to resume.
                let is_broken = matches!(error, RegistryError::Input { .. }) && !error.is_failure();
                let is_cancelled = error.code() == "cancelled";
                if let Some(job) = job.filter(|_| is_broken || is_cancelled) {
                    let progress = self.progress(job.number);
                    let counts = progress.map_or(job.counts, |progress| progress.counts);
                    self.end_job(Job {
                        counts,
                        is_cancelled,
                        ..job
                    })?;
                }
                Err(error)
            }
        }
    }

    /// Events of other changes, made while the import waited for its lock, are not its own.
    fn now_begins(&self, mut job: Job) -> Result<Job, RegistryError> {
        if job.first_event > self.event_count()? {
            return Ok(job);
        }
        let who = job.who.clone();
        self.change(&who, move |change_set| {
            job.first_event = change_set.next_event();
            change_set.store_job(&job)?;
            Ok(job)
        })
    }
}

/// An import that has started and waits to be run. Dropping it interrupts the import.
pub struct StartedImport {
    import: Import,
    format: Format,
    options: NameOptions,
    beginning: Vec<u8>,
    begun: Option<Begun>,
}

impl StartedImport {
    /// The job as it is stored; `None` for a dry run.
    #[must_use]
    pub fn job(&self) -> Option<&Job> {
        self.begun.as_ref().map(|begun| &begun.job)
    }

    /// Detaches the import: no caller waits for it, and it stops at its next batch when the process
    /// ends.
    #[must_use]
    pub fn left_alone(self) -> Self {
        if let Some(begun) = &self.begun {
            begun.entered.detach();
        }
        self
    }
}

impl fmt::Debug for StartedImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StartedImport").field(&self.job()).finish()
    }
}

/// The error that stops an import.
fn check_stop(running_job: Option<&RunningJob>) -> Result<(), RegistryError> {
    match running_job.and_then(RunningJob::stop) {
        None => Ok(()),
        Some(Stop::Cancel) => Err(RegistryError::policy(
            "cancelled",
            "the import was cancelled",
        )),
        Some(Stop::Pause) => {
            let problem = "the server ends: the import can be resumed";
            Err(RegistryError::policy("cut-short", problem))
        }
    }
}

/// Imports an input of names.
fn flow_of<R: Read + Send>(
    format: Format,
    flow: &mut Flow<'_>,
    input: R,
    options: &NameOptions,
) -> Result<(), RegistryError> {
    match format {
        Format::Csv => match TableInput::new(input) {
            Ok(table) => flow.run(table, options, &[]),
            Err(problem) => Err(RegistryError::policy("bad-header", problem)),
        },
        Format::Dump => std::thread::scope(|scope| {
            let (mut dump, read) = DumpInput::new(input);
            scope.spawn(read);
            dump.read_prefixes();
            let prefixes = std::mem::take(&mut dump.prefixes);
            flow.run(dump, options, &prefixes)
        }),
        Format::Batch | Format::Ndjson => flow.run(LineInput::new(input), options, &[]),
    }
}

impl Import {
    /// Whether changed names keep the values that a line does not name. A dump has whole records,
    /// and the operations of a batch say themselves what they do.
    fn merges(&self, format: Format) -> bool {
        let has_lines = matches!(format, Format::Csv | Format::Ndjson);
        has_lines && self.update && !self.replace
    }

    /// A digest that identifies an import and its input.
    fn fingerprint(&self, format: Format, beginning: &[u8]) -> [u8; 32] {
        // Updates of earlier versions replaced all values: only an import that does so resumes one
        // of them.
        let update = if self.merges(format) {
            "merge".to_string()
        } else {
            self.update.to_string()
        };
        let options = format!(
            "{} {:?} {update} {}",
            format.as_str(),
            self.authority,
            self.migrate
        );
        let hash = Sha256::new()
            .chain_update(options)
            .chain_update([0])
            .chain_update(beginning);
        hash.finalize().into()
    }
}

/// An input that counts the bytes read.
struct Counted<R> {
    input: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let bytes = u64::try_from(count).unwrap_or(0);
        self.read.fetch_add(bytes, Ordering::Relaxed);
        Ok(count)
    }
}
