//! Records and requests that mean harm: nothing fails, nothing loops, nothing leaves its place.

use handfast_registry::{Edit, NewValue, Principal};
use handfast_testing::Server;

fn say(server: &Server, xml: &str) {
    let edit = Edit::put(vec![NewValue::new(7, "HS_NAMESPACE", xml.as_bytes())]);
    let registry = &server.registry;
    registry
        .edit_name(&Principal::Operator, "0.NA/20.1000", edit)
        .unwrap();
}

/// All that can be asked of a name.
fn ask_everything(server: &Server, id: &str) {
    for (accept, targets) in [
        (
            "*/*",
            &[
                "",
                "?noredirect",
                "?action=showurls",
                "?action=metadata",
                "?redirectionHeaders",
                "?locatt=a:b",
                "?action=api",
            ][..],
        ),
        ("application/json", &[""]),
        ("application/linkset+json", &[""]),
        ("application/linkset", &[""]),
        ("application/x-bibtex", &[""]),
    ] {
        for query in targets {
            let answer = server.accepting(&format!("/{id}{query}"), accept);
            assert!(
                matches!(answer.status, 200 | 204 | 301 | 302 | 303 | 307 | 404),
                "{id}{query} {}",
                answer.head
            );
            for evil in ["evil", "set-cookie", "refresh"] {
                assert_eq!(answer.header(evil), None, "{id}{query} {}", answer.head);
            }
            let framing = answer.header("x-frame-options");
            assert!(matches!(framing, None | Some("DENY")), "{}", answer.head);
            if answer
                .header("content-type")
                .is_some_and(|kind| kind.starts_with("text/html"))
            {
                assert!(!answer.has_foreign_script(), "{id}{query} {}", answer.body);
                assert!(answer.header("content-security-policy").is_some());
            }
        }
    }
    for service in ["N2L", "N2Ls", "N2R", "N2Rs", "N2C", "N2Cs", "N2Ns", "I2N"] {
        let answer = server.get(&format!("/uri-res/{service}?hdl:{id}"));
        assert!(
            matches!(answer.status, 200 | 302 | 303 | 307 | 404),
            "{service} {id} {}",
            answer.head
        );
        assert_eq!(answer.header("evil"), None);
    }
}

#[test]
fn large_records_are_answered() {
    let server = Server::start();
    let locations: Vec<_> = (0..2_000)
        .map(|at| {
            format!(
                "<location href='https://l{at}.example/' rel='item' weight='{at}' \
            id='{at}' anchor-id='{at}'/>"
            )
        })
        .collect();
    let locations = locations.concat();
    let xml = format!("<locations>{locations}</locations>");
    server.name("20.1000/large", &[(1, "10320/loc", xml.as_bytes())]);
    let urls: Vec<_> = (1..=1_000)
        .map(|index| (index, format!("https://u{index}.example/")))
        .collect();
    let urls: Vec<_> = urls
        .iter()
        .map(|(index, url)| (*index, "URL", url.as_bytes()))
        .collect();
    server.name("20.1000/urls", &urls);
    let deep = format!(
        "{}{}",
        "<locations>".repeat(4_000),
        "</locations>".repeat(4_000)
    );
    server.name("20.1000/deep", &[(1, "10320/loc", deep.as_bytes())]);
    let attributes: Vec<_> = (0..5_000).map(|at| format!("a{at}='b' ")).collect();
    let attributes = attributes.concat();
    let wide = format!("<locations><location href='https://w.example/' {attributes}/></locations>");
    server.name("20.1000/wide", &[(1, "10320/loc", wide.as_bytes())]);
    let headers: Vec<_> = (0..5_000)
        .map(|at| format!("X-Handle-{at}: {at}\n"))
        .collect();
    let headers = headers.concat();
    let url = (2, "URL", &b"https://example.org/"[..]);
    server.name(
        "20.1000/headers",
        &[(1, "10320/headers", headers.as_bytes()), url],
    );
    for id in ["large", "urls", "deep", "wide", "headers"] {
        ask_everything(&server, &format!("20.1000/{id}"));
    }
    let links = server.get("/20.1000/large");
    assert!(links.header("link").unwrap().len() <= 8 << 10);
    let many = server.get("/20.1000/headers");
    assert_eq!(
        (many.status, many.head.matches("x-handle-").count()),
        (302, 32)
    );
}

