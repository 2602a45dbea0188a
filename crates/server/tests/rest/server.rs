//! A server for tests, and a client that sends what it is told to.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::world::world;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use handfast_registry::{
    AuthorityChange, NewAuthority, NewName, NewValue, Persistence, Principal, Registry, Role,
};
use handfast_server::{Identity, Listener, RunningServer, ServerContext};
use handfast_wire::crypto::{SigningKey, read_private_key};
use handfast_wire::{Codec, Permissions};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use serde_json::Value as Json;

pub(crate) const OPERATOR: Principal = Principal::Operator;
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

pub(crate) struct Server {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) served: RunningServer,
    pub(crate) registry: Arc<Registry>,
    /// The key of 301:20.1000/ADMIN.
    pub(crate) key: SigningKey,
    pub(crate) pkcs8: Vec<u8>,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{} {}", self.head, self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let named = lines.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value).collect()
    }
}

/// Keys for all servers: making them takes a while.
fn keys() -> &'static Path {
    static KEYS: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = KEYS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let addresses = Listener::bind(any, any).unwrap().addresses();
        Identity::open_or_make(folder.path(), addresses).unwrap();
        folder
    });
    made.path()
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(|context| context)
    }

    /// Starts one that is set up in another way.
    pub(crate) fn start_with(change: impl FnOnce(ServerContext) -> ServerContext) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry = Arc::new(Registry::create(folder.path(), world()).unwrap());
        let erasable = NewAuthority {
            change: AuthorityChange {
                persistence: Some(Persistence::Erasable),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        registry
            .create_authority(&OPERATOR, "20.1000", erasable)
            .unwrap();
        registry
            .create_authority(&OPERATOR, "20.2000", NewAuthority::default())
            .unwrap();
        for file in std::fs::read_dir(keys()).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        // The key of the server serves as an administrator's too.
        let file = std::fs::read(folder.path().join("privkey.bin")).unwrap();
        let key = SigningKey::new(read_private_key(&file, None).unwrap()).unwrap();
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
            let name = NewName {
                values,
                ..NewName::default()
            };
            registry.create_name(&OPERATOR, handle, name).unwrap();
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
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(any, any).unwrap();
        let identity = Identity::open_or_make(folder.path(), listener.addresses()).unwrap();
        let administrators = vec![Principal::parse("300:20.1000/ADMIN").unwrap()];
        let context = ServerContext::new(Arc::clone(&registry), identity, world(), administrators);
        let pkcs8 = key.to_pkcs8().unwrap().to_vec();
        Self {
            folder,
            served: listener
                .open(change(context), handfast_server::WebSettings::default())
                .unwrap(),
            registry,
            key,
            pkcs8,
        }
    }

    /// Sends a request and reads the reply. `what` is a method and a path.
    pub(crate) fn ask(&self, who: Who, what: &str, headers: &[(&str, &str)], body: &str) -> Reply {
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
        let is_plain = matches!(who, Who::Plain | Who::PlainAdmin);
        self.send(request.as_bytes(), !is_plain, None)
    }

    /// A PUT of JSON.
    pub(crate) fn put(&self, who: Who, path: &str, body: &str) -> Reply {
        let json = [("Content-Type", "application/json; charset=utf-8")];
        self.ask(who, &format!("PUT {path}"), &json, body)
    }

    pub(crate) fn send(
        &self,
        request: &[u8],
        is_tls: bool,
        certificate: Option<(CertificateDer<'static>, Vec<u8>)>,
    ) -> Reply {
        let mut stream = TcpStream::connect(self.served.addresses.web).unwrap();
        let mut bytes = Vec::new();
        if is_tls {
            let tls = ClientConnection::new(
                Arc::new(client_config(certificate)),
                ServerName::try_from("localhost").unwrap(),
            );
            let mut stream = StreamOwned::new(tls.unwrap(), stream);
            // A server that has heard enough answers and closes.
            drop(stream.write_all(request));
            drop(stream.read_to_end(&mut bytes));
        } else {
            drop(stream.write_all(request));
            drop(stream.read_to_end(&mut bytes));
        }
        let at = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let at = at.unwrap_or_else(|| panic!("no reply: {}", String::from_utf8_lossy(&bytes)));
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply {
            status,
            head,
            body: bytes[at + 4..].to_vec(),
        }
    }

    /// Rows of who, what, body, status and JSON. `""` is an empty body, `*` any; messages count if
    /// they are said.
    pub(crate) fn check(&self, rows: &[(Who, &str, &str, u16, &str)]) {
        for (who, what, body, status, expected) in rows {
            let json = [("Content-Type", "application/json")];
            let headers: &[(&str, &str)] = if body.is_empty() { &[] } else { &json };
            let reply = self.ask(*who, what, headers, body);
            let told = format!("{who:?} {what} {body}\n{}\n{}", reply.head, reply.text());
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

fn client_config(certificate: Option<(CertificateDer<'static>, Vec<u8>)>) -> ClientConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer));
    match certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
            builder
                .with_client_auth_cert(vec![certificate], key)
                .unwrap()
        }
    }
}

/// Certificates of servers are not looked at.
#[derive(Debug)]
struct AnyServer;

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        aws_lc_rs::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
