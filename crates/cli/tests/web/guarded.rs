//! What strangers, and tokens for less, do not get.

use std::io::Write as _;
use std::time::Duration;

use crate::server::{Folder, Server, read};

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[test]
fn those_who_do_not_send_what_they_announce_keep_nobody_waiting() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let slow: Vec<_> = (0..80)
        .map(|_| {
            let mut stream = server.connect();
            let head = "POST /api/v1/log/growth HTTP/1.1\r\nHost: pid.example\r\n\
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
        "POST /api/v1/names HTTP/1.1\r\nHost: pid.example\r\n{ann}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    assert_eq!(read(stream).status, 201);
    drop(slow);
    // What strangers may say is short.
    let long = format!("{{\"checkpoint\":\"{}\"}}", "x".repeat(20_000));
    let refused = server.ask("POST", "/api/v1/log/growth", &[], Some(&long));
    assert_eq!(refused.status, 413);
}

#[test]
fn imports_that_do_not_come_take_only_so_many_places() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let import = |server: &Server| {
        let mut stream = server.connect();
        let head = format!(
            "POST /api/v1/import HTTP/1.1\r\nHost: pid.example\r\n{ann}\r\nConnection: close\r\n\
             Content-Type: application/x-ndjson\r\nContent-Length: 100\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut open: Vec<_> = (0..60).map(|_| import(&server)).collect();
    // The last one to come is refused, so that all the others have been looked at or were refused too.
    let last = read(open.pop().unwrap());
    assert_eq!((last.status, &last.json()["code"]), (503, &"busy".into()));
    assert_eq!(server.get("/api/v1/statistics", &[]).status, 200);
}

#[test]
fn a_token_for_less_is_not_told_what_another_was() {
    let folder = Folder::new();
    let all = bearer(&folder.token(&[]));
    let limited = bearer(&folder.token(&["--authority", "20.1000", "--role", "read"]));
    let server = folder.serve();
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
            .get("/api/v1/tokens", &[who])
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((tokens(&all), tokens(&limited)), (2, 1));
}

#[test]
fn the_log_is_where_auditors_look_for_it() {
    let folder = Folder::new();
    let server = folder.serve();
    for path in ["checkpoint", "key", "tile/0/000.p/2"] {
        let (head, own) = server.get_bytes(&format!("/log/{path}"));
        let (_, beside) = server.get_bytes(&format!("/api/v1/log/{path}"));
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        assert_eq!(own, beside, "{path}");
    }
    assert_eq!(server.get("/log/nothing", &[]).status, 404);
}
