//! `DSpace` repositories as sources of handles (`http-interfaces.md` C.4): the server asks a
//! repository for handles of its prefixes that are not registered on this server.
//!
//! A repository answers with one URL for a handle, or that it knows none. The server writes
//! nothing there and stores nothing here.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use handfast_wire::{Permissions, ResponseCode, Ttl, Value};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;

use crate::error::Fault;

/// How long the server waits for a repository.
const REPOSITORY_TIMEOUT: Duration = Duration::from_secs(10);
/// How many requests to repositories run at once.
const MAX_REQUESTS: usize = 16;
/// The longest response of a repository, in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// A repository, and its prefixes.
#[derive(Clone, Debug)]
pub struct DspaceSource {
    /// The URL of the repository: `https://repo.example/server`.
    pub endpoint: String,
    /// Its prefixes; if there are none, it is asked which.
    pub prefixes: Vec<String>,
}

/// Repositories by prefix.
#[derive(Debug)]
pub struct Dspace {
    /// Endpoints by prefix, in uppercase.
    endpoints: HashMap<String, String>,
    tls: TlsConnectorDebug,
    runtime: Option<Runtime>,
    waiting: Arc<Semaphore>,
}

#[derive(Clone)]
struct TlsConnectorDebug(TlsConnector);

impl std::fmt::Debug for TlsConnectorDebug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsConnector")
    }
}

impl Dspace {
    /// Asks repositories for their prefixes. Those that do not say them are left out, and named.
    pub fn connect(sources: Vec<DspaceSource>) -> io::Result<(Self, Vec<String>)> {
        let mut roots = RootCertStore::empty();
        // A certificate that cannot be read vouches for nobody.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("handfast-dspace")
            .enable_all()
            .build()?;
        let mut dspace = Self {
            endpoints: HashMap::new(),
            tls: TlsConnectorDebug(TlsConnector::from(Arc::new(config))),
            runtime: Some(runtime),
            waiting: Arc::new(Semaphore::new(MAX_REQUESTS)),
        };
        let mut silent = Vec::new();
        for source in sources {
            let endpoint = source.endpoint.trim_end_matches('/').to_string();
            let mut prefixes = source.prefixes;
            if prefixes.is_empty() {
                match dspace.ask::<Vec<String>>(format!("{endpoint}/listprefixes")) {
                    Ok(said) => prefixes = said,
                    Err(_) => silent.push(endpoint.clone()),
                }
            }
            for prefix in prefixes {
                let prefix = prefix.to_ascii_uppercase();
                dspace.endpoints.insert(prefix, endpoint.clone());
            }
        }
        Ok((dspace, silent))
    }

    fn endpoint(&self, handle: &str) -> Option<&str> {
        let (prefix, _) = handle.split_once('/')?;
        let endpoint = self.endpoints.get(&prefix.to_ascii_uppercase());
        endpoint.map(String::as_str)
    }

    /// Whether a repository is asked for a handle.
    pub(crate) fn has(&self, handle: &str) -> bool {
        self.endpoint(handle).is_some()
    }

    /// What a repository says of a handle: "one value per handle: index 100, type URL, TTL 100,
    /// public read, admin read".
    pub(crate) fn resolve(&self, handle: &str) -> Result<Option<Value<'static>>, Fault> {
        let Some(endpoint) = self.endpoint(handle) else {
            return Ok(None);
        };
        // The repository cannot have such a handle.
        if !stays_in_place(handle) {
            return Ok(None);
        }
        let path = escaped(handle);
        let said: Option<Vec<String>> = self.ask(format!("{endpoint}/resolve/{path}"))?;
        let url = said.and_then(|said| said.into_iter().next());
        let url = url.filter(|url| url.starts_with("https://") || url.starts_with("http://"));
        Ok(url.map(|url| {
            let value = Value {
                ttl: Ttl::Relative(100),
                // 1010
                permissions: Permissions::from_bits(0x0A),
                ..Value::new(100, "URL", url.as_bytes())
            };
            value.into_owned()
        }))
    }

    /// Waits for an answer, on whatever thread this is. A repository that fails may be there again
    /// soon: clients are told to try later.
    fn ask<T: DeserializeOwned>(&self, url: String) -> Result<T, Fault> {
        let failed = || {
            Fault::new(
                ResponseCode::ServerTooBusy,
                "the repository does not answer",
            )
        };
        let place = Arc::clone(&self.waiting).try_acquire_owned();
        let place = place.map_err(|_| Fault::plain(ResponseCode::ServerTooBusy))?;
        let (answer, answered) = sync_channel(1);
        let tls = self.tls.clone();
        let runtime = self.runtime.as_ref().ok_or_else(failed)?;
        runtime.spawn(async move {
            let fetched = tokio::time::timeout(REPOSITORY_TIMEOUT, fetch(&url, &tls.0)).await;
            let fetched = fetched.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            if let Err(error) = &fetched {
                tracing::warn!(%error, url, "a repository does not answer");
            }
            drop(place);
            // The caller may have stopped waiting.
            drop(answer.send(fetched));
        });
        let bytes = answered.recv().map_err(|_| failed())?;
        let bytes = bytes.map_err(|_| failed())?;
        serde_json::from_slice(&bytes).map_err(|_| failed())
    }
}

