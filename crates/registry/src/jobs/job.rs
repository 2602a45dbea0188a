//! Jobs: imports and bulk changes.
//!
//! A job is stored while it runs, so that it can be resumed after an interruption, and afterwards,
//! so that it can be looked up and undone.

use handfast_store::{Table, TableKey, Write};
use serde::{Deserialize, Serialize};

use crate::access::principal::Principal;
use crate::access::quota::{JobsOfAccount, OldJobs};
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::Counts;
use crate::jobs::running::RunningJobGuard;
use crate::registry::{Registry, locked};

/// A job, running or ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub number: u64,
    /// What it does.
    pub kind: JobKind,
    /// Who started it.
    pub who: Principal,
    /// When, in milliseconds since 1970.
    pub started: u64,
    /// When it ended; `None` if it is running, or was interrupted.
    pub ended: Option<u64>,
    /// The number of its first event: all events before it are older.
    pub first_event: u64,
    /// The ranges of its own events: from and to.
    pub events: Vec<(u64, u64)>,
    /// Its progress: lines, or names.
    pub done: u64,
    /// The key of the last processed name.
    pub cursor: Option<String>,
    /// Identifies the applied operations of a batch.
    pub seen: [u8; 32],
    /// The counts of its outcomes.
    pub counts: Counts,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
}

/// The kind of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobKind {
    /// Imports names from a file.
    Import {
        /// The file.
        source: String,
        /// A digest that identifies the file.
        fingerprint: [u8; 32],
    },
    /// Replaces the beginning of URLs.
    ReplaceUrl {
        /// The authority, with everything below it.
        authority: String,
        /// The old beginning.
        from: String,
        /// The new beginning.
        to: String,
        /// Whether only the host is replaced.
        is_host: bool,
    },
    /// Sets the TTL of values.
    SetTtl {
        /// The authority, with everything below it.
        authority: String,
        /// The type of the values; all of them if `None`.
        value_type: Option<String>,
        /// The TTL, in seconds.
        seconds: u32,
    },
    /// Undoes another job.
    Undo {
        /// The job to undo.
        job: u64,
    },
    /// Withdraws names, which are stored in a list of their own.
    Withdraw {
        /// How many.
        count: u64,
        /// A digest that identifies the list.
        fingerprint: [u8; 32],
        /// Why.
        reason: String,
    },
}

impl JobKind {
    /// What it is done with, for people.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Import { source, .. } => source.clone(),
            Self::ReplaceUrl {
                authority,
                from,
                to,
                ..
            } => format!("{from} by {to} under {authority}"),
            Self::SetTtl {
                authority,
                value_type,
                seconds,
            } => {
                let types = value_type.as_deref().unwrap_or("all");
                format!("{seconds} s for {types} values under {authority}")
            }
            Self::Undo { job } => format!("job {job}"),
            Self::Withdraw { count, reason, .. } => format!("{count} names: {reason}"),
        }
    }
}

impl Job {
    /// Whether it can be resumed; if not, what to do instead.
    pub fn check_unfinished(&self) -> Result<(), RegistryError> {
        let number = self.number;
        if self.is_cancelled {
            let instead = match self.kind {
                JobKind::Import { .. } => "import the same again to import the rest".to_string(),
                JobKind::Undo { job } => format!("undo job {job} again to undo the rest"),
                _ => "start the same again to do the rest".to_string(),
            };
            let problem = format!("job {number} was cancelled: {instead}");
            return Err(RegistryError::policy("cancelled", problem));
        }
        if self.ended.is_some() {
            let problem = format!("job {number} was done: nothing is left to do");
            return Err(RegistryError::policy("done", problem));
        }
        Ok(())
    }

    /// Adds events, from a number up to but not including another, to its own.
    pub(crate) fn add_events(&mut self, from: u64, to: u64) {
        if from == to {
            return;
        }
        match self.events.last_mut() {
            Some((_, last)) if *last + 1 == from => *last = to - 1,
            _ => self.events.push((from, to - 1)),
        }
    }

    /// Jobs of earlier versions do not store whether they were cancelled: they were not.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let whole = postcard::from_bytes(bytes).ok();
        whole.or_else(|| postcard::from_bytes(&[bytes, &[0]].concat()).ok())
    }

    pub(crate) fn to_write(&self) -> Result<Write, RegistryError> {
        let corrupt = |_| RegistryError::corrupt(format!("job {}", self.number));
        let bytes = postcard::to_stdvec(self).map_err(corrupt)?;
        Ok(Write::Put(table_key(self.number), bytes))
    }
}

