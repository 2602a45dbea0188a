//! The console: `/console/…`, for people who administer names.
//!
//! Every page is in one [table](page_table). The server finds the page of a request in it, checks
//! the session, and runs the page's function on a thread that may wait for the disk. A page calls
//! the same functions of the registry as `/api/v1`, as the account that is signed in: the console
//! has no rules of its own. Pages work without script; forms are sent by POST and answered by a
//! redirect to the page that shows the result.

mod account;
mod again;
mod authorities;
mod cookie;
mod draft_page;
mod error_page;
mod events;
mod frame;
mod inbox;
mod jobs;
mod message;
mod names;
mod namespaces;
mod origin;
pub(crate) mod page_table;
mod people;
mod server;
mod sign_in;
mod visit;

use std::sync::Arc;

use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::admission::body_memory::Sender;
use crate::http::connection::request_body::Incoming;
use crate::http::console::error_page::PageError;
use crate::http::console::page_table::{Access, find};
use crate::http::console::visit::{PageRequest, Visit};
use crate::http::response::{Body, WithHeader, empty, plain, run_queued};
use crate::http::{Caller, Web, pages};

/// The longest form, in bytes: a record with all its values fits.
const MAX_FORM: usize = 4 << 20;
/// The longest form of a page that everybody may open, in bytes: an account and a password.
const MAX_OPEN_FORM: usize = 64 << 10;

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let is_change = head.method == Method::POST;
    if !is_change && !matches!(head.method, Method::GET | Method::HEAD) {
        return guarded(plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "pages are read and sent\n",
        ));
    }
    if is_change {
        let base = web.hosts.base(caller, &head.uri, &head.headers);
        if let Err(problem) = origin::check(&head.headers, &base) {
            tracing::info!(reason = problem, "a form of another site was refused");
            return guarded(plain(
                StatusCode::FORBIDDEN,
                "this form was sent by another site: open the console and send it there\n",
            ));
        }
    }
    let route = find(&head.method, head.uri.path()).map(|(route, _)| route);
    let hashes_password = route.is_some_and(|route| route.hashes_password);
    let is_open = route.is_none_or(|route| route.access == Access::Anyone);
    let limit = if is_open { MAX_OPEN_FORM } else { MAX_FORM };
    let form = match body.receive(web, caller, Sender::Anonymous, limit).await {
        Ok(form) => form,
        Err(error) => {
            let text = "the form did not arrive, or it is too long: try again\n";
            return guarded(plain(error.status(), text));
        }
    };
    let (at_work, client) = (Arc::clone(web), Arc::clone(caller));
    let work = move || respond(&at_work, &client, PageRequest::new(head, form));
    let expensive_work = &web.context.admission.expensive_work;
    let queue = if hashes_password {
        &expensive_work.passwords
    } else {
        &expensive_work.requests
    };
    guarded(run_queued(queue, caller.address.ip(), work).await)
}

/// Finds the page, and runs it.
fn respond(web: &Arc<Web>, caller: &Arc<Caller>, request: PageRequest) -> Response<Body> {
    let mut visit = Visit::new(web, caller, request);
    let Some((route, path)) = find(&visit.request.head.method, visit.request.head.uri.path())
    else {
        let error = PageError::not_found("There is no such page in the console.");
        return error.respond(&visit);
    };
    visit.path = path;
    if !visit.request.is_readable {
        let text = "The form could not be read: it has too many fields, or is damaged. Nothing was \
                    changed.";
        let error = PageError::new(StatusCode::BAD_REQUEST, "bad-form", text);
        return error.respond(&visit);
    }
    if route.access == Access::SignedIn && visit.person.is_none() {
        return sign_in::lead_there(&visit);
    }
    let answer = (route.page)(&visit);
    answer.unwrap_or_else(|error| error.respond(&visit))
}

/// The headers that every answer of the console has.
fn guarded(response: Response<Body>) -> Response<Body> {
    let has_policy = response.headers().contains_key(CONTENT_SECURITY_POLICY);
    let response = response
        .with(CACHE_CONTROL, "no-store")
        .with(REFERRER_POLICY, "same-origin")
        .with(OPENER_POLICY, "same-origin")
        .with(RESOURCE_POLICY, "same-origin")
        .with(PERMISSIONS, PERMISSIONS_OFF)
        .with(ROBOTS, "noindex");
    if has_policy {
        return response;
    }
    response.with(CONTENT_SECURITY_POLICY, pages::policy("none", "'none'"))
}

/// A redirect to another page of the console, after a form.
fn see(path: &str) -> Response<Body> {
    let Ok(place) = HeaderValue::from_str(path) else {
        return empty(StatusCode::NO_CONTENT);
    };
    empty(StatusCode::SEE_OTHER).with(LOCATION, place)
}

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS: HeaderName = HeaderName::from_static("permissions-policy");
const PERMISSIONS_OFF: &str = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
