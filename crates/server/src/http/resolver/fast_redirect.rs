//! The most frequent answer: a redirect to the one URL of a stored handle.
//!
//! It is made straight from the store, or from the redirect cache. Everything else (queries,
//! aliases, locations, errors) takes the slow path, which would give the same answer.

use std::borrow::Cow;

use handfast_id::Handle;
use handfast_registry::{RecordRef, State};
use handfast_wire::{Ttl, Value};
use hyper::StatusCode;

use crate::http::Web;
use crate::http::resolver::links::Links;
use crate::http::resolver::name_lookup::is_url;
use crate::http::resolver::path::{NameKind, RequestedName};
use crate::http::resolver::redirect::RedirectResponse;
use crate::http::resolver::redirect_cache::CachedRedirect;
use crate::http::resolver::target::{escaped, is_web, lifetime};

/// Lends where a path leads, if that takes no more than a look. Of DOIs something else than a page
/// may be wanted.
pub(crate) fn find<T>(
    web: &Web,
    path: &str,
    wants_page: bool,
    now: u64,
    take: impl FnOnce(&RedirectResponse<'_>) -> T,
) -> Option<T> {
    let take = |found: &CachedRedirect<'_>| {
        let handle = match found.registered {
            Some(registered) => registered,
            None => path.get(found.start..)?,
        };
        let redirect = RedirectResponse::from_escaped(found.location.into(), StatusCode::FOUND);
        let links = Links::signposts(handle);
        Some(take(&redirect.cached(found.seconds, now).linked(links)))
    };
    let registry = web.registry();
    let generation = registry.cache_generation();
    if wants_page
        && let Some(bucket) = web.redirect_cache.at(path)
        && let Some(found) = bucket.found(path, generation)
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
        let found = CachedRedirect {
            location: location.as_bytes(),
            seconds: lifetime(std::iter::once(&url), now),
            start: path.len() - handle.len(),
            registered,
        };
        // The lifetime of an absolute TTL shrinks with time.
        if matches!(url.ttl, Ttl::Relative(_)) {
            web.redirect_cache.put(path, generation, &found);
        }
        take(&found)
    });
    lent.ok()??.flatten()
}

/// The handle that a path ends with, if it is read as it stands there.
fn handle_in(path: &str, wants_page: bool) -> Option<&str> {
    let asked = RequestedName::read(path, None).ok()?;
    let (NameKind::Handle, Cow::Borrowed(handle)) = (asked.kind, asked.text) else {
        return None;
    };
    // Values of `0.` handles are computed, and other characters are escaped in a path.
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