/// A job that was started or resumed. It counts as running until this value is dropped.
pub(crate) struct Begun {
    pub(crate) job: Job,
    /// The opaque id of the principal.
    pub(crate) actor: [u8; 16],
    pub(crate) is_new: bool,
    pub(crate) entered: RunningJobGuard,
}

/// The number of names in one part of a list.
pub(crate) const JOB_BATCH: usize = 500;

/// The key of a part of the list of a job.
fn part_key(job: u64, part: u64) -> Vec<u8> {
    [b"job-list:", &job.to_be_bytes()[..], &part.to_be_bytes()].concat()
}

impl View<'_> {
    /// A job.
    pub(crate) fn job(&self, number: u64) -> Result<Option<Job>, RegistryError> {
        let what = || format!("job {number}");
        self.stored(&table_key(number), Job::from_bytes, what)
    }

    /// Visits jobs from a number on, oldest first, as long as the visitor returns `true`.
    pub(crate) fn visit_jobs(
        &self,
        from: u64,
        mut visit: impl FnMut(Job) -> Result<bool, RegistryError>,
    ) -> Result<(), RegistryError> {
        let from = TableKey::numbered(Table::Jobs, from);
        self.scan_while(&from, |table_key, bytes| {
            let number = table_key.number().unwrap_or_default();
            let damaged = || RegistryError::corrupt(format!("job {number}"));
            visit(Job::from_bytes(bytes).ok_or_else(damaged)?)
        })
    }

    /// The names of the list of a job from a number on, up to the end of their part.
    pub(crate) fn listed(&self, job: u64, from: u64) -> Result<Vec<String>, RegistryError> {
        let size = u64::try_from(JOB_BATCH).unwrap_or(u64::MAX);
        let names: Option<Vec<String>> =
            self.decode_stored(Table::Meta, &part_key(job, from / size))?;
        let skip = usize::try_from(from % size).unwrap_or(usize::MAX);
        Ok(names.unwrap_or_default().into_iter().skip(skip).collect())
    }
}

pub(super) fn no_job(number: u64) -> RegistryError {
    RegistryError::policy("no-job", format!("there is no job {number}"))
}

fn table_key(number: u64) -> TableKey<'static> {
    TableKey::numbered(Table::Jobs, number)
}

impl Registry {
    /// All jobs, oldest first.
    pub fn jobs(&self) -> Result<Vec<Job>, RegistryError> {
        self.jobs_that(|_| true)
    }

    /// A job, and all jobs that undo others.
    pub(crate) fn undos_and(&self, number: u64) -> Result<Vec<Job>, RegistryError> {
        self.jobs_that(|job| job.number == number || matches!(job.kind, JobKind::Undo { .. }))
    }

    fn jobs_that(&self, is_meant: impl Fn(&Job) -> bool) -> Result<Vec<Job>, RegistryError> {
        let mut jobs = Vec::new();
        self.read(|view| {
            view.visit_jobs(0, |job| {
                jobs.extend(Some(job).filter(&is_meant));
                Ok(true)
            })
        })?;
        Ok(jobs)
    }

    /// A job.
    pub fn job(&self, number: u64) -> Result<Job, RegistryError> {
        let found = self.read(|view| view.job(number))?;
        found.ok_or_else(|| no_job(number))
    }

