//! Jobs that nobody waits for.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use handfast_registry::NewToken;
use handfast_server::WebSettings;
use handfast_testing::{Server, many_names};
use serde_json::{Value as Json, json};

use crate::{start, start_with, token};

const ASYNC: &str = "Prefer: wait=1, respond-async";

/// What was sent goes soon after the job has ended.
fn is_emptied(server: &Server) {
    let is_empty = |_| {
        let mut left = fs::read_dir(server.folder().join("spool")).unwrap();
        left.next().is_none()
    };
    assert!((0..1_000_000).any(is_empty));
}

#[test]
fn an_import_goes_on_without_the_client() {
    let server = start();
    let ann = token(&server);
    let body = "{\"id\":\"20.1000/a\"}\n{\"id\":\"20.3/x\"}\n{\"id\":\"20.1000/b\"}\nno\n";
    let import = |extra: &[&str], body: &str| {
        let headers = [&[ann.as_str(), ASYNC], extra].concat();
        server.ask("POST", "/api/v1/import?source=names", &headers, Some(body))
    };
    let begun = import(&["Idempotency-Key: 1"], body);
    let job = begun.accepted();
    let done = server.ended(&job, &ann);
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
    assert_eq!(import(&["Idempotency-Key: 1"], body).accepted(), job);
    assert_eq!(import(&["Idempotency-Key: 1"], "{}").status, 422);
    let outcomes = |query: &str| {
        server
            .get_with(&format!("{job}/outcomes{query}"), &[&ann])
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
    is_emptied(&server);
    // Others do not see it, and a dry run is waited for.
    server.account("eve", &[]);
    let eve = server.token("eve", NewToken::default());
    assert_eq!(server.get_with(&job, &[&eve]).status, 404);
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
    let server = start_with(WebSettings {
        spool_limit: Some(100),
        ..WebSettings::default()
    });
    let ann = token(&server);
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
        is_emptied(&server);
    }
}

#[test]
fn a_bulk_change_is_begun_undone_and_neither_twice() {
    let server = start();
    let ann = token(&server);
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
    let job = post("/api/v1/jobs", &[ASYNC], Some(&kind)).accepted();
    assert_eq!(server.ended(&job, &ann)["changed"], 2);
    let act = |what: &str, extra: &[&str]| post(&format!("{job}/{what}"), extra, None);
    assert_eq!(act("undo?dry-run=true", &[ASYNC]).json()["changed"], 2);
    let undone = act("undo", &[ASYNC]).accepted();
    assert_eq!(server.ended(&undone, &ann)["changed"], 2);
    assert_eq!(act("undo", &[]).json()["code"], "undone");
    for what in ["cancel", "resume"] {
        let refused = act(what, &[]);
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (409, &json!("done"))
        );
    }
    let shown = server.get("/api/v1/names/20.1000%2Fa").json();
    assert_eq!(shown["values"][0]["data"]["value"], "https://old.example/");
    for path in ["/api/v1/jobs/99", "/api/v1/jobs/99/outcomes"] {
        assert_eq!(server.get_with(path, &[&ann]).status, 404);
    }
}

#[test]
fn a_job_is_cancelled_and_what_it_did_stays() {
    let server = start();
    let ann = token(&server);
    let begun = server.ask(
        "POST",
        "/api/v1/import",
        &[&ann, ASYNC],
        Some(&many_names()),
    );
    let job = begun.accepted();
    let file = fs::read_dir(server.folder().join("spool"))
        .unwrap()
        .flatten();
    for file in file {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // The same is not taken twice at a time.
    // What is the same is known by the first MiB, behind which nothing is read.
    let beginning = &many_names()[..1 << 20];
    let again = server.ask("POST", "/api/v1/import", &[&ann], Some(beginning));
    assert_eq!(again.json()["code"], "under-way");
    let cancelled = server.ask("POST", &format!("{job}/cancel"), &[&ann], None);
    assert_eq!(cancelled.status, 200);
    let done = server.ended(&job, &ann);
    assert_eq!(done["state"], "cancelled");
    assert!(done["ended"].is_string());
    assert!(done["created"].as_u64().unwrap() < 60_000);
    assert!(server.registry.check().unwrap().problems.is_empty());
}
