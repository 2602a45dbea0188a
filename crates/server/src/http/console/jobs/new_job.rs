//! `/console/jobs/new`: a change of many names, with a preview before it.
//!
//! The form is sent by GET, and its page shows the preview: it has an address, and nothing is
//! changed. The second form, on that page, starts the job, if the preview is still right.

use askama::Template;
use handfast_registry::{JobKind, JobPreview, Principal, RegistryError};
use hyper::{Response, StatusCode};

use super::need_fresh_for_many;
use super::shown_preview::{MAX_PREVIEWED, PREVIEWED_ROWS, ShownPreview};
use crate::http::api_v1::jobs::{self as api_jobs, Wanted};
use crate::http::console::authorities::curl_with;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/job_new.html")]
struct NewJobPage<'a> {
    frame: ConsoleFrame<'a>,
    typed: TypedJob,
    preview: Option<ShownPreview>,
    /// Whether the preview differs from the one that was confirmed.
    has_moved: bool,
    /// Whether the person may change names nowhere.
    may_nothing: bool,
}

/// The form as it was typed.
#[derive(Default)]
struct TypedJob {
    kind: String,
    authority: String,
    from: String,
    to: String,
    seconds: String,
    value_type: String,
}

const KINDS: [&str; 3] = ["host", "prefix", "ttl"];

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let typed = TypedJob::of(|name| visit.query(name).unwrap_or_default().to_string());
    if visit.query("preview").is_none() {
        return Ok(respond(visit, StatusCode::OK, typed, None, Vec::new()));
    }
    match preview(visit, &typed)? {
        Ok((_, preview)) => Ok(respond(
            visit,
            StatusCode::OK,
            typed,
            Some(&preview),
            Vec::new(),
        )),
        Err(errors) => Ok(respond(
            visit,
            StatusCode::UNPROCESSABLE_ENTITY,
            typed,
            None,
            errors,
        )),
    }
}

pub(super) fn start(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let typed = TypedJob::of(|name| visit.field(name).to_string());
    let invalid = StatusCode::UNPROCESSABLE_ENTITY;
    let (kind, preview) = match preview(visit, &typed)? {
        Ok(found) => found,
        Err(errors) => return Ok(respond(visit, invalid, typed, None, errors)),
    };
    if visit.field("confirmed") != "yes" {
        let text = "Confirm that these names are to be changed.";
        let errors = vec![FieldError::new("confirmed", text)];
        return Ok(respond(visit, invalid, typed, Some(&preview), errors));
    }
    // Exactly what was shown is done: names may have been added or changed since.
    if visit.field("changed") != preview.counts.changed.to_string() {
        return Ok(respond(
            visit,
            StatusCode::CONFLICT,
            typed,
            Some(&preview),
            Vec::new(),
        ));
    }
    need_fresh_for_many(visit, &kind)?;
    match api_jobs::begin(&visit.web.api, &visit.who(), Wanted::Kind(kind)) {
        Ok(job) => Ok(see(&format!("/console/jobs/{}?done=started", job.number))),
        // The form was sent twice: the job is in the list.
        Err(problem) if problem.about.code == "under-way" => Ok(see("/console/jobs")),
        Err(problem) => Err(PageError::Problem(Box::new(problem))),
    }
}

type Previewed = Result<(JobKind, JobPreview), Vec<FieldError>>;

/// Whether an account may change names nowhere. The rights of a handle identity come from names.
fn may_nothing(visit: &Visit<'_>) -> bool {
    let who = visit.who();
    let writable = visit.registry().writable_authorities(&who, 1);
    matches!(who, Principal::Account(_)) && writable.is_ok_and(|writable| writable.is_empty())
}

/// The job of a form, and what it would do; or what is wrong with the form.
fn preview(visit: &Visit<'_>, typed: &TypedJob) -> Result<Previewed, PageError> {
    let kind = match typed.read() {
        Ok(kind) => kind,
        Err(errors) => return Ok(Err(errors)),
    };
    let registry = visit.registry();
    match registry.preview_job(&visit.who(), kind.clone(), MAX_PREVIEWED, PREVIEWED_ROWS) {
        Ok(preview) => Ok(Ok((kind, preview))),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error @ RegistryError::Denied { .. }) => Err(error.into()),
        Err(error) => {
            let field = match error.code() {
                "bad-host" => "from",
                "too-large" => "to",
                _ => "authority",
            };
            Ok(Err(vec![FieldError::new(field, message(&error))]))
        }
    }
}

