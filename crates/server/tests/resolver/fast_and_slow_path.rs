//! The fast path of HTTP/1.1 and the slow path give the same answer: generated records, paths and
//! headers go through both, and the bytes are compared.
//!
//! `Content-Type` changes nothing about a GET, but the fast path leaves such a request to hyper.
//! Only `Date` may differ: the fast path takes it from the clock of the test, hyper from the
//! system, which shows which of the two has answered.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use handfast_registry::{NewName, NewValue, Principal};
use handfast_testing::clock::NOW;
use handfast_testing::{Server, without_nonce};
use handfast_wire::{Permissions, Ttl};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

const OPERATOR: Principal = Principal::Operator;
const CASES: u32 = 400;
/// `NOW`, as the fast path writes it.
const FAST_DATE: &str = "date: Sun, 15 Nov 2026 06:17:16 GMT";

#[derive(Clone, Debug)]
struct Case {
    prefix: &'static str,
    suffix: String,
    values: Vec<NewValue>,
    state: State,
    start: &'static str,
    spelling: Spelling,
    query: &'static str,
    headers: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Active,
    Reserved,
    Withdrawn,
}

/// How the path spells the handle.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    Escaped,
    EveryOctetEscaped,
    LowerCase,
    Raw,
}

fn suffix() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-zA-Z0-9._~:@!$()*,;=/-]{0,12}",
        1 => "[ -~]{0,8}",
        1 => "[a-z %+?#&'ü/]{0,8}",
    ]
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    let urls = select(vec![
        "https://example.org/a",
        "http://example.org/?q=1#f",
        "ftp://example.org/a",
        " https://example.org/space ",
        "https://example.org/a\r\nSet-Cookie: b",
        "https://b\u{fc}cher.example/\u{fc}",
        "https://example.org/%zz\"<>",
        "HTTPS://EXAMPLE.ORG",
        "javascript:alert(1)",
        "mailto:desk@library.example",
        "/relative",
        "20.1000/5555",
        "",
    ]);
    let documents = select(vec![
        "<locations><location href=\"https://a.example/\" weight=\"1\"/></locations>",
        "<locations http_sc=\"301\"><location href=\"https://a.example/\"/></locations>",
        "<links><link href=\"https://a.example/\" rel=\"author\"/></links>",
        "X-Robots-Tag: noindex\nLink: <https://a.example/>; rel=\"author\"",
        "<namespace><status>inactive</status></namespace>",
    ]);
    prop_oneof![
        6 => Just(b"https://example.org/a".to_vec()),
        6 => urls.prop_map(|text| text.as_bytes().to_vec()),
        2 => documents.prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..24),
        1 => (1_000_usize..1_400).prop_map(|length| vec![b'x'; length]),
    ]
}

fn value() -> impl Strategy<Value = NewValue> {
    let types = prop_oneof![
        10 => Just("URL"),
        4 => select(vec![
            "url", "0.TYPE/URL", "URL.pdf", "EMAIL", "DESC", "HS_ALIAS", "HS_NAMESPACE",
            "10320/loc", "10320/links", "10320/headers",
        ]),
    ];
    let now = u32::try_from(NOW / 1_000).unwrap();
    let ttl = prop_oneof![
        3 => Just(None),
        1 => any::<u32>().prop_map(|seconds| Some(Ttl::Relative(seconds))),
        1 => (now - 500..now + 500).prop_map(|time| Some(Ttl::Absolute(time))),
    ];
    let permissions = prop_oneof![
        5 => Just(Permissions::DEFAULT),
        1 => Just(Permissions::SECRET),
    ];
    (types, data(), ttl, permissions).prop_map(|(value_type, data, ttl, permissions)| NewValue {
        ttl,
        permissions: Some(permissions),
        ..NewValue::new(0, value_type, &data)
    })
}

fn case() -> impl Strategy<Value = Case> {
    let path = (
        prop_oneof![4 => Just("20.1000"), 1 => Just("10.1045"), 1 => Just("100.102")],
        suffix(),
        prop_oneof![
            6 => Just("/"),
            2 => Just("/api/handles/"),
            2 => select(vec![
                "//", "/hdl/", "/hdl:", "/HDL:", "/doi:", "/info:hdl/", "/urn:hdl:",
                "//api/handles/", "/api/handles//",
            ]),
        ],
        prop_oneof![
            6 => Just(Spelling::Escaped),
            1 => Just(Spelling::EveryOctetEscaped),
            2 => Just(Spelling::LowerCase),
            1 => Just(Spelling::Raw),
        ],
        prop_oneof![
            6 => Just(""),
            1 => select(vec!["?", "?noredirect", "?x=1", "?auth&urlappend=/b", "?pretty"]),
        ],
    );
    let state = prop_oneof![
        14 => Just(State::Active), 1 => Just(State::Reserved), 1 => Just(State::Withdrawn),
    ];
    let usual = select(vec![
        "Accept: */*",
        "Accept: text/html",
        "accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8",
        "Accept-Encoding: gzip",
        "Accept-Language: de, en;q=0.5",
        "Connection: keep-alive",
        "Cookie: a=b",
        "If-None-Match: \"a\"",
        "Range: bytes=0-1",
        "User-Agent: curl/8",
    ]);
    let special = select(vec![
        "Accept: application/json",
        "Accept: application/linkset+json",
        "Accept: application/x-bibtex",
        "Accept: text/plain;q=0.5",
        "Accept: \u{fc}",
        "Origin: https://other.example",
    ]);
    let headers = prop_oneof![5 => usual, 1 => special];
    let headers = proptest::collection::vec(headers, 0..4);
    let values = proptest::collection::vec(value(), 1..4);
    (path, values, state, headers).prop_map(|(path, mut values, state, headers)| {
        let (prefix, suffix, start, spelling, query) = path;
        // Between several locations the server chooses at random.
        if let Some(at) = values
            .iter()
            .position(|value| value.value_type == "10320/loc")
        {
            values = vec![values.swap_remove(at)];
        }
        for (value, index) in values.iter_mut().zip(1..) {
            value.index = index;
        }
        Case {
            prefix,
            suffix,
            values,
            state,
            start,
            spelling,
            query,
            headers,
        }
    })
}

