//! All metrics, in the text format of Prometheus.

// Not `prometheus-client`: it adds seven crates and registers counters that all cores share, while
// these are counted for each core without a common cache line, and added up when they are read.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::{Response, StatusCode};
use nix::sys::resource::{Resource, getrlimit};

use crate::http::operator::endpoints::CLASSES;
use crate::http::operator::readiness;
use crate::http::response::{Body, reply};
use crate::http::{Part, Web};
use crate::status::octets;

pub(crate) fn answer(web: &Arc<Web>) -> Response<Body> {
    let mut page = MetricsPage::default();
    interfaces(&mut page, web);
    native(&mut page, web);
    load(&mut page, web);
    stored(&mut page, web);
    process(&mut page, web);
    let text_format = "text/plain; version=0.0.4; charset=utf-8";
    reply(StatusCode::OK, text_format, page.0)
}

/// The HTTP server.
fn interfaces(page: &mut MetricsPage, web: &Arc<Web>) {
    let requests = Part::ALL.into_iter().flat_map(|part| {
        let counts = CLASSES.into_iter().zip(web.meters.requests(part));
        counts.map(move |(class, count)| {
            let part = part.as_str();
            (format!("part=\"{part}\",status=\"{class}\""), count)
        })
    });
    page.counters(
        "handfast_web_requests_total",
        "Requests answered, by part of the HTTP server and class of status.",
        requests,
    );
    page.gauge(
        "handfast_web_connections_open",
        "Open HTTP connections.",
        web.meters.open.load(Ordering::Relaxed),
    );
    page.counter(
        "handfast_access_log_dropped_total",
        "Lines of the access log that came too fast to be written.",
        web.meters.unlogged.load(Ordering::Relaxed),
    );
    page.counter(
        "handfast_malformed_urls_total",
        "URLs without scheme or host that REST and the handle protocol were given, and took.",
        web.registry().malformed_urls(),
    );
}

/// The handle protocol, by every way.
fn native(page: &mut MetricsPage, web: &Arc<Web>) {
    let meters = &web.context.metrics;
    let requests = meters.requests().into_iter();
    page.counters(
        "handfast_native_requests_total",
        "Requests of the handle protocol answered, by transport, operation and response code.",
        requests.map(|(way, opcode, code, count)| {
            let labels = format!("transport=\"{way}\",operation=\"{opcode}\",code=\"{code}\"");
            (labels, count)
        }),
    );
    let transport = |way| format!("transport=\"{way}\"");
    let octets = meters.octets();
    page.counters(
        "handfast_native_received_bytes_total",
        "Octets of the handle protocol that came, by transport.",
        octets.map(|(way, received, _)| (transport(way), received)),
    );
    page.counters(
        "handfast_native_sent_bytes_total",
        "Octets of the handle protocol that went, by transport.",
        octets.map(|(way, _, sent)| (transport(way), sent)),
    );
    let lost = meters.lost();
    page.counters(
        "handfast_native_dropped_total",
        "Messages over UDP that were not answered: above the rate limit of their network, or too \
         many at once.",
        lost.map(|(reason, count)| (format!("reason=\"{reason}\""), count)),
    );
    page.gauge(
        "handfast_native_connections_open",
        "Open TCP connections of the native protocol.",
        meters.open.load(Ordering::Relaxed),
    );
    page.gauge(
        "handfast_native_sessions_open",
        "Sessions of the handle protocol that live.",
        web.context.sessions.count(web.context.now()),
    );
}

/// Signs of overload.
fn load(page: &mut MetricsPage, web: &Arc<Web>) {
    page.gauge(
        "handfast_blocking_queue_length",
        "Requests that wait for a thread because they need the disk or the processor.",
        crate::runtime::blocking::queue_length(),
    );
    let refused = [
        ("web", web.meters.refused.load(Ordering::Relaxed)),
        ("native", web.context.metrics.refused()),
    ];
    page.counters(
        "handfast_requests_refused_for_load_total",
        "Requests refused because there were too many: by HTTP with 429 or 503, by the handle \
         protocol with a busy server or, over UDP, with no answer.",
        refused.map(|(interface, count)| (format!("interface=\"{interface}\""), count)),
    );
}

/// The registry and its store.
fn stored(page: &mut MetricsPage, web: &Arc<Web>) {
    let registry = web.registry();
    if let Ok(statistics) = registry.statistics() {
        for (name, help, count) in [
            ("handfast_names", "Names that are stored.", statistics.names),
            (
                "handfast_authorities",
                "Authorities that are stored.",
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
    page.gauge(
        "handfast_store_writable",
        "1 if the store could be written when that was last tried, and there is space on the disk.",
        readiness::is_writable(registry).into(),
    );
    if let Some(space) = registry.disk_space() {
        page.gauge(
            "handfast_disk_free_bytes",
            "Bytes that are left on the file system of the data folder.",
            space.free,
        );
    }
    let usage = registry.usage();
    page.gauge(
        "handfast_store_used_bytes",
        "Octets of the store that have been used, free pages among them.",
        usage.used,
    );
    let help = "Octets that the store can have at most.";
    page.gauge("handfast_store_map_bytes", help, usage.size);
    let help = "Places of readers of the store that have been taken so far.";
    page.gauge("handfast_store_readers", help, usage.readers);
    let help = "Places of readers of the store.";
    page.gauge("handfast_store_readers_max", help, usage.max_readers);
}

/// The process, by the names that clients of Prometheus give it.
fn process(page: &mut MetricsPage, web: &Arc<Web>) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(bytes) = octets(&status, "VmRSS:") {
        let help = "Memory in use, with mapped pages of the store.";
        page.gauge("process_resident_memory_bytes", help, bytes);
    }
    if let Some(bytes) = octets(&status, "RssAnon:") {
        let help = "Memory in use, without mapped pages of files.";
        page.gauge("handfast_private_memory_bytes", help, bytes);
    }
    if let Some(open) = open_files() {
        page.gauge("process_open_fds", "Files that are open.", open);
    }
    if let Ok((allowed, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        page.gauge("process_max_fds", "Files that may be open.", allowed);
    }
    let help = "When the server started, in seconds since 1970.";
    page.gauge("process_start_time_seconds", help, web.started / 1_000);
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
    let program = [(version.to_string(), 1)];
    page.metric("handfast_build_info", "gauge", "The program.", program);
}

fn open_files() -> Option<u64> {
    let folder = "/proc/self/fd";
    // Since Linux 6.2 that is how many there are, and nobody has to count thousands.
    match std::fs::metadata(folder).ok()?.len() {
        0 => u64::try_from(std::fs::read_dir(folder).ok()?.count()).ok(),
        open => Some(open),
    }
}

#[derive(Default)]
struct MetricsPage(String);

impl MetricsPage {
    /// A metric, with a value for each set of labels.
    fn metric(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        values: impl IntoIterator<Item = (String, u64)>,
    ) {
        // A string takes everything.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in values {
            let _ = if labels.is_empty() {
                writeln!(self.0, "{name} {value}")
            } else {
                writeln!(self.0, "{name}{{{labels}}} {value}")
            };
        }
    }

    fn counters(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (String, u64)>,
    ) {
        self.metric(name, "counter", help, values);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.counters(name, help, [(String::new(), value)]);
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.metric(name, "gauge", help, [(String::new(), value)]);
    }
}
