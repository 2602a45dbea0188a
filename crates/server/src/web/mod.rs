//! The web door: HTTP/1.1 and HTTP/2, plain and over TLS, at one port.
//!
//! The first octets of a connection say which of these it is. What is asked for is then known by the start of its
//! path: each part of the door has a module of its own, which is given the request and the [`Web`].

mod access_log;
mod brief;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod geoip;
mod network;
mod operations;
mod proxies;
mod reply;
mod resolve;
mod rest;
mod rewound;
mod tls;
mod tunnel;
mod urn;
mod v1;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::Registry;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

pub use self::access_log::AccessLog;
use self::access_log::{Log, Noted, REQUEST_ID};
use self::brief::Left;
use self::geoip::Countries;
pub use self::network::{BadNetwork, Network};
use self::operations::Meters;
use self::proxies::Proxies;
pub(crate) use self::reply::Body;
use self::rewound::Rewound;
pub use self::tls::TlsFiles;
use crate::native::Native;

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest start of a request: line and headers.
const LONGEST_HEAD: usize = 64 << 10;
/// How many requests one HTTP/2 connection has under way.
const TOGETHER: u32 = 64;

/// What all parts of the web door share.
pub(crate) struct Web {
    pub(crate) native: Arc<Native>,
    pub(crate) rest: rest::Rest,
    tls: TlsAcceptor,
    /// A header that says where clients are.
    country_header: Option<HeaderName>,
    /// A file that says where addresses are.
    countries: Option<Countries>,
    proxies: Proxies,
    /// What is counted.
    pub(crate) meters: Meters,
    log: Option<Log>,
    /// When the server started, in milliseconds since 1970.
    started: u64,
    /// Numbers for requests that come without one.
    requests: AtomicU64,
    /// Whether the server is about to end.
    closing: watch::Receiver<bool>,
    pub(crate) api: v1::Api,
}

/// How the web door is set up.
#[derive(Clone, Debug, Default)]
pub struct WebSettings {
    /// A certificate that others know; without it there is one for the key of the site.
    pub tls: Option<TlsFiles>,
    /// Whether clients are asked for certificates; unless this is said, only if there is none that others know.
    pub client_certificates: Option<bool>,
    /// A header by which a proxy in front says in which country a client is (ISO 3166). Clients could set it too, unless
    /// the proxy takes theirs out.
    pub country_header: Option<HeaderName>,
    /// A file that says in which country addresses are, in the format of `MaxMind` DB.
    pub geoip: Option<PathBuf>,
    /// A header by which proxies in front say for whom they ask: `X-Forwarded-For`.
    pub client_header: Option<HeaderName>,
    /// The proxies whose headers are believed.
    pub trusted_proxies: Vec<Network>,
    /// Where it is logged who asks for what, and how; without it, nowhere.
    pub access_log: Option<AccessLog>,
}

/// Who asks, and how.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// From where. Behind a proxy that is not trusted, that is the proxy.
    pub(crate) address: SocketAddr,
    /// Whether a proxy that is trusted has handed this on.
    pub(crate) is_handed_on: bool,
    /// Whether nobody can listen: credentials count only then.
    pub(crate) is_secure: bool,
    /// The certificate that the client has shown.
    pub(crate) certificate: Option<CertificateDer<'static>>,
}

impl Web {
    pub(crate) fn new(
        native: Arc<Native>,
        settings: WebSettings,
        closing: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let asks = settings.client_certificates;
        // People who come with browsers would be asked which of their certificates to show: only clients of the
        // handle protocol come to a server whose certificate nobody vouches for.
        let asks = asks.unwrap_or(settings.tls.is_none());
        let tls = tls::acceptor(native.identity().key(), settings.tls, asks)?;
        let countries = settings.geoip.as_deref();
        let countries = countries.map(|file| Countries::open(file, native.now()));
        Ok(Self {
            countries: countries.transpose()?,
            proxies: Proxies {
                header: settings.client_header,
                trusted: settings.trusted_proxies,
            },
            started: native.now(),
            meters: Meters::default(),
            log: settings.access_log.as_ref().map(Log::open).transpose()?,
            requests: AtomicU64::new(0),
            closing,
            api: v1::Api::default(),
            native,
            rest: rest::Rest::default(),
            tls,
            country_header: settings.country_header,
        })
    }

