//! Answers that are made smaller, octet by octet: what is sent, what it is called, and what is left
//! as it is.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read;

use handfast_registry::{NewToken, Role};
use handfast_testing::{Response, Server, without_nonce};

/// What compression adds to a response.
trait Coded {
    fn coding(&self) -> Option<&str>;
    fn varies(&self) -> bool;
    fn text(&self) -> String;
}

impl Coded for Response {
    fn coding(&self) -> Option<&str> {
        self.header("content-encoding")
    }

    fn varies(&self) -> bool {
        self.headers("vary").join(",").contains("Accept-Encoding")
    }

    fn text(&self) -> String {
        let mut text = String::new();
        match self.coding() {
            None => text.push_str(&self.body),
            Some("gzip") => {
                let mut reader = flate2::read::GzDecoder::new(&*self.bytes);
                reader.read_to_string(&mut text).unwrap();
            }
            Some("br") => {
                let mut reader = brotli::Decompressor::new(&*self.bytes, 4_096);
                reader.read_to_string(&mut text).unwrap();
            }
            Some(other) => panic!("{other}"),
        }
        text
    }
}

fn ask(server: &Server, line: &str, headers: &[&str], body: &str) -> Response {
    let (method, path) = line.split_once(' ').unwrap();
    server.ask(method, path, headers, Some(body))
}

/// A server with a name whose record is long.
fn server() -> Server {
    let server = Server::start();
    let long = "words and words ".repeat(200);
    let text = long.as_bytes();
    let url = b"https://example.org/long";
    server.name("20.1000/long", &[(1, "URL", url), (2, "NOTE", text)]);
    server
}

#[test]
fn pages_and_json_are_made_smaller_for_those_who_take_it() {
    let server = server();
    for path in [
        "/20.1000/long?noredirect",
        "/api/handles/20.1000/long",
        "/api/v1/names/20.1000%2Flong",
        "/api/v1/openapi.json",
        "/",
        "/metrics",
    ] {
        let get = format!("GET {path}");
        let plain = ask(&server, &get, &[], "");
        assert_eq!((plain.status, plain.coding()), (200, None), "{path}");
        assert!(plain.varies(), "{path} {}", plain.head);
        for (accepted, coding) in [
            ("gzip", Some("gzip")),
            ("gzip, deflate, br", Some("br")),
            ("br;q=0.1, gzip;q=0.2", Some("gzip")),
            ("identity;q=0, *", Some("br")),
            ("identity", None),
            ("*;q=0", None),
        ] {
            let header = format!("Accept-Encoding: {accepted}");
            let reply = ask(&server, &get, &[&header], "");
            let what = format!("{path} {accepted} {}", reply.head);
            assert_eq!((reply.status, reply.coding()), (200, coding), "{what}");
            assert!(reply.varies(), "{what}");
            let length = reply.bytes.len().to_string();
            assert_eq!(reply.headers("content-length"), [length], "{what}");
            if path != "/metrics" {
                let (sent, expected) = (reply.text(), plain.text());
                assert_eq!(without_nonce(&sent), without_nonce(&expected), "{what}");
            }
            if coding.is_some() {
                assert!(reply.bytes.len() < plain.bytes.len(), "{what}");
            }
            // The head alone is the same.
            let head = ask(&server, &format!("HEAD {path}"), &[&header], "");
            assert!(head.body.is_empty(), "{what}");
            for name in ["content-encoding", "vary", "etag", "content-type"] {
                assert_eq!(head.headers(name), reply.headers(name), "{what}");
            }
            // The length of a page depends on its nonce, once it is compressed.
            if path.starts_with("/api/") {
                assert_eq!(
                    head.headers("content-length"),
                    reply.headers("content-length")
                );
            }
        }
    }
}

#[test]
fn what_is_small_or_leads_on_or_is_no_text_is_left_as_it_is() {
    let server = server();
    for (path, status) in [
        ("/20.1000/5555", 302),
        ("/20.1000/long", 302),
        ("/healthz", 200),
        ("/api/handles/20.1000/5555", 200),
        ("/api/v1/names/20.1000%2F5555", 200),
    ] {
        let reply = ask(
            &server,
            &format!("GET {path}"),
            &["Accept-Encoding: br"],
            "",
        );
        assert_eq!((reply.status, reply.coding()), (status, None), "{path}");
        assert!(!reply.varies(), "{path} {}", reply.head);
    }
}

