//! `/api/v1`.

use serde_json::{Value as Json, json};

use crate::server::{Folder, Server};

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

fn create(server: &Server, who: &str, id: &str, extra: &[&str]) -> u16 {
    let body = json!({"id": id, "urls": ["https://example.org/"]}).to_string();
    let headers = [&[who], extra].concat();
    server
        .ask("POST", "/api/v1/names", &headers, Some(&body))
        .status
}

#[test]
fn names_are_created_changed_withdrawn_and_restored() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let place = "/api/v1/names/20.1000%2Fa";
    let body = r#"{"id":"hdl:20.1000/a","urls":["https://example.org/1"],
        "values":[{"index":9,"type":"HS_SECKEY","data":"secret"}]}"#;
    let made = server.ask("POST", "/api/v1/names", &[&ann], Some(body));
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.header("location"), Some(place));
    assert_eq!(made.header("etag"), Some("\"1\""));
    assert_eq!(made.json()["state"], "active");

    // The public sees what is public, as the command prints it.
    let seen = server.get(place, &[]);
    let told: Json = serde_json::from_str(&folder.done(&[
        "name",
        "show",
        "20.1000/a",
        "--as",
        "nobody",
        "--json",
    ]))
    .unwrap();
    assert_eq!(seen.json(), told);
    assert!(!seen.body.contains("secret"));
    assert_eq!(server.get(place, &["If-None-Match: \"1\""]).status, 304);
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
    let tombstone = server.get(place, &[]);
    assert_eq!(tombstone.status, 410);
    assert_eq!(tombstone.json()["withdrawn"]["successor"], "20.1000/b");
    assert_eq!(server.get(place, &[&ann]).status, 200);
    assert_eq!(create(&server, &ann, "20.1000/A", &[]), 409);
    assert_eq!(act("restore", "").json()["version"], 4);
    assert_eq!(act("restore", "").json()["code"], "state");

    let first = server.get(&format!("{place}?at=2027-01-01T00:00:00Z"), &[]);
    assert_eq!(first.json()["version"], 4);
    let history = server.get(&format!("{place}/history"), &[]).json()["events"].take();
    let actions: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["action"].clone())
        .collect();
    assert_eq!(actions, ["create", "change", "withdraw", "restore"]);
    assert_eq!(history[0]["who"], Json::Null);
    let event = history[0]["event"].as_u64().unwrap();
    let then = server.get(&format!("{place}?at={event}"), &[]).json();
    assert_eq!(then["version"], 1);
    let proof = server.get(&format!("{place}/proof"), &[]);
    std::fs::write(folder.path().join("proof.json"), &proof.body).unwrap();
    folder.done(&["log", "verify", "--proof", "proof.json", "20.1000/a"]);
    // Nothing is erased where names stay.
    let erased = server.ask("DELETE", place, &[&ann], None);
    assert_eq!(
        (erased.status, erased.json()["code"].as_str()),
        (409, Some("permanent"))
    );
}

