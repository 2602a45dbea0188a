//! Why something was not done, as RFC 9457 has it: `application/problem+json`.

use handfast_registry::{RegistryError, json};
use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::{Map, Value as Json};

use crate::http::response::{Body, reply};

/// After how many seconds a client that heard `busy` should ask again.
const BUSY_RETRY: u64 = 5;

/// Why something was not done.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    /// `code`, `message`, and what else is known: as commands print it.
    pub(super) about: Map<String, Json>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let mut about = Map::new();
        about.insert("code".into(), code.into());
        about.insert("message".into(), message.into().into());
        Self { status, about }
    }

    /// What was asked is not as the description of the interface has it.
    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "usage", message)
    }

    /// Nobody is known, and somebody must be.
    pub(super) fn unknown() -> Self {
        let message = "this is for those who are known: send `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "unknown", message)
    }

    pub(super) fn hint(mut self, hint: &str) -> Self {
        self.about.insert("hint".into(), hint.into());
        self
    }

    pub(super) fn into_response(mut self) -> Response<Body> {
        let title = self.status.canonical_reason().unwrap_or("refused");
        let detail = self.about.remove("message").unwrap_or_default();
        let mut object = Map::new();
        object.insert("title".into(), title.into());
        object.insert("status".into(), self.status.as_u16().into());
        object.insert("detail".into(), detail);
        let retry_after = self.about.get("retry-after").and_then(Json::as_u64);
        let is_busy = self.about.get("code").is_some_and(|code| code == "busy");
        let retry_after = retry_after.or_else(|| is_busy.then_some(BUSY_RETRY));
        object.extend(self.about);
        let body = Json::Object(object).to_string();
        let mut response = reply(self.status, "application/problem+json", body);
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"handfast\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The one place where refusals of the registry become statuses.
impl From<RegistryError> for Problem {
    fn from(refusal: RegistryError) -> Self {
        let status = match &refusal {
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
                tracing::error!(error = %refusal, "a request could not be served");
                return Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    refusal.code(),
                    "the server cannot do this now; its log says why",
                );
            }
        };
        let about = json::refusal(&refusal);
        Self { status, about }
    }
}

fn by_code(code: &str) -> StatusCode {
    match code {
        "other-version" => StatusCode::PRECONDITION_FAILED,
        "account-only" | "no-role" | "not-yours" | "operator-only" | "own-request" => {
            StatusCode::FORBIDDEN
        }
        "no-account" | "no-grant" | "no-job" | "no-namespace" | "no-token" | "not-yet" => {
            StatusCode::NOT_FOUND
        }
        "account-exists" | "cancelled" | "case-fixed" | "claimed" | "done" | "erased-names"
        | "moves-names" | "no-input" | "not-approved" | "not-requested" | "permanent"
        | "retired" | "under-way" | "undone" => StatusCode::CONFLICT,
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
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let busy = Problem::new(status, "busy", "come again").into_response();
        assert_eq!(busy.headers()[RETRY_AFTER], "5");
        let failed = Problem::new(status, "failed", "see the log").into_response();
        assert!(failed.headers().get(RETRY_AFTER).is_none());
    }
}
