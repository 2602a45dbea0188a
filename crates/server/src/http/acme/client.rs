//! HTTPS to an authority: one request on each connection, as they are few.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest answer: a chain of certificates.
const LONGEST: usize = 1 << 20;

type Asked = Request<BodyWrapper<Bytes>>;
type Answered = Result<BytesResponse, Error>;

/// Trusts those whom the system trusts, or only those of a file.
pub(crate) struct Client(TlsConnector);

impl Client {
    pub(crate) fn new(root: Option<&Path>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        if let Some(path) = root {
            let named = |error: &dyn std::fmt::Display| {
                io::Error::other(format!("{} cannot be used: {error}", path.display()))
            };
            let certificates = CertificateDer::pem_file_iter(path);
            for certificate in certificates.map_err(|error| named(&error))? {
                let certificate = certificate.map_err(|error| named(&error))?;
                roots.add(certificate).map_err(|error| named(&error))?;
            }
        } else {
            // A certificate that cannot be read vouches for nobody.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

impl HttpClient for Client {
    fn request(&self, asked: Asked) -> Pin<Box<dyn Future<Output = Answered> + Send>> {
        let tls = self.0.clone();
        Box::pin(async move {
            let uri = asked.uri().clone();
            let sent = timeout(PATIENCE, send(&tls, asked)).await;
            let sent = sent.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            let answered = sent.map_err(|error| {
                let text = format!("{uri} cannot be asked: {error}");
                Error::Other(Box::new(io::Error::new(error.kind(), text)))
            })?;
            Ok(BytesResponse::from(answered))
        })
    }
}

async fn send(tls: &TlsConnector, mut asked: Asked) -> io::Result<Response<Full<Bytes>>> {
    let uri = asked.uri().clone();
    let bad = || io::Error::new(io::ErrorKind::InvalidInput, "it is no https URL");
    // "Communications MUST use HTTPS" (RFC 8555 §6.1).
    let host = uri.host().filter(|_| uri.scheme_str() == Some("https"));
    let host = host.ok_or_else(bad)?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((bare, uri.port_u16().unwrap_or(443))).await?;
    let name = ServerName::try_from(bare.to_string()).map_err(io::Error::other)?;
    let stream = tls.connect(name, stream).await?;
    let authority = uri.authority().ok_or_else(bad)?;
    let authority = HeaderValue::from_str(authority.as_str()).map_err(io::Error::other)?;
    asked.headers_mut().insert(HOST, authority);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    *asked.uri_mut() = path.parse::<Uri>().map_err(io::Error::other)?;
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(io::Error::other)?;
    // It ends when the sender goes.
    tokio::spawn(connection);
    let answered = sender.send_request(asked).await.map_err(io::Error::other)?;
    let (parts, body) = answered.into_parts();
    let body = Limited::new(body, LONGEST).collect().await;
    let body = body.map_err(io::Error::other)?.to_bytes();
    Ok(Response::from_parts(parts, Full::new(body)))
}
