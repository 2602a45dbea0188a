//! The web door. So far it takes the handle protocol through HTTP (`handle-protocol.md` §1.6).

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use handfast_wire::{Codec, Envelope, Reader};
use http_body_util::{BodyExt, Full};
use hyper::body::{Buf, Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::native::{LONG, LONG_PATIENCE, Native, tunnel};

/// What the protocol calls its messages in HTTP.
const MESSAGE: &str = "application/x-hdl-message";
/// The longest body: a message and its envelope, and a line end in front of them.
const LONGEST: usize = 262_144 + 20 + 2;
/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers one request after the other.
pub(crate) async fn converse(native: Arc<Native>, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let service = service_fn(move |request| {
        let native = Arc::clone(&native);
        async move { Ok::<_, Infallible>(answer(native, request).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}

async fn answer(native: Arc<Native>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    if !is_message(request.headers(), &ACCEPT) || !is_message(request.headers(), &CONTENT_TYPE) {
        return plain(StatusCode::NOT_FOUND, "nothing is here yet\n");
    }
    if request.method() != Method::POST {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "");
        refused
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
        return refused;
    }
    let Some(bytes) = receive(&native, request.into_body()).await else {
        return plain(
            StatusCode::BAD_REQUEST,
            "the message is too long, or did not come\n",
        );
    };
    // Changes wait for the disk, and signatures for the processor.
    let is_quick = Envelope::decode(&mut Reader::new(&bytes)).is_ok_and(|envelope| {
        native.is_quick(&envelope, bytes.get(Envelope::LENGTH..).unwrap_or_default())
    });
    let answered = if is_quick {
        tunnel(&native, &bytes)
    } else {
        let answered = tokio::task::spawn_blocking(move || tunnel(&native, &bytes));
        answered.await.unwrap_or_default()
    };
    let mut response = Response::new(Full::new(Bytes::from(answered)));
    let kind = HeaderValue::from_static(MESSAGE);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A message, without the line end that may stand in front of it.
async fn receive(native: &Native, mut body: Incoming) -> Option<Bytes> {
    let mut deadline = Instant::now() + PATIENCE;
    let (mut bytes, mut rooms) = (Vec::new(), Vec::new());
    while let Some(frame) = timeout_at(deadline, body.frame()).await.ok()? {
        let Ok(data) = frame.ok()?.into_data() else {
            continue;
        };
        bytes.extend_from_slice(&data);
        if bytes.len() > LONGEST {
            return None;
        }
        while bytes.len() >= (rooms.len() + 1) * LONG {
            if rooms.is_empty() {
                deadline = deadline.min(Instant::now() + LONG_PATIENCE);
            }
            rooms.push(timeout_at(deadline, native.room(LONG)).await.ok()?);
        }
    }
    let mut bytes = Bytes::from(bytes);
    // "One leading CR or LF octet in the body is skipped."
    if let [b'\r' | b'\n', ..] = *bytes {
        bytes.advance(1);
    }
    Some(bytes)
}

/// "Only if both the `Accept` and the `Content-Type` header contain `application/x-hdl-message`
/// (case-insensitive substring)."
fn is_message(headers: &HeaderMap, name: &HeaderName) -> bool {
    let mut values = headers.get_all(name).iter();
    values.any(|value| {
        let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        text.contains(MESSAGE)
    })
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