#[test]
fn a_token_gives_what_it_is_for_until_it_ends() {
    let folder = Folder::new();
    let all = bearer(&folder.token(&[]));
    let limited = bearer(&folder.token(&["--authority", "20.1000", "--role", "write"]));
    let read_only = bearer(&folder.token(&["--role", "read"]));
    let server = folder.serve();
    assert_eq!(create(&server, "X: y", "20.1000/a", &[]), 401);
    assert_eq!(
        create(&server, &bearer("handfast_wrong"), "20.1000/a", &[]),
        401
    );
    assert_eq!(
        create(&server, "Authorization: Basic YTpi", "20.1000/a", &[]),
        401
    );
    assert_eq!(create(&server, &read_only, "20.1000/a", &[]), 403);
    assert_eq!(create(&server, &limited, "20.2000/a", &[]), 403);
    assert_eq!(create(&server, &limited, "20.1000/a", &[]), 201);
    assert_eq!(create(&server, &all, "20.2000/a", &[]), 201);
    // What was done is the account's.
    let history = server
        .get("/api/v1/names/20.1000%2Fa/history", &[&all])
        .json()["events"]
        .take();
    assert_eq!(history[0]["who"], "ann");

    // Grants are for a lead, which the account is, and the token is not for.
    let grant = |who: &str| {
        let path = "/api/v1/authorities/20.1000/grants/bob";
        server.ask("PUT", path, &[who], Some(r#"{"role":"read"}"#))
    };
    assert_eq!(grant(&limited).status, 403);
    // A typing error in the name made an account with the role, which nobody could remove.
    let unknown = grant(&all);
    assert_eq!(unknown.status, 404, "{}", unknown.body);
    let detail = unknown.json()["detail"].to_string();
    assert!(detail.contains("`handfast user create bob`"), "{detail}");
    folder.done(&["user", "create", "bob"]);
    let granted = grant(&all).json();
    assert!(
        granted["grants"]
            .as_array()
            .unwrap()
            .contains(&json!({"to": "bob", "role": "read"}))
    );
    // Who has which role is not for everybody.
    let public = server.get("/api/v1/authorities/20.1000", &[]).json();
    assert_eq!(public["grants"], json!([]));

    // Someone with a whole account makes more tokens, with less than one nobody does.
    let make = |who: &str| server.ask("POST", "/api/v1/tokens", &[who], Some(r#"{"days":1}"#));
    assert_eq!(make(&limited).status, 403);
    let token = make(&all).json();
    let new = bearer(token["secret"].as_str().unwrap());
    assert_eq!(create(&server, &new, "20.1000/b", &[]), 201);
    let listed = server.get("/api/v1/tokens", &[&all]);
    assert_eq!(listed.json().as_array().unwrap().len(), 4);
    assert!(!listed.body.contains("secret"));
    let path = format!("/api/v1/tokens/{}", token["token"].as_str().unwrap());
    assert_eq!(server.ask("DELETE", &path, &[&all], None).status, 204);
    assert_eq!(create(&server, &new, "20.1000/c", &[]), 401);
    // The operator's command ends one that is in use.
    let id = listed.json()[0]["token"].as_str().unwrap().to_string();
    folder.done(&["token", "revoke", &id]);
    assert_eq!(create(&server, &all, "20.1000/d", &[]), 401);
}

#[test]
fn a_request_that_is_sent_again_is_done_once() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let key = "Idempotency-Key: one";
    assert_eq!(create(&server, &ann, "20.1000/a", &[key]), 201);
    assert_eq!(create(&server, &ann, "20.1000/a", &[key]), 201);
    assert_eq!(create(&server, &ann, "20.1000/a", &[]), 409);
    assert_eq!(create(&server, &ann, "20.1000/b", &[key]), 422);
}

#[test]
fn pages_follow_each_other() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let body = r#"{"authority":"20.1000","count":7,"style":"sequence:n",
        "urls":["https://example.org/{name}"]}"#;
    let minted = server.ask("POST", "/api/v1/mint", &[&ann], Some(body));
    assert_eq!(minted.status, 201, "{minted:?}");
    let (mut after, mut found) = (String::new(), Vec::new());
    loop {
        let path = format!("/api/v1/names?authority=20.1000&limit=3{after}");
        let page = server.get(&path, &[&ann]).json();
        found.extend(page["names"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        after = format!("&after={}", next.replace(':', "%3A").replace('/', "%2F"));
    }
    assert_eq!(found.len(), 7);
    let names = "/api/v1/names?authority=20.1000";
    assert_eq!(server.get(names, &[]).status, 401);
    assert_eq!(server.get(&format!("{names}&limit=0"), &[&ann]).status, 400);
    assert_eq!(
        server.get(&format!("{names}&nonsense=1"), &[&ann]).status,
        400
    );
    assert_eq!(
        server
            .get(&format!("{names}&limit=1&limit=1"), &[&ann])
            .status,
        400
    );
    let first = found[0]["id"].as_str().unwrap().split_once('/').unwrap().1;
    let path = format!("/api/v1/search?url=https://example.org/{first}");
    let by_url = server.get(&path, &[]).json();
    assert_eq!(by_url["names"][0]["id"], found[0]["id"]);
}

#[test]
fn many_names_come_and_go() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let lines: Vec<_> = (0..2_000)
        .map(|n| {
            json!({"id": format!("20.1000/{n}"), "urls": [format!("https://old.example/{n}")]})
                .to_string()
        })
        .collect();
    let mut lines = lines.join("\n");
    lines.push_str("\n{\"id\":\"20.9/x\"}\n");
    let kind = "Content-Type: application/x-ndjson";
    let import = |path: &str| server.ask("POST", path, &[&ann, kind], Some(&lines));
    let dry = import("/api/v1/import?dry-run=true");
    let last = |body: &str| serde_json::from_str::<Json>(body.lines().last().unwrap()).unwrap();
    assert_eq!(last(&dry.body)["created"], 2_000, "{}", dry.body);
    let done = import("/api/v1/import");
    assert_eq!(done.body.lines().count(), 2);
    assert_eq!(last(&done.body)["refused"], 1);
    let exported = server.get("/api/v1/export?authority=20.1000", &[&ann]);
    assert_eq!(exported.body.lines().count(), 2_001);
    assert_eq!(server.get("/api/v1/export", &[&ann]).status, 403);

    let job = r#"{"kind":"replace-url","authority":"20.1000",
        "from":"https://old.example/","to":"https://new.example/"}"#;
    let start = |path: &str, body: &str| server.ask("POST", path, &[&ann], Some(body)).json();
    assert_eq!(start("/api/v1/jobs?dry-run=true", job)["changed"], 2_000);
    let done = start("/api/v1/jobs", job);
    assert_eq!(done["changed"], 2_000);
    let number = &done["job"];
    let undone = start(
        "/api/v1/jobs",
        &json!({"kind": "undo", "job": number}).to_string(),
    );
    assert_eq!(undone["changed"], 2_000);
    let jobs = server.get("/api/v1/jobs", &[&ann]).json();
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 3);
    assert_eq!(server.get("/api/v1/jobs", &[]).status, 401);
    assert_eq!(server.get("/api/v1/jobs/99", &[&ann]).status, 404);
}

