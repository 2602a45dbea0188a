//! The HTTP server: HTTP/1.1 and HTTP/2, plain and over TLS, on one port.
//!
//! The first bytes of a connection tell these apart. The start of the path selects one of the
//! [parts](Part), each of which has a module of its own and gets the request and the shared
//! [`Web`].

mod acme;
pub(crate) mod api_v1;
pub(crate) mod connection;
pub(crate) mod console;
mod csv;
mod event_list;
mod form;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub(crate) mod local_socket;
pub(crate) mod middleware;
pub(crate) mod native_tunnel;
mod oai;
pub(crate) mod operator;
pub(crate) mod pages;
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
use crate::admission::connections::{Activity, ClientConnection};
use crate::admission::network::Network;
use crate::admission::peer::Peer;
use crate::context::ServerContext;
use crate::http::connection::fast_path::HandOff;
use crate::http::connection::handshake::shake_hands;
use crate::http::connection::pending_responses::{self, ConnectionResponses};
use crate::http::connection::prefixed_stream::PrefixedStream;
use crate::http::connection::request_body::Incoming;
use crate::http::connection::timeouts::TimeoutStream;
use crate::http::connection::tls::Acceptor;
pub use crate::http::connection::tls::{Tls, TlsFiles};
use crate::http::connection::{fast_path, self_signed, tls};
use crate::http::middleware::access_log;
pub use crate::http::middleware::access_log::AccessLog;
use crate::http::middleware::access_log::{Log, LoggedRequest, REQUEST_ID};
use crate::http::middleware::compression::Negotiation;
use crate::http::middleware::host::OwnHosts;
pub use crate::http::middleware::host::{BadPublicUrl, PublicUrl, base_url};
use crate::http::middleware::proxies::Proxies;
use crate::http::native_tunnel::NativeTunnel;
use crate::http::operator::endpoints;
use crate::http::operator::endpoints::Meters;
use crate::http::operator::readiness::Readiness;
use crate::http::pages::assets;
use crate::http::pages::site::Site;
pub use crate::http::pages::site::{BadColour, Colour, SiteSettings};
use crate::http::resolver::geoip::Countries;
use crate::http::resolver::redirect_cache::RedirectCache;
pub(crate) use crate::http::response::Body;
use crate::http::response::plain;
use crate::runtime::counters::Counted;

/// How long a client may take for a handshake, the head of a request or its body.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest head of a request: line and headers. Each connection may buffer as much.
const MAX_HEAD: usize = 32 << 10;
/// How many header lines a request has at most.
const MAX_HEADERS: usize = 100;
/// How long an HTTP/2 connection may have hardly anything to say, whose client keeps it open: it is
/// told to come again, and after as much time again it is closed, whatever waits for its client to
/// read it.
const HTTP2_IDLE_TIMEOUT: Duration = Duration::from_mins(10);
/// The least that a client of HTTP/2 begins with: its preface, and a frame of settings (RFC 9113
/// §3.4).
const MIN_HTTP2_START: u64 = 24 + 9;
/// How many requests of one HTTP/2 connection are processed at once.
const MAX_HTTP2_STREAMS: u32 = 64;

/// How long an import that nobody waits for is, unless something else is said.
const SPOOL_LIMIT: u64 = 1 << 30;

/// The state that all parts of the HTTP server share.
pub(crate) struct Web {
    pub(crate) context: Arc<ServerContext>,
    pub(crate) tunnel: NativeTunnel,
    pub(crate) rest: rest_api::Rest,
    pub(crate) tls: Acceptor,
    /// The source of the certificate, in one word.
    pub(crate) tls_kind: &'static str,
    /// The settings that hold, for the page about the server.
    pub(crate) configuration: Vec<ShownSetting>,
    /// A header that says where clients are.
    country_header: Option<HeaderName>,
    /// The institution, as pages show it.
    pub(crate) site: Site,
    /// The contact of the register.
    pub(crate) registry_email: Option<String>,
    /// How long clients may take.
    client_timeout: Duration,
    /// The hosts that mean this server.
    pub(crate) hosts: OwnHosts,
    /// A file that says where addresses are.
    countries: Option<Countries>,
    proxies: Proxies,
    pub(crate) redirect_cache: RedirectCache,
    /// The counters of HTTP.
    pub(crate) meters: Meters,
    /// Whether the store can be read and written.
    readiness: Readiness,
    log: Option<Log>,
    /// When the server started, in milliseconds since 1970.
    pub(crate) started: u64,
    /// Numbers for requests that come without one.
    requests: AtomicU64,
    /// Whether the server shuts down.
    closing: watch::Receiver<bool>,
    pub(crate) api: Arc<Api>,
}

