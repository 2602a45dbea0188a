//! The web door: HTTP/1.1 and HTTP/2, plain and over TLS, at one port.
//!
//! The first octets of a connection say which of these it is. What is asked for is then known by the start of its
//! path: each part of the door has a module of its own, which is given the request and the [`Web`].

mod acme;
pub(crate) mod api_v1;
pub(crate) mod connection;
mod form;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub(crate) mod local_socket;
pub(crate) mod middleware;
pub(crate) mod native_tunnel;
mod oai;
pub(crate) mod operator;
pub(crate) mod percent;
pub(crate) mod registry_pages;
pub(crate) mod resolver;
pub(crate) mod response;
pub(crate) mod rest_api;
pub(crate) mod uri_res;
mod xml;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::Registry;
use hyper::body::Incoming as Stream;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use self::acme::challenges::ACME_TLS;
pub use self::acme::{Acme, AcmeChallenge};
use self::api_v1::{Api, ApiSettings};
use crate::admission::connections::{Activity, Client};
use crate::admission::peer::Peer;
use crate::admission::pending_responses::{self, ConnectionResponses};
use crate::http::connection::fast_path::Left;
use crate::http::connection::handshake::shake_hands;
use crate::http::connection::request_body::Incoming;
use crate::http::connection::rewound::Rewound;
use crate::http::connection::timeouts::Patient;
use crate::http::connection::tls::Acceptor;
pub use crate::http::connection::tls::{Tls, TlsFiles};
use crate::http::connection::{fast_path, self_signed, tls};
use crate::http::middleware::access_log;
pub use crate::http::middleware::access_log::AccessLog;
use crate::http::middleware::access_log::{Log, Noted, REQUEST_ID};
use crate::http::middleware::compression::Wish;
use crate::http::middleware::host::OwnHosts;
pub use crate::http::middleware::host::{BadPublicUrl, PublicUrl};
pub use crate::http::middleware::network::{BadNetwork, Network};
use crate::http::middleware::proxies::Proxies;
use crate::http::operator::endpoints;
use crate::http::operator::endpoints::Meters;
use crate::http::operator::readiness::Readiness;
use crate::http::resolver::geoip::Countries;
use crate::http::resolver::redirect_cache::Recent;
pub(crate) use crate::http::response::Body;
use crate::http::response::plain;
use crate::native::Native;

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest start of a request: line and headers. Each connection may hold so much before anything is known of it.
const LONGEST_HEAD: usize = 32 << 10;
/// How many header lines a request has at most.
const MOST_HEADERS: usize = 100;
/// How long an HTTP/2 connection may have hardly anything to say, whose client keeps it open: it is told to come again,
/// and after as much time again it is closed, whatever waits for its client to read it.
const SILENCE: Duration = Duration::from_mins(10);
/// The least that a client of HTTP/2 begins with: its preface, and a frame of settings (RFC 9113 §3.4).
const HTTP2_START: u64 = 24 + 9;
/// How many requests one HTTP/2 connection has under way.
const TOGETHER: u32 = 64;

/// How long an import that nobody waits for is, unless something else is said.
const SPOOL_LIMIT: u64 = 1 << 30;

/// What all parts of the web door share.
pub(crate) struct Web {
    pub(crate) native: Arc<Native>,
    pub(crate) rest: rest_api::Rest,
    tls: Acceptor,
    /// A header that says where clients are.
    country_header: Option<HeaderName>,
    /// Whom to write to about the register.
    pub(crate) registry_email: Option<String>,
    /// How long clients may take.
    patience: Duration,
    /// The hosts that mean this server.
    pub(crate) hosts: OwnHosts,
    /// A file that says where addresses are.
    countries: Option<Countries>,
    proxies: Proxies,
    pub(crate) recent: Recent,
    /// What is counted.
    pub(crate) meters: Meters,
    /// Whether the store can be read and written.
    readiness: Readiness,
    log: Option<Log>,
    /// When the server started, in milliseconds since 1970.
    started: u64,
    /// Numbers for requests that come without one.
    requests: AtomicU64,
    /// Whether the server is about to end.
    closing: watch::Receiver<bool>,
    pub(crate) api: Arc<Api>,
}

