//! The answer that is asked for most: a redirect to the one URL of a handle that is stored here.
//!
//! It is made straight from the store. Everything else – queries, aliases, locations, errors – goes the long way, which
//! would say the same.

use std::borrow::Cow;

use handfast_id::Handle;
use handfast_registry::{Lent, State};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue, LINK, LOCATION, ORIGIN, VARY};
use hyper::{Method, Request, Response, StatusCode};

use crate::web::Web;
use crate::web::reply::Body;
use crate::web::resolve::found::is_url;
use crate::web::resolve::links::signposts;
use crate::web::resolve::path::{Asked, Kind};
use crate::web::resolve::target::{header, is_web, lifetime, put_lifetime};

/// What answers depend on, beside the name.
pub(crate) const VARIES: HeaderValue = HeaderValue::from_static("Accept, Origin");

pub(crate) fn answer(web: &Web, request: &Request<Incoming>) -> Option<Response<Body>> {
    let is_plain = matches!(*request.method(), Method::GET | Method::HEAD)
        && request.uri().query().is_none()
        && !request.headers().contains_key(ORIGIN)
        && !may_want_json(request.headers());
    if !is_plain {
        return None;
    }
    let asked = Asked::read(request.uri().path(), None).ok()?;
    let (Kind::Handle, Cow::Borrowed(text)) = (asked.kind, &asked.text) else {
        return None;
    };
    // What is computed is not stored as it is said, and what is odd has another path.
    if text.starts_with("0.") || !text.bytes().all(is_of_paths) {
        return None;
    }
    let handle = Handle::from_stored(text).ok()?;
    let now = web.native.world().now();
    let (location, seconds) = web
        .registry()
        .lend(&handle, |lent| only_url(lent, now))
        .ok()??
        .flatten()?;
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = StatusCode::FOUND;
    let headers = response.headers_mut();
    headers.reserve(8);
    headers.insert(LOCATION, location);
    put_lifetime(headers, seconds, now);
    headers.insert(VARY, VARIES);
    let links = signposts(&["/", text].concat());
    headers.insert(LINK, HeaderValue::try_from(links).ok()?);
    Some(response)
}

/// Where a record leads, and for how many seconds; `None` if that takes more than a look.
fn only_url(lent: Lent<'_>, now: u64) -> Option<(HeaderValue, u64)> {
    if lent.state != State::Active || lent.has_namespace {
        return None;
    }
    let mut url = None;
    for (value, _) in lent.iter().filter(|(value, _)| value.is_public()) {
        let is_other = value.value_type.starts_with("10320/") || value.is_type("HS_ALIAS");
        if is_other {
            return None;
        }
        if url.is_none() && is_url(&value) {
            url = Some(value);
        }
    }
    let url = url.filter(|url| is_web(&url.data))?;
    Some((
        header(url.data.trim_ascii())?,
        lifetime(std::iter::once(&url), now),
    ))
}

fn may_want_json(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(ACCEPT).iter();
    lines.any(|line| {
        let mut parts = line.as_bytes().windows(4);
        parts.any(|part| part.eq_ignore_ascii_case(b"json"))
    })
}

/// The characters that stand for themselves in the path of a handle.
fn is_of_paths(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'-'..=b';' | b'(' | b')' | b'*' | b',')
        || matches!(byte, b'@' | b'_' | b'~' | b'!' | b'$' | b'=')
}
