//! A server with names of every kind, and raw HTTP to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::{
    AuthorityChange, Environment, NewAuthority, NewName, NewValue, Principal, Registry,
};
use handfast_server::{Identity, Listener, RunningServer, ServerContext, WebSettings};

const OPERATOR: Principal = Principal::Operator;
/// What time it is: Sun, 15 Nov 2026 06:17:16 GMT.
pub const NOW: u64 = 1_794_723_436_000;

pub struct Server {
    _folder: tempfile::TempDir,
    _served: RunningServer,
    pub registry: Arc<Registry>,
    pub web: SocketAddr,
}

/// What came back, to the letter.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Status and headers in some order, but for those that hyper leaves out of an answer to HEAD,
    /// or that change.
    pub fn sorted_head(&self) -> Vec<&str> {
        let is_steady =
            |line: &&str| !line.starts_with("content-length") && !line.starts_with("date");
        let mut lines: Vec<_> = self.head.lines().filter(is_steady).collect();
        lines.sort_unstable();
        lines
    }

    pub fn location(&self) -> &str {
        self.header("location").unwrap_or_default()
    }
}

fn world(clock: &Arc<AtomicU64>) -> Environment {
    let counter = AtomicU64::new(1);
    let clock = Arc::clone(clock);
    Environment::new(
        move || clock.load(Ordering::SeqCst),
        move |bytes| {
            for byte in bytes {
                let next = counter.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
                *byte = next.to_be_bytes()[0] ^ next.to_be_bytes()[5];
            }
        },
    )
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(WebSettings {
            country_header: Some("x-country".parse().unwrap()),
            ..WebSettings::default()
        })
    }

    pub fn start_with(settings: WebSettings) -> Self {
        Self::start_by(&Arc::new(AtomicU64::new(NOW)), settings)
    }

    /// By a clock that is moved from outside.
    pub fn start_by(clock: &Arc<AtomicU64>, settings: WebSettings) -> Self {
        let settings = WebSettings {
            public_url: Some("http://names.example:8000".parse().unwrap()),
            ..settings
        };
        Self::start_as(clock, settings)
    }

    /// With the settings as they are, and no other URL than those.
    pub fn start_as(clock: &Arc<AtomicU64>, settings: WebSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry = Arc::new(Registry::create(folder.path(), world(clock)).unwrap());
        fill(&registry);
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(any, any).unwrap();
        let addresses = listener.addresses();
        let identity = Identity::open_or_make(folder.path(), addresses).unwrap();
        let context = ServerContext::new(Arc::clone(&registry), identity, world(clock), Vec::new());
        Self {
            _served: listener.open(context, settings).unwrap(),
            _folder: folder,
            registry,
            web: addresses.web,
        }
    }

    /// Sends octets as they are, and reads what comes until the server closes.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.web).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        // A server that has heard enough may close before all is sent.
        drop(stream.write_all(request));
        let mut all = Vec::new();
        drop(stream.read_to_end(&mut all));
        let all = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or(0),
            head: head.to_string(),
            body: body.to_string(),
        }
    }

    pub fn ask(&self, method: &str, target: &str, headers: &str) -> Answer {
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: names.example:8000\r\nConnection: \
             close\r\n{headers}\r\n"
        );
        self.raw(request.as_bytes())
    }

    pub fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, "")
    }

    pub fn accepting(&self, target: &str, media: &str) -> Answer {
        self.ask("GET", target, &format!("Accept: {media}\r\n"))
    }

    pub fn name(&self, id: &str, values: &[(u32, &str, &[u8])]) {
        let values = values
            .iter()
            .map(|(index, value_type, data)| NewValue::new(*index, value_type, data));
        let new = NewName {
            values: values.collect(),
            ..NewName::default()
        };
        self.registry.create_name(&OPERATOR, id, new).unwrap();
    }
}

fn fill(registry: &Registry) {
    for (path, is_cordra) in [
        ("20.1000", false),
        ("10.1045", false),
        ("100.102", true),
        ("urn:urn-3", false),
        ("urn:urn-3:HUL", false),
        ("urn:urn-3:HUL.OIS", false),
        ("urn:isbn", false),
        ("ark:12025", false),
        ("info:lccn", false),
    ] {
        let new = NewAuthority {
            contact: "desk@library.example".into(),
            change: AuthorityChange {
                cordra: is_cordra.then_some(true),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        registry.create_authority(&OPERATOR, path, new).unwrap();
    }
    let make = |id: &str, urls: &[&str]| {
        registry
            .create_name(&OPERATOR, id, NewName::urls(urls))
            .unwrap();
    };
    make("20.1000/5555", &["https://example.org/5555"]);
    make("20.1000/a b/ü%", &["https://example.org/odd"]);
    make("20.1000/gone", &["https://example.org/gone"]);
    make("10.1045/april2006-paskin", &["https://dlib.example/paskin"]);
    make(
        "100.102/F58FB49EB1F848f0A606E84CEF294BE5",
        &["https://cordra.example/o"],
    );
    make(
        "100.102/A58FB49EB1F848f0A606E84CEF294BE5",
        &["https://cordra.example/o?a=b#f"],
    );
    make(
        "urn:urn-3:HUL.OIS:Home",
        &[
            "https://first.example/h",
            "https://second.example/h",
            "ftp://third.example/h",
        ],
    );
    make("urn:isbn:0451450523", &["https://first.example/h"]);
    make("ark:12025/654xz321", &["https://ark.example/1"]);
    make("info:lccn/2002022641", &["https://lccn.example/2002022641"]);
    let reason = "a <b>mistake</b>";
    registry
        .withdraw_name(&OPERATOR, "20.1000/gone", reason, Some("20.1000/5555"))
        .unwrap();
    let reserved = NewName {
        reserve: true,
        ..NewName::urls(&["https://example.org/soon"])
    };
    registry
        .create_name(&OPERATOR, "20.1000/soon", reserved)
        .unwrap();
}
