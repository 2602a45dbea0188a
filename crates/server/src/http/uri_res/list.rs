//! Lists of URIs, in the form that the client prefers.

use hyper::{Response, StatusCode};
use serde_json::json;

use crate::http::resolver::accept::Accept;
use crate::http::resolver::page::{JSON, escape, fresh, page};
use crate::http::resolver::target::is_web;
use crate::http::response::Body;

/// The media type of RFC 2169, which every client of these services understands.
const URI_LIST: &str = "text/uri-list";

/// A list of what a URI was mapped to. All of it is escaped already.
pub(crate) fn list(asked: &str, uris: &[String], accept: &Accept) -> Response<Body> {
    let offered = [
        URI_LIST,
        "text/html",
        "application/json",
        "application/xml",
        "text/xml",
        "text/plain",
    ];
    let (content_type, body) = match accept.choose(&offered).unwrap_or(URI_LIST) {
        "text/html" => return html(asked, uris),
        "application/json" => (JSON, json!({"uri": asked, "uris": uris}).to_string()),
        "application/xml" => ("application/xml; charset=utf-8", xml(asked, uris)),
        "text/xml" => ("text/xml; charset=utf-8", xml(asked, uris)),
        "text/plain" => ("text/plain; charset=utf-8", lines(asked, uris)),
        _ => (URI_LIST, lines(asked, uris)),
    };
    fresh(StatusCode::OK, content_type, body)
}

/// "Lines end CR LF … when one URI was mapped to a list, the first line should be a comment with
/// the original URI."
fn lines(asked: &str, uris: &[String]) -> String {
    let mut out = format!("# {asked}\r\n");
    for uri in uris {
        out.push_str(uri);
        out.push_str("\r\n");
    }
    out
}

/// How names begin.
const OF_NAMES: [&str; 4] = ["ark:", "hdl:", "info:", "urn:"];

/// "The HTML form must contain one `<ul>` with an `<li><a href="U">U</a>` per URL."
fn html(asked: &str, uris: &[String]) -> Response<Body> {
    let mut body = String::from("<ul>\n");
    for uri in uris {
        let is_link = is_web(uri.as_bytes()) || OF_NAMES.iter().any(|name| uri.starts_with(name));
        let uri = escape(uri);
        if is_link {
            body.extend(["<li><a href=\"", &uri, "\">", &uri, "</a></li>\n"]);
        } else {
            // A stored URL of another scheme may be a script.
            body.extend(["<li>", &uri, "</li>\n"]);
        }
    }
    body.push_str("</ul>");
    page(StatusCode::OK, asked, &body)
}

fn xml(asked: &str, uris: &[String]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<uris uri=\"{}\">\n",
        escape(asked)
    );
    for uri in uris {
        out.extend(["  <uri>", &escape(uri), "</uri>\n"]);
    }
    out.push_str("</uris>\n");
    out
}
