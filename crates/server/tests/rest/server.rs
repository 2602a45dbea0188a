//! A server for tests, and a client that sends what it is told to.

use std::ops::Deref;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::{AuthorityChange, NewAuthority, NewValue, Persistence, Principal, Role};
use handfast_server::ServerContext;
use handfast_testing::{OPERATOR, Response, Server, Setup, exchange, tls};
use handfast_wire::crypto::SigningKey;
use handfast_wire::{Codec, Permissions};
use serde_json::Value as Json;

/// Who may do everything under the prefix, and home others.
pub(crate) const ADMIN: Who = Who::Basic("300%3A20.1000/ADMIN:secret");
/// Somebody without any right.
pub(crate) const LIMITED: Who = Who::Basic("300%3A20.1000/LIMITED:guest");

/// How a request is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    Basic(&'static str),
    Nobody,
    /// Without TLS.
    Plain,
    /// With the administrator's password, without TLS.
    PlainAdmin,
}

/// A server with names, and people who may log in.
pub(crate) struct RestServer {
    server: Server,
    /// The key of 301:20.1000/ADMIN.
    pub(crate) key: SigningKey,
    pub(crate) pkcs8: Vec<u8>,
}

impl Deref for RestServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl RestServer {
    pub(crate) fn start() -> Self {
        Self::start_with(|context| context)
    }

    /// Starts one that is set up in another way.
    pub(crate) fn start_with(
        change: impl FnOnce(ServerContext) -> ServerContext + 'static,
    ) -> Self {
        let setup = Setup::new().shared_keys().context(change);
        let setup = setup.administrators(&["300:20.1000/ADMIN"]);
        let server = setup.start_for(&["20.2000"]);
        let erasable = NewAuthority {
            change: AuthorityChange {
                persistence: Some(Persistence::Erasable),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        let registry = &server.registry;
        registry
            .create_authority(&OPERATOR, "20.1000", erasable)
            .unwrap();
        // The key of the server serves as an administrator's too.
        let key = server.key();
        let public = key.public_key().unwrap().to_bytes();
        let secret = |index, bytes: &[u8]| NewValue::new(index, "HS_SECKEY", bytes);
        for (handle, values) in [
            (
                "20.1000/ADMIN",
                vec![
                    secret(300, b"secret"),
                    NewValue::new(301, "HS_PUBKEY", &public),
                ],
            ),
            (
                "20.1000/LIMITED",
                vec![secret(300, b"guest"), secret(302, b"second")],
            ),
            (
                "20.1000/p1",
                vec![
                    NewValue::new(1, "URL", b"http://a.example/"),
                    NewValue::new(2, "EMAIL", b"e@x"),
                    NewValue {
                        permissions: Some(Permissions::from_bits(0x0C)),
                        ..NewValue::new(3, "NOTE", b"hidden")
                    },
                    NewValue::new(4, "URL.DE", b"http://de.example/"),
                ],
            ),
            (
                "20.1000/sealed",
                vec![NewValue {
                    permissions: Some(Permissions::from_bits(0x00)),
                    ..NewValue::new(1, "X", b"sealed")
                }],
            ),
            ("20.1000/empty", vec![]),
            ("20.2000/gone", vec![NewValue::new(1, "URL", b"http://b/")]),
        ] {
            server.put(handle, values);
        }
        registry
            .withdraw_name(&OPERATOR, "20.2000/gone", "old", None)
            .unwrap();
        for index in [300, 301] {
            let admin = Principal::parse(&format!("{index}:20.1000/ADMIN")).unwrap();
            registry
                .grant(&OPERATOR, "20.1000", &admin, Role::Admin)
                .unwrap();
            registry
                .grant(&OPERATOR, "20.2000", &admin, Role::Admin)
                .unwrap();
        }
        let pkcs8 = key.to_pkcs8().unwrap().to_vec();
        Self { server, key, pkcs8 }
    }

    /// Sends a request and reads the reply. `what` is a method and a path.
    pub(crate) fn ask(
        &self,
        who: Who,
        what: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let mut head = String::new();
        if let Who::Basic(user) = who {
            let user = BASE64_STANDARD.encode(user);
            head = format!("Authorization: Basic {user}\r\n");
        } else if let Who::PlainAdmin = who {
            let user = BASE64_STANDARD.encode("300%3A20.1000/ADMIN:secret");
            head = format!("Authorization: Basic {user}\r\n");
        }
        for (name, value) in headers {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
        let length = body.len();
        let request = format!(
            "{what} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}Content-Length: \
             {length}\r\n\r\n{body}"
        );
        match who {
            Who::Plain | Who::PlainAdmin => self.raw(request.as_bytes()),
            _ => exchange(tls::connect(self.web, None), request.as_bytes()),
        }
    }

    /// A PUT of JSON.
    pub(crate) fn put(&self, who: Who, path: &str, body: &str) -> Response {
        let json = [("Content-Type", "application/json; charset=utf-8")];
        self.ask(who, &format!("PUT {path}"), &json, body)
    }

    /// Rows of who, what, body, status and JSON. `""` is an empty body, `*` any; messages count if
    /// they are said.
    pub(crate) fn check(&self, rows: &[(Who, &str, &str, u16, &str)]) {
        for (who, what, body, status, expected) in rows {
            let json = [("Content-Type", "application/json")];
            let headers: &[(&str, &str)] = if body.is_empty() { &[] } else { &json };
            let reply = self.ask(*who, what, headers, body);
            let told = format!("{who:?} {what} {body}\n{}\n{}", reply.head, reply.body);
            assert_eq!(reply.status, *status, "{told}");
            match *expected {
                "*" => {}
                "" => assert!(reply.body.is_empty(), "{told}"),
                expected => {
                    let expected: Json = serde_json::from_str(expected).unwrap();
                    let mut found = reply.json();
                    let object = found.as_object_mut().unwrap();
                    if expected.get("message").is_none() {
                        object.remove("message");
                    }
                    if let Some(values) = object.get_mut("values") {
                        for value in values.as_array_mut().unwrap() {
                            value.as_object_mut().unwrap().remove("timestamp");
                        }
                    }
                    assert_eq!(found, expected, "{told}");
                }
            }
        }
    }
}
