//! Lists of URIs, in the form that the client prefers.

use askama::Template;
use hyper::{Response, StatusCode};
use serde_json::json;

use crate::http::Web;
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::resolver::accept::Accept;
use crate::http::resolver::page::{JSON, escape, fresh};
use crate::http::resolver::target::is_web;
use crate::http::response::Body;

/// The media type of RFC 2169, which every client of these services understands.
const URI_LIST: &str = "text/uri-list";

/// A list of what a URI was mapped to. All of it is escaped already.
pub(crate) fn list(web: &Web, asked: &str, uris: &[String], accept: &Accept) -> Response<Body> {
    let offered = [
        URI_LIST,
        "text/html",
        "application/json",
        "application/xml",
        "text/xml",
        "text/plain",
    ];
    let (content_type, body) = match accept.choose(&offered).unwrap_or(URI_LIST) {
        "text/html" => return html(web, asked, uris),
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

/// "The HTML form must contain one `<ul>` with an `<li><a href="U">U</a>` per URL": so this page
/// has no menu.
#[derive(Template)]
#[template(path = "resolver/uris.html")]
struct UriListPage<'a> {
    frame: Frame<'a>,
    asked: &'a str,
    /// Each URI, and whether it is a link: a stored URL of another scheme may be a script.
    uris: Vec<(&'a str, bool)>,
}

fn html(web: &Web, asked: &str, uris: &[String]) -> Response<Body> {
    let is_link =
        |uri: &str| is_web(uri.as_bytes()) || OF_NAMES.iter().any(|name| uri.starts_with(name));
    let page = UriListPage {
        frame: Frame::new(web, asked, MenuPlace::Nowhere),
        asked,
        uris: uris
            .iter()
            .map(|uri| (uri.as_str(), is_link(uri)))
            .collect(),
    };
    page.frame.respond(StatusCode::OK, &page)
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
