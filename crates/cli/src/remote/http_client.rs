//! HTTP: connections over the network or to the socket of a data folder, TLS, and bodies that are
//! never whole in memory.

use std::convert::Infallible;
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use futures_util::stream;
use handfast_client::https::{HttpClient, TrustAnchors, exchange};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::{Request, Response, Uri};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long a server on the network may take to say something.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_mins(5);
/// The longest answer of a server on the network that is taken whole.
pub(crate) const MAX_ANSWER: usize = 64 << 20;
/// How much of a file is sent at a time.
const PIECE: usize = 64 << 10;

/// The body of an answer.
pub(crate) type Received = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// The body of a request.
pub(crate) type RequestBody = UnsyncBoxBody<Bytes, io::Error>;

/// A body that is in memory.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> RequestBody {
    let body = Full::new(bytes.into());
    body.map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

/// A body that is read as it is sent; `tell` hears how much of it was. Nothing else is done
/// meanwhile that reading could hold up.
pub(crate) fn read_from(
    mut input: impl Read + Send + 'static,
    mut tell: impl FnMut(u64) + Send + 'static,
) -> RequestBody {
    let mut read = 0;
    let pieces = std::iter::from_fn(move || {
        let mut piece = vec![0; PIECE];
        match input.read(&mut piece) {
            Ok(0) => None,
            Ok(count) => {
                piece.truncate(count);
                read += u64::try_from(count).unwrap_or(0);
                tell(read);
                Some(Ok(Frame::data(Bytes::from(piece))))
            }
            Err(error) => Some(Err(error)),
        }
    });
    StreamBody::new(stream::iter(pieces)).boxed_unsync()
}

/// Sends a request to a server on the network, and gives the beginning of the answer.
pub(crate) async fn send_to_server(
    server: &Uri,
    certificate: Option<&Path>,
    request: Request<RequestBody>,
) -> anyhow::Result<Response<Received>> {
    let trusted = certificate.map_or(TrustAnchors::System, TrustAnchors::SystemAnd);
    let response = HttpClient::new(trusted)?.send(server, request).await?;
    Ok(response.map(received))
}

/// Sends a request to the socket of a data folder.
pub(crate) async fn send_to_socket(
    socket: &Path,
    mut request: Request<RequestBody>,
) -> anyhow::Result<Response<Received>> {
    let stream = UnixStream::connect(socket).await?;
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    Ok(exchange(stream, request).await?.map(received))
}

fn received(body: Incoming) -> Received {
    body.map_err(Into::into).boxed_unsync()
}

/// Takes the whole of an answer.
pub(crate) async fn collect(
    response: Response<Received>,
    limit: usize,
    time: Duration,
) -> anyhow::Result<Bytes> {
    let collecting = Limited::new(response.into_body(), limit).collect();
    let body = timeout(time, collecting).await;
    let body = body.context("the answer does not end")?;
    let body = body.map_err(|error| anyhow!("the answer cannot be read: {error}"))?;
    Ok(body.to_bytes())
}

/// Hands on each line of an answer as it comes.
pub(crate) async fn each_line(
    response: Response<Received>,
    time: Duration,
    each: &mut dyn FnMut(&[u8]),
) -> anyhow::Result<()> {
    let mut body = response.into_body();
    let mut begun = Vec::new();
    while let Some(frame) = next(&mut body, time).await? {
        for piece in frame
            .into_data()
            .unwrap_or_default()
            .split_inclusive(|byte| *byte == b'\n')
        {
            begun.extend_from_slice(piece);
            if begun.len() > MAX_ANSWER {
                anyhow::bail!("a line of the answer is too long");
            }
            if let Some(line) = begun.strip_suffix(b"\n") {
                each(line);
                begun.clear();
            }
        }
    }
    if !begun.is_empty() {
        each(&begun);
    }
    Ok(())
}

async fn next(body: &mut Received, time: Duration) -> anyhow::Result<Option<Frame<Bytes>>> {
    let frame = timeout(time, body.frame()).await;
    let frame = frame.context("nothing came for too long")?.transpose();
    frame.map_err(|error| anyhow!("the answer was broken off: {error}"))
}

/// Writes an answer as it comes, and gives what it says in a trailer. `tell` hears how much has
/// come.
pub(crate) async fn take(
    response: Response<Received>,
    trailer: &HeaderName,
    time: Duration,
    out: &mut (dyn Write + Send),
    tell: &mut (dyn FnMut(u64) + Send),
) -> anyhow::Result<Result<Option<String>, io::Error>> {
    let mut body = response.into_body();
    let (mut come, mut said) = (0, None);
    while let Some(frame) = next(&mut body, time).await? {
        match frame.into_data() {
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
