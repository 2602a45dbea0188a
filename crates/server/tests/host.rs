//! `Host`: which hosts are ours, and what others are not given.

#![expect(clippy::string_slice, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use handfast_server::WebSettings;
use handfast_testing::clock::NOW;
use handfast_testing::{Response, Server};

/// A server that is not told how it is called.
fn unnamed() -> Server {
    let clock = Arc::new(AtomicU64::new(NOW));
    Server::start_as(&clock, WebSettings::default())
}

fn ask(server: &Server, what: &str, host: &str, headers: &str) -> Response {
    let request = format!("{what} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    server.raw(request.as_bytes())
}

/// A client behind a shared cache could write its own host into the answers for others.
#[test]
fn no_absolute_url_is_made_of_another_host() {
    let server = unnamed();
    let own = format!("http://{}", server.web);
    for (path, accept) in [
        ("/", "*/*"),
        ("/", "application/json"),
        ("/oai?verb=Identify", "*/*"),
        ("/oai?verb=ListRecords&metadataPrefix=oai_dc", "*/*"),
        ("/registry/changes.atom", "*/*"),
        ("/registry/info/lccn", "*/*"),
        ("/api/v1/", "*/*"),
        ("/api/v1/openapi.json", "*/*"),
        ("/ark:12025/654xz321?info", "*/*"),
        ("/20.1000/5555", "application/linkset+json"),
        ("/20.1000/5555?noredirect", "*/*"),
        ("/20.1000/none", "text/html"),
        ("/api/handles/20.1000/5555", "*/*"),
        ("/uri-res/N2L?urn:isbn:0451450523", "*/*"),
    ] {
        for host in [
            "evil.example",
            "evil.example:8000",
            "127.0.0.1.evil.example",
            "203.0.113.7",
        ] {
            let headers = format!("Accept: {accept}\r\n");
            let answer = ask(&server, &format!("GET {path}"), host, &headers);
            assert!(
                answer.status < 500 && answer.status != 421,
                "{path} {}",
                answer.head
            );
            for text in [&answer.head, &answer.body] {
                assert!(!text.contains("evil"), "{path} {text}");
                assert!(!text.contains("203.0.113.7"), "{path} {text}");
            }
        }
    }
    let said = ask(&server, "GET /oai?verb=Identify", "evil.example", "");
    let base = format!("<baseURL>{own}/oai</baseURL>");
    assert!(said.body.contains(&base), "{}", said.body);
    // Under a name of ours it is called as the client does.
    let port = server.web.port();
    let said = ask(
        &server,
        "GET /oai?verb=Identify",
        &format!("LOCALHOST:{port}"),
        "",
    );
    let base = format!("<baseURL>http://localhost:{port}/oai</baseURL>");
    assert!(said.body.contains(&base), "{}", said.body);
}

#[test]
fn a_public_url_is_said_to_everybody() {
    let server = Server::start();
    for host in ["names.example:8000", "localhost", "evil.example"] {
        let said = ask(&server, "GET /oai?verb=Identify", host, "");
        let base = "<baseURL>http://names.example:8000/oai</baseURL>";
        assert!(said.body.contains(base), "{host} {}", said.body);
    }
}

/// A page that led a browser here under a name of its own could use what the browser knew.
#[test]
fn credentials_are_not_taken_under_another_host() {
    let server = unnamed();
    let port = server.web.port();
    let bearer = "Authorization: Bearer handfast_x\r\n";
    let basic = "Authorization: Basic MzAwOjIwLjEwMDAvQTp4\r\n";
    let body = "Content-Type: application/json\r\nContent-Length: 0\r\n";
    for (what, headers) in [
        ("GET /api/v1/names/20.1000%2F5555", bearer),
        ("GET /api/handles/20.1000/5555", basic),
        ("GET /20.1000/5555", basic),
        ("GET /api/v1/", "Cookie: session=1\r\n"),
        ("POST /api/v1/names", body),
        ("DELETE /api/v1/tokens/1", ""),
        ("PATCH /api/v1/names/20.1000%2F5555", body),
        ("PUT /api/handles/20.1000/new", body),
        ("DELETE /api/handles/20.1000/5555", ""),
        ("POST /api/sessions", body),
    ] {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "203.0.113.7",
            "localhost:1",
        ] {
            let answer = ask(&server, what, host, headers);
            assert_eq!(answer.status, 421, "{what} {host} {}", answer.head);
            let media = answer.header("content-type");
            assert_eq!(media, Some("application/problem+json"), "{what}");
            assert!(answer.body.contains("public-url"), "{}", answer.body);
        }
        for host in [
            "localhost".to_string(),
            "LocalHost.".to_string(),
            format!("localhost:{port}"),
            format!("127.0.0.1:{port}"),
            "127.0.0.1".to_string(),
        ] {
            let answer = ask(&server, what, &host, headers);
            assert_ne!(answer.status, 421, "{what} {host} {}", answer.head);
        }
    }
    // What everybody may read is read under any name, and so is the native protocol, which needs
    // nothing of HTTP.
    for what in [
        "GET /20.1000/5555",
        "GET /api/handles/20.1000/5555",
        "HEAD /20.1000/5555",
    ] {
        assert!(
            ask(&server, what, "evil.example", "").status < 400,
            "{what}"
        );
    }
    let media = "application/x-hdl-message";
    let headers = format!("Accept: {media}\r\nContent-Type: {media}\r\nContent-Length: 0\r\n");
    let answer = ask(&server, "POST /", "evil.example", &headers);
    assert_eq!(answer.status, 200, "{}", answer.head);
}

