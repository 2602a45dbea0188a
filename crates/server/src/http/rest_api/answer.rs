//! Answers as JSON, and their statuses (`http-interfaces.md` A.14).

use std::borrow::Borrow;

use handfast_wire::{ResponseCode, Value, json};
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::presentation::Presentation;
use crate::error::Fault;
use crate::http::Body;

/// An answer: a status, a text in JSON unless there is none, and what else stands in the head.
#[derive(Debug, Default)]
pub(crate) struct RestAnswer {
    pub(crate) status: StatusCode,
    pub(crate) json: Option<Vec<u8>>,
    /// Or words.
    pub(crate) text: Option<&'static str>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl RestAnswer {
    pub(crate) fn new(status: StatusCode, json: Vec<u8>) -> Self {
        Self {
            status,
            json: Some(json),
            ..Self::default()
        }
    }

    /// A status that says it all.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// `{"responseCode":1,"handle":"…"}`
    pub(crate) fn done(status: StatusCode, handle: &str) -> Self {
        let mut out = start(ResponseCode::Success);
        put_member(&mut out, "handle", handle);
        out.push(b'}');
        Self::new(status, out)
    }

    /// Values, with the code that goes before them.
    pub(crate) fn values(
        status: StatusCode,
        code: ResponseCode,
        handle: &str,
        values: &[Value<'_>],
    ) -> Self {
        Self::new(status, record(code, handle, values.iter()).0)
    }

    /// The values of a record that a client may read, if there are any.
    pub(crate) fn found(handle: &str, values: &[Value<'_>]) -> Self {
        if !values.is_empty() {
            return Self::values(StatusCode::OK, ResponseCode::Success, handle, values);
        }
        let mut out = start(ResponseCode::ValuesNotFound);
        out.extend_from_slice(b",\"values\":[]");
        put_member(&mut out, "handle", handle);
        out.push(b'}');
        Self::new(StatusCode::OK, out)
    }

    pub(crate) fn into_response(self, presentation: &Presentation) -> Response<Body> {
        let (body, content_type) = match self.json {
            None => (Vec::from(self.text.unwrap_or_default()), None),
            Some(json) => {
                let (body, content_type) = presentation.present(json);
                (body, Some(content_type))
            }
        };
        let mut response = Response::new(Either::Left(Full::new(Bytes::from(body))));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        response
    }
}

/// An answer, or why there is none.
pub(crate) type RestResult = Result<RestAnswer, RestProblem>;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum RestProblem {
    /// Credentials that are not right: 401, and no body.
    Credentials(&'static str),
    /// An answer as it is.
    Plain(RestAnswer),
    /// As the protocol says it.
    Refused {
        fault: Fault,
        /// The handle, if it is known.
        handle: Option<String>,
        /// A status that the code does not tell.
        status: Option<StatusCode>,
    },
}

impl RestProblem {
    /// A code, and nothing more to say.
    pub(crate) fn code(code: ResponseCode) -> Self {
        Fault::plain(code).into()
    }

    /// The same, with another status.
    pub(crate) fn with_status(fault: Fault, status: StatusCode) -> Self {
        Self::Refused {
            fault,
            handle: None,
            status: Some(status),
        }
    }

    /// The same, about a handle.
    pub(crate) fn of(self, name: &str) -> Self {
        match self {
            Self::Refused { fault, status, .. } => Self::Refused {
                fault,
                handle: Some(name.to_string()),
                status,
            },
            other => other,
        }
    }
}

impl<F: Into<Fault>> From<F> for RestProblem {
    fn from(fault: F) -> Self {
        Self::Refused {
            fault: fault.into(),
            handle: None,
            status: None,
        }
    }
}

/// A refusal as JSON: "`responseCode`, then `message` (errors) or the payload, then `handle`".
pub(crate) fn error_answer(
    fault: &Fault,
    handle: Option<&str>,
    status: Option<StatusCode>,
    is_secure: bool,
) -> RestAnswer {
    let mut out = start(fault.code);
    if let Some(message) = message(fault) {
        put_member(&mut out, "message", message);
    }
    if let Some(handle) = handle {
        put_member(&mut out, "handle", handle);
    }
    out.push(b'}');
    let answer = RestAnswer::new(
        status.unwrap_or_else(|| status_of(fault.code, is_secure)),
        out,
    );
    if fault.code == ResponseCode::ServerTooBusy {
        return answer.with(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    answer
}

/// "`message` is optional everywhere: 100, 101, 400, 402 come without it."
fn message(fault: &Fault) -> Option<&str> {
    match fault.code {
        ResponseCode::HandleNotFound
        | ResponseCode::HandleAlreadyExists
        | ResponseCode::InvalidAdmin
        | ResponseCode::AuthenticationNeeded => None,
        ResponseCode::ServerNotResponsible => Some("That prefix doesn't live here"),
        _ => Some(fault.message.as_str()).filter(|message| !message.is_empty()),
    }
}

fn status_of(code: ResponseCode, is_secure: bool) -> StatusCode {
    use ResponseCode as Code;
    match code {
        Code::Success => StatusCode::OK,
        Code::ServerTooBusy | Code::ServerBackup => StatusCode::SERVICE_UNAVAILABLE,
        Code::ProtocolError
        | Code::InvalidHandle
        | Code::ValuesNotFound
        | Code::InvalidValue
        | Code::ServerNotResponsible => StatusCode::BAD_REQUEST,
        Code::OperationNotSupported => StatusCode::NOT_IMPLEMENTED,
        Code::HandleNotFound => StatusCode::NOT_FOUND,
        Code::HandleAlreadyExists | Code::ValueAlreadyExists => StatusCode::CONFLICT,
        Code::ServiceReferral | Code::PrefixReferral => StatusCode::MULTIPLE_CHOICES,
        Code::AuthenticationNeeded if is_secure => StatusCode::UNAUTHORIZED,
        Code::InvalidAdmin
        | Code::InsufficientPermissions
        | Code::AuthenticationNeeded
        | Code::AuthenticationFailed
        | Code::InvalidCredential => StatusCode::FORBIDDEN,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// `{"responseCode":1`
pub(crate) fn start(code: ResponseCode) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"responseCode\":");
    put(&mut out, &code.number());
    out
}

/// `,"name":content`
pub(crate) fn put_member<T: Serialize + ?Sized>(out: &mut Vec<u8>, name: &str, content: &T) {
    out.push(b',');
    put(out, name);
    out.push(b':');
    put(out, content);
}

/// `{"responseCode":1,"handle":"…","values":[…]}`, and whether it has values.
pub(crate) fn record<'v, V: Borrow<Value<'v>>>(
    code: ResponseCode,
    handle: &str,
    values: impl Iterator<Item = V>,
) -> (Vec<u8>, bool) {
    let mut out = start(code);
    put_member(&mut out, "handle", handle);
    out.extend_from_slice(b",\"values\":[");
    let mut has_any = false;
    for value in values {
        if std::mem::replace(&mut has_any, true) {
            out.push(b',');
        }
        json::write_value(&mut out, value.borrow());
    }
    out.extend_from_slice(b"]}");
    (out, has_any)
}

/// Appends text, or numbers, or lists of them. None has a form that JSON lacks, and a vector takes
/// any bytes: it cannot fail.
pub(crate) fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, part: &T) {
    serde_json::to_writer(out, part).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `http-interfaces.md` A.14.
    #[test]
    fn every_code_has_its_status() {
        for (code, status) in [
            (1, 200),
            (2, 500),
            (3, 503),
            (4, 400),
            (5, 501),
            (6, 500),
            (7, 503),
            (100, 404),
            (101, 409),
            (102, 400),
            (200, 400),
            (201, 409),
            (202, 400),
            (300, 500),
            (301, 400),
            (302, 300),
            (303, 300),
            (400, 403),
            (401, 403),
            (402, 401),
            (403, 403),
            (404, 403),
            (405, 500),
            (406, 500),
            (500, 500),
            (501, 500),
            (502, 500),
            (503, 500),
            (504, 500),
            (505, 500),
        ] {
            let code = ResponseCode::from_number(code);
            assert_eq!(status_of(code, true).as_u16(), status, "{code:?}");
        }
        assert_eq!(status_of(ResponseCode::AuthenticationNeeded, false), 403);
    }
}