#[test]
fn odd_requests_are_refused_with_a_problem() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    for (method, path, body, status) in [
        ("GET", "/api/v1/nothing", None, 404),
        ("GET", "/api/v1/names/%FF", None, 400),
        ("GET", "/api/v1/names/%00", None, 400),
        ("GET", "/api/v1/names/a%2F..%2Fb", None, 404),
        ("GET", "/api/v1/inspect", None, 400),
        ("GET", "/api/v1/inspect?id=x&as=nonsense", None, 400),
        ("DELETE", "/api/v1/names", None, 405),
        ("POST", "/api/v1/names", Some("{"), 400),
        ("POST", "/api/v1/names", Some("{\"id\":7}"), 400),
        ("POST", "/api/v1/names", Some("{\"id\":\"no\"}"), 400),
        ("POST", "/api/v1/names", Some("{\"id\":\"20.9/a\"}"), 404),
        (
            "POST",
            "/api/v1/names",
            Some("{\"id\":\"20.1000/a\",\"urls\":[\"data:x\"]}"),
            422,
        ),
        ("POST", "/api/v1/names/20.1000%2Fq/undo", None, 404),
        ("POST", "/api/v1/log/growth", Some("{}"), 422),
    ] {
        let reply = server.ask(method, path, &[&ann], body);
        assert_eq!(reply.status, status, "{method} {path} {body:?}: {reply:?}");
        let kind = reply.header("content-type");
        assert_eq!(kind, Some("application/problem+json"), "{path}");
        assert!(reply.json()["code"].is_string(), "{path}");
    }
    let typed = server.ask(
        "POST",
        "/api/v1/names",
        &[&ann, "Content-Type: text/plain"],
        Some("x"),
    );
    assert_eq!(typed.status, 415);
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(3 << 20));
    let reply = server.ask("POST", "/api/v1/names", &[&ann], Some(&long));
    assert_eq!(reply.status, 413);
    let asked = server.ask("OPTIONS", "/api/v1/names", &[], None);
    assert_eq!(asked.status, 204);
    assert_eq!(asked.header("allow"), Some("GET, POST, HEAD, OPTIONS"));
}