#[test]
fn what_browsers_are_let_in_to_by_themselves_is_left_as_it_is() {
    let server = server();
    let path = "GET /api/handles/20.1000/long";
    for (header, coding) in [
        ("X-Nothing: 1", Some("br")),
        ("Cookie: a=b", None),
        ("Authorization: Basic MzAwJTNBMjAuMTAwMC94Onk=", None),
        ("Authorization: Handle sessionId=\"x\"", None),
    ] {
        let reply = ask(&server, path, &["Accept-Encoding: br", header], "");
        assert_eq!(reply.coding(), coding, "{header} {}", reply.head);
    }
    // A new token stands in its answer, with a title that the client has chosen.
    let token = token(&server);
    let title = "words ".repeat(160);
    let reply = ask(
        &server,
        "POST /api/v1/tokens",
        &[
            "Accept-Encoding: br",
            "Content-Type: application/json",
            &token,
        ],
        &format!("{{\"title\":\"{title}\"}}"),
    );
    assert_eq!(
        (reply.status, reply.coding()),
        (201, None),
        "{}",
        reply.head
    );
    assert!(reply.bytes.len() > 1_024);
    // By a token, which no browser sends by itself, lists can be had.
    let path = "GET /api/v1/names/20.1000%2Flong";
    let reply = ask(&server, path, &["Accept-Encoding: br", &token], "");
    assert_eq!(reply.coding(), Some("br"), "{}", reply.head);
}

fn token(server: &Server) -> String {
    server.account("ann", &[("20.1000", Role::Lead)]);
    server.token("ann", NewToken::default())
}

#[test]
fn tags_name_what_was_sent_and_are_taken_back() {
    let server = server();
    let token = token(&server);
    let path = "/api/v1/names/20.1000%2Flong";
    let get = format!("GET {path}");
    let tag = |reply: &Response| reply.headers("etag").first().unwrap().to_string();
    let plain = tag(&ask(&server, &get, &[], ""));
    let gzip = tag(&ask(&server, &get, &["Accept-Encoding: gzip"], ""));
    let brotli = tag(&ask(&server, &get, &["Accept-Encoding: br"], ""));
    let bare = plain.trim_matches('"');
    assert_eq!(gzip, format!("\"{bare}-gzip\""));
    assert_eq!(brotli, format!("\"{bare}-br\""));
    for (accepted, known, answered) in [
        ("gzip", &gzip, &gzip),
        ("br", &brotli, &brotli),
        ("identity", &plain, &plain),
    ] {
        let headers = [
            &*format!("Accept-Encoding: {accepted}"),
            &*format!("If-None-Match: \"x\", {known}"),
        ];
        for method in ["GET", "HEAD"] {
            let reply = ask(&server, &format!("{method} {path}"), &headers, "");
            assert_eq!(reply.status, 304, "{accepted} {known}");
            assert_eq!(tag(&reply), *answered);
        }
    }
    // The same version, however it was read; and then it is another one.
    for (known, status) in [(&gzip, 200), (&gzip, 412), (&plain, 412), (&brotli, 412)] {
        let reply = ask(
            &server,
            &format!("PATCH {path}"),
            &[
                &format!("If-Match: {known}"),
                "Content-Type: application/json",
                &token,
            ],
            "{\"urls\":[\"https://example.org/other\"]}",
        );
        assert_eq!(reply.status, status, "{known} {}", reply.head);
    }
}

#[test]
fn what_is_long_is_made_smaller_too() {
    let server = Server::start();
    let value = "x1y2 ".repeat(12_000);
    let values = [(1, "NOTE", value.as_bytes())];
    server.name("20.1000/longer", &values);
    let plain = ask(&server, "GET /api/handles/20.1000/longer", &[], "");
    for coding in ["br", "gzip"] {
        let header = format!("Accept-Encoding: {coding}");
        let reply = ask(&server, "GET /api/handles/20.1000/longer", &[&header], "");
        assert_eq!(reply.coding(), Some(coding));
        assert_eq!(reply.text(), plain.text());
        assert!(reply.bytes.len() * 10 < plain.bytes.len());
    }
}
