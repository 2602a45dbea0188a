//! Redirects and pages of the web door (`http-interfaces.md` B), octet by octet where that matters.

#![expect(clippy::unwrap_used, unreachable_pub, reason = "a test may panic")]

mod web;

use handfast_registry::{NewName, NewValue, Principal};
use serde_json::Value as Json;
use web::Server;

const LOCATIONS: &[u8] = br#"<locations chooseby="locatt,country,weighted" http_sc="307">
    <location id="0" href="https://uk.example/" country="gb" weight="0"/>
    <location id="1" href="https://www.example/" weight="1" http_sc="303"/>
    <location id="2" href_template="https://t.example/{hdl}?p={hdl:path}" weight="0" http_role="conneg"/>
    <location id="3" href="javascript:alert(1)" weight="0"/></locations>"#;

#[test]
fn every_spelling_leads_to_the_same_place() {
    let server = Server::start();
    for (path, location) in [
        ("/20.1000/5555", "https://example.org/5555"),
        ("//20.1000/5555", "https://example.org/5555"),
        ("/20.1000%2F5555", "https://example.org/5555"),
        ("/20.1000/%355%355", "https://example.org/5555"),
        ("/hdl/20.1000/5555", "https://example.org/5555"),
        ("/HDL/20.1000/5555", "https://example.org/5555"),
        ("/hdl:20.1000/5555", "https://example.org/5555"),
        ("/hdl://20.1000/5555", "https://example.org/5555"),
        ("/info:hdl/20.1000/5555", "https://example.org/5555"),
        ("/urn:hdl:20.1000:5555", "https://example.org/5555"),
        ("/20.1000/a%20b/%C3%BC%25", "https://example.org/odd"),
        ("/20.1000/A%20B%2F\u{fc}%25", "https://example.org/odd"),
        ("/10.1045/APRIL2006-paskin", "https://dlib.example/paskin"),
        (
            "/doi:10.1045/april2006-Paskin",
            "https://dlib.example/paskin",
        ),
        (
            "/info:doi/10.1045/april2006-paskin",
            "https://dlib.example/paskin",
        ),
        (
            "/https://doi.org/10.1045/april2006-paskin",
            "https://dlib.example/paskin",
        ),
        ("/ark:12025/654xz321", "https://ark.example/1"),
        ("/ark:/12025/65-4xz-321", "https://ark.example/1"),
        ("/info:ark/12025/654xz321", "https://ark.example/1"),
        ("/info:lccn/2002022641", "https://lccn.example/2002022641"),
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (302, location),
            "{path}"
        );
        let head = server.ask("HEAD", path, "");
        assert_eq!(head.sorted_head(), answer.sorted_head(), "{path}");
        assert_eq!(head.body, "");
    }
    for path in [
        "/urn:urn-3:HUL.OIS:Home",
        "/URN-3:hul.ois:home",
        "/urn-3:HUL.OIS:HOME",
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (303, "https://first.example/h"),
            "{path}"
        );
    }
}

#[test]
fn a_redirect_says_how_long_it_holds_and_what_it_links_to() {
    let server = Server::start();
    let quick = server.get("/20.1000/5555");
    assert_eq!(quick.header("cache-control"), Some("max-age=86400"));
    assert_eq!(
        quick.header("expires"),
        Some("Mon, 16 Nov 2026 06:17:16 GMT")
    );
    assert_eq!(quick.header("vary"), Some("Accept, Origin"));
    let links = quick.header("link").unwrap();
    assert!(
        links.contains("</20.1000/5555>; rel=\"cite-as\""),
        "{links}"
    );
    assert!(
        links.contains("rel=\"describedby\"; type=\"application/json\""),
        "{links}"
    );
    assert!(links.contains("rel=\"linkset\""), "{links}");
    // The short way and the long way say the same.
    let slow = server.get("/20.1000/5555?");
    assert_eq!(slow.sorted_head(), quick.sorted_head());
    assert_eq!(quick.body, "");
    for (id, ttl, age) in [("short", 60, 60), ("long", 999_999, 172_800)] {
        let id = format!("20.1000/{id}");
        let value = NewValue {
            ttl: Some(handfast_wire::Ttl::Relative(ttl)),
            ..NewValue::new(1, "URL", b"https://example.org/")
        };
        let new = NewName {
            values: vec![value],
            ..NewName::default()
        };
        server
            .registry
            .create_name(&Principal::Operator, &id, new)
            .unwrap();
        let answer = server.get(&format!("/{id}"));
        assert_eq!(
            answer.header("cache-control"),
            Some(format!("max-age={age}").as_str())
        );
    }
}

