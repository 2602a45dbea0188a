//! What a job has refused, kept to be looked at later.
//!
//! Of each of the last hundred jobs the first ten thousand refusals are kept, by a number that counts them.

use std::ops::ControlFlow;

use handfast_store::{Loading, Place, Table, Write};

use crate::draft::Draft;
use crate::import::{Done, Outcome};
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::view::View;

/// How many are kept of a job.
const MOST: u64 = 10_000;
/// Of how many jobs they are kept.
const JOBS: u64 = 100;
/// How many are gathered before they are written.
const TOGETHER: usize = 1_000;

fn start(job: u64) -> Vec<u8> {
    [b"job-refused:", &job.to_be_bytes()[..]].concat()
}

fn key(job: u64, number: u64) -> Vec<u8> {
    [&start(job)[..], &number.to_be_bytes()].concat()
}

/// The refusals of a job, on their way into the store.
pub(crate) struct Refusals {
    job: u64,
    /// How many there are in the store, and on the way.
    count: u64,
    gathered: Vec<(u64, Outcome)>,
}

impl Refusals {
    /// Those of a job that may have some already.
    pub(crate) fn of(registry: &Registry, job: u64) -> Result<Self, Refusal> {
        let mut count = 0;
        registry.read(|view| {
            view.refusals(job, 0, &mut |number, _| {
                count = number;
                ControlFlow::Continue(())
            })
        })?;
        Ok(Self {
            job,
            count,
            gathered: Vec::new(),
        })
    }

    pub(crate) fn add(&mut self, outcome: &Outcome) {
        if matches!(outcome.done, Done::Refused { .. }) && self.count < MOST {
            self.count += 1;
            self.gathered.push((self.count, outcome.clone()));
        }
    }

    pub(crate) fn are_many(&self) -> bool {
        self.gathered.len() >= TOGETHER
    }

    /// What is to be written, in a load that writes something else too.
    pub(crate) fn take(&mut self) -> Gathered {
        Gathered {
            job: self.job,
            outcomes: std::mem::take(&mut self.gathered),
        }
    }

    /// Writes those that are gathered.
    pub(crate) fn write(&mut self, registry: &Registry) -> Result<(), Refusal> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let gathered = self.take();
        registry.load(move |loading| gathered.put(loading))
    }
}

/// Some refusals of a job.
pub(crate) struct Gathered {
    job: u64,
    outcomes: Vec<(u64, Outcome)>,
}

impl Gathered {
    pub(crate) fn put(&self, loading: &mut Loading<'_>) -> Result<(), Refusal> {
        for (number, outcome) in &self.outcomes {
            let corrupt = |_| Refusal::Corrupt {
                what: format!("an outcome of job {}", self.job),
            };
            let bytes = postcard::to_stdvec(outcome).map_err(corrupt)?;
            let place = Place::named(Table::Meta, &key(self.job, *number)).into_owned();
            loading.apply(&Write::Put(place, bytes))?;
        }
        Ok(())
    }
}

impl Registry {
    /// What a job has refused, each with its number, behind a number.
    pub fn refusals(
        &self,
        job: u64,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, Outcome)>, Refusal> {
        let mut found = Vec::new();
        self.read(|view| {
            view.refusals(job, after.saturating_add(1), &mut |number, bytes| {
                if found.len() == most {
                    return ControlFlow::Break(());
                }
                found.extend(
                    postcard::from_bytes(bytes)
                        .ok()
                        .map(|outcome| (number, outcome)),
                );
                ControlFlow::Continue(())
            })
        })?;
        Ok(found)
    }
}

impl View<'_> {
    fn refusals(
        &self,
        job: u64,
        from: u64,
        visit: &mut dyn FnMut(u64, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Refusal> {
        let (start, from) = (start(job), key(job, from));
        let from = Place::named(Table::Meta, &from);
        self.now.scan(&from, &mut |place, bytes| {
            let number = place.name().strip_prefix(&start[..]);
            match number.and_then(|number| number.try_into().ok()) {
                Some(number) => visit(u64::from_be_bytes(number), bytes),
                None => ControlFlow::Break(()),
            }
        })?;
        Ok(())
    }
}

impl Draft<'_> {
    /// A job begins: those of one long ago go.
    pub(crate) fn forget_refusals(&mut self, new: u64) -> Result<(), Refusal> {
        let Some(old) = new.checked_sub(JOBS) else {
            return Ok(());
        };
        let mut numbers = Vec::new();
        self.refusals(old, 0, &mut |number, _| {
            numbers.push(number);
            ControlFlow::Continue(())
        })?;
        for number in numbers {
            let place = Place::named(Table::Meta, &key(old, number)).into_owned();
            self.push(Write::Delete(place));
        }
        Ok(())
    }
}
