//! The answer that is asked for most: a redirect to the one URL of a handle that is stored here.
//!
//! It is made straight from the store. Everything else – queries, aliases, locations, errors – goes the long way, which
//! would say the same.

use std::borrow::Cow;

use handfast_id::Handle;
use handfast_registry::{RecordRef, State};
use handfast_wire::{Ttl, Value};
use http_body_util::{Either, Full};
use hyper::header::{ACCEPT, HeaderValue, LINK, LOCATION, ORIGIN, VARY};
use hyper::{Method, Request, Response, StatusCode};

use crate::http::Web;
use crate::http::connection::request_body::Incoming;
use crate::http::resolver::links::SIGNPOSTS;
use crate::http::resolver::name_lookup::is_url;
use crate::http::resolver::path::{Asked, Kind};
use crate::http::resolver::redirect_cache::Found;
use crate::http::resolver::target::{escaped, is_web, lifetime, put_lifetime};
use crate::http::response::Body;
use crate::runtime::snapshot_reuse;

/// What answers depend on, beside the name.
pub(crate) const VARIES: HeaderValue = HeaderValue::from_static("Accept, Origin");

/// A redirect to the one URL of a handle.
pub(crate) struct Redirect<'r> {
    /// The URL, fit for a header.
    pub(crate) location: &'r [u8],
    /// For how long it is good.
    pub(crate) seconds: u64,
    now: u64,
    /// The handle as it is registered.
    handle: &'r str,
}

impl Redirect<'_> {
    /// Until when it is good, in seconds since 1970.
    pub(crate) fn until(&self) -> u64 {
        (self.now / 1_000).saturating_add(self.seconds)
    }

    /// What leads on from here, for a header.
    pub(crate) fn put_links(&self, out: &mut Vec<u8>) {
        let mut start = "<";
        for end in SIGNPOSTS {
            for part in [start, "/", self.handle, end] {
                out.extend_from_slice(part.as_bytes());
            }
            start = ", <";
        }
    }
}

pub(crate) fn answer(web: &Web, request: &Request<Incoming>) -> Option<Response<Body>> {
    let accept = || {
        let lines = request.headers().get_all(ACCEPT).iter();
        lines.map(HeaderValue::as_bytes)
    };
    let wants_page = accept().all(is_page);
    let is_plain = matches!(*request.method(), Method::GET | Method::HEAD)
        && request.uri().query().is_none()
        && !request.headers().contains_key(ORIGIN)
        && !accept().any(may_be_json);
    if !is_plain {
        return None;
    }
    let now = snapshot_reuse::moment(&web.native).now;
    let path = request.uri().path();
    find(web, path, wants_page, now, |redirect| {
        let mut response = Response::new(Either::Left(Full::default()));
        *response.status_mut() = StatusCode::FOUND;
        let headers = response.headers_mut();
        headers.reserve(8);
        let mut links = Vec::with_capacity(256);
        redirect.put_links(&mut links);
        let links = HeaderValue::try_from(links).ok()?;
        headers.insert(LOCATION, HeaderValue::try_from(redirect.location).ok()?);
        put_lifetime(headers, redirect.seconds, now);
        headers.insert(VARY, VARIES);
        headers.insert(LINK, links);
        Some(response)
    })?
}

/// Lends where a path leads, if that takes no more than a look. Of DOIs something else than a page may be wanted.
pub(crate) fn find<T>(
    web: &Web,
    path: &str,
    wants_page: bool,
    now: u64,
    take: impl FnOnce(&Redirect<'_>) -> T,
) -> Option<T> {
    let take = |found: &Found<'_>| {
        Some(take(&Redirect {
            location: found.location,
            seconds: found.seconds,
            now,
            handle: match found.registered {
                Some(registered) => registered,
                None => path.get(found.start..)?,
            },
        }))
    };
    let registry = web.registry();
    let edition = registry.cache_generation();
    if wants_page
        && let Some(pair) = web.recent.at(path)
        && let Some(found) = pair.found(path, edition)
    {
        return take(&found);
    }
    let handle = handle_in(path, wants_page)?;
    let stored = Handle::from_stored(handle).ok()?;
    let lent = registry.with_record(&stored, |record| {
        let url = only_url(record)?;
        // In another case it has the same octets in a path; anything else takes the slow path.
        let registered = (record.text != handle).then_some(record.text);
        if registered.is_some_and(|text| !text.eq_ignore_ascii_case(handle)) {
            return None;
        }
        let location = escaped(&url.data);
        let found = Found {
            location: location.as_bytes(),
            seconds: lifetime(std::iter::once(&url), now),
            start: path.len() - handle.len(),
            registered,
        };
        // A moment that was set comes nearer.
        if matches!(url.ttl, Ttl::Relative(_)) {
            web.recent.put(path, edition, &found);
        }
        take(&found)
    });
    lent.ok()??.flatten()
}

/// The handle that a path ends with, if it is read as it stands there.
fn handle_in(path: &str, wants_page: bool) -> Option<&str> {
    let asked = Asked::read(path, None).ok()?;
    let (Kind::Handle, Cow::Borrowed(handle)) = (asked.kind, asked.text) else {
        return None;
    };
    // What is computed is not stored as it is said, and what is odd has another path.
    let is_usual = !handle.starts_with("0.") && is_plain(handle);
    (is_usual && (wants_page || !handle.starts_with("10."))).then_some(handle)
}

/// The URL that a record leads to; `None` if that takes more than a look.
fn only_url(lent: RecordRef<'_>) -> Option<Value<'_>> {
    if lent.state != State::Active || lent.has_namespace {
        return None;
    }
    let mut url = None;
    for (value, _) in lent.iter().filter(|(value, _)| value.is_public()) {
        let is_other = value.value_type.starts_with("10320/") || value.is_type("HS_ALIAS");
        let is_other = is_other || value.is_type("HS_NAMESPACE");
        if is_other {
            return None;
        }
        if url.is_none() && is_url(&value) {
            url = Some(value);
        }
    }
    url.filter(|url| is_web(&url.data))
}

/// Whether a line of what a client accepts may ask for something else than a page.
pub(crate) fn may_be_json(line: &[u8]) -> bool {
    let mut parts = line.windows(4);
    // Links may be wanted as `application/linkset`.
    parts.any(|part| part.eq_ignore_ascii_case(b"json") || part.eq_ignore_ascii_case(b"kset"))
}

/// Whether a line of what a client accepts asks for a page, or anything, without a doubt.
pub(crate) fn is_page(line: &[u8]) -> bool {
    line == b"*/*" || line == b"text/html" || line.starts_with(b"text/html,")
}

/// Whether all characters of a handle stand for themselves in a path.
pub(crate) fn is_plain(handle: &str) -> bool {
    handle.bytes().all(|byte| {
        matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'-'..=b';' | b'(' | b')' | b'*' | b',')
            || matches!(byte, b'@' | b'_' | b'~' | b'!' | b'$' | b'=')
    })
}
