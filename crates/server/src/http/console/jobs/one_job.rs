//! `/console/jobs/{n}`: how far a job is, what came of it, stopping and resuming it.

use askama::Template;
use handfast_registry::{JobKind, Outcome};
use hyper::{Response, StatusCode};

use super::words::{self, ShownJobState, ShownProgress};
use super::{find, need_fresh_for_many, report};
use crate::http::api_v1::jobs::{self as api_jobs, Wanted};
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, Flash, MenuItem};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

/// How many rejections the page itself lists.
const MAX_LISTED: usize = 10;

#[derive(Template)]
#[template(path = "console/job.html")]
struct OneJobPage<'a> {
    frame: ConsoleFrame<'a>,
    number: u64,
    title: &'static str,
    what: String,
    by: String,
    state: ShownJobState,
    started: u64,
    ended: Option<u64>,
    progress: Option<ShownProgress>,
    created: u64,
    changed: u64,
    unchanged: u64,
    refused: u64,
    first_event: Option<u64>,
    last_event: Option<u64>,
    may_stop: bool,
    may_resume: bool,
    may_undo: bool,
    undone: Option<u64>,
    outcomes: Vec<report::ReportedOutcome>,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let (job, progress) = visit.registry().with_progress(find(visit)?)?;
    let number = job.number;
    let counts = progress.map_or(job.counts, |progress| progress.counts);
    let is_open = job.ended.is_none();
    let rejections = visit.registry().job_errors(number, 0, MAX_LISTED)?;
    let rejections = rejections
        .iter()
        .map(|(_, outcome): &(u64, Outcome)| outcome);
    let title = words::title(&job.kind);
    let same = [
        format!("handfast job show {number}"),
        curl(visit, "GET", &format!("/jobs/{number}")),
    ];
    let frame = ConsoleFrame::new(visit, format!("Job {number}: {title}"), MenuItem::Jobs)
        .crumbs([
            Crumb::new("Jobs", "/console/jobs"),
            Crumb::new(format!("Job {number}"), ""),
        ])
        .flash(flash(visit))
        .same(same);
    let has_changed = counts.changed > 0 || counts.created > 0;
    let page = OneJobPage {
        frame,
        number,
        title,
        what: job.kind.what(),
        by: visit.title_of(&job.who),
        state: ShownJobState::of(&job, progress.is_some()),
        started: job.started,
        ended: job.ended,
        progress: progress.map(|progress| ShownProgress::new(&progress, job.started, visit.now)),
        created: counts.created,
        changed: counts.changed,
        unchanged: counts.unchanged,
        refused: counts.refused,
        first_event: job.events.first().map(|(first, _)| *first),
        last_event: job.events.last().map(|(_, last)| *last),
        may_stop: is_open,
        may_resume: is_open && progress.is_none(),
        may_undo: progress.is_none()
            && has_changed
            && visit.registry().may_undo_job(&visit.who(), number),
        undone: match job.kind {
            JobKind::Undo { job } => Some(job),
            _ => None,
        },
        outcomes: rejections.map(report::ReportedOutcome::of).collect(),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

fn flash(visit: &Visit<'_>) -> Option<Flash> {
    let (kind, head, text) = match visit.query("done")? {
        "started" => (
            "good",
            "Started.",
            "It runs in the background. You may leave this page.",
        ),
        "stopped" => (
            "good",
            "Stopped.",
            "What it has changed so far stays, and can be undone.",
        ),
        "resumed" => ("good", "Resumed.", "It goes on where it was interrupted."),
        _ => return None,
    };
    Some(Flash::new(kind, head, text))
}

pub(super) fn stop(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let number = find(visit)?.number;
    match api_jobs::stop(visit.registry(), &visit.who(), number) {
        Ok(_) => Ok(see(&format!("/console/jobs/{number}?done=stopped"))),
        // It ended in between: the page says how.
        Err(problem) if problem.about.code == "done" => Ok(see(&format!("/console/jobs/{number}"))),
        Err(problem) => Err(PageError::Problem(Box::new(problem))),
    }
}

pub(super) fn resume(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let job = find(visit)?;
    need_fresh_for_many(visit, &job.kind)?;
    let number = job.number;
    match api_jobs::begin(&visit.web.api, &visit.who(), Wanted::Resume(number)) {
        Ok(_) => Ok(see(&format!("/console/jobs/{number}?done=resumed"))),
        Err(problem) if ["done", "under-way"].contains(&problem.about.code.as_str()) => {
            Ok(see(&format!("/console/jobs/{number}")))
        }
        Err(problem) => Err(PageError::Problem(Box::new(problem))),
    }
}
