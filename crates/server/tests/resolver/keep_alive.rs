//! Requests that come one after the other on a connection: the usual ones are answered a shorter
//! way than the others, and nobody can tell.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::{Edit, NewValue, Principal};
use handfast_server::WebSettings;
use handfast_testing::clock::NOW;
use handfast_testing::{Server, without_nonce};
use handfast_wire::Ttl;

const OPERATOR: Principal = Principal::Operator;

/// Sends requests on one connection, and reads what comes until the server closes.
fn exchange(server: &Server, requests: &[&str]) -> Vec<String> {
    let mut stream = TcpStream::connect(server.web).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    for request in requests {
        stream.write_all(request.as_bytes()).unwrap();
    }
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    let mut answers: Vec<_> = all.split("HTTP/1.1 ").map(sorted).collect();
    assert_eq!(answers.remove(0), "");
    answers
}

/// An answer with its headers in some order, without its time.
fn sorted(answer: &str) -> String {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let is_steady = |line: &&str| !line.starts_with("date") && !line.starts_with("x-request-id");
    let mut lines: Vec<_> = head.split("\r\n").filter(is_steady).collect();
    lines.sort_unstable();
    without_nonce(&format!("{}{body}", lines.join("\n")))
}

fn get(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: names.example\r\n{headers}\r\n")
}

const LAST: &str = "GET /healthz HTTP/1.1\r\nHost: names.example\r\nConnection: close\r\n\r\n";

#[test]
fn cached_redirects_follow_every_change() {
    let clock = Arc::new(AtomicU64::new(NOW));
    let server = Server::start_by(&clock, WebSettings::default());
    server.name("20.1000/moves", &[(1, "URL", b"https://a.example/")]);
    // Connections go to any core: each of them has been asked before.
    let asked = |target: &str, headers: &str| {
        let request = get(target, headers);
        let answers: Vec<_> = (0..32)
            .map(|_| exchange(&server, &[&request, &request, LAST])[..2].to_vec())
            .collect();
        let first = answers[0][0].clone();
        assert!(answers.iter().flatten().all(|answer| *answer == first));
        first
    };
    let shows = |target: &str, text: &str| {
        let answer = asked(target, "");
        assert!(answer.contains(text), "{target}: {answer}");
    };
    let target = "/20.1000/moves";
    shows(target, "location: https://a.example/\n");
    let edit = |edit: Edit| {
        let edited = server.registry.edit_name(&OPERATOR, "20.1000/moves", edit);
        edited.unwrap();
    };
    edit(Edit::urls(&["https://b.example/"]));
    shows(target, "location: https://b.example/\n");
    let until = u32::try_from(NOW / 1_000).unwrap() + 600;
    edit(Edit::put(vec![NewValue {
        ttl: Some(Ttl::Absolute(until)),
        ..NewValue::new(1, "URL", b"https://c.example/")
    }]));
    shows(target, "cache-control: max-age=600\n");
    clock.fetch_add(60_000, Ordering::SeqCst);
    shows(target, "cache-control: max-age=540\n");
    edit(Edit::put(vec![NewValue::new(
        1,
        "URL",
        b"https://d.example/",
    )]));
    shows(target, "location: https://d.example/\n");
    edit(Edit::put(vec![NewValue::new(
        2,
        "HS_ALIAS",
        b"20.1000/5555",
    )]));
    shows(target, "location: /20.1000/5555\n");
    let reason = "no longer there";
    let withdrawn = server
        .registry
        .withdraw_name(&OPERATOR, "20.1000/moves", reason, None);
    withdrawn.unwrap();
    shows(target, "410 Gone");
    // What the record of a prefix says concerns all of its names.
    shows("/20.1000/5555", "location: https://example.org/5555\n");
    let inactive = b"<namespace><status>inactive</status></namespace>";
    let said = Edit::put(vec![NewValue::new(7, "HS_NAMESPACE", inactive)]);
    let said = server.registry.edit_name(&OPERATOR, "0.NA/20.1000", said);
    said.unwrap();
    let answer = asked("/20.1000/5555", "");
    assert!(!answer.contains("302 Found"), "{answer}");
    // What is wanted of a DOI is asked of each request.
    let doi = "/10.1045/april2006-paskin";
    shows(doi, "302 Found");
    let answer = asked(doi, "Accept: application/x-bibtex\r\n");
    assert!(answer.starts_with("204"), "{answer}");
    shows(doi, "302 Found");
}

#[test]
fn headers_that_matter_are_heeded_behind_usual_requests() {
    let server = Server::start();
    let usual = get(
        "/20.1000/5555",
        "Accept: text/html\r\nConnection: Keep-Alive\r\n",
    );
    for (headers, shows) in [
        (
            "Accept: application/json\r\n",
            "\"handle\":\"20.1000/5555\"",
        ),
        (
            "accept: text/plain\r\nACCEPT: application/linkset+json\r\n",
            "\"linkset\"",
        ),
        (
            "Origin: https://other.example\r\n",
            "access-control-allow-origin: https://other.example",
        ),
        ("X-Request-ID: mine\r\n", "302 Found"),
        ("Transfer-Encoding: chunked\r\n\r\n0\r\n", "302 Found"),
        ("Content-Length: 3\r\n\r\nGET", "302 Found"),
    ] {
        let unusual = get("/20.1000/5555", headers);
        // Only the body that was announced is one: what follows is a request.
        let unusual = unusual
            .strip_suffix("\r\n")
            .filter(|_| headers.ends_with("GET"))
            .unwrap_or(&unusual);
        let answers = exchange(&server, &[&usual, &usual, unusual, &usual, LAST]);
        assert_eq!(answers.len(), 5, "{headers}: {answers:#?}");
        assert!(answers[2].contains(shows), "{headers}: {}", answers[2]);
        for usual in [0, 1, 3] {
            assert!(answers[usual].starts_with("302 Found"), "{headers}");
        }
    }
    let closing = get("/20.1000/5555", "Connection: close\r\n");
    assert_eq!(exchange(&server, &[&usual, &closing]).len(), 2);
}

#[test]
fn many_at_once_are_answered_in_order_and_one_in_pieces_too() {
    let server = Server::start();
    let mut requests = String::new();
    for number in 0..2_000 {
        let target = [
            "/20.1000/5555",
            "/api/handles/20.1000/5555",
            "/20.1000/nothing",
        ][number % 3];
        requests.push_str(&get(target, ""));
    }
    let answers = exchange(&server, &[&requests, LAST]);
    assert_eq!(answers.len(), 2_001);
    for (number, answer) in answers[..2_000].iter().enumerate() {
        let status = ["302", "200", "404"][number % 3];
        assert!(answer.starts_with(status), "{number}: {answer}");
    }
    let request = get("/20.1000/5555", "");
    let mut stream = TcpStream::connect(server.web).unwrap();
    stream.set_nodelay(true).unwrap();
    for part in request.as_bytes().chunks(7) {
        stream.write_all(part).unwrap();
    }
    stream.write_all(LAST.as_bytes()).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.starts_with("HTTP/1.1 302 Found\r\n"), "{all}");
    assert!(all.contains("HTTP/1.1 200 OK"), "{all}");
}
