//! A.6, A.7, A.15.

use handfast_client::{Creation, Login, Query};
use handfast_registry::NewName;
use handfast_testing::OPERATOR;

use crate::server::{ADMIN, LIMITED, RestServer, Who};
use Who::{Nobody, Plain, PlainAdmin};

fn code(code: u32, handle: &str) -> String {
    format!(r#"{{"responseCode":{code},"handle":"{handle}"}}"#)
}

fn said(code: u32, message: &str, handle: &str) -> String {
    format!(r#"{{"responseCode":{code},"message":"{message}","handle":"{handle}"}}"#)
}

#[test]
#[rustfmt::skip] // A row is a line.
fn handles_are_put_as_tabled() {
    let server = RestServer::start();
    let url = r#"{"index":1,"type":"URL","data":"http://a/"}"#;
    let mail = r#"{"index":"2","type":"EMAIL","data":{"format":"string","value":"e@x"}}"#;
    let (one, both) = (format!("[{url}]"), format!("[{url},{mail}]"));
    let object = format!(r#"{{"values":{both},"handle":"20.1000/N","other":1}}"#);
    let mismatched = format!(r#"{{"values":{one},"handle":"20.1000/m"}}"#);
    let twice = format!("[{url},{url}]");
    let low = r#"[{"index":0,"type":"URL","data":"x"}]"#;
    let negative = r#"[{"index":"-1","type":"URL","data":"x"}]"#;
    let n = "20.1000/n";
    let done = code(1, n);
    let away = said(301, "That prefix doesn't live here", "21.9999/n");
    server.check(&[
        // Check by check.
        (ADMIN, "PUT /api/handles/20.1000/n", "", 400, &code(4, n)),
        (ADMIN, "PUT /api/handles/20.1000/n", "{", 400, &said(4, "Invalid JSON in PUT request", n)),
        (ADMIN, "PUT /api/handles/20.1000/n", "7", 400, &code(4, n)),
        (ADMIN, "PUT /api/handles/20.1000/n", r#"{"index":1}"#, 400, &code(4, n)),
        (ADMIN, "PUT /api/handles/20.1000/n", r#"[{"index":1,"type":"URL","data":["a"]}]"#,
         400, &code(4, n)),
        (ADMIN, "PUT /api/handles/20.1000/n", r#"[{"index":1,"type":"URL","data":null}]"#,
         400, &code(4, n)),
        (ADMIN, "PUT /api/handles/20.1000/n", r#"[{"index":1,"type":"URL"}]"#, 400, &code(4, n)),
        (ADMIN, "PUT /api/handles/20.1000/n", &mismatched, 400, &said(4, "Mismatched handle in \
            PUT request", n)),
        (ADMIN, "PUT /api/handles/20.1000/n?index=1", &both, 400, &said(4, "Mismatched indexes in \
            PUT request", n)),
        (ADMIN, "PUT /api/handles/20.1000/n?index=x", &both, 400, &code(4, n)),
        (ADMIN, "PUT /api/handles/21.9999/n", &one, 400, &away),
        (ADMIN, "PUT /api/handles/20.1000/n?index=various", "[]", 400, &said(202, "Value list was \
            empty", n)),
        (ADMIN, "PUT /api/handles/20.1000/n", low, 400, &said(202, "Value indexes must be \
            positive", n)),
        (ADMIN, "PUT /api/handles/20.1000/n", negative, 400, &said(202, "Value indexes must be \
            positive", n)),
        (ADMIN, "PUT /api/handles/20.1000/n", &twice, 409, &said(201, "Index conflict for 1", n)),
        (Nobody, "PUT /api/handles/20.1000/p1?overwrite=fals\
            e", &one, 409, &code(101, "20.1000/p1")),
        (Nobody, "PUT /api/handles/20.1000/n", &one, 401, &code(402, n)),
        (PlainAdmin, "PUT /api/handles/20.1000/n", &one, 403, &code(402, n)),
        (Who::Basic("300%3A20.1000/ADMIN:no"), "PUT /api/handles/20.1000/n", &one, 401, ""),
        (ADMIN, "PUT /api/handles/20.1000/n?index=1", &one, 404, &code(100, n)),
        (LIMITED, "PUT /api/handles/20.1000/n", &one, 403, &code(400, n)),
        (LIMITED, "PUT /api/handles/20.1000/p1", &one, 403, &code(400, "20.1000/p1")),
        // And done.
        (ADMIN, "PUT /api/handles/20.1000/n?overwrite=false", &one, 201, &done),
        (ADMIN, "PUT /api/handles/20.1000/n", &object, 200, &done),
        (ADMIN, "PUT /api/handles/20.1000/n?overwrite=TRUE", url, 200, &done),
        (ADMIN, "PUT /api/handles/20.1000/n?overwrite", url, 409, &code(101, n)),
        (ADMIN, "PUT /api/handles/20.1000/n?index=2&overwrite=false", mail, 201, &done),
        (ADMIN, "PUT /api/handles/20.1000/n?index=2&overwrite=false", mail,
         409, &said(201, "Index conflict for 2", n)),
        (ADMIN, "PUT /api/handles/20.1000/n?index=1&index=2", &both, 200, &done),
        (ADMIN, "PUT /api/handles/20.1000/n?index=various", &both, 200, &done),
        (ADMIN, "PUT /api/handles/20.1000/void", "[]", 201, &code(1, "20.1000/void")),
        (Nobody, "GET /api/handles/20.1000/void", "",
         200, r#"{"responseCode":200,"values":[],"handle":"20.1000/void"}"#),
        // What was withdrawn is never given again; a record named "" never was.
        (ADMIN, "PUT /api/handles/20.2000/gone", &one, 409, &code(101, "20.2000/gone")),
        (ADMIN, "PUT /api/handles/20.2000/gone?overwrite=false", &one,
         409, &code(101, "20.2000/gone")),
        (ADMIN, "PUT /api/handles/", &one,
         400, r#"{"responseCode":102,"message":"Empty handle invalid","handle":""}"#),
    ]);
    for content_type in ["text/plain", "application/jsonp", ""] {
        let headers = [("Content-Type", content_type)];
        let reply = server.ask(ADMIN, "PUT /api/handles/20.1000/n", &headers, &one);
        assert_eq!(
            (reply.status, &reply.json()["responseCode"]),
            (400, &4.into())
        );
    }
    let reply = server.put(ADMIN, "/api/handles/20.1000/pre-?mintNewSuffix=true", "[]");
    let json = reply.json();
    let minted = json["handle"].as_str().unwrap();
    let uuid = minted.strip_prefix("20.1000/pre-").unwrap();
    assert_eq!((reply.status, uuid.len(), &uuid[14..15]), (201, 36, "4"));
    assert_eq!(uuid, uuid.to_lowercase());
    assert_eq!(reply.headers("location"), [""; 0]);
}

#[test]
#[rustfmt::skip] // A row is a line.
fn handles_are_deleted_as_tabled() {
    let server = RestServer::start();
    let p1 = "20.1000/p1";
    let done = code(1, p1);
    server.check(&[
        (Nobody, "DELETE /api/handles/20.1000/p1", "", 401, &code(402, p1)),
        (PlainAdmin, "DELETE /api/handles/20.1000/p1", "", 403, &code(402, p1)),
        (LIMITED, "DELETE /api/handles/20.1000/p1", "", 403, &code(400, p1)),
        (ADMIN, "DELETE /api/handles/20.1000/p1?index=various", "", 400, &code(4, p1)),
        (ADMIN, "DELETE /api/handles/20.1000/p1?index=1&index=9", "", 400, &code(200, p1)),
        (ADMIN, "DELETE /api/handles/20.1000/p1?index=1&index=2", "", 200, &done),
        (ADMIN, "DELETE /api/handles/20.1000/p1?index=1", "", 400, &code(200, p1)),
        (ADMIN, "DELETE /api/handles/20.1000/none", "", 404, &code(100, "20.1000/none")),
        (ADMIN, "DELETE /api/handles/21.9999/n", "",
         400, &said(301, "That prefix doesn't live here", "21.9999/n")),
        (ADMIN, "DELETE /api/handles/20.1000/p1", "", 200, &done),
        (ADMIN, "DELETE /api/handles/20.1000/p1", "", 404, &code(100, p1)),
        (Nobody, "GET /api/handles/20.1000/p1", "", 404, &code(100, p1)),
        // Its authority lets names be given again.
        (ADMIN, "PUT /api/handles/20.1000/p1", "[]", 201, &done),
    ]);
}

/// A.15: what comes out goes in, and comes out the same.
#[test]
#[rustfmt::skip] // A row is a line.
fn values_of_every_form_come_back() {
    let server = RestServer::start();
    let body = r#"[
        {"index":1,"type":"URL","data":"http://x/"},
        {"index":2,"type":"N","data":42},
        {"index":3,"type":"B","data":true},
        {"index":4,"type":"HEX","data":{"format":"HEX","value":"00fF"}},
        {"index":5,"type":"BIN","data":{"format":"base64","value":"AP8="}},
        {"index":6,"type":"HS_VLIST",
            "data":{"format":"vlist","value":[{"handle":"a/b","index":300}]}},
        {"index":7,"type":"X","data":"x","permissions":"1100","ttl":60,
            "references":[{"handle":"a/b","index":3}]},
        {"index":8,"type":"Y","data":"y","ttl":"2030-01-01T00:00:00Z","permissions":"0110"},
        {"index":9,"type":"HS_SECKEY","data":"not for everybody"},
        {"index":100,"type":"HS_ADMIN","data":{"format":"admin","value":
            {"handle":"20.1000/ADMIN","index":"300","permissions":"011111110011"}}}
    ]"#;
    let path = "/api/handles/20.1000/forms";
    assert_eq!(server.put(ADMIN, path, body).status, 201);
    let first = server.ask(ADMIN, &format!("GET {path}"), &[], "");
    let json = first.json();
    let data: Vec<_> = json["values"].as_array().unwrap().iter().collect();
    for (at, format, value) in [
        (0, "string", "\"http://x/\""),
        (1, "string", "\"42\""),
        (2, "string", "\"true\""),
        (3, "base64", "\"AP8=\""),
        (4, "base64", "\"AP8=\""),
        (5, "vlist", r#"[{"handle":"a/b","index":300}]"#),
        (9, "admin", r#"{"handle":"20.1000/ADMIN","index":300,"permissions":"011111110011"}"#),
    ] {
        assert_eq!(data[at]["data"]["format"], format);
        assert_eq!(data[at]["data"]["value"].to_string(), value);
    }
    assert_eq!(
        (&data[0]["ttl"], data[0].get("permissions")),
        (&86_400.into(), None)
    );
    assert_eq!(
        (&data[6]["ttl"], &data[6]["permissions"]),
        (&60.into(), &"1100".into())
    );
    assert_eq!(data[7]["ttl"], "2030-01-01T00:00:00Z");
    // The fourth digit from the right counts, also if it is 0.
    assert_eq!(data[7]["permissions"], "0110");
    // Nobody said that a secret should be published.
    assert_eq!(data[8]["permissions"], "1100");
    let public = server.ask(Nobody, &format!("GET {path}"), &[], "");
    assert!(!public.body.contains("not for everybody"));
    // The same again changes nothing, not even times.
    assert_eq!(server.put(ADMIN, path, &json.to_string()).status, 200);
    let second = server.ask(ADMIN, &format!("GET {path}"), &[], "");
    assert_eq!(second.body, first.body);
    assert_eq!(server.put(ADMIN, path, "[]").status, 200);
}

/// A client homes a prefix and creates its record, as deployed servers want it: the second step was
/// refused to server administrators.
#[test]
fn a_server_administrator_creates_the_record_of_a_prefix_that_was_homed() {
    let server = RestServer::start();
    let (path, na) = ("PUT /api/handles/0.NA/20.888", "0.NA/20.888");
    let values = r#"[{"index":1,"type":"URL","data":"http://a/"}]"#;
    server.check(&[
        (
            ADMIN,
            "POST /api/prefixes/0.NA/20.888",
            "",
            200,
            &code(1, na),
        ),
        (LIMITED, path, values, 403, &code(400, na)),
        (Nobody, path, values, 401, &code(402, na)),
        (ADMIN, path, values, 201, &code(1, na)),
    ]);
}

#[test]
fn a_change_over_one_interface_shows_on_every_interface() {
    let server = RestServer::start();
    let login = Login::with_secret("300:20.1000/ADMIN", b"secret").unwrap();
    let client = server.client().with_login(login);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for round in 0..5 {
        let name = format!("20.1000/web-{round}");
        let body = r#"{"index":1,"type":"URL","data":"http://web/"}"#;
        let path = format!("/api/handles/{name}");
        assert_eq!(server.put(ADMIN, &path, body).status, 201);
        let found = runtime
            .block_on(client.resolve(&name, &Query::all()))
            .unwrap();
        assert_eq!(*found.values[0].data, *b"http://web/");

        let name = format!("20.1000/native-{round}");
        let values = [handfast_wire::Value::new(1, "URL", b"http://native/")];
        runtime
            .block_on(client.create(&name, &values, Creation::default()))
            .unwrap();
        let reply = server.ask(Nobody, &format!("GET /api/handles/{name}"), &[], "");
        assert!(reply.body.contains("http://native/"), "{}", reply.body);

        let name = format!("20.1000/own-{round}");
        let new = NewName::urls(&["http://own/"]);
        server.registry.create_name(&OPERATOR, &name, new).unwrap();
        let reply = server.ask(Nobody, &format!("GET /api/handles/{name}"), &[], "");
        assert!(reply.body.contains("http://own/"));
    }
}

/// Anybody could find out which names are reserved.
#[test]
fn what_is_reserved_is_nobodys_business() {
    let server = RestServer::start();
    let reserved = NewName {
        reserve: true,
        ..NewName::default()
    };
    let created = server
        .registry
        .create_name(&OPERATOR, "20.1000/kept", reserved);
    created.unwrap();
    let value = r#"[{"index":1,"type":"URL","data":"http://x/"}]"#;
    for who in [Nobody, Plain, LIMITED] {
        for overwrite in [true, false] {
            let put = |name: &str| {
                let path = format!("/api/handles/20.1000/{name}?overwrite={overwrite}");
                let reply = server.put(who, &path, value);
                (reply.status, reply.body.replace(name, "NAME"))
            };
            assert_eq!(put("kept"), put("free"), "{who:?} {overwrite}");
        }
    }
    let reply = server.put(ADMIN, "/api/handles/20.1000/kept?overwrite=false", value);
    assert_eq!(reply.json()["responseCode"], 101);
}

/// A client that had logged in could find out which indexes are taken, and guess what is there.
#[test]
#[rustfmt::skip] // A row is a line.
fn what_is_hidden_in_a_record_is_not_told_to_those_without_rights() {
    let server = RestServer::start();
    // 3 is hidden, and 9 is free.
    let value = |index: u32| {
        let rest = r#""type":"NOTE","data":"hidden","permissions":"1100"}]"#;
        format!("[{{\"index\":{index},{rest}")
    };
    let path = |index: u32, rest: &str| format!("/api/handles/20.1000/p1?index={index}{rest}");
    for rest in ["", "&overwrite=false", "&overwrite=true"] {
        let told = |index| {
            let reply = server.put(LIMITED, &path(index, rest), &value(index));
            (reply.status, reply.body)
        };
        assert_eq!(told(3), told(9), "{rest}");
        assert_eq!(told(3).0, 403);
    }
    let told = |index| {
        let reply = server.ask(LIMITED, &format!("DELETE {}", path(index, "")), &[], "");
        (reply.status, reply.body)
    };
    assert_eq!(told(3), told(9));
    assert_eq!(told(3).0, 403);
    // Those with rights are told.
    let reply = server.put(ADMIN, &path(3, "&overwrite=false"), &value(3));
    assert_eq!(reply.json()["responseCode"], 201);
    let reply = server.ask(ADMIN, &format!("DELETE {}", path(9, "")), &[], "");
    assert_eq!(reply.json()["responseCode"], 200);
    // So is everybody of what everybody sees.
    let url = r#"[{"index":1,"type":"URL","data":"http://x/"}]"#;
    let reply = server.put(LIMITED, &path(1, "&overwrite=false"), url);
    assert_eq!(reply.json()["responseCode"], 201);
}
