//! Why a request failed, as RFC 9457 describes it: `application/problem+json`.

use handfast_api as api;
use handfast_registry::RegistryError;
use hyper::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};

use super::call::Call;
use super::convert;
use crate::http::response::{Body, WithHeader, reply};

/// After how many seconds a client that heard `busy` should ask again.
const BUSY_RETRY: u64 = 5;

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// The response, without the status.
    pub(crate) about: Box<api::Problem>,
    /// What the registry said, for the local operator, who may know everything.
    cause: Option<Box<RegistryError>>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let about = api::Problem {
            code: code.to_string(),
            detail: message.into(),
            ..api::Problem::default()
        };
        Self {
            status,
            about: Box::new(about),
            cause: None,
        }
    }

    /// The request is not as the description of the API has it.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "usage", message)
    }

    /// The client should try again in a few seconds.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// The server cannot do this.
    pub(super) fn failed(message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "failed", message)
    }

    /// The state of the registry, or the rights of the caller, do not allow this.
    pub(super) fn policy(code: &'static str, problem: &str) -> Self {
        let problem = problem.to_string();
        RegistryError::Policy { code, problem }.into()
    }

    /// The caller is not known, and has to be.
    pub(super) fn unknown() -> Self {
        let message = "this is for those who are known: send `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "unknown", message)
    }

    pub(crate) fn hint(mut self, hint: &str) -> Self {
        self.about.hint = Some(hint.to_string());
        self
    }

    /// The response, as the caller may see it.
    pub(super) fn into_response_to(mut self, call: &Call) -> Response<Body> {
        if call.is_local {
            self = self.for_operator();
        }
        self.into_response()
    }

    /// With everything that is known, and a status of 500 or more only if the system failed.
    pub(super) fn for_operator(mut self) -> Self {
        if let Some(cause) = self.cause.take() {
            *self.about = convert::problem(&cause);
            self.status = match self.status {
                _ if cause.is_failure() => StatusCode::SERVICE_UNAVAILABLE,
                status if status.is_server_error() => StatusCode::CONFLICT,
                status => status,
            };
        }
        self
    }

    /// The problem document.
    pub(super) fn into_document(self) -> api::Problem {
        api::Problem {
            status: self.status.as_u16(),
            title: self.status.canonical_reason().unwrap_or("refused").into(),
            ..*self.about
        }
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let status = self.status;
        let document = self.into_document();
        let is_busy = document.code == "busy";
        let retry_after = document
            .retry_after
            .or_else(|| is_busy.then_some(BUSY_RETRY));
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = reply(status, "application/problem+json", body);
        if status == StatusCode::UNAUTHORIZED {
            response = response.with(WWW_AUTHENTICATE, "Bearer realm=\"handfast\"");
        }
        match retry_after {
            Some(seconds) => response.with(RETRY_AFTER, seconds),
            None => response,
        }
    }
}

/// The one place where refusals of the registry become statuses.
impl From<RegistryError> for Problem {
    fn from(error: RegistryError) -> Self {
        let status = match &error {
            RegistryError::AuthorityExists(_)
            | RegistryError::Differs { .. }
            | RegistryError::Exists { .. }
            | RegistryError::Retired(_)
            | RegistryError::State { .. } => StatusCode::CONFLICT,
            RegistryError::Denied { .. } | RegistryError::NotTheirs { .. } => StatusCode::FORBIDDEN,
            RegistryError::Identifier { .. } | RegistryError::Input { .. } => {
                StatusCode::BAD_REQUEST
            }
            RegistryError::NoAuthority(_) | RegistryError::NotFound(_) => StatusCode::NOT_FOUND,
            RegistryError::Policy { code, .. } => by_code(code),
            RegistryError::Quota { .. } => StatusCode::TOO_MANY_REQUESTS,
            RegistryError::Value { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => {
                tracing::error!(%error, "a request could not be served");
                let message = "the server cannot do this now; its log says why";
                let failed = StatusCode::SERVICE_UNAVAILABLE;
                let problem = Self::new(failed, error.code(), message);
                let cause = Some(Box::new(error));
                return Self { cause, ..problem };
            }
        };
        Self {
            status,
            about: Box::new(convert::problem(&error)),
            cause: Some(Box::new(error)),
        }
    }
}

fn by_code(code: &str) -> StatusCode {
    match code {
        "other-version" => StatusCode::PRECONDITION_FAILED,
        "account-only" | "no-role" | "not-yours" | "operator-only" | "own-request" => {
            StatusCode::FORBIDDEN
        }
        "no-access-request" | "no-account" | "no-grant" | "no-group" | "no-job" | "no-member"
        | "no-namespace" | "no-session" | "no-token" | "not-yet" => StatusCode::NOT_FOUND,
        "account-exists" | "cancelled" | "case-fixed" | "claimed" | "decided" | "done"
        | "erased-names" | "group-exists" | "has-role" | "moves-names" | "no-input"
        | "not-approved" | "not-requested" | "permanent" | "retired" | "under-way" | "undone" => {
            StatusCode::CONFLICT
        }
        "cut-short" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only some of the answers that say `busy` said when to ask again.
    #[test]
    fn whatever_is_busy_says_when_to_ask_again() {
        let busy = Problem::busy("come again").into_response();
        assert_eq!(busy.headers()[RETRY_AFTER], "5");
        let failed = Problem::failed("see the log").into_response();
        assert!(failed.headers().get(RETRY_AFTER).is_none());
    }
}
