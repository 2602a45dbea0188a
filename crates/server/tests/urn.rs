//! Resolution requests (`http-interfaces.md` D), octet by octet where that matters.

use handfast_testing::Server;

const HOME: &str = "urn:urn-3:HUL.OIS:Home";

#[test]
fn a_list_of_locations_is_in_order_and_begins_with_what_was_asked() {
    let server = Server::start();
    for (service, uri) in [
        ("N2Ls", HOME),
        ("n2ls", "URN:URN-3:hul.ois:HOME"),
        ("I2LS", "urn-3:hul.ois:home"),
        ("N2Ls", "urn%3Aurn-3%3AHUL.OIS%3AHome"),
    ] {
        let answer = server.get(&format!("/uri-res/{service}?{uri}"));
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("text/uri-list"))
        );
        let expected = format!(
            "# {uri}\r\nhttps://first.example/h\r\nhttps://second.example/h\r\nftp://third.example\
             /h\r\n"
        );
        assert_eq!(answer.body, expected);
    }
    let list = |accept| server.accepting(&format!("/uri-res/N2Ls?{HOME}"), accept);
    let html = list("text/html");
    assert!(html.body.contains(
        "<ul>\n<li><a href=\"https://first.example/h\">https://first.example/h</a></li>\n"
    ));
    assert!(html.header("content-security-policy").is_some());
    let json = list("application/json").json();
    assert_eq!(
        (json["uri"].clone(), json["uris"][1].clone()),
        (HOME.into(), "https://second.example/h".into())
    );
    let xml = list("application/xml");
    assert!(xml.body.contains("<uri>ftp://third.example/h</uri>"));
    assert_eq!(
        list("text/plain").header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    assert_eq!(
        list("image/png").header("content-type"),
        Some("text/uri-list")
    );
    assert_eq!(list(";;,q=9").header("content-type"), Some("text/uri-list"));
}

#[test]
fn one_location_is_a_redirect() {
    let server = Server::start();
    for (target, status, location) in [
        (format!("N2L?{HOME}"), 303, "https://first.example/h"),
        (format!("I2L?{HOME}"), 303, "https://first.example/h"),
        (format!("n2r?{HOME}"), 302, "https://first.example/h"),
        (
            "I2R?hdl:20.1000/5555".into(),
            302,
            "https://example.org/5555",
        ),
        (
            "N2L?hdl:20.1000/5555".into(),
            303,
            "https://example.org/5555",
        ),
        ("N2L?20.1000/5555".into(), 303, "https://example.org/5555"),
        (
            "I2L?info:hdl/20.1000/5555".into(),
            303,
            "https://example.org/5555",
        ),
        (
            "I2L?doi:10.1045/April2006-Paskin".into(),
            303,
            "https://dlib.example/paskin",
        ),
        (
            "I2L?https://doi.org/10.1045/April2006-Paskin".into(),
            303,
            "https://dlib.example/paskin",
        ),
        (
            "I2L?ark:/12025/654-xz321".into(),
            303,
            "https://ark.example/1",
        ),
        (
            "I2L?info:lccn/2002022641".into(),
            303,
            "https://lccn.example/2002022641",
        ),
        (
            "I2L?100.102/f58fb49eb1f848f0a606e84cef294be5".into(),
            303,
            "https://cordra.example/o",
        ),
        (
            "I2L?100.102/f58fb49eb1f848f0a606e84cef294be5?x".into(),
            303,
            "https://cordra.example/o?x",
        ),
        (
            format!("N2L?{HOME}?=q=1"),
            303,
            "https://first.example/h?q=1",
        ),
        (
            format!("N2L?{HOME}?+r=2?=q=1&b"),
            303,
            "https://first.example/h?q=1&b",
        ),
        (format!("N2L?{HOME}?+r=2"), 303, "https://first.example/h"),
    ] {
        let answer = server.get(&format!("/uri-res/{target}"));
        assert_eq!(
            (answer.status, answer.location()),
            (status, location),
            "{target}"
        );
        let head = server.ask("HEAD", &format!("/uri-res/{target}"), &[], None);
        assert_eq!(head.sorted_head(), answer.sorted_head());
    }
    let old = server.raw(format!("GET /uri-res/N2L?{HOME} HTTP/1.0\r\n\r\n").as_bytes());
    assert_eq!(
        (old.status, old.location()),
        (302, "https://first.example/h")
    );
}

