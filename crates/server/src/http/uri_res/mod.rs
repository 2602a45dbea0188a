//! Resolution services for URNs and other URIs: `/uri-res/{service}?{uri}` (RFC 2169, RFC 2483;
//! `http-interfaces.md` D).

mod description;
mod list;
mod operand;
mod request;
pub(crate) mod service;

use std::sync::Arc;

use hyper::{Method, Request, Response, StatusCode};

#[cfg(feature = "fuzzing")]
pub(crate) use self::request::meant;
use crate::http::connection::request_body::Incoming;
use crate::http::resolver::accept::Accept;
use crate::http::resolver::failure::Failure;
use crate::http::resolver::page::fresh;
use crate::http::resolver::source::Source;
use crate::http::resolver::{finished, options, refused};
use crate::http::response::{Body, run_blocking};
use crate::http::uri_res::request::Resolution;
use crate::http::uri_res::service::{Service, ServiceOutput};
use crate::http::{Caller, Web};

/// The longest two URIs, one a line.
const MAX_BODY: usize = 20_000;
const ALLOWED: &str = "GET, HEAD, OPTIONS";
const ALLOWED_WITH_BODY: &str = "GET, HEAD, POST, OPTIONS";

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let accept = Accept::of(&head.headers);
    let path = head.uri.path().trim_start_matches('/');
    let name = path.split_once('/').map_or("", |(_, name)| name);
    let name = name.replace("%3D", "=").replace("%3d", "=");
    let query = head.uri.query().unwrap_or_default();
    let response = match (Service::parse(&name), &head.method) {
        (None, _) => {
            let detail = format!("There is no service \"{name}\" here.");
            let status = StatusCode::NOT_IMPLEMENTED;
            Failure::new(status, "no-service", "Unknown Service", detail).answer(web, &accept)
        }
        (Some(service), &Method::GET | &Method::HEAD) if service.to == ServiceOutput::Equality => {
            equality(web, &decoded_line_ends(query), &accept)
        }
        (Some(service), &Method::POST) if service.to == ServiceOutput::Equality => {
            match body.text(web, caller, MAX_BODY).await {
                Ok(text) => equality(web, &text, &accept),
                Err(response) => return response,
            }
        }
        (Some(service), &Method::OPTIONS) => options(&head.headers, allowed(service)),
        (Some(service), &Method::GET | &Method::HEAD) => {
            let source = if web.context.dspace.is_some() {
                Source::ask(web, &request::meant(query)).await
            } else {
                None
            };
            let (at_work, client) = (Arc::clone(web), Arc::clone(caller));
            // There may be many names at a place.
            let resolution = move || {
                let resolution = Resolution {
                    source,
                    web: &at_work,
                    caller: &client,
                    head: &head,
                    service,
                    asked: head.uri.query().unwrap_or_default(),
                    accept: &accept,
                };
                finished(resolution.answer(), &head.headers)
            };
            return run_blocking(web, caller.address.ip(), resolution).await;
        }
        (Some(service), _) => refused(allowed(service)),
    };
    finished(response, &head.headers)
}

fn allowed(service: Service) -> &'static str {
    if service.to == ServiceOutput::Equality {
        ALLOWED_WITH_BODY
    } else {
        ALLOWED
    }
}

/// In a query the line end between two URIs is written as a triplet.
pub(crate) fn decoded_line_ends(query: &str) -> String {
    ["%0D%0A", "%0d%0a", "%0A", "%0a"]
        .iter()
        .fold(query.to_string(), |text, triplet| {
            text.replace(triplet, "\n")
        })
}

/// `I=I`: "TRUE or FALSE: does this server consider them equal".
fn equality(web: &Arc<Web>, text: &str, accept: &Accept) -> Response<Body> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (Some(one), Some(other), None) = (lines.next(), lines.next(), lines.next()) else {
        let detail = "I=I takes two URIs, with %0A between them, or in the body, one a line.";
        return Failure::malformed(detail.to_string()).answer(web, accept);
    };
    match operand::are_same(web, one, other) {
        Ok(are_same) => {
            let said = if are_same { "TRUE\r\n" } else { "FALSE\r\n" };
            fresh(StatusCode::OK, "text/plain; charset=utf-8", said)
        }
        Err(failure) => failure.answer(web, accept),
    }
}
