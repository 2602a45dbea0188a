//! What is counted, by those who ask over every way.

#![expect(
    clippy::unwrap_used,
    unreachable_pub,
    dead_code,
    reason = "a test may panic, and need not use all that another does"
)]

mod web;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use handfast_wire::body::ResolutionRequest;
use handfast_wire::{Codec, Envelope, Header, Message, OpFlags, Opcode, Version};
use serde_json::Value as Json;
use web::Server;

fn request(handle: &str) -> Vec<u8> {
    let envelope = Envelope {
        request_id: 77,
        ..Envelope::new(Version::CURRENT)
    };
    let header = Header {
        flags: OpFlags::PO,
        ..Header::request(Opcode::Resolution, u32::MAX / 2)
    };
    Message::new(envelope, header, &ResolutionRequest::all(handle)).to_bytes()
}

/// Where the site record says that the handle protocol is spoken.
fn native(server: &Server) -> SocketAddr {
    let site: Json = serde_json::from_str(&server.get("/api/site").body).unwrap();
    let interfaces = site.pointer("/site/servers/0/interfaces").unwrap();
    let mut interfaces = interfaces.as_array().unwrap().iter();
    let tcp = interfaces.find(|one| one["protocol"] == "TCP").unwrap();
    let port = tcp["port"].as_u64().unwrap();
    (server.web.ip(), u16::try_from(port).unwrap()).into()
}

fn over_udp(server: &Server, handle: &str) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(native(server)).unwrap();
    let timeout = Some(Duration::from_secs(5));
    socket.set_read_timeout(timeout).unwrap();
    socket.send(&request(handle)).unwrap();
    socket.recv(&mut [0; 2_048]).unwrap();
}

fn over_tcp(server: &Server, bytes: &[u8]) {
    let mut stream = TcpStream::connect(native(server)).unwrap();
    stream.write_all(bytes).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
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
    over_tcp(&server, &request("20.1000/5555"));
    over_tcp(&server, &[0xFF; 40]);
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
fn connections_the_store_and_the_process_are_told_of() {
    let server = Server::start();
    let open = "handfast_native_connections_open";
    assert_eq!(metric(&server, open), Some(0));
    let mut stream = TcpStream::connect(native(&server)).unwrap();
    let stored = {
        let envelope = Envelope::new(Version::CURRENT);
        let header = Header {
            flags: OpFlags::PO | OpFlags::KC,
            ..Header::request(Opcode::Resolution, u32::MAX / 2)
        };
        Message::new(envelope, header, &ResolutionRequest::all("20.1000/5555")).to_bytes()
    };
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
