//! Accounts, their tokens, and authorities.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{AccountChange, NewToken, Principal, Role, rfc3339};
use handfast_server::WebSettings;
use handfast_testing::{OPERATOR, Server, bearer, clock};
use serde_json::{Value as Json, json};

use crate::{create, limited_token, start, token};

#[test]
fn a_token_gives_what_it_is_for_until_it_ends() {
    let server = start();
    let all = token(&server);
    let limited = limited_token(&server, "ann", Some("20.1000"), Some(Role::Write));
    let read_only = limited_token(&server, "ann", None, Some(Role::Read));
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
        .get_with("/api/v1/names/20.1000%2Fa/history", &[&all])
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
    server.account("bob", &[]);
    let granted = grant(&all).json();
    assert!(
        granted["grants"]
            .as_array()
            .unwrap()
            .contains(&json!({"to": "bob", "role": "read"}))
    );
    // Who has which role is not for everybody.
    let public = server.get("/api/v1/authorities/20.1000").json();
    assert_eq!(public["grants"], json!([]));

    // Someone with a whole account makes more tokens, with less than one nobody does.
    let make = |who: &str| server.ask("POST", "/api/v1/tokens", &[who], Some(r#"{"days":1}"#));
    assert_eq!(make(&limited).status, 403);
    let token = make(&all).json();
    let new = bearer(token["secret"].as_str().unwrap());
    assert_eq!(create(&server, &new, "20.1000/b", &[]), 201);
    let listed = server.get_with("/api/v1/tokens", &[&all]);
    assert_eq!(listed.json().as_array().unwrap().len(), 4);
    assert!(!listed.body.contains("secret"));
    let path = format!("/api/v1/tokens/{}", token["token"].as_str().unwrap());
    assert_eq!(server.ask("DELETE", &path, &[&all], None).status, 204);
    assert_eq!(create(&server, &new, "20.1000/c", &[]), 401);
    // The operator ends one that is in use.
    // Tokens of the same millisecond are listed in any order.
    let listed = listed.json();
    let is_all = |one: &&Json| one["role"].is_null() && one["token"] != token["token"];
    let id = listed.as_array().unwrap().iter().find(is_all).unwrap();
    let id = id["token"].as_str().unwrap();
    server.registry.revoke_token(&OPERATOR, id).unwrap();
    assert_eq!(create(&server, &all, "20.1000/d", &[]), 401);
}

#[test]
fn accounts_are_for_administrators() {
    let server = start();
    server.administrator("boss");
    let boss = server.token("boss", NewToken::default());
    let part = limited_token(&server, "boss", None, Some(Role::Admin));
    let ann = limited_token(&server, "ann", Some("20.1000"), None);
    let whole = token(&server);
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
    let server = start();
    let ann = token(&server);
    let place = "/api/v1/authorities/20.1000";
    server.account("bob", &[]);
    let grant = |version: &str| {
        let expects = format!("If-Match: {version}");
        let path = format!("{place}/grants/bob");
        server.ask("PUT", &path, &[&ann, &expects], Some(r#"{"role":"read"}"#))
    };
    let seen = server.get_with(place, &[&ann]);
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

/// A transfer over the API made accounts of typing errors, and an account could not take back what
/// it had asked for.
#[test]
fn transfers_need_an_account_and_requests_are_taken_back() {
    let server = start();
    let ann = Principal::account("ann").unwrap();
    let granted = server
        .registry
        .grant(&OPERATOR, "20.1000", &ann, Role::Admin);
    granted.unwrap();
    server.name("20.1000/x", &[(1, "URL", b"https://x.example/")]);
    let ann = token(&server);
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
    assert_eq!(
        server.get_with("/api/v1/authorities/21.7", &[&ann]).status,
        404
    );
}

#[test]
fn tokens_and_accounts_say_when_they_were_last_used() {
    let clock = Arc::new(AtomicU64::new(clock::NOW));
    let server = Server::start_by(&clock, WebSettings::default());
    server.account("ann", &[]);
    server.account("idle", &[]);
    let boss = server.token("ann", NewToken::default());
    server.token("idle", NewToken::default());
    let change = AccountChange {
        administrator: Some(true),
        ..AccountChange::default()
    };
    let changed = server.registry.change_account(&OPERATOR, "ann", &change);
    changed.unwrap();
    let last = |path: &str, list: &str| {
        let told = server.get_with(path, &[&boss]).json();
        let told = if list.is_empty() { &told } else { &told[list] };
        let told = told.as_array().unwrap().iter();
        let told = told.map(|item| {
            let time = item.get("last-used").or(item.get("last-seen"));
            (item["account"].clone(), time.unwrap().clone())
        });
        told.collect::<Vec<_>>()
    };
    let mut tokens = last("/api/v1/tokens", "");
    tokens.sort_by_key(|(account, _)| account.to_string());
    let day = rfc3339(clock::NOW)[..10].to_string();
    let expected = [(json!("ann"), json!(day)), (json!("idle"), Json::Null)];
    assert_eq!(tokens, expected);
    let now = rfc3339(clock::NOW / 1_000 * 1_000);
    let expected = [(json!("ann"), json!(now)), (json!("idle"), Json::Null)];
    assert_eq!(last("/api/v1/accounts", "accounts"), expected);
    clock.fetch_add(86_400_000, Ordering::Relaxed);
    let next = rfc3339(clock::NOW + 86_400_000)[..10].to_string();
    assert_eq!(
        server.get_with("/api/v1/accounts/this", &[&boss]).json()["token"]["last-used"],
        next
    );
    let shown = server.get_with("/api/v1/accounts/ann", &[&boss]).json();
    assert!(shown["last-seen"].as_str().unwrap().starts_with(&next));
    let holdings = server
        .get_with("/api/v1/accounts/ann/holdings", &[&boss])
        .json();
    assert_eq!(holdings["tokens"][0]["last-used"], next);
    assert_eq!(holdings["account"]["last-seen"], shown["last-seen"]);
}
