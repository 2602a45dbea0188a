//! Jobs that nobody waits for.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value as Json, json};

use crate::server::{Folder, Reply, Server};

const ASYNC: &str = "Prefer: wait=1, respond-async";

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// Lines of which a debug build has its work for some seconds, not in the order of their keys.
fn many() -> String {
    let mut lines = String::new();
    for number in 0..60_000_u32 {
        let id = number.wrapping_mul(2_654_435_761);
        writeln!(
            lines,
            r#"{{"id":"20.1000/{id}","urls":["https://example.org/{id}"]}}"#
        )
        .unwrap();
    }
    lines
}

/// Asks for a job until it is in another state than `running`.
fn ended(server: &Server, who: &str, place: &str) -> Json {
    for _ in 0..1_000_000 {
        let job = server.get(place, &[who]).json();
        if job["state"] != "running" {
            return job;
        }
        assert!(job["progress"].is_object(), "{job}");
    }
    panic!("{place} does not end");
}

/// What was sent goes soon after the job has ended.
fn is_emptied(folder: &Folder) {
    let is_empty = |_| {
        let mut left = fs::read_dir(folder.data().join("spool")).unwrap();
        left.next().is_none()
    };
    assert!((0..1_000_000).any(is_empty));
}

fn place(reply: &Reply) -> String {
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(reply.header("preference-applied"), Some("respond-async"));
    reply.header("location").unwrap().to_string()
}

#[test]
fn an_import_goes_on_without_the_client() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let body = "{\"id\":\"20.1000/a\"}\n{\"id\":\"20.3/x\"}\n{\"id\":\"20.1000/b\"}\nno\n";
    let import = |extra: &[&str], body: &str| {
        let headers = [&[ann.as_str(), ASYNC], extra].concat();
        server.ask("POST", "/api/v1/import?source=names", &headers, Some(body))
    };
    let begun = import(&["Idempotency-Key: 1"], body);
    let job = place(&begun);
    let done = ended(&server, &ann, &job);
    assert_eq!(
        (
            &done["state"],
            &done["created"],
            &done["refused"],
            &done["what"]
        ),
        (&json!("done"), &json!(2), &json!(2), &json!("names"))
    );
    // The same again is the same job; something else with its key is none.
    assert_eq!(place(&import(&["Idempotency-Key: 1"], body)), job);
    assert_eq!(import(&["Idempotency-Key: 1"], "{}").status, 422);
    let outcomes = |query: &str| {
        server
            .get(&format!("{job}/outcomes{query}"), &[&ann])
            .json()
    };
    let first = outcomes("?limit=1");
    assert_eq!(first["outcomes"][0]["line"], 2);
    assert_eq!(first["outcomes"][0]["code"], "no-authority");
    let next = first["next"].as_str().unwrap();
    let second = outcomes(&format!("?after={next}"));
    assert_eq!(
        (second["outcomes"][0]["line"].as_u64(), &second["next"]),
        (Some(4), &Json::Null)
    );
    // What was sent is gone.
    is_emptied(&folder);
    // Others do not see it, and a dry run is waited for.
    folder.done(&["user", "create", "eve"]);
    let eve = bearer(folder.done(&["token", "create", "eve"]).trim());
    assert_eq!(server.get(&job, &[&eve]).status, 404);
    let dry = server.ask(
        "POST",
        "/api/v1/import?dry-run=true",
        &[&ann, ASYNC],
        Some(body),
    );
    assert_eq!(dry.status, 200);
}

#[test]
fn a_stored_body_has_a_size_limit() {
    let folder = Folder::new();
    folder.configure("[web]\nspool-limit = 100");
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let import = |headers: &[&str]| {
        let body = "{\"id\":\"20.1000/a\"}\n".repeat(10);
        server.ask("POST", "/api/v1/import", headers, Some(&body))
    };
    for headers in [&[&*ann, ASYNC][..], &[&ann]] {
        let refused = import(headers);
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (413, &json!("too-large"))
        );
        is_emptied(&folder);
    }
}