impl Drop for Dspace {
    /// Does not wait, because this may be dropped on a thread that must not block.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn fetch(url: &str, tls: &TlsConnector) -> io::Result<Bytes> {
    let bad = || io::Error::from(io::ErrorKind::InvalidInput);
    let uri: Uri = url.parse().map_err(io::Error::other)?;
    let host = uri.host().ok_or_else(bad)?.to_string();
    let bare = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_string();
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let stream = TcpStream::connect((bare.as_str(), port)).await?;
    if is_tls {
        let name = ServerName::try_from(bare).map_err(io::Error::other)?;
        return get(tls.connect(name, stream).await?, &uri).await;
    }
    get(stream, &uri).await
}

async fn get<S>(stream: S, uri: &Uri) -> io::Result<Bytes>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    // It ends when the sender goes.
    tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::get(path)
        .header(HOST, authority)
        .header(ACCEPT, "application/json")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let response = sender
        .send_request(request)
        .await
        .map_err(io::Error::other)?;
    if response.status() != StatusCode::OK {
        return Err(io::Error::other(format!("status {}", response.status())));
    }
    let body = Limited::new(response.into_body(), MAX_RESPONSE)
        .collect()
        .await;
    body.map(http_body_util::Collected::to_bytes)
        .map_err(io::Error::other)
}

/// "The handle goes into the URL unescaped": but for what could end it.
fn escaped(handle: &str) -> String {
    let mut out = String::with_capacity(handle.len());
    for byte in handle.bytes() {
        match byte {
            b'%' | b'?' | b'#' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                out.push_str(&format_byte(byte));
            }
            0x21..=0x7E => out.push(char::from(byte)),
            byte => out.push_str(&format_byte(byte)),
        }
    }
    out
}

/// Whether a handle, behind the path of the question, is part of that path for everybody who may
/// read it: proxies and servers that walk up at `..`, cut off what follows `;`, take `\` for `/`,
/// or decode once more than they should.
fn stays_in_place(handle: &str) -> bool {
    let mut bytes = handle.as_bytes().to_vec();
    for _ in 0..DECODINGS {
        let is_odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b';' | b'\\');
        let mut segments = bytes.split(|byte| *byte == b'/');
        if bytes.iter().any(is_odd) || segments.any(|part| matches!(part, b"." | b"..")) {
            return false;
        }
        let decoded = decoded(&bytes);
        if decoded == bytes {
            return true;
        }
        bytes = decoded;
    }
    false
}

/// How often something is decoded on its way, at most.
const DECODINGS: usize = 4;

/// The same with each escape that is whole decoded once.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| {
        let digit = char::from(byte).to_digit(16)?;
        u8::try_from(digit).ok()
    };
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let escape = match rest {
            [b'%', high, low, after @ ..] => digit(*high).zip(digit(*low)).zip(Some(after)),
            _ => None,
        };
        if let Some(((high, low), after)) = escape {
            out.push(high << 4 | low);
            rest = after;
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

fn format_byte(byte: u8) -> String {
    format!("%{byte:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_stay_in_their_path() {
        assert_eq!(escaped("123456789/1"), "123456789/1");
        assert_eq!(escaped("1/a?b#c d%\r\nü"), "1/a%3Fb%23c%20d%25%0D%0A%C3%BC");
    }

    #[test]
    #[rustfmt::skip] // A row is a line.
    fn handles_that_could_lead_to_another_host_are_not_asked_for() {
        for (handle, stays) in [
            ("123456789/1", true),
            ("123456789/1.2..3", true),
            ("123456789/a/...", true),
            ("123456789/100%", true),
            ("123456789/50%25 of it", true),
            ("123456789/..", false),
            ("123456789/../../manager/html", false),
            ("123456789/a/./b", false),
            ("123456789/%2e%2E/x", false),
            ("123456789/%252e./x", false),
            ("123456789/..%2Fx", false),
            ("123456789/a;b", false),
            ("123456789/a%3bb", false),
            ("123456789/a\\b", false),
            ("123456789/a\nb", false),
            ("123456789/%00", false),
            ("123456789/%2525252541", false),
        ] {
            assert_eq!(stays_in_place(handle), stays, "{handle}");
        }
    }
}
