//! Where long answers wait until whoever asked has taken them.
//!
//! An answer is made whole and sent as fast as the other side reads. Over HTTP/2 many wait on one connection, for as
//! long as the client likes: so there is room for a few on each connection, and for some on all of them together.

use std::sync::Arc;

use http_body_util::{BodyExt, Collected, Either, Full};
use hyper::body::{Body as _, Bytes};
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::web::reply::{Body, plain};

/// Shorter ones are not counted.
const LONG: u64 = 16 << 10;
/// How much waits on one connection, in KiB: whoever takes nothing is not answered more.
const ON_ONE: u32 = 1 << 10;
/// How much waits on all connections together, in KiB.
const ON_ALL: u32 = 256 << 10;

/// Room for answers.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    room: Arc<Semaphore>,
    most: u32,
}

impl Shelf {
    /// That of a connection.
    pub(crate) fn of_one() -> Self {
        Self::new(ON_ONE)
    }

    /// That of all connections.
    pub(crate) fn of_all() -> Self {
        Self::new(ON_ALL)
    }

    fn new(most: u32) -> Self {
        let room = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            room: Arc::new(Semaphore::new(room)),
            most,
        }
    }

    /// Whether anything waits.
    pub(crate) fn is_empty(&self) -> bool {
        usize::try_from(self.most).is_ok_and(|most| self.room.available_permits() == most)
    }

    /// Waits until there is room at all.
    pub(crate) async fn has_room(&self) {
        if self.room.available_permits() == 0 {
            drop(self.room.acquire().await);
        }
    }

    /// Room for some KiB; all of it for what would never fit.
    fn needed(&self, kibibytes: u32) -> u32 {
        kibibytes.min(self.most)
    }
}

/// Puts a response on both shelves, if it is a long one. When all connections together have too much, it is to be asked
/// for again.
pub(crate) async fn put(response: Response<Body>, own: &Shelf, all: &Shelf) -> Response<Body> {
    let length = match response.body() {
        Either::Left(body) => body.size_hint().lower(),
        // What is streamed waits where it is made.
        Either::Right(_) => 0,
    };
    if length < LONG {
        return response;
    }
    let kibibytes = u32::try_from(length >> 10).unwrap_or(u32::MAX);
    let together = Arc::clone(&all.room).try_acquire_many_owned(all.needed(kibibytes));
    let Ok(together) = together else {
        return busy();
    };
    let own = Arc::clone(&own.room).acquire_many_owned(own.needed(kibibytes));
    // A shelf is never closed.
    let Ok(own) = own.await else {
        return busy();
    };
    let (parts, body) = response.into_parts();
    // A body that is there does not break off.
    let bytes = body.collect().await.map(Collected::to_bytes);
    let kept = Kept {
        bytes: bytes.unwrap_or_default(),
        _room: [own, together],
    };
    Response::from_parts(parts, Either::Left(Full::new(Bytes::from_owner(kept))))
}

fn busy() -> Response<Body> {
    let text = "too many long answers have not been taken yet: try again\n";
    let mut busy = plain(StatusCode::SERVICE_UNAVAILABLE, text);
    let soon = HeaderValue::from_static("5");
    busy.headers_mut().insert(RETRY_AFTER, soon);
    busy
}

/// Octets that have room as long as anybody has them, to the last one that is sent.
struct Kept {
    bytes: Bytes,
    _room: [OwnedSemaphorePermit; 2],
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::reply::reply;

    fn answer(length: usize) -> Response<Body> {
        reply(StatusCode::OK, "text/plain", vec![b'x'; length])
    }

    #[test]
    fn there_is_room_for_so_much_until_it_is_taken() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let (one, other, all) = (Shelf::new(64), Shelf::new(64), Shelf::new(100));
            let short = put(answer(1_000), &one, &all).await;
            assert!(one.is_empty() && all.is_empty());
            let first = put(answer(64 << 10), &one, &all).await;
            assert!(!one.is_empty() && !all.is_empty());
            let refused = put(answer(64 << 10), &other, &all).await;
            assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert!(other.is_empty());
            // The octets count, wherever they are.
            let octets = first.into_body().collect().await.unwrap().to_bytes();
            let part = octets.slice(..10);
            drop(octets);
            assert!(!one.is_empty());
            drop(part);
            assert!(one.is_empty() && all.is_empty());
            // What is longer than the shelf takes all of it.
            let long = put(answer(1 << 20), &one, &all).await;
            assert_eq!(long.status(), StatusCode::OK);
            drop((short, long));
        });
    }
}
