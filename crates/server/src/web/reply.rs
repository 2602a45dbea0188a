//! What is sent back.

use http_body_util::combinators::BoxBody;
use http_body_util::{Either, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

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

/// A response that takes time to make: on another thread, so that nobody else waits for it.
pub(crate) async fn aside(
    work: impl FnOnce() -> Response<Body> + Send + 'static,
) -> Response<Body> {
    let working = crate::blocking::spawn_blocking(work);
    working.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a request could not be answered");
        plain(StatusCode::INTERNAL_SERVER_ERROR, "the server failed\n")
    })
}

/// A few words.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    reply(status, "text/plain; charset=utf-8", text)
}
