//! A.11 to A.13.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::{Edit, NewValue, SignInClient};
use handfast_testing::{OPERATOR, Response, exchange, tls};
use handfast_wire::crypto::{SecretAlgorithm, answer_with_secret, verify_signature};
use handfast_wire::{DigestAlgorithm, PublicKey};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use serde_json::{Value as Json, json};

use crate::server::{ADMIN, LIMITED, RestServer, Who};
use Who::{Nobody, Plain};

const HIDDEN: &str = "GET /api/handles/20.1000/p1?index=3&publicOnly=false";

fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// A fresh session: its id, and its nonce.
fn session(server: &RestServer) -> (String, Vec<u8>) {
    let reply = server.ask(Nobody, "POST /api/sessions", &[], "");
    assert_eq!(reply.status, 201);
    assert_eq!(reply.headers("location"), ["/api/sessions/this"]);
    of(&reply)
}

fn of(reply: &Response) -> (String, Vec<u8>) {
    let json = reply.json();
    let nonce = BASE64_STANDARD.decode(json["nonce"].as_str().unwrap());
    (
        json["sessionId"].as_str().unwrap().to_string(),
        nonce.unwrap(),
    )
}

/// What a client answers a challenge with.
fn answer(server: &RestServer, alg: &str, nonce: &[u8], secret: &[u8]) -> Json {
    let cnonce = [7; 16];
    let by_secret = |algorithm| {
        let made = answer_with_secret(secret, algorithm, nonce, &cnonce, &[9; 16]);
        made.unwrap()
    };
    let upper = alg.to_ascii_uppercase();
    let signature = match &*upper {
        "MD5" => by_secret(SecretAlgorithm::Md5)[1..].to_vec(),
        "SHA" | "SHA1" | "SHA-1" => by_secret(SecretAlgorithm::Sha1)[1..].to_vec(),
        "SHA2" | "SHA-2" | "SHA256" | "SHA-256" => by_secret(SecretAlgorithm::Sha256)[1..].to_vec(),
        "HMAC-SHA1" => by_secret(SecretAlgorithm::HmacSha1)[1..].to_vec(),
        "HMAC-SHA256" | "HMACSHA256" => by_secret(SecretAlgorithm::HmacSha256)[1..].to_vec(),
        "PBKDF2-HMAC-SHA1" | "PBKDF2WITHHMACSHA1" => {
            // code, salt with its length, iterations, bits, length of the MAC
            by_secret(SecretAlgorithm::Pbkdf2HmacSha1)[1 + 4 + 16 + 4 + 4 + 4..].to_vec()
        }
        "KEY-SHA1" | "KEY-SHA256" | "KEY-MD5" => {
            let digest = match &*upper {
                "KEY-SHA1" => DigestAlgorithm::Sha1,
                "KEY-SHA256" => DigestAlgorithm::Sha256,
                _ => DigestAlgorithm::Md5,
            };
            server.key.sign(digest, &[nonce, &cnonce].concat()).unwrap()
        }
        other => panic!("{other}"),
    };
    let is_key = upper.starts_with("KEY-");
    json!({
        "version": 0,
        "id": if is_key { "301:20.1000/ADMIN" } else { "300:20.1000/ADMIN" },
        "type": if is_key { "HS_PUBKEY" } else { "HS_SECKEY" },
        "alg": alg.strip_prefix("KEY-").unwrap_or(alg),
        "cnonce": base64(&cnonce),
        "signature": base64(&signature),
        "salt": base64(&[9; 16]), "iterations": 10_000, "length": 160,
    })
}

fn header(session: &str, answer: &Json) -> String {
    let mut header = format!("Handle sessionId=\"{session}\"");
    for (name, value) in answer.as_object().unwrap() {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), |value| value.replace(':', "%3A"));
        write!(header, ", {name}=\"{value}\"").unwrap();
    }
    header
}

