//! What operators look at.

use std::fs;
use std::io::Write;
use std::process::Command;
use std::time::Duration;

use handfast_testing::read;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value as Json;

use crate::server::{PROGRAM, ann_leads, token};

#[test]
fn a_server_says_that_it_lives_and_what_it_does() {
    let folder = ann_leads();
    let server = folder.serve(&[]);
    for (path, text) in [("/healthz", "alive\n"), ("/readyz", "ready\n")] {
        let reply = server.get(path);
        assert_eq!((reply.status, reply.body.as_str()), (200, text));
    }
    for path in ["//healthz", "//metrics"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.ask("POST", "/healthz", &[], Some("")).status, 405);
    assert_eq!(server.get("/api/v1/names/20.1000%2Fno").status, 404);
    let metrics = server.get("/metrics");
    assert_eq!(
        metrics.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    for line in [
        "handfast_web_requests_total{part=\"operations\",status=\"2xx\"} 2",
        "handfast_web_requests_total{part=\"v1\",status=\"4xx\"} 1",
        "handfast_names 2",
        "handfast_web_connections_open ",
        "process_start_time_seconds ",
    ] {
        let is_there = metrics.body.lines().any(|found| found.starts_with(line));
        assert!(is_there, "{line} in {}", metrics.body);
    }
}

#[test]
fn requests_are_logged_with_their_ids() {
    let folder = ann_leads();
    for (form, file) in [("common", "common.log"), ("json", "json.log")] {
        folder.configure(&format!(
            "[web]\naccess-log = \"{form}\"\naccess-log-file = \"{file}\""
        ));
        let server = folder.serve(&[]);
        let named = server.get_with("/healthz?x=%22", &["X-Request-Id: of-a-proxy.1"]);
        assert_eq!(named.header("x-request-id"), Some("of-a-proxy.1"));
        // One that could stand for something else in a log is not taken.
        let odd = server.get_with("/healthz", &["X-Request-Id: a b"]);
        let made = odd.header("x-request-id").unwrap();
        assert!(!made.contains(' '));
        let path = folder.data().join(file);
        let mut log = String::new();
        for _ in 0..100 {
            log = fs::read_to_string(&path).unwrap();
            if log.lines().count() == 2 {
                break;
            }
            wait();
        }
        let lines: Vec<_> = log.lines().collect();
        if form == "json" {
            let line: Json = serde_json::from_str(lines[0]).unwrap();
            assert_eq!(line["request"], "of-a-proxy.1");
            assert_eq!(line["status"], 200);
            assert_eq!(line["target"], "/healthz?x=%22");
        } else {
            assert!(lines[0].starts_with("127.0.0.1 - - ["), "{log}");
            let rest = "\"GET /healthz?x=%22 HTTP/1.1\" 200 6 \"-\" \"-\" of-a-proxy.1";
            assert!(lines[0].ends_with(rest), "{log}");
        }
        assert!(lines[1].contains(made), "{log}");
    }
}

#[test]
fn what_was_asked_is_answered_before_the_end() {
    let folder = ann_leads();
    let token = token(&folder, &[]);
    let mut server = folder.serve(&[]);
    let line = r#"{"id":"20.1000/late","urls":["https://example.org/"]}"#;
    let mut stream = server.connect();
    write!(
        stream,
        "POST /api/v1/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\n\r\n{}",
        line.len(),
        &line[..10]
    )
    .unwrap();
    wait();
    wait();
    let process = server.child.id().to_string();
    let told = Command::new("kill").arg(process).status().unwrap();
    assert!(told.success());
    wait();
    wait();
    // Nobody else is let in.
    assert!(std::net::TcpStream::connect(server.web).is_err());
    stream.write_all(&line.as_bytes()[10..]).unwrap();
    let reply = read(stream);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["created"], 1);
    assert!(server.child.wait().unwrap().success());
    assert!(!folder.data().join("handfast.sock").exists());
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server does not say when it has got there"
)]
pub(crate) fn wait() {
    std::thread::sleep(Duration::from_millis(50));
}