/// How the web door is set up.
#[derive(Clone, Debug, Default)]
pub struct WebSettings {
    /// Where the certificate comes from.
    pub tls: Tls,
    /// Whether clients are asked for certificates; unless this is said, only if there is none that others know.
    pub client_certificates: Option<bool>,
    /// A header by which a proxy in front says in which country a client is (ISO 3166). Clients could set it too, unless
    /// the proxy takes theirs out.
    pub country_header: Option<HeaderName>,
    /// Whom to write to about the register of namespaces: OAI-PMH says so to those who harvest it.
    pub registry_email: Option<String>,
    /// How long a client may take for a handshake, for the head of a request, and to read some of an answer; without
    /// it, 30 seconds.
    pub patience: Option<Duration>,
    /// A file that says in which country addresses are, in the format of `MaxMind` DB.
    pub geoip: Option<PathBuf>,
    /// A header by which proxies in front say for whom they ask: `X-Forwarded-For`.
    pub client_header: Option<HeaderName>,
    /// The proxies whose headers are believed.
    pub trusted_proxies: Vec<Network>,
    /// Where it is logged who asks for what, and how; without it, nowhere.
    pub access_log: Option<AccessLog>,
    /// How many bytes the imports of one account have, at most, that are on their way or wait: by default 1 GiB. All
    /// accounts together have four times as many.
    pub spool_limit: Option<u64>,
    /// Whether everybody may find active names by words, or by how they begin, and not only those who may list them.
    pub public_search: bool,
    /// Where clients reach the server: absolute URLs begin with it, and credentials are taken under its host.
    pub public_url: Option<PublicUrl>,
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
    /// Where the client has connected to.
    pub(crate) local: Option<SocketAddr>,
    /// Long answers on this connection.
    responses: ConnectionResponses,
    activity: Arc<Activity>,
}

impl Web {
    pub(crate) fn new(
        native: Arc<Native>,
        settings: WebSettings,
        listen: SocketAddr,
        closing: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let asks = settings.client_certificates;
        // People who come with browsers would be asked which of their certificates to show: only clients of the
        // handle protocol come to a server whose certificate nobody vouches for.
        let asks = asks.unwrap_or(matches!(settings.tls, Tls::Site));
        let identity = native.identity();
        let names = self_signed::names(listen, identity.site(), settings.public_url.as_ref());
        let tls = tls::acceptor(identity.key(), &names, &settings.tls, asks)?;
        let certificate = Arc::clone(&tls.certificate);
        let hosts = OwnHosts::new(settings.public_url, listen, identity, certificate);
        let client_timeout = settings.patience.unwrap_or(PATIENCE);
        let api_settings = ApiSettings {
            spool_limit: settings.spool_limit.unwrap_or(SPOOL_LIMIT),
            public_search: settings.public_search,
            client_timeout,
        };
        let api = Api::new(Arc::clone(native.registry()), api_settings);
        let countries = settings.geoip.as_deref();
        let countries = countries.map(|file| Countries::open(file, native.now()));
        Ok(Self {
            countries: countries.transpose()?,
            proxies: Proxies {
                header: settings.client_header,
                trusted: settings.trusted_proxies,
            },
            started: native.now(),
            recent: Recent::new(),
            meters: Meters::default(),
            readiness: Readiness::default(),
            log: settings.access_log.as_ref().map(Log::open).transpose()?,
            requests: AtomicU64::new(0),
            closing,
            api: Arc::new(api.clean()),
            native,
            rest: rest_api::Rest::default(),
            tls,
            country_header: settings.country_header,
            registry_email: settings.registry_email,
            patience: client_timeout,
            hosts,
        })
    }

    /// Gets certificates from an authority, if that is wished for: its questions are answered at this door.
    pub(crate) fn keep_certified(&self, tls: Tls) -> io::Result<()> {
        if let (Tls::Acme(settings), Some(current)) = (tls, &self.tls.current) {
            let native = Arc::clone(&self.native);
            acme::CertificateRenewal::new(settings, Arc::clone(current), native)?.begin()?;
        }
        Ok(())
    }

