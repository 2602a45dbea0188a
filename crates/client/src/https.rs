//! Outgoing HTTP and HTTPS: one request on each connection, because requests are few. Redirects are
//! not followed.
//!
//! The URL must come from the operator of the program: the address is not checked as it is for
//! servers that [`Client`](crate::Client) finds in records.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Which certificate authorities a client trusts; files are PEM.
#[derive(Clone, Copy, Debug)]
pub enum TrustAnchors<'f> {
    /// Those that the system trusts.
    System,
    /// Those that the system trusts, and those of a file.
    SystemAnd(&'f Path),
    /// Those of a file alone.
    Only(&'f Path),
}

/// Sends requests to servers on the network.
#[derive(Clone)]
pub struct HttpClient(TlsConnector);

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

impl HttpClient {
    /// Reads the certificates of the authorities.
    pub fn new(trusted: TrustAnchors<'_>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        if let TrustAnchors::System | TrustAnchors::SystemAnd(_) = trusted {
            // A certificate that cannot be read is trusted for nothing.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        if let TrustAnchors::SystemAnd(file) | TrustAnchors::Only(file) = trusted {
            let added = CertificateDer::pem_file_iter(file).map_err(io::Error::other);
            let added = added.and_then(|mut certificates| {
                certificates.try_for_each(|certificate| {
                    let certificate = certificate.map_err(io::Error::other)?;
                    roots.add(certificate).map_err(io::Error::other)
                })
            });
            added.map_err(|error| {
                io::Error::other(format!("cannot use {}: {error}", file.display()))
            })?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// Sends a request to the server of its URI, and gives the whole response if it comes in time
    /// and its body is not longer than a limit.
    pub async fn fetch<B>(
        &self,
        request: Request<B>,
        time: Duration,
        limit: usize,
    ) -> io::Result<Response<Bytes>>
    where
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
    {
        let server = request.uri().clone();
        let fetched = timeout(time, async {
            let (head, body) = self.send(&server, request).await?.into_parts();
            let body = Limited::new(body, limit).collect().await;
            let body = body.map_err(io::Error::other)?.to_bytes();
            Ok(Response::from_parts(head, body))
        });
        fetched.await?
    }

    /// Sends a request to the server of a URI, which is `http` or `https`. The path is that of the
    /// request. Credentials are sent without TLS to this machine only.
    pub async fn send<B>(
        &self,
        server: &Uri,
        mut request: Request<B>,
    ) -> io::Result<Response<Incoming>>
    where
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
    {
        let bad = |problem| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let host = server.host().ok_or_else(|| bad("the URL names no host"))?;
        let (is_secure, port) = match server.scheme_str() {
            Some("https") => (true, 443),
            Some("http") => (false, 80),
            _ => return Err(bad("a URL is https://HOST[:PORT]")),
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare, server.port_u16().unwrap_or(port))).await?;
        let is_local = stream.peer_addr()?.ip().to_canonical().is_loopback();
        if request.headers().contains_key(AUTHORIZATION) && !is_secure && !is_local {
            return Err(bad("a token is sent over https alone"));
        }
        let authority = server
            .authority()
            .map_or(host, |authority| authority.as_str());
        let authority = HeaderValue::from_str(authority).map_err(io::Error::other)?;
        request.headers_mut().insert(HOST, authority);
        let path = request.uri().path_and_query();
        *request.uri_mut() = path.cloned().map_or_else(Uri::default, Uri::from);
        if !is_secure {
            return exchange(stream, request).await;
        }
        let name = ServerName::try_from(bare.to_string()).map_err(io::Error::other)?;
        exchange(self.0.connect(name, stream).await?, request).await
    }
}

/// Sends one request over a connection that is open, and gives the beginning of the response.
pub async fn exchange<S, B>(stream: S, request: Request<B>) -> io::Result<Response<Incoming>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(io::Error::other)?;
    // It ends with the response. The reader of the response sees its errors.
    tokio::spawn(async move { drop(connection.await) });
    sender.send_request(request).await.map_err(io::Error::other)
}
