//! The register for people and for programs.

use handfast_id::Namespaces;
use handfast_registry::{AuthorityChange, Principal};
use handfast_testing::{Response, Server};
use serde_json::Value as Json;

fn json(answer: &Response) -> Json {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(
        answer
            .header("content-type")
            .unwrap()
            .starts_with("application/json")
    );
    answer.json()
}

/// A text in a query.
fn encoded(text: &str) -> String {
    let triplets = text.bytes().map(|byte| format!("%{byte:02X}"));
    triplets.collect::<Vec<_>>().concat()
}

#[test]
fn the_list_can_be_searched_and_comes_in_pages() {
    let server = Server::start();
    let page = server.get("/registry/");
    assert_eq!(page.status, 200);
    assert!(page.body.contains(">29 namespaces</p>"));
    assert!(
        page.body
            .contains("<a href=\"/registry/info/lccn\">info:lccn/</a>")
    );
    for (query, expected) in [
        ("q=library+of+congress", 4),
        ("q=LCCN", 1),
        ("q=%3Cscript%3E", 0),
        ("status=registered", 29),
        ("status=candidate", 0),
        ("historical=true", 29),
        ("historical=false", 0),
    ] {
        let page = server.get(&format!("/registry/?{query}"));
        let word = if expected == 1 {
            "namespace"
        } else {
            "namespaces"
        };
        let said = format!(">{expected} {word}</p>");
        assert!(page.body.contains(&said), "{query}");
        assert!(!page.has_foreign_script());
        let list = json(&server.get(&format!("/registry/info.json?{query}")));
        assert_eq!(list["total"], expected, "{query}");
    }
    assert_eq!(server.get("/registry/?status=x").status, 400);
    for query in [
        "status=x",
        "historical=yes",
        "limit=0",
        "limit=x",
        "limit=1001",
    ] {
        let answer = server.get(&format!("/registry/info.json?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(
            answer.body.contains("\"code\":\"usage\""),
            "{}",
            answer.body
        );
    }
    let (mut url, mut seen) = ("/registry/info.json?limit=12".to_string(), 0);
    loop {
        let answer = server.get(&url);
        let list = json(&answer);
        seen += list["namespaces"].as_array().unwrap().len();
        let next = answer
            .header("link")
            .unwrap()
            .split(", ")
            .find(|link| link.contains("rel=\"next\""));
        match next {
            Some(next) => url = next[1..next.find('>').unwrap()].to_string(),
            None => break,
        }
    }
    assert_eq!(seen, 29);
    assert_eq!(server.get("/registry").location(), "/registry/");
    assert_eq!(
        server.get("/registry/info/?q=a").location(),
        "/registry/?q=a"
    );
}

#[test]
fn one_address_answers_in_the_preferred_form() {
    let server = Server::start();
    for (path, accept, kind) in [
        ("/registry/info/lccn", "*/*", "text/html"),
        ("/registry/info/LCCN", "text/html", "text/html"),
        (
            "/registry/info/lccn",
            "application/json",
            "application/json",
        ),
        ("/registry/info/lccn", "application/xml", "application/xml"),
        (
            "/registry/info/lccn",
            "text/xml, text/html;q=0.5",
            "application/xml",
        ),
        ("/registry/info/lccn.json", "text/html", "application/json"),
        ("/registry/info/lccn.xml", "*/*", "application/xml"),
        ("/registry/", "application/json", "application/json"),
        ("/registry/policy", "application/json", "application/json"),
        ("/registry/policy", "*/*", "text/html"),
        (
            "/registry/authorities",
            "application/json",
            "application/json",
        ),
        ("/registry/authorities.json", "*/*", "application/json"),
        ("/registry/changes.atom", "*/*", "application/atom+xml"),
        ("/registry/about", "*/*", "text/html"),
        ("/registry/about", "application/json", "application/json"),
        ("/registry/authorities/20.1000", "*/*", "text/html"),
        (
            "/registry/authorities/20.1000.json",
            "*/*",
            "application/json",
        ),
        ("/registry/changes", "*/*", "text/html"),
    ] {
        let answer = server.accepting(path, accept);
        assert_eq!(answer.status, 200, "{path}");
        let said = answer.header("content-type").unwrap();
        assert!(said.starts_with(kind), "{path} {accept}: {said}");
        assert_eq!(answer.header("vary"), Some("Accept"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        // A page has a nonce of its own each time.
        let Some(tag) = answer.header("etag") else {
            assert_eq!(kind, "text/html", "{path}");
            continue;
        };
        // What is there already is not sent again.
        let headers = format!("Accept: {accept}\r\nIf-None-Match: \"x\", {tag}\r\n");
        let again = server.get_with(path, &[&headers]);
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        assert_eq!(again.header("etag"), Some(tag));
    }
    let links = server.get("/registry/info/lccn");
    let links = links.header("link").unwrap();
    assert!(
        links.contains("</registry/info/lccn.json>; rel=\"alternate\"; type=\"application/json\"")
    );
    for path in [
        "/registry/info/nobody",
        "/registry/info/",
        "/registry/x",
        "/registry/info/%3Cb%3E",
    ] {
        let answer = server.accepting(path, "application/json");
        assert_eq!(
            answer.status,
            if path.ends_with('/') { 308 } else { 404 },
            "{path}"
        );
    }
    assert_eq!(server.ask("POST", "/registry/", &[], None).status, 405);
    assert_eq!(server.ask("OPTIONS", "/registry/", &[], None).status, 204);
}

#[test]
fn no_page_can_run_anything() {
    let server = Server::start();
    for path in [
        "/registry/",
        "/registry/info/ark",
        "/registry/policy",
        "/registry/authorities",
        "/registry/authorities/20.1000",
        "/registry/about",
        "/registry/recognise?id=20.1000/5555",
        "/registry/x",
    ] {
        let answer = server.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'nonce-")
                && policy.contains("; style-src 'self'; "),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let typed = "\"><script>alert(1)</script>";
    for path in [
        format!("/registry/?q={}", encoded(typed)),
        format!(
            "/registry/info/ark?id={}&other={}",
            encoded(typed),
            encoded(typed)
        ),
        format!(
            "/registry/info/ark?id={}",
            encoded("info:ark/\u{7}\"><script>")
        ),
        format!("/registry/authorities?under={}", encoded(typed)),
        format!("/registry/info/{}", encoded(typed)),
        format!("/registry/authorities/{}", encoded(typed)),
        format!("/registry/recognise?id={}", encoded(typed)),
    ] {
        let answer = server.get(&path);
        assert!(!answer.has_foreign_script(), "{path}");
    }
}

/// Every example of the 29 entries, as the page, the API and the JSON of the entry say it.
#[test]
fn every_historical_example_comes_out_as_it_is_stated() {
    let server = Server::start();
    let mut tried = 0;
    for namespace in Namespaces::historical().iter() {
        let name = namespace.name();
        for example in &namespace.record().examples {
            let query = encoded(&example.input);
            let inspected = json(&server.get(&format!("/api/v1/inspect?id={query}")));
            assert_eq!(
                inspected["canonical"], example.canonical,
                "{}",
                example.input
            );
            assert_eq!(inspected["components"]["registered"], true, "{inspected}");
            let path = format!(
                "/registry/info/{name}?id={query}&other={}",
                encoded(&example.canonical)
            );
            let trial = &json(&server.accepting(&path, "application/json"))["trial"];
            assert_eq!(trial["canonical"], example.canonical, "{}", example.input);
            assert_eq!(trial["equal"], true, "{}", example.input);
            assert_ne!(trial["validity"], "does-not-fit", "{}", example.input);
            let page = server.get(&path);
            let shown = example
                .canonical
                .replace('&', "&amp;")
                .replace('\'', "&#39;");
            assert!(
                page.body.contains(&format!("<dd><code>{shown}</code>")),
                "{shown}"
            );
            assert!(
                page.body
                    .contains("yes: their canonical forms are the same")
            );
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

#[test]
fn identifiers_are_tried_in_place() {
    let server = Server::start();
    for (query, expected) in [
        (
            "id=n78-89035",
            r#"{"canonical":"info:lccn/n78089035","validity":"fits","location":null}"#,
        ),
        (
            "id=info:lccn/x",
            r#"{"canonical":"info:lccn/x","validity":"does-not-fit"}"#,
        ),
        (
            "id=info:lccn/n78-89035&other=info:lccn/n78089036",
            r#"{"equal":false}"#,
        ),
        (
            "id=info:doi/10.1000/a&other=info:doi/10.1000/A",
            r#"{"equal":true,"location":"https://doi.org/10.1000/A"}"#,
        ),
        (
            "id=info:ark/12025/65-4",
            r#"{"location":"https://n2t.net/ark:/12025/654"}"#,
        ),
        (
            "id=info:nobody/x",
            r#"{"registered":false,"validity":"not-registered"}"#,
        ),
    ] {
        let path = format!("/registry/info/lccn.json?{query}");
        let trial = &json(&server.get(&path))["trial"];
        let expected: serde_json::Map<String, Json> = serde_json::from_str(expected).unwrap();
        for (name, value) in expected {
            assert_eq!(trial[&name], value, "{query} {name}");
        }
    }
    let wrong = json(&server.get("/registry/info/lccn.json?id=info:lccn"));
    assert!(wrong["trial"]["error"].is_string());
    let long = format!("/registry/info/lccn.json?id={}", "a".repeat(5_000));
    assert!(json(&server.get(&long))["trial"]["error"].is_string());
}

#[test]
fn the_feed_is_atom() {
    let server = Server::start();
    let feed = server.get("/registry/changes.atom").body;
    let read = roxmltree::Document::parse(&feed).unwrap();
    let root = read.root_element();
    assert_eq!(
        root.tag_name(),
        ("http://www.w3.org/2005/Atom", "feed").into()
    );
    let of = |node: roxmltree::Node<'_, '_>, name: &str| {
        let all = node
            .children()
            .filter(|child| child.tag_name().name() == name);
        all.filter_map(|child| child.text().map(str::to_string))
            .collect::<Vec<_>>()
    };
    // RFC 4287 §4.1.1: one id, one title, one updated; an author for all entries.
    for name in ["id", "title", "updated"] {
        assert_eq!(of(root, name).len(), 1, "{name}");
    }
    assert!(
        root.children()
            .any(|child| child.tag_name().name() == "author")
    );
    let entries: Vec<_> = root
        .children()
        .filter(|child| child.tag_name().name() == "entry")
        .collect();
    assert_eq!(entries.len(), 29);
    let mut ids = Vec::new();
    let mut updated = Vec::new();
    for entry in entries {
        for name in ["id", "title", "updated", "summary"] {
            assert_eq!(of(entry, name).len(), 1, "{name}");
        }
        ids.extend(of(entry, "id"));
        updated.extend(of(entry, "updated"));
        let link = entry
            .children()
            .find(|child| child.attribute("rel") == Some("alternate"));
        assert!(
            link.unwrap()
                .attribute("href")
                .unwrap()
                .starts_with("http://names.example:8000/registry/info/")
        );
    }
    assert!(updated.iter().rev().is_sorted());
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 29);
}

#[test]
fn cid_9_authorities_are_a_tree_with_their_policies() {
    let server = Server::start();
    let change = AuthorityChange {
        title: Some("Learning objects".into()),
        meaning: Some("Objects of the <first> federation.".into()),
        ..AuthorityChange::default()
    };
    let registry = &server.registry;
    registry
        .change_authority(&Principal::Operator, "100.102", change)
        .unwrap();
    let list = json(&server.get("/registry/authorities.json?under=100.102"));
    let one = &list["authorities"][0];
    assert_eq!(
        (&one["title"], &one["meaning"], &one["contact"]),
        (
            &"Learning objects".into(),
            &"Objects of the <first> federation.".into(),
            &"desk@library.example".into()
        )
    );
    let page = server.get("/registry/authorities").body;
    assert!(page.contains("<code>100.102</code>"));
    assert!(page.contains("CORDRA identifiers"));
    assert!(page.contains("Learning objects"));
    assert!(page.contains("Objects of the &lt;first&gt; federation."));
    assert!(page.contains("mailto:desk@library.example"));
    // One stands in the other.
    let (above, below) = (
        page.find("<code>urn:urn-3:HUL</code>"),
        page.find("<code>urn:urn-3:HUL.OIS</code>"),
    );
    let between = &page[above.unwrap()..below.unwrap()];
    assert!(
        between.contains("<ul>") && !between.contains("</li>"),
        "{between}"
    );
    let list = json(&server.get("/registry/authorities.json?under=urn:urn-3"));
    let paths: Vec<_> = list["authorities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["authority"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["urn:urn-3", "urn:urn-3:HUL", "urn:urn-3:HUL.OIS"]);
    assert!(list["authorities"][0].get("grants").is_none());
    let (mut after, mut seen) = (String::new(), 0);
    loop {
        let list = json(&server.get(&format!("/registry/authorities.json?limit=2{after}")));
        seen += list["authorities"].as_array().unwrap().len();
        match list["next"].as_str() {
            Some(next) => after = format!("&after={}", encoded(next)),
            None => break,
        }
    }
    assert_eq!(seen, 9);
    assert_eq!(
        server.get("/registry/authorities?under=20.9999").status,
        404
    );
    assert_eq!(server.get("/registry/authorities?under=%00").status, 404);
}

/// Version, date and registrant of a URN namespace were read and shown nowhere.
#[test]
fn urn_10_registrations_are_published() {
    let server = Server::start();
    let all = server.get("/registry/urn.json").json();
    assert_eq!(all["namespaces"][0]["nid"], "urn-3");
    let one = server.get("/registry/urn/URN-3.json").json();
    for (field, said) in [
        ("version", "1"),
        ("date", "2001-02-27"),
        ("registrant", "Stephen Abrams"),
        ("affiliation", "Harvard University Library"),
        ("contact", "nrsadm@hulmail.harvard.edu"),
        ("case", "insensitive"),
    ] {
        assert_eq!(one[field], said);
    }
    // The whole grammar, with every character that names may have.
    let syntax = one["syntax"].as_str().unwrap();
    for c in "()+,-=@;$_!*'".chars() {
        assert!(syntax.contains(&format!("\"{c}\"")), "{c} {syntax}");
    }
    assert!(syntax.ends_with("(\"%\" HEXDIG HEXDIG)"), "{syntax}");
    let page = server.get("/registry/urn/urn-3");
    assert!(
        page.body.contains("1280 Massachusetts Avenue"),
        "{}",
        page.body
    );
    assert!(one["authorities"].is_string(), "{one}");
    let start = server.get("/registry/").body;
    assert!(start.contains("<a href=\"/registry/urn\">"), "{start}");
    assert!(
        server
            .get("/registry/urn")
            .body
            .contains("/registry/urn/urn-3")
    );
    assert_eq!(server.get("/registry/urn/urn-77").status, 404);
}
