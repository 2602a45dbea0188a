//! Typical answers of `/api/v1`, its problem documents and its `OpenAPI` document, compared with
//! the files in `snapshots/`. CONTRIBUTING.md says how to accept a change.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write;

use handfast_registry::{NewToken, Principal, Role};
use handfast_testing::{Response, Server};
use serde_json::Value as Json;

const OPERATOR: Principal = Principal::Operator;
const UNSTEADY: [&str; 4] = ["connection:", "content-length:", "date:", "x-request-id:"];

/// A server with two accounts: `ann` may write under 20.1000, `bob` may do nothing.
struct Site {
    server: Server,
    ann: String,
    bob: String,
}

impl Site {
    fn start() -> Self {
        let server = Server::start();
        let token = |account: &str| {
            let registry = &server.registry;
            registry.create_account(&OPERATOR, account, "").unwrap();
            let new = NewToken::default();
            let (token, _) = registry.create_token(&OPERATOR, account, new).unwrap();
            token.clone()
        };
        let (ann, bob) = (token("ann"), token("bob"));
        let account = Principal::parse("ann").unwrap();
        let granted = server
            .registry
            .grant(&OPERATOR, "20.1000", &account, Role::Admin);
        granted.unwrap();
        Self { server, ann, bob }
    }

    /// Request and answer as a text. Without a token nobody is logged in.
    fn exchange(&self, token: Option<&str>, request: &str, body: &str) -> String {
        let (method, target) = request.split_once(' ').unwrap();
        let mut head = format!(
            "{method} {target} HTTP/1.1\r\nHost: names.example:8000\r\nConnection: close\r\n"
        );
        if let Some(token) = token {
            write!(head, "Authorization: Bearer {token}\r\n").unwrap();
        }
        if !body.is_empty() {
            let length = body.len();
            let media = if body.starts_with('{') {
                "application/json"
            } else {
                "text/plain"
            };
            let headers = format!("Content-Type: {media}\r\nContent-Length: {length}\r\n");
            head.push_str(&headers);
        }
        let answer = self.server.raw(format!("{head}\r\n{body}").as_bytes());
        let mut text = format!("{request}\n");
        if !body.is_empty() {
            writeln!(text, "{body}").unwrap();
        }
        text + "\n" + &shown(&answer)
    }

    fn ann(&self, request: &str, body: &str) -> String {
        self.exchange(Some(&self.ann), request, body)
    }
}

/// Status, headers in the order of their names, and the body with one member in each line. The
/// length changes with the body, and date and request id with the time and the other requests.
fn shown(answer: &Response) -> String {
    let mut lines = answer.head.lines();
    let status = lines.next().unwrap().trim_start_matches("HTTP/1.1 ");
    let mut headers: Vec<_> = lines
        .filter(|line| !UNSTEADY.iter().any(|name| line.starts_with(name)))
        .collect();
    headers.sort_unstable();
    let body = match serde_json::from_str::<Json>(&answer.body) {
        Ok(json) => serde_json::to_string_pretty(&json).unwrap(),
        Err(_) => answer.body.clone(),
    };
    let text = format!("{status}\n{}\n\n{body}\n", headers.join("\n"));
    text.replace(env!("CARGO_PKG_VERSION"), "[version]")
}

#[test]
fn openapi_document() {
    let server = Server::start();
    let document = server.get("/api/v1/openapi.json").body;
    let document: Json = serde_json::from_str(&document).unwrap();
    let text = serde_json::to_string_pretty(&document).unwrap();
    insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

#[test]
fn names() {
    let site = Site::start();
    let new = r#"{"id":"20.1000/new","urls":["https://example.org/new"]}"#;
    insta::assert_snapshot!("create_name", site.ann("POST /api/v1/names", new));
    insta::assert_snapshot!("show_name", site.ann("GET /api/v1/names/20.1000%2Fnew", ""));
    let change = r#"{"urls":["https://example.org/other"]}"#;
    let changed = site.ann("PATCH /api/v1/names/20.1000%2Fnew", change);
    insta::assert_snapshot!("change_name", changed);
    let tombstone = r#"{"reason":"merged","successor":"20.1000/5555"}"#;
    let withdrawn = site.ann("POST /api/v1/names/20.1000%2Fnew/withdraw", tombstone);
    insta::assert_snapshot!("withdraw_name", withdrawn);
    let history = site.ann("GET /api/v1/names/20.1000%2Fnew/history", "");
    insta::assert_snapshot!("name_history", history);
    let page = site.ann("GET /api/v1/names?authority=20.1000&limit=2", "");
    insta::assert_snapshot!("list_names", page);
    let mint = r#"{"authority":"20.1000","urls":["https://example.org/minted"]}"#;
    insta::assert_snapshot!("mint_name", site.ann("POST /api/v1/mint", mint));
}

#[test]
fn authorities_accounts_and_jobs() {
    let site = Site::start();
    insta::assert_snapshot!("about", site.exchange(None, "GET /api/v1", ""));
    let authority = site.exchange(None, "GET /api/v1/authorities/20.1000", "");
    insta::assert_snapshot!("show_authority", authority);
    insta::assert_snapshot!("this_account", site.ann("GET /api/v1/accounts/this", ""));
    let line = r#"{"id":"20.1000/imported","urls":["https://example.org/i"]}"#;
    let imported = site.ann("POST /api/v1/import?format=ndjson", line);
    insta::assert_snapshot!("import", imported);
    insta::assert_snapshot!("show_job", site.ann("GET /api/v1/jobs/1", ""));
    let inspected = site.ann("GET /api/v1/inspect?id=doi:10.1045%2FAPRIL2006-paskin", "");
    insta::assert_snapshot!("inspect", inspected);
    let found = site.ann("GET /api/v1/search?q=5555", "");
    insta::assert_snapshot!("search", found);
}

#[test]
fn problem_documents() {
    let site = Site::start();
    let new = |id: &str, url: &str| format!(r#"{{"id":"{id}","urls":["{url}"]}}"#);
    let create = "POST /api/v1/names";
    let good = new("20.1000/p", "https://example.org/");
    let bob = Some(site.bob.as_str());
    for (name, answer) in [
        ("not_logged_in", site.exchange(None, create, &good)),
        ("bad_token", site.exchange(Some("no-token"), create, &good)),
        ("no_role", site.exchange(bob, create, &good)),
        (
            "already_exists",
            site.ann(create, &new("20.1000/5555", "https://example.org/")),
        ),
        (
            "no_authority",
            site.ann(create, &new("20.77/p", "https://example.org/")),
        ),
        (
            "bad_identifier",
            site.ann(create, &new("urn:x", "https://example.org/")),
        ),
        (
            "bad_url",
            site.ann(create, &new("20.1000/p", "javascript:1")),
        ),
        ("unknown_member", site.ann(create, r#"{"identifier":"x"}"#)),
        ("wrong_media_type", site.ann(create, "id=20.1000/p")),
        (
            "unknown_parameter",
            site.ann("GET /api/v1/names?limt=2", ""),
        ),
        (
            "no_such_name",
            site.ann("GET /api/v1/names/20.1000%2Fnone", ""),
        ),
        (
            "withdrawn",
            site.exchange(None, "GET /api/v1/names/20.1000%2Fgone", ""),
        ),
        ("no_such_route", site.ann("GET /api/v1/nothing", "")),
        ("wrong_method", site.ann("PUT /api/v1/names", "")),
    ] {
        insta::assert_snapshot!(format!("problem_{name}"), answer);
    }
}
