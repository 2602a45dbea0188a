//! A server in the process of the test.

use std::fs;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use handfast_client::{Client, ServerAddress};
use handfast_registry::{
    AccountChange, Environment, NewAuthority, NewName, NewToken, NewValue, Principal, Registry,
    Role,
};
use handfast_server::{Identity, Listener, RunningServer, ServerContext, WebSettings};
use handfast_wire::Site;
use handfast_wire::crypto::{SigningKey, read_private_key};
use tempfile::TempDir;

use crate::http::{HttpClient, bearer};
use crate::{clock, sample};

/// The principal that may do everything.
pub const OPERATOR: Principal = Principal::Operator;

/// A running server, which is asked over HTTP as by its [`HttpClient`].
pub struct Server {
    /// The registry that it serves.
    pub registry: Arc<Registry>,
    /// The address of the handle protocol, over UDP and TCP.
    pub native: SocketAddr,
    /// The site that it is.
    pub site: Site,
    http: HttpClient,
    _served: RunningServer,
    _folder: Option<TempDir>,
}

impl Deref for Server {
    type Target = HttpClient;

    fn deref(&self) -> &HttpClient {
        &self.http
    }
}

impl Server {
    /// A server with names of every kind, at [`clock::NOW`].
    pub fn start() -> Self {
        Self::start_with(WebSettings {
            country_header: Some("x-country".parse().unwrap()),
            ..WebSettings::default()
        })
    }

    /// The same with other settings.
    pub fn start_with(settings: WebSettings) -> Self {
        Self::start_by(&Arc::new(AtomicU64::new(clock::NOW)), settings)
    }

    /// The same by a clock that the test moves.
    pub fn start_by(clock: &Arc<AtomicU64>, settings: WebSettings) -> Self {
        let settings = WebSettings {
            public_url: Some("http://names.example:8000".parse().unwrap()),
            ..settings
        };
        let mut server = Self::start_as(clock, settings);
        server.http.host = "names.example:8000".to_string();
        server
    }

    /// The same with the settings as they are, and no other URL than those.
    pub fn start_as(clock: &Arc<AtomicU64>, settings: WebSettings) -> Self {
        let clock = Arc::clone(clock);
        let setup = Setup::new().environment(move || clock::fixed(&clock));
        setup.settings(settings).start(sample::fill)
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        self.registry.folder()
    }

    /// Creates a name.
    pub fn name(&self, id: &str, values: &[(u32, &str, &[u8])]) {
        let values = values
            .iter()
            .map(|(index, value_type, data)| NewValue::new(*index, value_type, data));
        self.put(id, values.collect());
    }

    /// The same with values of any kind.
    pub fn put(&self, id: &str, values: Vec<NewValue>) {
        let new = NewName {
            values,
            ..NewName::default()
        };
        let created = self.registry.create_name(&OPERATOR, id, new);
        created.unwrap();
    }

    /// Creates an account, with roles.
    pub fn account(&self, name: &str, roles: &[(&str, Role)]) {
        let created = self.registry.create_account(&OPERATOR, name, "");
        created.unwrap();
        let who = Principal::account(name).unwrap();
        for (authority, role) in roles {
            let granted = self.registry.grant(&OPERATOR, authority, &who, *role);
            granted.unwrap();
        }
    }

    /// Creates an account that may do everything.
    pub fn administrator(&self, name: &str) {
        self.account(name, &[]);
        let promotion = AccountChange {
            administrator: Some(true),
            ..AccountChange::default()
        };
        let changed = self.registry.change_account(&OPERATOR, name, &promotion);
        changed.unwrap();
    }

    /// The header of a new token of an account.
    pub fn token(&self, account: &str, new: NewToken) -> String {
        let made = self.registry.create_token(&OPERATOR, account, new);
        bearer(&made.unwrap().0)
    }

    /// The key of the server.
    pub fn key(&self) -> SigningKey {
        let file = fs::read(self.folder().join("privkey.bin")).unwrap();
        SigningKey::new(read_private_key(&file, None).unwrap()).unwrap()
    }

    /// A client of this server alone.
    pub fn client(&self) -> Client {
        let address: ServerAddress = self.native.into();
        Client::new(handfast_client::Environment::system()).at(address)
    }
}

type ContextChange = Box<dyn FnOnce(ServerContext) -> ServerContext>;

/// How a server is set up: by the clock of this machine and with default settings, unless this is
/// changed.
pub struct Setup {
    administrators: Vec<Principal>,
    context: ContextChange,
    environment: Box<dyn Fn() -> Environment>,
    settings: WebSettings,
    shares_keys: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

impl Setup {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            administrators: Vec::new(),
            context: Box::new(|context| context),
            environment: Box::new(clock::system),
            settings: WebSettings::default(),
            shares_keys: false,
        }
    }

    /// Another clock, and other random numbers.
    #[must_use]
    pub fn environment(self, make: impl Fn() -> Environment + 'static) -> Self {
        let environment = Box::new(make);
        Self {
            environment,
            ..self
        }
    }

    /// Settings of HTTP.
    #[must_use]
    pub fn settings(self, settings: WebSettings) -> Self {
        Self { settings, ..self }
    }

    /// Another context.
    #[must_use]
    pub fn context(self, change: impl FnOnce(ServerContext) -> ServerContext + 'static) -> Self {
        let context = Box::new(change);
        Self { context, ..self }
    }

    /// Principals that may administer the server.
    #[must_use]
    pub fn administrators(self, administrators: &[&str]) -> Self {
        let parsed = administrators.iter().map(|who| Principal::parse(who));
        Self {
            administrators: parsed.collect::<Result<_, _>>().unwrap(),
            ..self
        }
    }

    /// The same keys for all servers of this process: making them takes a while.
    #[must_use]
    pub fn shared_keys(self) -> Self {
        Self {
            shares_keys: true,
            ..self
        }
    }

    /// Starts a server on a new registry, which is filled before.
    pub fn start(self, fill: impl FnOnce(&Registry)) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::create(folder.path(), (self.environment)()).unwrap();
        if self.shares_keys {
            for file in fs::read_dir(shared_keys()).unwrap().flatten() {
                fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
            }
        }
        fill(&registry);
        let server = self.serve(registry);
        Server {
            _folder: Some(folder),
            ..server
        }
    }

    /// Starts a server with authorities, and nothing else.
    pub fn start_for(self, authorities: &[&str]) -> Server {
        self.start(|registry| {
            for authority in authorities {
                let new = NewAuthority::default();
                let created = registry.create_authority(&OPERATOR, authority, new);
                created.unwrap();
            }
        })
    }

    /// Starts a server on a registry.
    pub fn serve(self, registry: Registry) -> Server {
        let registry = Arc::new(registry);
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(any, any).unwrap();
        let addresses = listener.addresses();
        let identity = Identity::open_or_make(registry.folder(), addresses).unwrap();
        let site = identity.site().clone();
        let context = ServerContext::new(
            Arc::clone(&registry),
            identity,
            (self.environment)(),
            self.administrators,
        );
        let served = listener.open((self.context)(context), self.settings);
        Server {
            registry,
            native: addresses.native,
            site,
            http: HttpClient::new(addresses.web),
            _served: served.unwrap(),
            _folder: None,
        }
    }
}

/// A folder with the keys for servers that share them.
fn shared_keys() -> &'static Path {
    static KEYS: OnceLock<TempDir> = OnceLock::new();
    let made = KEYS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let addresses = Listener::bind(any, any).unwrap().addresses();
        Identity::open_or_make(folder.path(), addresses).unwrap();
        folder
    });
    made.path()
}
