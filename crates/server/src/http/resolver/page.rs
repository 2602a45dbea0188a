//! Parts of answers: JSON of records, and bodies that are not cached.

use handfast_wire::{ResponseCode, Value, json};
use hyper::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use serde_json::Value as Json;

use crate::http::response::{Body, WithHeader, reply};
use crate::http::rest_api::answer;
use crate::http::xml::escape_with;

/// JSON of a record, as the handle REST API has it.
pub(crate) const JSON: &str = "application/json;charset=UTF-8";

/// Escapes untrusted text for XML that pages and programs read.
pub(crate) fn escape(text: &str) -> String {
    escape_with(text, |out, c| match c {
        '\'' => out.push_str("&#39;"),
        // No control character may stand in a page.
        c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{FFFD}'),
        c => out.push(c),
    })
}

/// A response that is not cached, and whose type browsers do not sniff.
pub(crate) fn fresh(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<hyper::body::Bytes>,
) -> Response<Body> {
    reply(status, content_type, body)
        .with(CACHE_CONTROL, "no-cache")
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
}

/// The format of data in JSON, and the data in it as text.
pub(crate) fn formatted(value: &Value<'_>) -> (String, String) {
    let all = json::value(value);
    let part = |name: &str| match all.get("data").and_then(|data| data.get(name)) {
        Some(Json::String(text)) => text.clone(),
        part => part.map(Json::to_string).unwrap_or_default(),
    };
    (part("format"), part("value"))
}

/// The record of a name, as JSON.
pub(crate) fn record_json(name: &str, values: &[Value<'_>]) -> Response<Body> {
    let code = if values.is_empty() {
        ResponseCode::ValuesNotFound
    } else {
        ResponseCode::Success
    };
    fresh(
        StatusCode::OK,
        JSON,
        answer::record(code, name, values.iter()).0,
    )
}