    /// What an authority must find at a path.
    fn challenge(&self, path: &str) -> Option<String> {
        self.tls.current.as_ref()?.challenges.text(path)
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
            is_secure: caller.is_secure || Proxies::is_secure(headers),
            ..caller.clone()
        }))
    }

    /// Whether the server is about to end.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// A name for a request that came without one: nobody else's since the server started, and hardly before.
    pub(crate) fn new_id(&self) -> HeaderValue {
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
pub(crate) async fn converse(
    web: Arc<Web>,
    mut stream: TcpStream,
    client: Client,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let address = client.address;
    let _counted = Meters::connected(&web);
    let begun = fast_path::converse(&web, &mut stream, (address.ip(), &client.activity)).await?;
    let Left::Bytes { start, is_first } = begun else {
        return Ok(());
    };
    client.becomes_large();
    let caller = Caller {
        address,
        is_handed_on: web.proxies.is_trusted(address.ip()),
        is_secure: false,
        certificate: None,
        local: stream.local_addr().ok(),
        responses: ConnectionResponses::default(),
        activity: client.activity,
    };
    // What a connection has begun with it remains. This is the first octet of a TLS handshake.
    let is_tls = is_first && start.first() == Some(&0x16);
    let is_http2 = is_first && start.starts_with(b"PRI");
    let stream = Rewound::new(start, stream);
    // Each way on its own, so that a connection that waits is not as large as the largest of them.
    if is_tls {
        Box::pin(converse_securely(web, stream, caller)).await
    } else {
        Box::pin(serve(web, stream, caller, is_http2)).await
    }
}

async fn converse_securely(
    web: Arc<Web>,
    stream: Rewound<TcpStream>,
    caller: Caller,
) -> io::Result<()> {
    let queue = &web.native.admission().expensive_work.handshakes;
    let accept = web.tls.tls.accept(stream);
    let handshake = shake_hands(queue, Peer::connected(caller.address.ip()), accept);
    let mut stream = timeout(web.patience, handshake).await??;
    let session = stream.get_ref().1;
    let is_http2 = match session.alpn_protocol() {
        // The certificate was all that was asked for.
        Some(ACME_TLS) => return Ok(()),
        protocol => protocol == Some(b"h2"),
    };
    let certificate = session.peer_certificates().and_then(<[_]>::first).cloned();
    let caller = Caller {
        is_secure: true,
        certificate: certificate.map(CertificateDer::into_owned),
        ..caller
    };
    // A certificate may say who asks, and with it what they may read.
    if is_http2 || caller.certificate.is_some() {
        return Box::pin(serve(web, stream, caller, is_http2)).await;
    }
    let client = (caller.address.ip(), &*caller.activity);
    match fast_path::converse(&web, &mut stream, client).await? {
        Left::Bytes { start, .. } => {
            Box::pin(serve(web, Rewound::new(start, stream), caller, false)).await
        }
        Left::Nothing => timeout(web.patience, stream.shutdown()).await?,
    }
}

async fn serve<S>(web: Arc<Web>, stream: S, caller: Caller, is_http2: bool) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let caller = Arc::new(caller);
    let closing = web.closing.clone();
    let patience = web.patience;
    let responses = caller.responses.clone();
    let activity = Arc::clone(&caller.activity);
    let service = service_fn(move |request| {
        let (web, caller) = (Arc::clone(&web), Arc::clone(&caller));
        // There is room for it once it is asked for something.
        Box::pin(async move {
            let request: Request<Stream> = request;
            let activity = Arc::clone(&caller.activity);
            let request = request.map(|body| Incoming::new(body, activity));
            Ok::<_, Infallible>(answer(web, &caller, request).await)
        })
    });
    let stream = Patient::new(stream, patience).with_activity(activity);
    let moved = stream.moved();
    let stream = TokioIo::new(stream);
    if is_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(TOGETHER)
            .max_header_list_size(u32::try_from(LONGEST_HEAD).unwrap_or(u32::MAX))
            .keep_alive_interval(patience)
            .keep_alive_timeout(patience)
            .serve_connection(stream, service);
        let served = until_closed(Box::pin(connection), closing, moved.ceased(SILENCE));
        let serving = async {
            tokio::select! {
                served = served => served,
                () = moved.ceased(SILENCE * 2) => Err(io::ErrorKind::TimedOut.into()),
                () = moved.not_taken(patience, &responses) => Err(io::ErrorKind::TimedOut.into()),
                () = moved.not_begun(patience, HTTP2_START) => Err(io::ErrorKind::TimedOut.into()),
            }
        };
        Box::pin(serving).await
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience)
            .max_buf_size(LONGEST_HEAD)
            .max_headers(MOST_HEADERS)
            .serve_connection(stream, service);
        // Between requests it is waited for a head, and that has its time.
        until_closed(Box::pin(connection), closing, std::future::pending()).await
    }
}

