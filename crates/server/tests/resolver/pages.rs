//! What people and programs are told, and what nobody can make the server say.

use handfast_testing::Server;
use serde_json::json;

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
        ("/info:lccn/none", 404, "no-resolution", "cannot be found"),
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
        let problem = problem.json();
        assert_eq!(
            (problem["status"].clone(), problem["code"].clone()),
            (status.into(), code.into())
        );
    }
    let gone = server.accepting("/20.1000/gone", "application/problem+json");
    let gone = gone.json();
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
        let record = answer.json();
        assert_eq!(
            (record["responseCode"].clone(), record["handle"].clone()),
            (1.into(), id.into())
        );
        assert_eq!(record["values"][0]["type"], "URL");
        let set = server.accepting(&format!("/{id}"), "application/linkset+json");
        assert_eq!(set.header("content-type"), Some("application/linkset+json"));
        let set = set.json();
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
    server.name(
        "20.1000/xss",
        &[
            (1, "DESC", b"<script>alert(1)</script>"),
            (2, "x/\"><script>", b"' onload='x"),
            (
                3,
                "10320/links",
                br#"<links>
            <location rel="item&#10;X: y" href="https://l.example/&#13;&#10;Evil: 1"
            title="&lt;script&gt;"/></links>"#,
            ),
            (4, "BIN", b"\0\xFF"),
        ],
    );
    let page = server.get("/20.1000/xss?noredirect");
    assert_eq!(page.status, 200);
    assert!(!page.has_foreign_script(), "{}", page.body);
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
        let refused = server.ask(method, "/20.1000/5555", &[], None);
        assert_eq!(refused.status, 405, "{method}");
        assert_eq!(refused.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    }
    assert_eq!(
        server
            .ask("OPTIONS", "/20.1000/5555", &[], None)
            .header("allow"),
        Some("GET, HEAD, POST, OPTIONS")
    );
    assert_eq!(server.ask("OPTIONS", "*", &[], None).status, 200);
    let origin = "Origin: https://page.example\r\n";
    let preflight = server.ask(
        "OPTIONS",
        "/20.1000/5555",
        &[&format!("{origin}Access-Control-Request-Method: GET\r\n")],
        None,
    );
    assert_eq!(preflight.status, 200);
    assert_eq!(
        preflight.header("access-control-allow-methods"),
        Some("GET,POST,HEAD")
    );
    for answer in [
        preflight,
        server.get_with("/20.1000/5555", &[origin]),
        server.get_with("/20.1000/none", &[origin]),
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
    // The first field of the page is the box.
    let field = front.body.find("<input").unwrap();
    assert!(front.body[field..].starts_with("<input type=\"text\" id=\"id\" name=\"id\""));
    let about = server.get("/registry/about").body;
    assert!(about.contains("<code>http://names.example:8000/</code>"));
    assert!(about.contains("<code>uri-res</code>"), "{about}");
    let said = server
        .accepting("/registry/about", "application/json")
        .json();
    assert_eq!(said["resolver"]["base"], "http://names.example:8000");
    let said = server.accepting("/", "application/json").json();
    assert_eq!(said["base"], "http://names.example:8000");
    assert_eq!(said["first-segments"], json!(["", "hdl"]));
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
        ("20.1000/a%20b/%C3%BC%25", "/20.1000/a%20b/%C3%BC%25"),
        ("20.1000/5555&noredirect=1", "/20.1000/5555?noredirect"),
        // Forms send a blank as `+`, and people paste blanks.
        ("++20.1000/5555+", "/20.1000/5555"),
        ("20.1000", "/20.1000"),
        // The server's own addresses, with or without scheme and `hdl/`.
        (
            "+http%3A%2F%2Fnames.example%3A8000%2F20.1000%2F5555+",
            "/20.1000/5555",
        ),
        (
            "http%3A%2F%2Fnames.example%3A8000%2Fhdl%2F20.1000%2F5555%3Fx%3D1&noredirect=1",
            "/hdl/20.1000/5555?x=1&noredirect",
        ),
        (
            "names.example%3A8000%2Fhdl%3A20.1000%2F5555",
            "/hdl:20.1000/5555",
        ),
    ] {
        let answer = server.get(&format!("/?id={typed}"));
        assert_eq!(
            (answer.status, answer.location()),
            (303, location),
            "{typed}"
        );
    }
    // Chromium applies `form-action` to the redirects that follow: `'self'` alone blocked every
    // name that leads away.
    let policy = front.header("content-security-policy").unwrap();
    assert!(
        policy.contains("form-action 'self' http: https: ftp:;"),
        "{policy}"
    );
    // A word led away from the box, to a page that said "not found".
    for typed in ["hello", "5555", "hello+world", "%22", "20.1000/", "/x"] {
        let refused = server.get(&format!("/?id={typed}"));
        assert_eq!((refused.status, refused.location()), (400, ""), "{typed}");
        let body = &refused.body;
        let typed = typed.replace('+', " ").replace("%22", "&quot;");
        let field = body.find(&format!("value=\"{typed}\"")).unwrap();
        assert!(field < body.find("role=\"alert\"").unwrap(), "{body}");
        // An exact error has its own remedy, without the general advice beside it.
        let has_advice = body.contains("such as 10.1045/april2006-paskin");
        assert_eq!(has_advice, typed != "20.1000/", "{body}");
    }
    // A prefix has a page of its own, homed here or not.
    for (typed, location) in [("20.9999", "/20.9999"), ("hdl%3A20.1000", "/hdl:20.1000")] {
        let answer = server.get(&format!("/?id={typed}"));
        assert_eq!((answer.status, answer.location()), (303, location));
    }
    // A visitor is told what to type, and never about flags of the command line.
    for typed in [
        "http%3A%2F%2Fother.example%2F20.1000%2F5555",
        "%0D%0ASet-Cookie%3A%20a%3Db",
        "mailto%3Aa%22%3Cscript%3E",
        "+",
    ] {
        let refused = server.get(&format!("/?id={typed}"));
        assert_eq!((refused.status, refused.location()), (400, ""), "{typed}");
        assert_eq!(refused.header("set-cookie"), None);
        let body = &refused.body;
        assert!(body.contains("name=\"id\"") && body.contains("role=\"alert\""));
        assert!(!refused.has_foreign_script(), "{body}");
        assert!(!main_of(body).contains("--"), "{body}");
        let problem = server.accepting(&format!("/?id={typed}"), "application/json");
        let problem = problem.json();
        assert_eq!(problem["code"], "malformed", "{typed}");
    }
    for path in ["/http:%2F%2Fother.example/20.1000/5555", "/gopher:x/y"] {
        let refused = server.get(path);
        assert!(!main_of(&refused.body).contains("--"), "{}", refused.body);
    }
    assert_eq!(server.get("/robots.txt").status, 200);
    assert_eq!(server.get("/favicon.ico").status, 204);
    let odd = server.raw(b"GET / HTTP/1.1\r\nHost: <script>\r\nConnection: close\r\n\r\n");
    assert!(!odd.has_foreign_script());
}

/// The content of a page, without its head.
fn main_of(body: &str) -> &str {
    let start = body.find("<main").unwrap();
    &body[start..body.find("</main>").unwrap()]
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
