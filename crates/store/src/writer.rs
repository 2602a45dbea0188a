//! The one writer: group commit.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::embedded::{Embedded, Snapshot};
use crate::error::StoreError;
use crate::loading::Loading;
use crate::place::Place;

/// One write of a change.
///
/// ```
/// use handfast_store::{Place, Write};
///
/// let put = Write::put(Place::event(1), b"bytes");
/// assert_eq!(put, Write::Put(Place::event(1), b"bytes".to_vec()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Nothing is kept at the place any more.
    Delete(Place<'static>),
    /// A name, by its key, holds a value.
    Hold {
        /// Type and value.
        value: Vec<u8>,
        /// The key of the name.
        key: Vec<u8>,
    },
    /// The bytes are kept at the place, instead of what was there.
    Put(Place<'static>, Vec<u8>),
    /// The name does not hold the value any more.
    Release {
        /// Type and value.
        value: Vec<u8>,
        /// The key of the name.
        key: Vec<u8>,
    },
}

impl Write {
    /// Keeps a copy of bytes at a place.
    #[must_use]
    pub fn put(place: Place<'_>, bytes: &[u8]) -> Self {
        Self::Put(place.into_owned(), bytes.to_vec())
    }
}

/// A change: looks at the state and says what to write, or refuses.
///
/// It sees what the changes before it in the same batch leave. Whatever it refuses with is its own
/// business; only the writes reach the store.
pub type Change<T, R> = Result<(Vec<Write>, T), R>;

/// How many changes share one sync at most. More would make the first of them wait too long.
const MOST: usize = 4_096;

/// How long a batch that is smaller than the one before waits for each further change: far less than a sync
/// takes.
const PATIENCE: Duration = Duration::from_micros(100);

/// Work for the writer.
enum Job {
    Change(Decide),
    Load(Load),
}

/// A load on its way, which begins and ends its own transaction.
type Load = Box<dyn FnOnce(&Embedded) + Send>;

/// A change on its way: decides against a snapshot, and is told how it went.
type Decide = Box<dyn FnOnce(&Snapshot<'_>) -> (Vec<Write>, Answer) + Send>;
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// The thread that writes.
pub(crate) struct Writer {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(engine: Arc<Embedded>) -> Result<Self, StoreError> {
        let (jobs, arrivals) = channel();
        let folder = engine.folder().to_path_buf();
        let thread = thread::Builder::new()
            .name("handfast-writer".into())
            .spawn(move || run(&engine, &arrivals))
            .map_err(StoreError::io(folder))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Hands in a change; `answer` is called when it is on disk, refused or failed.
    pub(crate) fn submit<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        decide: impl FnOnce(&Snapshot<'_>) -> Change<T, R> + Send + 'static,
        answer: impl FnOnce(Result<T, R>) + Send + 'static,
    ) {
        let decide: Decide = Box::new(move |snapshot| {
            let (writes, decided) = match decide(snapshot) {
                Ok((writes, done)) => (writes, Ok(done)),
                Err(refused) => (Vec::new(), Err(refused)),
            };
            // A refusal too waits for the batch: it may rest on a change that does not reach the disk.
            (
                writes,
                Box::new(move |outcome| answer(outcome.map_err(R::from).and(decided))),
            )
        });
        self.send(Job::Change(decide));
    }

    /// Hands in a load, which has a transaction to itself.
    pub(crate) fn submit_load<T: Send + 'static, R: From<StoreError> + Send + 'static>(
        &self,
        load: impl FnOnce(&mut Loading<'_>) -> Result<T, R> + Send + 'static,
        answer: impl FnOnce(Result<T, R>) + Send + 'static,
    ) {
        self.send(Job::Load(Box::new(move |engine| {
            let outcome = engine.begin().map_err(R::from).and_then(|writing| {
                let mut loading = Loading::new(writing);
                let done = load(&mut loading)?;
                loading.commit()?;
                Ok(done)
            });
            answer(outcome);
        })));
    }

    fn send(&self, job: Job) {
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        // A job that cannot be sent is dropped, and with it the answer: whoever waits for it hears that
        // the store is closed.
        drop(sent);
    }
}

impl Drop for Writer {
    /// Waits until all that was handed in is on disk.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(engine: &Embedded, arrivals: &Receiver<Job>) {
    let mut usual = 1;
    while let Ok(first) = arrivals.recv() {
        let mut batch = Vec::new();
        let load = match first {
            Job::Change(first) => {
                batch.push(first);
                let load = gather(arrivals, &mut batch, usual);
                usual = batch.len();
                write(engine, batch);
                load
            }
            Job::Load(load) => Some(load),
        };
        if let Some(load) = load {
            load(engine);
        }
    }
}

/// Callers whose changes were answered together come back together, but not in the same instant: without
/// a moment's patience the first of them would get a sync of its own, and the others the next. A load
/// that arrives ends the batch, and is done behind it.
fn gather(arrivals: &Receiver<Job>, batch: &mut Vec<Decide>, usual: usize) -> Option<Load> {
    while batch.len() < MOST {
        let next = match arrivals.try_recv() {
            Err(TryRecvError::Empty) if batch.len() < usual => arrivals.recv_timeout(PATIENCE).ok(),
            next => next.ok(),
        };
        match next {
            Some(Job::Change(change)) => batch.push(change),
            Some(Job::Load(load)) => return Some(load),
            None => return None,
        }
    }
    None
}

/// Looks at each change in turn, writes them all in one transaction, syncs once, answers them all.
fn write(engine: &Embedded, batch: Vec<Decide>) {
    let mut answers: Vec<Answer> = Vec::new();
    let outcome = engine.begin().and_then(|mut writing| {
        let mut has_writes = false;
        let mut applied = Ok(());
        for job in batch {
            // When one cannot be written none is, but all are told so.
            let (writes, answer) = job(&writing.snapshot());
            answers.push(answer);
            has_writes |= !writes.is_empty();
            for write in &writes {
                applied = applied.and_then(|()| writing.apply(write));
            }
        }
        applied?;
        if has_writes { writing.commit() } else { Ok(()) }
    });
    let outcome = outcome.map_err(|error| engine.diagnose(error));
    for answer in answers {
        answer(match &outcome {
            Ok(()) => Ok(()),
            Err(error) => Err(error.again()),
        });
    }
}
