//! Names, searches, and requests that are refused.

use handfast_registry::{AuthorityChange, NewName};
use handfast_server::WebSettings;
use handfast_testing::{OPERATOR, Server};
use serde_json::{Value as Json, json};

use crate::{create, limited_token, start, start_with, token};

fn reserve(server: &Server, id: &str) {
    let reserved = NewName {
        reserve: true,
        ..NewName::default()
    };
    let created = server.registry.create_name(&OPERATOR, id, reserved);
    created.unwrap();
}

#[test]
fn a_request_that_is_sent_again_is_done_once() {
    let server = start();
    let ann = token(&server);
    let key = "Idempotency-Key: one";
    assert_eq!(create(&server, &ann, "20.1000/a", &[key]), 201);
    assert_eq!(create(&server, &ann, "20.1000/a", &[key]), 201);
    assert_eq!(create(&server, &ann, "20.1000/a", &[]), 409);
    assert_eq!(create(&server, &ann, "20.1000/b", &[key]), 422);
}

#[test]
fn lists_have_filters_and_minted_names_can_be_reserved() {
    let server = start();
    let ann = token(&server);
    assert_eq!(create(&server, &ann, "20.1000/harbour", &[]), 201);
    let body = r#"{"authority":"20.1000","count":3,"style":"sequence:n","reserve":true}"#;
    let minted = server.ask("POST", "/api/v1/mint", &[&ann], Some(body));
    assert_eq!(minted.status, 201, "{minted:?}");
    assert_eq!(server.get("/api/v1/names/20.1000%2Fn1").status, 404);
    let ids = |filter: &str| {
        let path = format!("/api/v1/names?authority=20.1000{filter}");
        let page = server.get_with(&path, &[&ann]).json();
        let names = page["names"].as_array().unwrap().iter();
        let ids = names.map(|name| name["id"].as_str().unwrap().to_string());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids("&state=reserved"), "20.1000/n1 20.1000/n2 20.1000/n3");
    assert_eq!(ids("&state=active&q=HARB"), "20.1000/harbour");
    assert_eq!(ids("&state=reserved&prefix=n2"), "20.1000/n2");
    assert_eq!(ids("&changed-since=2999-01-01T00:00:00Z"), "");
    assert_eq!(ids("&children=true&state=withdrawn"), "");
    for wrong in ["state=gone", "q=", "changed-since=yesterday", "children=2"] {
        let path = format!("/api/v1/names?authority=20.1000&{wrong}");
        assert_eq!(server.get_with(&path, &[&ann]).status, 400, "{wrong}");
    }
}

#[test]
fn pages_follow_each_other() {
    let server = start();
    let ann = token(&server);
    let body = r#"{"authority":"20.1000","count":7,"style":"sequence:n",
        "urls":["https://example.org/{name}"]}"#;
    let minted = server.ask("POST", "/api/v1/mint", &[&ann], Some(body));
    assert_eq!(minted.status, 201, "{minted:?}");
    let (mut after, mut found) = (String::new(), Vec::new());
    loop {
        let path = format!("/api/v1/names?authority=20.1000&limit=3{after}");
        let page = server.get_with(&path, &[&ann]).json();
        found.extend(page["names"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            break;
        };
        after = format!("&after={}", next.replace(':', "%3A").replace('/', "%2F"));
    }
    assert_eq!(found.len(), 7);
    let names = "/api/v1/names?authority=20.1000";
    assert_eq!(server.get(names).status, 401);
    assert_eq!(
        server.get_with(&format!("{names}&limit=0"), &[&ann]).status,
        400
    );
    assert_eq!(
        server
            .get_with(&format!("{names}&nonsense=1"), &[&ann])
            .status,
        400
    );
    assert_eq!(
        server
            .get_with(&format!("{names}&limit=1&limit=1"), &[&ann])
            .status,
        400
    );
    let first = found[0]["id"].as_str().unwrap().split_once('/').unwrap().1;
    let path = format!("/api/v1/search?url=https://example.org/{first}");
    let by_url = server.get(&path).json();
    assert_eq!(by_url["names"][0]["id"], found[0]["id"]);
}

#[test]
fn many_names_come_and_go() {
    let server = start();
    let ann = token(&server);
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
    let exported = server.get_with("/api/v1/export?authority=20.1000", &[&ann]);
    assert_eq!(exported.body.lines().count(), 2_001);
    assert_eq!(server.get_with("/api/v1/export", &[&ann]).status, 403);

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
    let jobs = server.get_with("/api/v1/jobs", &[&ann]).json();
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 3);
    assert_eq!(server.get("/api/v1/jobs").status, 401);
    assert_eq!(server.get_with("/api/v1/jobs/99", &[&ann]).status, 404);
}