#[test]
fn cordra_hands_queries_on_and_others_do_not() {
    let server = Server::start();
    let (plain, with) = (
        "100.102/F58FB49EB1F848f0A606E84CEF294BE5",
        "100.102/A58FB49EB1F848f0A606E84CEF294BE5",
    );
    for (target, location) in [
        (format!("/{plain}?x=1"), "https://cordra.example/o?x=1"),
        (format!("/hdl/{plain}?x=1"), "https://cordra.example/o?x=1"),
        (
            format!("/hdl:{}?x=1", plain.to_lowercase()),
            "https://cordra.example/o?x=1",
        ),
        (
            format!("/info:hdl/{}?x=1", plain.to_uppercase()),
            "https://cordra.example/o?x=1",
        ),
        (
            format!("/{plain}?auth&x=1&type=URL"),
            "https://cordra.example/o?x=1",
        ),
        (format!("/{plain}"), "https://cordra.example/o"),
        (format!("/{plain}?"), "https://cordra.example/o"),
        (
            format!("/{plain}?x=%0D%0Ay{{"),
            "https://cordra.example/o?x=%0D%0Ay%7B",
        ),
        (
            format!("/{with}?x=1;y"),
            "https://cordra.example/o?a=b&x=1;y#f",
        ),
        ("/20.1000/5555?x=1".into(), "https://example.org/5555"),
        (
            "/urn-3:hul.ois:home?x=1".into(),
            "https://first.example/h?x=1",
        ),
        (
            "/urn:urn-3:hul.ois:home?=q=1".into(),
            "https://first.example/h?q=1",
        ),
        (
            "/urn:urn-3:hul.ois:home?+r?=q=1&z".into(),
            "https://first.example/h?q=1&z",
        ),
        (
            "/urn:urn-3:hul.ois:home?+r".into(),
            "https://first.example/h",
        ),
    ] {
        assert_eq!(server.get(&target).location(), location, "{target}");
    }
}

#[test]
fn parameters_do_what_they_say() {
    let server = Server::start();
    server.name(
        "20.1000/many",
        &[
            (1, "URL", b"https://example.org/1"),
            (2, "URL.de", b"https://example.org/de"),
            (3, "DESC", b"words"),
            (4, "0.TYPE/URL", b"https://example.org/4"),
            (300, "HS_SECKEY", b"hidden"),
        ],
    );
    let many = |query: &str| server.get(&format!("/20.1000/many{query}"));
    assert_eq!(many("").location(), "https://example.org/1");
    assert_eq!(many("?index=4").location(), "https://example.org/4");
    assert_eq!(many("?index=4&index=x").location(), "https://example.org/1");
    assert_eq!(many("?type=URL.").location(), "https://example.org/1");
    assert_eq!(many("?type=url.DE").location(), "https://example.org/de");
    assert_eq!(
        many("?urlappend=%2Fa%20b").location(),
        "https://example.org/1/a%20b"
    );
    assert_eq!(
        many("?urlappend=%3Fx%3D1").location(),
        "https://example.org/1?x=1"
    );
    assert_eq!(
        many("?urlappend=%0D%0ASet-Cookie:%20a=b").location(),
        "https://example.org/1Set-Cookie:%20a=b"
    );
    assert_eq!(
        many("?urlappend=a%0D%0ASet-Cookie:b").location(),
        "https://example.org/1a%0D%0ASet-Cookie:b"
    );
    assert_eq!(many("?auth&cert&ip=1.2.3.4&nonsense").status, 302);
    assert_eq!(many("?action=nonsense").status, 302);
    let headers = many("?redirectionHeaders");
    assert_eq!(
        (headers.status, headers.location()),
        (200, "https://example.org/1")
    );
    for query in [
        "?noredirect",
        "?noredirect=0",
        "?action=showvalues",
        "?type=DESC",
        "?index=3",
    ] {
        let page = many(query);
        assert_eq!(page.status, 200, "{query}");
        assert!(
            page.body
                .contains("<td>3<td>DESC<td>2026-11-15 06:17:16Z<td>words"),
            "{query}"
        );
        assert!(!page.body.contains("hidden") && !page.body.contains("HS_SECKEY"));
    }
    assert_eq!(many("?noredirect&action=redirect").status, 302);
    let none = many("?type=NONE");
    assert_eq!(none.status, 200);
    assert!(none.body.contains("No Values Found"));
    let list = many("?action=showurls");
    assert!(list.header("content-type").unwrap().starts_with("text/xml"));
    assert!(
        list.body
            .contains("<location href=\"https://example.org/1\" mode=\"legacy\" weight=\"1\"/>")
    );
    let api = many("?action=api&type=DESC");
    let api: Json = serde_json::from_str(&api.body).unwrap();
    assert_eq!(
        (
            api["responseCode"].clone(),
            api["values"][0]["data"]["value"].clone()
        ),
        (1.into(), "words".into())
    );
}

