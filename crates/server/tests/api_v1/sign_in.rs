//! How people sign in: links, passwords, invitations and the audit.

use handfast_registry::{AccountChange, Principal, Role, SignInClient};
use handfast_testing::{OPERATOR, Response, Server};
use serde_json::{Value as Json, json};

use crate::{limited_token, start, token};

const PASSWORD: &str = "a blue horse swims at dawn";

/// The header of a token of an administrator's.
fn administrator(server: &Server) -> String {
    server.account("root", &[]);
    let change = AccountChange {
        administrator: Some(true),
        ..AccountChange::default()
    };
    let registry = &server.registry;
    registry.change_account(&OPERATOR, "root", &change).unwrap();
    server.token("root", handfast_registry::NewToken::default())
}

fn link(server: &Server, who: &str, account: &str) -> Response {
    let path = format!("/api/v1/accounts/{account}/sign-in-link");
    server.ask("POST", &path, &[who], None)
}

fn set_password(server: &Server, who: &str, account: &str, password: &str) -> Response {
    let path = format!("/api/v1/accounts/{account}/password");
    let body = json!({"password": password}).to_string();
    server.ask("PUT", &path, &[who], Some(&body))
}

fn invite(server: &Server, who: &str, body: &Json) -> Response {
    let body = body.to_string();
    server.ask("POST", "/api/v1/invitations", &[who], Some(&body))
}

/// The code of a link. The client calls the server `localhost`.
fn code(said: &Json) -> String {
    let link = said["link"].as_str().unwrap();
    let code = link.strip_prefix("http://localhost/console/enter/");
    code.unwrap().to_string()
}

#[test]
fn an_administrator_makes_a_link_that_signs_in_once() {
    let server = start();
    let root = administrator(&server);
    let made = link(&server, &root, "ann");
    assert_eq!(made.status, 200, "{}", made.body);
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let code = code(&made.json());
    let client = SignInClient::default();
    let session = server.registry.use_link(&code, &client).unwrap().session;
    assert_eq!(session.account, "ann");
    assert!(server.registry.use_link(&code, &client).is_err());
    assert_eq!(link(&server, &root, "nobody").status, 404);
    assert_eq!(link(&server, &root, "a%20b").status, 422);
}

/// A token that leaks would have become a sign-in that outlives it.
#[test]
fn a_token_of_an_account_makes_no_link_and_sets_no_password() {
    let server = start();
    let limited = limited_token(&server, "ann", None, Some(Role::Admin));
    for (who, status) in [("X: y", 401), (&token(&server), 403), (&limited, 403)] {
        assert_eq!(link(&server, who, "ann").status, status);
        let set = set_password(&server, who, "ann", PASSWORD);
        assert_eq!(set.status, status, "{}", set.body);
        let audit = server.get_with("/api/v1/sign-ins", &[who]);
        assert_eq!(audit.status, status, "{}", audit.body);
    }
    assert!(!server.registry.has_password("ann").unwrap());
}

#[test]
fn an_administrator_sets_a_password_that_is_good_enough() {
    let server = start();
    let root = administrator(&server);
    for (password, status, code) in [
        ("tiny", 422, "short-password"),
        ("passwordpassword1", 422, "common-password"),
        (&"x".repeat(2_000), 422, "too-large"),
    ] {
        let answer = set_password(&server, &root, "ann", password);
        assert_eq!(
            (answer.status, &answer.json()["code"]),
            (status, &json!(code))
        );
        // It was quoted nowhere.
        assert!(!answer.body.contains(password));
    }
    let set = set_password(&server, &root, "ann", PASSWORD);
    assert_eq!(set.status, 204, "{}", set.body);
    assert!(server.registry.check_password("ann", PASSWORD).unwrap());
}

#[test]
fn a_lead_invites_a_person_and_gets_a_link_to_a_new_account_only() {
    let server = start();
    let ann = token(&server);
    let new = |account: &str, role: &str| {
        let authority = "20.1000";
        json!({"account": account, "authority": authority, "role": role, "title": "New"})
    };
    let made = invite(&server, &ann, &new("eve", "write"));
    assert_eq!(made.status, 200, "{}", made.body);
    let said = made.json();
    assert_eq!(
        (&said["account"], &said["role"]),
        (&json!("eve"), &json!("write"))
    );
    let client = SignInClient::default();
    let code = code(&said);
    let session = server.registry.use_link(&code, &client).unwrap().session;
    assert_eq!(session.who(), Principal::parse("eve").unwrap());
    // The account exists now.
    let again = invite(&server, &ann, &new("eve", "read")).json();
    assert_eq!(
        (&again["link"], &again["expires"]),
        (&Json::Null, &Json::Null)
    );
    assert_eq!(invite(&server, &ann, &new("bob", "admin")).status, 403);
    assert_eq!(
        invite(&server, &ann, &json!({"account": "bob"})).status,
        403
    );
    let limited = limited_token(&server, "ann", Some("20.1000"), Some(Role::Lead));
    assert_eq!(invite(&server, &limited, &new("bob", "read")).status, 403);
    assert!(server.registry.account("bob").is_err());
}

/// The answer to a request that was sent again would have shown the link again.
#[test]
fn a_link_is_not_shown_again_for_the_same_request() {
    let server = start();
    let root = administrator(&server);
    let path = "/api/v1/accounts/ann/sign-in-link";
    let headers = [root.as_str(), "Idempotency-Key: x"];
    let links = [0, 1].map(|_| server.ask("POST", path, &headers, None).json()["link"].take());
    assert_ne!(links[0], links[1]);
}

#[test]
fn sign_ins_are_listed_in_pages() {
    let server = start();
    let root = administrator(&server);
    for _ in 0..3 {
        let made = link(&server, &root, "ann").json();
        let code = code(&made);
        let client = SignInClient {
            agent: String::new(),
            network: "192.0.2.7".into(),
        };
        server.registry.use_link(&code, &client).unwrap();
    }
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/api/v1/sign-ins?limit=4{after}");
        let mut page = server.get_with(&path, &[&root]).json();
        let Json::Array(entries) = page["sign-ins"].take() else {
            panic!("{page}");
        };
        all.extend(entries);
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(all.len(), 6);
    let is = |outcome: &str| {
        all.iter()
            .filter(|entry| entry["outcome"] == outcome)
            .count()
    };
    assert_eq!((is("signed-in"), is("link-created")), (3, 3));
    let signed_in = all
        .iter()
        .find(|entry| entry["outcome"] == "signed-in")
        .unwrap();
    assert_eq!(signed_in["network"], "192.0.2.7");
    let of_bob = server.get_with("/api/v1/sign-ins?account=bob", &[&root]);
    assert_eq!(of_bob.json()["sign-ins"], json!([]));
    // An account sees its own.
    let own = server.get_with("/api/v1/sign-ins?account=ann", &[&token(&server)]);
    assert_eq!(own.json()["sign-ins"].as_array().unwrap().len(), 6);
}
