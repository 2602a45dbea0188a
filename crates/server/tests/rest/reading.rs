//! A.3, A.5, A.8 to A.10, A.16.
use handfast_testing::OPERATOR;

use crate::server::{ADMIN, LIMITED, RestServer, Who};
use handfast_registry::{Edit, NewValue};

use Who::{Nobody, Plain, PlainAdmin};

const URL: &str = concat!(
    r#"{"index":1,"type":"URL","data":{"format":"string","value":"http://a.example/"},"#,
    r#""ttl":86400}"#,
);
const EMAIL: &str =
    r#"{"index":2,"type":"EMAIL","data":{"format":"string","value":"e@x"},"ttl":86400}"#;
const NOTE: &str = concat!(
    r#"{"index":3,"type":"NOTE","data":{"format":"string","value":"hidden"},"#,
    r#""permissions":"1100","ttl":86400}"#,
);
const DE: &str = concat!(
    r#"{"index":4,"type":"URL.DE","data":{"format":"string","#,
    r#""value":"http://de.example/"},"ttl":86400}"#,
);

fn record(handle: &str, values: &[&str]) -> String {
    let values = values.join(",");
    format!(r#"{{"responseCode":1,"handle":"{handle}","values":[{values}]}}"#)
}

fn nothing(handle: &str) -> String {
    format!(r#"{{"responseCode":200,"values":[],"handle":"{handle}"}}"#)
}

fn code(code: u32, handle: &str) -> String {
    format!(r#"{{"responseCode":{code},"handle":"{handle}"}}"#)
}

#[test]
#[rustfmt::skip] // A row is a line.
fn handles_are_read_as_tabled() {
    let server = RestServer::start();
    let p1 = "20.1000/p1";
    let public = record(p1, &[URL, EMAIL, DE]);
    let all = record(p1, &[URL, EMAIL, NOTE, DE]);
    let away =
        r#"{"responseCode":301,"message":"That prefix doesn't live here","handle":"21.9999/x"}"#;
    let slash =
        r#"{"responseCode":301,"message":"That prefix doesn't live here","handle":"/20.1000/p1"}"#;
    let scheme = concat!(
        r#"{"responseCode":301,"message":"That prefix doesn't live here","#,
        r#""handle":"hdl:20.1000/p1"}"#,
    );
    let empty = r#"{"responseCode":102,"message":"Empty handle invalid"}"#;
    server.check(&[
        (Nobody, "GET /api/handles/20.1000/p1", "", 200, &public),
        (Plain, "GET /api/handles/20.1000/p1", "", 200, &public),
        // Credentials count only over TLS.
        (PlainAdmin, "GET /api/handles/20.1000/p1", "", 200, &public),
        (ADMIN, "GET /api/handles/20.1000/p1", "", 200, &all),
        (ADMIN, "GET /api/handles/20.1000/p1?publicOnly=true", "", 200, &public),
        (ADMIN, "GET /api/handles/20.1000/p1?publicOnly", "", 200, &public),
        (LIMITED, "GET /api/handles/20.1000/p1", "", 403, &code(400, p1)),
        (LIMITED, "GET /api/handles/20.1000/p1?index=1", "", 200, &record(p1, &[URL])),
        (Nobody, "GET /api/handles/20.1000/p1?type=URL&index=\
            2", "", 200, &record(p1, &[URL, EMAIL])),
        (Nobody, "GET /api/handles/20.1000/p1?type=url.", "", 200, &record(p1, &[URL, DE])),
        (Nobody, "GET /api/handles/20.1000/p1?type=url", "", 200, &record(p1, &[URL])),
        (Nobody, "GET /api/handles/20.1000/p1?index=1&index=4&auth=true&cer\
            t", "", 200, &record(p1, &[URL, DE])),
        (Nobody, "GET /api/handles/20.1000/p1?index=-1", "", 200, &nothing(p1)),
        (Nobody, "GET /api/handles/20.1000/p1?index=3", "", 200, &nothing(p1)),
        (Nobody, "GET /api/handles/20.1000/p1?type=NONE", "", 200, &nothing(p1)),
        (Nobody, "GET /api/handles/20.1000/empty", "", 200, &nothing("20.1000/empty")),
        (Nobody, "GET /api/handles/20.1000/LIMITED", "", 200, &nothing("20.1000/LIMITED")),
        (Nobody, "GET /api/handles/0.SITE/status", "", 200, &nothing("0.SITE/status")),
        (Nobody, "GET /api/handles/20.1000/none", "", 404, &code(100, "20.1000/none")),
        (Nobody, "GET /api/handles/20.1000/p1/", "", 404, &code(100, "20.1000/p1/")),
        (Nobody, "GET /api/handles/20.2000/gone", "", 404, &code(100, "20.2000/gone")),
        (Nobody, "GET /api/handles/21.9999/x", "", 400, away),
        (Nobody, "GET /api/handles//20.1000/p1", "", 400, slash),
        (Nobody, "GET /api/handles/hdl:20.1000/p1", "", 400, scheme),
        (Nobody, "GET /api/handles", "", 400, empty),
        (Nobody, "GET /api/handles/", "", 400, empty),
        (Nobody, "GET /api/handles?URL=*", "", 400, empty),
        (Nobody, "GET /api/handles/20.1000/p1?index=x", "", 400, r#"{"responseCode":4}"#),
        (Nobody, "GET /api/handles/20.1000/p1?publicOnly=false", "", 401, &code(402, p1)),
        (Plain, "GET /api/handles/20.1000/p1?publicOnly=false", "", 403, &code(402, p1)),
        (Nobody, "GET /api/handles/20.1000/sealed?publicOnly=false", "",
         403, &code(401, "20.1000/sealed")),
        (ADMIN, "GET /api/handles/20.1000/sealed", "", 403, &code(401, "20.1000/sealed")),
        (Who::Basic("300%3A20.1000/ADMIN:wrong"), "GET /api/handles/20.1000/p1", "", 401, ""),
        // Spellings: the answer says the handle as it was asked.
        (Nobody, "GET /api/handles/20.1000%2FP1", "",
         200, &record("20.1000/P1", &[URL, EMAIL, DE])),
        (Nobody, "GET /api/handles/20.1000/%7", "", 400, r#"{"responseCode":4}"#),
        // POST is GET with parameters in the body; those of the URL come first.
        (Nobody, "POST /api/handles/20.1000/p1?index=1", r#"{"index":[2,"4"]}"#, 200, &public),
        (Nobody, "POST /api/handles/20.1000/p1", r#"{"index":"#, 400, r#"{"responseCode":4}"#),
        (Nobody, "GET /api/zzz", "",
         404, r#"{"responseCode":4,"message":"Unknown HTTP API endpoint GET /api/zzz"}"#),
        (Nobody, "PUT /api/site", "",
         405, r#"{"responseCode":4,"message":"Unknown HTTP API endpoint PUT /api/site"}"#),
        (Nobody, "PATCH /api/handles/20.1000/p1", "",
         501, r#"{"responseCode":4,"message":"Unknown method PATCH"}"#),
        (Nobody, "TRACE /api/handles/20.1000/p1", "", 405, "*"),
    ]);
}

/// It was an empty record to administrators too.
#[test]
fn the_status_is_shown_to_administrators_of_the_server() {
    let server = RestServer::start();
    let path = "GET /api/handles/0.SITE/status";
    let shown = server.ask(ADMIN, path, &[], "");
    let text = shown.body;
    assert_eq!(shown.status, 200, "{text}");
    for part in [
        r#""type":"CNRI.SERVER_STATUS""#,
        "freemem=",
        "numreqs=",
        r#""permissions":"1100""#,
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("timestamp"), "{text}");
    let nothing = nothing("0.SITE/status");
    let public = format!("{path}?publicOnly=true");
    server.check(&[
        (ADMIN, &public, "", 200, &nothing),
        (LIMITED, path, "", 200, &nothing),
        (PlainAdmin, path, "", 200, &nothing),
        (Plain, path, "", 200, &nothing),
    ]);
}

#[test]
fn a_delegated_prefix_is_referred() {
    let server = RestServer::start();
    let service = NewValue::new(5, "HS_SERV.PREFIX", b"20.9/service");
    server
        .registry
        .edit_name(&OPERATOR, "0.NA/20.1000", Edit::put(vec![service]))
        .unwrap();
    let reply = server.ask(Nobody, "GET /api/handles/0.NA/20.1000.7", &[], "");
    assert_eq!(reply.status, 300, "{}", reply.body);
    assert_eq!(reply.json()["responseCode"], 303);
    assert_eq!(reply.json()["values"][0]["data"]["value"], "20.9/service");
    let reply = server.ask(
        Nobody,
        "GET /api/handles/0.NA/20.1000.7?doNotRefer",
        &[],
        "",
    );
    assert_eq!(reply.status, 404);
    // A name without a slash is a prefix, and is echoed as it was asked.
    let reply = server.ask(Nobody, "GET /api/handles/20.1000", &[], "");
    assert_eq!(
        (reply.status, &reply.json()["handle"]),
        (200, &"20.1000".into())
    );
}

#[test]
#[rustfmt::skip] // A row is a line.
fn listings_are_as_tabled() {
    let server = RestServer::start();
    let all = concat!(
        r#"{"responseCode":1,"prefix":"20.1000","totalCount":"5","#,
        r#""handles":["20.1000/ADMIN","20.1000/EMPTY","20.1000/LIMITED","20.1000/P1","#,
        r#""20.1000/SEALED"]}"#,
    );
    let page = concat!(
        r#"{"responseCode":1,"prefix":"0.na/20.1000","totalCount":"5","page":1,"#,
        r#""pageSize":2,"handles":["20.1000/LIMITED","20.1000/P1"]}"#,
    );
    let none = concat!(
        r#"{"responseCode":1,"prefix":"20.1000","totalCount":"5","page":9,"pageSize":2,"#,
        r#""handles":[]}"#,
    );
    let count = concat!(
        r#"{"responseCode":1,"prefix":"20.1000","totalCount":"5","page":0,"pageSize":0,"#,
        r#""handles":[]}"#,
    );
    let prefixes =
        r#"{"responseCode":1,"totalCount":"2","prefixes":["0.NA/20.1000","0.NA/20.2000"]}"#;
    let first =
        r#"{"responseCode":1,"totalCount":"2","page":0,"pageSize":1,"prefixes":["0.NA/20.1000"]}"#;
    let away = r#"{"responseCode":301,"message":"That prefix doesn't live here"}"#;
    server.check(&[
        (ADMIN, "GET /api/handles?prefix=20.1000", "", 200, all),
        (ADMIN, "GET /api/handles/?prefix=20.1000&page=-1&pageSize=2", "", 200, all),
        (ADMIN, "GET /api/handles?prefix=20.1000&page=1", "", 200, all),
        (ADMIN, "GET /api/handles?prefix=0.na/20.1000&page=1&pageSize=2", "", 200, page),
        (ADMIN, "GET /api/handles?prefix=20.1000&page=9&pageSize=2", "", 200, none),
        (ADMIN, "GET /api/handles?prefix=20.1000&page=0&pageSize=0", "", 200, count),
        (ADMIN, "GET /api/handles?prefix=20.1000&page=x", "", 400, r#"{"responseCode":4}"#),
        (ADMIN, "GET /api/handles?prefix=21.9999", "", 400, away),
        (Nobody, "GET /api/handles?prefix=20.1000", "", 401, r#"{"responseCode":402}"#),
        (PlainAdmin, "GET /api/handles?prefix=20.1000", "", 403, r#"{"responseCode":402}"#),
        (LIMITED, "GET /api/handles?prefix=20.1000", "", 403, r#"{"responseCode":400}"#),
        (ADMIN, "GET /api/prefixes", "", 200, prefixes),
        (ADMIN, "GET /api/prefixes?page=0&pageSize=1", "", 200, first),
        (LIMITED, "GET /api/prefixes", "", 403, r#"{"responseCode":400}"#),
        (Nobody, "GET /api/prefixes", "", 401, r#"{"responseCode":402}"#),
        (ADMIN, "POST /api/prefixes/0.NA/55.5", "",
         200, r#"{"responseCode":1,"handle":"0.NA/55.5"}"#),
        (ADMIN, "POST /api/prefixes", r#"{"prefix":"0.NA/55.6"}"#,
         200, r#"{"responseCode":1,"handle":"0.NA/55.6"}"#),
        (ADMIN, "POST /api/prefixes?prefix=55.7", "",
         200, r#"{"responseCode":1,"handle":"0.NA/55.7"}"#),
        (ADMIN, "DELETE /api/prefixes/0.NA/55.5", "",
         200, r#"{"responseCode":1,"handle":"0.NA/55.5"}"#),
        (LIMITED, "POST /api/prefixes/55.8", "",
         403, r#"{"responseCode":400,"handle":"0.NA/55.8"}"#),
        (Nobody, "POST /api/prefixes/55.8", "",
         401, r#"{"responseCode":402,"handle":"0.NA/55.8"}"#),
        (ADMIN, "POST /api/prefixes/20.1000/x", "",
         400, r#"{"responseCode":102,"handle":"20.1000/x"}"#),
        (ADMIN, "POST /api/prefixes", "", 400, r#"{"responseCode":4}"#),
        (ADMIN, "DELETE /api/prefixes", "", 400, r#"{"responseCode":4}"#),
        (ADMIN, "GET /api/prefixes/55.6", "", 405, ""),
    ]);
    let reply = server.ask(ADMIN, "GET /api/prefixes/55.6", &[], "");
    assert_eq!(reply.headers("allow"), ["POST, DELETE, OPTIONS"]);
}

#[test]
fn the_site_is_shown_to_everybody() {
    let server = RestServer::start();
    for what in ["GET /api/site", "GET /api/site/"] {
        let reply = server.ask(Plain, what, &[], "");
        let json = reply.json();
        let site = &json["site"];
        assert_eq!((reply.status, &json["responseCode"]), (200, &1.into()));
        assert_eq!(site["servers"][0]["publicKey"]["value"]["kty"], "RSA");
        let interfaces = site["servers"][0]["interfaces"].as_array().unwrap();
        let port = server.web.port();
        assert!(
            interfaces
                .iter()
                .any(|it| it["protocol"] == "HTTP" && it["port"] == port)
        );
    }
}

#[test]
fn answers_are_presented_as_asked() {
    let server = RestServer::start();
    let path = "/api/handles/20.1000/none";
    let ask = |method: &str, end: &str, headers: &[(&str, &str)]| {
        server.ask(Nobody, &format!("{method} {path}{end}"), headers, "")
    };
    let plain = ask("GET", "", &[]);
    assert_eq!(
        plain.headers("content-type"),
        ["application/json;charset=UTF-8"]
    );
    assert_eq!(plain.headers("access-control-allow-origin"), [""; 0]);
    let head = ask("HEAD", "", &[]);
    assert_eq!((head.status, head.body.len()), (404, 0));
    assert_eq!(
        head.headers("content-length"),
        [plain.body.len().to_string()]
    );
    let pretty = ask("GET", "?pretty", &[]).body;
    assert_eq!(
        pretty,
        "{\n  \"responseCode\": 100,\n  \"handle\": \"20.1000/none\"\n}"
    );
    let script = ask("GET", "?callback=a.b-c", &[]);
    assert_eq!(
        script.headers("content-type"),
        ["application/javascript;charset=UTF-8"]
    );
    assert_eq!(script.headers("x-content-type-options"), ["nosniff"]);
    assert_eq!(script.body, format!("a_b_c({});", plain.body));

    let options = ask("OPTIONS", "", &[]);
    assert_eq!(
        options.headers("allow"),
        ["GET, HEAD, POST, PUT, DELETE, OPTIONS"]
    );
    let origin = ("Origin", "https://a.example");
    let simple = ask("GET", "", &[origin]);
    assert_eq!(
        simple.headers("access-control-allow-origin"),
        ["https://a.example"]
    );
    assert_eq!(
        simple.headers("access-control-expose-headers"),
        ["Content-Length"]
    );
    assert_eq!(simple.headers("vary"), ["Origin"]);
    let refused = ask("GET", "?publicOnly=false", &[origin]);
    assert_eq!(refused.status, 404);
    let what = "GET /api/handles/20.1000/p1?publicOnly=false";
    let challenged = server.ask(Nobody, what, &[origin], "");
    let exposed = challenged.headers("access-control-expose-headers");
    assert_eq!(exposed, ["Content-Length,WWW-Authenticate"]);
    let preflight = ask(
        "OPTIONS",
        "",
        &[origin, ("Access-Control-Request-Method", "PUT")],
    );
    for (name, value) in [
        ("access-control-allow-origin", "https://a.example"),
        ("access-control-max-age", "86400"),
        ("access-control-allow-methods", "GET,POST,HEAD,PUT,DELETE"),
        (
            "access-control-allow-headers",
            "X-Requested-With,Authorization,Origin,Accept,Content-Type",
        ),
    ] {
        assert_eq!(preflight.headers(name), [value]);
    }
    assert_eq!(
        preflight.headers("access-control-allow-credentials"),
        [""; 0]
    );
}

/// A page of another site could load hidden values as a script, with the password that the browser
/// remembers.
#[test]
fn scripts_hold_what_is_public() {
    let server = RestServer::start();
    let reply = server.ask(ADMIN, "GET /api/handles/20.1000/p1?callback=f", &[], "");
    assert_eq!(reply.status, 200);
    assert!(!reply.body.contains("hidden"));
    let form = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
    ];
    let reply = server.ask(ADMIN, "POST /api/prefixes/55.5", &form, "");
    assert_eq!(reply.status, 401);
}

#[test]
#[rustfmt::skip] // A row is a line.
fn pages_of_others_change_nothing_in_the_name_of_a_user() {
    let server = RestServer::start();
    let (site, mode, origin) = ("Sec-Fetch-Site", "Sec-Fetch-Mode", "Origin");
    let (kind, by) = ("Content-Type", "X-Requested-With");
    let (evil, own) = ("https://evil.example", "https://localhost");
    for (headers, is_taken) in [
        // What a script asks for without asking first, as browsers say it, new and old.
        (&[(site, "cross-site"), (mode, "cors"), (origin, evil), (kind, "text/plain")][..], false),
        (&[(site, "cross-site"), (mode, "no-cors"), (kind, "text/plain")], false),
        (&[(site, "same-site"), (mode, "cors"), (origin, "https://b.localhost")], false),
        (&[(site, "cross-site"), (mode, "cors"), (kind, "application/x-www-form-urlencode\
            d")], false),
        (&[(site, "cross-site"), (kind, "text/plain; application/json")], false),
        (&[(origin, evil), (kind, "text/plain")], false),
        (&[(origin, "null")], false),
        (&[(origin, "http://localhost")], false),
        (&[(origin, "https://localhost:8443")], false),
        // What it has to ask for first.
        (&[(site, "cross-site"), (mode, "cors"), (origin, evil), (kind, "application/json")], true),
        (&[(origin, evil), (by, "XMLHttpRequest")], true),
        // Our own pages, addresses that people type, and programs.
        (&[(site, "same-origin"), (origin, "https://a-proxy.example")], true),
        (&[(site, "none")], true),
        (&[(origin, own)], true),
        (&[(origin, "https://LOCALHOST")], true),
        (&[(kind, "text/plain")], true),
    ] {
        let status = if is_taken { 200 } else { 401 };
        let body = if headers.contains(&(kind, "application/json")) { "{}" } else { "" };
        let reply = server.ask(ADMIN, "POST /api/prefixes/0.NA/20.666", headers, body);
        assert_eq!(reply.status, status, "{headers:?} {}", reply.body);
        let reply = server.ask(ADMIN, "POST /api/sessions", headers, body);
        let status = if is_taken { 201 } else { 403 };
        assert_eq!(reply.status, status, "{headers:?} {}", reply.body);
    }
    let reply = server.ask(ADMIN, "DELETE /api/prefixes/0.NA/20.666", &[(origin, evil)], "");
    assert_eq!(reply.status, 200);
    // A session is named by who knows it.
    let session = server.ask(ADMIN, "POST /api/sessions", &[], "").json();
    let named = format!("Handle sessionId=\"{}\"", session["sessionId"].as_str().unwrap());
    let named = ("Authorization", &*named);
    let headers = [named, (site, "cross-site"), (mode, "cors"), (origin, evil)];
    let reply = server.ask(Who::Nobody, "POST /api/prefixes/0.NA/20.666", &headers, "");
    assert_eq!(reply.status, 200);
}
