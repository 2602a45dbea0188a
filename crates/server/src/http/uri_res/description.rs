//! The description of a name (a URC in the words of RFC 2169).

use handfast_wire::json;
use hyper::{Response, StatusCode};
use serde_json::{Value as Json, json};

use crate::http::resolver::accept::Accept;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::page::{self, JSON, escape, formatted, fresh};
use crate::http::response::Body;

/// The description of one name.
pub(crate) fn one(name: &Name, accept: &Accept) -> Response<Body> {
    match chosen(accept) {
        "text/html" => page::record(name, None, None),
        "application/json" => page::record_json(&name.text, &name.values),
        _ => as_xml(&element(name)),
    }
}

/// The descriptions of several.
pub(crate) fn several(names: &[Name], accept: &Accept) -> Response<Body> {
    match chosen(accept) {
        "text/html" => {
            if let [name] = names {
                return page::record(name, None, None);
            }
            let mut list = String::from("<ul>\n");
            for name in names {
                let (path, text) = (escape(&name.path()), escape(&name.text));
                let link = format!("<a href=\"{path}?noredirect\">{text}</a>");
                list.extend(["<li>", &link, "</li>\n"]);
            }
            list.push_str("</ul>");
            page::page(StatusCode::OK, "Descriptions", &list)
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
