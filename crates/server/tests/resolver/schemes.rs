//! What is particular to ARKs, DOIs and hosts in other letters (`http-interfaces.md` B.4, E).

use handfast_registry::Principal;
use handfast_testing::Server;

#[test]
fn parts_of_an_ark_lead_where_the_whole_leads() {
    let server = Server::start();
    server.name("ark:12025/x5abc", &[(1, "URL", b"https://ark.example/x5")]);
    server.name(
        "ark:12025/x5abc/p3",
        &[(1, "URL", b"https://ark.example/page3")],
    );
    server.name("ark:12025/host", &[(1, "URL", b"https://ark.example")]);
    server.name("ark:12025/gone", &[(1, "URL", b"https://ark.example")]);
    let registry = &server.registry;
    registry
        .withdraw_name(&Principal::Operator, "ark:12025/gone", "old", None)
        .unwrap();
    for (path, status, location) in [
        ("/ark:12025/x5abc", 302, "https://ark.example/x5"),
        ("/ark:12025/x5-abc/", 302, "https://ark.example/x5"),
        ("/ark:12025/x5abc/p4", 302, "https://ark.example/x5/p4"),
        (
            "/ark:/12025/x5-abc/p-4.tiff",
            302,
            "https://ark.example/x5/p-4.tiff",
        ),
        (
            "/ark:12025/x5abc/p3.tiff",
            302,
            "https://ark.example/page3.tiff",
        ),
        (
            "/ark:12025/x5abc/p3/deep/er.v1",
            302,
            "https://ark.example/page3/deep/er.v1",
        ),
        ("/info:ark/12025/x5abc/p4", 302, "https://ark.example/x5/p4"),
        // Text from the client does not lead to another host.
        (
            "/ark:12025/host.evil.example",
            302,
            "https://ark.example/.evil.example",
        ),
        ("/ark:12025/x5abc/%0D%0AEvil:1", 400, ""),
        ("/ark:12025/gone/p1", 410, ""),
        ("/ark:12025/x5abcd", 404, ""),
        ("/ark:12025/none/x", 404, ""),
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (status, location),
            "{path}"
        );
        assert_eq!(answer.header("evil"), None);
    }
    let listed = server.get("/uri-res/N2Ls?ark:12025/x5abc/p4");
    assert!(
        listed.body.ends_with("\r\nhttps://ark.example/x5/p4\r\n"),
        "{}",
        listed.body
    );
    let missing = server.get("/ark:12025/none/x");
    assert!(
        missing.body.contains("https://n2t.net/ark:12025/none"),
        "{}",
        missing.body
    );
    for path in [
        "/ark:12025/none/%3Cscript%3E",
        "/ark:12025/none/'onclick='x",
    ] {
        let missing = server.get(path);
        assert!(matches!(missing.status, 400 | 404), "{path}");
        assert!(!missing.has_foreign_script() && !missing.body.contains("'onclick"));
    }
}

#[test]
fn inflections_of_an_ark_describe_it() {
    let server = Server::start();
    server.name(
        "ark:12025/x5abc",
        &[
            (1, "URL", b"https://ark.example/x5"),
            (2, "dc.title", b"A map\r\nwhere: https://evil.example/"),
            (3, "WHO", b"<b>A Person</b>"),
        ],
    );
    for (inflection, is_full) in [("?", false), ("??", true), ("?info", true)] {
        let target = format!("/ark:/12025/x5-abc{inflection}");
        let text = server.get(&target);
        assert_eq!(
            (text.status, text.header("content-type")),
            (200, Some("text/plain; charset=utf-8"))
        );
        let start = "erc:\nwho: <b>A Person</b>\nwhat: A map where: https://evil.example/\n\
            when: (:unav)\nwhere: http://names.example:8000/ark:12025/x5abc\n";
        assert!(text.body.starts_with(start), "{}", text.body);
        let support = "erc-support:\nwho: desk@library.example\nwhat: (:permanent)";
        assert_eq!(text.body.contains(support), is_full, "{inflection}");
        assert!(text.header("link").unwrap().contains("cite-as"));
        let page = server.accepting(&target, "text/html,*/*;q=0.8");
        assert!(
            page.header("content-type")
                .unwrap()
                .starts_with("text/html")
        );
        assert!(
            page.body.contains("&lt;b&gt;A Person&lt;/b&gt;"),
            "{}",
            page.body
        );
    }
    assert_eq!(server.get("/ark:12025/x5abc?other").status, 302);
    assert_eq!(server.get("/ark:12025/none?info").status, 404);
}

#[test]
fn browsers_get_pages_and_scripts_that_cite_never_do() {
    let server = Server::start();
    let locations = br#"<locations><location href="https://landing.example/"/>
        <location href_template="https://meta.example/\
            {hdl:path}" http_role="conneg" weight="0"/></locations>"#;
    server.name("10.1045/full", &[(1, "10320/loc", locations)]);
    for (accept, full, bare) in [
        ("*/*", "landing", 302),
        ("text/html", "landing", 302),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "landing", 302),
        ("image/avif,image/webp,*/*;q=0.8", "landing", 302),
        ("application/vnd.citationstyles.csl+json", "meta", 204),
        ("application/x-bibtex", "meta", 204),
        ("application/x-research-info-systems", "meta", 204),
        ("text/x-bibliography; style=apa; locale=en-US", "meta", 204),
        ("application/rdf+xml;q=0.5, text/turtle", "meta", 204),
        ("application/ld+json", "meta", 204),
        ("application/vnd.crossref.unixref+xml", "meta", 204),
        (
            "application/vnd.datacite.datacite+json, text/html;q=0",
            "meta",
            204,
        ),
        ("application/x-bibtex, */*;q=0.1", "meta", 302),
        ("application/zip", "meta", 302),
    ] {
        let answer = server.accepting("/10.1045/full", accept);
        assert_eq!(answer.status, 302, "{accept}");
        assert!(
            answer
                .location()
                .starts_with(&format!("https://{full}.example/")),
            "{accept}"
        );
        let answer = server.accepting("/10.1045/april2006-paskin", accept);
        assert_eq!(answer.status, bare, "{accept}");
        assert!(answer.header("vary").unwrap().contains("Accept"));
        assert!(answer.header("link").unwrap().contains("describedby"));
        // Nobody knows what the place of another handle negotiates itself.
        assert_eq!(
            server.accepting("/20.1000/5555", accept).status,
            302,
            "{accept}"
        );
    }
    assert_eq!(
        server
            .accepting("/10.1045/none", "application/x-bibtex")
            .status,
        404
    );
}

#[test]
fn hosts_in_other_letters_are_written_in_ours() {
    let server = Server::start();
    for (at, (stored, location)) in [
        (
            "https://b\u{fc}cher.example/\u{fc}?\u{fc}#x",
            "https://xn--bcher-kva.example/%C3%BC?%C3%BC#x",
        ),
        (
            "https://u:p@B\u{dc}CHER.example:8443",
            "https://u:p@xn--bcher-kva.example:8443",
        ),
        (
            "https://plain.example/b\u{fc}",
            "https://plain.example/b%C3%BC",
        ),
        // What would be another host if it were written in our letters is left as it is.
        (
            "https://evil.example\u{ff0f}.plain.example/",
            "https://evil.example%EF%BC%8F.plain.example/",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("20.1000/host{at}");
        server.name(&id, &[(1, "URL", stored.as_bytes())]);
        for query in ["", "?auth"] {
            assert_eq!(
                server.get(&format!("/{id}{query}")).location(),
                location,
                "{stored}"
            );
        }
    }
}
