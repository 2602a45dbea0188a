//! Where names lead.

use handfast_registry::{NewName, NewValue, Principal};
use handfast_testing::Server;

const LOCATIONS: &[u8] = br#"<locations chooseby="locatt,country,weighted" http_sc="307">
    <location id="0" href="https://uk.example/" country="gb" weight="0"/>
    <location id="1" href="https://www.example/" weight="1" http_sc="303"/>
    <location id="2" href_template="https://t.example/{hdl}?p={hdl:path}" weight="0"
        http_role="conneg"/>
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
        let head = server.ask("HEAD", path, &[], None);
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
    let fast = server.get("/20.1000/5555");
    assert_eq!(fast.header("cache-control"), Some("max-age=86400"));
    assert_eq!(
        fast.header("expires"),
        Some("Mon, 16 Nov 2026 06:17:16 GMT")
    );
    assert_eq!(fast.header("vary"), Some("Accept, Origin"));
    let links = fast.header("link").unwrap();
    assert!(
        links.contains("</20.1000/5555>; rel=\"cite-as\""),
        "{links}"
    );
    assert!(
        links.contains("rel=\"describedby\"; type=\"application/json\""),
        "{links}"
    );
    assert!(links.contains("rel=\"linkset\""), "{links}");
    // The fast path and the slow path give the same answer.
    let slow = server.get("/20.1000/5555?");
    assert_eq!(slow.sorted_head(), fast.sorted_head());
    assert_eq!(fast.body, "");
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
            (300, "HS_SECKEY", b"concealed"),
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
                .contains("2026-11-15 06:17:16Z</td><td class=\"mono\"><bdi>words</bdi>"),
            "{query}"
        );
        assert!(!page.body.contains("concealed") && !page.body.contains("HS_SECKEY"));
    }
    assert_eq!(many("?noredirect&action=redirect").status, 302);
    let none = many("?type=NONE");
    assert_eq!(none.status, 200);
    assert!(none.body.contains("No values found"));
    let list = many("?action=showurls");
    assert!(list.header("content-type").unwrap().starts_with("text/xml"));
    assert!(
        list.body
            .contains("<location href=\"https://example.org/1\" mode=\"legacy\" weight=\"1\"/>")
    );
    let api = many("?action=api&type=DESC");
    let api = api.json();
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
        |query: &str, headers: &str| server.get_with(&format!("/20.1000/loc{query}"), &[headers]);
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
            br#"<locations>
                <location href_template="https://meta.example/{hdl:path}" weight="0"
                http_role="conneg"/></locations>"#,
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
