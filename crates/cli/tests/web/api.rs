//! `/api/v1` beside the commands that say the same.

use handfast_testing::bearer;
use serde_json::{Value as Json, json};

use crate::server::{ann_leads, token};

#[test]
fn names_are_created_changed_withdrawn_and_restored() {
    let folder = ann_leads();
    let ann = bearer(&token(&folder, &[]));
    let server = folder.serve(&[]);
    let place = "/api/v1/names/20.1000%2Fa";
    let body = r#"{"id":"hdl:20.1000/a","urls":["https://example.org/1"],
        "values":[{"index":9,"type":"HS_SECKEY","data":"secret"}]}"#;
    let made = server.ask("POST", "/api/v1/names", &[&ann], Some(body));
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.header("location"), Some(place));
    assert_eq!(made.header("etag"), Some("\"1\""));
    assert_eq!(made.json()["state"], "active");

    // The public sees what is public, as the command prints it.
    let seen = server.get(place);
    let told = folder.json(&["name", "show", "20.1000/a", "--as", "nobody"]);
    assert_eq!(seen.json(), told);
    assert!(!seen.body.contains("secret"));
    assert_eq!(
        server.get_with(place, &["If-None-Match: \"1\""]).status,
        304
    );
    assert_eq!(server.ask("HEAD", place, &[], None).body, "");

    let change = |version: &str| {
        let expects = format!("If-Match: {version}");
        let body = r#"{"urls":["https://example.org/2"],"remove":[9]}"#;
        server.ask("PATCH", place, &[&ann, &expects], Some(body))
    };
    assert_eq!(change("\"2\"").status, 412);
    assert_eq!(change("old").status, 400);
    assert_eq!(change("\"1\"").header("etag"), Some("\"2\""));
    assert_eq!(change("\"1\"").status, 412);

    let act = |what: &str, body: &str| {
        let path = format!("{place}/{what}");
        server.ask("POST", &path, &[&ann], Some(body))
    };
    assert_eq!(act("withdraw", r#"{"reason":""}"#).status, 422);
    let gone = r#"{"reason":"burnt","successor":"20.1000/b"}"#;
    assert_eq!(act("withdraw", gone).json()["withdrawn"]["reason"], "burnt");
    let tombstone = server.get(place);
    assert_eq!(tombstone.status, 410);
    assert_eq!(tombstone.json()["withdrawn"]["successor"], "20.1000/b");
    assert_eq!(server.get_with(place, &[&ann]).status, 200);
    let again = server.ask(
        "POST",
        "/api/v1/names",
        &[&ann],
        Some(r#"{"id":"20.1000/A"}"#),
    );
    assert_eq!(again.status, 409);
    assert_eq!(act("restore", "").json()["version"], 4);
    assert_eq!(act("restore", "").json()["code"], "state");

    let first = server.get(&format!("{place}?at=2027-01-01T00:00:00Z"));
    assert_eq!(first.json()["version"], 4);
    let history = server.get(&format!("{place}/history")).json()["events"].take();
    let actions: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["action"].clone())
        .collect();
    assert_eq!(actions, ["create", "change", "withdraw", "restore"]);
    assert_eq!(history[0]["who"], Json::Null);
    let event = history[0]["event"].as_u64().unwrap();
    let then = server.get(&format!("{place}?at={event}")).json();
    assert_eq!(then["version"], 1);
    let proof = server.get(&format!("{place}/proof"));
    folder.write("proof.json", &proof.body);
    folder.done(&["log", "verify", "--proof", "proof.json", "20.1000/a"]);
    // Nothing is erased where names stay.
    let erased = server.ask("DELETE", place, &[&ann], None);
    assert_eq!(
        (erased.status, erased.json()["code"].as_str()),
        (409, Some("permanent"))
    );
}

#[test]
fn what_is_for_everybody_needs_no_token() {
    let folder = ann_leads();
    let server = folder.serve(&["--public-url", "http://pid.example"]);
    let about = server.get("/api/v1").json();
    assert_eq!(about["resolver"]["base"], "http://pid.example");
    assert_eq!(about["resolver"]["first-segments"], json!(["", "hdl"]));
    let inspected = server.get("/api/v1/inspect?id=hdl:20.1000/a");
    assert_eq!(inspected.json(), folder.json(&["inspect", "hdl:20.1000/a"]));
    let openapi = server.get("/api/v1/openapi.json").json();
    assert_eq!(openapi["openapi"], "3.1.0");
    let checkpoint = server.get("/api/v1/log/checkpoint");
    assert_eq!(checkpoint.status, 200);
    let kind = "Content-Type: text/plain";
    let growth = server.ask(
        "POST",
        "/api/v1/log/growth",
        &[kind],
        Some(&checkpoint.body),
    );
    assert_eq!(growth.status, 200);
    let statistics = server.get("/api/v1/statistics").json();
    assert_eq!(statistics["authorities"], 2);
}
