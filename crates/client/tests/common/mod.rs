//! Servers to talk to: the real one, and stand-ins that misbehave.

#![expect(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses some of it, and may panic"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use handfast_client::{Client, Environment, Login, ServerAddress};
use handfast_registry::{NewAuthority, NewName, NewValue, Principal, Registry, Role};
use handfast_server::{Addresses, Identity, Listener, RunningServer, ServerContext};
use handfast_wire::crypto::{SigningKey, read_private_key};
use handfast_wire::{Admin, AdminPermissions, Codec, Permissions, PublicKey, Site};

/// A server with the prefix `20.1000`, and its addresses.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    _served: RunningServer,
    /// How far the clock of the server is ahead, in milliseconds.
    pub(crate) ahead: Arc<AtomicU64>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) addresses: Addresses,
    pub(crate) site: Site,
}

/// A login with the secret.
pub(crate) const SECRET_ADMIN: &str = "300:20.1000/admin";
/// A login with the key.
pub(crate) const KEY_ADMIN: &str = "301:20.1000/admin";
pub(crate) const OPERATOR: Principal = Principal::Operator;

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
        let folder = tempfile::tempdir().unwrap();
        let ahead = Arc::new(AtomicU64::new(0));
        let world = || {
            let ahead = Arc::clone(&ahead);
            handfast_registry::Environment::new(
                move || now() + ahead.load(Ordering::Relaxed),
                random,
            )
        };
        let registry = Registry::create(folder.path(), world()).unwrap();
        let authority = NewAuthority::default();
        registry
            .create_authority(&OPERATOR, "20.1000", authority)
            .unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(any, any).unwrap();
        let addresses = listener.addresses();
        let identity = Identity::open_or_make(folder.path(), addresses).unwrap();
        let site = identity.site().clone();
        let registry = Arc::new(registry);
        let administrators = [SECRET_ADMIN, KEY_ADMIN].map(|who| Principal::parse(who).unwrap());
        let context = ServerContext::new(
            Arc::clone(&registry),
            identity,
            world(),
            administrators.to_vec(),
        );
        let server = Self {
            _served: listener
                .open(context, handfast_server::WebSettings::default())
                .unwrap(),
            folder,
            ahead,
            registry,
            addresses,
            site,
        };
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

    /// The key of the server, which is also an administrator's.
    pub(crate) fn key(&self) -> SigningKey {
        let file = std::fs::read(self.folder.path().join("privkey.bin")).unwrap();
        SigningKey::new(read_private_key(&file, None).unwrap()).unwrap()
    }

    pub(crate) fn public_key(&self) -> PublicKey<'static> {
        self.key().public_key().unwrap().clone()
    }

    pub(crate) fn native(&self) -> ServerAddress {
        self.addresses.native.into()
    }

    pub(crate) fn web(&self) -> ServerAddress {
        format!("http://{}", self.addresses.web).parse().unwrap()
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
