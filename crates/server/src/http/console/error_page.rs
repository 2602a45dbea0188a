//! Errors of the console, as pages that say what to do next.

use askama::Template;
use handfast_registry::{RegistryError, Role};
use hyper::{Response, StatusCode};

use super::authorities;
use super::frame::{ConsoleFrame, MenuItem};
use super::message::{remedy, sentence};
use super::visit::Visit;
use crate::http::api_v1::problem::Problem;
use crate::http::response::Body;

/// Why a page could not be shown, or a form not be carried out.
pub(super) enum PageError {
    /// A page of its own, such as a form with what is wrong in it.
    Answered(Box<Response<Body>>),
    /// A name is not registered: the list of names can find what was meant.
    NameMissing(Box<Problem>),
    Problem(Box<Problem>),
    /// A role on an authority is missing, which the person can ask for.
    RoleMissing(Box<Problem>, Role, String),
}

impl PageError {
    pub(super) fn new(status: StatusCode, code: &'static str, text: impl Into<String>) -> Self {
        Self::Problem(Box::new(Problem::new(status, code, text)))
    }

    pub(super) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", text)
    }

    pub(super) fn respond(self, visit: &Visit<'_>) -> Response<Body> {
        let is_missing_name = matches!(self, Self::NameMissing(_));
        let (problem, missing) = match self {
            Self::Answered(response) => return *response,
            Self::NameMissing(problem) | Self::Problem(problem) => (problem, None),
            Self::RoleMissing(problem, role, authority) => (problem, Some((role, authority))),
        };
        let status = problem.status;
        let heading = match status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "You may not do this",
            StatusCode::SERVICE_UNAVAILABLE => "Try again in a moment",
            status if status.is_server_error() => "The server failed",
            _ => "This was not done",
        };
        let missing = missing.and_then(|(role, authority)| {
            let can_grant = authorities::who_can_grant(visit, &authority)?;
            Some(MissingRole {
                role: role.as_str(),
                path: authorities::path_of(&authority),
                authority,
                can_grant,
            })
        });
        let hint = match problem.about.hint.as_deref().unwrap_or_default() {
            _ if is_missing_name => "Check the spelling, or look for it in the list.".to_string(),
            // Commands and their flags are for people at a terminal.
            hint if hint.contains("`handfast ") || hint.contains(" --") => {
                remedy(&problem.about.code).to_string()
            }
            "" => remedy(&problem.about.code).to_string(),
            hint => sentence(hint),
        };
        let page = ErrorPage {
            frame: ConsoleFrame::new(visit, heading, MenuItem::Nothing),
            heading,
            text: sentence(&problem.about.detail),
            hint,
            is_missing_name,
            missing,
        };
        page.frame.respond(status, &page)
    }
}

impl From<RegistryError> for PageError {
    fn from(error: RegistryError) -> Self {
        let missing = match &error {
            RegistryError::Denied { needs, authority } => Some((*needs, authority.to_string())),
            _ => None,
        };
        let is_missing_name = matches!(error, RegistryError::NotFound(_));
        let problem = Box::new(error.into());
        match missing {
            Some((role, authority)) => Self::RoleMissing(problem, role, authority),
            None if is_missing_name => Self::NameMissing(problem),
            None => Self::Problem(problem),
        }
    }
}

#[derive(Template)]
#[template(path = "console/error.html")]
struct ErrorPage<'a> {
    frame: ConsoleFrame<'a>,
    heading: &'static str,
    text: String,
    hint: String,
    /// A name that is not registered: the list of names can find what was meant.
    is_missing_name: bool,
    missing: Option<MissingRole>,
}

/// Which role is missing where, and who can grant it.
struct MissingRole {
    role: &'static str,
    authority: String,
    path: String,
    can_grant: String,
}