/// The settings of the HTTP server.
#[derive(Clone, Debug, Default)]
pub struct WebSettings {
    /// The source of the certificate.
    pub tls: Tls,
    /// Whether clients are asked for certificates; unless this is said, only if there is none that
    /// others know.
    pub client_certificates: Option<bool>,
    /// A header by which a proxy in front says in which country a client is (ISO 3166). Clients
    /// could set it too, unless the proxy takes theirs out.
    pub country_header: Option<HeaderName>,
    /// The contact of the register of namespaces, which OAI-PMH shows.
    pub registry_email: Option<String>,
    /// How long a client may take for a handshake, for the head of a request, to send its body, and
    /// to read some of an answer; without it, 30 seconds.
    pub client_timeout: Option<Duration>,
    /// A file that says in which country addresses are, in the format of `MaxMind` DB.
    pub geoip: Option<PathBuf>,
    /// A header by which proxies in front say for whom they ask: `X-Forwarded-For`.
    pub client_header: Option<HeaderName>,
    /// The proxies whose headers are believed.
    pub trusted_proxies: Vec<Network>,
    /// The access log; none if it is not set.
    pub access_log: Option<AccessLog>,
    /// How many bytes the imports of one account have, at most, that are on their way or wait: by
    /// default 1 GiB. All accounts together have four times as many.
    pub spool_limit: Option<u64>,
    /// Whether everybody may find active names by words, or by how they begin, and not only those
    /// who may list them.
    pub public_search: bool,
    /// Where clients reach the server: absolute URLs begin with it, and credentials are taken under
    /// its host.
    pub public_url: Option<PublicUrl>,
    /// The name, the logo and the colours of pages.
    pub site: SiteSettings,
    /// The settings that hold, as administrators see them: without secrets.
    pub configuration: Vec<ShownSetting>,
}

/// A setting as administrators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownSetting {
    /// Its key: `web.public-url`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Where it comes from: a file, the command line or the environment, or the program itself.
    pub origin: &'static str,
}

/// The client of a request, and its connection.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The address of the client; behind an untrusted proxy, that of the proxy.
    pub(crate) address: SocketAddr,
    /// Whether a proxy that is trusted has handed this on.
    pub(crate) is_handed_on: bool,
    /// Whether nobody can listen: credentials count only then.
    pub(crate) is_secure: bool,
    /// The certificate that the client has shown.
    pub(crate) certificate: Option<CertificateDer<'static>>,
    /// The address that the client has connected to.
    pub(crate) local: Option<SocketAddr>,
    /// Long answers on this connection.
    responses: ConnectionResponses,
    activity: Arc<Activity>,
}

impl Web {
    pub(crate) fn new(
        (context, tunnel): (Arc<ServerContext>, NativeTunnel),
        settings: WebSettings,
        listen: SocketAddr,
        closing: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let asks = settings.client_certificates;
        // People who come with browsers would be asked which of their certificates to show: only
        // clients of the handle protocol come to a server whose certificate nobody vouches for.
        let asks = asks.unwrap_or(matches!(settings.tls, Tls::Site));
        let identity = &context.identity;
        let names = self_signed::names(listen, identity.site(), settings.public_url.as_ref());
        let tls = tls::acceptor(identity.key(), &names, &settings.tls, asks)?;
        let tls_kind = settings.tls.kind();
        let certificate = Arc::clone(&tls.certificate);
        let public_url = settings.public_url.clone();
        let base = base_url(settings.public_url.as_ref(), listen);
        let hosts = OwnHosts::new(settings.public_url, listen, identity, certificate);
        let client_timeout = settings.client_timeout.unwrap_or(CLIENT_TIMEOUT);
        let api_settings = ApiSettings {
            spool_limit: settings.spool_limit.unwrap_or(SPOOL_LIMIT),
            public_url,
            public_search: settings.public_search,
            client_timeout,
            base,
        };
        let api = Api::new(Arc::clone(&context.registry), api_settings);
        let countries = settings.geoip.as_deref();
        let countries = countries.map(|file| Countries::open(file, context.now()));
        Ok(Self {
            countries: countries.transpose()?,
            proxies: Proxies {
                header: settings.client_header,
                trusted: settings.trusted_proxies,
            },
            started: context.now(),
            redirect_cache: RedirectCache::new(),
            meters: Meters::default(),
            readiness: Readiness::default(),
            log: settings.access_log.as_ref().map(Log::open).transpose()?,
            requests: AtomicU64::new(0),
            closing,
            api: Arc::new(api.clean()),
            context,
            tunnel,
            rest: rest_api::Rest::default(),
            tls,
            tls_kind,
            configuration: settings.configuration,
            country_header: settings.country_header,
            site: Site::new(&settings.site)?,
            registry_email: settings.registry_email,
            client_timeout,
            hosts,
        })
    }

