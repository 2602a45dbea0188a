//! Endpoints for operators: whether the server is alive, whether it is ready, and its metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::header::CACHE_CONTROL;
use hyper::{Method, Request, Response, StatusCode};

use crate::http::connection::request_body::Incoming;
use crate::http::operator::metrics;
use crate::http::response::{Body, WithHeader, not_allowed, plain, reply};
use crate::http::{Part, Web};
use crate::runtime::counters::Shards;

pub(crate) async fn answer(web: &Arc<Web>, request: &Request<Incoming>) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return not_allowed("GET, HEAD", "only GET and HEAD\n");
    }
    let response = match request.uri().path() {
        "/healthz" => plain(StatusCode::OK, "alive\n"),
        "/readyz" if web.is_closing() => plain(StatusCode::SERVICE_UNAVAILABLE, "about to end\n"),
        "/readyz" => match web.readiness.ask(web.registry()).await {
            Ok(()) => plain(StatusCode::OK, "ready\n"),
            Err(problem) => {
                let (status, text) = (StatusCode::SERVICE_UNAVAILABLE, format!("{problem}\n"));
                reply(status, "text/plain; charset=utf-8", text)
            }
        },
        "/metrics" => metrics::answer(web),
        path => match web.challenge(path) {
            Some(text) => reply(StatusCode::OK, "application/octet-stream", text),
            None => plain(StatusCode::NOT_FOUND, "nothing is asked here now\n"),
        },
    };
    response.with(CACHE_CONTROL, "no-store")
}

/// The counters of HTTP: one addition for each request, and two for each connection.
#[derive(Default)]
pub(crate) struct Meters {
    requests: Shards<Requests>,
    /// Connections that are open.
    pub(crate) open: Arc<AtomicU64>,
    /// Requests that were answered with 429 or 503.
    pub(crate) refused: AtomicU64,
    /// Lines of the access log that came too fast to be written.
    pub(crate) unlogged: AtomicU64,
}

/// Requests by part of the HTTP server, and by the first digit of their status.
type Requests = [[AtomicU64; CLASSES.len()]; Part::ALL.len()];

pub(crate) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl Meters {
    /// Counts a request.
    pub(crate) fn count(&self, part: Part, status: StatusCode) {
        let is_refused = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        if is_refused && part != Part::Operations {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        self.requests
            .add(1, |requests| requests.get(part.number())?.get(class));
    }

    /// How many requests to a part were answered with each class of status.
    pub(crate) fn requests(&self, part: Part) -> [u64; CLASSES.len()] {
        std::array::from_fn(|class| {
            self.requests
                .sum(|requests| requests.get(part.number())?.get(class))
        })
    }
}
