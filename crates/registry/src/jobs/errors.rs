//! What a job has refused, kept to be looked at later.
//!
//! Of each of the last hundred jobs the first ten thousand refusals are kept, by a number that counts them, as far as they
//! take no more bytes than one job may store; of one account only those of its last ten jobs.

use std::ops::ControlFlow;

use handfast_store::{Loading, Table, TableKey, Write};

use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::import::{Done, Outcome};
use crate::registry::Registry;

/// How many are kept of a job.
const MAX_ERRORS_PER_JOB: u64 = 10_000;
/// Of how many jobs they are kept.
const MAX_JOBS_WITH_ERRORS: u64 = 100;
/// How many bytes are kept of a job of an account: whoever may do nothing can have everything refused.
const MAX_ERROR_BYTES: usize = 256 << 10;
/// How many bytes are kept of a job of the operator, or of an administrator.
const MAX_ADMINISTRATOR_ERROR_BYTES: usize = 4 << 20;
/// How many are gathered before they are written.
const WRITE_BATCH: usize = 1_000;

fn start(job: u64) -> Vec<u8> {
    [b"job-refused:", &job.to_be_bytes()[..]].concat()
}

fn key(job: u64, number: u64) -> Vec<u8> {
    [&start(job)[..], &number.to_be_bytes()].concat()
}

/// The refusals of a job, on their way into the store.
pub(crate) struct JobErrors {
    job: u64,
    /// How many there are in the store, and on the way.
    count: u64,
    gathered: Vec<(u64, Outcome)>,
    /// How many bytes more may be kept.
    bytes_left: usize,
}

impl JobErrors {
    /// Those of a job that may have some already.
    pub(crate) fn of(registry: &Registry, job: u64) -> Result<Self, RegistryError> {
        let who = registry.job(job)?.who;
        let limit = if registry.is_administrator(&who)? {
            MAX_ADMINISTRATOR_ERROR_BYTES
        } else {
            MAX_ERROR_BYTES
        };
        let (mut count, mut bytes_used) = (0, 0);
        registry.read(|view| {
            view.errors(job, 0, &mut |number, bytes| {
                count = number;
                bytes_used += bytes.len();
                ControlFlow::Continue(())
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
            // Nothing later is kept either, so that those that are kept are the first.
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

    /// What is to be written, in a load that writes something else too.
    pub(crate) fn take(&mut self) -> ErrorBatch {
        ErrorBatch {
            job: self.job,
            outcomes: std::mem::take(&mut self.gathered),
        }
    }

    /// Writes those that are gathered.
    pub(crate) fn write(&mut self, registry: &Registry) -> Result<(), RegistryError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let gathered = self.take();
        registry.load(move |loading| gathered.put(loading))
    }
}

/// Some refusals of a job.
pub(crate) struct ErrorBatch {
    job: u64,
    outcomes: Vec<(u64, Outcome)>,
}

impl ErrorBatch {
    pub(crate) fn put(&self, loading: &mut Loading<'_>) -> Result<(), RegistryError> {
        for (number, outcome) in &self.outcomes {
            let corrupt = |_| RegistryError::Corrupt {
                what: format!("an outcome of job {}", self.job),
            };
            let bytes = postcard::to_stdvec(outcome).map_err(corrupt)?;
            let table_key = TableKey::named(Table::Meta, &key(self.job, *number)).into_owned();
            loading.apply(&Write::Put(table_key, bytes))?;
        }
        Ok(())
    }
}

impl Registry {
    /// What a job has refused, each with its number, behind a number.
    pub fn job_errors(
        &self,
        job: u64,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Outcome)>, RegistryError> {
        let mut found = Vec::new();
        self.read(|view| {
            view.visit_errors(job, after.saturating_add(1), &mut |number, outcome| {
                found.push((number, outcome));
                if found.len() < limit {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
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
        visit: &mut dyn FnMut(u64, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), RegistryError> {
        let (start, from) = (start(job), key(job, from));
        let from = TableKey::named(Table::Meta, &from);
        self.now.scan(&from, &mut |table_key, bytes| {
            let number = table_key.name().strip_prefix(&start[..]);
            match number.and_then(|number| number.try_into().ok()) {
                Some(number) => visit(u64::from_be_bytes(number), bytes),
                None => ControlFlow::Break(()),
            }
        })?;
        Ok(())
    }
}

impl View<'_> {
    /// Visits what a job has refused, from a number on.
    pub(crate) fn visit_errors(
        &self,
        job: u64,
        from: u64,
        visit: &mut dyn FnMut(u64, Outcome) -> ControlFlow<()>,
    ) -> Result<(), RegistryError> {
        self.errors(
            job,
            from,
            &mut |number, bytes| match postcard::from_bytes(bytes) {
                Ok(outcome) => visit(number, outcome),
                Err(_) => ControlFlow::Continue(()),
            },
        )
    }
}

impl ChangeSet<'_> {
    /// A job begins: those of one long ago go.
    pub(crate) fn forget_errors(&mut self, new: u64) -> Result<(), RegistryError> {
        match new.checked_sub(MAX_JOBS_WITH_ERRORS) {
            Some(old) => self.drop_errors(old),
            None => Ok(()),
        }
    }

    /// Forgets what a job has refused.
    pub(crate) fn drop_errors(&mut self, old: u64) -> Result<(), RegistryError> {
        let mut numbers = Vec::new();
        self.errors(old, 0, &mut |number, _| {
            numbers.push(number);
            ControlFlow::Continue(())
        })?;
        for number in numbers {
            let table_key = TableKey::named(Table::Meta, &key(old, number)).into_owned();
            self.push(Write::Delete(table_key));
        }
        Ok(())
    }
}