    /// In which country a client is, if that is known: by the address that it says itself, by a header of a proxy, or by
    /// the address that it has.
    pub(crate) fn country(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        said: Option<IpAddr>,
    ) -> Option<String> {
        let of = |address| self.countries.as_ref()?.of(address, self.native.now());
        if let Some(said) = said {
            return of(said);
        }
        // Where proxies are named, nobody else is believed.
        let is_believed = caller.is_handed_on || self.proxies.trusted.is_empty();
        let header = self.country_header.as_ref().filter(|_| is_believed);
        let country = header.and_then(|header| headers.get(header)?.to_str().ok());
        let country = country.map(str::trim).filter(|country| country.len() == 2);
        let country = country.map(str::to_string);
        country.or_else(|| of(caller.address.ip()))
    }

    /// The client for whom a proxy asks, if it is trusted and says so.
    fn behind(&self, caller: &Caller, headers: &HeaderMap) -> Option<Arc<Caller>> {
        if !caller.is_handed_on {
            return None;
        }
        let address = self.proxies.client(headers)?;
        Some(Arc::new(Caller {
            address: SocketAddr::new(address, 0),
            ..caller.clone()
        }))
    }

    /// Whether the server is about to end.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// A name for a request that came without one: nobody else's since the server started, and hardly before.
    fn new_id(&self) -> HeaderValue {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{number:x}", self.started);
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("-"))
    }

    /// What is kept.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.native.registry()
    }
}

/// Answers one request after the other.
pub(crate) async fn converse(web: Arc<Web>, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let address = stream.peer_addr()?;
    let caller = Caller {
        address,
        is_handed_on: web.proxies.is_trusted(address.ip()),
        is_secure: false,
        certificate: None,
    };
    let _counted = Meters::connected(&web);
    let Left::Bytes(start) = brief::converse(&web, &mut stream).await? else {
        return Ok(());
    };
    // The first octet of a TLS handshake.
    let is_tls = start.first() == Some(&0x16);
    let is_http2 = start.starts_with(b"PRI");
    let stream = Rewound::new(start, stream);
    if is_tls {
        converse_securely(web, stream, caller).await
    } else {
        serve(web, stream, caller, is_http2).await
    }
}

async fn converse_securely(
    web: Arc<Web>,
    stream: Rewound<TcpStream>,
    caller: Caller,
) -> io::Result<()> {
    let mut stream = timeout(PATIENCE, web.tls.accept(stream)).await??;
    let session = stream.get_ref().1;
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    let certificate = session.peer_certificates().and_then(<[_]>::first).cloned();
    let caller = Caller {
        is_secure: true,
        certificate: certificate.map(CertificateDer::into_owned),
        ..caller
    };
    // A certificate may say who asks, and with it what they may read.
    if is_http2 || caller.certificate.is_some() {
        return serve(web, stream, caller, is_http2).await;
    }
    match brief::converse(&web, &mut stream).await? {
        Left::Bytes(start) => serve(web, Rewound::new(start, stream), caller, false).await,
        Left::Nothing => stream.shutdown().await,
    }
}

async fn serve<S>(web: Arc<Web>, stream: S, caller: Caller, is_http2: bool) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let caller = Arc::new(caller);
    let closing = web.closing.clone();
    let service = service_fn(move |request| {
        let (web, caller) = (Arc::clone(&web), Arc::clone(&caller));
        async move { Ok::<_, Infallible>(answer(web, &caller, request).await) }
    });
    let stream = TokioIo::new(stream);
    if is_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(TOGETHER)
            .max_header_list_size(u32::try_from(LONGEST_HEAD).unwrap_or(u32::MAX))
            .keep_alive_interval(PATIENCE)
            .keep_alive_timeout(PATIENCE)
            .serve_connection(stream, service);
        until_closed(connection, closing).await
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(LONGEST_HEAD)
            .serve_connection(stream, service);
        until_closed(connection, closing).await
    }
}

