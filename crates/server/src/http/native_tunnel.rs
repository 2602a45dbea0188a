//! The handle protocol through HTTP (`handle-protocol.md` §1.6).

use std::net::IpAddr;
use std::sync::Arc;

use handfast_wire::{Codec, Envelope, Reader};
use http_body_util::BodyExt;
use hyper::body::{Buf, Bytes};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use crate::admission::body_memory::Sender;
use crate::admission::expensive_work::{Busy, WorkPermit};
use crate::admission::peer::Peer;
use crate::http::connection::request_body::{Incoming, counted};
use crate::http::response::{Body, not_allowed, plain, reply};
use crate::http::{Caller, Web};
use crate::native::{LONG_MESSAGE_TIMEOUT, MessageWork, Native, tunnel};
use crate::runtime::native_metrics::Transport;

/// The media type of messages in HTTP.
const MESSAGE: &str = "application/x-hdl-message";
/// The longest body: a message and its envelope, and a line end in front of them.
const MAX_TUNNEL_BODY: usize = 262_144 + 20 + 2;

/// "Only if both the `Accept` and the `Content-Type` header contain `application/x-hdl-message`
/// (case-insensitive substring)."
pub(crate) fn is_message(request: &Request<Incoming>) -> bool {
    let is_said_in = |name: &HeaderName| {
        let mut values = request.headers().get_all(name).iter();
        values.any(|value| {
            let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
            text.contains(MESSAGE)
        })
    };
    is_said_in(&CONTENT_TYPE) && is_said_in(&ACCEPT)
}

/// The native protocol behind HTTP: the one place where HTTP calls it.
pub(crate) struct NativeTunnel(Arc<Native>);

impl NativeTunnel {
    pub(crate) fn new(native: Arc<Native>) -> Self {
        Self(native)
    }

    #[cfg(test)]
    pub(crate) fn of(context: &Arc<crate::context::ServerContext>) -> Self {
        Self(Arc::new(Native::new(Arc::clone(context))))
    }
}

pub(crate) async fn answer(
    web: &Arc<Web>,
    caller: &Caller,
    request: Request<Incoming>,
) -> Response<Body> {
    if request.method() != Method::POST {
        return not_allowed("POST", "");
    }
    let native = Arc::clone(&web.tunnel.0);
    let Some(bytes) = receive(web, caller.address.ip(), request.into_body()).await else {
        let text = "the message is too long, or did not come\n";
        return plain(StatusCode::BAD_REQUEST, text);
    };
    let length = bytes.len();
    let envelope = Envelope::decode(&mut Reader::new(&bytes));
    let work = envelope.as_ref().map_or(MessageWork::Blocking, |envelope| {
        native.work_of(envelope, bytes.get(Envelope::LENGTH..).unwrap_or_default())
    });
    let peer = Peer::connected(caller.address.ip());
    let answered = match (enter(&native, work, peer).await, envelope) {
        (Err(Busy), Ok(envelope)) => {
            let mut busy = Vec::new();
            native.busy(&envelope, Transport::Http).write(&mut busy);
            busy
        }
        _ if work == MessageWork::None => tunnel(&native, &bytes, peer, None),
        // Changes wait for the disk, and signatures and logins for the processor.
        (permit, _) => {
            let answered = crate::runtime::blocking::spawn_blocking(move || {
                let (login, _signature) = match work {
                    MessageWork::Login => (permit.ok().flatten(), None),
                    _ => (None, permit.ok().flatten()),
                };
                tunnel(&native, &bytes, peer, login)
            });
            answered.await.unwrap_or_default()
        }
    };
    let meters = &web.context.metrics;
    meters.received(Transport::Http, length);
    meters.sent(Transport::Http, answered.len());
    reply(StatusCode::OK, MESSAGE, answered)
}

/// Waits for a permit for a message, if it needs one.
async fn enter(native: &Native, work: MessageWork, peer: Peer) -> Result<Option<WorkPermit>, Busy> {
    match native.queue_of(work) {
        Some(queue) => queue.enter(peer).await.map(Some),
        None => Ok(None),
    }
}

/// A message, without the line end that may stand in front of it, with the memory that it takes.
async fn receive(web: &Web, client: IpAddr, mut body: Incoming) -> Option<Bytes> {
    let mut deadline = Instant::now() + web.client_timeout;
    let bodies = &web.context.admission.body_memory;
    let mut memory = bodies.permit(Sender::Anonymous, client);
    let mut bytes = Vec::new();
    while let Some(frame) = timeout_at(deadline, body.frame()).await.ok()? {
        let Ok(data) = frame.ok()?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > MAX_TUNNEL_BODY {
            return None;
        }
        if bytes.is_empty() {
            deadline = deadline.min(Instant::now() + LONG_MESSAGE_TIMEOUT);
        }
        if !memory.grow(data.len(), deadline).await {
            return None;
        }
        bytes.extend_from_slice(&data);
    }
    let mut bytes = counted(bytes, memory);
    // "One leading CR or LF octet in the body is skipped."
    if let [b'\r' | b'\n', ..] = *bytes {
        bytes.advance(1);
    }
    Some(bytes)
}
