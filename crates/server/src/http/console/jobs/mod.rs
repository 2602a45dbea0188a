//! Jobs: start, progress, stop, resume, undo, report.
//!
//! A job is run as `/api/v1/jobs` runs it: by the same workers, with the same rules.

mod list;
mod new_job;
mod one_job;
mod report;
mod shown_preview;
mod undo;
pub(super) mod words;

use handfast_registry::{Job, JobKind};

use super::again::need_fresh;
use super::error_page::PageError;
use super::page_table::{PageRoute, form, page};
use super::visit::Visit;

/// With more names than this a job needs a fresh sign-in.
const MANY_NAMES: u64 = 10_000;

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/jobs", list::show),
    page("/jobs/new", new_job::show),
    form("/jobs/new", new_job::start),
    page("/jobs/{job}", one_job::show),
    form("/jobs/{job}/stop", one_job::stop),
    form("/jobs/{job}/resume", one_job::resume),
    page("/jobs/{job}/undo", undo::show),
    form("/jobs/{job}/undo", undo::start),
    page("/jobs/{job}/report", report::show),
    page("/jobs/{job}/report.csv", report::table),
];

/// Asks for a fresh sign-in before a job of many names.
fn need_fresh_for_many(visit: &Visit<'_>, kind: &JobKind) -> Result<(), PageError> {
    let registry = visit.registry();
    let names = match kind {
        // Only a command or a program can send the file again.
        JobKind::Import { .. } => 0,
        JobKind::ReplaceUrl { authority, .. } | JobKind::SetTtl { authority, .. } => {
            registry.counts(authority)?.with_children.total()
        }
        JobKind::Undo { job } => registry.job(*job)?.counts.changed,
        JobKind::Withdraw { count, .. } => *count,
    };
    if names > MANY_NAMES {
        need_fresh(visit)?;
    }
    Ok(())
}

/// The job of the path, if the person may see it.
fn find(visit: &Visit<'_>) -> Result<Job, PageError> {
    let missing = || PageError::not_found(format!("There is no job {}.", visit.id()));
    let number = visit.id().parse().map_err(|_| missing())?;
    match visit.registry().job_of(&visit.who(), number) {
        Err(error) if error.code() == "no-job" => Err(missing()),
        outcome => Ok(outcome?),
    }
}