#[test]
fn bombs_and_nonsense_say_nothing() {
    let server = Server::start();
    let entities: Vec<_> = (1..10)
        .map(|at| format!("<!ENTITY e{at} '{}'>", format!("&e{};", at - 1).repeat(10)))
        .collect();
    let entities = entities.concat();
    let bomb = format!(
        "<!DOCTYPE l [<!ENTITY e0 'ha'>{entities}]><locations><location \
         href='https://b.example/&e9;'/></locations>"
    );
    let outside = "<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><locations><location \
        href='https://b.example/&x;'/></locations>";
    for (at, text) in [
        bomb.as_str(),
        outside,
        "",
        "<",
        "<locations",
        "<locations>\0</locations>",
        "\u{feff}<loca\
            tions/>",
        "<locations chooseby='weighted'><location weight='NaN' \
         href='https://n.example/'/><location weight='1e999' \
         href='https://m.example/'/></locations>",
        "<locations http_sc='999'><location http_sc='200' href='https://s.example/'/></locations>",
        "<locations><location href=''/><location href_template=''/><location/></locations>",
        "<locations><location href='&#13;&#10;https://b.example/&#13;&#10;Evil: 1' \
         rel='a&#10;Evil: 1' title='&#13;&#10;Evil: 1'/></locations>",
        "<locations include='' nshdl=',' overridePrefix='/' includeNamespace='0.NA/20.1000 ../.. \
         %00'><location href='https://i.example/'/></locations>",
        "<locations><location href='javascript:alert(1)'/><location \
         href='data:text/html,&lt;script&gt;'/></locations>",
        "<l:locations xmlns:l='x'><l:location l:href='https://x.example/' \
         href='https://y.example/'/></l:locations>",
    ]
    .into_iter()
    .enumerate()
    {
        let types = ["10320/loc", "10320/links", "10320/headers", "HS_NAMESPACE"];
        for (kind, value_type) in types.into_iter().enumerate() {
            let id = format!("20.1000/bad{at}-{kind}");
            let url = (2, "URL", &b"https://example.org/"[..]);
            server.name(&id, &[(1, value_type, text.as_bytes()), url]);
            ask_everything(&server, &id);
        }
        say(&server, text);
        ask_everything(&server, "20.1000/5555");
    }
}

#[test]
fn what_is_not_text_stays_in_its_place() {
    let server = Server::start();
    for (at, bytes) in [
        &b"\xFF\xFE\0"[..],
        b"<script>alert(1)</script>",
        b"\r\nEvil: 1\r\n\r\n<script>",
        b"%0D%0AEvil:%201",
        b"{hdl}${data}",
        b"https://",
        b"https://\xC0\xAF/\r\nEvil: 1",
    ]
    .into_iter()
    .enumerate()
    {
        for (kind, value_type) in [
            "URL",
            "URL.<script>",
            "DESC",
            "EMAIL",
            "HS_ALIAS",
            "HS_ADMIN",
            "HS_SITE",
            "HS_VLIST",
            "HS_PUBKEY",
            "10320/loc",
            "10320/links",
            "10320/headers",
            "x/<script>",
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("20.1000/odd{at}-{kind}");
            let new = handfast_registry::NewName {
                values: vec![NewValue::new(1, value_type, bytes)],
                ..handfast_registry::NewName::default()
            };
            // What cannot be stored does no harm.
            if server
                .registry
                .create_name(&Principal::Operator, &id, new)
                .is_ok()
            {
                for query in ["", "?noredirect", "?ignore_aliases", "?action=showurls"] {
                    let answer = server.get(&format!("/{id}{query}"));
                    assert!(
                        matches!(answer.status, 200 | 301 | 302 | 400 | 404),
                        "{id}{query} {}",
                        answer.head
                    );
                    assert_eq!(answer.header("evil"), None, "{id}{query}");
                    assert!(!answer.has_foreign_script(), "{id}{query} {}", answer.body);
                }
            }
        }
    }
}

