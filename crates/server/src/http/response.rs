//! Response bodies, and common responses.

use std::net::IpAddr;

use http_body_util::combinators::BoxBody;
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

use crate::admission::expensive_work::WorkQueue;
use crate::http::Web;
use crate::runtime::blocking::{self, WorkError};

/// The body of a response: bytes that are there, or a stream of them.
pub(crate) type Body = Either<Full<Bytes>, BoxBody<Bytes, std::io::Error>>;

/// A response of some type.
pub(crate) fn reply(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    let content_type = HeaderValue::from_static(content_type);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// A response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::default()));
    *response.status_mut() = status;
    response
}

/// A response that takes time to make: on another thread, so that nobody else waits for it.
pub(crate) async fn run_blocking(
    web: &Web,
    client: IpAddr,
    work: impl FnOnce() -> Response<Body> + Send + 'static,
) -> Response<Body> {
    let queue = &web.context.admission.expensive_work.requests;
    run_queued(queue, client, work).await
}

/// The same in a queue of its own.
pub(crate) async fn run_queued(
    queue: &WorkQueue,
    client: IpAddr,
    work: impl FnOnce() -> Response<Body> + Send + 'static,
) -> Response<Body> {
    match blocking::run(queue, client, work).await {
        Ok(response) => response,
        Err(WorkError::Busy) => busy("too many requests are under way: try again\n"),
        Err(WorkError::Failed) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the server failed\n"),
    }
}

/// The response to a client that should try again in a few seconds.
pub(crate) fn busy(text: &'static str) -> Response<Body> {
    plain(StatusCode::SERVICE_UNAVAILABLE, text).with(RETRY_AFTER, "5")
}

/// The response to a method that a path does not have.
pub(crate) fn not_allowed(allowed: &str, text: &'static str) -> Response<Body> {
    plain(StatusCode::METHOD_NOT_ALLOWED, text).with(ALLOW, allowed)
}

/// A few words.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    reply(status, "text/plain; charset=utf-8", text)
}

/// Headers of a response.
pub(crate) trait WithHeader {
    /// The same with a header, unless it has no value that HTTP allows.
    fn with(self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self;
}

impl WithHeader for Response<Body> {
    fn with(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        if let Ok(value) = value.try_into() {
            self.headers_mut().insert(name, value);
        }
        self
    }
}
