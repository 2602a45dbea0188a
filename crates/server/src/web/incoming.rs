//! What a client sends with a request.
//!
//! A request may be answered before its body has come: it is refused, or nobody wants the body. Over HTTP/1.1 the
//! connection can only be used again, and the answer only be heard, once the body was read; so what nobody has read is
//! read and thrown away, within limits.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming as Stream, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::web::PATIENCE;

/// How much is thrown away at most.
const MOST_THROWN_AWAY: usize = 16 << 20;

/// The body of a request.
pub(crate) struct Incoming(Option<Stream>);

/// Why a body was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// It broke off.
    Broken,
    /// It did not come in time.
    Late,
    TooLong,
}

impl Incoming {
    pub(crate) fn new(stream: Stream) -> Self {
        Self(Some(stream))
    }

    /// How long it says that it is, or may be.
    pub(crate) fn length(&self) -> Option<usize> {
        let length = self.size_hint().upper()?;
        Some(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// The whole of it, if it is not too long and comes in time.
    pub(crate) async fn take(self, longest: usize) -> Result<Bytes, NotTaken> {
        if self.length().is_some_and(|length| length > longest) {
            return Err(NotTaken::TooLong);
        }
        match timeout(PATIENCE, Limited::new(self, longest).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(NotTaken::TooLong),
            Ok(Err(_)) => Err(NotTaken::Broken),
            Err(_) => Err(NotTaken::Late),
        }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.0 {
            Some(stream) => Pin::new(stream).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let stream = self.0.as_ref();
        stream.map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let left = self.0.take().filter(|stream| !stream.is_end_stream());
        if let (Some(left), Ok(runtime)) = (left, Handle::try_current()) {
            runtime.spawn(async {
                let mut left = Limited::new(left, MOST_THROWN_AWAY);
                let reading = async { while let Some(Ok(_)) = left.frame().await {} };
                drop(timeout(PATIENCE, reading).await);
            });
        }
    }
}