#[test]
fn templates_that_make_each_other_end() {
    let server = Server::start();
    for template in [
        r#"<namespace><template delimiter="@"><value type="HS_ALIAS" data="${handle}@"/></template>
            </namespace>"#,
        r#"<namespace><template delimiter="@"><value type="HS_ALIAS" data="${base}@${extension}"/>
            </template></namespace>"#,
        r#"<namespace><template delimiter="@" ref="7:0.NA/20.1000"/></namespace>"#,
        r#"<namespace><locs>20.1000/a@b</locs><template delimiter="@">
            <value type="10320/loc" data="&lt;locations include='${handle}@ ${handle}@@'/>"/>
            </template></namespace>"#,
        r#"<namespace><locs>0.NA/20.1000</locs><locs>20.1000/5555@1</locs><template delimiter="@">
            <foreach><value data="${data}${data}"/></foreach></template></namespace>"#,
    ] {
        say(&server, template);
        for path in [
            "/20.1000/5555@1",
            "/20.1000/none@1",
            "/20.1000/5555@1@1",
            "/20.1000/5555",
        ] {
            for query in ["", "?noredirect", "?action=showurls"] {
                let answer = server.get(&format!("{path}{query}"));
                assert!(
                    matches!(answer.status, 200 | 301 | 302 | 400 | 404),
                    "{path} {}",
                    answer.head
                );
            }
        }
    }
    say(
        &server,
        r#"<namespace><template delimiter="@"><value type="HS_ALIAS" data="${handle}@"/></template>
            </namespace>"#,
    );
    assert_eq!(server.get("/20.1000/x@1").status, 404);
    assert!(
        server
            .get("/20.1000/x@1")
            .body
            .contains("alias chain is too long")
    );
}

#[test]
fn tricks_with_paths_name_nothing_else() {
    let server = Server::start();
    for (path, statuses) in [
        ("//20.1000//5555", &[404][..]),
        ("/20.1000/5555/", &[404]),
        ("/20.1000/5555%2F", &[404]),
        ("/20.1000/./5555", &[404]),
        ("/20.1000/x/../5555", &[404]),
        ("/20.1000/x/%2E%2E/5555", &[404]),
        ("/../../etc/passwd", &[400, 404]),
        ("/%2e%2e/%2e%2e/etc/passwd", &[400, 404]),
        ("/20.1000/5555%00", &[400, 404]),
        ("/20.1000/5555%00.html", &[400, 404]),
        ("/20.1000/%C0%AF5555", &[400]),
        ("/20.1000%C0%AF5555", &[400]),
        ("/20.1000/%E0%80%AF", &[400]),
        ("/20.1000/%F8%80%80%80%AF", &[400]),
        ("/20.1000/%ED%A0%80", &[400]),
        ("/20.1000%5C5555", &[400, 404]),
        ("/20.1000\\5555", &[400, 404]),
        ("/20.1000%252F5555", &[400, 404]),
        ("/%2Fevil.example/%2e%2e", &[400, 404]),
        ("/api%2Fhandles/20.1000/5555", &[400, 404]),
        ("/20.1000/%0D%0AEvil:%201", &[400, 404]),
        ("/20.1000/5555;jsessionid=1", &[404]),
    ] {
        for query in ["", "?noredirect", "?urlappend=%0D%0AEvil:1"] {
            let answer = server.get(&format!("{path}{query}"));
            assert!(
                statuses.contains(&answer.status),
                "{path}{query} {}",
                answer.head
            );
            assert_eq!(answer.header("evil"), None);
        }
    }
    // Redirects of aliases and of the front page stay here.
    server.name("20.1000/alias", &[(1, "HS_ALIAS", b"//evil.example/x")]);
    let alias = server.get("/20.1000/alias");
    assert!(!alias.location().starts_with("//"), "{}", alias.head);
    for typed in [
        "//evil.example/",
        "%2F%2Fevil.example%2Fx",
        "%5C%5Cevil.example%5Cx",
        "https:evil.example/x",
    ] {
        let answer = server.get(&format!("/?id={typed}"));
        let location = answer.location().to_string();
        assert!(
            !location.starts_with("//") && !location.starts_with("/\\"),
            "{typed} {location}"
        );
        let is_refused = answer.status == 400 && location.is_empty();
        assert!(
            is_refused || location.starts_with('/'),
            "{typed} {location}"
        );
    }
}
