//! The description of a name (a URC in the words of RFC 2169).

use std::sync::Arc;

use askama::Template;
use handfast_wire::json;
use hyper::{Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::http::Web;
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::resolver::accept::Accept;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::page::{self, JSON, escape, formatted, fresh};
use crate::http::resolver::record_page::RecordView;
use crate::http::resolver::target::escaped_text;
use crate::http::response::Body;

/// Where descriptions are made.
pub(crate) struct DescriptionContext<'r> {
    pub(crate) web: &'r Arc<Web>,
    /// The base URL of this resolver.
    pub(crate) base: &'r str,
    pub(crate) accept: &'r Accept,
}

#[derive(Template)]
#[template(path = "resolver/descriptions.html")]
struct DescriptionsPage<'a> {
    frame: Frame<'a>,
    /// Paths and texts.
    names: Vec<(String, &'a str)>,
}

impl DescriptionContext<'_> {
    /// The description of one name.
    pub(crate) fn one(&self, name: &Name) -> Response<Body> {
        match chosen(self.accept) {
            "text/html" => self.page(name),
            "application/json" => page::record_json(&name.text, &name.values),
            _ => as_xml(&element(name)),
        }
    }

    /// The descriptions of several.
    pub(crate) fn several(&self, names: &[Name]) -> Response<Body> {
        match chosen(self.accept) {
            "text/html" => {
                if let [name] = names {
                    return self.page(name);
                }
                let path = |name: &Name| escaped_text(name.path().as_bytes());
                let page = DescriptionsPage {
                    frame: Frame::new(self.web, "Descriptions", MenuPlace::Nowhere),
                    names: names.iter().map(|name| (path(name), &*name.text)).collect(),
                };
                page.frame.respond(StatusCode::OK, &page)
            }
            "application/json" => {
                let all: Vec<_> = names.iter().map(as_json).collect();
                fresh(StatusCode::OK, JSON, Json::from(all).to_string())
            }
            _ => {
                let all: String = names.iter().map(element).collect();
                as_xml(&format!("<records>\n{all}</records>\n"))
            }
        }
    }

    fn page(&self, name: &Name) -> Response<Body> {
        RecordView::new(self.web, self.base, name).respond()
    }
}

fn chosen(accept: &Accept) -> &'static str {
    let offered = [
        "application/json",
        "text/html",
        "application/xml",
        "text/xml",
    ];
    accept.choose(&offered).unwrap_or("application/json")
}

fn as_json(name: &Name) -> Json {
    let values: Vec<_> = name.values.iter().map(json::value).collect();
    json!({"responseCode": 1, "handle": name.text, "values": values})
}

fn as_xml(elements: &str) -> Response<Body> {
    let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{elements}");
    fresh(StatusCode::OK, "application/xml; charset=utf-8", text)
}

fn element(name: &Name) -> String {
    let mut out = format!("<record name=\"{}\">\n", escape(&name.text));
    for value in &name.values {
        let (format, text) = formatted(value);
        let (index, kind, text) = (value.index, escape(&value.value_type), escape(&text));
        let value = format!("index=\"{index}\" type=\"{kind}\" format=\"{format}\">{text}");
        out.extend(["  <value ", &value, "</value>\n"]);
    }
    out.push_str("</record>\n");
    out
}