/// Serves a connection. When the server is about to end, or the client has nothing to say, what has been asked is
/// answered, and nothing new is.
async fn until_closed<C>(
    mut connection: Pin<Box<C>>,
    closing: watch::Receiver<bool>,
    silent: impl Future<Output = ()>,
) -> io::Result<()>
where
    C: GracefulConnection<Error = hyper::Error>,
{
    tokio::select! {
        served = &mut connection => return served.map_err(io::Error::other),
        () = closed(closing) => {}
        () = silent => {}
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
    Oai,
    Operations,
    Register,
    Resolve,
    Rest,
    Tunnel,
    Urn,
    V1,
}

impl Part {
    pub(crate) const ALL: [Self; 8] = [
        Self::Oai,
        Self::Operations,
        Self::Register,
        Self::Resolve,
        Self::Rest,
        Self::Tunnel,
        Self::Urn,
        Self::V1,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Oai => "oai",
            Self::Operations => "operations",
            Self::Register => "register",
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
            Self::Oai => 0,
            Self::Operations => 1,
            Self::Register => 2,
            Self::Resolve => 3,
            Self::Rest => 4,
            Self::Tunnel => 5,
            Self::Urn => 6,
            Self::V1 => 7,
        }
    }

    /// Which part of the door a request is for.
    fn of(request: &Request<Incoming>) -> Self {
        if native_tunnel::is_message(request) {
            return Self::Tunnel;
        }
        Self::of_path(request.uri().path())
    }

    /// Which part of the door a path is of.
    fn of_path(path: &str) -> Self {
        let mut segments = path.trim_start_matches('/').split('/');
        match (segments.next().unwrap_or_default(), segments.next()) {
            ("api", Some("v1")) | ("log", Some(_)) => Self::V1,
            ("api" | "hrls", _) => Self::Rest,
            ("uri-res", _) => Self::Urn,
            ("oai", None | Some("")) | ("registry", Some("OAIHandler")) => Self::Oai,
            ("registry", _) => Self::Register,
            ("healthz" | "readyz" | "metrics", None) | (".well-known", Some("acme-challenge")) => {
                Self::Operations
            }
            _ => Self::Resolve,
        }
    }
}

/// RFC 9112 §3.2: "a server MUST respond with a 400 to any HTTP/1.1 request message that lacks a Host header field and to
/// any request message that contains more than one".
fn has_host(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let is_said = hosts.next().is_some() || request.version() != Version::HTTP_11;
    is_said && hosts.next().is_none()
}

/// One request: handed to its part of the door, counted, and logged if that is wished for.
async fn answer(
    web: Arc<Web>,
    caller: &Arc<Caller>,
    mut request: Request<Incoming>,
) -> Response<Body> {
    if !has_host(&request) {
        let text = "HTTP/1.1 asks for one header Host, which says whom you mean\n";
        return plain(StatusCode::BAD_REQUEST, text);
    }
    // HTTP/1.1 has this limit where it is read.
    if request.headers().len() > MOST_HEADERS {
        let text = "there are more header lines than this server reads\n";
        return plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text);
    }
    let part = Part::of(&request);
    if let Some(refused) = web.hosts.refuse(part, caller, &request) {
        web.meters.count(part, refused.status());
        return refused;
    }
    let wish = Wish::take(&mut request, caller, part);
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
    let (client, memory) = (caller.address.ip(), &web.native.admission().response_memory);
    let making = caller.responses.begin().await;
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && let Some(busy) = pending_responses::refuse(client, memory) {
        web.meters.count(part, busy.status());
        return busy;
    }
    // Those that wait for their turn, or for their client to read, are not worked on.
    let working = caller.activity.work();
    // In a box, so that a request that waits for its turn is not as large as one that is worked on.
    let response = Box::pin(dispatch(&web, caller, part, request)).await;
    let (response, counted) = pending_responses::count(response, client, memory);
    let response = wish.grant(response).await;
    drop((making, working));
    let mut response = pending_responses::wait(response, counted, &caller.responses).await;
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

async fn dispatch(
    web: &Arc<Web>,
    caller: &Arc<Caller>,
    part: Part,
    request: Request<Incoming>,
) -> Response<Body> {
    match part {
        Part::Tunnel => native_tunnel::answer(web, caller, request).await,
        Part::V1 => api_v1::answer(web, caller, request).await,
        Part::Rest => rest_api::answer(web, caller, request).await,
        Part::Urn => uri_res::answer(web, caller, request).await,
        Part::Oai => oai::answer(web, caller, request).await,
        Part::Register => registry_pages::answer(web, caller, request).await,
        Part::Operations => endpoints::answer(web, &request).await,
        Part::Resolve => resolver::answer(web, caller, request).await,
    }
}