#[test]
fn a_bulk_change_is_begun_undone_and_neither_twice() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    for name in ["a", "b"] {
        let body = json!({"id": format!("20.1000/{name}"), "urls": ["https://old.example/"]});
        server.ask("POST", "/api/v1/names", &[&ann], Some(&body.to_string()));
    }
    let post = |path: &str, extra: &[&str], body: Option<&Json>| {
        let headers = [&[ann.as_str()], extra].concat();
        let body = body.map(ToString::to_string);
        server.ask("POST", path, &headers, body.as_deref())
    };
    let (from, to) = ("https://old.", "https://new.");
    let kind = json!({"kind": "replace-url", "authority": "20.1000", "from": from, "to": to});
    let job = place(&post("/api/v1/jobs", &[ASYNC], Some(&kind)));
    assert_eq!(ended(&server, &ann, &job)["changed"], 2);
    let act = |what: &str, extra: &[&str]| post(&format!("{job}/{what}"), extra, None);
    assert_eq!(act("undo?dry-run=true", &[ASYNC]).json()["changed"], 2);
    let undone = place(&act("undo", &[ASYNC]));
    assert_eq!(ended(&server, &ann, &undone)["changed"], 2);
    assert_eq!(act("undo", &[]).json()["code"], "undone");
    for what in ["cancel", "resume"] {
        let refused = act(what, &[]);
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (409, &json!("done"))
        );
    }
    let shown = server.get("/api/v1/names/20.1000%2Fa", &[]).json();
    assert_eq!(shown["values"][0]["data"]["value"], "https://old.example/");
    for path in ["/api/v1/jobs/99", "/api/v1/jobs/99/outcomes"] {
        assert_eq!(server.get(path, &[&ann]).status, 404);
    }
}

#[test]
fn a_job_is_cancelled_and_what_it_did_stays() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let begun = server.ask("POST", "/api/v1/import", &[&ann, ASYNC], Some(&many()));
    let job = place(&begun);
    let file = fs::read_dir(folder.data().join("spool")).unwrap().flatten();
    for file in file {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // The same is not taken twice at a time.
    // What is the same is known by the first MiB, behind which nothing is read.
    let beginning = &many()[..1 << 20];
    let again = server.ask("POST", "/api/v1/import", &[&ann], Some(beginning));
    assert_eq!(again.json()["code"], "under-way");
    let cancelled = server.ask("POST", &format!("{job}/cancel"), &[&ann], None);
    assert_eq!(cancelled.status, 200);
    let done = ended(&server, &ann, &job);
    assert_eq!(done["state"], "cancelled");
    assert!(done["ended"].is_string());
    assert!(done["created"].as_u64().unwrap() < 60_000);
    drop(server);
    folder.done(&["check"]);
}

#[test]
fn an_import_is_gone_on_with_after_a_kill_and_after_a_restart() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let mut server = folder.serve();
    let begun = server.ask("POST", "/api/v1/import", &[&ann, ASYNC], Some(&many()));
    let job = place(&begun);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let mut server = folder.serve();
    assert_eq!(server.get(&job, &[&ann]).json()["state"], "cut-short");
    let resume = format!("{job}/resume");
    assert_eq!(place(&server.ask("POST", &resume, &[&ann], None)), job);
    server.terminate();
    assert!(server.child.wait().unwrap().success());
    let server = folder.serve();
    assert_eq!(server.get(&job, &[&ann]).json()["state"], "cut-short");
    place(&server.ask("POST", &resume, &[&ann], None));
    let done = ended(&server, &ann, &job);
    assert_eq!(
        (&done["state"], &done["created"]),
        (&json!("done"), &json!(60_000))
    );
    is_emptied(&folder);
    drop(server);
    folder.done(&["check"]);
}
