//! The one writer: group commit.
//!
//! A change that panics, or whose writes cannot be applied, fails alone: nothing of it reaches the
//! transaction, the other changes of the batch are committed, and the thread continues. If the
//! transaction itself cannot begin or be committed, every caller of the batch gets the error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::damage_handler::InStore;
use crate::embedded::{Embedded, Snapshot, Writing};
use crate::error::StoreError;
use crate::health::Health;
use crate::loading::Loading;
use crate::store::Store;
use crate::table_key::TableKey;

/// One write of a change.
///
/// ```
/// use handfast_store::{TableKey, Write};
///
/// let put = Write::put(TableKey::event(1), b"bytes");
/// assert_eq!(put, Write::Put(TableKey::event(1), b"bytes".to_vec()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Deletes the entry of a table key.
    Delete(TableKey<'static>),
    /// Adds a name, given by its key, to the index entry of a value.
    IndexInsert {
        /// Type and value.
        value: Vec<u8>,
        /// The key of the name.
        key: Vec<u8>,
    },
    /// Stores bytes under a table key, and replaces the old ones.
    Put(TableKey<'static>, Vec<u8>),
    /// Removes a name from the index entry of a value.
    IndexRemove {
        /// Type and value.
        value: Vec<u8>,
        /// The key of the name.
        key: Vec<u8>,
    },
}

impl Write {
    /// Stores a copy of bytes under a table key.
    #[must_use]
    pub fn put(table_key: TableKey<'_>, bytes: &[u8]) -> Self {
        Self::Put(table_key.into_owned(), bytes.to_vec())
    }
}

/// The decision of a change: the writes and a result, or an error.
///
/// It sees the state after the earlier changes of the same batch. The error type is the caller's
/// own; only the writes reach the store.
pub type Change<T, R> = Result<(Vec<Write>, T), R>;

/// The maximum number of changes that share one sync. More would make the first of them wait too
/// long.
const MAX_BATCH: usize = 4_096;

/// How long a batch that is smaller than the one before waits for each further change: far less
/// than a sync takes.
const BATCH_DELAY: Duration = Duration::from_micros(100);

/// Work for the writer.
enum Job {
    Change(Box<dyn PendingChange>),
    Load(Load),
    Probe(Probe),
}

/// A submitted load, which begins and ends its own transaction.
type Load = Box<dyn FnOnce(&Embedded, &Health) + Send>;

/// A question whether the store can be written, with its answer function.
type Probe = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A submitted change. The writer lets it decide once, and answers it once.
trait PendingChange: Send {
    /// Decides against a snapshot. A change that panics writes nothing.
    fn decide(&mut self, snapshot: &Snapshot<'_>) -> Vec<Write>;
    /// Records that its writes cannot be applied.
    fn fail(&mut self, error: StoreError);
    /// Tells the caller the decision, or why it is not on disk.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// The decision function, the answer function, and the decision.
struct Pending<D, A, T, R> {
    decide: Option<D>,
    answer: A,
    decided: Result<Option<T>, R>,
}

impl<D, A, T, R> PendingChange for Pending<D, A, T, R>
where
    D: FnOnce(&Snapshot<'_>) -> Change<T, R> + Send,
    A: FnOnce(Result<T, R>) + Send,
    T: Send,
    R: From<StoreError> + Send,
{
    fn decide(&mut self, snapshot: &Snapshot<'_>) -> Vec<Write> {
        let Some(decide) = self.decide.take() else {
            return Vec::new();
        };
        // A decision only reads, and returns its writes at the end: if it panics, nothing is in the
        // transaction.
        match catch_unwind(AssertUnwindSafe(|| decide(snapshot))) {
            Ok(Ok((writes, done))) => {
                self.decided = Ok(Some(done));
                writes
            }
            Ok(Err(refused)) => {
                self.decided = Err(refused);
                Vec::new()
            }
            Err(_) => {
                self.fail(StoreError::ChangePanicked);
                Vec::new()
            }
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.decided = Err(error.into());
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self {
            answer, decided, ..
        } = *self;
        // A rejection also waits for the batch: it may depend on a change that does not reach the
        // disk.
        let outcome = committed
            .map_err(R::from)
            .and(decided)
            .and_then(|done| done.ok_or_else(|| StoreError::Closed.into()));
        // The caller's own function: if it panics, the next caller is answered nevertheless.
        drop(catch_unwind(AssertUnwindSafe(|| answer(outcome))));
    }
}

/// Work for the writer of a store.
impl Store {
    /// Submits a change; the writer calls `answer` when it is on disk, rejected or failed.
    pub fn submit<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        decide: impl FnOnce(&Snapshot<'_>) -> Change<T, R> + Send + 'static,
        answer: impl FnOnce(Result<T, R>) + Send + 'static,
    ) {
        self.writer.send(Job::Change(Box::new(Pending {
            decide: Some(decide),
            answer,
            decided: Ok(None),
        })));
    }

    /// Submits a load: many entries, in the order of their keys, in a transaction of its own. The
    /// writer calls `answer` when it is on disk or has failed; a failed load writes nothing.
    ///
    /// ```
    /// use handfast_store::{TableKey, Store, StoreError};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::create(folder.path())?;
    /// let (done, wait) = std::sync::mpsc::channel();
    /// store.load(
    ///     |loading| {
    ///         for name in ["a", "b", "c"] {
    ///             loading.put(&TableKey::record(name.as_bytes()), b"")?;
    ///         }
    ///         Ok::<_, StoreError>(3)
    ///     },
    ///     move |outcome| done.send(outcome).unwrap(),
    /// );
    /// assert_eq!(wait.recv()??, 3);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn load<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        load: impl FnOnce(&mut Loading<'_>) -> Result<T, R> + Send + 'static,
        answer: impl FnOnce(Result<T, R>) + Send + 'static,
    ) {
        self.writer.send(Job::Load(Box::new(move |engine, health| {
            let outcome = begin(engine, health).map_err(R::from).and_then(|writing| {
                let mut loading = Loading::new(writing);
                // A load writes while it decides. If it panics, `loading` is dropped with its
                // transaction: nothing of the load is committed.
                let loaded = catch_unwind(AssertUnwindSafe(|| load(&mut loading)));
                let done = loaded.unwrap_or_else(|_| Err(StoreError::ChangePanicked.into()))?;
                let committed = loading.commit();
                health.note(&committed);
                committed?;
                Ok(done)
            });
            drop(catch_unwind(AssertUnwindSafe(|| answer(outcome))));
        })));
    }
}

/// The thread that writes. By default there is none: every change fails with "closed".
#[derive(Default)]
pub(crate) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(engine: Arc<Embedded>, health: Arc<Health>) -> Result<Self, StoreError> {
        let (jobs, arrivals) = channel();
        let folder = engine.folder().to_path_buf();
        let thread = thread::Builder::new()
            .name("handfast-writer".into())
            .spawn(move || run(&engine, &health, &arrivals))
            .map_err(StoreError::io(folder))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Whether there is no writer.
    pub(crate) fn is_none(&self) -> bool {
        self.jobs.is_none()
    }

    /// Asks whether the store can be written; the writer calls `answer` after the waiting changes.
    pub(crate) fn probe(&self, answer: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        self.send(Job::Probe(Box::new(answer)));
    }

    fn send(&self, job: Job) {
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        // A job that cannot be sent is dropped with its answer function: the caller then gets the
        // error "closed".
        drop(sent);
    }
}

impl Drop for Writer {
    /// Waits until all submitted work is on disk.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(engine: &Embedded, health: &Health, arrivals: &Receiver<Job>) {
    let _in_store = InStore::enter();
    let mut usual = 1;
    while let Ok(first) = arrivals.recv() {
        let mut batch = Vec::new();
        let behind = match first {
            Job::Change(first) => {
                batch.push(first);
                let behind = gather(arrivals, &mut batch, usual);
                usual = batch.len();
                health.work(|| write(engine, health, batch));
                behind
            }
            other => Some(other),
        };
        match behind {
            Some(Job::Load(load)) => health.work(|| load(engine, health)),
            Some(Job::Probe(answer)) => {
                let outcome = probe(engine, health);
                drop(catch_unwind(AssertUnwindSafe(|| answer(outcome))));
            }
            Some(Job::Change(_)) | None => {}
        }
    }
}

/// Collects a batch. Callers whose changes were answered together come back together, but not in
/// the same instant: without a short delay the first of them would get a sync of its own, and the
/// others the next. A load or a probe ends the batch, and runs after it.
fn gather(
    arrivals: &Receiver<Job>,
    batch: &mut Vec<Box<dyn PendingChange>>,
    usual: usize,
) -> Option<Job> {
    while batch.len() < MAX_BATCH {
        let next = match arrivals.try_recv() {
            Err(TryRecvError::Empty) if batch.len() < usual => {
                arrivals.recv_timeout(BATCH_DELAY).ok()
            }
            next => next.ok(),
        };
        match next {
            Some(Job::Change(change)) => batch.push(change),
            behind => return behind,
        }
    }
    None
}

fn begin<'e>(engine: &'e Embedded, health: &Health) -> Result<Writing<'e>, StoreError> {
    let begun = engine.begin().map_err(|error| engine.diagnose(error));
    begun.inspect_err(|error| health.failed(error))
}

/// Decides each change, writes them all in one transaction, syncs once, answers them all.
fn write(engine: &Embedded, health: &Health, mut batch: Vec<Box<dyn PendingChange>>) {
    let written = catch_unwind(AssertUnwindSafe(|| write_all(engine, health, &mut batch)));
    // Panics of decisions are caught one by one; a panic that arrives here is the engine's, and
    // nothing was committed.
    let outcome = written.unwrap_or(Err(StoreError::ChangePanicked));
    let outcome = outcome.map_err(|error| engine.diagnose(error));
    if let Err(error) = &outcome {
        health.failed(error);
    }
    for change in batch {
        change.answer(match &outcome {
            Ok(()) => Ok(()),
            Err(error) => Err(error.again()),
        });
    }
}

fn write_all(
    engine: &Embedded,
    health: &Health,
    batch: &mut [Box<dyn PendingChange>],
) -> Result<(), StoreError> {
    let mut writing = begin(engine, health)?;
    let mut has_writes = false;
    for change in batch {
        let writes = change.decide(&writing.snapshot());
        // Before the first write: a change that cannot be applied leaves nothing in the
        // transaction.
        if let Err(error) = writing.check_names(&writes) {
            change.fail(error);
            continue;
        }
        has_writes |= !writes.is_empty();
        // If a write fails for another reason, none is committed, and every caller gets the error.
        for write in &writes {
            writing.apply(write)?;
        }
    }
    if !has_writes {
        return Ok(());
    }
    let committed = writing.commit();
    health.note(&committed);
    committed
}

/// Begins a transaction and ends it. After a failed commit only another commit shows that the store
/// can be written again: it writes the format again.
fn probe(engine: &Embedded, health: &Health) -> Result<(), StoreError> {
    engine.clear_stale_readers();
    let mut writing = begin(engine, health)?;
    if health.last_failure().is_none() {
        return Ok(());
    }
    writing.rewrite_format()?;
    let committed = writing.commit().map_err(|error| engine.diagnose(error));
    health.note(&committed);
    committed
}