#[test]
fn locations_are_chosen() {
    let server = Server::start();
    server.name(
        "20.1000/loc",
        &[
            (1, "10320/loc", LOCATIONS),
            (2, "URL", b"https://example.org/"),
        ],
    );
    let by =
        |query: &str, headers: &str| server.ask("GET", &format!("/20.1000/loc{query}"), headers);
    for (query, headers, status, location) in [
        ("", "", 303, "https://www.example/"),
        ("", "Accept: text/html\r\n", 303, "https://www.example/"),
        ("?locatt=id:0", "", 307, "https://uk.example/"),
        ("?locatt=id:77", "", 303, "https://www.example/"),
        ("?country=GB", "", 307, "https://uk.example/"),
        ("", "X-Country: gb\r\n", 307, "https://uk.example/"),
        ("?locatt=mode:legacy", "", 307, "https://example.org/"),
        (
            "",
            "Accept: application/x-bibtex\r\n",
            307,
            "https://t.example/20.1000%2Floc?p=20.1000/loc",
        ),
    ] {
        let answer = by(query, headers);
        assert_eq!(
            (answer.status, answer.location()),
            (status, location),
            "{query} {headers}"
        );
    }
    assert_eq!(
        by("", "").header("cache-control"),
        Some("private, max-age=86400")
    );
    // A browser is never sent to a script.
    assert_eq!(by("?locatt=id:3", "").status, 200);
    let old = server.raw(b"GET /20.1000/loc HTTP/1.0\r\n\r\n");
    assert_eq!((old.status, old.location()), (302, "https://www.example/"));
}

#[test]
fn aliases_are_followed_and_loops_end() {
    let server = Server::start();
    for (id, to) in [
        ("a", "20.1000/b"),
        ("b", "20.1000/5555"),
        ("x", "20.1000/y"),
        ("y", "20.1000/x"),
        ("lost", "20.1000/nothing"),
        ("off", "20.1000/gone"),
        ("away", "20.9/a b"),
    ] {
        server.name(
            &format!("20.1000/{id}"),
            &[
                (1, "HS_ALIAS", to.as_bytes()),
                (2, "URL", b"https://example.org/own"),
            ],
        );
    }
    for (target, status, location) in [
        ("/20.1000/a", 301, "/20.1000/5555"),
        (
            "/20.1000/a?urlappend=x&y",
            301,
            "/20.1000/5555?urlappend=x&y",
        ),
        ("/20.1000/a?ignore_aliases", 302, "https://example.org/own"),
        ("/20.1000/x", 404, ""),
        ("/20.1000/lost", 404, ""),
        ("/20.1000/off", 410, ""),
        ("/20.1000/away", 301, "/20.9/a%20b"),
    ] {
        let answer = server.get(target);
        assert_eq!(
            (answer.status, answer.location()),
            (status, location),
            "{target}"
        );
    }
    assert!(
        server
            .get("/20.1000/x")
            .body
            .contains("alias chain is too long")
    );
    assert!(
        server
            .get("/20.1000/a?noredirect")
            .body
            .contains("https://example.org/5555")
    );
    let json = server.accepting("/20.1000/a", "application/json");
    assert!(json.body.contains("HS_ALIAS"), "JSON never follows");
}

