//! Request bodies.
//!
//! A body takes memory as it arrives, until its bytes are dropped. The server may answer a
//! request before its body has arrived: it rejects the request, or does not need the body. Over
//! HTTP/1.1 a client can read the answer and reuse the connection only after the body was read,
//! so the server reads the rest of the body and discards it, within limits.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming as Stream, SizeHint};
use hyper::header::RETRY_AFTER;
use hyper::{Response, StatusCode};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::admission::body_memory::{MEMORY_TIMEOUT_PART, MIN_BODY_BYTES, Sender};
use crate::admission::connections::{Activity, Receiving};
use crate::http::response::{Body, WithHeader, reply};
use crate::http::{Caller, Web};

/// How much is thrown away at most.
const MAX_DISCARDED: usize = 16 << 20;

/// The body of a request.
pub(crate) struct Incoming {
    stream: Option<Stream>,
    activity: Arc<Activity>,
    /// As long as the client has not sent what the server waits for.
    receiving: Option<Receiving>,
    /// How long the rest of it is read that no handler wants.
    discard_timeout: Duration,
}

/// Why a body was not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It broke off.
    Broken,
    /// There was no memory for it.
    Busy,
    /// It did not arrive within this time.
    Late(Duration),
    TooLong,
}

impl BodyError {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Late(_) => StatusCode::REQUEST_TIMEOUT,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }
}

impl Incoming {
    pub(crate) fn new(stream: Stream, activity: Arc<Activity>, client_timeout: Duration) -> Self {
        Self {
            stream: Some(stream),
            activity,
            receiving: None,
            discard_timeout: client_timeout,
        }
    }

    /// How long it says that it is, or may be.
    fn length(&self) -> Option<usize> {
        let length = self.size_hint().upper()?;
        Some(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// The whole of it, if it is not too long and arrives within the timeout of clients. Known
    /// clients are waited for as long as they send some of it.
    pub(crate) async fn receive(
        mut self,
        web: &Web,
        caller: &Caller,
        sender: Sender,
        max_length: usize,
    ) -> Result<Bytes, BodyError> {
        if self.length().is_some_and(|length| length > max_length) {
            return Err(BodyError::TooLong);
        }
        if self.is_end_stream() {
            return Ok(Bytes::new());
        }
        let memory = &web.context.admission.body_memory;
        let mut memory = memory.permit(sender, caller.address.ip());
        let time = web.client_timeout;
        let mut deadline = Instant::now() + time;
        let (mut bytes, mut since) = (Vec::new(), 0);
        loop {
            let frame = timeout_at(deadline, self.frame()).await;
            let Some(frame) = frame.map_err(|_| BodyError::Late(time))? else {
                break;
            };
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > max_length {
                return Err(BodyError::TooLong);
            }
            if !memory.try_grow(data.len()) {
                let soon = deadline.min(Instant::now() + time / MEMORY_TIMEOUT_PART);
                if !memory.grow(data.len(), soon).await {
                    return Err(BodyError::Busy);
                }
            }
            bytes.extend_from_slice(&data);
            since += data.len();
            if since >= MIN_BODY_BYTES && sender == Sender::Known {
                since = 0;
                deadline = Instant::now() + time;
            }
        }
        Ok(counted(bytes, memory))
    }

    /// A form, or another short text of an anonymous client; or the response that it did not come.
    pub(crate) async fn text(
        self,
        web: &Web,
        caller: &Caller,
        max_length: usize,
    ) -> Result<String, Response<Body>> {
        let received = self.receive(web, caller, Sender::Anonymous, max_length);
        let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
        received.await.map(text).map_err(not_received)
    }
}

/// The message about a body that did not arrive in time.
pub(crate) fn late_body(sender: Sender, time: Duration) -> String {
    let seconds = time.as_secs();
    let least = match sender {
        Sender::Anonymous => format!("all of it has to arrive within {seconds} seconds"),
        Sender::Known => {
            format!(
                "{MIN_BODY_BYTES} bytes of it, or the rest, have to arrive in each {seconds} \
                 seconds"
            )
        }
    };
    format!("the body did not arrive in time: {least}. Nothing was done; send the request again")
}

/// The response to a body that was not received.
fn not_received(error: BodyError) -> Response<Body> {
    let text = match error {
        BodyError::Broken => "the connection ended before the body did\n".to_string(),
        BodyError::Busy => {
            "too many bodies are on their way to this server: try again\n".to_string()
        }
        BodyError::Late(time) => late_body(Sender::Anonymous, time) + "\n",
        BodyError::TooLong => "the body is too long\n".to_string(),
    };
    let response = reply(error.status(), "text/plain; charset=utf-8", text);
    match error {
        BodyError::Busy => response.with(RETRY_AFTER, "5"),
        _ => response,
    }
}

/// Bytes that count as long as anybody has them, to the last one that is sent.
pub(crate) fn counted(
    bytes: impl AsRef<[u8]> + Send + 'static,
    permit: impl Send + 'static,
) -> Bytes {
    Bytes::from_owner(CountedBytes(bytes, permit))
}

struct CountedBytes<B, P>(B, P);

impl<B: AsRef<[u8]>, P> AsRef<[u8]> for CountedBytes<B, P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl HttpBody for Incoming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let Some(stream) = &mut this.stream else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(stream).poll_frame(context);
        if frame.is_ready() {
            this.receiving = None;
        } else if this.receiving.is_none() {
            this.receiving = Some(this.activity.receive());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.stream.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let stream = self.stream.as_ref();
        stream.map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let left = self.stream.take().filter(|stream| !stream.is_end_stream());
        if let (Some(left), Ok(runtime)) = (left, Handle::try_current()) {
            let time = self.discard_timeout;
            runtime.spawn(async move {
                let mut left = Limited::new(left, MAX_DISCARDED);
                let reading = async { while let Some(Ok(_)) = left.frame().await {} };
                drop(timeout(time, reading).await);
            });
        }
    }
}