    /// Gets certificates from an authority, if the settings ask for it; this server answers its
    /// challenges.
    pub(crate) fn renew_certificates(&self, tls: Tls) -> io::Result<()> {
        if let (Tls::Acme(settings), Some(current)) = (tls, &self.tls.current) {
            let context = Arc::clone(&self.context);
            acme::CertificateRenewal::new(settings, Arc::clone(current), context)?.begin()?;
        }
        Ok(())
    }

    /// The answer to a challenge of a certificate authority.
    fn challenge(&self, path: &str) -> Option<String> {
        self.tls.current.as_ref()?.challenges.text(path)
    }

    /// In which country a client is, if that is known: by the address that it says itself, by a
    /// header of a proxy, or by the address that it has.
    pub(crate) fn country(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        said: Option<IpAddr>,
    ) -> Option<String> {
        let of = |address| self.countries.as_ref()?.of(address, self.context.now());
        if let Some(said) = said {
            return of(said);
        }
        // If trusted proxies are configured, only they may set the header.
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

    /// Whether clients come through a proxy that is trusted.
    pub(crate) fn is_behind_proxy(&self) -> bool {
        !self.proxies.trusted.is_empty()
    }

    /// Whether the server shuts down.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// A name for a request that came without one: nobody else's since the server started, and
    /// hardly before.
    pub(crate) fn new_id(&self) -> HeaderValue {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{number:x}", self.started);
        HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("-"))
    }

    /// The registry.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.context.registry
    }
}

/// Serves a connection: the fast path first, then hyper.
pub(crate) async fn serve_connection(
    web: Arc<Web>,
    mut stream: TcpStream,
    client: ClientConnection,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let address = client.address;
    let _counted = Counted::new(Arc::clone(&web.meters.open));
    let begun =
        fast_path::serve_connection(&web, &mut stream, (address.ip(), &client.activity)).await?;
    let HandOff::Bytes { start, is_first } = begun else {
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
        activity: Arc::clone(&client.activity),
    };
    // A connection keeps its protocol. 0x16 is the first byte of a TLS handshake.
    let is_tls = is_first && start.first() == Some(&0x16);
    let is_http2 = is_first && start.starts_with(b"PRI");
    let stream = PrefixedStream::new(start, stream);
    // Each way on its own, so that a connection that waits is not as large as the largest of them.
    if is_tls {
        Box::pin(serve_tls(web, stream, caller)).await
    } else {
        Box::pin(serve(web, stream, caller, is_http2)).await
    }
}

async fn serve_tls(
    web: Arc<Web>,
    stream: PrefixedStream<TcpStream>,
    caller: Caller,
) -> io::Result<()> {
    let queue = &web.context.admission.expensive_work.handshakes;
    let accept = web.tls.tls.accept(stream);
    let handshake = shake_hands(queue, Peer::connected(caller.address.ip()), accept);
    let mut stream = timeout(web.client_timeout, handshake).await??;
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
    match fast_path::serve_connection(&web, &mut stream, client).await? {
        HandOff::Bytes { start, .. } => {
            Box::pin(serve(
                web,
                PrefixedStream::new(start, stream),
                caller,
                false,
            ))
            .await
        }
        HandOff::Nothing => timeout(web.client_timeout, stream.shutdown()).await?,
    }
}

async fn serve<S>(web: Arc<Web>, stream: S, caller: Caller, is_http2: bool) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let caller = Arc::new(caller);
    let closing = web.closing.clone();
    let client_timeout = web.client_timeout;
    let responses = caller.responses.clone();
    let activity = Arc::clone(&caller.activity);
    let service = service_fn(move |request| {
        let (web, caller) = (Arc::clone(&web), Arc::clone(&caller));
        // The future is allocated only when a request arrives.
        Box::pin(async move {
            let request: Request<Stream> = request;
            let activity = Arc::clone(&caller.activity);
            let request = request.map(|body| Incoming::new(body, activity, client_timeout));
            Ok::<_, Infallible>(answer(web, &caller, request).await)
        })
    });
    let stream = TimeoutStream::new(stream, client_timeout).with_activity(activity);
    let moved = stream.moved();
    let stream = TokioIo::new(stream);
    if is_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_HTTP2_STREAMS)
            .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
            .keep_alive_interval(client_timeout)
            .keep_alive_timeout(client_timeout)
            .serve_connection(stream, service);
        let served = until_closed(
            Box::pin(connection),
            closing,
            moved.ceased(HTTP2_IDLE_TIMEOUT),
        );
        let timed_out = || Err(io::ErrorKind::TimedOut.into());
        let serving = async {
            tokio::select! {
                served = served => served,
                () = moved.ceased(HTTP2_IDLE_TIMEOUT * 2) => timed_out(),
                () = moved.not_taken(client_timeout, &responses) => timed_out(),
                () = moved.not_begun(client_timeout, MIN_HTTP2_START) => timed_out(),
            }
        };
        Box::pin(serving).await
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(client_timeout)
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .serve_connection(stream, service);
        // Between requests it is waited for a head, and that has its time.
        until_closed(Box::pin(connection), closing, std::future::pending()).await
    }
}

