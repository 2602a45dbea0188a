//! What `info` URIs lead to (`INFO-11`, `INFO-12`).

use handfast_testing::Server;

#[test]
fn a_stored_record_comes_first() {
    let server = Server::start();
    for path in [
        "/info:lccn/2002022641",
        "/info:LCCN/2002022641",
        "/info:lccn/2002-22641",
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (302, "https://lccn.example/2002022641"),
            "{path}"
        );
    }
}

#[test]
fn info_11_the_mechanism_of_the_live_entry_is_offered_with_its_security_considerations() {
    let server = Server::start();
    for (path, location) in [
        (
            "/info:ark/12025/654xz322",
            "https://n2t.net/ark:/12025/654xz322",
        ),
        (
            "/INFO:ark/12025%2F65-4-xz322",
            "https://n2t.net/ark:/12025/654xz322",
        ),
        (
            "/info:ark/12025/a%26b%3Fc",
            "https://n2t.net/ark:/12025/a%26b%3Fc",
        ),
        (
            "/info:ark/12025/%22%3E%0D%0A",
            "https://n2t.net/ark:/12025/%22%3E%0D%0A",
        ),
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (302, location),
            "{path}"
        );
        let link = answer.header("link").unwrap();
        assert!(
            link.starts_with("</registry/info/ark#security>; rel=\"describedby\""),
            "{link}"
        );
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
    }
    let page = server.get("/registry/info/ark");
    assert!(
        page.body
            .contains("<h3 id=\"security\">Security considerations</h3>\n<p><bdi>The entry states")
    );
    // Who would rather look than go sees where it would lead.
    let shown = server.get("/info:ark/12025/654xz322?noredirect");
    assert_eq!(shown.status, 200);
    assert!(
        shown
            .body
            .contains("<a href=\"https://n2t.net/ark:/12025/654xz322\"")
    );
    assert!(shown.body.contains("Security considerations"));
    assert!(shown.header("content-security-policy").is_some());
}

/// Names of a prefix that is not kept here are found by the mechanism, as at `/uri-res/`; those
/// kept here come first.
#[test]
fn info_11_remote_handles_redirect_when_asked_for_as_info() {
    let server = Server::start();
    for (path, location) in [
        ("/info:doi/10.1000/182", "https://doi.org/10.1000/182"),
        ("/INFO:DOI/10.1000/A%26b", "https://doi.org/10.1000/A%26B"),
        (
            "/info:hdl/4263537/4000",
            "https://hdl.handle.net/4263537/4000",
        ),
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (302, location),
            "{path}"
        );
        assert!(answer.header("link").unwrap().contains("describedby"));
        let shown = server.get(&format!("{path}?noredirect"));
        assert_eq!(shown.status, 200, "{path}");
    }
    // A request for the handle itself asks this server.
    for path in ["/10.1000/182", "/doi:10.1000/182", "/hdl:4263537/4000"] {
        assert_eq!(server.get(path).status, 400, "{path}");
    }
}

/// A browser takes dot segments out of a path, which then leads to another place on that host.
#[test]
fn what_a_browser_would_read_otherwise_is_shown_first() {
    let server = Server::start();
    for path in [
        "/info:ark/12025/%2E%2E/%2E%2E/login",
        "/info:ark/12025/..%2Fx",
        "/info:ark/12025/a%2F.%2Fb",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.contains("Security considerations"), "{path}");
    }
    assert_eq!(server.get("/info:ark/12025/a..b").status, 302);
}

#[test]
fn info_12_where_nothing_is_claimed_it_is_said_what_the_identifier_is() {
    let server = Server::start();
    for (path, status, code, canonical, words) in [
        (
            "/info:lccn/n78-89035",
            404,
            "no-resolution",
            "info:lccn/n78089035",
            "Library of Congress",
        ),
        (
            "/info:pmid/12376099",
            404,
            "no-resolution",
            "info:pmid/12376099",
            "no resolution is claimed",
        ),
        (
            "/info:pmid/",
            404,
            "no-resolution",
            "info:pmid/",
            "no resolution is claimed",
        ),
        (
            "/info:OAI/a%3Ab",
            404,
            "no-namespace",
            "info:oai/a:b",
            "not registered",
        ),
    ] {
        let page = server.get(path);
        assert_eq!(page.status, status, "{path}");
        assert!(page.body.contains(words), "{path}: {}", page.body);
        assert!(page.body.contains("<a href=\"/registry/\">"));
        assert!(page.body.contains(canonical));
        let problem = server.accepting(path, "application/json");
        assert_eq!(problem.status, status);
        let said = problem.json();
        assert_eq!(
            (&said["code"], &said["canonical"]),
            (&code.into(), &canonical.into())
        );
        assert_eq!(said["registered"], code == "no-resolution");
    }
    let hostile = server.get("/info:%3Cscript%3E/x");
    assert_eq!(hostile.status, 400);
    assert!(!hostile.has_foreign_script());
}

#[test]
fn handles_in_info_go_to_the_handle() {
    let server = Server::start();
    for path in [
        "/info:hdl/20.1000/5555",
        "/uri-res/I2R?info:hdl/20.1000/5555",
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.location()),
            (302, "https://example.org/5555")
        );
    }
    let doi = server.get("/info:doi/10.1045/APRIL2006-paskin");
    assert_eq!(doi.location(), "https://dlib.example/paskin");
}

#[test]
fn resolution_requests_say_the_same() {
    let server = Server::start();
    let ark = "info:ark/12025/none-1";
    let target = "https://n2t.net/ark:/12025/none1";
    for (service, status) in [("I2L", 303), ("N2L", 303), ("I2R", 302), ("I2Rs", 302)] {
        let answer = server.get(&format!("/uri-res/{service}?{ark}"));
        assert_eq!(
            (answer.status, answer.location()),
            (status, target),
            "{service}"
        );
        assert!(answer.header("link").unwrap().contains("describedby"));
    }
    let list = server.get(&format!("/uri-res/I2Ls?{ark}"));
    assert_eq!(list.body, format!("# {ark}\r\n{target}\r\n"));
    let nothing = server.accepting("/uri-res/I2L?info:pmid/1", "application/json");
    let said = nothing.json();
    assert_eq!(
        (nothing.status, &said["code"]),
        (404, &"no-resolution".into())
    );
}
