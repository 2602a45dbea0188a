//! How a server elsewhere is asked: connections, TLS, and bodies that are never whole in memory.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context as Waking, Poll};
use std::time::Duration;

use anyhow::{Context, anyhow};
use handfast_client::https::{HttpClient, TrustAnchors};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, TE};
use hyper::{Request, Response, Uri};
use tokio::time::timeout;

/// How long a server may take to say something.
const PATIENCE: Duration = Duration::from_mins(5);
/// The longest answer that is taken whole.
const LONGEST: usize = 64 << 20;
/// How much of a file is sent at a time.
const PIECE: usize = 64 << 10;

/// What is sent.
pub(crate) type Sent = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is in memory.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Sent {
    let body = Full::new(bytes.into());
    body.map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

/// A body that is read as it is sent; `tell` hears how much of it was.
pub(crate) fn read_from(
    input: Box<dyn Read + Send>,
    tell: impl FnMut(u64) + Send + 'static,
) -> Sent {
    let reading = Reading {
        input,
        read: 0,
        tell: Box::new(tell),
    };
    reading.boxed_unsync()
}

struct Reading {
    input: Box<dyn Read + Send>,
    read: u64,
    tell: Box<dyn FnMut(u64) + Send>,
}

impl Body for Reading {
    type Data = Bytes;
    type Error = io::Error;

    /// Nothing else is done meanwhile that reading could hold up.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Waking<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut piece = vec![0; PIECE];
        Poll::Ready(match self.input.read(&mut piece) {
            Ok(0) => None,
            Ok(count) => {
                piece.truncate(count);
                self.read += u64::try_from(count).unwrap_or(0);
                let read = self.read;
                (self.tell)(read);
                Some(Ok(Frame::data(Bytes::from(piece))))
            }
            Err(error) => Some(Err(error)),
        })
    }
}

/// What is asked.
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    /// Below `/api/v1`.
    pub(crate) path: &'a str,
    pub(crate) content_type: Option<&'a str>,
    /// One header more.
    pub(crate) header: Option<(HeaderName, &'a str)>,
    pub(crate) body: Sent,
}

/// Sends a request, and gives the beginning of the answer.
pub(crate) async fn send(
    server: &Uri,
    token: Option<&str>,
    certificate: Option<&Path>,
    asked: Asked<'_>,
) -> anyhow::Result<Response<Incoming>> {
    let start = server.path().trim_end_matches('/');
    let mut request = Request::builder()
        .method(asked.method)
        .uri(format!("{start}/api/v1{}", asked.path))
        .header(TE, "trailers");
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(content_type) = asked.content_type {
        request = request.header(CONTENT_TYPE, content_type);
    }
    if let Some((name, value)) = asked.header {
        request = request.header(name, value);
    }
    let request = request.body(asked.body)?;
    let trusted = certificate.map_or(TrustAnchors::System, TrustAnchors::SystemAnd);
    Ok(HttpClient::new(trusted)?.send(server, request).await?)
}

/// Takes the whole of an answer.
pub(crate) async fn collect(response: Response<Incoming>) -> anyhow::Result<Bytes> {
    let collecting = Limited::new(response.into_body(), LONGEST).collect();
    let body = timeout(PATIENCE, collecting).await;
    let body = body.context("the answer does not end")?;
    let body = body.map_err(|error| anyhow!("the answer cannot be read: {error}"))?;
    Ok(body.to_bytes())
}

/// Writes an answer as it comes, and gives what it says in a trailer. `tell` hears how much has come.
pub(crate) async fn take(
    response: Response<Incoming>,
    trailer: &HeaderName,
    out: &mut (dyn Write + Send),
    tell: &mut (dyn FnMut(u64) + Send),
) -> anyhow::Result<Result<Option<String>, io::Error>> {
    let mut body = response.into_body();
    let (mut come, mut said) = (0, None);
    loop {
        let frame = timeout(PATIENCE, body.frame()).await;
        let Some(frame) = frame.context("nothing came for too long")? else {
            break;
        };
        match frame.context("the answer was broken off")?.into_data() {
            Ok(data) => {
                if let Err(error) = out.write_all(&data) {
                    return Ok(Err(error));
                }
                come += u64::try_from(data.len()).unwrap_or(0);
                tell(come);
            }
            Err(other) => {
                let trailers = other.into_trailers().ok();
                let value = trailers.and_then(|trailers| trailers.get(trailer).cloned());
                said = value.and_then(|value| value.to_str().ok().map(str::to_string));
            }
        }
    }
    Ok(out.flush().map(|()| said))
}

/// How long the beginning of an answer may take.
pub(crate) async fn in_time<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    timeout(PATIENCE, work)
        .await
        .context("nothing was answered")?
}