/// Serves a connection. When the server is about to end, or the client has nothing to say, what has
/// been asked is answered, and nothing new is.
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

/// Waits until the server shuts down.
async fn closed(mut closing: watch::Receiver<bool>) {
    if closing.wait_for(|is_closing| *is_closing).await.is_err() {
        // The sender is gone, and the server stays.
        std::future::pending::<()>().await;
    }
}

/// A part of the HTTP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Console,
    Oai,
    Operations,
    Register,
    Resolve,
    Rest,
    Static,
    Tunnel,
    Urn,
    V1,
}

impl Part {
    pub(crate) const ALL: [Self; 10] = [
        Self::Console,
        Self::Oai,
        Self::Operations,
        Self::Register,
        Self::Resolve,
        Self::Rest,
        Self::Static,
        Self::Tunnel,
        Self::Urn,
        Self::V1,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Oai => "oai",
            Self::Operations => "operations",
            Self::Register => "register",
            Self::Resolve => "resolve",
            Self::Rest => "rest",
            Self::Static => "static",
            Self::Tunnel => "tunnel",
            Self::Urn => "urn",
            Self::V1 => "v1",
        }
    }

    /// Its place in [`ALL`](Self::ALL).
    pub(crate) fn number(self) -> usize {
        // Each request is counted, so this does not search.
        match self {
            Self::Console => 0,
            Self::Oai => 1,
            Self::Operations => 2,
            Self::Register => 3,
            Self::Resolve => 4,
            Self::Rest => 5,
            Self::Static => 6,
            Self::Tunnel => 7,
            Self::Urn => 8,
            Self::V1 => 9,
        }
    }

    /// The part that a request is for.
    fn of(request: &Request<Incoming>) -> Self {
        if native_tunnel::is_message(request) {
            return Self::Tunnel;
        }
        Self::of_path(request.uri().path())
    }

    /// The part that a path belongs to.
    fn of_path(path: &str) -> Self {
        let mut segments = path.trim_start_matches('/').split('/');
        match (segments.next().unwrap_or_default(), segments.next()) {
            ("api", Some("v1")) | ("log", Some(_)) => Self::V1,
            ("api" | "hrls", _) => Self::Rest,
            ("console", _) => Self::Console,
            ("static", _) => Self::Static,
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

/// RFC 9112 §3.2: "a server MUST respond with a 400 to any HTTP/1.1 request message that lacks a
/// Host header field and to any request message that contains more than one".
fn has_host(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let is_said = hosts.next().is_some() || request.version() != Version::HTTP_11;
    is_said && hosts.next().is_none()
}

/// Answers one request: passes it to its part, counts it, and writes the access log.
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
    if request.headers().len() > MAX_HEADERS {
        let text = "there are more header lines than this server reads\n";
        return plain(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, text);
    }
    let part = Part::of(&request);
    if let Some(refused) = web.hosts.refuse(part, caller, &request) {
        web.meters.count(part, refused.status());
        return refused;
    }
    let negotiation = Negotiation::take(&mut request, caller, part);
    let behind = web.behind(caller, request.headers());
    let caller = behind.as_ref().unwrap_or(caller);
    let given = access_log::given_id(&request);
    // A new one is made only for those who would see it somewhere else.
    let is_named = given.is_some() || web.log.is_some() || part == Part::V1;
    let id = is_named.then(|| given.unwrap_or_else(|| web.new_id()));
    let logged = id.clone().filter(|_| web.log.is_some()).map(|id| {
        let (address, now) = (caller.address.ip(), web.context.now());
        LoggedRequest::of(&request, address, caller.is_secure, id, now)
    });
    let (client, memory) = (caller.address.ip(), &web.context.admission.response_memory);
    let making = caller.responses.begin().await;
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && let Some(busy) = pending_responses::refuse(client, memory) {
        web.meters.count(part, busy.status());
        return busy;
    }
    // A request that waits for a permit, or for its client to read, is idle.
    let working = caller.activity.work();
    // In a box, so that a request that waits for a permit takes little memory.
    let response = Box::pin(dispatch(&web, caller, part, request)).await;
    let (response, counted) = pending_responses::count(response, client, memory);
    let response = negotiation.grant(response).await;
    drop((making, working));
    let mut response = pending_responses::wait(response, counted, &caller.responses).await;
    web.meters.count(part, response.status());
    if let (Some(logged), Some(log)) = (logged, &web.log)
        && !log.add(&logged, &response, web.context.now())
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
        Part::Console => console::answer(web, caller, request).await,
        Part::Static => assets::answer(web, &request),
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
