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
    page.title(
        "handfast_web_requests_total",
        "counter",
        "Requests answered, by part of the HTTP server and class of status.",
    );
    for part in Part::ALL {
        for (class, count) in CLASSES.iter().zip(web.meters.requests(part)) {
            let labels = format!("part=\"{}\",status=\"{class}\"", part.as_str());
            page.line("handfast_web_requests_total", &labels, count);
        }
    }
    let open = web.meters.open.load(Ordering::Relaxed);
    page.gauge(
        "handfast_web_connections_open",
        "Open HTTP connections.",
        u64::try_from(open).unwrap_or_default(),
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
    let meters = &web.context.native_metrics;
    page.title(
        "handfast_native_requests_total",
        "counter",
        "Requests of the handle protocol answered, by transport, operation and response code.",
    );
    for (way, opcode, code, count) in meters.requests() {
        let labels = format!("transport=\"{way}\",operation=\"{opcode}\",code=\"{code}\"");
        page.line("handfast_native_requests_total", &labels, count);
    }
    let octets = meters.octets();
    page.title(
        "handfast_native_received_bytes_total",
        "counter",
        "Octets of the handle protocol that came, by transport.",
    );
    for (way, received, _) in octets {
        let labels = format!("transport=\"{way}\"");
        page.line("handfast_native_received_bytes_total", &labels, received);
    }
    page.title(
        "handfast_native_sent_bytes_total",
        "counter",
        "Octets of the handle protocol that went, by transport.",
    );
    for (way, _, sent) in octets {
        let labels = format!("transport=\"{way}\"");
        page.line("handfast_native_sent_bytes_total", &labels, sent);
    }
    page.title(
        "handfast_native_dropped_total",
        "counter",
        "Messages over UDP that were not answered: above the rate limit of their network, or too \
         many at once.",
    );
    for (reason, count) in meters.lost() {
        let labels = format!("reason=\"{reason}\"");
        page.line("handfast_native_dropped_total", &labels, count);
    }
    page.gauge(
        "handfast_native_connections_open",
        "Open TCP connections of the native protocol.",
        meters.open(),
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
    let name = "handfast_requests_refused_for_load_total";
    page.title(
        name,
        "counter",
        "Requests refused because there were too many: by HTTP with 429 or 503, by the handle \
        protocol with a busy \
         server or, over UDP, with no answer.",
    );
    let refused = web.meters.refused.load(Ordering::Relaxed);
    page.line(name, "interface=\"web\"", refused);
    page.line(
        name,
        "interface=\"native\"",
        web.context.native_metrics.refused(),
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
    for (name, help, count) in [
        (
            "handfast_store_used_bytes",
            "Octets of the store that have been used, free pages among them.",
            usage.used,
        ),
        (
            "handfast_store_map_bytes",
            "Octets that the store can have at most.",
            usage.size,
        ),
        (
            "handfast_store_readers",
            "Places of readers of the store that have been taken so far.",
            usage.readers,
        ),
        (
            "handfast_store_readers_max",
            "Places of readers of the store.",
            usage.max_readers,
        ),
    ] {
        page.gauge(name, help, count);
    }
}

/// The process, by the names that clients of Prometheus give it.
fn process(page: &mut MetricsPage, web: &Arc<Web>) {
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
    if let Some(open) = open_files() {
        page.gauge("process_open_fds", "Files that are open.", open);
    }
    if let Ok((allowed, _)) = getrlimit(Resource::RLIMIT_NOFILE) {
        page.gauge("process_max_fds", "Files that may be open.", allowed);
    }
    page.gauge(
        "process_start_time_seconds",
        "When the server started, in seconds since 1970.",
        web.started / 1_000,
    );
    let version = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
    page.title("handfast_build_info", "gauge", "The program.");
    page.line("handfast_build_info", version, 1);
}

/// A number of the system's about this process, in bytes; nothing where the system has none.
fn memory(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
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

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.title(name, "counter", help);
        self.line(name, "", value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.title(name, "gauge", help);
        self.line(name, "", value);
    }
}