    /// Starts a job, or resumes the same one if it was interrupted.
    pub(crate) fn begin_job(
        &self,
        who: &Principal,
        kind: JobKind,
        list: &[String],
    ) -> Result<Begun, RegistryError> {
        let _only = locked(&self.running_jobs.beginning);
        let mut unfinished = None;
        let mut theirs = JobsOfAccount::default();
        let now = self.time();
        self.read(|view| {
            view.visit_jobs(0, |job| {
                if job.who == *who {
                    theirs.add(&job, now);
                    if job.ended.is_none() && job.kind == kind {
                        unfinished = Some(job);
                    }
                }
                Ok(true)
            })
        })?;
        match &unfinished {
            Some(job) => self.is_at_rest(job)?,
            None if self.is_administrator(who)? => theirs = JobsOfAccount::default(),
            None => theirs.check(&self.limits, now)?,
        }
        let old = theirs.old(&self.limits);
        let (list, is_new) = (list.to_vec(), unfinished.is_none());
        let refused = list.iter().filter(|id| id.is_empty()).count();
        let counts = Counts {
            refused: u64::try_from(refused).unwrap_or(0),
            ..Counts::default()
        };
        let (job, actor) = self.change(who, move |change_set| {
            let actor = change_set.actor_id();
            if let Some(job) = unfinished {
                return Ok((job, actor));
            }
            let job = Job {
                number: change_set.now.last_number(Table::Jobs)?.unwrap_or(0) + 1,
                started: change_set.time(),
                first_event: change_set.next_event(),
                counts,
                ..Job::planned(&change_set.who().lasting(), kind)
            };
            change_set.forget_errors(job.number)?;
            change_set.prune_jobs(&old)?;
            change_set.store_job(&job)?;
            for (part, names) in (0..).zip(list.chunks(JOB_BATCH)) {
                let names: Vec<_> = names.iter().collect();
                change_set.store_encoded(Table::Meta, &part_key(job.number, part), &names)?;
            }
            Ok((job, actor))
        })?;
        Ok(self.enter(job, actor, is_new))
    }

    fn enter(&self, job: Job, actor: [u8; 16], is_new: bool) -> Begun {
        let unit = match job.kind {
            JobKind::Import { .. } => "bytes",
            _ => "names",
        };
        Begun {
            entered: self.running_jobs.enter(&job, unit),
            job,
            actor,
            is_new,
        }
    }

    fn is_at_rest(&self, job: &Job) -> Result<(), RegistryError> {
        if self.running_jobs.holds(job.number) {
            let problem = format!("job {} does this, and is under way", job.number);
            return Err(RegistryError::policy("under-way", problem));
        }
        Ok(())
    }

    /// Resumes an interrupted job. The principal that started it may, and those that may do
    /// everything.
    pub(crate) fn take_up(&self, who: &Principal, number: u64) -> Result<Begun, RegistryError> {
        let _only = locked(&self.running_jobs.beginning);
        let job = self.job_of(who, number)?;
        job.check_unfinished()?;
        self.is_at_rest(&job)?;
        let actor = self.change(who, |change_set| Ok(change_set.actor_id()))?;
        Ok(self.enter(job, actor, false))
    }

    /// Starts a job without resuming an interrupted one.
    pub(crate) fn give_up(&self, who: &Principal, kind: &JobKind) -> Result<(), RegistryError> {
        let is_same = |job: &Job| job.ended.is_none() && job.kind == *kind && job.who == *who;
        let same = self.jobs_that(is_same)?;
        let mut same = same.into_iter();
        same.try_for_each(|job| self.end_job(job).map(|_| ()))
    }

    /// Marks a job as ended, and deletes its list: the events record its changes.
    pub(crate) fn end_job(&self, mut job: Job) -> Result<Job, RegistryError> {
        let who = job.who.clone();
        self.change(&who, move |change_set| {
            // The events of an import are stored while it runs.
            if let Some(stored) = change_set.job(job.number)? {
                job.events = stored.events;
            }
            job.ended = Some(change_set.time());
            change_set.store_job(&job)?;
            change_set.drop_list(&job);
            Ok(job)
        })
    }
}

impl ChangeSet<'_> {
    pub(crate) fn store_job(&mut self, job: &Job) -> Result<(), RegistryError> {
        self.push(job.to_write()?);
        Ok(())
    }

    fn drop_list(&mut self, job: &Job) {
        let JobKind::Withdraw { count, .. } = job.kind else {
            return;
        };
        let size = u64::try_from(JOB_BATCH).unwrap_or(u64::MAX);
        for part in 0..count.div_ceil(size) {
            self.delete(TableKey::named(Table::Meta, &part_key(job.number, part)));
        }
    }

    /// Deletes jobs that ended long ago, and the errors of less old ones.
    fn prune_jobs(&mut self, old: &OldJobs) -> Result<(), RegistryError> {
        for number in &old.without_outcomes {
            self.drop_errors(*number)?;
        }
        for number in &old.forgotten {
            if let Some(job) = self.job(*number)? {
                self.drop_list(&job);
            }
            self.drop_errors(*number)?;
            self.delete(table_key(*number));
        }
        Ok(())
    }
}