#[test]
fn a_public_url_is_one_of_our_hosts() {
    let server = Server::start();
    let header = "Authorization: Bearer handfast_x\r\n";
    for (host, status) in [
        ("names.example:8000", 401),
        ("NAMES.example", 401),
        ("names.example:8001", 421),
        ("other.example", 421),
    ] {
        let answer = ask(&server, "GET /api/v1/names/20.1000%2F5555", host, header);
        assert_eq!(answer.status, status, "{host} {}", answer.head);
    }
}

/// Names were read at localhost and where the server listens, and not at the URL that everybody
/// uses.
#[test]
fn uri_13_names_are_read_at_every_address_of_the_server() {
    let server = Server::start();
    let target = server.get("/20.1000/5555");
    let target = target.header("location").unwrap();
    for base in [
        "http://names.example:8000".to_string(),
        "NAMES.example:8000/hdl".to_string(),
        format!("http://{}", server.web),
        format!("http://localhost:{}", server.web.port()),
    ] {
        let answer = server.get(&format!("/uri-res/I2L?{base}/20.1000/5555"));
        assert_eq!(answer.header("location"), Some(target), "{base}");
    }
    for base in ["http://names.example:8001", "http://other.example:8000"] {
        let answer = server.get(&format!("/uri-res/I2L?{base}/20.1000/5555"));
        assert_eq!(answer.header("location"), None, "{base}");
    }
}

/// The fast path took two, the slow path does not: a proxy in between may take the other
/// one.
#[test]
fn a_request_with_two_hosts_is_refused() {
    let server = Server::start();
    for path in ["/20.1000/5555", "/api/handles/20.1000/5555", "/"] {
        for (hosts, status) in [
            ("Host: a\r\n", &["200", "302"][..]),
            ("Host: a\r\nHost: b\r\n", &["400"]),
            ("Host: a\r\nhost: a\r\n", &["400"]),
            ("", &["400"]),
        ] {
            // Without anything that the fast path leaves to the slow one.
            let mut stream = TcpStream::connect(server.web).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\n{hosts}\r\n").unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).unwrap();
            let start = String::from_utf8_lossy(&start).into_owned();
            assert!(status.contains(&&start[9..]), "{path} {hosts} {start}");
        }
    }
}
