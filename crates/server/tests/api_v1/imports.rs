//! Imports over the network and beside a server: who opens which file, and what an import waits
//! for.

use std::io::Write as _;
use std::time::Duration;

use handfast_registry::{NewToken, Role};
use handfast_server::WebSettings;
use handfast_testing::{Server, read};
use serde_json::{Value as Json, json};

use crate::{limited_token, start, start_with, token};

const ASYNC: &str = "Prefer: respond-async";

/// A token of somebody with a role on `20.1000`, or with none at all.
fn token_of(server: &Server, account: &str, role: Option<Role>) -> String {
    let roles = role.map(|role| ("20.1000", role));
    server.account(account, roles.as_slice());
    server.token(account, NewToken::default())
}

/// The codes of the lines that were refused.
fn codes(body: &str) -> Vec<String> {
    let lines = body.lines().map(|line| serde_json::from_str(line).unwrap());
    let codes = lines.filter_map(|line: Json| line["code"].as_str().map(str::to_string));
    codes.collect()
}

/// `FILE` in a batch made the server open the file: a token with the role `write` published
/// `log.key`.
#[test]
fn a_batch_that_names_a_file_of_the_server_is_refused() {
    let server = start();
    let alice = token_of(&server, "alice", Some(Role::Write));
    let key = server.folder().join("log.key");
    assert!(key.exists());
    let batch = format!(
        "CREATE 20.1000/steal\n1 LOGKEY 86400 1110 FILE {}\n",
        key.display()
    );
    let ask = |query: &str, extra: &[&str]| {
        let headers = [&[alice.as_str()], extra].concat();
        let path = format!("/api/v1/import?format=batch{query}");
        server.ask("POST", &path, &headers, Some(&batch))
    };
    for query in ["", "&dry-run=true", "&update=true", "&migrate=true"] {
        let reply = ask(query, &[]);
        assert_eq!(
            (reply.status, codes(&reply.body)),
            (200, vec!["no-files".into()]),
            "{query}"
        );
    }
    let begun = ask("&restart=true", &[ASYNC]);
    assert_eq!(begun.status, 202);
    let job = begun.header("location").unwrap().to_string();
    let ended = |_| server.get_with(&job, &[&alice]).json()["state"] == "done";
    assert!((0..100_000).any(ended));
    let outcomes = server.get_with(&format!("{job}/outcomes"), &[&alice]).body;
    assert!(outcomes.contains("no-files"), "{outcomes}");
    // Other formats have no way to name a file: what looks like one is a text.
    let line = format!(
        r#"{{"id":"20.1000/text","values":[{{"index":1,"type":"X","data":"FILE {}"}}]}}"#,
        key.display()
    );
    let reply = server.ask(
        "POST",
        "/api/v1/import?format=ndjson",
        &[&alice],
        Some(&line),
    );
    assert_eq!((reply.status, codes(&reply.body).len()), (200, 0));
    assert_eq!(server.get("/api/v1/names/20.1000%2Fsteal").status, 404);
}

/// A body that came a byte at a time kept everybody else from importing.
#[test]
fn an_import_waits_for_no_body_but_its_own() {
    let server = start();
    let ann = token(&server);
    let mut slow = server.connect();
    let blanks = " ".repeat(1 << 20);
    write!(
        slow,
        "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: localhost\r\n{ann}\r\n\
         Content-Length: 9000000\r\n\r\n{blanks}"
    )
    .unwrap();
    let mut other = server.connect();
    other
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let line = r#"{"id":"20.1000/short"}"#;
    write!(
        other,
        "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: localhost\r\n{ann}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{line}",
        line.len()
    )
    .unwrap();
    assert_eq!(read(other).status, 200);
    drop(slow);
}

/// Accounts without any role filled the disk with bodies, and left a job for each.
#[test]
fn who_can_import_nothing_stores_nothing() {
    let server = start();
    let carol = token_of(&server, "carol", None);
    let alice = token_of(&server, "alice", Some(Role::Read));
    let for_reading = limited_token(&server, "ann", None, Some(Role::Read));
    for who in [&carol, &alice, &for_reading] {
        for (query, extra) in [("", None), ("?dry-run=true", None), ("", Some(ASYNC))] {
            let headers: Vec<&str> = [who.as_str()].into_iter().chain(extra).collect();
            let path = format!("/api/v1/import{query}");
            let reply = server.ask("POST", &path, &headers, Some(&" ".repeat(100_000)));
            assert_eq!(
                (reply.status, &reply.json()["code"]),
                (403, &json!("no-role"))
            );
            let detail = reply.json()["detail"].to_string();
            let remedy = if who == &for_reading {
                "`handfast token create ann --role write`"
            } else {
                "`handfast authority grant AUTHORITY --to "
            };
            assert!(detail.contains(remedy), "{detail}");
        }
    }
    assert!(!server.folder().join("spool").exists());
    assert_eq!(
        server.get_with("/api/v1/jobs", &[&carol]).json()["jobs"],
        json!([])
    );
}

/// Imports that were waited for had no limit, and those of one account no common one.
#[test]
fn what_one_account_sends_is_bounded() {
    let server = start_with(WebSettings {
        spool_limit: Some(200_000),
        ..WebSettings::default()
    });
    let ann = token(&server);
    let half_sent = |count: usize| {
        let mut stream = server.connect();
        let blanks = " ".repeat(count);
        write!(
            stream,
            "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: localhost\r\n{ann}\r\n\
             Content-Length: 150000\r\n\r\n{blanks}"
        )
        .unwrap();
        stream
    };
    let import = |length: usize| {
        let reply = server.ask(
            "POST",
            "/api/v1/import?format=ndjson",
            &[&ann],
            Some(&" ".repeat(length)),
        );
        (reply.status, reply.json()["code"].clone())
    };
    assert_eq!(import(150_000).0, 200);
    assert_eq!(import(200_001), (413, json!("too-large")));
    let open = half_sent(120_000);
    // When the bytes of the first have come, a second does not fit beside it. Earlier, either of
    // them might be refused.
    let spool = server.folder().join("spool");
    let has_come = || {
        let files = std::fs::read_dir(&spool).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        sizes.sum::<u64>() >= 60_000
    };
    assert!((0..1_000_000).any(|_| has_come()));
    assert_eq!(import(150_000).0, 413);
    assert_eq!(import(10_000).0, 200);
    drop(open);
    assert!((0..10_000).any(|_| import(150_000).0 == 200));
}

/// A body that was no JSON left a job that was done.
#[test]
fn a_body_that_is_no_dump_is_refused_without_a_job() {
    let server = start();
    let ann = token(&server);
    let path = "/api/v1/import?format=json";
    for headers in [&[ann.as_str()][..], &[&ann, ASYNC]] {
        let reply = server.ask(
            "POST",
            path,
            headers,
            Some("id,url\n20.1000/a,https://a/\n"),
        );
        assert_eq!(
            (reply.status, &reply.json()["code"]),
            (400, &json!("input"))
        );
        let detail = reply.json()["detail"].to_string();
        assert!(detail.contains("`handleRecords`"), "{detail}");
    }
    let jobs = server.get_with("/api/v1/jobs", &[&ann]).json();
    assert_eq!(jobs["jobs"], json!([]));
    let dump = r#"{"handleRecords":{"20.1000/a":{"handle":"20.1000/a","values":[]}}}"#;
    assert_eq!(server.ask("POST", path, &[&ann], Some(dump)).status, 200);
}
