//! Imports over the network and beside a server: who opens which file, and what an import waits
//! for.

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::server::{Folder, Server, read};

const ASYNC: &str = "Prefer: respond-async";

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// A token of somebody with a role on `20.1000`, or with none at all.
fn token_of(folder: &Folder, account: &str, role: Option<&str>) -> String {
    folder.done(&["user", "create", account]);
    if let Some(role) = role {
        let grant = [
            "authority",
            "grant",
            "20.1000",
            "--to",
            account,
            "--role",
            role,
        ];
        folder.done(&grant);
    }
    let token = folder.done(&["token", "create", account]);
    bearer(token.trim())
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
    let folder = Folder::new();
    let alice = token_of(&folder, "alice", Some("write"));
    let server = folder.serve();
    let key = folder.data().join("log.key");
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
    let ended = |_| server.get(&job, &[&alice]).json()["state"] == "done";
    assert!((0..100_000).any(ended));
    let outcomes = server.get(&format!("{job}/outcomes"), &[&alice]).body;
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
    assert_eq!(server.get("/api/v1/names/20.1000%2Fsteal", &[]).status, 404);
}

fn run_there(folder: &Folder, server: Option<&Server>, arguments: &[&str], input: &str) -> Output {
    let url = server.map(|server| format!("http://{}", server.web));
    let server_options = url
        .iter()
        .flat_map(|url| ["--api", url, "--token-file", "token"]);
    let arguments: Vec<_> = server_options.chain(arguments.iter().copied()).collect();
    let mut command = folder.command(&arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

/// Through the socket, `FILE` was relative to the folder of the server, and opened by it.
#[test]
fn files_in_a_batch_are_read_by_the_user_of_the_command() {
    for way in ["alone", "beside", "url"] {
        let folder = Folder::new();
        fs::write(folder.path().join("token"), folder.token(&[])).unwrap();
        fs::write(folder.path().join("photo.bin"), [0, 0xFF, b'\n']).unwrap();
        // The server has the root folder as its working folder.
        let server = (way != "alone").then(|| folder.serve());
        let there = server.as_ref().filter(|_| way == "url");
        let batch = |name: &str| format!("CREATE 20.1000/{name}\n3 PHOTO 60 1110 FILE photo.bin\n");
        fs::write(folder.path().join("names.batch"), batch("a")).unwrap();
        let from_file = run_there(
            &folder,
            there,
            &["import", "names.batch", "--format", "batch"],
            "",
        );
        let from_input = run_there(&folder, there, &["import", "-"], &batch("b"));
        for output in [from_file, from_input] {
            let said = String::from_utf8_lossy(&output.stdout);
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("created 1, changed 0"), "{way}: {said}{told}");
        }
        for name in ["a", "b"] {
            let shown = folder.done(&["name", "show", &format!("20.1000/{name}"), "--json"]);
            let shown: Json = serde_json::from_str(&shown).unwrap();
            assert_eq!(
                shown["values"][0]["data"],
                json!({"format": "base64", "value": "AP8K"}),
                "{way}"
            );
        }
        // A file that is not there is named before anything is done.
        let bad = batch("c") + "\nCREATE 20.1000/d\n1 X 60 1110 FILE none.bin\n";
        let output = run_there(&folder, there, &["import", "-"], &bad);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{way}: {told}");
        assert!(
            told.contains("line 5: cannot read none.bin"),
            "{way}: {told}"
        );
        assert!(!folder.run(&["name", "show", "20.1000/c"]).status.success());
    }
}

/// Standard input that is no batch, and is not told by its name, goes on behind what was looked at.
#[test]
fn lines_from_standard_input_come_whole() {
    let folder = Folder::new();
    let server = folder.serve();
    let line = |n: u32| format!("{{\"id\":\"20.1000/n{n:05}\"}}\n{}\n", " ".repeat(20));
    let lines = (0..40_000).map(line).collect::<Vec<_>>().concat();
    assert!(lines.len() > 1 << 20);
    let output = run_there(&folder, None, &["import", "-"], &lines);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("created 40000,"), "{said}");
    drop(server);
}

/// A body that came a byte at a time kept everybody else from importing.
#[test]
fn an_import_waits_for_no_body_but_its_own() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let mut slow = server.connect();
    let blanks = " ".repeat(1 << 20);
    write!(
        slow,
        "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: pid.example\r\n{ann}\r\n\
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
        "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: pid.example\r\n{ann}\r\n\
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
    let folder = Folder::new();
    let carol = token_of(&folder, "carol", None);
    let alice = token_of(&folder, "alice", Some("read"));
    let for_reading = bearer(&folder.token(&["--role", "read"]));
    let server = folder.serve();
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
    assert!(!folder.data().join("spool").exists());
    assert_eq!(
        server.get("/api/v1/jobs", &[&carol]).json()["jobs"],
        json!([])
    );
}

/// Imports that were waited for had no limit, and those of one account no common one.
#[test]
fn what_one_account_sends_is_bounded() {
    let folder = Folder::new();
    folder.configure("[web]\nspool-limit = 200000");
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let half_sent = |count: usize| {
        let mut stream = server.connect();
        let blanks = " ".repeat(count);
        write!(
            stream,
            "POST /api/v1/import?format=ndjson HTTP/1.1\r\nHost: pid.example\r\n{ann}\r\n\
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
    let spool = folder.data().join("spool");
    let has_come = || {
        let files = std::fs::read_dir(&spool).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        sizes.sum::<u64>() >= 60_000
    };
    for _ in 0..1_000 {
        if has_come() {
            break;
        }
        crate::operations::wait();
    }
    assert_eq!(import(150_000).0, 413);
    assert_eq!(import(10_000).0, 200);
    drop(open);
    assert!((0..10_000).any(|_| import(150_000).0 == 200));
}

/// A body that was no JSON left a job that was done.
#[test]
fn a_body_that_is_no_dump_is_refused_without_a_job() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
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
    let jobs = server.get("/api/v1/jobs", &[&ann]).json();
    assert_eq!(jobs["jobs"], json!([]));
    let dump = r#"{"handleRecords":{"20.1000/a":{"handle":"20.1000/a","values":[]}}}"#;
    assert_eq!(server.ask("POST", path, &[&ann], Some(dump)).status, 200);
}
