//! Redirects.

use http_body_util::{Either, Full};
use hyper::header::{CACHE_CONTROL, HeaderMap, HeaderValue, LOCATION, VARY};
use hyper::{Response, StatusCode, Version};

use crate::http::resolver::choice::Taste;
use crate::http::resolver::locations::Locations;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::target::{header, is_web, lifetime, put_lifetime};
use crate::http::resolver::{headers, links};
use crate::http::response::Body;

/// Where a name leads, and with which status if its record says so.
pub(crate) struct Target {
    pub(crate) url: Vec<u8>,
    /// Whether others may be led elsewhere.
    pub(crate) is_chosen: bool,
    pub(crate) status: Option<StatusCode>,
    /// For how many seconds.
    pub(crate) seconds: u64,
}

impl Target {
    /// By the locations of a name, or its first URL; `None` if there is none that a browser may be sent to.
    pub(crate) fn of(name: &Name, taste: impl FnOnce() -> Taste, now: u64) -> Option<Self> {
        let locations = Locations::of(name);
        let target = if locations.is_described {
            let chosen = taste().choose(&locations)?;
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
}

fn status_of(text: &str) -> Option<StatusCode> {
    let known = ["301", "302", "303", "307", "308"];
    let known = known.contains(&text.trim()).then(|| text.trim());
    StatusCode::from_bytes(known?.as_bytes()).ok()
}

/// A redirect, unless the URL cannot be one. Clients of HTTP/1.0 know two kinds.
pub(crate) fn to(url: &[u8], status: StatusCode, version: Version) -> Option<Response<Body>> {
    let is_old = version < Version::HTTP_11 && status != StatusCode::MOVED_PERMANENTLY;
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = if is_old { StatusCode::FOUND } else { status };
    response.headers_mut().insert(LOCATION, header(url)?);
    Some(response)
}

/// Says how long it holds and for whom, and what the name links to.
pub(crate) fn describe(headers: &mut HeaderMap, name: &Name, target: &Target, now: u64) {
    put_lifetime(headers, target.seconds, now);
    if target.is_chosen {
        let private = HeaderValue::try_from(format!("private, max-age={}", target.seconds));
        if let Ok(private) = private {
            headers.insert(CACHE_CONTROL, private);
        }
        headers.insert(VARY, CHOSEN_BY);
    }
    links::put(headers, name);
    headers::put(headers, name);
}

/// What a choice depends on, beside the name.
const CHOSEN_BY: HeaderValue =
    HeaderValue::from_static("Accept, Accept-Language, Origin, User-Agent");
