//! Those who take their time, and those who send too much: neither costs more than a connection for
//! a while.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and reads the clock"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use handfast_registry::{NewToken, Role};
use handfast_server::WebSettings;
use handfast_testing::Server;

const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);
/// How much longer than that things take on a machine that does something else, too.
const SLACK: Duration = Duration::from_secs(15);

fn impatient() -> Server {
    Server::start_with(WebSettings {
        client_timeout: Some(CLIENT_TIMEOUT),
        ..WebSettings::default()
    })
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.web).unwrap();
    stream.set_read_timeout(Some(SLACK)).unwrap();
    stream
}

/// Reads until the server closes, and says what came; panics if it does not close.
fn until_closed(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection is open still: {error}"),
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Waits until nobody but who asks is connected.
fn until_alone(server: &Server) {
    let end = Instant::now() + SLACK;
    loop {
        let page = server.get("/metrics").body;
        if page.contains("\nhandfast_web_connections_open 1\n") {
            return;
        }
        assert!(Instant::now() < end, "connections are open still\n{page}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn who_says_nothing_or_only_a_part_is_not_waited_for() {
    let server = impatient();
    for start in [
        "",
        "G",
        "GET / HTTP/1.1\r\nHost: x\r\nX-Some",
        // A TLS handshake that does not go on, and a start of HTTP/2 that does not.
        "\u{16}\u{3}\u{1}",
        "PRI * HTTP/2.0\r\n",
    ] {
        let mut stream = connect(&server);
        stream.write_all(start.as_bytes()).unwrap();
        let said = until_closed(stream);
        assert!(!said.contains("200"), "{start} {said}");
    }
    until_alone(&server);
}

#[test]
fn a_head_that_comes_an_octet_at_a_time_is_not_waited_for() {
    let server = impatient();
    let mut stream = connect(&server);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").unwrap();
    let began = Instant::now();
    while stream.write_all(b"X").is_ok() {
        assert!(began.elapsed() < SLACK, "it is waited for");
        thread::sleep(CLIENT_TIMEOUT / 10);
    }
    until_alone(&server);
}

#[test]
fn a_head_that_comes_in_pieces_is_answered_and_so_is_what_follows() {
    let server = impatient();
    let requests = [
        "GET /20.1000/5555 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /20.1000/5555 HTTP/1.1\r\nHost: x\r\nX-Other: y\r\n\r\n",
        "POST /20.1000/5555 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na=",
        "GET /20.1000/5555 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ]
    .concat();
    for size in [1, 7, 30, 100] {
        let mut stream = connect(&server);
        stream.set_nodelay(true).unwrap();
        for piece in requests.as_bytes().chunks(size) {
            stream.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        let said = until_closed(stream);
        assert_eq!(said.matches("HTTP/1.1 302").count(), 4, "{size} {said}");
    }
}

#[test]
fn an_idle_connection_is_closed() {
    let server = impatient();
    let mut stream = connect(&server);
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let said = until_closed(stream);
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    until_alone(&server);
}

#[test]
fn answers_that_nobody_reads_are_given_up() {
    let server = impatient();
    let long = "x".repeat(60_000);
    server.name("20.1000/long", &[(1, "NOTE", long.as_bytes())]);
    let mut stream = connect(&server);
    stream.set_write_timeout(Some(SLACK)).unwrap();
    // More than all buffers on the way take.
    let request = "GET /api/handles/20.1000/long HTTP/1.1\r\nHost: x\r\n\r\n";
    let began = Instant::now();
    while stream.write_all(request.repeat(100).as_bytes()).is_ok() {
        assert!(began.elapsed() < SLACK, "it is waited for");
    }
    until_alone(&server);
}

#[test]
fn heads_and_bodies_that_are_too_long_are_refused() {
    let server = impatient();
    let long = "x".repeat(200_000);
    let answer = server.get_with("/20.1000/5555", &[&format!("X-Long: {long}\r\n")]);
    assert_eq!(answer.status, 431, "{}", answer.head);
    let many = "X-Many: 1\r\n".repeat(101);
    let answer = server.get_with("/20.1000/5555", &[&many]);
    assert_eq!(answer.status, 431, "{}", answer.head);
    let answer = server.get(&format!("/20.1000/{long}"));
    assert!(matches!(answer.status, 400 | 414 | 431), "{}", answer.head);
    let few = "X-Few: 1\r\n".repeat(90);
    assert_eq!(server.get_with("/20.1000/5555", &[&few]).status, 302);
    // Whether it is said how long a body is or not.
    for (path, media, length, status) in [
        (
            "POST /20.1000/5555",
            "application/x-www-form-urlencoded",
            20_000,
            413,
        ),
        ("POST /uri-res/I=I", "text/plain", 30_000, 413),
        (
            "PUT /api/handles/20.1000/x",
            "application/json",
            (1 << 20) + 1,
            413,
        ),
        ("POST /", "application/x-hdl-message", 300_000, 400),
    ] {
        let body = "x".repeat(length);
        let head = format!(
            "{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: \
             {media}\r\nContent-Type: {media}\r\n"
        );
        let sized = format!("{head}Content-Length: {length}\r\n\r\n{body}");
        let chunked =
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n");
        for request in [sized, chunked] {
            let answer = server.raw(request.as_bytes());
            assert_eq!(answer.status, status, "{path} {}", answer.head);
        }
    }
    until_alone(&server);
}

/// They wait at the same time.
#[test]
fn bodies_that_do_not_come_are_not_waited_for() {
    let server = impatient();
    thread::scope(|scope| {
        for (path, media, status) in [
            (
                "POST /20.1000/5555",
                "application/x-www-form-urlencoded",
                408,
            ),
            ("POST /uri-res/I=I", "text/plain", 408),
            ("PUT /api/handles/20.1000/x", "application/json", 408),
            ("POST /", "application/x-hdl-message", 400),
        ] {
            let stream = connect(&server);
            scope.spawn(move || {
                let mut stream = stream;
                let head = format!(
                    "{path} HTTP/1.1\r\nHost: localhost\r\nAccept: {media}\r\nContent-Type: \
                     {media}\r\nContent-Length: 100\r\n\r\nxxxx"
                );
                stream.write_all(head.as_bytes()).unwrap();
                let mut start = [0; 12];
                stream.read_exact(&mut start).unwrap();
                let start = String::from_utf8_lossy(&start).into_owned();
                assert_eq!(start, format!("HTTP/1.1 {status}"), "{path}");
                // It said that the body did not come, and neither how long it may take nor what to
                // do.
                let mut rest = [0; 2_000];
                let count = stream.read(&mut rest).unwrap();
                let rest = String::from_utf8_lossy(&rest[..count]).into_owned();
                let explains =
                    rest.contains("within 1 seconds") && rest.contains("send the request again");
                assert!(status != 408 || explains, "{path} {rest}");
            });
        }
    });
}

/// A body that came an octet at a time kept a thread, and the one lock of imports, for as long as
/// its sender liked.
#[test]
fn an_import_that_comes_too_slowly_is_told_so() {
    let server = impatient();
    server.account("ann", &[("20.1000", Role::Write)]);
    let token = server.token("ann", NewToken::default());
    let mut stream = connect(&server);
    write!(
        stream,
        "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: localhost\r\n{token}\r\n\
         Connection: close\r\nContent-Length: 100000\r\n\r\n"
    )
    .unwrap();
    // It goes on sending, but hardly anything.
    let mut sending = stream.try_clone().unwrap();
    let slow = thread::spawn(move || {
        let began = Instant::now();
        while began.elapsed() < SLACK && sending.write_all(b" ").is_ok() {
            thread::sleep(CLIENT_TIMEOUT / 10);
        }
    });
    let mut start = [0; 1024];
    let count = stream.read(&mut start).unwrap();
    let said = String::from_utf8_lossy(&start[..count]).into_owned();
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    drop(stream.shutdown(std::net::Shutdown::Both));
    slow.join().unwrap();
}

/// Bodies that were only announced took all memory for bodies, and everybody else waited 30
/// seconds.
#[test]
fn bodies_that_are_only_announced_take_nothing_from_others() {
    let server = Server::start();
    let head = "PUT /api/handles/20.1000/zz HTTP/1.1\r\nHost: localhost\r\nContent-Type: \
        application/json\r\n";
    let idle: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = connect(&server);
            let start = format!("{head}Content-Length: 1048576\r\n\r\n{{");
            stream.write_all(start.as_bytes()).unwrap();
            stream
        })
        .collect();
    // Behind all of them.
    thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    let body = format!("{{\"values\":[],\"x\":\"{}\"}}", "x".repeat(3_000));
    let length = body.len();
    let request = format!("{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    let answer = server.raw(request.as_bytes());
    assert!(matches!(answer.status, 401 | 403), "{}", answer.head);
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(idle);
}

/// One network sent as much as all may hold, and nobody else could send anything.
#[test]
fn one_network_does_not_hold_all_memory_for_bodies() {
    let server = Server::start_with(WebSettings {
        client_timeout: Some(3 * CLIENT_TIMEOUT),
        ..WebSettings::default()
    });
    let head = "PUT /api/handles/20.1000/zz HTTP/1.1\r\nHost: localhost\r\nContent-Type: \
        application/json\r\nContent-Length: 1048576\r\n\r\n";
    let limit = "x".repeat((1 << 20) - 1);
    // Those for whom there is no memory are told so; the others are waited for.
    let send = || {
        let mut stream = connect(&server);
        stream.write_all(head.as_bytes()).unwrap();
        drop(stream.write_all(limit.as_bytes()));
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        String::from_utf8_lossy(&start).into_owned()
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let sending: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        sending.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let count = |wanted: &str| answers.iter().filter(|answer| *answer == wanted).count();
    let (busy, waiting) = (count("HTTP/1.1 503"), count("HTTP/1.1 408"));
    assert!(busy >= 2 && waiting >= 1, "{answers:?}");
    assert_eq!(busy + waiting, 8, "{answers:?}");
}

/// HTTP/2 had a limit for the bytes of headers, and none for their lines.
#[test]
fn http2_has_a_limit_of_header_lines_too() {
    let server = impatient();
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [length.get(1..).unwrap(), &[kind, flags, 0, 0, 0, stream]].concat();
        [&head, payload].concat()
    };
    for (lines, is_refused) in [(90, false), (101, true)] {
        // GET http://localhost/healthz, and lines that are not indexed.
        let mut headers = b"\x82\x86\x04\x08/healthz\x01\x09localhost".to_vec();
        headers.extend(b"\x00\x01x\x01y".repeat(lines));
        let settings = frame(4, 0, 0, &[]);
        let start = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..]].concat();
        let request = [start, frame(1, 5, 1, &headers)].concat();
        let mut stream = connect(&server);
        stream.write_all(&request).unwrap();
        let (mut all, mut piece) = (Vec::new(), [0; 1_000]);
        let said = |all: &[u8], text: &[u8]| all.windows(text.len()).any(|part| part == text);
        while !said(&all, b"alive") && !said(&all, b"more header lines") {
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "{lines}");
            all.extend(piece.iter().take(count));
        }
        assert_eq!(said(&all, b"more header lines"), is_refused, "{lines}");
    }
}
