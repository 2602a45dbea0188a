//! `/console/jobs/{n}/report`: what a job has refused, as a page, and what came of all names, as a
//! table.

use askama::Template;
use handfast_registry::{Done, EventFilter, Job, Outcome, rfc3339};
use hyper::header::CONTENT_DISPOSITION;
use hyper::{Response, StatusCode};

use super::{find, words};
use crate::http::console::authorities::curl;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::csv::Csv;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::{Body, WithHeader, reply};

/// How many rejections a page has.
const PAGE: usize = 100;
/// How many rows of each kind the table has at most.
const MAX_ROWS: usize = 5_000;
/// How many events are read at once.
const EVENTS_AT_ONCE: usize = 500;

#[derive(Template)]
#[template(path = "console/job_report.html")]
struct ReportPage<'a> {
    frame: ConsoleFrame<'a>,
    number: u64,
    title: &'static str,
    outcomes: Vec<ReportedOutcome>,
    next: Option<u64>,
    changed: u64,
    created: u64,
    refused: u64,
    max_rows: u64,
}

/// What came of a name.
pub(super) struct ReportedOutcome {
    pub(super) line: u64,
    pub(super) id: String,
    pub(super) path: String,
    pub(super) reason: String,
    pub(super) code: String,
}

impl ReportedOutcome {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let id = outcome.id.clone().unwrap_or_default();
        let (code, reason) = match &outcome.done {
            Done::Refused { code, reason } => (code.clone(), reason.clone()),
            done => (String::new(), done.as_str().to_string()),
        };
        Self {
            line: outcome.line,
            path: format!("/console/names/{}", encode(&id, COMPONENT)),
            id,
            reason,
            code,
        }
    }
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let job = find(visit)?;
    let number = job.number;
    let after = visit.query("after").and_then(|text| text.parse().ok());
    let found = visit
        .registry()
        .job_errors(number, after.unwrap_or(0), PAGE)?;
    let next = found.last().map(|(last, _)| *last);
    let same = [
        format!("handfast job show {number}"),
        curl(visit, "GET", &format!("/jobs/{number}/outcomes")),
    ];
    let page = ReportPage {
        frame: ConsoleFrame::new(visit, format!("Report of job {number}"), MenuItem::Jobs)
            .crumbs([
                Crumb::new("Jobs", "/console/jobs"),
                Crumb::new(format!("Job {number}"), format!("/console/jobs/{number}")),
                Crumb::new("Report", ""),
            ])
            .same(same),
        number,
        title: words::title(&job.kind),
        next: next.filter(|_| found.len() == PAGE),
        outcomes: found
            .iter()
            .map(|(_, outcome)| ReportedOutcome::of(outcome))
            .collect(),
        changed: job.counts.changed,
        created: job.counts.created,
        refused: job.counts.refused,
        max_rows: u64::try_from(MAX_ROWS).unwrap_or(0),
    };
    Ok(page.frame.respond(StatusCode::OK, &page))
}

/// The rejections, then the changes, newest first.
pub(super) fn table(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let job = find(visit)?;
    let mut csv = Csv::new(&["outcome", "name", "line", "event", "time", "code", "reason"]);
    for (_, outcome) in visit.registry().job_errors(job.number, 0, MAX_ROWS)? {
        let row = ReportedOutcome::of(&outcome);
        let line = if row.line == 0 {
            String::new()
        } else {
            row.line.to_string()
        };
        csv.row(&["refused", &row.id, &line, "", "", &row.code, &row.reason]);
    }
    put_events(visit, &job, &mut csv)?;
    let name = format!("attachment; filename=\"job-{}.csv\"", job.number);
    let response = reply(StatusCode::OK, "text/csv; charset=utf-8", csv.finish());
    Ok(response.with(CONTENT_DISPOSITION, name))
}

fn put_events(visit: &Visit<'_>, job: &Job, csv: &mut Csv) -> Result<(), PageError> {
    let mut left = MAX_ROWS;
    for (first, last) in job.events.iter().rev() {
        let mut after = Some(last.saturating_add(1));
        while let (Some(before), true) = (after, left > 0) {
            let limit = EVENTS_AT_ONCE.min(left);
            let filter = EventFilter::default();
            let found = visit
                .registry()
                .list_events(&visit.who(), &filter, Some(before), limit)?;
            after = found.next.filter(|next| next > first);
            for listed in found.events {
                if listed.event.number < *first {
                    after = None;
                    break;
                }
                left = left.saturating_sub(1);
                let number = listed.event.number.to_string();
                let time = rfc3339(listed.event.time);
                let name = listed.name.unwrap_or_default();
                let word = listed.event.action.as_str();
                csv.row(&[word, &name, "", &number, &time, "", ""]);
            }
        }
    }
    Ok(())
}
