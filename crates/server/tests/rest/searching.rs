//! C.3: reverse lookup.
use handfast_testing::OPERATOR;

use crate::server::{ADMIN, LIMITED, RestServer, Who};
use Who::{Nobody, PlainAdmin};
use handfast_registry::{NewName, NewValue};

fn fill(server: &RestServer) {
    let long = format!("http://long/{}", "x".repeat(900));
    for (name, values) in [
        (
            "20.1000/A",
            vec![(1, "URL", "http://www.test.com/1"), (2, "EMAIL", "a@x")],
        ),
        (
            "20.1000/B",
            vec![
                (1, "URL", "http://www.test.com/2"),
                (2, "URL", "http://www.test.com/3"),
            ],
        ),
        (
            "20.1000/C",
            vec![(1, "URL", "http://other.example/"), (2, "EMAIL", "c@x")],
        ),
        ("20.1000/D", vec![(1, "URL", long.as_str())]),
        (
            "20.2000/E",
            vec![(1, "URL", "http://www.test.com/4"), (7, "HS_SECKEY", "key")],
        ),
    ] {
        let values = values.into_iter();
        let values = values.map(|(index, of, data)| NewValue::new(index, of, data.as_bytes()));
        let name_of = NewName {
            values: values.collect(),
            ..NewName::default()
        };
        server
            .registry
            .create_name(&OPERATOR, name, name_of)
            .unwrap();
    }
}

#[test]
#[rustfmt::skip] // A row is a line.
fn handles_are_found_by_what_they_hold() {
    let server = RestServer::start();
    fill(&server);
    let ask = |who, what: &str| server.ask(who, &format!("GET /hrls/{what}"), &[], "");
    for (what, found) in [
        ("handles?URL=http://www.test.com/1", r#"["20.1000/A"]"#),
        ("handles/?URL=http://www.test.com/*", r#"["20.1000/A","20.1000/B","20.2000/E"]"#),
        ("handles?URL=*test*", r#"["20.1000/A","20.1000/B","20.2000/E"]"#),
        ("handles?URL=*test*&EMAIL=*", r#"["20.1000/A"]"#),
        ("handles?URL=*www*&URL=*/3", r#"["20.1000/B"]"#),
        ("handles?url=http://other.example/", r#"["20.1000/C"]"#),
        ("handles/20.2000?URL=*", r#"["20.2000/E"]"#),
        ("handles/20.20?URL=*", "[]"),
        ("handles?URL=*test*&limit=1", r#"["20.1000/A"]"#),
        ("handles?URL=*test*&limit=1&page=1", r#"["20.1000/B"]"#),
        ("handles?URL=*test*&limit=2&page=1", r#"["20.2000/E"]"#),
        ("handles?URL=*test*&limit=2&page=9&enforcesql=true", "[]"),
        ("handles?URL=*test*&limit=0", "[]"),
        ("handles?URL=http://long/*x", r#"["20.1000/D"]"#),
        ("handles?URL=none", "[]"),
        ("handles?NOTE=hidden", "[]"),
        ("handles", "[]"),
    ] {
        let reply = ask(ADMIN, what);
        assert_eq!((reply.status, &*reply.body), (200, found), "{what}");
        assert_eq!(ask(ADMIN, what).body, found);
    }
    let long = format!("handles?URL=http://long/{}", "x".repeat(900));
    assert_eq!(ask(ADMIN, &long).body, r#"["20.1000/D"]"#);
    let records = ask(ADMIN, "handles?URL=*/4&retrieverecords=true");
    let expected = r#"{"20.2000/E":[{"type":"URL","value":"http://www.test.com/4"}]}"#;
    assert_eq!(records.body, expected);
    assert_eq!(
        ask(ADMIN, "handles?URL=x&retrieverecords=true").body,
        "{}"
    );
    // Who may list nothing finds nothing.
    assert_eq!(ask(LIMITED, "handles?URL=*").body, "[]");
    for (who, what, status) in [
        (Nobody, "handles?URL=*", 401),
        (Who::Basic("300%3A20.1000/ADMIN:no"), "handles?URL=*", 401),
        (PlainAdmin, "handles?URL=*", 403),
        (ADMIN, "handles/x?URL=*", 404),
        (ADMIN, "handles/20.1/5?URL=*", 404),
        (ADMIN, "nothing", 404),
        (ADMIN, "handles?hs_seckey=*", 400),
        (ADMIN, "handles?URL=*&limit=x", 400),
        (Nobody, "ping", 200),
    ] {
        assert_eq!(ask(who, what).status, status, "{what}");
    }
    assert_eq!(ask(Nobody, "ping").body, "OK\n");
    let reply = ask(Nobody, "handles?URL=*");
    assert_eq!(
        reply.headers("www-authenticate"),
        ["Basic realm=\"default\""]
    );
}

#[test]
fn searches_and_their_answers_have_an_end() {
    let server = RestServer::start();
    // As much as a record holds, in each of many.
    for number in 0..140 {
        let value = NewValue::new(1, "URL", "x".repeat(250_000).as_bytes());
        let name = NewName {
            values: vec![value],
            ..NewName::default()
        };
        let handle = format!("20.1000/large-{number:03}");
        server
            .registry
            .create_name(&OPERATOR, &handle, name)
            .unwrap();
    }
    let ask = |what: &str| server.ask(ADMIN, &format!("GET /hrls/handles?{what}"), &[], "");
    let reply = ask("URL=x*&retrieverecords=true");
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("limit"));
    assert_eq!(ask("URL=x*&retrieverecords=true&limit=50").status, 200);
    assert_eq!(ask("URL=x*").json().as_array().unwrap().len(), 140);
    let pattern = |length: usize| format!("URL=*{}", "x".repeat(length - 1));
    assert_eq!(ask(&pattern(4_096)).status, 200);
    assert_eq!(ask(&pattern(4_097)).status, 400);
    assert_eq!(ask(&["URL=*"; 16].join("&")).status, 200);
    assert_eq!(ask(&["URL=*"; 17].join("&")).status, 400);
}
