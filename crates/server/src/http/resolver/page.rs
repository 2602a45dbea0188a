//! Pages for people, and the same content for programs.

// Pages are functions, not templates: `askama` would add seven crates and a second language, and
// the pages, of which most are lists of rows of a record, would need a type for each template.
// Tests put markup into the types and the data of records and read the pages.

use handfast_registry::{Tombstone, rfc3339};
use handfast_wire::{ResponseCode, Value, json};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};
use serde_json::{Map, Value as Json};

use crate::http::resolver::accept::Accept;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::target::{escaped_text, is_web, path_of};
use crate::http::response::{Body, WithHeader, reply};
use crate::http::rest_api::answer;
use crate::http::xml::escape_with;

/// JSON of a record, as the handle REST API has it.
pub(crate) const JSON: &str = "application/json;charset=UTF-8";
const PAGE: &str = "text/html; charset=utf-8";
const PROBLEM: &str = "application/problem+json";
const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
    padding:0 1rem;color:#222}\
    h1{font-size:1.5rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;\
    vertical-align:top;\
    padding:.3rem .6rem;border-bottom:1px solid #ddd}td{overflow-wrap:anywhere}\
    input[type=text]{font:inherit;\
    width:100%;box-sizing:border-box;padding:.5rem}button{font:inherit;padding:.4rem 1rem;\
    margin-top:.5rem}\
    a{color:#0645ad}code{overflow-wrap:anywhere}";

/// Escapes untrusted text for a page.
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

/// A page. The title is text, the body is HTML.
pub(crate) fn page(status: StatusCode, title: &str, body: &str) -> Response<Body> {
    let title = escape(title);
    let html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    );
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; \
        base-uri 'none'; frame-ancestors 'none'";
    fresh(status, PAGE, html).with(CONTENT_SECURITY_POLICY, policy)
}

/// The record of a name.
///
/// A namespace may want its visitors to see this page, with its security considerations, before
/// they go on to the target of the name.
pub(crate) fn record(name: &Name, target: Option<&str>, security: Option<&str>) -> Response<Body> {
    let rows: String = name.values.iter().map(row).collect();
    let security = security.map(str::trim).filter(|text| !text.is_empty());
    let security = security.map_or_else(String::new, |text| {
        let text = escape(text).replace('\n', "<br>\n");
        format!("<h2>Security considerations</h2>\n<p>{text}</p>\n")
    });
    let (href, words) = match target {
        Some(target) => (escape(target), "Go to its target"),
        None => (escape(&escaped_text(name.path().as_bytes())), "Resolve it"),
    };
    let body = format!(
        "<table><thead><tr><th>Index<th>Type<th>Time<th>Data</tr></thead><tbody>\n{rows}</tbody>\
         </table>\n{security}\
         <p><a href=\"{href}\">{words}</a> · <a href=\"/\">Another one</a></p>"
    );
    page(StatusCode::OK, &name.text, &body)
}

fn row(value: &Value<'_>) -> String {
    let value_type = escape(&value.value_type);
    let value_type = if value.value_type.contains('/') {
        format!(
            "<a href=\"/{}\">{value_type}</a>",
            path_of(value.value_type.trim_start_matches('/'))
        )
    } else {
        value_type
    };
    let time = match value.timestamp {
        0 => String::new(),
        seconds => json::timestamp(seconds).replace('T', " "),
    };
    let (index, data) = (value.index, data(value));
    format!("<tr><td>{index}<td>{value_type}<td>{time}<td>{data}</tr>\n")
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

fn data(value: &Value<'_>) -> String {
    let Some(text) = value.text() else {
        let (format, text) = formatted(value);
        if format != "base64" {
            return escape(&text);
        }
        let digits = value.data.iter().map(|byte| format!("{byte:02X}"));
        return digits.collect();
    };
    let shown = escape(text);
    if is_web(&value.data) {
        let href = escape(&escaped_text(&value.data));
        return format!("<a href=\"{href}\" rel=\"nofollow noopener\">{shown}</a>");
    }
    let is_mail =
        value.is_type("EMAIL") && text.contains('@') && !text.contains(char::is_whitespace);
    if is_mail {
        let href = escape(&escaped_text(text.as_bytes()));
        return format!("<a href=\"mailto:{href}\">{shown}</a>");
    }
    shown
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

/// Why there is nothing: a page for people, a problem (RFC 9457) for programs.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) title: &'static str,
    pub(crate) detail: String,
    /// More, for people: HTML.
    pub(crate) more: String,
    /// More, for programs.
    pub(crate) members: Map<String, Json>,
}

impl Failure {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        title: &'static str,
        detail: String,
    ) -> Self {
        Self {
            status,
            code,
            title,
            detail,
            more: String::new(),
            members: Map::new(),
        }
    }

    /// "Error pages say the requested handle "cannot be found" after quoting it."
    pub(crate) fn missing(name: &str) -> Self {
        let detail = format!("The identifier \"{name}\" cannot be found.");
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not Found", detail)
    }

    /// A name whose prefix is not homed here.
    pub(crate) fn foreign(name: &str) -> Self {
        let detail = format!("The prefix of \"{name}\" is not served here.");
        let mut failure = Self::new(
            StatusCode::BAD_REQUEST,
            "no-authority",
            "Resolution Error",
            detail,
        );
        let path = path_of(name);
        failure.more = format!(
            "<p>The global resolver may know it: <a href=\"https://hdl.handle.net/{path}\">\
             https://hdl.handle.net/{path}</a></p>"
        );
        failure
    }

    /// A name whose prefix is not in use.
    pub(crate) fn inactive(name: &str, message: &str) -> Self {
        let detail = format!("The prefix of \"{name}\" is not in use. {message}");
        let detail = detail.trim().to_string();
        Self::new(StatusCode::NOT_FOUND, "inactive", "Not Found", detail)
    }

    /// A name that is gone, with its tombstone.
    pub(crate) fn withdrawn(name: &str, tombstone: Option<&Tombstone>) -> Self {
        let detail = format!("\"{name}\" was withdrawn. It will never name anything else.");
        let mut failure = Self::new(StatusCode::GONE, "withdrawn", "Withdrawn", detail);
        let Some(tombstone) = tombstone else {
            return failure;
        };
        let date = rfc3339(tombstone.date);
        failure.more = format!("<p>Withdrawn {}", escape(&date));
        if !tombstone.reason.is_empty() {
            failure.more.extend([": ", &escape(&tombstone.reason)]);
            let reason = tombstone.reason.clone().into();
            failure.members.insert("reason".into(), reason);
        }
        failure.more += "</p>";
        failure.members.insert("date".into(), date.into());
        if let Some(successor) = &tombstone.successor {
            let (path, text) = (path_of(successor), escape(successor));
            let link = format!("<a href=\"/{path}\">{text}</a>");
            failure.more.extend(["<p>Use ", &link, " instead.</p>"]);
            let successor = successor.clone().into();
            failure.members.insert("successor".into(), successor);
        }
        failure
    }

    /// Something that cannot be a name.
    pub(crate) fn malformed(detail: String) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "malformed",
            "No Identifier",
            detail,
        )
    }

    pub(crate) fn answer(self, accept: &Accept) -> Response<Body> {
        let response = self.page_or_problem(accept);
        match response.status() {
            StatusCode::SERVICE_UNAVAILABLE => response.with(RETRY_AFTER, "5"),
            _ => response,
        }
    }

    fn page_or_problem(self, accept: &Accept) -> Response<Body> {
        if accept.wants_json() {
            return self.problem();
        }
        let body = format!(
            "<p>{}</p>\n{}\n<p><a href=\"/\">Resolve another identifier</a></p>",
            escape(&self.detail),
            self.more
        );
        page(self.status, self.title, &body)
    }

    pub(crate) fn problem(self) -> Response<Body> {
        let mut members = self.members;
        members.insert("type".into(), "about:blank".into());
        members.insert("title".into(), self.title.into());
        members.insert("status".into(), self.status.as_u16().into());
        members.insert("code".into(), self.code.into());
        members.insert("detail".into(), self.detail.into());
        fresh(self.status, PROBLEM, Json::Object(members).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_becomes_markup() {
        for (value_type, text) in [
            ("DESC", "<script>alert(1)</script>"),
            ("URL", "http://a/\"><script>alert(1)</script>"),
            ("URL", "javascript:alert('<script>')"),
            ("EMAIL", "\"<script>\"@a"),
            ("a/\"><script>", "x"),
        ] {
            let row = row(&Value::new(1, value_type, text.as_bytes()));
            assert!(!row.contains("<script"), "{row}");
            assert!(!row.contains("href=\"javascript"), "{row}");
        }
        assert_eq!(data(&Value::new(1, "X", b"\xFF\0")), "FF00");
    }
}
