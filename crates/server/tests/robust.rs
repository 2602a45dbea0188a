//! A panic fails one request; times beyond what calendars write fail none.

#![expect(
    clippy::unwrap_used,
    unreachable_pub,
    dead_code,
    reason = "a test may panic, and need not use all that another does"
)]

mod web;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::{Environment, NewAuthority, NewName, NewValue, Principal, Registry};
use handfast_server::{Identity, Listener, RunningServer, ServerContext, WebSettings};
use handfast_wire::body::ResolutionRequest;
use handfast_wire::{Codec, Envelope, Header, Message, OpFlags, Opcode, Version};

const NOW: u64 = 1_800_000_000_000;

fn world(is_broken: &Arc<AtomicBool>) -> Environment {
    let is_broken = Arc::clone(is_broken);
    Environment::new(
        move || {
            assert!(!is_broken.load(Ordering::SeqCst), "the clock is broken");
            NOW
        },
        |bytes| bytes.fill(7),
    )
}

struct Host {
    is_broken: Arc<AtomicBool>,
    native: SocketAddr,
    web: SocketAddr,
    _served: RunningServer,
    _folder: tempfile::TempDir,
}

impl Host {
    fn start() -> Self {
        let is_broken = Arc::new(AtomicBool::new(false));
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::create(folder.path(), world(&is_broken)).unwrap();
        let operator = Principal::Operator;
        registry
            .create_authority(&operator, "20.1000", NewAuthority::default())
            .unwrap();
        let new = NewName {
            values: vec![NewValue::new(1, "URL", b"https://example.org/")],
            ..NewName::default()
        };
        registry.create_name(&operator, "20.1000/x", new).unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(any, any).unwrap();
        let addresses = listener.addresses();
        let identity = Identity::open_or_make(folder.path(), addresses).unwrap();
        let context =
            ServerContext::new(Arc::new(registry), identity, world(&is_broken), Vec::new());
        Self {
            is_broken,
            native: addresses.native,
            web: addresses.web,
            _served: listener.open(context, WebSettings::default()).unwrap(),
            _folder: folder,
        }
    }

    fn request(flags: OpFlags) -> Vec<u8> {
        let envelope = Envelope {
            request_id: 77,
            ..Envelope::new(Version::CURRENT)
        };
        let header = Header {
            flags,
            ..Header::request(Opcode::Resolution, u32::MAX / 2)
        };
        let body = ResolutionRequest::all("20.1000/x");
        Message::new(envelope, header, &body).to_bytes()
    }

    /// Asks over UDP, for something quick or for a signature, which takes a thread.
    fn udp(&self, flags: OpFlags, timeout: u64) -> Option<Vec<u8>> {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(self.native).unwrap();
        let timeout = Some(Duration::from_millis(timeout));
        socket.set_read_timeout(timeout).unwrap();
        socket.send(&Self::request(flags)).unwrap();
        let mut reply = vec![0; 2_048];
        let length = socket.recv(&mut reply).ok()?;
        reply.truncate(length);
        Some(reply)
    }

    fn tcp(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(address).unwrap();
        let timeout = Some(Duration::from_secs(5));
        stream.set_read_timeout(timeout).unwrap();
        stream.write_all(bytes).unwrap();
        let mut reply = Vec::new();
        drop(stream.read_to_end(&mut reply));
        reply
    }

    fn get(&self, path: &str) -> String {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        String::from_utf8_lossy(&Self::tcp(self.web, request.as_bytes())).into_owned()
    }
}

/// The response code of a reply.
fn code(reply: &[u8]) -> Option<u32> {
    let code = reply.get(24..28)?;
    Some(u32::from_be_bytes(code.try_into().ok()?))
}

/// Guards against a panic that ends the thread of a UDP socket, a worker or a core: all later
/// requests to it were lost.
#[test]
fn a_panic_fails_one_request() {
    let server = Host::start();
    let signed = OpFlags::PO | OpFlags::CT;
    for round in 0..20 {
        server.is_broken.store(true, Ordering::SeqCst);
        // More of each than there are threads that could end.
        for flags in [OpFlags::PO, signed] {
            let reply = server.udp(flags, 30);
            assert!(reply.is_none_or(|reply| code(&reply) == Some(2)), "{round}");
            drop(Host::tcp(server.native, &Host::request(flags)));
        }
        for path in [
            "/20.1000/x",
            "/api/handles/20.1000/x",
            "/api/v1/names/20.1000%2Fx",
        ] {
            let answer = server.get(path);
            assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
        }
        server.is_broken.store(false, Ordering::SeqCst);
    }
    for _ in 0..8 {
        for flags in [OpFlags::PO, signed] {
            let reply = server.udp(flags, 5_000).unwrap();
            assert_eq!(code(&reply), Some(1));
            let reply = Host::tcp(server.native, &Host::request(flags));
            assert_eq!(code(&reply), Some(1));
        }
        assert!(server.get("/20.1000/x").starts_with("HTTP/1.1 302"));
        assert!(
            server
                .get("/api/v1/names/20.1000%2Fx")
                .starts_with("HTTP/1.1 200")
        );
        assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    }
}