#[test]
fn descriptions_resources_and_names() {
    let server = Server::start();
    let get = |target: &str| server.get(&format!("/uri-res/{target}"));
    for service in ["N2C", "I2C"] {
        let described = get(&format!("{service}?{HOME}")).json();
        assert_eq!(described["handle"], HOME);
    }
    let several = get(&format!("N2Cs?{HOME}")).json();
    assert_eq!(several[0]["values"][2]["index"], 3);
    let page = server.accepting(&format!("/uri-res/N2C?{HOME}"), "text/html");
    assert!(page.body.contains("<td data-label=\"Type\">URL</td>"));
    let xml = server.accepting(&format!("/uri-res/N2Cs?{HOME}"), "text/xml");
    assert!(
        xml.body
            .contains("<record name=\"urn:urn-3:HUL.OIS:Home\">")
    );
    let parts = get(&format!("N2Rs?{HOME}"));
    assert_eq!(
        parts.header("content-type"),
        Some("multipart/alternative; boundary=handfast-part")
    );
    assert_eq!(parts.body.matches("--handfast-part\r\n").count(), 3);
    assert_eq!(get("I2Rs?hdl:20.1000/5555").status, 302);
    let lines = |target: &str| {
        let answer = get(target);
        assert_eq!(answer.status, 200, "{target}");
        answer
            .body
            .lines()
            .skip(1)
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&format!("N2Ns?{HOME}")), ["urn:isbn:0451450523"]);
    assert_eq!(lines(&format!("I2Ns?{HOME}")), ["urn:urn-3:hul.ois:home"]);
    assert_eq!(lines(&format!("I2N?{HOME}")), ["urn:urn-3:hul.ois:home"]);
    assert_eq!(lines("I2N?20.1000/5555"), ["hdl:20.1000/5555"]);
    assert_eq!(
        lines("L2Ns?https://first.example/h"),
        ["urn:isbn:0451450523", "urn:urn-3:hul.ois:home"]
    );
    assert_eq!(lines("I2Ns?https://ark.example/1"), ["ark:12025/654xz321"]);
    assert_eq!(
        lines("L2Ns?https://hdl.handle.net/20.1000/5555"),
        ["hdl:20.1000/5555"]
    );
    assert_eq!(
        lines("L2Ls?https://second.example/h"),
        ["https://first.example/h", "ftp://third.example/h"]
    );
    assert_eq!(get("L2C?https://ark.example/1").status, 200);
    server.name("20.1000/blank", &[(1, "URL", b"https://example.org/a b")]);
    assert_eq!(lines("N2Ls?20.1000/blank"), ["https://example.org/a%20b"]);
    assert_eq!(
        lines("L2Ns?https://example.org/a%20b"),
        ["hdl:20.1000/blank"]
    );
}

#[test]
fn equality_is_true_or_false() {
    let server = Server::start();
    for (operands, said) in [
        (format!("{HOME}%0AURN-3:hul.ois:HOME"), "TRUE\r\n"),
        (
            "hdl:20.1000/5555%0D%0Ahttps://hdl.handle.net/20.1000/5555".into(),
            "TRUE\r\n",
        ),
        ("hdl:20.1000/5555%0ahdl:20.1000/5556".into(), "FALSE\r\n"),
        ("urn:a1:b%0Aurn:a1:%62".into(), "FALSE\r\n"),
        (
            "INFO:LCCN/n78-89035%0Ainfo:lccn/n78089035".into(),
            "TRUE\r\n",
        ),
        (
            "info:LCCN/n78-89035%0Ainfo:lccn/n78089036".into(),
            "FALSE\r\n",
        ),
        ("INFO:nobody/%2541%0Ainfo:NOBODY/%2541".into(), "TRUE\r\n"),
        ("info:nobody/a%0Ainfo:nobody/A".into(), "FALSE\r\n"),
        (
            "100.102/f58fb49eb1f848f0a606e84cef294be5%0A\
             hdl:100.102/F58FB49EB1F848F0A606E84CEF294BE5"
                .into(),
            "TRUE\r\n",
        ),
        ("https://a.example/%0Ahttps://a.example/".into(), "TRUE\r\n"),
    ] {
        for service in ["I=I", "i%3Di"] {
            let answer = server.get(&format!("/uri-res/{service}?{operands}"));
            assert_eq!(
                (answer.status, answer.body.as_str()),
                (200, said),
                "{operands}"
            );
        }
    }
    let body = format!("{HOME}\r\nurn:urn-3:hul.ois:home\r\n");
    let posted = server.raw(
        format!(
            "POST /uri-res/I=I HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \
            {}\r\n\r\n{body}",
            body.len()
        )
        .as_bytes(),
    );
    assert_eq!(posted.body, "TRUE\r\n");
    for bad in [
        "",
        "urn:a1:b",
        "urn:a1:b%0A",
        "a%0Ab%0Ac",
        "urn:a1:b%0Anonsense",
    ] {
        assert_eq!(
            server.get(&format!("/uri-res/I=I?{bad}")).status,
            400,
            "{bad}"
        );
    }
}