#[test]
fn what_is_not_there_says_why_to_people_and_to_programs() {
    let server = Server::start();
    for (path, status, code, words) in [
        ("/20.1000/nothing", 404, "not-found", "cannot be found"),
        ("/20.1000/soon", 404, "not-found", "cannot be found"),
        (
            "/20.1000/nothing/",
            404,
            "not-found",
            "Try it without: <a href=\"/20.1000/nothing\">",
        ),
        (
            "/20.1000/gone",
            410,
            "withdrawn",
            "a &lt;b&gt;mistake&lt;/b&gt;",
        ),
        ("/20.9999/x", 400, "no-authority", "not served here"),
        ("/nothing", 404, "not-found", "cannot be found"),
        (
            "/urn:urn-3:HUL.OIS:none",
            404,
            "not-found",
            "cannot be found",
        ),
        (
            "/urn:urn-3:NOBODY:none",
            404,
            "not-found",
            "cannot be found",
        ),
        ("/urn:urn-3:!", 400, "malformed", "no identifier"),
        ("/ark:12025/none", 404, "not-found", "cannot be found"),
        ("/info:lccn/none", 404, "not-found", "cannot be found"),
        ("/20.1000/%zz", 400, "malformed", "hexadecimal"),
        ("/20.1000/%ff", 400, "malformed", "UTF-8"),
        ("/20.1000/%00", 400, "malformed", "no identifier"),
        (
            "/20.1000/%3Cscript%3E",
            404,
            "not-found",
            "20.1000/&lt;script&gt;",
        ),
        ("/20.1000/..", 404, "not-found", "cannot be found"),
        ("/../20.1000/5555", 400, "malformed", "no identifier"),
        ("/20.1000//5555", 404, "not-found", "cannot be found"),
    ] {
        let page = server.get(path);
        assert_eq!(page.status, status, "{path}");
        assert!(
            page.header("content-type")
                .unwrap()
                .starts_with("text/html"),
            "{path}"
        );
        assert!(
            page.header("content-security-policy")
                .unwrap()
                .starts_with("default-src 'none'")
        );
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert!(page.body.contains(words), "{path} {}", page.body);
        let problem = server.accepting(path, "application/json");
        assert_eq!(problem.status, status, "{path}");
        assert_eq!(
            problem.header("content-type"),
            Some("application/problem+json"),
            "{path}"
        );
        let problem: Json = serde_json::from_str(&problem.body).unwrap();
        assert_eq!(
            (problem["status"].clone(), problem["code"].clone()),
            (status.into(), code.into())
        );
    }
    let gone = server.accepting("/20.1000/gone", "application/problem+json");
    let gone: Json = serde_json::from_str(&gone.body).unwrap();
    assert_eq!(
        (gone["reason"].clone(), gone["successor"].clone()),
        ("a <b>mistake</b>".into(), "20.1000/5555".into())
    );
    assert!(
        server
            .get("/20.1000/nothing")
            .body
            .contains("desk@library.example")
    );
    let long = server.get(&format!("/20.1000/{}", "x".repeat(9_000)));
    assert_eq!(long.status, 400);
}

#[test]
fn programs_get_the_record_or_its_links() {
    let server = Server::start();
    for id in [
        "20.1000/5555",
        "urn:urn-3:HUL.OIS:Home",
        "ark:12025/654xz321",
    ] {
        let answer = server.accepting(&format!("/{id}"), "application/json");
        assert_eq!(
            answer.header("content-type"),
            Some("application/json;charset=UTF-8")
        );
        let record: Json = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(
            (record["responseCode"].clone(), record["handle"].clone()),
            (1.into(), id.into())
        );
        assert_eq!(record["values"][0]["type"], "URL");
        let set = server.accepting(&format!("/{id}"), "application/linkset+json");
        assert_eq!(set.header("content-type"), Some("application/linkset+json"));
        let set: Json = serde_json::from_str(&set.body).unwrap();
        let anchor = format!("http://names.example:8000/{id}");
        assert_eq!(set["linkset"][0]["anchor"], anchor);
        assert_eq!(set["linkset"][0]["cite-as"][0]["href"], anchor);
    }
    let own = server.accepting("/0.SITE/ADMIN", "application/json");
    assert!(own.body.contains("HS_PUBKEY"), "{}", own.body);
    assert_eq!(server.get("/0.site/admin").status, 200);
    for (accept, status) in [
        ("text/html, application/json", 302),
        ("*/*", 302),
        ("application/json;q=0, */*", 302),
        ("application/json;q=0.4, text/html;q=0.3", 200),
        (",,;;q=/,*", 302),
        ("application/json, */*", 200),
        ("\u{fc}/json", 302),
    ] {
        assert_eq!(
            server.accepting("/20.1000/5555", accept).status,
            status,
            "{accept}"
        );
    }
}

