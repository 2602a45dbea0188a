//! The web door: HTTP/1.1 and HTTP/2, plain and over TLS, at one port.
//!
//! The first octets of a connection say which of these it is. What is asked for is then known by the start of its
//! path: each part of the door has a module of its own, which is given the request and the [`Web`].

mod operations;
mod reply;
mod resolve;
mod rest;
mod tls;
mod tunnel;
mod urn;
mod v1;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use handfast_registry::Registry;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

pub(crate) use self::reply::Body;
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
}

/// Who asks, and how.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// From where. Behind a proxy, that is the proxy.
    pub(crate) address: SocketAddr,
    /// Whether nobody can listen: credentials count only then.
    pub(crate) is_secure: bool,
    /// The certificate that the client has shown.
    pub(crate) certificate: Option<CertificateDer<'static>>,
}

impl Web {
    pub(crate) fn new(native: Arc<Native>, settings: WebSettings) -> io::Result<Self> {
        let asks = settings.client_certificates;
        // People who come with browsers would be asked which of their certificates to show: only clients of the
        // handle protocol come to a server whose certificate nobody vouches for.
        let asks = asks.unwrap_or(settings.tls.is_none());
        let tls = tls::acceptor(native.identity().key(), settings.tls, asks)?;
        Ok(Self {
            native,
            rest: rest::Rest::default(),
            tls,
            country_header: settings.country_header,
        })
    }

    /// In which country a client is, if that is known.
    pub(crate) fn country(&self, headers: &HeaderMap) -> Option<String> {
        let country = headers.get(self.country_header.as_ref()?)?;
        let country = country.to_str().ok()?.trim();
        Some(country.to_string()).filter(|country| country.len() == 2)
    }

    /// What is kept.
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.native.registry()
    }
}

/// Answers one request after the other.
pub(crate) async fn converse(web: Arc<Web>, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let address = stream.peer_addr()?;
    let mut start = [0; 3];
    let length = timeout(PATIENCE, stream.peek(&mut start)).await??;
    let caller = Caller {
        address,
        is_secure: false,
        certificate: None,
    };
    match start.get(..length).unwrap_or_default() {
        // The first octet of a TLS handshake.
        [0x16, ..] => {
            let stream = timeout(PATIENCE, web.tls.accept(stream)).await??;
            let session = stream.get_ref().1;
            let is_http2 = session.alpn_protocol() == Some(b"h2");
            let certificate = session.peer_certificates().and_then(<[_]>::first).cloned();
            let caller = Caller {
                is_secure: true,
                certificate: certificate.map(CertificateDer::into_owned),
                ..caller
            };
            serve(web, stream, caller, is_http2).await
        }
        start => {
            let is_http2 = start == b"PRI";
            serve(web, stream, caller, is_http2).await
        }
    }
}

async fn serve<S>(web: Arc<Web>, stream: S, caller: Caller, is_http2: bool) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let caller = Arc::new(caller);
    let service = service_fn(move |request| {
        let (web, caller) = (Arc::clone(&web), Arc::clone(&caller));
        async move { Ok::<_, Infallible>(answer(web, &caller, request).await) }
    });
    let stream = TokioIo::new(stream);
    let served = if is_http2 {
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(TOGETHER)
            .max_header_list_size(u32::try_from(LONGEST_HEAD).unwrap_or(u32::MAX))
            .keep_alive_interval(PATIENCE)
            .keep_alive_timeout(PATIENCE)
            .serve_connection(stream, service)
            .await
    } else {
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(LONGEST_HEAD)
            .serve_connection(stream, service)
            .await
    };
    served.map_err(io::Error::other)
}

/// One request: which part of the door it is for.
async fn answer(web: Arc<Web>, caller: &Arc<Caller>, request: Request<Incoming>) -> Response<Body> {
    if tunnel::is_message(&request) {
        return tunnel::answer(&web, request).await;
    }
    let path = request.uri().path();
    let mut segments = path.trim_start_matches('/').split('/');
    match (segments.next().unwrap_or_default(), segments.next()) {
        ("api", Some("v1")) => v1::answer(&web, caller, request).await,
        ("api" | "hrls", _) => rest::answer(&web, caller, request).await,
        ("uri-res", _) => urn::answer(&web, caller, request).await,
        ("healthz" | "readyz" | "metrics", None) => operations::answer(&web, &request),
        _ => resolve::answer(&web, caller, request).await,
    }
}