#[test]
fn what_is_for_everybody_needs_no_token() {
    let folder = Folder::new();
    let server = folder.serve();
    let about = server.get("/api/v1", &[]).json();
    assert_eq!(about["resolver"]["base"], "http://pid.example");
    assert_eq!(about["resolver"]["first-segments"], json!(["", "hdl"]));
    let inspected = server.get("/api/v1/inspect?id=hdl:20.1000/a", &[]);
    let told = folder.done(&["inspect", "--json", "hdl:20.1000/a"]);
    assert_eq!(
        inspected.json(),
        serde_json::from_str::<Json>(&told).unwrap()
    );
    let openapi = server.get("/api/v1/openapi.json", &[]).json();
    assert_eq!(openapi["openapi"], "3.1.0");
    let checkpoint = server.get("/api/v1/log/checkpoint", &[]);
    assert_eq!(checkpoint.status, 200);
    let kind = "Content-Type: text/plain";
    let growth = server.ask(
        "POST",
        "/api/v1/log/growth",
        &[kind],
        Some(&checkpoint.body),
    );
    assert_eq!(growth.status, 200);
    let statistics = server.get("/api/v1/statistics", &[]).json();
    assert_eq!(statistics["authorities"], 2);
}

#[test]
fn names_are_found_by_words_and_by_how_they_begin() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let limited = bearer(&folder.token(&["--authority", "20.2000"]));
    for (id, description) in [
        ("20.1000/map-1", "A map of the Harz"),
        ("20.1000/map-2", "Eine Karte des HARZES"),
        ("20.2000/map-3", "harz"),
    ] {
        let value = format!("7:DESC:{description}");
        folder.done(&["name", "create", id, "--value", &value]);
    }
    folder.done(&["name", "create", "20.1000/map-4", "--reserve"]);
    folder.done(&["authority", "policy", "20.2000", "--title", "Karten"]);
    let server = folder.serve();
    let found = |who: &str, query: &str| {
        let reply = server.get(&format!("/api/v1/search?{query}"), &[who]);
        assert_eq!(reply.status, 200, "{reply:?}");
        let said = reply.json();
        let ids = said["names"].as_array().unwrap().iter();
        let ids = ids.map(|name| name["id"].as_str().unwrap().to_string());
        (ids.collect::<Vec<_>>(), said)
    };
    let (first, second, third) = ("20.1000/map-1", "20.1000/map-2", "20.2000/map-3");
    for (who, query, names) in [
        (&ann, "q=harz", vec![first, second, third]),
        (&ann, "q=HARZ+karte", vec![second]),
        (&ann, "q=map-", vec![first, second, third]),
        (&ann, "q=harz&prefix=20.1000/MAP-1", vec![first]),
        (&ann, "prefix=20.1000/", vec![first, second]),
        (&ann, "prefix=20.", vec![first, second, third]),
        (&ann, "prefix=urn:", vec![]),
        (&limited, "q=harz", vec![third]),
        (&"X: y".to_string(), "q=harz", vec![]),
    ] {
        assert_eq!(found(who, query).0, names, "{query}");
    }
    // Page by page, in the order of their keys.
    let (page, said) = found(&ann, "q=harz&limit=2");
    assert_eq!(page, [first, second]);
    let next = said["next"].as_str().unwrap();
    let (rest, said) = found(&ann, &format!("q=harz&limit=2&after={next}"));
    assert_eq!(
        (rest, &said["next"]),
        (vec![third.to_string()], &Json::Null)
    );
    // Authorities are in a public register.
    let (_, said) = found("X: y", "q=karten");
    assert_eq!(said["authorities"][0]["authority"], "20.2000");
    for bad in ["", "q=", "q=a&url=b", "prefix=", "value=x"] {
        let reply = server.get(&format!("/api/v1/search?{bad}"), &[&ann]);
        assert_eq!(reply.status, 400, "{bad}");
    }
}

