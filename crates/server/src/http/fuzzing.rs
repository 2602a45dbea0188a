//! The parsers of HTTP for fuzz targets: the laws that hold for any bytes.

#![expect(clippy::missing_panics_doc, reason = "a law that is broken panics")]

use std::net::{IpAddr, Ipv4Addr};

use handfast_id::{Standard, Urn};
use handfast_wire::Value;
use hyper::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use crate::http::resolver::accept::{Accept, languages};
use crate::http::resolver::choice::ClientPreferences;
use crate::http::resolver::locations::Locations;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::path::RequestedName;
use crate::http::resolver::query::{Action, ResolveOptions};
use crate::http::resolver::target::{appended, escaped, is_web, path_of, with_query};
use crate::http::resolver::{ark, headers, links, with_components, with_scheme};
use crate::http::response::empty;
use crate::http::rest_api::authorization::Authorization;
use crate::http::uri_res::{decoded_line_ends, meant, service};

/// `Accept` and `Accept-Language`: only what is offered is chosen.
pub fn accept(data: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(data) else {
        return;
    };
    let mut asked = HeaderMap::new();
    asked.insert(ACCEPT, value.clone());
    asked.insert(ACCEPT_LANGUAGE, value);
    let accept = Accept::of(&asked);
    let offered = ["text/html", "application/json", "text/uri-list"];
    if let Some(chosen) = accept.choose(&offered) {
        assert!(offered.contains(&chosen) && accept.weight(chosen) > 0);
    }
    assert!(!(accept.wants_json() && accept.is_anything()));
    assert!(!(accept.is_of_citations() && accept.weight("text/html") > 0));
    assert!(languages(&asked).len() <= 32);
    preferences(&asked);
}

/// Records: one is chosen if there are any, and nothing leaves its header.
pub fn locations(data: &[u8]) {
    let types = ["10320/loc", "10320/links", "10320/headers", "URL"];
    let values = (1..).zip(types);
    let values = values.map(|(index, kind)| Value::new(index, kind, data).into_owned());
    let name = Name::made("20.500.12345/a b", values.collect());
    let found = Locations::of(&name);
    let chosen = preferences(&HeaderMap::new()).choose(&found);
    assert_eq!(chosen.is_some(), !found.list.is_empty());
    if let Some(chosen) = chosen.filter(|chosen| is_web(&chosen.href)) {
        let location = escaped(&chosen.href);
        assert!(location.bytes().all(|byte| byte.is_ascii_graphic()));
    }
    let mut sent = links::put(empty(StatusCode::OK), &name);
    headers::put(sent.headers_mut(), &name);
    for forbidden in [
        "set-cookie",
        "content-length",
        "location",
        "transfer-encoding",
    ] {
        assert!(!sent.headers().contains_key(forbidden));
    }
    let lines = links::lines(&name, "https://names.example");
    assert!(
        lines
            .lines()
            .all(|line| line.starts_with('<') && line.contains("; anchor=\""))
    );
    let all = links::set(&name, "https://names.example");
    assert!(all.get("linkset").is_some_and(serde_json::Value::is_array));
}

/// `Authorization`, of the REST API.
pub fn authorization(data: &[u8]) {
    if let Authorization::Basic(readings) = Authorization::read(data) {
        assert!(readings.len() <= 2);
    }
}

/// Paths: what a path names has a path that names it.
pub fn path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    if let Ok(asked) = RequestedName::read(path, Some(query))
        && asked.kind == crate::http::resolver::path::NameKind::Handle
    {
        // A name that looks like a scheme of its own has to be asked for as a handle.
        let again = format!("/hdl/{}", path_of(&asked.text));
        let again = RequestedName::read(&again, None).map(|again| again.text.into_owned());
        let text = asked.text.trim_start_matches('/');
        assert!(again.is_ok_and(|again| again == text || !text.contains('/')));
    }
    drop(RequestedName::typed(text));
    for (whole, rest) in ark::ancestors(text) {
        assert_eq!([whole, rest].concat(), text);
    }
}

/// Queries: what is not known is kept, and no more than that.
pub fn query(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let options = ResolveOptions::read(text);
    assert!(options.rest.len() <= text.len() && options.append.len() <= text.len());
    let rest = ResolveOptions::read(&options.rest);
    assert_eq!((rest.action, rest.rest), (Action::Redirect, options.rest));
    // Nothing that is appended leads to another host, or out of its header.
    let url = b"https://example.org";
    let appended = appended(url, &options.append);
    let appended = escaped(&appended);
    let host = appended.strip_prefix("https://example.org");
    assert!(host.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#', '%'])));
    assert!(appended.bytes().all(|byte| byte.is_ascii_graphic()));
    assert!(with_query(appended.as_bytes(), b"x").len() <= appended.len() + 2);
}

/// Services and operands of `/uri-res`.
pub fn operand(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (name, operand) = text.split_once('?').unwrap_or((text, ""));
    if let Some(service) = service::Service::parse(name) {
        let again = service::Service::parse(&name.to_ascii_lowercase());
        assert_eq!(again, Some(service));
    }
    assert!(decoded_line_ends(operand).len() <= operand.len());
    let meant = meant(operand);
    if let Ok(urn) = Urn::parse_with(&with_scheme(&meant), &Standard) {
        let url = with_components(b"https://example.org/?a#b", &urn);
        assert!(url.starts_with(b"https://example.org/?a"));
    }
}

fn preferences(asked: &HeaderMap) -> ClientPreferences {
    let mut preferences = ClientPreferences {
        attributes: Vec::new(),
        country: Some("DE".into()),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        chance: 7,
    };
    preferences.add_headers(asked);
    preferences
}
