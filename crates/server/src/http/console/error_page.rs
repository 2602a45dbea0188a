//! Errors of the console, as pages that say what to do next.

use askama::Template;
use handfast_registry::RegistryError;
use hyper::{Response, StatusCode};

use super::frame::{ConsoleFrame, MenuItem};
use super::visit::Visit;
use crate::http::api_v1::problem::Problem;
use crate::http::response::Body;

/// Why a page could not be shown, or a form not be carried out.
pub(super) enum PageError {
    /// A page of its own, such as a form with what is wrong in it.
    Answered(Box<Response<Body>>),
    Problem(Box<Problem>),
}

impl PageError {
    pub(super) fn new(status: StatusCode, code: &'static str, text: impl Into<String>) -> Self {
        Self::Problem(Box::new(Problem::new(status, code, text)))
    }

    pub(super) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", text)
    }

    pub(super) fn respond(self, visit: &Visit<'_>) -> Response<Body> {
        let problem = match self {
            Self::Answered(response) => return *response,
            Self::Problem(problem) => problem,
        };
        let status = problem.status;
        let heading = match status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "You may not do this",
            StatusCode::SERVICE_UNAVAILABLE => "Try again in a moment",
            status if status.is_server_error() => "The server failed",
            _ => "This was not done",
        };
        let page = ErrorPage {
            frame: ConsoleFrame::new(visit, heading, MenuItem::Nothing),
            heading,
            text: problem.about.detail.clone(),
            hint: problem.about.hint.clone().unwrap_or_default(),
        };
        page.frame.respond(status, &page)
    }
}

impl From<RegistryError> for PageError {
    fn from(error: RegistryError) -> Self {
        Self::Problem(Box::new(error.into()))
    }
}

#[derive(Template)]
#[template(path = "console/error.html")]
struct ErrorPage<'a> {
    frame: ConsoleFrame<'a>,
    heading: &'static str,
    text: String,
    hint: String,
}