#[test]
fn errors_are_as_tabled() {
    let server = Server::start();
    server.name("20.1000/no-url", &[(1, "DESC", b"words")]);
    for (target, status) in [
        ("N2L", 400),
        ("N2L?", 400),
        ("N2L?nonsense", 400),
        ("N2L?urn:x:y", 400),
        ("N2L?urn:urn-3:!", 400),
        ("N2L?urn:urn-3:hul.ois:home?x", 400),
        ("L2Ns?urn:urn-3:hul.ois:home", 400),
        ("I2L?gopher://a/b", 400),
        ("N2L?urn:urn-3:hul.ois:none", 404),
        ("N2L?hdl:20.9999/x", 404),
        ("N2L?hdl:20.1000/soon", 404),
        ("N2L?hdl:20.1000/no-url", 404),
        ("N2Rs?hdl:20.1000/no-url", 404),
        ("L2Ns?https://nobody.example/", 404),
        ("N2L?hdl:20.1000/gone", 410),
        ("I2Ls?hdl:20.1000/gone", 410),
        ("N2X?urn:a1:b", 501),
        ("?urn:a1:b", 501),
        ("N2L/x?urn:a1:b", 501),
        ("%3Cscript%3E?x", 501),
    ] {
        let answer = server.get(&format!("/uri-res/{target}"));
        assert_eq!(answer.status, status, "{target}");
        assert!(!answer.has_foreign_script());
        let problem = server.accepting(&format!("/uri-res/{target}"), "application/json");
        assert_eq!(
            problem.header("content-type"),
            Some("application/problem+json"),
            "{target}"
        );
    }
    let empty = server.get("/uri-res/N2Ls?hdl:20.1000/no-url");
    assert_eq!(
        (empty.status, empty.body.as_str()),
        (200, "# hdl:20.1000/no-url\r\n")
    );
    for method in ["PUT", "DELETE", "POST"] {
        let refused = server.ask(method, &format!("/uri-res/N2L?{HOME}"), &[], None);
        assert_eq!(
            (refused.status, refused.header("allow")),
            (405, Some("GET, HEAD, OPTIONS"))
        );
    }
    let options = server.ask(
        "OPTIONS",
        "/uri-res/I=I",
        &["Origin: https://p.example\r\n"],
        None,
    );
    assert_eq!(options.header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    assert_eq!(
        options.header("access-control-allow-origin"),
        Some("https://p.example")
    );
}

/// `/uri-res/I2L`, the front page's box and `%3F` lost the query of a CORDRA identifier.
#[test]
fn cid_13_queries_are_handed_on_by_every_service() {
    let server = Server::start();
    let id = "100.102/F58FB49EB1F848f0A606E84CEF294BE5";
    let target = "https://cordra.example/o";
    for (path, location) in [
        (format!("/{id}?x=1"), format!("{target}?x=1")),
        (format!("/{id}%3Fx=1"), format!("{target}?x=1")),
        // An escape for the resolver's own parameters.
        (format!("/{id}%3Ftype=URL"), format!("{target}?type=URL")),
        (format!("/{id}%3Fx=1%23f"), format!("{target}?x=1#f")),
        (format!("/hdl:{id}?x=1"), format!("{target}?x=1")),
        (
            format!("/uri-res/I2L?hdl:{id}?x=1"),
            format!("{target}?x=1"),
        ),
        (format!("/uri-res/I2L?{id}?x=1"), format!("{target}?x=1")),
        (format!("/uri-res/N2L?info:hdl/{id}"), target.to_string()),
        (
            format!("/uri-res/I2R?https://hdl.handle.net/{id}?x=1"),
            format!("{target}?x=1"),
        ),
        (
            "/uri-res/I2L?100.102/A58FB49EB1F848f0A606E84CEF294BE5?x=1".into(),
            "https://cordra.example/o?a=b&x=1#f".into(),
        ),
        // Under other prefixes the rest of a query is dropped (URI-12).
        (
            "/20.1000/5555?x=1".into(),
            "https://example.org/5555".into(),
        ),
        (
            "/uri-res/I2L?hdl:20.1000/5555?x=1".into(),
            "https://example.org/5555".into(),
        ),
    ] {
        let answer = server.get(&path);
        assert_eq!(answer.location(), location, "{path} {}", answer.head);
    }
    let list = server.get(&format!("/uri-res/I2Ls?hdl:{id}?x=1"));
    assert!(
        list.body.contains(&format!("{target}?x=1\r\n")),
        "{}",
        list.body
    );
    // The box keeps query and fragment; following it hands them on.
    let typed = server.get(&format!("/?id=hdl:{id}%3Fx%3D1%23f"));
    assert_eq!(typed.status, 303);
    assert_eq!(
        server.get(typed.location()).location(),
        format!("{target}?x=1#f")
    );
    for path in [
        format!("/{id}?%zz"),
        format!("/{id}?x=%"),
        format!("/{id}%3F%25zz"),
        format!("/uri-res/I2L?hdl:{id}?%zz"),
        format!("/uri-res/I2L?{id}?%zz"),
    ] {
        assert_eq!(server.get(&path).status, 400, "{path}");
    }
}

/// The fast path cited a name as it was asked for, the slow path as it was registered.
#[test]
fn cid_11_hdl_6_names_are_cited_as_they_were_registered() {
    let server = Server::start();
    for (asked, cited) in [
        (
            "/100.102/f58fb49eb1f848f0a606e84cef294be5",
            "/100.102/F58FB49EB1F848F0A606E84CEF294BE5",
        ),
        ("/10.1045/APRIL2006-paskin", "/10.1045/april2006-paskin"),
        ("/hdl/10.1045/APRIL2006-paskin", "/10.1045/april2006-paskin"),
        ("/20.1000/5555", "/20.1000/5555"),
    ] {
        // The second answer is the cached one.
        for end in ["", "", "?", "?x=1"] {
            let answer = server.get(&format!("{asked}{end}"));
            let link = answer.header("link").unwrap();
            let expected = format!("<{cited}>; rel=\"cite-as\"");
            assert!(link.starts_with(&expected), "{asked}{end}: {link}");
            assert!(
                !link.contains(&asked[1..]) || asked.ends_with(cited),
                "{link}"
            );
        }
    }
}

/// `N2L` took a URL that some name holds, though it takes names.
#[test]
fn urn_9_services_take_what_their_names_say() {
    let server = Server::start();
    for (path, status) in [
        ("/uri-res/N2L?https://first.example/h", 400),
        ("/uri-res/N2Ls?https://first.example/h", 400),
        ("/uri-res/L2Ns?urn:urn-3:HUL.OIS:Home", 400),
        ("/uri-res/L2Ns?https://first.example/h", 200),
        ("/uri-res/I2Ns?https://first.example/h", 200),
        // The address of a name at a resolver means the name.
        ("/uri-res/N2L?https://hdl.handle.net/20.1000/5555", 303),
        ("/urn-3%3AHUL.OIS%3AHome", 303),
        ("/urn%3Aurn-3%3AHUL.OIS%3AHome", 303),
    ] {
        assert_eq!(server.get(path).status, status, "{path}");
    }
}
