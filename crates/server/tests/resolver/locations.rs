//! Locations, links and headers that records name (`http-interfaces.md` B.5).

use handfast_registry::{Edit, NewValue, Principal};
use handfast_testing::Server;

fn say(server: &Server, prefix: &str, xml: &str) {
    let edit = Edit::put(vec![NewValue::new(7, "HS_NAMESPACE", xml.as_bytes())]);
    let id = format!("0.NA/{prefix}");
    let registry = &server.registry;
    registry.edit_name(&Principal::Operator, &id, edit).unwrap();
}

fn named(server: &Server, id: &str, xml: &str) {
    server.name(id, &[(1, "10320/loc", xml.as_bytes())]);
}

/// The locations that `action=showurls` lists.
fn listed(server: &Server, id: &str) -> Vec<String> {
    let answer = server.get(&format!("/{id}?action=showurls"));
    assert_eq!(answer.status, 200, "{id}");
    let parts = answer.body.split("href=\"https://").skip(1);
    parts
        .filter_map(|part| Some(part.split_once(".example")?.0.to_string()))
        .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn methods_choose_in_their_order() {
    let server = Server::start();
    let location =
        |name: &str, more: &str| format!("<location href=\"https://{name}.example/\" {more}/>");
    let root = |attributes: &str, locations: &[String]| {
        format!("<locations {attributes}>{}</locations>", locations.concat())
    };
    for (at, (attributes, locations, query, headers, place)) in [
        // Each method in turn, and the same when it is not asked.
        (
            "chooseby='score'",
            [("a", "score='1'"), ("b", "score='2'")],
            "",
            "",
            "b",
        ),
        (
            "chooseby='score'",
            [("a", "score='-1'"), ("b", "")],
            "",
            "",
            "b",
        ),
        (
            "chooseby='weighted'",
            [("a", "weight='0' score='9'"), ("b", "")],
            "",
            "",
            "b",
        ),
        (
            "chooseby='nonsense, score'",
            [("a", ""), ("b", "score='2'")],
            "",
            "",
            "b",
        ),
        (
            "chooseby='country' choose_by='score'",
            [("a", "country='gb'"), ("b", "score='1'")],
            "?country=gb",
            "",
            "b",
        ),
        (
            "chooseby='country'",
            [("a", ""), ("b", "country='GB' weight='0'")],
            "?country=gb",
            "",
            "b",
        ),
        (
            "chooseby='address'",
            [
                ("a", ""),
                ("b", "addresses='10.0.0.0/8,127.0.0.1' weight='0'"),
            ],
            "",
            "",
            "b",
        ),
        (
            "chooseby='locatt'",
            [("a", ""), ("b", "x='' weight='0'")],
            "?locatt=x",
            "",
            "b",
        ),
        (
            "chooseby='locatt'",
            [("a", ""), ("b", "x='1' weight='0'")],
            "?locatt=x:2",
            "",
            "a",
        ),
        (
            "",
            [("a", ""), ("b", "role='metadata' weight='0'")],
            "?action=metadata",
            "",
            "b",
        ),
        (
            "",
            [("a", ""), ("b", "language='de' weight='0'")],
            "",
            "Accept-Language: fr;q=0.4, de;q=0.5\r\n",
            "b",
        ),
        (
            "",
            [("a", "http_role='no_conneg' weight='0'"), ("b", "")],
            "",
            "",
            "a",
        ),
        (
            "",
            [("a", "http_role='browser' weight='0'"), ("b", "")],
            "",
            "User-Agent: Mozilla/5.0\r\n",
            "a",
        ),
        (
            "",
            [("a", "media-type='text/turtle' weight='0'"), ("b", "")],
            "",
            "Accept: text/turtle\r\n",
            "a",
        ),
        (
            "",
            [("a", "ctype='text/html' weight='0'"), ("b", "")],
            "",
            "Accept: text/html\r\n",
            "a",
        ),
        (
            "",
            [
                ("a", "http_role='browser' weight='0'"),
                ("b", "http_role='conneg'"),
            ],
            "",
            "Accept: image/png\r\n",
            "a",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let locations = locations.map(|(name, more)| location(name, more));
        let id = format!("20.1000/m{at}");
        named(&server, &id, &root(attributes, &locations));
        let answer = server.get_with(&format!("/{id}{query}"), &[headers]);
        let expected = format!("https://{place}.example/");
        assert_eq!(
            answer.location(),
            expected,
            "{at} {attributes} {query} {headers}"
        );
        let varies = answer.header("vary").unwrap();
        assert!(varies.contains("Accept-Language") && varies.contains("User-Agent"));
    }
}

#[test]
fn urls_join_as_their_weights_say() {
    let server = Server::start();
    let a = "<location href='https://a.example/' weight='0'/>";
    for (at, (attributes, expected)) in [
        ("urlWeight='1'", "https://plain.example/"),
        ("urlWeight='0' urlSubtypeWeight='1'", "https://sub.example/"),
        ("no_legacy='' ", "https://a.example/"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("20.1000/u{at}");
        let xml = format!("<locations {attributes}>{a}</locations>");
        server.name(
            &id,
            &[
                (1, "10320/loc", xml.as_bytes()),
                (2, "URL.x", b"https://sub.example/"),
                (3, "URL", b"https://plain.example/"),
            ],
        );
        assert_eq!(
            server.get(&format!("/{id}")).location(),
            expected,
            "{attributes}"
        );
    }
}

#[test]
fn other_names_and_namespaces_add_their_locations() {
    let server = Server::start();
    let one = |name: &str| format!("<location href=\"https://{name}.example/\"/>");
    let root =
        |attributes: &str, name: &str| format!("<locations {attributes}>{}</locations>", one(name));
    named(&server, "10.1045/of-prefix", &root("", "prefix"));
    named(&server, "10.1045/of-other", &root("", "other"));
    named(
        &server,
        "10.1045/more",
        &root("include='10.1045/deeper'", "more"),
    );
    named(
        &server,
        "10.1045/deeper",
        "<locations><loc_template href_template=\"https://deeper.example/{hdl}\"/></locations>",
    );
    say(
        &server,
        "20.1000",
        "<namespace><locs>10.1045/of-prefix</locs><locs>10.1045/more</locs></namespace>",
    );
    say(
        &server,
        "10.1045",
        "<namespace><locs>10.1045/of-other</locs></namespace>",
    );
    for (at, (attributes, locations)) in [
        ("", &["own", "prefix", "more", "deeper"][..]),
        ("no_nslocs=''", &["own"]),
        ("no_nslocs='false'", &["own", "prefix", "more", "deeper"]),
        ("nshdl='10.1045/deeper'", &["own", "deeper"]),
        ("overridePrefix='10.1045'", &["own", "other"]),
        (
            "includeNamespace='10.1045' no_nslocs='true'",
            &["own", "other"],
        ),
        (
            "include='10.1045/more, 10.1045/nothing' no_nslocs=''",
            &["own", "more", "deeper"],
        ),
        (
            "include='10.1045/more'",
            &["own", "more", "deeper", "prefix"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("20.1000/n{at}");
        named(&server, &id, &root(attributes, "own"));
        assert_eq!(listed(&server, &id), locations, "{attributes}");
        let lists = server.get(&format!("/uri-res/N2Ls?{id}"));
        assert_eq!(lists.body.lines().count(), 1 + locations.len());
    }
    // What is made of a template is made of the name that was asked for.
    let made = server.get("/20.1000/5555?action=showurls").body;
    assert!(
        made.contains("https://deeper.example/20.1000%2F5555"),
        "{made}"
    );
    // A record may have a namespace of its own, which may end the search.
    for (id, attribute, locations) in [
        (
            "20.1000/inner",
            "",
            &["example", "other", "prefix", "more", "deeper"][..],
        ),
        ("20.1000/closed", "no_nslocs=''", &["example", "other"]),
    ] {
        let xml = format!("<namespace><locs {attribute}>10.1045/of-other</locs></namespace>");
        server.name(
            id,
            &[
                (1, "URL", b"https://example.example/"),
                (2, "HS_NAMESPACE", xml.as_bytes()),
            ],
        );
        assert_eq!(listed(&server, id), locations, "{id}");
    }
}

#[test]
fn circles_and_crowds_of_includes_end() {
    let server = Server::start();
    named(
        &server,
        "20.1000/x",
        "<locations include='20.1000/y 20.1000/x'><location \
         href='https://x.example/'/></locations>",
    );
    named(
        &server,
        "20.1000/y",
        "<locations include='20.1000/X' nshdl='20.1000/y' overridePrefix='20.1000'><location \
         href='https://y.example/'/></locations>",
    );
    assert_eq!(listed(&server, "20.1000/x"), ["x", "y"]);
    say(
        &server,
        "20.1000",
        "<namespace><locs>20.1000/x</locs></namespace>",
    );
    assert_eq!(listed(&server, "20.1000/x"), ["x", "y"]);
    // A chain that is longer than anybody needs, and a record that names a thousand others.
    for at in 0..30 {
        let xml = format!(
            "<locations include='20.1000/c{}' no_nslocs=''><location \
             href='https://c{at}.example/'/></locations>",
            at + 1
        );
        named(&server, &format!("20.1000/c{at}"), &xml);
    }
    assert_eq!(listed(&server, "20.1000/c0").len(), 21);
    let all: Vec<_> = (0..1_000).map(|at| format!("20.1000/c{at}")).collect();
    let all = all.join(" ");
    named(
        &server,
        "20.1000/crowd",
        &format!("<locations include='{all}'/>"),
    );
    assert!(listed(&server, "20.1000/crowd").len() <= 65);
}

#[test]
fn records_and_namespaces_add_links_and_headers() {
    let server = Server::start();
    server.name(
        "10.1045/shared",
        &[
            (
                1,
                "10320/headers",
                b"X-Robots-Tag: noindex\nX-Handle-Of: {hdl:path}\nSet-Cookie: a=b",
            ),
            (
                2,
                "10320/links",
                b"<links><location rel='license' href='https://license.example/'/></links>",
            ),
        ],
    );
    say(
        &server,
        "20.1000",
        "<namespace><locs>10.1045/shared</locs></namespace>",
    );
    let url = (1, "URL", &b"https://example.org/"[..]);
    let own = (
        5,
        "10320/headers",
        &b"X-Robots-Tag: all\r\nEvil\r\n: x\r\n\r\nContent-Length: 1"[..],
    );
    let loc = |attribute: &str| format!("<locations {attribute}/>");
    let (hides, hides_if) = (
        loc("suppressNsHeaders='1'"),
        loc("suppressNsHeadersIfLocalHeaders=''"),
    );
    let (hides, hides_if) = (hides.as_bytes(), hides_if.as_bytes());
    server.name("20.1000/h1", &[url, own]);
    server.name("20.1000/h2", &[url, (2, "10320/loc", hides)]);
    server.name("20.1000/h3", &[url, own, (2, "10320/loc", hides_if)]);
    server.name("20.1000/h4", &[url, (2, "10320/loc", hides_if)]);
    for (id, robots, of, has_license) in [
        ("20.1000/5555", Some("noindex"), Some("20.1000/5555"), true),
        ("20.1000/h1", Some("all"), Some("20.1000/h1"), true),
        ("20.1000/h2", None, None, false),
        ("20.1000/h3", Some("all"), None, false),
        ("20.1000/h4", Some("noindex"), Some("20.1000/h4"), true),
    ] {
        for (method, query, status) in [
            ("GET", "", 302),
            ("HEAD", "", 302),
            ("GET", "?noredirect", 200),
        ] {
            let answer = server.ask(method, &format!("/{id}{query}"), &[], None);
            assert_eq!(answer.status, status, "{id}");
            assert_eq!(answer.header("x-robots-tag"), robots, "{id}");
            assert_eq!(answer.header("x-handle-of"), of, "{id}");
            assert_eq!(answer.header("set-cookie"), None);
            let links = answer.header("link").unwrap();
            assert_eq!(
                links.contains("rel=\"license\""),
                has_license,
                "{id} {links}"
            );
        }
    }
    for accept in ["application/linkset", "application/linkset+json"] {
        let set = server.accepting("/20.1000/5555", accept);
        assert_eq!(set.header("content-type"), Some(accept));
        assert!(
            set.body.contains("https://license.example/"),
            "{}",
            set.body
        );
    }
}