/// The private key stays with the command that answers the challenge; a browser gets a link.
#[test]
fn an_identity_with_a_session_gets_a_link_to_the_console() {
    let server = RestServer::start();
    let ask = |named: &str| {
        let headers = [("Authorization", named)];
        server.ask(Nobody, "POST /api/sessions/this/sign-in-link", &headers, "")
    };
    let (id, nonce) = session(&server);
    let named = format!("Handle sessionId={id}");
    // Nobody has logged in, and passwords alone are no session.
    assert_eq!(ask(&named).status, 401);
    assert_eq!(ask("Handle sessionId=unknown").status, 401);
    let by_password = server.ask(ADMIN, "POST /api/sessions/this/sign-in-link", &[], "");
    assert_eq!(by_password.status, 401);
    let mut right = answer(&server, "KEY-SHA256", &nonce, b"");
    right["sessionId"] = id.into();
    let json = [("Content-Type", "application/json")];
    let reply = server.ask(Nobody, "PUT /api/sessions/this", &json, &right.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let made = ask(&named);
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(made.headers("cache-control"), ["no-store"]);
    let link = made.json()["link"].as_str().unwrap().to_string();
    let (base, code) = link.split_once("/console/enter/").unwrap();
    assert!(base.starts_with("https://"), "{link}");
    let client = SignInClient::default();
    let session = server.registry.use_link(code, &client).unwrap().session;
    assert_eq!(session.account, "301:20.1000/ADMIN");
    let plain = server.ask(Plain, "POST /api/sessions/this/sign-in-link", &[], "");
    assert_eq!(plain.status, 403);
    let read = server.ask(Nobody, "GET /api/sessions/this/sign-in-link", &[], "");
    assert_eq!(read.status, 405);
}

#[test]
#[rustfmt::skip] // A row is a line.
fn every_algorithm_logs_in() {
    let server = RestServer::start();
    for alg in [
        "MD5",
        "SHA",
        "SHA1",
        "SHA-1",
        "sha-256",
        "SHA256",
        "SHA2",
        "SHA-2",
        "HMAC-SHA1",
        "HMAC-SHA256",
        "HmacSHA256",
        "PBKDF2-HMAC-SHA1",
        "PBKDF2WithHmacSHA1",
        "KEY-SHA1",
        "KEY-SHA256",
        "KEY-MD5",
    ] {
        // Everything in the header of the request itself.
        let (id, nonce) = session(&server);
        let mut right = answer(&server, alg, &nonce, b"secret");
        let authorization = header(&id, &right);
        for _ in 0..2 {
            let headers = [("Authorization", &*authorization)];
            let reply = server.ask(Nobody, HIDDEN, &headers, "");
            assert_eq!(reply.status, 200, "{alg} {} {}", reply.head, reply.body);
        }
        // From then on the session is enough.
        let named = format!("Handle sessionId={id}");
        let reply = server.ask(Nobody, HIDDEN, &[("Authorization", &named)], "");
        assert_eq!(reply.status, 200, "{alg}");
        // In JSON, by PUT and by POST.
        for method in ["PUT", "POST"] {
            let (id, nonce) = session(&server);
            right = answer(&server, alg, &nonce, b"secret");
            right["sessionId"] = id.clone().into();
            let what = format!("{method} /api/sessions/this");
            let json = [("Content-Type", "application/json")];
            let reply = server.ask(Nobody, &what, &json, &right.to_string());
            assert_eq!(reply.status, 200, "{alg} {}", reply.body);
            assert_eq!(reply.json()["authenticated"], true);
            assert_eq!(reply.json()["id"], right["id"]);
            if method == "POST" {
                continue;
            }
            // What was answered for one session is nothing in another.
            let (other, _) = session(&server);
            right["sessionId"] = other.into();
            let reply = server.ask(Nobody, &what, &json, &right.to_string());
            assert_eq!(reply.status, 401, "{alg}");
            assert_eq!(reply.json()["error"], "Identity not verified");
            assert_eq!(reply.headers("www-authenticate").len(), 1);
        }
    }
}

#[test]
#[rustfmt::skip] // A row is a line.
fn sessions_are_as_tabled() {
    let server = RestServer::start();
    let this = "GET /api/sessions/this";
    let (id, _) = session(&server);
    let named = format!("Handle sessionId=\"{id}\"");
    let mine: [(&str, &str); 1] = [("Authorization", &named)];
    let unknown = [("Authorization", "Handle sessionId=\"nobodys\"")];
    for (what, headers, status) in [
        ("POST /api/sessions", &mine, 400),
        (this, &mine, 200),
        (this, &unknown, 403),
        ("PUT /api/sessions/this", &unknown, 403),
        ("GET /api/sessions", &mine, 405),
        ("GET /api/sessions/other", &mine, 403),
        (HIDDEN, &unknown, 401),
        (HIDDEN, &mine, 401),
        ("DELETE /api/sessions/this", &mine, 204),
        ("DELETE /api/sessions/this", &mine, 403),
        (this, &mine, 403),
    ] {
        let reply = server.ask(Nobody, what, headers, "");
        assert_eq!(reply.status, status, "{what} {}", reply.body);
        assert_eq!(
            reply.body.is_empty(),
            status != 200 && what != HIDDEN || headers == &unknown
        );
    }
    let reply = server.ask(Nobody, "GET /api/sessions", &[], "");
    assert_eq!(reply.headers("allow"), ["POST, OPTIONS"]);
    let reply = server.ask(Nobody, this, &[], "");
    assert_eq!(reply.body, r#"{"authenticated":false}"#);
    let reply = server.ask(Nobody, "DELETE /api/sessions/this", &[], "");
    assert_eq!(reply.status, 403);
    for what in ["POST /api/sessions", this, "DELETE /api/sessions/this"] {
        let reply = server.ask(Plain, what, &[], "");
        assert_eq!((reply.status, reply.body.len()), (403, 0));
    }
    let reply = server.ask(ADMIN, "POST /api/sessions", &[], "");
    assert_eq!(reply.json()["authenticated"], true);
    assert_eq!(reply.json()["id"], "300:20.1000/ADMIN");
    let wrong = server.ask(
        Who::Basic("300%3A20.1000/ADMIN:no"),
        "POST /api/sessions",
        &[],
        "",
    );
    assert_eq!(wrong.status, 401);
}

#[test]
fn the_server_signs_who_it_is() {
    let server = RestServer::start();
    let site = server.ask(Plain, "GET /api/site", &[], "").json();
    let key = &site["site"]["servers"][0]["publicKey"]["value"];
    let number = |name: &str| {
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        engine.decode(key[name].as_str().unwrap()).unwrap()
    };
    let key = PublicKey::Rsa {
        e: number("e").into(),
        n: number("n").into(),
    };
    let cnonce = base64(b"client nonce");
    let body = json!({"cnonce": cnonce}).to_string();
    let reply = server.ask(Nobody, "POST /api/sessions", &[], &body);
    let (id, nonce) = of(&reply);
    let signed = [&*nonce, b"client nonce"].concat();
    let json = reply.json();
    assert_eq!(json["serverAlg"], "SHA-256");
    let signature = BASE64_STANDARD.decode(json["serverSignature"].as_str().unwrap());
    verify_signature(&key, DigestAlgorithm::Sha256, &signed, &signature.unwrap()).unwrap();
    // And with a request that then goes on.
    let named = format!("Handle sessionId={id}, cnonce=\"{cnonce}\"");
    let what = "GET /api/handles/20.1000/p1";
    let reply = server.ask(Nobody, what, &[("Authorization", &named)], "");
    assert_eq!(reply.status, 200);
    let line = reply.headers("www-authenticate")[0];
    let signature = line.split("serverSignature=\"").nth(1).unwrap();
    let signature = BASE64_STANDARD.decode(signature.trim_end_matches('"'));
    verify_signature(&key, DigestAlgorithm::Sha256, &signed, &signature.unwrap()).unwrap();
}

#[test]
#[rustfmt::skip] // A row is a line.
fn challenges_are_as_tabled() {
    let server = RestServer::start();
    let reply = server.ask(Nobody, HIDDEN, &[], "");
    let lines = reply.headers("www-authenticate");
    assert_eq!(lines[0], "Basic realm=\"handle\"");
    assert!(lines[1].starts_with("Handle sessionId=\"") && !lines[1].contains("error"));
    let wrong = Who::Basic("300%3A20.1000/ADMIN:wrong");
    let reply = server.ask(wrong, HIDDEN, &[], "");
    let lines = reply.headers("www-authenticate");
    assert_eq!(lines.len(), 2);
    assert!(lines[1].ends_with("error=\"Identity not verified\""));
    let by_script = [("X-Requested-With", "XMLHttpRequest")];
    let reply = server.ask(Nobody, HIDDEN, &by_script, "");
    assert_eq!(reply.headers("www-authenticate").len(), 1);
    for (header, is_said) in [
        ("Handle version=1", "Unsupported version"),
        ("Handle id=300%3A20.1000/ADMIN", "Missing session"),
        ("Bearer x", "Identity not verified"),
        ("Handle =", "Identity not verified"),
        ("Basic !!!", "Identity not verified"),
    ] {
        let headers = [("Authorization", header)];
        let reply = server.ask(Nobody, HIDDEN, &headers, "");
        let lines = reply.headers("www-authenticate");
        assert_eq!((reply.status, reply.body.len()), (401, 0), "{header}");
        assert!(
            lines.last().unwrap().contains(is_said) || header.starts_with("Basic"),
            "{header}"
        );
    }
    let reply = server.ask(Plain, HIDDEN, &[], "");
    assert_eq!(
        (reply.status, reply.headers("www-authenticate").len()),
        (403, 0)
    );
}

#[test]
#[rustfmt::skip] // A row is a line.
fn passwords_are_read_leniently_and_compared_strictly() {
    let server = RestServer::start();
    for (user, status) in [
        ("300%3A20.1000/ADMIN:secret", 200),
        ("300%3A20.1000%2FADMIN:secret", 200),
        ("300:20.1000/ADMIN:secret", 200),
        ("300%3A20.1000/ADMIN:secret\0", 401),
        ("300%3A20.1000/ADMIN:Secret", 401),
        ("300%3A20.1000/ADMIN:secre", 401),
        ("300%3A20.1000/ADMIN:", 401),
        ("301%3A20.1000/ADMIN:secret", 401),
        ("300%3A20.1000/NONE:secret", 401),
        ("300%3A21.9999/NONE:secret", 401),
        // Without an index any secret does; the role is of index 300 alone.
        ("20.1000/ADMIN:secret", 403),
        ("20.1000/LIMITED:second", 403),
        ("300%3A20.1000/LIMITED:second", 401),
        (":", 401),
    ] {
        let reply = server.ask(Who::Basic(user), HIDDEN, &[], "");
        assert_eq!(reply.status, status, "{user} {}", reply.body);
    }
}

#[test]
fn a_client_with_failed_logins_has_to_wait() {
    let server = RestServer::start();
    let wrong = Who::Basic("300%3A20.1000/ADMIN:wrong");
    let ask = |who| server.ask(who, "GET /api/handles/20.1000/p1?index=1", &[], "");
    let statuses: Vec<_> = (0..25).map(|_| ask(wrong).status).collect();
    assert_eq!(statuses[..20], [401; 20]);
    assert_eq!(statuses[20..], [503; 5]);
    assert_eq!(ask(ADMIN).json()["responseCode"], 3);
    // Nobody else waits.
    assert_eq!(ask(LIMITED).status, 200);
    assert_eq!(ask(Nobody).status, 200);
}

/// A hundred at once were looked at before the first was counted.
#[test]
fn a_client_with_many_failed_logins_at_once_has_to_wait() {
    let server = RestServer::start();
    let ask = |who| server.ask(who, "GET /api/handles/20.1000/p1?index=1", &[], "");
    let pair = std::sync::Barrier::new(60);
    let statuses: Vec<_> = std::thread::scope(|scope| {
        let asking = (0..60).map(|_| {
            scope.spawn(|| {
                pair.wait();
                ask(Who::Basic("300%3A20.1000/ADMIN:wrong")).status
            })
        });
        let asking: Vec<_> = asking.collect();
        asking
            .into_iter()
            .map(|asked| asked.join().unwrap())
            .collect()
    });
    let taken = statuses.iter().filter(|status| **status == 401).count();
    let refused = statuses.iter().filter(|status| **status == 503).count();
    assert_eq!((taken, refused), (20, 40));
}

#[test]
fn signatures_are_not_failed_logins_and_names_are_bounded() {
    let server = RestServer::start();
    let ask = |authorization: &str| {
        let headers = [("Authorization", authorization)];
        server.ask(Nobody, HIDDEN, &headers, "").status
    };
    let basic = |user: &str| format!("Basic {}", base64(user.as_bytes()));
    let wrong = basic("300%3A20.1000/ADMIN:wrong");
    let statuses: Vec<_> = (0..21).map(|_| ask(&wrong)).collect();
    assert_eq!(statuses.last(), Some(&503));
    let (id, nonce) = session(&server);
    let signed = answer(&server, "KEY-SHA256", &nonce, b"");
    assert_eq!(ask(&header(&id, &signed)), 200);
    // Longer than any handle: it is not looked up, counted or remembered.
    let long = basic(&format!("20.1000/{}:x", "x".repeat(2_041)));
    let statuses: Vec<_> = (0..21).map(|_| ask(&long)).collect();
    assert_eq!(statuses, [401; 21]);
}

/// A session went on with a key that had been taken away.
#[test]
fn a_session_ends_with_the_key_that_opened_it() {
    let server = RestServer::start();
    let opened = || {
        let (by_key, nonce) = session(&server);
        let signed = header(&by_key, &answer(&server, "KEY-SHA256", &nonce, b""));
        let reply = server.ask(Nobody, HIDDEN, &[("Authorization", &signed)], "");
        assert_eq!(reply.status, 200);
        let by_password = server.ask(ADMIN, "POST /api/sessions", &[], "");
        [of(&by_password).0, by_key]
    };
    let ask = |what: &str, id: &String| {
        let named = format!("Handle sessionId=\"{id}\"");
        server
            .ask(Nobody, what, &[("Authorization", &named)], "")
            .status
    };
    let edit = |edit: Edit| {
        let edited = server.registry.edit_name(&OPERATOR, "20.1000/ADMIN", edit);
        edited.unwrap();
    };
    let put = |index, kind, data: &[u8]| edit(Edit::put(vec![NewValue::new(index, kind, data)]));
    let sessions = opened();
    let statuses = || sessions.each_ref().map(|id| ask(HIDDEN, id));
    // Whatever else changes in the record is nothing to them.
    put(7, "NOTE", b"x");
    assert_eq!(statuses(), [200, 200]);
    put(300, "HS_SECKEY", b"another");
    assert_eq!(statuses(), [401, 200]);
    assert_eq!(ask("GET /api/sessions/this", &sessions[0]), 403);
    put(300, "HS_SECKEY", b"secret");
    // What has ended stays ended.
    assert_eq!(statuses(), [401, 200]);
    edit(Edit::remove(&[301]));
    assert_eq!(statuses(), [401, 401]);
}

#[test]
fn a_session_ends_with_the_handle_of_who_opened_it() {
    let server = RestServer::start();
    let reply = server.ask(LIMITED, "POST /api/sessions", &[], "");
    let named = format!("Handle sessionId=\"{}\"", of(&reply).0);
    let ask = || {
        let headers = [("Authorization", &*named)];
        server
            .ask(Nobody, "GET /api/sessions/this", &headers, "")
            .status
    };
    assert_eq!(ask(), 200);
    let withdrawn = server
        .registry
        .withdraw_name(&OPERATOR, "20.1000/LIMITED", "left", None);
    withdrawn.unwrap();
    assert_eq!(ask(), 403);
}

#[test]
#[rustfmt::skip] // A row is a line.
fn a_certificate_logs_in() {
    let server = RestServer::start();
    let der = PrivatePkcs8KeyDer::from(server.pkcs8.as_slice());
    let key = KeyPair::from_pkcs8_der_and_sign_algo(&der, &rcgen::PKCS_RSA_SHA256).unwrap();
    let uid = DnType::CustomDnType(vec![0, 9, 2342, 19_200_300, 100, 1, 1]);
    let asks = "Authorization: Handle clientCert=\"true\"\r\n";
    for (names, header, status) in [
        (vec![(DnType::CommonName, "301:20.1000/ADMIN")], "", 200),
        (vec![(DnType::CommonName, "301:20.1000/ADMIN")], asks, 200),
        (vec![(DnType::CommonName, "x"), (uid, "301:20.1000/ADMIN")], "", 200),
        (vec![(DnType::CommonName, "20.1000/ADMIN")], "", 200),
        (vec![(DnType::CommonName, "300:20.1000/ADMIN")], "", 401),
        (vec![(DnType::CommonName, "300:20.1000/ADMIN")], asks, 401),
        (vec![(DnType::CommonName, "301:20.1000/LIMITED")], "", 401),
        (vec![], "", 401),
    ] {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        for (kind, name) in &names {
            params.distinguished_name.push(kind.clone(), *name);
        }
        let certificate = params.self_signed(&key).unwrap().der().clone();
        let request = format!("{HIDDEN} HTTP/1.1\r\nHost: localhost\r\nConnection: \
            close\r\n{header}\r\n");
        let shown = Some((certificate, server.pkcs8.clone()));
        let reply = exchange(tls::connect(server.web, shown), request.as_bytes());
        assert_eq!(reply.status, status, "{names:?} {header} {}", reply.body);
    }
}

#[test]
#[rustfmt::skip] // A row is a line.
fn verifications_are_as_tabled() {
    let server = RestServer::start();
    let (nonce, cnonce) = (b"nonce", b"client");
    let encode = |text: String| {
        text.replace('+', "%2B")
            .replace('/', "%2F")
            .replace('=', "%3D")
    };
    let query = |algorithm: SecretAlgorithm, alg: &str, secret: &[u8]| {
        let made = answer_with_secret(secret, algorithm, nonce, cnonce, &[9; 16]).unwrap();
        let from = if algorithm == SecretAlgorithm::Pbkdf2HmacSha1 {
            33
        } else {
            1
        };
        let (n, c, s) = (base64(nonce), base64(cnonce), base64(&made[from..]));
        let salt = base64(&[9; 16]);
        encode(format!(
            "nonce={n}&cnonce={c}&alg={alg}&signature={s}&salt={salt}&iterations=10000&length=160"
        ))
        .replace("%3D", "=")
    };
    let right = query(SecretAlgorithm::Sha1, "SHA-1", b"secret");
    let derived = query(
        SecretAlgorithm::Pbkdf2HmacSha1,
        "PBKDF2-HMAC-SHA1",
        b"secret",
    );
    let wrong = query(SecretAlgorithm::HmacSha256, "HMAC-SHA256", b"guess");
    let at = "/api/verifications/20.1000/ADMIN";
    let in_path = "/api/verifications/300:20.1000/ADMIN";
    let said = |is_valid: bool| {
        format!(r#"{{"responseCode":1,"isValid":{is_valid},"handle":"20.1000/ADMIN"}}"#)
    };
    for (what, status, expected) in [
        (format!("GET {at}?index=300&{right}"), 200, said(true)),
        (format!("GET {in_path}?{right}"), 200, said(true)),
        (format!("GET {in_path}?{derived}"), 200, said(true)),
        (format!("GET {in_path}?{wrong}"), 200, said(false)),
        (format!("GET {at}?index=301&{right}"), 200, said(false)),
        (format!("GET {at}?{right}"), 400, r#"{"responseCode":4}"#.into()),
        (format!("GET {at}?index=300&index=301&{right}"), 400, r#"{"responseCode":4}"#.into()),
        (format!("GET {in_path}?index=300&{right}"), 400, r#"{"responseCode":4}"#.into()),
        (format!("GET {in_path}"), 400, r#"{"responseCode":4}"#.into()),
        (format!("GET {in_path}?{}", right.replace("SHA-1", "ROT13")),
         400, r#"{"responseCode":4}"#.into()),
    ] {
        server.check(&[(Plain, &what, "", status, &expected)]);
    }
}
