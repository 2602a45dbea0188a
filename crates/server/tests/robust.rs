//! A panic fails one request; times beyond what calendars write fail none.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::{Environment, Registry};
use handfast_server::WebSettings;
use handfast_testing::clock::NOW;
use handfast_testing::{Server, Setup, native};
use handfast_wire::OpFlags;

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

fn start(is_broken: &Arc<AtomicBool>) -> Server {
    let is_broken = Arc::clone(is_broken);
    let setup = Setup::new().environment(move || world(&is_broken));
    let server = setup.start_for(&["20.1000"]);
    server.name("20.1000/x", &[(1, "URL", b"https://example.org/")]);
    server
}

/// Asks over UDP, for something quick or for a signature, which takes a thread.
fn udp(server: &Server, flags: OpFlags, timeout: u64) -> Option<Vec<u8>> {
    let timeout = Duration::from_millis(timeout);
    native::over_udp(server.native, &request(flags), timeout)
}

fn tcp(server: &Server, flags: OpFlags) -> Vec<u8> {
    native::over_tcp(server.native, &request(flags))
}

fn request(flags: OpFlags) -> Vec<u8> {
    native::resolution("20.1000/x", flags)
}

/// The status of a response; 0 if the server closed the connection.
fn status(server: &Server, path: &str) -> u16 {
    let mut stream = server.connect();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut start = [0; 12];
    match stream.read_exact(&mut start) {
        Ok(()) => str::from_utf8(&start[9..]).unwrap().parse().unwrap(),
        Err(_) => 0,
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
    let is_broken = Arc::new(AtomicBool::new(false));
    let server = start(&is_broken);
    let signed = OpFlags::PO | OpFlags::CT;
    for round in 0..20 {
        is_broken.store(true, Ordering::SeqCst);
        // More of each than there are threads that could end.
        for flags in [OpFlags::PO, signed] {
            let reply = udp(&server, flags, 30);
            assert!(reply.is_none_or(|reply| code(&reply) == Some(2)), "{round}");
            drop(tcp(&server, flags));
        }
        for path in [
            "/20.1000/x",
            "/api/handles/20.1000/x",
            "/api/v1/names/20.1000%2Fx",
        ] {
            let status = status(&server, path);
            assert!(!(200..300).contains(&status), "{path} {status}");
        }
        is_broken.store(false, Ordering::SeqCst);
    }
    for _ in 0..8 {
        for flags in [OpFlags::PO, signed] {
            let reply = udp(&server, flags, 5_000).unwrap();
            assert_eq!(code(&reply), Some(1));
            let reply = tcp(&server, flags);
            assert_eq!(code(&reply), Some(1));
        }
        assert_eq!(server.get("/20.1000/x").status, 302);
        assert_eq!(server.get("/api/v1/names/20.1000%2Fx").status, 200);
        assert_eq!(server.get("/readyz").status, 200);
    }
}

/// Guards against times that no calendar writes: dates of HTTP and of RFC 3339 end with the year
/// 9999, and their formatters panic beyond it.
#[test]
fn times_beyond_the_year_9999_fail_no_request() {
    let clock = Arc::new(AtomicU64::new(NOW));
    let server = Server::start_by(&clock, WebSettings::default());
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
        let server = Server::start();
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
