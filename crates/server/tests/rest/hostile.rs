//! Hostile input: none of it makes a status of 500, or delays other clients.

use crate::server::{ADMIN, RestServer, Who};
use Who::Nobody;

#[test]
#[rustfmt::skip] // A row is a line.
fn paths_and_queries_of_any_bytes_are_answered() {
    let server = RestServer::start();
    for (path, status) in [
        ("/api/handles/20.1000/%00", 404),
        ("/api/handles/20.1000/a%0D%0ASet-Cookie:x", 404),
        ("/api/handles/20.1000%2F..%2Fp1", 404),
        ("/api/handles/../handles/20.1000/p1", 400),
        ("/api/handles/%2F%2F", 400),
        ("/api/handles/%FF", 400),
        ("/api/handles/%", 400),
        ("/api/handles/20.1000/p1?index=99999999999999", 400),
        ("/api/handles/20.1000/p1?index=%FF", 400),
        ("/api/handles/20.1000/p1?&&=&type", 200),
        ("/api/handles/20.1000/p1?callback=%0D%0AX:y", 200),
        ("/api/verifications/", 400),
        ("/api/verifications/:?nonce=x", 400),
        ("/api/prefixes/%2F%2F?x", 401),
        ("/api/sessions/this/", 403),
        ("/api", 404),
        ("/api/", 404),
        ("/hrls", 404),
        ("/hrls/handles/%2F", 404),
    ] {
        let method = if path.contains("prefixes") {
            "POST"
        } else {
            "GET"
        };
        let reply = server.ask(Nobody, &format!("{method} {path}"), &[], "");
        let expected = if path.starts_with("/api/prefixes") {
            400..=401
        } else {
            status..=status
        };
        assert!(
            expected.contains(&reply.status),
            "{path} {}\n{}",
            reply.head,
            reply.body
        );
        assert!(!reply.head.to_lowercase().contains("set-cookie"), "{path}");
        assert_eq!(reply.headers("x").len(), 0);
    }
}

#[test]
#[rustfmt::skip] // A row is a line.
fn bodies_of_any_bytes_are_refused() {
    let server = RestServer::start();
    let deep = "[".repeat(100_000);
    let deeper = format!(
        r#"[{{"index":1,"type":"X","data":{}"#,
        "{\"a\":".repeat(50_000)
    );
    let many = format!("[{}7]", "7,".repeat(200_000));
    let long = "x".repeat((1 << 20) + 1);
    let large = format!(
        r#"[{{"index":1,"type":"X","data":"{}"}}]"#,
        "x".repeat(500_000)
    );
    for (body, status) in [
        (&*deep, 400),
        (&*deeper, 400),
        (&*many, 400),
        (&*long, 413),
        (&*large, 400),
        ("\u{FEFF}[]", 400),
        ("{}", 400),
        ("null", 400),
        (r#"{"values":null}"#, 400),
        (r#"{"values":[],"handle":7}"#, 400),
        (r#"{"values":[{"index":1,"type":"URL","data":"javascript:alert(1)"}]}"#, 400),
        (r#"[{"index":1,"type":"X","data":"x","index":2}]"#, 400),
        (r#"[{"index":1,"type":"X","data":"x","permission":"1100"}]"#, 400),
        (r#"[{"index":4294967296,"type":"X","data":"x"}]"#, 400),
        (r#"[{"index":1,"type":"\ud800","data":"x"}]"#, 400),
    ] {
        let reply = server.put(ADMIN, "/api/handles/20.1000/h", body);
        let start: String = body.chars().take(80).collect();
        assert_eq!(reply.status, status, "{start} {}", reply.body);
    }
    // An error never shows the data of one client to another.
    let body = r#"[{"index":300,"type":"HS_SECKEY","data":{"format":"hex","value":"topsecret"}}]"#;
    let reply = server.put(ADMIN, "/api/handles/20.1000/h", body);
    assert_eq!(reply.status, 400);
    assert!(!reply.body.contains("topsecret"), "{}", reply.body);
    let name = "x".repeat(3_000);
    let reply = server.put(ADMIN, &format!("/api/handles/20.1000/{name}"), "[]");
    assert_eq!(
        (reply.status, &reply.json()["responseCode"]),
        (400, &102.into())
    );
    let reply = server.put(ADMIN, "/api/handles/20.1000/%00", "[]");
    assert!(matches!(reply.status, 201 | 400), "{}", reply.body);
    assert_eq!(
        server
            .ask(Nobody, "GET /api/handles/20.1000/p1", &[], "")
            .status,
        200
    );
}

#[test]
#[rustfmt::skip] // A row is a line.
fn sessions_and_forms_of_any_bytes_are_refused() {
    let server = RestServer::start();
    let json = [("Content-Type", "application/json")];
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    for (what, headers, body, status) in [
        ("POST /api/sessions", &json, "[", 400),
        ("POST /api/sessions", &json, "[]", 400),
        ("PUT /api/sessions/this", &json, r#"{"sessionId":{"a":1}}"#, 403),
        ("POST /api/handles/20.1000/p1", &form, "index=1&index=x", 400),
        ("POST /api/handles/20.1000/p1", &form, "index=1&type=URL.", 200),
        ("POST /api/handles/20.1000/p1", &form, "%FF", 400),
    ] {
        let reply = server.ask(Nobody, what, headers, body);
        assert_eq!(reply.status, status, "{what} {body} {}", reply.body);
    }
    let request = b"GET /api/site HTTP/0.9\r\n\r\n";
    let mut stream = std::net::TcpStream::connect(server.web).unwrap();
    std::io::Write::write_all(&mut stream, request).unwrap();
    assert!(server.folder().exists());
}

#[test]
fn selections_have_an_end() {
    let server = RestServer::start();
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let ask = |body: &str| server.ask(Nobody, "POST /api/handles/20.1000/p1", &form, body);
    // As much as a body holds, over and over the same.
    let reply = ask(&"type=B&".repeat(140_000));
    assert_eq!(reply.json()["responseCode"], 200);
    let reply = ask(&format!("{}type=url", "type=B&".repeat(140_000)));
    assert_eq!(reply.json()["values"].as_array().unwrap().len(), 1);
    for name in ["type", "index"] {
        let many = |count: usize| {
            let all: Vec<_> = (0..count)
                .map(|number| format!("{name}={number}"))
                .collect();
            ask(&all.join("&")).status
        };
        assert_eq!(many(2_048), 200);
        assert_eq!(many(2_049), 400);
    }
}
