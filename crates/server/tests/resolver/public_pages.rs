//! The pages that visitors see: what a typed text is, records, tombstones, missing names.

use handfast_registry::{AuthorityChange, NewAuthority, NewName, NewValue};
use handfast_server::{SiteSettings, WebSettings};
use handfast_testing::{OPERATOR, Server};

/// A server with a map, an atlas that replaces a chart, and an institution.
fn library() -> Server {
    let site = SiteSettings {
        name: Some("National <Library>".into()),
        contact: Some("identifiers@library.example".into()),
        ..SiteSettings::default()
    };
    let server = Server::start_with(WebSettings {
        site,
        ..WebSettings::default()
    });
    let titled = AuthorityChange {
        title: Some("Map Collection".into()),
        meaning: Some("Maps & charts".into()),
        ..AuthorityChange::default()
    };
    let registry = &server.registry;
    registry
        .change_authority(&OPERATOR, "20.1000", titled)
        .unwrap();
    let make = |id: &str, title: &str, urls: &[&str]| {
        let new = NewName {
            values: vec![NewValue::new(10, "TITLE", title.as_bytes())],
            ..NewName::urls(urls)
        };
        registry.create_name(&OPERATOR, id, new).unwrap();
    };
    let urls = ["https://maps.example/412", "https://mirror.example/412"];
    make("20.1000/map-0412", "Plan of the <harbour>", &urls);
    make("20.1000/atlas", "Atlas", &["https://maps.example/atlas"]);
    make(
        "20.1000/chart",
        "Chart of the Sound",
        &["https://maps.example/secret-chart"],
    );
    registry
        .withdraw_name(&OPERATOR, "20.1000/chart", "Joined.", Some("20.1000/atlas"))
        .unwrap();
    server
}

#[test]
fn the_box_says_what_a_text_is_and_what_is_wrong_with_it() {
    let server = library();
    let said = |typed: &str| {
        let triplets = typed.bytes().map(|byte| format!("%{byte:02X}"));
        let path = format!("/registry/recognise?id={}", triplets.collect::<String>());
        let page = server.get(&path);
        assert_eq!(page.status, 200, "{typed}");
        assert!(!page.has_foreign_script(), "{typed}");
        let start = page.body.find("id=\"found\"").unwrap();
        let end = start + page.body[start..].find("below-box").unwrap();
        page.body[start..end].replace("<wbr>", "")
    };
    for (typed, words) in [
        (
            "HDL:20.1000/MAP-0412",
            "<strong>A handle</strong>, written as an hdl URI",
        ),
        ("HDL:20.1000/MAP-0412", "Plan of the &lt;harbour&gt;"),
        (
            "HDL:20.1000/MAP-0412",
            "<code>20.1000/map-0412</code> · <bdi>Map Collection</bdi>",
        ),
        (
            " http://names.example:8000/20.1000/map-0412 ",
            "Plan of the &lt;harbour&gt;",
        ),
        ("20.1000/chart", "Withdrawn"),
        ("20.1000/none", "<bdi>Map Collection</bdi> has no such name"),
        ("21.9/x", "prefix <code>21.9</code> is not registered here"),
        ("urn:isbn:0451450523", "Active"),
        ("urn:nbn:de:x", "which is not registered here"),
        ("20.1000", "A prefix"),
        ("10.1045 /x", "A blank stands in the prefix. Remove it."),
        ("10.1045 /x", "10.1045<mark>\u{A0}</mark>/x"),
        ("20.1000/", "20.1000/<mark>\u{A0}</mark>"),
        ("hello", "such as 10.1045/april2006-paskin"),
        (
            "mailto:a@b.example",
            "We do not recognise this as an identifier",
        ),
    ] {
        let found = said(typed);
        assert!(found.contains(words), "{typed}: {found}");
    }
    // A reserved name is no one's business, and an empty box says nothing.
    assert!(said("20.1000/soon").contains("has no such name"));
    assert!(!said(" ").contains("message"));
}

#[test]
fn a_record_begins_with_its_title_and_can_be_cited() {
    let server = library();
    let page = server.get("/20.1000/MAP-0412?noredirect");
    let body = page.body.replace("<wbr>", "");
    for part in [
        "<h1><bdi>Plan of the &lt;harbour&gt;</bdi></h1>",
        "<title>Plan of the &lt;harbour&gt; – National &lt;Library&gt;</title>",
        "<code>http://names.example:8000/20.1000/map-0412</code>",
        "href=\"/20.1000/map-0412\">Open",
        "leads to maps.example",
        "href=\"https://mirror.example/412\"",
        "used now",
        "<a href=\"/registry/authorities/20.1000\"",
        "href=\"/api/v1/names/20.1000%2Fmap-0412/proof\"",
        "info:hdl/20.1000/map-0412",
        "handfast name show 20.1000/map-0412\n",
        "<svg xmlns",
        "Registered",
    ] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert_eq!(body.matches("<h1").count(), 1);
    assert_eq!(
        server.get("/api/v1/names/20.1000%2Fmap-0412/proof").status,
        200
    );
}

#[test]
fn the_citable_link_has_pictures_and_a_label() {
    let server = library();
    let svg = server.get("/20.1000/map-0412?action=qr.svg");
    assert_eq!(svg.header("content-type"), Some("image/svg+xml"));
    assert!(svg.body.starts_with("<svg"), "{}", svg.body);
    let png = server.get("/20.1000/map-0412?action=qr.png");
    assert_eq!(png.header("content-type"), Some("image/png"));
    assert!(png.bytes.starts_with(b"\x89PNG"));
    let label = server.get("/20.1000/map-0412?action=label").body;
    assert!(label.contains("label-sheet") && label.contains("Plan of the &lt;harbour&gt;"));
    assert_eq!(server.get("/20.1000/none?action=qr.svg").status, 404);
    // Queries of names are handed on as before: no parameter is taken from them.
    let handed_on = server.get("/100.102/F58FB49EB1F848f0A606E84CEF294BE5?qr=svg");
    assert_eq!(handed_on.location(), "https://cordra.example/o?qr=svg");
}

