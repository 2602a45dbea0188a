//! What is counted, by those who ask over every way.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use handfast_testing::{Server, native};
use handfast_wire::OpFlags;

fn request(handle: &str) -> Vec<u8> {
    native::resolution(handle, OpFlags::PO)
}

fn over_udp(server: &Server, handle: &str) {
    let timeout = Duration::from_secs(5);
    native::over_udp(server.native, &request(handle), timeout).unwrap();
}

fn over_http(server: &Server, handle: &str) {
    let body = request(handle);
    let media = "application/x-hdl-message";
    let head = format!(
        "POST / HTTP/1.1\r\nHost: x\r\nAccept: {media}\r\nContent-Type: {media}\r\nConnection: \
         close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    assert_eq!(server.raw(&[head.as_bytes(), &body].concat()).status, 200);
}

/// The number behind a name with its labels.
fn metric(server: &Server, name: &str) -> Option<u64> {
    let page = server.get("/metrics").body;
    let mut lines = page.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn native_requests_are_counted_by_transport_operation_and_outcome() {
    let server = Server::start();
    for _ in 0..3 {
        over_udp(&server, "20.1000/5555");
    }
    over_udp(&server, "20.1000/none");
    over_udp(&server, "20.9999/remote");
    native::over_tcp(server.native, &request("20.1000/5555"));
    native::over_tcp(server.native, &[0xFF; 40]);
    over_http(&server, "20.1000/5555");
    over_http(&server, "20.1000/none");
    for (way, operation, code, count) in [
        ("udp", "RESOLUTION", "1", 3),
        ("udp", "RESOLUTION", "100", 1),
        ("udp", "RESOLUTION", "301", 1),
        ("tcp", "RESOLUTION", "1", 1),
        ("tcp", "RESERVED", "4", 1),
        ("http", "RESOLUTION", "1", 1),
        ("http", "RESOLUTION", "100", 1),
    ] {
        let name = format!(
            "handfast_native_requests_total{{transport=\"{way}\",operation=\"{operation}\",code=\"\
             {code}\"}}"
        );
        assert_eq!(metric(&server, &name), Some(count), "{name}");
    }
    for way in ["udp", "tcp", "http"] {
        for name in ["received", "sent"] {
            let name = format!("handfast_native_{name}_bytes_total{{transport=\"{way}\"}}");
            assert!(metric(&server, &name) > Some(50), "{name}");
        }
    }
    let size = u64::try_from(request("20.1000/5555").len()).unwrap();
    let received = "handfast_native_received_bytes_total{transport=\"tcp\"}";
    assert_eq!(metric(&server, received), Some(size));
}

#[test]
fn metrics_of_connections_the_store_and_the_process() {
    let server = Server::start();
    let open = "handfast_native_connections_open";
    assert_eq!(metric(&server, open), Some(0));
    let mut stream = TcpStream::connect(server.native).unwrap();
    let stored = native::resolution("20.1000/5555", OpFlags::PO | OpFlags::KC);
    stream.write_all(&stored).unwrap();
    stream.read_exact(&mut [0; 20]).unwrap();
    assert_eq!(metric(&server, open), Some(1));
    let of = |name: &str| metric(&server, name).unwrap_or_default();
    assert!(of("handfast_store_used_bytes") > 4_096);
    assert!(of("handfast_store_map_bytes") > of("handfast_store_used_bytes"));
    assert!(of("handfast_store_readers_max") > of("handfast_store_readers"));
    assert_eq!(of("handfast_native_sessions_open"), 0);
    assert!(of("process_open_fds") > 5);
    assert!(of("process_max_fds") >= of("process_open_fds"));
    assert!(of("process_resident_memory_bytes") > 1 << 20);
    assert_eq!(of("process_start_time_seconds"), 1_794_723_436);
    // Nothing stands there twice, and everything is explained.
    let page = server.get("/metrics").body;
    let names: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len());
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let is_told = names
            .iter()
            .any(|told| told.split(' ').next() == Some(name));
        assert!(is_told, "{line}");
    }
}
