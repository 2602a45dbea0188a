//! Jobs that run in this process: their progress, and requests to stop them.
//!
//! The store has the job and its progress; the data here ends with the process. A stored job that
//! has not ended and is not here was interrupted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::access::principal::Principal;
use crate::error::RegistryError;
use crate::import::Counts;
use crate::jobs::job::Job;
use crate::registry::{Registry, locked};

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is in total, if that is known.
    pub total: Option<u64>,
    /// The unit: `names`, or `bytes` of the input.
    pub unit: &'static str,
    /// The counts so far.
    pub counts: Counts,
}

/// How a job is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Cancels it for good.
    Cancel,
    /// Pauses it because the process ends; it can be resumed.
    Pause,
}

const GOES_ON: u8 = 0;
const CANCEL: u8 = 1;
const PAUSE: u8 = 2;

/// A running job, shared by its worker and by those who watch it.
#[derive(Debug)]
pub(crate) struct RunningJob {
    done: AtomicU64,
    /// `u64::MAX` if it is not known.
    total: AtomicU64,
    unit: &'static str,
    counts: Mutex<Counts>,
    stop: AtomicU8,
    /// Whether a caller waits for its end.
    is_waited_for: AtomicBool,
}

impl RunningJob {
    pub(crate) fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn at(&self, done: u64, counts: Counts) {
        self.done.store(done, Ordering::Relaxed);
        *locked(&self.counts) = counts;
    }

    /// How to stop, if it was told to.
    pub(crate) fn stop(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            CANCEL => Some(Stop::Cancel),
            PAUSE => Some(Stop::Pause),
            _ => None,
        }
    }

    fn progress(&self) -> Progress {
        let total = self.total.load(Ordering::Relaxed);
        Progress {
            done: self.done.load(Ordering::Relaxed),
            total: Some(total).filter(|total| *total != u64::MAX),
            unit: self.unit,
            counts: *locked(&self.counts),
        }
    }
}

type ByNumber = HashMap<u64, Arc<RunningJob>>;

/// All running jobs.
#[derive(Debug, Default)]
pub(crate) struct RunningJobs {
    by_number: Arc<Mutex<ByNumber>>,
    /// Locked while a job starts, so that none is resumed twice.
    pub(crate) beginning: Mutex<()>,
    /// Whether the process is about to end.
    is_ending: Arc<AtomicBool>,
}

impl RunningJobs {
    fn all(&self) -> MutexGuard<'_, ByNumber> {
        locked(&self.by_number)
    }

    pub(crate) fn holds(&self, number: u64) -> bool {
        self.all().contains_key(&number)
    }

    /// Registers a job as running until the returned guard is dropped.
    pub(crate) fn enter(&self, job: &Job, unit: &'static str) -> RunningJobGuard {
        let running_job = Arc::new(RunningJob {
            done: AtomicU64::new(if unit == "names" { job.done } else { 0 }),
            total: AtomicU64::new(u64::MAX),
            unit,
            counts: Mutex::new(job.counts),
            stop: AtomicU8::new(GOES_ON),
            is_waited_for: AtomicBool::new(true),
        });
        self.all().insert(job.number, Arc::clone(&running_job));
        RunningJobGuard {
            number: job.number,
            running_job,
            of: Arc::clone(&self.by_number),
            is_ending: Arc::clone(&self.is_ending),
        }
    }
}

/// The registration of a running job; dropping it ends the registration.
#[derive(Debug)]
pub(crate) struct RunningJobGuard {
    number: u64,
    pub(crate) running_job: Arc<RunningJob>,
    of: Arc<Mutex<ByNumber>>,
    is_ending: Arc<AtomicBool>,
}

impl RunningJobGuard {
    /// Detaches the job: no caller waits for it, and it stops when the process ends.
    pub(crate) fn detach(&self) {
        let running_job = &self.running_job;
        running_job.is_waited_for.store(false, Ordering::Relaxed);
        if self.is_ending.load(Ordering::Relaxed) {
            running_job.stop.store(PAUSE, Ordering::Relaxed);
        }
    }
}

impl Drop for RunningJobGuard {
    fn drop(&mut self) {
        locked(&self.of).remove(&self.number);
    }
}

impl Registry {
    /// The progress of a job that runs in this process.
    pub(crate) fn progress(&self, number: u64) -> Option<Progress> {
        let all = self.running_jobs.all();
        all.get(&number).map(|running_job| running_job.progress())
    }

    /// The numbers of all jobs that run in this process, and their progress, by number.
    pub(crate) fn running_progress(&self) -> Vec<(u64, Progress)> {
        let all = self.running_jobs.all();
        let mut running: Vec<_> = all
            .iter()
            .map(|(number, running_job)| (*number, running_job.progress()))
            .collect();
        running.sort_unstable_by_key(|(number, _)| *number);
        running
    }

    /// A job and its progress, if it runs in this process. A job that ended in between is read
    /// again, so that it does not look interrupted.
    pub fn with_progress(&self, job: Job) -> Result<(Job, Option<Progress>), RegistryError> {
        let progress = self.progress(job.number);
        let job = match progress {
            None if job.ended.is_none() => self.job(job.number)?,
            _ => job,
        };
        Ok((job, progress))
    }

    /// Cancels a job: it stops at its next batch and cannot be resumed. Its changes stay and can be
    /// undone, except those of an import.
    pub fn cancel_job(&self, who: &Principal, number: u64) -> Result<Job, RegistryError> {
        let mut job = self.job_of(who, number)?;
        if job.ended.is_some() {
            let problem = match job.kind {
                _ if job.is_cancelled => "was cancelled already",
                _ => "has ended: undo it instead",
            };
            return Err(RegistryError::policy(
                "done",
                format!("job {number} {problem}"),
            ));
        }
        let running = self.running_jobs.all().get(&number).cloned();
        if let Some(running) = running {
            running.stop.store(CANCEL, Ordering::Relaxed);
            return Ok(job);
        }
        job.is_cancelled = true;
        self.end_job(job)
    }

    /// The number of jobs that run in this process.
    #[must_use]
    pub fn jobs_under_way(&self) -> usize {
        self.running_jobs.all().len()
    }

    /// Stops all detached jobs at their next batch, so that another process can resume them.
    pub fn pause_jobs(&self) {
        self.running_jobs.is_ending.store(true, Ordering::Relaxed);
        let all = self.running_jobs.all();
        let left_alone = |running_job: &&Arc<RunningJob>| {
            let is_waited_for = running_job.is_waited_for.load(Ordering::Relaxed);
            !is_waited_for
        };
        for running_job in all.values().filter(left_alone) {
            let stop = &running_job.stop;
            // A cancelled job stays cancelled.
            let _ = stop.compare_exchange(GOES_ON, PAUSE, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}
