//! The errors of a job, stored to be read later.
//!
//! The store has the first ten thousand errors of each of the last hundred jobs, numbered, up to a
//! number of bytes per job; of one account only those of its last ten jobs.

use handfast_store::{Loading, Table, TableKey, Write};

use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::{Done, Outcome};
use crate::registry::Registry;

/// The maximum number of stored errors of a job.
const MAX_ERRORS_PER_JOB: u64 = 10_000;
/// The maximum number of jobs with stored errors.
const MAX_JOBS_WITH_ERRORS: u64 = 100;
/// The maximum number of bytes of errors of an account's job: an account without any right can
/// produce as many errors as it likes.
const MAX_ERROR_BYTES: usize = 256 << 10;
/// The maximum number of bytes of errors of a job of the operator or of an administrator.
const MAX_ADMINISTRATOR_ERROR_BYTES: usize = 4 << 20;
/// The number of errors that are collected before they are written.
const WRITE_BATCH: usize = 1_000;

fn start(job: u64) -> Vec<u8> {
    [b"job-refused:", &job.to_be_bytes()[..]].concat()
}

fn key(job: u64, number: u64) -> Vec<u8> {
    [&start(job)[..], &number.to_be_bytes()].concat()
}

/// The errors of a job, on their way into the store.
pub(crate) struct JobErrors {
    job: u64,
    /// The number of errors, stored and collected.
    count: u64,
    gathered: Vec<(u64, Outcome)>,
    /// How many more bytes may be stored.
    bytes_left: usize,
}

impl JobErrors {
    /// The errors of a job that may have stored some already.
    pub(crate) fn of(registry: &Registry, job: u64) -> Result<Self, RegistryError> {
        let who = registry.job(job)?.who;
        let limit = if registry.is_administrator(&who)? {
            MAX_ADMINISTRATOR_ERROR_BYTES
        } else {
            MAX_ERROR_BYTES
        };
        let (mut count, mut bytes_used) = (0, 0);
        registry.read(|view| {
            view.errors(job, 0, |number, bytes| {
                count = number;
                bytes_used += bytes.len();
                true
            })
        })?;
        Ok(Self {
            job,
            count,
            gathered: Vec::new(),
            bytes_left: limit.saturating_sub(bytes_used),
        })
    }

    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let Done::Refused { code, reason } = &outcome.done else {
            return;
        };
        let bytes = outcome.id.as_ref().map_or(0, String::len) + code.len() + reason.len();
        let Some(bytes_left) = self.bytes_left.checked_sub(bytes) else {
            // Once one does not fit no later one is stored, so that the stored ones are the first.
            self.bytes_left = 0;
            return;
        };
        if self.count < MAX_ERRORS_PER_JOB {
            self.bytes_left = bytes_left;
            self.count += 1;
            self.gathered.push((self.count, outcome.clone()));
        }
    }

    pub(crate) fn are_many(&self) -> bool {
        self.gathered.len() >= WRITE_BATCH
    }

    /// The collected errors, to be written in a load with other data.
    pub(crate) fn take(&mut self) -> ErrorBatch {
        ErrorBatch {
            job: self.job,
            outcomes: std::mem::take(&mut self.gathered),
        }
    }

    /// Writes the collected errors.
    pub(crate) fn write(&mut self, registry: &Registry) -> Result<(), RegistryError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let gathered = self.take();
        registry.load(move |loading| gathered.put(loading))
    }
}

/// A batch of errors of a job.
pub(crate) struct ErrorBatch {
    job: u64,
    outcomes: Vec<(u64, Outcome)>,
}

impl ErrorBatch {
    pub(crate) fn put(&self, loading: &mut Loading<'_>) -> Result<(), RegistryError> {
        for (number, outcome) in &self.outcomes {
            let corrupt = |_| RegistryError::corrupt(format!("an outcome of job {}", self.job));
            let bytes = postcard::to_stdvec(outcome).map_err(corrupt)?;
            let table_key = TableKey::named(Table::Meta, &key(self.job, *number)).into_owned();
            loading.apply(&Write::Put(table_key, bytes))?;
        }
        Ok(())
    }
}

impl Registry {
    /// The errors of a job after a number, each with its number.
    pub fn job_errors(
        &self,
        job: u64,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Outcome)>, RegistryError> {
        let mut found = Vec::new();
        self.read(|view| {
            view.visit_errors(job, after.saturating_add(1), |number, outcome| {
                found.push((number, outcome));
                found.len() < limit
            })
        })?;
        Ok(found)
    }
}

impl View<'_> {
    fn errors(
        &self,
        job: u64,
        from: u64,
        mut visit: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), RegistryError> {
        let (start, from) = (start(job), key(job, from));
        self.scan_while(&TableKey::named(Table::Meta, &from), |table_key, bytes| {
            let number = table_key.name().strip_prefix(&start[..]);
            let number = number.and_then(|number| number.try_into().ok());
            Ok(number.is_some_and(|number| visit(u64::from_be_bytes(number), bytes)))
        })
    }

    /// Visits the errors of a job from a number on, as long as the visitor returns `true`.
    pub(crate) fn visit_errors(
        &self,
        job: u64,
        from: u64,
        mut visit: impl FnMut(u64, Outcome) -> bool,
    ) -> Result<(), RegistryError> {
        self.errors(job, from, |number, bytes| {
            let outcome = postcard::from_bytes(bytes);
            outcome.map_or(true, |outcome| visit(number, outcome))
        })
    }
}

impl ChangeSet<'_> {
    /// Deletes the errors of an old job when a new one starts.
    pub(crate) fn forget_errors(&mut self, new: u64) -> Result<(), RegistryError> {
        match new.checked_sub(MAX_JOBS_WITH_ERRORS) {
            Some(old) => self.drop_errors(old),
            None => Ok(()),
        }
    }

    /// Deletes the errors of a job.
    pub(crate) fn drop_errors(&mut self, old: u64) -> Result<(), RegistryError> {
        let mut numbers = Vec::new();
        self.errors(old, 0, |number, _| {
            numbers.push(number);
            true
        })?;
        for number in numbers {
            self.delete(TableKey::named(Table::Meta, &key(old, number)));
        }
        Ok(())
    }
}