#[test]
fn odd_requests_are_refused_with_a_problem() {
    let server = start();
    let ann = token(&server);
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
fn names_are_found_by_words_and_by_how_they_begin() {
    let server = start();
    let ann = token(&server);
    let limited = limited_token(&server, "ann", Some("20.2000"), None);
    for (id, description) in [
        ("20.1000/map-1", "A map of the Harz"),
        ("20.1000/map-2", "Eine Karte des HARZES"),
        ("20.2000/map-3", "harz"),
    ] {
        server.name(id, &[(7, "DESC", description.as_bytes())]);
    }
    reserve(&server, "20.1000/map-4");
    let titled = AuthorityChange {
        title: Some("Karten".into()),
        ..AuthorityChange::default()
    };
    let changed = server
        .registry
        .change_authority(&OPERATOR, "20.2000", titled);
    changed.unwrap();
    let found = |who: &str, query: &str| {
        let reply = server.get_with(&format!("/api/v1/search?{query}"), &[who]);
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
        let reply = server.get_with(&format!("/api/v1/search?{bad}"), &[&ann]);
        assert_eq!(reply.status, 400, "{bad}");
    }
}

#[test]
fn everybody_searches_where_that_is_configured() {
    let server = start_with(WebSettings {
        public_search: true,
        ..WebSettings::default()
    });
    server.name("20.1000/map", &[(9, "HS_SECKEY", b"hidden")]);
    let count = |query: &str| {
        let said = server.get(&format!("/api/v1/search?{query}")).json();
        said["names"].as_array().unwrap().len()
    };
    assert_eq!((count("q=map"), count("q=hidden")), (1, 0));
}

#[test]
fn statistics_say_how_much_there_is_of_what() {
    let server = start();
    server.name("20.1000/a", &[]);
    reserve(&server, "20.1000/b");
    let counted = |_| {
        let said = server.get("/api/v1/statistics").json();
        Some(said).filter(|said| said["as-of-event"] == said["events"])
    };
    let said = (0..1_000_000).find_map(counted).unwrap();
    assert!(said["counted"].is_string());
    assert_eq!(said["names-by-state"]["reserved"], 1);
    let by_scheme = said["names-by-scheme"]["hdl"].as_u64();
    assert_eq!(by_scheme, said["names"].as_u64());
    assert_eq!(said["log"]["size"], said["events"]);
}

#[test]
fn a_name_has_the_link_that_its_page_says() {
    let public_url = Some("http://names.example:8000".parse().unwrap());
    let server = start_with(WebSettings {
        public_url,
        ..WebSettings::default()
    });
    let ann = token(&server);
    let plain = start();
    let of_plain = token(&plain);
    let long = format!("20.1000/{}", "ü".repeat(900));
    for id in ["20.1000/a/b c", "20.1000/50%&?#", "20.1000/\"<b>'", &long] {
        let body = json!({"id": id, "urls": ["https://example.org/"]}).to_string();
        let made = server.ask("POST", "/api/v1/names", &[&ann], Some(&body));
        assert_eq!(made.status, 201, "{}", made.body);
        let link = made.json()["link"].as_str().unwrap().to_string();
        let path = link.strip_prefix("http://names.example:8000").unwrap();
        let page = server.get(&format!("{path}?noredirect"));
        assert_eq!(page.status, 200, "{path}");
        let cited = format!("<link rel=\"cite-as\" href=\"{link}\">");
        assert!(page.body.contains(&cited), "{link}: {}", page.body);
        // Without a public URL there is nothing to cite.
        let made = plain.ask("POST", "/api/v1/names", &[&of_plain], Some(&body));
        assert_eq!(made.json().get("link"), None);
    }
    let first = "http://names.example:8000/20.1000/a/b%20c";
    let show = "/api/v1/names/20.1000%2Fa%2Fb%20c";
    assert_eq!(server.get(show).json()["link"], first);
    let change = Some(r#"{"urls":["https://example.org/2"]}"#);
    let changed = server.ask("PATCH", show, &[&ann], change);
    assert_eq!(changed.json()["link"], first);
    let minted = server.ask(
        "POST",
        "/api/v1/mint",
        &[&ann],
        Some(r#"{"authority":"20.1000","count":2}"#),
    );
    let list = server.get_with("/api/v1/names?authority=20.1000", &[&ann]);
    let found = server.get("/api/v1/search?url=https://example.org/2");
    for (answer, count) in [(minted, 2), (list, 6), (found, 1)] {
        let names = answer.json()["names"].take();
        let names = names.as_array().unwrap();
        assert_eq!(names.len(), count);
        for name in names {
            let link = name["link"].as_str().unwrap();
            assert!(link.starts_with("http://names.example:8000/20.1000/"));
        }
    }
}
