//! `DSpace` repositories as sources: the server asks them for handles of their prefixes that are
//! not registered here (`http-interfaces.md` C.4).
//!
//! A repository gives one URL for a handle, or none. Nothing is written there or cached here.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use handfast_client::https::{HttpClient, TrustAnchors};
use handfast_wire::{Permissions, ResponseCode, Ttl, Value};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::header::ACCEPT;
use hyper::{Request, StatusCode};
use percent_encoding::{AsciiSet, percent_decode};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use crate::error::Fault;
use crate::http::percent::{all_but, encode};
use crate::runtime::own_runtime::OwnRuntime;

/// How long a repository may take to respond.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// How many requests to repositories may run at once.
const MAX_REQUESTS: usize = 16;
const MAX_RESPONSE: usize = 1 << 20;

/// A repository, and its prefixes.
#[derive(Clone, Debug)]
pub struct DspaceSource {
    /// The URL of the repository: `https://repo.example/server`.
    pub endpoint: String,
    /// Its prefixes; if there are none, the repository lists them.
    pub prefixes: Vec<String>,
}

/// Repositories by prefix.
#[derive(Debug)]
pub struct Dspace {
    /// Endpoints by prefix, in uppercase.
    endpoints: HashMap<String, String>,
    http: HttpClient,
    runtime: OwnRuntime,
    permits: Arc<Semaphore>,
}

impl Dspace {
    /// Asks repositories for their prefixes, and lists those that do not answer.
    pub fn connect(sources: Vec<DspaceSource>) -> io::Result<(Self, Vec<String>)> {
        let mut dspace = Self {
            endpoints: HashMap::new(),
            http: HttpClient::new(TrustAnchors::System)?,
            runtime: OwnRuntime::new("handfast-dspace")?,
            permits: Arc::new(Semaphore::new(MAX_REQUESTS)),
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

    /// The value of a handle in its repository: "one value per handle: index 100, type URL, TTL
    /// 100, public read, admin read".
    pub(crate) fn resolve(&self, handle: &str) -> Result<Option<Value<'static>>, Fault> {
        let Some(endpoint) = self.endpoint(handle) else {
            return Ok(None);
        };
        // No repository has such a handle.
        if !stays_in_place(handle) {
            return Ok(None);
        }
        let path = encode(handle, HANDLE);
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

    /// Sends a request and blocks until the response has come. A repository that fails may answer
    /// again soon: the error asks clients to try later.
    fn ask<T: DeserializeOwned>(&self, url: String) -> Result<T, Fault> {
        let text = "the repository does not answer";
        let failed = || Fault::new(ResponseCode::ServerTooBusy, text);
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let permit = permit.map_err(|_| Fault::plain(ResponseCode::ServerTooBusy))?;
        let (answer, answered) = sync_channel(1);
        let http = self.http.clone();
        let runtime = self.runtime.get().ok_or_else(failed)?;
        runtime.spawn(async move {
            let fetched = fetch(&http, &url).await;
            if let Err(error) = &fetched {
                tracing::warn!(%error, url, "a repository does not answer");
            }
            drop(permit);
            // The caller may have gone.
            drop(answer.send(fetched));
        });
        let bytes = answered.recv().map_err(|_| failed())?;
        let bytes = bytes.map_err(|_| failed())?;
        serde_json::from_slice(&bytes).map_err(|_| failed())
    }
}

async fn fetch(http: &HttpClient, url: &str) -> io::Result<Bytes> {
    let request = Request::get(url).header(ACCEPT, "application/json");
    let request = request
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let response = http.fetch(request, RESPONSE_TIMEOUT, MAX_RESPONSE).await?;
    if response.status() != StatusCode::OK {
        return Err(io::Error::other(format!("status {}", response.status())));
    }
    Ok(response.into_body())
}

/// "The handle goes into the URL unescaped", except for characters that could end the path.
const HANDLE: &AsciiSet = &all_but(b"!$&'()*+,-./:;=@[]_~");

/// Whether a handle cannot leave the path of the request. Some proxies and servers resolve `..`,
/// drop everything after `;`, read `\` as `/`, or decode more often than they should.
fn stays_in_place(handle: &str) -> bool {
    let mut bytes = handle.as_bytes().to_vec();
    for _ in 0..DECODINGS {
        let is_odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b';' | b'\\');
        let mut segments = bytes.split(|byte| *byte == b'/');
        if bytes.iter().any(is_odd) || segments.any(|part| matches!(part, b"." | b"..")) {
            return false;
        }
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        if decoded == bytes {
            return true;
        }
        bytes = decoded;
    }
    false
}

/// How often servers on the way decode a path, at most.
const DECODINGS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_stay_in_their_path() {
        assert_eq!(encode("123456789/1", HANDLE), "123456789/1");
        assert_eq!(
            encode("1/a?b#c d%\r\nü", HANDLE),
            "1/a%3Fb%23c%20d%25%0D%0A%C3%BC"
        );
    }

    #[test]
    #[rustfmt::skip] // A row is a line.
    fn handles_that_could_leave_the_path_are_not_requested() {
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