/// Guards against times that no calendar writes: dates of HTTP and of RFC 3339 end with the year
/// 9999, and their formatters panic beyond it.
#[test]
fn times_beyond_the_year_9999_fail_no_request() {
    let clock = Arc::new(AtomicU64::new(web::NOW));
    let server = web::Server::start_by(&clock, WebSettings::default());
    for time in [
        253_402_300_799_999,
        253_402_300_800_000,
        u64::MAX / 2_000_000,
        u64::MAX / 1_000,
        u64::MAX - 1,
        u64::MAX,
    ] {
        clock.store(time, Ordering::SeqCst);
        let id = format!("20.1000/at-{time}");
        server.name(&id, &[(1, "URL", b"https://example.org/")]);
        let api = id.replace('/', "%2F");
        for target in [
            format!("/{id}"),
            format!("/{id}?noredirect"),
            format!("/api/handles/{id}"),
            format!("/api/v1/names/{api}"),
            format!("/api/v1/names/{api}/history"),
            format!("/uri-res/N2L?hdl:{id}"),
            "/oai?verb=Identify".to_string(),
            "/oai?verb=ListRecords&metadataPrefix=oai_dc".to_string(),
            "/registry".to_string(),
            "/registry/authorities".to_string(),
            "/api/v1/authorities".to_string(),
            "/log/checkpoint".to_string(),
            "/metrics".to_string(),
            "/readyz".to_string(),
            "/".to_string(),
        ] {
            let answer = server.get(&target);
            let is_answered = (200..500).contains(&answer.status);
            assert!(
                is_answered,
                "{time}: {target}: {} {}",
                answer.status, answer.body
            );
        }
    }
}

/// Overwrites the bytes of a file where a text stands, as a failing disk does below a running
/// server.
fn damage_below(registry: &Registry, text: &[u8], damage: impl Fn(usize) -> (usize, Vec<u8>)) {
    use std::os::unix::fs::FileExt;

    let path = registry.folder().join("data.mdb");
    let bytes = std::fs::read(&path).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let mut found = bytes.windows(text.len()).enumerate();
    let mut count = 0;
    // Older versions of a page may be in the file, too.
    while let Some((at, _)) = found.find(|(_, bytes)| *bytes == text) {
        let (at, damaged) = damage(at);
        file.write_all_at(&damaged, at.try_into().unwrap()).unwrap();
        count += 1;
    }
    assert!(count > 0);
}

/// Guards against a server that answers 500 for damaged names and calls itself ready.
#[test]
fn a_server_that_met_damage_is_not_ready_any_more() {
    const PAGE: usize = 4_096;
    let zeroed_page = |at: usize| (at / PAGE * PAGE, vec![0; PAGE]);
    // In front of the value is its length.
    let damaged_record = |at: usize| (at - 12, vec![0xff; 12]);
    let kinds: [&dyn Fn(usize) -> (usize, Vec<u8>); 2] = [&zeroed_page, &damaged_record];
    for damage in kinds {
        let server = web::Server::start();
        let url = b"https://example.org/somewhere-to-be-damaged";
        server.name("20.1000/damaged", &[(1, "URL", url)]);
        let names = (0..200).map(|number| format!("20.1000/name-{number}"));
        for name in names {
            server.name(&name, &[(1, "URL", &[b'x'; 500])]);
        }
        damage_below(&server.registry, url, damage);
        let answer = server.get("/20.1000/damaged");
        assert!(answer.status >= 500, "{} {}", answer.status, answer.body);
        // Nobody has asked before: an answer is given again for a second.
        let answer = server.get("/readyz");
        assert_eq!(answer.status, 503, "{}", answer.body);
        assert!(
            answer.body.starts_with("the store is damaged: "),
            "{}",
            answer.body
        );
        assert_eq!(server.get("/healthz").status, 200);
    }
}
