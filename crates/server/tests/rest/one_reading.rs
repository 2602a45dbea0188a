//! One reading of a name (`CID-12`): profile × case rule × spelling × interface × flag.

use std::fmt::Write as _;
use std::time::Duration;

use crate::server::{ADMIN, RestServer, Who};
use handfast_id::{RecognisedBy, recognise};
use handfast_registry::{AuthorityChange, NewAuthority, Principal, Role};
use handfast_testing::{OPERATOR, native};
use handfast_wire::OpFlags;
use handfast_wire::body::ResolutionReply;

const LOWER: &str = "d41d8cd98f00b204e9800998ecf8427e";
const UPPER: &str = "D41D8CD98F00B204E9800998ECF8427E";
const MIXED: &str = "d41D8cd98f00b204e9800998ecf8427E";

/// A prefix, and what holds for it.
struct Prefix {
    text: &'static str,
    is_cordra: bool,
    is_case_sensitive: bool,
}

const PREFIXES: [Prefix; 3] = [
    Prefix {
        text: "400",
        is_cordra: false,
        is_case_sensitive: true,
    },
    Prefix {
        text: "401",
        is_cordra: false,
        is_case_sensitive: false,
    },
    Prefix {
        text: "402",
        is_cordra: true,
        is_case_sensitive: false,
    },
];