#[test]
fn everybody_searches_where_that_is_configured() {
    let folder = Folder::new();
    folder.configure("[web]\npublic-search = true");
    folder.done(&[
        "name",
        "create",
        "20.1000/map",
        "--value",
        "9:HS_SECKEY:hidden",
    ]);
    let server = folder.serve();
    let count = |query: &str| {
        let said = server.get(&format!("/api/v1/search?{query}"), &[]).json();
        said["names"].as_array().unwrap().len()
    };
    assert_eq!((count("q=map"), count("q=hidden")), (1, 0));
}

#[test]
fn accounts_are_for_administrators() {
    let folder = Folder::new();
    folder.done(&["user", "create", "boss", "--administrator"]);
    let boss = bearer(folder.done(&["token", "create", "boss"]).trim());
    let part = ["token", "create", "boss", "--role", "admin"];
    let part = bearer(folder.done(&part).trim());
    let ann = bearer(&folder.token(&["--authority", "20.1000"]));
    let whole = bearer(&folder.token(&[]));
    let server = folder.serve();
    let ask = |method: &str, who: &str, path: &str, body: &str| {
        let body = Some(body).filter(|body| !body.is_empty());
        let reply = server.ask(method, &format!("/api/v1{path}"), &[who], body);
        (reply.status, reply.json())
    };
    let (status, this) = ask("GET", &ann, "/accounts/this", "");
    assert_eq!(
        (status, &this["account"], &this["administrator"]),
        (200, &json!("ann"), &json!(false))
    );
    assert!(
        this["roles"]
            .as_array()
            .unwrap()
            .contains(&json!({"authority": "20.1000", "role": "lead"}))
    );
    assert_eq!(this["token"]["authority"], "20.1000");
    let new = r#"{"account":"eve","title":"Eve"}"#;
    // Neither someone else, nor an administrator with less than all of the account.
    for who in [&ann, &whole, &part] {
        assert_eq!(ask("POST", who, "/accounts", new).0, 403);
        assert_eq!(ask("GET", who, "/accounts", "").0, 403);
        assert_eq!(ask("GET", who, "/accounts/bob", "").0, 403);
    }
    assert_eq!(ask("GET", &whole, "/accounts/ann", "").0, 200);
    assert_eq!(ask("POST", &boss, "/accounts", new).0, 201);
    assert_eq!(ask("POST", &boss, "/accounts", new).0, 409);
    assert_eq!(ask("GET", &boss, "/accounts/none", "").0, 404);
    let (_, page) = ask("GET", &boss, "/accounts?limit=1", "");
    assert_eq!(page["accounts"][0]["account"], "ann");
    let (_, page) = ask("GET", &boss, "/accounts?after=ANN", "");
    assert_eq!(page["accounts"].as_array().unwrap().len(), 2);
    // A token for someone else, which counts until the account is suspended.
    let (status, token) = ask("POST", &boss, "/tokens", r#"{"account":"eve"}"#);
    assert_eq!(status, 201);
    let eve = bearer(token["secret"].as_str().unwrap());
    assert_eq!(ask("GET", &eve, "/accounts/this", "").0, 200);
    let state = |state: &str| {
        let body = json!({ "state": state }).to_string();
        ask("PATCH", &boss, "/accounts/eve", &body)
    };
    assert_eq!(state("suspended").1["state"], "suspended");
    assert_eq!(ask("GET", &eve, "/accounts/this", "").0, 401);
    assert_eq!(
        ask("POST", &boss, "/tokens", r#"{"account":"eve"}"#).1["code"],
        "suspended"
    );
    state("active");
    assert_eq!(ask("GET", &eve, "/accounts/this", "").0, 200);
    assert_eq!(
        ask(
            "PATCH",
            &boss,
            "/accounts/boss",
            r#"{"administrator":false}"#
        )
        .1["code"],
        "own-account"
    );
    // An administrator does everything, in their own name.
    assert_eq!(create(&server, &boss, "20.1000/by-boss", &[]), 201);
    let (_, history) = ask("GET", &boss, "/names/20.1000%2Fby-boss/history", "");
    assert_eq!(history["events"][0]["who"], "boss");
    let grants = ask("GET", &ann, "/authorities/20.1000/grants", "").1;
    assert_eq!(
        grants,
        json!([{"to": "ann", "role": "lead", "authority": "20.1000"}])
    );
}

#[test]
fn authorities_are_changed_only_as_they_were_seen() {
    let folder = Folder::new();
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    let place = "/api/v1/authorities/20.1000";
    folder.done(&["user", "create", "bob"]);
    let grant = |version: &str| {
        let expects = format!("If-Match: {version}");
        let path = format!("{place}/grants/bob");
        server.ask("PUT", &path, &[&ann, &expects], Some(r#"{"role":"read"}"#))
    };
    let seen = server.get(place, &[&ann]);
    let tag = seen.header("etag").unwrap();
    assert_eq!(grant("\"99\"").status, 412);
    let granted = grant(tag);
    assert_eq!(granted.status, 200);
    assert_eq!(grant(tag).status, 412);
    for (method, path) in [("DELETE", "grants/bob"), ("POST", "retire")] {
        let path = format!("{place}/{path}");
        let expects = format!("If-Match: {tag}");
        assert_eq!(
            server.ask(method, &path, &[&ann, &expects], None).status,
            412
        );
    }
}

#[test]
fn statistics_say_how_much_there_is_of_what() {
    let folder = Folder::new();
    folder.done(&["name", "create", "20.1000/a"]);
    folder.done(&["name", "create", "20.1000/b", "--reserve"]);
    let server = folder.serve();
    let counted = |_| {
        let said = server.get("/api/v1/statistics", &[]).json();
        Some(said).filter(|said| said["counted"].is_string())
    };
    let said = (0..1_000_000).find_map(counted).unwrap();
    assert_eq!(said["names-by-state"]["reserved"], 1);
    let by_scheme = said["names-by-scheme"]["hdl"].as_u64();
    assert_eq!(by_scheme, said["names"].as_u64());
    assert_eq!(said["log"]["size"], said["events"]);
}

/// A transfer over the API made accounts of typing errors, and an account could not take back what
/// it had asked for.
#[test]
fn transfers_need_an_account_and_requests_are_taken_back() {
    let folder = Folder::new();
    folder.done(&[
        "authority",
        "grant",
        "20.1000",
        "--to",
        "ann",
        "--role",
        "admin",
    ]);
    folder.done(&["name", "create", "20.1000/x", "--url", "https://x.example/"]);
    let ann = bearer(&folder.token(&[]));
    let server = folder.serve();
    for place in ["/api/v1/names/20.1000%2Fx", "/api/v1/authorities/20.1000"] {
        let path = format!("{place}/transfer");
        let reply = server.ask("POST", &path, &[&ann], Some(r#"{"to":"bbo"}"#));
        assert_eq!(reply.status, 404, "{}", reply.body);
        assert_eq!(reply.json()["code"], "no-account");
        let body = r#"{"to":"bbo","create":true}"#;
        let reply = server.ask("POST", &path, &[&ann], Some(body));
        assert_eq!(reply.json()["code"], "operator-only", "{}", reply.body);
    }
    let request = r#"{"authority":"21.7","request":true}"#;
    let reply = server.ask("POST", "/api/v1/authorities", &[&ann], Some(request));
    assert_eq!(reply.status, 201, "{}", reply.body);
    let decline = "/api/v1/authorities/21.7/decline";
    assert_eq!(server.ask("POST", decline, &[&ann], None).status, 204);
    assert_eq!(server.get("/api/v1/authorities/21.7", &[&ann]).status, 404);
}
