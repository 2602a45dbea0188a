//! The handle protocol through HTTP (`handle-protocol.md` §1.6).

use std::sync::Arc;

use handfast_wire::{Codec, Envelope, Reader};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::time::timeout;

use crate::native::{is_quick, tunnel};
use crate::web::reply::{Body, plain, reply};
use crate::web::{PATIENCE, Web};

/// What the protocol calls its messages in HTTP.
const MESSAGE: &str = "application/x-hdl-message";
/// The longest body: a message and its envelope, and a line end in front of them.
const LONGEST: usize = 262_144 + 20 + 2;

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

pub(crate) async fn answer(web: &Arc<Web>, request: Request<Incoming>) -> Response<Body> {
    if request.method() != Method::POST {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "");
        refused
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static("POST"));
        return refused;
    }
    let native = Arc::clone(&web.native);
    let length = request.body().size_hint().upper();
    let length = length.and_then(|length| usize::try_from(length).ok());
    let receiving = async {
        let room = native.room(length.unwrap_or(LONGEST).min(LONGEST)).await;
        let body = Limited::new(request.into_body(), LONGEST).collect().await;
        drop(room);
        body
    };
    let Ok(Ok(body)) = timeout(PATIENCE, receiving).await else {
        return plain(
            StatusCode::BAD_REQUEST,
            "the message is too long, or did not come\n",
        );
    };
    let bytes = body.to_bytes();
    // Changes wait for the disk, and signatures for the processor.
    let is_quick = Envelope::decode(&mut Reader::new(&bytes)).is_ok_and(|envelope| {
        is_quick(
            &native,
            &envelope,
            bytes.get(Envelope::LENGTH..).unwrap_or_default(),
        )
    });
    let answered = if is_quick {
        tunnel(&native, &bytes)
    } else {
        let answered = tokio::task::spawn_blocking(move || tunnel(&native, &bytes));
        answered.await.unwrap_or_default()
    };
    reply(StatusCode::OK, MESSAGE, answered)
}
