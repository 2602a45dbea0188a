//! What anonymous clients, and limited tokens, do not get.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use handfast_registry::Role;
use handfast_server::WebSettings;
use handfast_testing::{Server, read};

use crate::{limited_token, start, start_with, token};

#[test]
fn those_who_do_not_send_what_they_announce_keep_nobody_waiting() {
    let server = start();
    let ann = token(&server);
    let slow: Vec<_> = (0..80)
        .map(|_| {
            let mut stream = server.connect();
            let head = "POST /api/v1/log/growth HTTP/1.1\r\nHost: localhost\r\n\
                        Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let body = r#"{"id":"20.1000/a","urls":["https://example.org/"]}"#;
    let mut stream = server.connect();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let request = format!(
        "POST /api/v1/names HTTP/1.1\r\nHost: localhost\r\n{ann}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    assert_eq!(read(stream).status, 201);
    drop(slow);
    // Bodies of anonymous clients are short.
    let long = format!("{{\"checkpoint\":\"{}\"}}", "x".repeat(20_000));
    let refused = server.ask("POST", "/api/v1/log/growth", &[], Some(&long));
    assert_eq!(refused.status, 413);
}

#[test]
fn unfinished_uploads_use_a_limited_number_of_permits() {
    // The connection of the rejected upload ends after this time.
    let server = start_with(WebSettings {
        client_timeout: Some(Duration::from_secs(5)),
        ..WebSettings::default()
    });
    let ann = token(&server);
    let import = |server: &Server| {
        let mut stream = server.connect();
        let head = format!(
            "POST /api/v1/import HTTP/1.1\r\nHost: localhost\r\n{ann}\r\nConnection: close\r\n\
             Content-Type: application/x-ndjson\r\nContent-Length: 100\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut open: Vec<_> = (0..60).map(|_| import(&server)).collect();
    // The last one to come is refused, so that all the others have been looked at or were refused
    // too.
    let last = read(open.pop().unwrap());
    assert_eq!((last.status, &last.json()["code"]), (503, &"busy".into()));
    assert_eq!(server.get("/api/v1/statistics").status, 200);
}

#[test]
fn a_token_for_less_is_not_told_what_another_was() {
    let server = start();
    let all = token(&server);
    let limited = limited_token(&server, "ann", Some("20.1000"), Some(Role::Read));
    let body = r#"{"id":"20.2000/a","state":"reserved","urls":["https://example.org/"]}"#;
    let made = server.ask("POST", "/api/v1/names", &[&all], Some(body));
    assert_eq!(made.status, 201);
    let activate = |who: &str| {
        let key = "Idempotency-Key: one";
        server.ask(
            "POST",
            "/api/v1/names/20.2000%2Fa/activate",
            &[who, key],
            None,
        )
    };
    assert_eq!(activate(&all).status, 200);
    assert_eq!(activate(&all).status, 200);
    assert_ne!(activate(&limited).status, 200);
    let tokens = |who: &str| {
        server
            .get_with("/api/v1/tokens", &[who])
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((tokens(&all), tokens(&limited)), (2, 1));
}

#[test]
fn the_log_is_where_auditors_look_for_it() {
    let server = start();
    for path in ["checkpoint", "key", "tile/0/000.p/2"] {
        let own = server.get(&format!("/log/{path}"));
        let beside = server.get(&format!("/api/v1/log/{path}"));
        assert_eq!(own.status, 200, "{path}: {}", own.head);
        assert_eq!(own.bytes, beside.bytes, "{path}");
    }
    assert_eq!(server.get("/log/nothing").status, 404);
}

/// Sends requests on one connection, each with its body a moment behind its head, and gives their
/// statuses.
fn statuses(server: &Server, requests: &[(&str, &[u8])]) -> Vec<String> {
    let mut stream = server.connect();
    stream.set_nodelay(true).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut statuses = Vec::new();
    for (head, body) in requests {
        let length = body.len();
        write!(
            stream,
            "{head}\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answered = Vec::new();
        let mut octet = [0];
        while !answered.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut octet).unwrap();
            answered.push(octet[0]);
        }
        let answered = String::from_utf8(answered).unwrap();
        let length = answered
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).unwrap();
        statuses.push(answered.split(' ').nth(1).unwrap().to_string());
    }
    statuses
}

#[test]
fn what_is_refused_early_is_heard_and_the_connection_lives() {
    let server = start();
    let much = vec![b'x'; 5 << 20];
    let get = "GET /healthz HTTP/1.1";
    for (head, body, status) in [
        ("POST /api/v1/names HTTP/1.1", &b"{}"[..], "401"),
        ("POST /api/v1/names HTTP/1.1", &much, "401"),
        ("POST /api/v1/import HTTP/1.1", &much, "401"),
        ("POST /api/v1/nothing HTTP/1.1", b"xy", "404"),
        ("DELETE /20.1000/a HTTP/1.1", b"xyz", "405"),
        ("OPTIONS /uri-res/N2L HTTP/1.1", b"xyz", "200"),
        ("PUT /api/handles/20.1000/a HTTP/1.1", &much, "413"),
        ("POST /20.1000/a HTTP/1.1", &much, "413"),
    ] {
        for _ in 0..3 {
            let said = statuses(&server, &[(head, body), (get, b"")]);
            assert_eq!(said, [status, "200"], "{head}");
        }
    }
}

#[test]
fn http_1_1_asks_for_a_host() {
    let server = start();
    for (headers, status) in [
        ("", 400),
        ("Host: a\r\nHost: b\r\n", 400),
        ("Host: a\r\n", 404),
    ] {
        let mut stream = server.connect();
        write!(
            stream,
            "GET /20.1000/a HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
        )
        .unwrap();
        assert_eq!(read(stream).status, status, "{headers}");
    }
}
