//! `/console/jobs/{n}/undo`: what undoing a job puts back, and doing it.

use askama::Template;
use handfast_registry::JobKind;
use hyper::{Response, StatusCode};

use super::shown_preview::{MAX_PREVIEWED, PREVIEWED_ROWS, ShownPreview};
use super::{find, need_fresh_for_many, words};
use crate::http::api_v1::jobs::{self as api_jobs, Wanted};
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, MenuItem};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/job_undo.html")]
struct JobUndoPage<'a> {
    frame: ConsoleFrame<'a>,
    number: u64,
    title: &'static str,
    what: String,
    changed: u64,
    preview: ShownPreview,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let job = find(visit)?;
    let number = job.number;
    let undo = JobKind::Undo { job: number };
    let preview =
        visit
            .registry()
            .preview_job(&visit.who(), undo, MAX_PREVIEWED, PREVIEWED_ROWS)?;
    let same = [
        format!("handfast job undo {number} --dry-run"),
        curl(visit, "POST", &format!("/jobs/{number}/undo?dry-run=true")),
    ];
    let page = JobUndoPage {
        frame: ConsoleFrame::new(visit, format!("Undo job {number}"), MenuItem::Jobs)
            .crumbs([
                Crumb::new("Jobs", "/console/jobs"),
                Crumb::new(format!("Job {number}"), format!("/console/jobs/{number}")),
                Crumb::new("Undo", ""),
            ])
            .same(same),
        number,
        title: words::title(&job.kind),
        what: job.kind.what(),
        changed: job.counts.changed,
        preview: ShownPreview::of(&preview),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

pub(super) fn start(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let job = find(visit)?.number;
    let undo = JobKind::Undo { job };
    need_fresh_for_many(visit, &undo)?;
    match api_jobs::begin(&visit.web.api, &visit.who(), Wanted::Kind(undo)) {
        Ok(started) => Ok(see(&format!(
            "/console/jobs/{}?done=started",
            started.number
        ))),
        // The form was sent twice.
        Err(problem) if ["undone", "under-way"].contains(&problem.about.code.as_str()) => {
            Ok(see("/console/jobs"))
        }
        Err(problem) => Err(PageError::Problem(Box::new(problem))),
    }
}
