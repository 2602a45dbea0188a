//! `/console/jobs`: the jobs of this person; all jobs for administrators.

use askama::Template;
use handfast_registry::Job;
use hyper::{Response, StatusCode};

use super::words::{self, ShownJobState};
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

/// How many jobs a page has.
const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "console/jobs.html")]
struct JobsPage<'a> {
    frame: ConsoleFrame<'a>,
    jobs: Vec<ListedJob>,
    next: Option<u64>,
    is_first: bool,
    sees_all: bool,
}

struct ListedJob {
    number: u64,
    title: &'static str,
    what: String,
    by: String,
    state: ShownJobState,
    started: u64,
    changed: u64,
    refused: u64,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let before = visit.query("before").and_then(|text| text.parse().ok());
    let found = visit.registry().latest_jobs(&visit.who(), before, PAGE)?;
    let jobs = found.jobs.into_iter().map(|job| listed(visit, job));
    let jobs = jobs.collect::<Result<_, _>>()?;
    let same = ["handfast job list".to_string(), curl(visit, "GET", "/jobs")];
    let page = JobsPage {
        frame: ConsoleFrame::new(visit, "Jobs", MenuItem::Jobs).same(same),
        jobs,
        next: found.next,
        is_first: before.is_none(),
        sees_all: visit.person()?.is_administrator,
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

fn listed(visit: &Visit<'_>, job: Job) -> Result<ListedJob, PageError> {
    let (job, progress) = visit.registry().with_progress(job)?;
    let counts = progress.map_or(job.counts, |progress| progress.counts);
    Ok(ListedJob {
        number: job.number,
        title: words::title(&job.kind),
        what: job.kind.what(),
        by: visit.title_of(&job.who),
        state: ShownJobState::of(&job, progress.is_some()),
        started: job.started,
        changed: counts.changed.saturating_add(counts.created),
        refused: counts.refused,
    })
}
