//! Resolution for people and browsers: `/{identifier}` redirects, or shows the record
//! (`http-interfaces.md` B).

pub(crate) mod accept;
pub(crate) mod address;
pub(crate) mod ark;
pub(crate) mod choice;
pub(crate) mod event_words;
pub(crate) mod failure;
pub(crate) mod fast_redirect;
pub(crate) mod front;
pub(crate) mod geoip;
pub(crate) mod headers;
pub(crate) mod links;
pub(crate) mod locations;
pub(crate) mod merged;
pub(crate) mod name_lookup;
pub(crate) mod not_found_page;
pub(crate) mod page;
pub(crate) mod path;
pub(crate) mod qr_code;
pub(crate) mod query;
pub(crate) mod query_and_fragment;
pub(crate) mod recognition;
pub(crate) mod record_page;
pub(crate) mod redirect;
pub(crate) mod redirect_cache;
pub(crate) mod slow_path;
pub(crate) mod source;
pub(crate) mod target;
pub(crate) mod title;
pub(crate) mod tombstone_page;

use std::sync::Arc;

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW,
    HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::http::connection::request_body::Incoming;
use crate::http::resolver::path::RequestedName;
use crate::http::resolver::query::ResolveOptions;
use crate::http::resolver::redirect::VARY_DEFAULT;
use crate::http::resolver::slow_path::ResolveRequest;
pub(crate) use crate::http::resolver::slow_path::{failure, with_components, with_scheme};
use crate::http::resolver::source::Source;
use crate::http::response::{Body, WithHeader, not_allowed, plain, run_blocking};
use crate::http::{Caller, Web};

/// The longest form.
const MAX_FORM: usize = 16 << 10;

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let name =
        RequestedName::read(head.uri.path(), head.uri.query()).map(RequestedName::into_owned);
    let source = match &name {
        Ok(name) if web.context.dspace.is_some() => {
            Source::ask(web, name.without_components()).await
        }
        _ => None,
    };
    let mut asked = head.uri.query().unwrap_or_default().to_string();
    match head.method {
        Method::GET | Method::HEAD => {}
        Method::POST => match body.text(web, caller, MAX_FORM).await {
            Ok(form) => asked.extend(["&", form.trim()]),
            Err(response) => return response,
        },
        Method::OPTIONS => return finished(options(&head.headers, ALLOWED), &head.headers),
        _ => return finished(refused(ALLOWED), &head.headers),
    }
    let (at_work, client) = (Arc::clone(web), Arc::clone(caller));
    // Records can be long, and what is in them takes time to read.
    let visit = move || {
        let options = ResolveOptions::read(&asked);
        let response = ResolveRequest::new(&at_work, &client, &head, options, source).answer(name);
        finished(response, &head.headers)
    };
    run_blocking(web, caller.address.ip(), visit).await
}

/// The methods for names.
const ALLOWED: &str = "GET, HEAD, POST, OPTIONS";

/// A method that is not for names.
pub(crate) fn refused(allowed: &'static str) -> Response<Body> {
    let text = "names are read here; they are written through /api/handles and /api/v1\n";
    not_allowed(allowed, text)
}

/// The response to OPTIONS, also for preflight requests of scripts.
pub(crate) fn options(asked: &HeaderMap, allowed: &'static str) -> Response<Body> {
    let response = plain(StatusCode::OK, "").with(ALLOW, allowed);
    if is_preflight(asked) {
        return preflight(response, "GET,POST,HEAD");
    }
    response
}

/// Whether a browser asks if a script of another site may send a request.
pub(crate) fn is_preflight(asked: &HeaderMap) -> bool {
    asked.contains_key(ORIGIN) && asked.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The response to that.
pub(crate) fn preflight(response: Response<Body>, methods: &str) -> Response<Body> {
    let taken = "X-Requested-With,Authorization,Origin,Accept,Content-Type";
    response
        .with(ACCESS_CONTROL_MAX_AGE, "86400")
        .with(ACCESS_CONTROL_ALLOW_METHODS, methods)
        .with(ACCESS_CONTROL_ALLOW_HEADERS, taken)
}

/// The same response for other sites' scripts.
pub(crate) fn finished(mut response: Response<Body>, asked: &HeaderMap) -> Response<Body> {
    let headers = response.headers_mut();
    // A location that was chosen for a client depends on more headers.
    headers
        .entry(VARY)
        .or_insert(HeaderValue::from_static(VARY_DEFAULT));
    if let Some(origin) = asked.get(ORIGIN) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Content-Length, Link, Location"),
        );
    }
    response
}