/// Serves a connection. When the server is about to end, what has been asked is answered, and nothing new is.
async fn until_closed<C>(connection: C, closing: watch::Receiver<bool>) -> io::Result<()>
where
    C: GracefulConnection<Error = hyper::Error>,
{
    let mut connection = pin!(connection);
    tokio::select! {
        served = &mut connection => return served.map_err(io::Error::other),
        () = closed(closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    connection.await.map_err(io::Error::other)
}

/// Waits until the server is about to end.
async fn closed(mut closing: watch::Receiver<bool>) {
    if closing.wait_for(|is_closing| *is_closing).await.is_err() {
        // Whoever could say so has gone, and the server stays.
        std::future::pending::<()>().await;
    }
}

/// A part of the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Operations,
    Resolve,
    Rest,
    Tunnel,
    Urn,
    V1,
}

impl Part {
    pub(crate) const ALL: [Self; 6] = [
        Self::Operations,
        Self::Resolve,
        Self::Rest,
        Self::Tunnel,
        Self::Urn,
        Self::V1,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Resolve => "resolve",
            Self::Rest => "rest",
            Self::Tunnel => "tunnel",
            Self::Urn => "urn",
            Self::V1 => "v1",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    pub(crate) fn number(self) -> usize {
        match self {
            Self::Operations => 0,
            Self::Resolve => 1,
            Self::Rest => 2,
            Self::Tunnel => 3,
            Self::Urn => 4,
            Self::V1 => 5,
        }
    }

    /// Which part of the door a request is for.
    fn of(request: &Request<Incoming>) -> Self {
        if tunnel::is_message(request) {
            return Self::Tunnel;
        }
        Self::of_path(request.uri().path())
    }

    /// Which part of the door a path is of.
    fn of_path(path: &str) -> Self {
        let mut segments = path.trim_start_matches('/').split('/');
        match (segments.next().unwrap_or_default(), segments.next()) {
            ("api", Some("v1")) => Self::V1,
            ("api" | "hrls", _) => Self::Rest,
            ("uri-res", _) => Self::Urn,
            ("healthz" | "readyz" | "metrics", None) => Self::Operations,
            _ => Self::Resolve,
        }
    }
}

/// One request: handed to its part of the door, counted, and logged if that is wished for.
async fn answer(web: Arc<Web>, caller: &Arc<Caller>, request: Request<Incoming>) -> Response<Body> {
    let part = Part::of(&request);
    let behind = web.behind(caller, request.headers());
    let caller = behind.as_ref().unwrap_or(caller);
    let given = access_log::given_id(&request);
    // A new one is made only for those who would see it somewhere else.
    let is_named = given.is_some() || web.log.is_some() || part == Part::V1;
    let id = is_named.then(|| given.unwrap_or_else(|| web.new_id()));
    let noted = id.clone().filter(|_| web.log.is_some()).map(|id| {
        let (address, now) = (caller.address.ip(), web.native.now());
        Noted::of(&request, address, caller.is_secure, id, now)
    });
    let mut response = match part {
        Part::Tunnel => tunnel::answer(&web, request).await,
        Part::V1 => v1::answer(&web, caller, request).await,
        Part::Rest => rest::answer(&web, caller, request).await,
        Part::Urn => urn::answer(&web, caller, request).await,
        Part::Operations => operations::answer(&web, &request),
        Part::Resolve => resolve::answer(&web, caller, request).await,
    };
    web.meters.count(part, response.status());
    if let (Some(noted), Some(log)) = (noted, &web.log)
        && !log.add(&noted, &response, web.native.now())
    {
        web.meters.unlogged.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}
