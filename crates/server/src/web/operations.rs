//! What operators ask: whether the server lives, whether it is ready, and how much it does.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use crate::web::reply::{Body, plain, reply};
use crate::web::{Part, Web};

pub(crate) fn answer(web: &Arc<Web>, request: &Request<Incoming>) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        refused.headers_mut().insert(ALLOW, allowed);
        return refused;
    }
    let mut response = match request.uri().path() {
        "/healthz" => plain(StatusCode::OK, "alive\n"),
        // Something is read, so that a store that cannot be is noticed.
        "/readyz" => match web.registry().statistics() {
            Ok(_) if web.is_closing() => plain(StatusCode::SERVICE_UNAVAILABLE, "about to end\n"),
            Ok(_) => plain(StatusCode::OK, "ready\n"),
            Err(error) => {
                tracing::error!(%error, "the store cannot be read");
                plain(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the store cannot be read\n",
                )
            }
        },
        "/metrics" => metrics(web),
        path => match web.challenge(path) {
            Some(text) => reply(StatusCode::OK, "application/octet-stream", text),
            None => plain(StatusCode::NOT_FOUND, "nothing is asked here now\n"),
        },
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// What is counted: one atomic addition for each request, and two for each connection.
#[derive(Default)]
pub(crate) struct Meters {
    /// Requests by part of the door, and by the first digit of their status.
    requests: [[AtomicU64; CLASSES.len()]; Part::ALL.len()],
    /// Connections that are open.
    open: AtomicI64,
    /// Lines of the access log that came too fast to be written.
    pub(crate) unlogged: AtomicU64,
}

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl Meters {
    /// Counts a request.
    pub(crate) fn count(&self, part: Part, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        let of_part = self.requests.get(part.number());
        if let Some(counter) = of_part.and_then(|classes| classes.get(class)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a connection as long as what comes back is kept.
    pub(crate) fn connected(web: &Arc<Web>) -> Connected {
        web.meters.open.fetch_add(1, Ordering::Relaxed);
        Connected(Arc::clone(web))
    }
}

/// A connection that is counted.
pub(crate) struct Connected(Arc<Web>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.meters.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Everything that is counted, in the text format of Prometheus.
fn metrics(web: &Arc<Web>) -> Response<Body> {
    let mut page = Page::default();
    page.title(
        "handfast_web_requests_total",
        "counter",
        "Requests answered, by part of the web door and class of status.",
    );
    for part in Part::ALL {
        let classes = web.meters.requests.get(part.number());
        for (class, count) in CLASSES.iter().zip(classes.into_iter().flatten()) {
            let labels = format!("part=\"{}\",status=\"{class}\"", part.as_str());
            let count = count.load(Ordering::Relaxed);
            page.line("handfast_web_requests_total", &labels, count);
        }
    }
    let open = web.meters.open.load(Ordering::Relaxed).max(0);
    page.gauge(
        "handfast_web_connections_open",
        "Connections to the web door that are open.",
        u64::try_from(open).unwrap_or_default(),
    );
    page.title(
        "handfast_access_log_dropped_total",
        "counter",
        "Lines of the access log that came too fast to be written.",
    );
    let unlogged = web.meters.unlogged.load(Ordering::Relaxed);
    page.line("handfast_access_log_dropped_total", "", unlogged);
    if let Ok(statistics) = web.registry().statistics() {
        for (name, help, count) in [
            ("handfast_names", "Names that are kept.", statistics.names),
            (
                "handfast_authorities",
                "Authorities that are kept.",
                statistics.authorities,
            ),
            (
                "handfast_events",
                "Events since the beginning.",
                statistics.events,
            ),
        ] {
            page.gauge(name, help, count);
        }
    }
    for (field, name, help) in [
        (
            "VmRSS:",
            "process_resident_memory_bytes",
            "Memory in use, with mapped pages of the store.",
        ),
        (
            "RssAnon:",
            "handfast_private_memory_bytes",
            "Memory in use, without mapped pages of files.",
        ),
    ] {
        if let Some(bytes) = memory(field) {
            page.gauge(name, help, bytes);
        }
    }
    page.gauge(
        "process_start_time_seconds",
        "When the server started, in seconds since 1970.",
        web.started / 1_000,
    );
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
    page.title("handfast_build_info", "gauge", "The program.");
    page.line("handfast_build_info", version, 1);
    let text_format = "text/plain; version=0.0.4; charset=utf-8";
    reply(StatusCode::OK, text_format, page.0)
}

/// A number of the system's about this process, in bytes; nothing where the system has none.
fn memory(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn title(&mut self, name: &str, kind: &str, help: &str) {
        // A string takes everything.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line(&mut self, name: &str, labels: &str, value: u64) {
        let _ = if labels.is_empty() {
            writeln!(self.0, "{name} {value}")
        } else {
            writeln!(self.0, "{name}{{{labels}}} {value}")
        };
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.title(name, "gauge", help);
        self.line(name, "", value);
    }
}