fn start() -> RestServer {
    let server = RestServer::start();
    for prefix in &PREFIXES {
        let new = NewAuthority {
            change: AuthorityChange {
                cordra: Some(prefix.is_cordra),
                case_sensitive: Some(prefix.is_case_sensitive),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        server
            .registry
            .create_authority(&OPERATOR, prefix.text, new)
            .unwrap();
        let admin = Principal::parse("300:20.1000/ADMIN").unwrap();
        let granted = server
            .registry
            .grant(&OPERATOR, prefix.text, &admin, Role::Admin);
        granted.unwrap();
    }
    server
}

fn url_value(url: &str) -> String {
    format!(
        r#"{{"values":[{{"index":1,"type":"URL","data":{{"format":"string","value":"{url}"}}}}]}}"#
    )
}

/// The first URL by the native protocol, over UDP or TCP.
fn native(server: &RestServer, handle: &str, flags: OpFlags, is_udp: bool) -> Option<String> {
    let request = native::resolution(handle, OpFlags::REQUEST | flags);
    let bytes = if is_udp {
        native::over_udp(server.native, &request, Duration::from_secs(5)).unwrap()
    } else {
        native::over_tcp(server.native, &request)
    };
    let reply = native::message(&bytes);
    let found: ResolutionReply<'_> = reply.read().ok()?;
    let data = &found.values.first()?.data;
    Some(String::from_utf8(data.to_vec()).unwrap())
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'.' {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").unwrap();
        }
    }
    out
}

/// Where a name leads by every interface that takes a spelling of it.
fn everywhere(server: &RestServer, spelling: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let get = |path: String| {
        let reply = server.ask(Who::Plain, &format!("GET {path}"), &[], "");
        let location = reply.headers("location").first().map(ToString::to_string);
        (path, reply, location)
    };
    let shown = server.registry.show(&OPERATOR, spelling).ok();
    let url = shown.and_then(|shown| {
        let values = shown.record.values;
        values.first()?.text().map(str::to_string)
    });
    found.push(("registry".to_string(), url));
    let rules = server.registry.rules();
    let by = recognise(spelling, &rules).unwrap().by;
    if by != RecognisedBy::Resolver {
        for end in ["", "?", "?redirect", "?action=redirect"] {
            let (path, _, location) = get(format!("/{spelling}{end}"));
            // Under a cordra authority the query is handed on.
            let location = location.map(|url| url.split('?').next().unwrap().to_string());
            found.push((path, location));
        }
    }
    for service in ["I2L", "N2L", "I2R"] {
        let (path, _, location) = get(format!("/uri-res/{service}?{spelling}"));
        found.push((path, location));
    }
    let (path, reply, _) = get(format!("/api/v1/names/{}", encoded(spelling)));
    let body = reply.body;
    let url = body
        .split('"')
        .find(|text| text.starts_with("https://e.example/"));
    found.push((path, url.map(str::to_string)));
    if by == RecognisedBy::BareHandle {
        for flags in [OpFlags::NONE, OpFlags::PO] {
            for is_udp in [true, false] {
                let label = format!("native {spelling} {flags:?} udp: {is_udp}");
                found.push((label, native(server, spelling, flags, is_udp)));
            }
        }
        for path in [spelling.to_string(), encoded(spelling)] {
            for end in ["", "?publicOnly=true", "?publicOnly=false", "?index=1"] {
                let (path, reply, _) = get(format!("/api/handles/{path}{end}"));
                let url = reply.json()["values"][0]["data"]["value"].clone();
                found.push((path, url.as_str().map(str::to_string)));
            }
        }
    }
    found
}

fn spellings(prefix: &str, suffix: &str) -> Vec<String> {
    let triplet = suffix.replacen("41", "%34%31", 1);
    vec![
        format!("{prefix}/{suffix}"),
        format!("hdl:{prefix}/{suffix}"),
        format!("HDL:{prefix}/{triplet}"),
        format!("hdl://{prefix}/{suffix}"),
        format!("info:hdl/{prefix}/{suffix}"),
        format!("info:hdl/{prefix}%2F{suffix}"),
        format!("https://hdl.handle.net/{prefix}/{suffix}"),
        format!("http://hdl.handle.net/{prefix}/{triplet}"),
    ]
}

/// `400/d41d…` and `400/D41D…` of a case-sensitive prefix were one record or two, by interface,
/// spelling and flag.
#[test]
fn cid_12_a_name_means_one_thing_everywhere() {
    let server = start();
    for prefix in &PREFIXES {
        let put = |suffix: &str, url: &str| {
            let path = format!("/api/handles/{}/{suffix}", prefix.text);
            server.put(ADMIN, &path, &url_value(url)).status
        };
        let (of_lower, of_upper) = ("https://e.example/lower", "https://e.example/upper");
        assert_eq!(put(LOWER, of_lower), 201, "{}", prefix.text);
        let is_new = put(UPPER, of_upper) == 201;
        assert_eq!(is_new, prefix.is_case_sensitive, "{}", prefix.text);
        for (suffix, target) in [(LOWER, of_lower), (UPPER, of_upper), (MIXED, "")] {
            let expected = match (prefix.is_case_sensitive, target) {
                (true, "") => None,
                (true, target) => Some(target),
                (false, _) => Some(of_upper),
            };
            for spelling in spellings(prefix.text, suffix) {
                for (asked, found) in everywhere(&server, &spelling) {
                    assert_eq!(
                        found.as_deref(),
                        expected,
                        "{} {spelling}: {asked}",
                        prefix.text
                    );
                }
            }
        }
        // What is shown is what was registered; CID-11 makes it uppercase.
        let shown = |suffix: &str| {
            let id = format!("{}/{suffix}", prefix.text);
            server.registry.show(&OPERATOR, &id).unwrap().record.text
        };
        let first = if prefix.is_cordra { UPPER } else { LOWER };
        assert_eq!(shown(LOWER), format!("{}/{first}", prefix.text));
    }
}

/// `I=I` called handles equal that are two, and two that differ in their query one.
#[test]
fn cid_13_equality_follows_the_rules_of_the_authority() {
    let server = start();
    for (one, other, said) in [
        (format!("400/{LOWER}"), format!("hdl:400/{UPPER}"), "FALSE"),
        (format!("400/{LOWER}"), format!("hdl:400/{LOWER}"), "TRUE"),
        (format!("401/{LOWER}"), format!("hdl:401/{UPPER}"), "TRUE"),
        (format!("402/{LOWER}"), format!("hdl:402/{UPPER}"), "TRUE"),
        (format!("402/{LOWER}?x"), format!("402/{UPPER}"), "FALSE"),
        (
            format!("402/{LOWER}?x"),
            format!("hdl:402/{UPPER}?x"),
            "TRUE",
        ),
        (
            format!("402/{LOWER}?x=1"),
            format!("402/{LOWER}?x=2"),
            "FALSE",
        ),
        (
            format!("hdl:401/{LOWER}?x=1"),
            format!("hdl:401/{LOWER}"),
            "FALSE",
        ),
        // Of a prefix that nobody here knows.
        ("hdl:20.9/a".to_string(), "hdl:20.9/A".to_string(), "FALSE"),
        ("10.9/a".to_string(), "doi:10.9/A".to_string(), "TRUE"),
    ] {
        let body = format!("{one}\n{other}\n");
        let reply = server.ask(Who::Plain, "POST /uri-res/I=I", &[], &body);
        assert_eq!(reply.body.trim(), said, "{body}");
    }
}

/// Registering cut queries and fragments off, so that three handles overwrote each other.
#[test]
fn cid_14_rest_refuses_a_query_under_a_cordra_authority() {
    let server = start();
    let body = url_value("https://e.example/1");
    for tail in ["%3Fx=1", "%23f", "%3F"] {
        let path = format!("/api/handles/402/{LOWER}{tail}");
        let reply = server.put(ADMIN, &path, &body);
        assert_eq!(
            (reply.status, &reply.json()["responseCode"]),
            (400, &102.into())
        );
        // In other handles they are ordinary characters.
        let path = format!("/api/handles/400/{LOWER}{tail}");
        assert_eq!(server.put(ADMIN, &path, &body).status, 201);
        let reply = server.ask(Who::Plain, &format!("GET {path}"), &[], "");
        assert_eq!(reply.status, 200);
    }
    assert!(
        server
            .registry
            .show(&OPERATOR, &format!("402/{LOWER}"))
            .is_err()
    );
    assert!(
        server
            .registry
            .show(&OPERATOR, &format!("400/{LOWER}"))
            .is_err()
    );
    // What is no handle to the letter is none of this interface.
    for path in ["hdl:400/x", "%5B400/x%5D", "hdl.handle.net/400/x"] {
        let reply = server.put(ADMIN, &format!("/api/handles/{path}"), &body);
        assert_ne!(reply.status, 201, "{path}");
    }
    assert!(server.registry.show(&OPERATOR, "400/x").is_err());
}

/// Deployed servers take any URL, and so do REST and the protocol; an operator sees how many lead
/// nowhere.
#[test]
fn malformed_urls_are_taken_and_counted() {
    let server = start();
    for (suffix, url) in [
        ("a", "example.org/x"),
        ("b", "https://e.example/"),
        ("c", "http:/x"),
    ] {
        let path = format!("/api/handles/401/{suffix}");
        assert_eq!(server.put(ADMIN, &path, &url_value(url)).status, 201);
    }
    assert_eq!(server.registry.malformed_urls(), 2);
    let metrics = server.ask(Who::Plain, "GET /metrics", &[], "").body;
    assert!(
        metrics.contains("handfast_malformed_urls_total 2"),
        "{metrics}"
    );
    assert_eq!(server.registry.check().unwrap().malformed_urls, 2);
}
