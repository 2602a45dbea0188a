//! Jobs that a server is ended in.

use handfast_testing::{bearer, many_names};
use serde_json::json;

use crate::server::{ann_leads, token};

const ASYNC: &str = "Prefer: wait=1, respond-async";

#[test]
fn an_import_is_resumed_after_a_kill_and_after_a_restart() {
    let folder = ann_leads();
    let ann = bearer(&token(&folder, &[]));
    let mut server = folder.serve(&[]);
    let begun = server.ask(
        "POST",
        "/api/v1/import",
        &[&ann, ASYNC],
        Some(&many_names()),
    );
    let job = begun.accepted();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let mut server = folder.serve(&[]);
    assert_eq!(server.get_with(&job, &[&ann]).json()["state"], "cut-short");
    let resume = format!("{job}/resume");
    assert_eq!(server.ask("POST", &resume, &[&ann], None).accepted(), job);
    server.terminate();
    assert!(server.child.wait().unwrap().success());
    let server = folder.serve(&[]);
    assert_eq!(server.get_with(&job, &[&ann]).json()["state"], "cut-short");
    server.ask("POST", &resume, &[&ann], None).accepted();
    let done = server.ended(&job, &ann);
    assert_eq!(
        (&done["state"], &done["created"]),
        (&json!("done"), &json!(60_000))
    );
    // What was sent goes soon after the job has ended.
    let spool = folder.data().join("spool");
    let is_empty = |_| std::fs::read_dir(&spool).unwrap().next().is_none();
    assert!((0..1_000_000).any(is_empty));
    drop(server);
    folder.done(&["check"]);
}