#[test]
fn a_tombstone_says_what_the_name_was_and_nothing_else_of_it() {
    let server = library();
    let page = server.get("/20.1000/chart");
    assert_eq!(page.status, 410);
    let body = page.body.replace("<wbr>", "");
    for part in [
        "<h1><bdi>Chart of the Sound</bdi></h1>",
        "Joined.",
        "since <time datetime=\"2026-11-15T06:17:16Z\">15 November 2026</time>",
        "<a href=\"/20.1000/atlas?noredirect\"><bdi>Atlas</bdi></a>",
        "href=\"/20.1000/atlas\">Open",
        "mailto:desk@library.example",
        "It will never be given to anything else.",
        "Cited as</dt><dd><code>http://names.example:8000/20.1000/chart</code>",
    ] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert!(!body.contains("secret-chart"), "{body}");
}

#[test]
fn a_missing_name_shows_its_authority_near_names_and_a_contact() {
    let server = library();
    let page = server.get("/20.1000/map-0413");
    assert_eq!(page.status, 404);
    let body = page.body.replace("<wbr>", "");
    for part in [
        "<bdi>Map Collection</bdi> has no name <code><bdi>map-0413</bdi></code>",
        "&quot;20.1000/map-0413&quot; cannot be found",
        "20.1000/map-041<mark>2</mark>",
        "one character differs",
        "value=\"20.1000/map-0413\"",
        "href=\"mailto:desk@library.example?subject=Identifier%20not%20found%3A%2020.1000",
    ] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("form-action 'self' http: https: ftp:;"),
        "{policy}"
    );
    // A reserved name and a withdrawn one are not near.
    for near in ["/20.1000/soom", "/20.1000/char"] {
        assert!(
            !server.get(near).body.contains("Names that look like it"),
            "{near}"
        );
    }
}

#[test]
fn an_authority_without_a_contact_has_the_one_above_it() {
    let server = library();
    let registry = &server.registry;
    let reached = AuthorityChange {
        contact: Some("desk@library.example".into()),
        ..AuthorityChange::default()
    };
    registry
        .change_authority(&OPERATOR, "20.1000", reached)
        .unwrap();
    let below = registry.create_authority(&OPERATOR, "20.1000.5", NewAuthority::default());
    below.unwrap();
    let page = server.get("/20.1000.5/none");
    assert_eq!(page.status, 404);
    let mail = "href=\"mailto:desk@library.example?subject=";
    assert!(page.body.contains(mail), "{}", page.body);
}

/// A page that has some words sooner or later: counts follow the events.
#[expect(
    clippy::disallowed_methods,
    reason = "no page says when the counts are new"
)]
fn awaited(server: &Server, path: &str, words: &str) -> String {
    for _ in 0..200 {
        let body = server.get(path).body.replace("<wbr>", "");
        if body.contains(words) {
            return body;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{path} never has {words}");
}

#[test]
fn the_front_page_lists_the_largest_authorities() {
    let server = library();
    // Active names only: what is reserved or withdrawn is not counted.
    let front = awaited(&server, "/", "4 names");
    let first = front.split("<ul class=\"listing\">").nth(1).unwrap();
    let first = first.split("</li>").next().unwrap();
    assert!(first.contains("<bdi>Map Collection</bdi>"), "{first}");
    assert!(first.contains("4 names"), "{first}");
    let quiet = Server::start_with(WebSettings {
        site: SiteSettings {
            lists_authorities: Some(false),
            ..SiteSettings::default()
        },
        ..WebSettings::default()
    });
    assert!(!quiet.get("/").body.contains("Named here"));
}

#[test]
fn an_authority_has_a_page_with_its_meaning_contact_and_number_of_names() {
    let server = library();
    let path = "/registry/authorities/20.1000";
    assert_eq!(server.get(path).status, 200);
    let body = awaited(&server, path, "4</strong> names, and 2 withdrawn");
    for part in [
        "<h1><bdi>Map Collection</bdi></h1>",
        "Maps &amp; charts",
        "mailto:desk@library.example",
        "A name is never given to anything else",
    ] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    let json = server.get("/registry/authorities/20.1000.json").json();
    assert_eq!(json["title"], "Map Collection");
    assert!(json.get("grants").is_none());
    let urn = server.get("/registry/authorities/urn%3Aurn-3%3AHUL.OIS");
    assert!(
        urn.body.contains("/registry/authorities/urn%3Aurn-3\""),
        "{}",
        urn.body
    );
    for none in ["20.9999", "%zz", "%00", "", "x/y"] {
        assert_eq!(
            server.get(&format!("/registry/authorities/{none}")).status,
            404,
            "{none}"
        );
    }
    // The page of a prefix has the same.
    let prefix = server.get("/20.1000").body.replace("<wbr>", "");
    assert!(
        prefix.contains("<h1><bdi>Map Collection</bdi></h1>"),
        "{prefix}"
    );
    assert!(prefix.contains("4 names"), "{prefix}");
}

#[test]
fn robots_are_asked_to_leave_the_console_alone() {
    let server = Server::start();
    assert!(
        server
            .get("/robots.txt")
            .body
            .contains("Disallow: /console\n")
    );
}
