//! Redirects: one value, built from the fast lookup or from a whole record, and two encoders.
//!
//! The fast path of HTTP/1.1 writes the value as bytes ([`RedirectResponse::put_http1`]); all other
//! requests get a response of hyper ([`RedirectResponse::into_response`]). Tests compare the two.

use std::borrow::Cow;

use http_body_util::{Either, Full};
use hyper::header::{
    CACHE_CONTROL, EXPIRES, HeaderMap, HeaderName, HeaderValue, LINK, LOCATION, VARY,
};
use hyper::{Response, StatusCode, Version};

use crate::http::resolver::choice::ClientPreferences;
use crate::http::resolver::headers;
use crate::http::resolver::links::Links;
use crate::http::resolver::locations::Locations;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::target::{date, escaped, is_web, lifetime, put_number};
use crate::http::response::Body;

/// The request headers that change the response for a name.
pub(crate) const VARY_DEFAULT: &str = "Accept, Origin";
/// The request headers that change which of several locations is chosen.
const VARY_CHOSEN: &str = "Accept, Accept-Language, Origin, User-Agent";

/// A redirect, before it is encoded.
pub(crate) struct RedirectResponse<'r> {
    status: StatusCode,
    /// The URL, escaped for a header.
    location: Cow<'r, [u8]>,
    lifetime: Option<Lifetime>,
    vary: &'static str,
    links: Option<Links<'r>>,
}

/// How long clients may cache a redirect.
struct Lifetime {
    seconds: u64,
    /// The end, in seconds since 1970.
    until: u64,
    /// Whether another client may be sent to another location.
    is_private: bool,
}

impl<'r> RedirectResponse<'r> {
    /// A redirect that is not cached and has no links.
    pub(crate) fn new(url: &'r [u8], status: StatusCode) -> Self {
        let location = match escaped(url) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        Self::from_escaped(location, status)
    }

    /// The same, for a URL that is escaped already.
    pub(crate) fn from_escaped(location: Cow<'r, [u8]>, status: StatusCode) -> Self {
        Self {
            status,
            location,
            lifetime: None,
            vary: VARY_DEFAULT,
            links: None,
        }
    }

    /// May be cached by all clients for some seconds from `now`, in milliseconds since 1970.
    pub(crate) fn cached(mut self, seconds: u64, now: u64) -> Self {
        self.lifetime = Some(Lifetime {
            seconds,
            until: (now / 1_000).saturating_add(seconds),
            is_private: false,
        });
        self
    }

    pub(crate) fn linked(mut self, links: Links<'r>) -> Self {
        self.links = Some(links);
        self
    }

    /// Appends an HTTP/1.1 response without `Date` and the final empty line. `put_date` writes a
    /// second since 1970 as a date.
    pub(crate) fn put_http1(&self, out: &mut Vec<u8>, put_date: impl FnOnce(&mut Vec<u8>, u64)) {
        out.extend_from_slice(b"HTTP/1.1 302 Found\r\nlocation: ");
        out.extend_from_slice(&self.location);
        if let Some(lifetime) = &self.lifetime {
            out.extend_from_slice(b"\r\ncache-control: ");
            lifetime.put(out);
            out.extend_from_slice(b"\r\nexpires: ");
            put_date(out, lifetime.until);
        }
        out.extend_from_slice(b"\r\nvary: ");
        out.extend_from_slice(self.vary.as_bytes());
        if let Some(links) = &self.links {
            out.extend_from_slice(b"\r\nlink: ");
            links.put(out);
        }
    }

    /// The response for hyper; `None` if the URL cannot stand in a header. HTTP/1.0 has only 301
    /// and 302.
    pub(crate) fn into_response(self, version: Version) -> Option<Response<Body>> {
        let is_old = version < Version::HTTP_11 && self.status != StatusCode::MOVED_PERMANENTLY;
        let mut response = Response::new(Either::Left(Full::default()));
        *response.status_mut() = if is_old {
            StatusCode::FOUND
        } else {
            self.status
        };
        let headers = response.headers_mut();
        headers.insert(LOCATION, HeaderValue::from_bytes(&self.location).ok()?);
        if let Some(lifetime) = &self.lifetime {
            lifetime.put_headers(headers);
        }
        headers.insert(VARY, HeaderValue::from_static(self.vary));
        if let Some(links) = &self.links {
            put(headers, LINK, |out| links.put(out));
        }
        Some(response)
    }
}

impl Lifetime {
    fn put(&self, out: &mut Vec<u8>) {
        if self.is_private {
            out.extend_from_slice(b"private, ");
        }
        out.extend_from_slice(b"max-age=");
        put_number(out, self.seconds);
    }

    fn put_headers(&self, headers: &mut HeaderMap) {
        put(headers, CACHE_CONTROL, |out| self.put(out));
        put(headers, EXPIRES, |out| {
            out.extend_from_slice(date(self.until).as_bytes());
        });
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, write: impl FnOnce(&mut Vec<u8>)) {
    let mut value = Vec::new();
    write(&mut value);
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}

/// The location of a name, and the status if its record sets one.
pub(crate) struct Target {
    pub(crate) url: Vec<u8>,
    /// Whether another client may be sent to another location.
    is_chosen: bool,
    status: Option<StatusCode>,
    seconds: u64,
}

impl Target {
    /// One of the locations of a name, or its first URL; `None` if a browser may not be sent to it.
    pub(crate) fn of(
        name: &Name,
        preferences: impl FnOnce() -> ClientPreferences,
        now: u64,
    ) -> Option<Self> {
        let locations = Locations::of(name);
        let target = if locations.is_described {
            let chosen = preferences().choose(&locations)?;
            let status = chosen.attribute("http_sc").or(locations.status.as_deref());
            Self {
                status: status.and_then(status_of),
                url: name.with_rest(&chosen.href),
                is_chosen: true,
                seconds: lifetime(name.all_values(), now),
            }
        } else {
            let url = name.urls().next()?;
            Self {
                url: name.with_rest(&url.data),
                is_chosen: false,
                status: None,
                seconds: lifetime(std::iter::once(url), now),
            }
        };
        is_web(&target.url).then_some(target)
    }

    /// The redirect of a name to `url`, which is the URL of the target with a query or fragment.
    pub(crate) fn respond(
        &self,
        name: &Name,
        url: &[u8],
        usual: StatusCode,
        (version, now): (Version, u64),
    ) -> Option<Response<Body>> {
        let redirect = RedirectResponse::new(url, self.status.unwrap_or(usual));
        let mut redirect = redirect.cached(self.seconds, now).linked(Links::of(name));
        if self.is_chosen {
            redirect.vary = VARY_CHOSEN;
            if let Some(lifetime) = &mut redirect.lifetime {
                lifetime.is_private = true;
            }
        }
        let mut response = redirect.into_response(version)?;
        headers::put(response.headers_mut(), name);
        Some(response)
    }
}

fn status_of(text: &str) -> Option<StatusCode> {
    let known = ["301", "302", "303", "307", "308"];
    let known = known.contains(&text.trim()).then(|| text.trim());
    StatusCode::from_bytes(known?.as_bytes()).ok()
}