#[test]
fn stored_octets_never_leave_their_place() {
    let server = Server::start();
    for (at, (stored, location)) in [
        (
            "https://a.example/\r\nSet-Cookie: a=b",
            "https://a.example/%0D%0ASet-Cookie:%20a=b",
        ),
        (
            "https://a.example/%0D%0ASet-Cookie: a",
            "https://a.example/%0D%0ASet-Cookie:%20a",
        ),
        (
            "https://a.example/\u{fc} \"<x>",
            "https://a.example/%C3%BC%20%22%3Cx%3E",
        ),
        ("  ftp://a.example/x\n", "ftp://a.example/x"),
    ]
    .into_iter()
    .enumerate()
    {
        server.name(
            &format!("20.1000/inject{at}"),
            &[(1, "URL", stored.as_bytes())],
        );
        let answer = server.get(&format!("/20.1000/inject{at}"));
        assert_eq!((answer.status, answer.location()), (302, location));
        assert_eq!(answer.header("set-cookie"), None);
    }
    for (at, stored) in [
        "mailto:a@b.example",
        "file:///etc/passwd",
        "//evil.example/",
        "/local",
    ]
    .iter()
    .enumerate()
    {
        server.name(
            &format!("20.1000/other{at}"),
            &[(1, "URL", stored.as_bytes())],
        );
        let answer = server.get(&format!("/20.1000/other{at}"));
        assert_eq!((answer.status, answer.location()), (200, ""), "{stored}");
    }
    server.name("20.1000/xss", &[
        (1, "DESC", b"<script>alert(1)</script>"),
        (2, "x/\"><script>", b"' onload='x"),
        (3, "10320/links", br#"<links><location rel="item&#10;X: y" href="https://l.example/&#13;&#10;Evil: 1" title="&lt;script&gt;"/></links>"#),
        (4, "BIN", b"\0\xFF"),
    ]);
    let page = server.get("/20.1000/xss?noredirect");
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("<script"), "{}", page.body);
    assert!(page.body.contains("00FF"));
    assert_eq!((page.header("evil"), page.header("x")), (None, None));
    assert!(
        page.header("link")
            .unwrap()
            .contains("https://l.example/%0D%0AEvil:%201")
    );
}