/// Guards against a server that says it is ready while nothing can be written, and against one that
/// never is again.
#[test]
fn a_server_that_cannot_write_is_not_ready_until_it_can() {
    let folder = ann_leads();
    let token = token(&folder, &[]);
    // A file that may not grow is like a full disk, and unlike one it needs no file system of its
    // own. The signal that the system sends with it is not ours to handle.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
    command.arg(PROGRAM);
    // The limit holds for the log as well, if that is a file.
    command.stderr(std::process::Stdio::null());
    let server = folder.serve_by(command, &[]);
    assert_eq!(server.get("/readyz").status, 200);
    let create = |name: &str| {
        let body = format!("{{\"id\": \"20.1000/{name}\", \"urls\": [\"https://example.org/\"]}}");
        let authorization = format!("Authorization: Bearer {token}");
        let headers = [&*authorization, "Content-Type: application/json"];
        server
            .ask("POST", "/api/v1/names", &headers, Some(&body))
            .status
    };
    assert_eq!(create("before"), 201);
    let limit = |bytes: Option<u64>| {
        let pid = Pid::from_child(&server.child);
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        prlimit(Some(pid), Resource::Fsize, limit).unwrap();
    };
    limit(Some(8_192));
    assert!(create("refused") >= 500);
    // An answer from before is given again for a second.
    let becomes = |status: u16| {
        for _ in 0..400 {
            let reply = server.get("/readyz");
            if reply.status == status {
                return reply.body;
            }
            wait();
        }
        panic!("/readyz never is {status}");
    };
    let problem = becomes(503);
    let start = "the store cannot be written: ";
    assert!(problem.starts_with(start), "{problem}");
    let metrics = server.get("/metrics").body;
    assert!(
        metrics.contains("\nhandfast_store_writable 0\n"),
        "{metrics}"
    );
    limit(None);
    assert_eq!(becomes(200), "ready\n");
    let metrics = server.get("/metrics").body;
    assert!(
        metrics.contains("\nhandfast_store_writable 1\n"),
        "{metrics}"
    );
    for name in [
        "handfast_disk_free_bytes ",
        "handfast_blocking_queue_length ",
        "handfast_requests_refused_for_load_total{interface=\"web\"} ",
        "handfast_requests_refused_for_load_total{interface=\"native\"} ",
    ] {
        assert!(
            metrics.contains(&format!("\n{name}")),
            "{name} in {metrics}"
        );
    }
    assert_eq!(create("after"), 201);
}

/// `X-7`: white space around a name was trimmed in a path, and nowhere else on the network.
#[test]
fn x_7_white_space_in_a_path_is_part_of_the_name_on_every_interface() {
    let folder = ann_leads();
    let lines = r#"{"id":"20.1000/ws","urls":["https://example.org/1"]}
{"id":"20.1000/end ","urls":["https://example.org/2"]}
"#;
    folder.write("names.ndjson", lines);
    folder.done(&["import", "names.ndjson", "--migrate"]);
    let server = folder.serve(&[]);
    let location = |path: &str| {
        let reply = server.get(path);
        reply.header("location").map(str::to_string)
    };
    let found = Some("https://example.org/1".to_string());
    assert_eq!(location("/20.1000/ws"), found);
    assert_eq!(location("/hdl:20.1000/ws"), found);
    assert_eq!(location("/uri-res/N2L?hdl:20.1000/ws"), found);
    let found = Some("https://example.org/2".to_string());
    assert_eq!(location("/20.1000/end%20"), found);
    assert_eq!(location("/hdl:20.1000/end%20"), found);
    assert_eq!(location("/uri-res/N2L?hdl:20.1000/end%20"), found);
    for name in [
        "%2020.1000/ws",
        "20.1000/ws%20",
        "%C2%A020.1000/ws",
        "%3C20.1000/ws%3E",
        "hdl:%2020.1000/ws",
        "hdl:20.1000/ws%20",
        "20.1000/end",
        "%2020.1000/end%20",
    ] {
        for path in ["/", "/uri-res/N2L?", "/api/handles/"] {
            let reply = server.get(&format!("{path}{name}"));
            assert!(
                (400..=404).contains(&reply.status),
                "{path}{name}: {reply:?}"
            );
        }
    }
}