impl Case {
    /// Registers the name, under a suffix that no other case has.
    fn create(&self, server: &Server, number: u32) -> String {
        let handle = format!("{}/{}{number}", self.prefix, self.suffix);
        let new = NewName {
            values: self.values.clone(),
            reserve: matches!(self.state, State::Reserved),
            ..NewName::default()
        };
        let registry = &server.registry;
        // A name that the registry rejects is asked for all the same.
        let created = registry.create_name(&OPERATOR, &handle, new);
        if created.is_ok() && matches!(self.state, State::Withdrawn) {
            let withdrawn = registry.withdraw_name(&OPERATOR, &handle, "gone", None);
            withdrawn.unwrap();
        }
        handle
    }

    fn target(&self, handle: &str) -> String {
        let escape = |keeps: fn(u8) -> bool| -> String {
            let octet = |byte: u8| match byte {
                byte if keeps(byte) => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            };
            handle.bytes().map(octet).collect()
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:@/!$()*,;=".contains(&byte);
        let handle = match self.spelling {
            Spelling::Escaped => escape(plain),
            Spelling::EveryOctetEscaped => escape(|byte| byte == b'/'),
            Spelling::LowerCase => escape(plain).to_ascii_lowercase(),
            // Other octets end a request line.
            Spelling::Raw => escape(|byte| byte.is_ascii_graphic()),
        };
        [self.start, &handle, self.query].concat()
    }

    fn request(&self, target: &str, more: &str) -> String {
        let headers = self.headers.iter().flat_map(|line| [line, "\r\n"]);
        let headers: String = headers.collect();
        format!("GET {target} HTTP/1.1\r\nHost: names.example:8000\r\n{headers}{more}\r\n")
    }
}

/// The answer to a request: everything but its date and the nonce of a page, and whether the fast
/// path gave it.
fn ask(server: &Server, request: &str) -> (String, bool) {
    let mut stream = TcpStream::connect(server.web).unwrap();
    let timeout = Some(Duration::from_secs(10));
    stream.set_read_timeout(timeout).unwrap();
    let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream
        .write_all([request, last].concat().as_bytes())
        .unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let all = String::from_utf8_lossy(&all);
    // Behind a request that is no HTTP, the server closes the connection.
    let last = all.rsplit_once("HTTP/1.1 200 OK\r\n");
    let answer = last.map_or(&*all, |(answer, _)| answer);
    let is_fast = answer.contains(FAST_DATE);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    // A compressed page has other bytes each time, because of its nonce.
    let is_page = head.contains("content-type: text/html");
    let (body, varies) = if is_page && head.contains("content-encoding: ") {
        ("", "content-length: ")
    } else {
        (body, "date: ")
    };
    let head = head
        .split("\r\n")
        .filter(|line| !line.starts_with("date: ") && !line.starts_with(varies));
    let head: Vec<_> = head.collect();
    let whole = format!("{}\r\n\r\n{body}", head.join("\r\n"));
    (without_nonce(&whole), is_fast)
}

#[test]
fn both_paths_give_the_same_bytes() {
    let server = Server::start();
    let (cases, redirects, reads) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let ran = runner.run(&case(), |case| {
        cases.set(cases.get() + 1);
        let handle = case.create(&server, cases.get());
        let target = case.target(&handle);
        let (fast, is_fast) = ask(&server, &case.request(&target, ""));
        // A second time, from the cache of redirects.
        let (again, _) = ask(&server, &case.request(&target, ""));
        let content_type = "Content-Type: text/plain\r\n";
        let (slow, is_slow_fast) = ask(&server, &case.request(&target, content_type));
        prop_assert!(!is_slow_fast, "{target} took the fast path");
        prop_assert_eq!(&fast, &slow, "{}", target);
        prop_assert_eq!(&again, &slow, "{}", target);
        let count = if fast.contains(" 302 ") {
            &redirects
        } else {
            &reads
        };
        count.set(count.get() + u32::from(is_fast));
        Ok(())
    });
    ran.unwrap();
    // The comparison means something only if the fast path answers often.
    let (redirects, reads) = (redirects.get(), reads.get());
    assert!(
        redirects >= CASES / 50 && reads >= CASES / 100,
        "{redirects} and {reads}"
    );
}