#[test]
fn methods_and_other_sites() {
    let server = Server::start();
    for method in ["PUT", "DELETE", "PATCH", "TRACE", "NONSENSE"] {
        let refused = server.ask(method, "/20.1000/5555", "");
        assert_eq!(refused.status, 405, "{method}");
        assert_eq!(refused.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    }
    assert_eq!(
        server.ask("OPTIONS", "/20.1000/5555", "").header("allow"),
        Some("GET, HEAD, POST, OPTIONS")
    );
    assert_eq!(server.ask("OPTIONS", "*", "").status, 200);
    let origin = "Origin: https://page.example\r\n";
    let preflight = server.ask(
        "OPTIONS",
        "/20.1000/5555",
        &format!("{origin}Access-Control-Request-Method: GET\r\n"),
    );
    assert_eq!(preflight.status, 200);
    assert_eq!(
        preflight.header("access-control-allow-methods"),
        Some("GET,POST,HEAD")
    );
    for answer in [
        preflight,
        server.ask("GET", "/20.1000/5555", origin),
        server.ask("GET", "/20.1000/none", origin),
    ] {
        assert_eq!(
            answer.header("access-control-allow-origin"),
            Some("https://page.example")
        );
        assert!(
            answer
                .header("access-control-expose-headers")
                .unwrap()
                .contains("Link")
        );
    }
    let posted = |target: &str, body: &str| {
        let length = format!(
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            body.len()
        );
        server.raw(
            format!("POST {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{length}\r\n{body}")
                .as_bytes(),
        )
    };
    assert_eq!(
        posted("/20.1000/5555", "urlappend=x").location(),
        "https://example.org/5555x"
    );
    assert_eq!(posted("/", "hdl=20.1000/5555").location(), "/20.1000/5555");
    assert_eq!(posted("/", &"x".repeat(20_000)).status, 413);
}

#[test]
fn the_front_page_takes_any_identifier_and_says_where_it_is() {
    let server = Server::start();
    let front = server.get("/");
    assert_eq!(front.status, 200);
    assert!(front.body.contains("name=\"id\""));
    assert!(
        front
            .body
            .contains("<code>http://names.example:8000/</code>")
    );
    assert!(front.body.contains("<code>uri-res</code>"));
    let said: Json = serde_json::from_str(&server.accepting("/", "application/json").body).unwrap();
    assert_eq!(said["base"], "http://names.example:8000");
    assert_eq!(said["acceptedFirstSegments"][0], "hdl");
    for (typed, location) in [
        ("20.1000/5555", "/20.1000/5555"),
        (
            "https%3A%2F%2Fhdl.handle.net%2F20.1000%2F5555",
            "/20.1000/5555",
        ),
        (
            "%20%3Curn%3Aurn-3%3AHUL.OIS%3AHome%3E",
            "/urn:urn-3:hul.ois:home",
        ),
        ("ark%3A%2F12025%2F654xz321", "/ark:12025/654xz321"),
        ("info%3Alccn%2F2002022641", "/info:lccn/2002022641"),
        (
            "doi%3A10.1045%2FApril2006-paskin",
            "/10.1045/april2006-paskin",
        ),
        ("%0D%0ASet-Cookie%3A%20a%3Db", "/Set-Cookie:%20a%3Db"),
        ("20.1000/a%20b/%C3%BC%25", "/20.1000/a%20b/%C3%BC%25"),
        ("20.1000/5555&noredirect=1", "/20.1000/5555?noredirect"),
    ] {
        let answer = server.get(&format!("/?id={typed}"));
        let location = location.replace("%3D", "=");
        assert_eq!(
            (answer.status, answer.location()),
            (303, location.as_str()),
            "{typed}"
        );
    }
    assert_eq!(server.get("/robots.txt").status, 200);
    assert_eq!(server.get("/favicon.ico").status, 204);
    let odd = server.raw(b"GET / HTTP/1.1\r\nHost: <script>\r\nConnection: close\r\n\r\n");
    assert!(!odd.body.contains("<script"));
}

#[test]
fn strange_requests_are_refused_and_nothing_else_happens() {
    let server = Server::start();
    let huge = [
        b"GET / HTTP/1.1\r\nX: ".to_vec(),
        vec![b'x'; 200_000],
        b"\r\n\r\n".to_vec(),
    ]
    .concat();
    assert_eq!(server.raw(&huge).status, 431);
    let long = [
        b"GET /20.1000/".to_vec(),
        vec![b'x'; 70_000],
        b" HTTP/1.1\r\n\r\n".to_vec(),
    ]
    .concat();
    assert!(matches!(server.raw(&long).status, 414 | 431));
    for request in [
        &b"GET /20.1000/a\0b HTTP/1.1\r\n\r\n"[..],
        b"GET /20.1000/a\rb HTTP/1.1\r\n\r\n",
        b"GET /20.1000/\xFF\xFE HTTP/1.1\r\n\r\n",
        b"GET 20.1000/5555 HTTP/1.1\r\n\r\n",
        b"nonsense\r\n\r\n",
    ] {
        assert_eq!(server.raw(request).status, 400);
    }
    let absolute = server.raw(
        b"GET http://other.example/20.1000/5555 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(absolute.location(), "https://example.org/5555");
    assert_eq!(server.get("/20.1000/5555").status, 302);
}

#[test]
fn a_template_makes_names() {
    let server = Server::start();
    let template = br#"<namespace><template delimiter="@"><foreach>
        <if value="type" test="equals" expression="URL"><value data="${data}?e=${extension}"/></if>
        <else><value/></else></foreach></template></namespace>"#;
    let edit = handfast_registry::Edit::put(vec![NewValue::new(7, "HS_NAMESPACE", template)]);
    server
        .registry
        .edit_name(&Principal::Operator, "0.NA/20.1000", edit)
        .unwrap();
    let answer = server.get("/20.1000/5555@foo/bar");
    assert_eq!(
        (answer.status, answer.location()),
        (302, "https://example.org/5555?e=foo/bar")
    );
    assert_eq!(server.get("/20.1000/none@foo").status, 404);
    let json = server.accepting("/20.1000/5555@foo", "application/json");
    assert!(json.body.contains("\"handle\":\"20.1000/5555@foo\""));
}

#[test]
fn a_namespace_adds_locations_or_closes_a_prefix() {
    let server = Server::start();
    // Known before, so that what is remembered of prefixes has to be forgotten.
    assert_eq!(server.get("/20.1000/5555").status, 302);
    server.name(
        "10.1045/locs",
        &[(
            1,
            "10320/loc",
            br#"<locations><location href_template="https://meta.example/{hdl:path}" weight="0" http_role="conneg"/></locations>"#,
        )],
    );
    let say = |xml: &[u8]| {
        let edit = handfast_registry::Edit::put(vec![NewValue::new(7, "HS_NAMESPACE", xml)]);
        let registry = &server.registry;
        registry
            .edit_name(&Principal::Operator, "0.NA/20.1000", edit)
            .unwrap();
    };
    say(b"<namespace><locs>10.1045/locs</locs></namespace>");
    assert_eq!(
        server.get("/20.1000/5555").location(),
        "https://example.org/5555"
    );
    let negotiated = server.accepting("/20.1000/5555", "application/x-bibtex");
    assert_eq!(negotiated.location(), "https://meta.example/20.1000/5555");
    say(b"<namespace><status>inactive</status><statusmsg>ask <us></statusmsg></namespace>");
    assert_eq!(
        server.get("/20.1000/5555").status,
        302,
        "what is no XML says nothing"
    );
    say(b"<namespace><status>inactive</status><statusmsg>ask us</statusmsg></namespace>");
    let closed = server.get("/20.1000/5555");
    assert_eq!(closed.status, 404);
    assert!(closed.body.contains("ask us"));
    assert_eq!(server.get("/uri-res/N2L?hdl:20.1000/5555").status, 404);
    assert_eq!(server.get("/10.1045/april2006-paskin").status, 302);
}

/// Targets that nobody thought of are answered, and never with a failure of the server.
#[test]
fn no_target_makes_the_server_fail() {
    const PARTS: [&str; 40] = [
        "/",
        "//",
        "%2F",
        "%2f",
        "%00",
        "%0D%0A",
        "%ff",
        "%",
        "%C3%BC",
        "..",
        ".",
        "hdl:",
        "hdl/",
        "doi:",
        "info:",
        "info:hdl/",
        "urn:",
        "urn-3:",
        "urn:hdl:",
        "ark:",
        "20.1000",
        "5555",
        "10.1045",
        "0.NA",
        "100.102",
        "F58FB49EB1F848f0A606E84CEF294BE5",
        "?",
        "&",
        ";",
        "=",
        "+",
        "type=",
        "index=1",
        "noredirect",
        "locatt=a:b",
        "urlappend=",
        "action=showurls",
        "uri-res/N2Ls?",
        "uri-res/L2Ns?",
        "https://",
    ];
    let server = Server::start();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below).unwrap()
    };
    for _ in 0..600 {
        let count = 1 + next(9);
        let parts = (0..count).map(|_| PARTS[next(40)]);
        let target = format!("/{}", parts.collect::<String>());
        let accept = [
            "*/*",
            "application/json",
            "text/html",
            "application/linkset+json",
        ][next(4)];
        let answer = server.accepting(&target, accept);
        assert!(
            matches!(answer.status, 200 | 301 | 302 | 303 | 400 | 404 | 410 | 501),
            "{target} {}",
            answer.head
        );
    }
}
