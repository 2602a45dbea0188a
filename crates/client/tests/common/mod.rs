//! Servers to talk to: the real one, and stand-ins that misbehave.

#![expect(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses some of it, and may panic"
)]

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use handfast_client::{Client, Environment, Login, ServerAddress};
use handfast_registry::{NewName, NewValue, Principal, Role};
use handfast_testing::Setup;
use handfast_wire::{Admin, AdminPermissions, Codec, Permissions, PublicKey};

pub(crate) use handfast_testing::OPERATOR;

/// A server with the prefix `20.1000`.
pub(crate) struct Server {
    server: handfast_testing::Server,
    /// How far the clock of the server is ahead, in milliseconds.
    pub(crate) ahead: Arc<AtomicU64>,
}

impl Deref for Server {
    type Target = handfast_testing::Server;

    fn deref(&self) -> &handfast_testing::Server {
        &self.server
    }
}

/// A login with the secret.
pub(crate) const SECRET_ADMIN: &str = "300:20.1000/admin";
/// A login with the key.
pub(crate) const KEY_ADMIN: &str = "301:20.1000/admin";

pub(crate) fn now() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

pub(crate) fn seconds() -> u32 {
    u32::try_from(now() / 1_000).unwrap()
}

pub(crate) fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).unwrap();
}

/// Runs a test. Servers have a runtime of their own, which must not be created or dropped inside
/// another.
pub(crate) fn block_on<F: Future>(test: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test)
}

pub(crate) fn client() -> Client {
    Client::new(Environment::system())
}

impl Server {
    pub(crate) fn start() -> Self {
        let ahead = Arc::new(AtomicU64::new(0));
        let of_server = Arc::clone(&ahead);
        let setup = Setup::new().administrators(&[SECRET_ADMIN, KEY_ADMIN]);
        let setup = setup.environment(move || {
            let ahead = Arc::clone(&of_server);
            let now = move || now() + ahead.load(Ordering::Relaxed);
            handfast_registry::Environment::new(now, random)
        });
        let server = setup.start_for(&["20.1000"]);
        let server = Self { server, ahead };
        server.fill();
        server
    }

    fn fill(&self) {
        let url = |name: &str| NewName::urls(&[&format!("https://example.org/{name}")]);
        self.put("20.1000/5555", url("5555"));
        let values = vec![
            NewValue::new(1, "DESC", &[b'x'; 20_000]),
            NewValue::new(2, "URL", b"https://example.org/large"),
        ];
        self.put("20.1000/large", values_of(values));
        let public = self.key().public_key().unwrap().to_bytes();
        let values = vec![
            NewValue::new(300, "HS_SECKEY", b"secret"),
            NewValue::new(301, "HS_PUBKEY", &public),
        ];
        self.put("20.1000/admin", values_of(values));
        let hidden = NewValue {
            permissions: Some(Permissions::SECRET),
            ..NewValue::new(2, "NOTE", b"for administrators")
        };
        let shown = NewValue::new(1, "URL", b"https://example.org/hidden");
        let admin = Admin {
            permissions: AdminPermissions::ALL,
            administrator: handfast_wire::Reference::new("20.1000/admin", 300),
        };
        let admin = NewValue::new(100, "HS_ADMIN", &admin.to_bytes());
        self.put("20.1000/hidden", values_of(vec![shown, hidden, admin]));
        for who in [SECRET_ADMIN, KEY_ADMIN] {
            let who = Principal::parse(who).unwrap();
            self.registry
                .grant(&OPERATOR, "20.1000", &who, Role::Admin)
                .unwrap();
        }
    }

    pub(crate) fn put(&self, handle: &str, name: NewName) {
        self.registry.create_name(&OPERATOR, handle, name).unwrap();
    }

    pub(crate) fn public_key(&self) -> PublicKey<'static> {
        self.key().public_key().unwrap().clone()
    }

    pub(crate) fn native(&self) -> ServerAddress {
        self.server.native.into()
    }

    pub(crate) fn web(&self) -> ServerAddress {
        self.url().parse().unwrap()
    }

    pub(crate) fn with_secret(&self) -> Client {
        let login = Login::with_secret(SECRET_ADMIN, b"secret").unwrap();
        client().at(self.native()).with_login(login)
    }

    pub(crate) fn with_key(&self) -> Client {
        let login = Login::with_key(KEY_ADMIN, self.key()).unwrap();
        client().at(self.native()).with_login(login)
    }
}

pub(crate) fn values_of(values: Vec<NewValue>) -> NewName {
    NewName {
        values,
        ..NewName::default()
    }
}

pub(crate) fn any() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}