impl TypedJob {
    fn of(field: impl Fn(&str) -> String) -> Self {
        let kind = field("kind");
        Self {
            kind: if KINDS.contains(&kind.as_str()) {
                kind
            } else {
                "host".to_string()
            },
            authority: field("authority"),
            from: field("from"),
            to: field("to"),
            seconds: field("seconds"),
            value_type: field("type"),
        }
    }

    /// The job, or what is missing.
    fn read(&self) -> Result<JobKind, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut need = |field: &str, text: &str, words: &str| {
            if text.is_empty() {
                errors.push(FieldError::new(field, words));
            }
        };
        need("authority", &self.authority, "Say under which authority.");
        let authority = self.authority.clone();
        if self.kind == "ttl" {
            need("seconds", &self.seconds, "Say for how many seconds.");
            let seconds = self.seconds.parse();
            if seconds.is_err() && !self.seconds.is_empty() {
                let text = "Write a number of seconds, such as 86400 for a day.";
                errors.push(FieldError::new("seconds", text));
            }
            let value_type = Some(&self.value_type).filter(|text| !text.is_empty());
            return match (seconds, errors.is_empty()) {
                (Ok(seconds), true) => Ok(JobKind::SetTtl {
                    authority,
                    value_type: value_type.cloned(),
                    seconds,
                }),
                _ => Err(errors),
            };
        }
        need("from", &self.from, "Say what is there now.");
        need("to", &self.to, "Say what is to be there.");
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(JobKind::ReplaceUrl {
            authority,
            from: self.from.clone(),
            to: self.to.clone(),
            is_host: self.kind == "host",
        })
    }

    /// The command that does the same.
    fn command(&self) -> String {
        let word = |text: &str, usual: &str| {
            let text = if text.is_empty() { usual } else { text };
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "./:-_".contains(c);
            if text.chars().all(is_plain) {
                text.to_string()
            } else {
                format!("'{}'", text.replace('\'', "'\\''"))
            }
        };
        let authority = word(&self.authority, "AUTHORITY");
        match self.kind.as_str() {
            "ttl" => {
                let seconds = word(&self.seconds, "SECONDS");
                let only = match self.value_type.as_str() {
                    "" => String::new(),
                    value_type => format!(" --type {}", word(value_type, "TYPE")),
                };
                format!("handfast job set-ttl {seconds} --authority {authority}{only} --dry-run")
            }
            kind => {
                let what = if kind == "host" { "host" } else { "url" };
                let (from, to) = (word(&self.from, "FROM"), word(&self.to, "TO"));
                format!("handfast job replace-{what} {from} {to} --authority {authority} --dry-run")
            }
        }
    }

    /// The fields, for the form that starts the job.
    fn pairs(&self) -> Vec<(&'static str, &str)> {
        vec![
            ("kind", &self.kind),
            ("authority", &self.authority),
            ("from", &self.from),
            ("to", &self.to),
            ("seconds", &self.seconds),
            ("type", &self.value_type),
        ]
    }
}

fn respond(
    visit: &Visit<'_>,
    status: StatusCode,
    typed: TypedJob,
    preview: Option<&JobPreview>,
    errors: Vec<FieldError>,
) -> Response<Body> {
    let same = [
        typed.command(),
        curl_with(visit, "POST", "/jobs?dry-run=true", "@job.json"),
    ];
    let page = NewJobPage {
        frame: ConsoleFrame::new(visit, "Change many names", MenuItem::Jobs)
            .crumbs([
                Crumb::new("Jobs", "/console/jobs"),
                Crumb::new("Change many names", ""),
            ])
            .errors(errors)
            .same(same),
        typed,
        preview: preview.map(ShownPreview::of),
        has_moved: status == StatusCode::CONFLICT,
        may_nothing: may_nothing(visit),
    };
    page.frame.respond(status, &page)
}
