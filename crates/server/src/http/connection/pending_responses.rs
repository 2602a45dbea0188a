//! Long responses that wait until their clients have read them.
//!
//! The server makes a response as a whole and sends it as fast as the client reads. Over HTTP/2
//! many responses wait on one connection, for as long as the client likes. So there is a limit
//! for each connection, one for each network, and one for all networks.

use std::net::IpAddr;
use std::sync::Arc;

use http_body_util::{BodyExt, Collected, Either, Full};
use hyper::Response;
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::admission::network_of;
use crate::admission::shared_limit::{SharePermit, SharedLimit};
use crate::http::connection::request_body::counted;
use crate::http::response::{self, Body};

/// Shorter answers are not counted.
pub(crate) const LONG_RESPONSE: usize = 16 << 10;
/// How much waits on one connection, in KiB: a client that reads nothing is not answered more.
const MAX_PER_CONNECTION: u32 = 1 << 10;
/// How many requests of one connection are worked on at once.
const MAX_WORKING: usize = 16;
/// A network that has less than this left is answered nothing that may be long: what was made would
/// not be sent, and making it again and again would keep the processor busy.
const RESERVE: usize = 1 << 20;

/// The answers of one connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionResponses {
    /// Permits for responses that are being made.
    working: Arc<Semaphore>,
    /// Permits for waiting responses, in KiB.
    waiting: Arc<Semaphore>,
    max_waiting: u32,
}

impl Default for ConnectionResponses {
    fn default() -> Self {
        Self::new(MAX_PER_CONNECTION)
    }
}

impl ConnectionResponses {
    fn new(max_waiting: u32) -> Self {
        let permits = usize::try_from(max_waiting).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            working: Arc::new(Semaphore::new(MAX_WORKING)),
            waiting: Arc::new(Semaphore::new(permits)),
            max_waiting,
        }
    }

    /// Whether no answer waits.
    pub(crate) fn is_empty(&self) -> bool {
        usize::try_from(self.max_waiting).is_ok_and(|max| self.waiting.available_permits() == max)
    }

    /// Waits until a request of this connection may be worked on: the client has read most of what
    /// waits for it, and few other requests are being worked on.
    pub(crate) async fn begin(&self) -> Option<OwnedSemaphorePermit> {
        let working = Arc::clone(&self.working).acquire_owned().await.ok();
        if self.waiting.available_permits() == 0 {
            drop(self.waiting.acquire().await);
        }
        working
    }
}

/// Says that a client has to ask again, if its network, or all of them, have so much waiting that
/// no long answer would be sent: then none is made.
pub(crate) fn refuse(client: IpAddr, all: &Arc<SharedLimit<IpAddr>>) -> Option<Response<Body>> {
    let has_left = all.has_left(&network_of(client), RESERVE);
    (!has_left).then(busy)
}

/// Counts a response that has been made, if it is a long one. When its network, or all of them,
/// have too much waiting the client has to ask again.
pub(crate) fn count(
    response: Response<Body>,
    client: IpAddr,
    all: &Arc<SharedLimit<IpAddr>>,
) -> (Response<Body>, Option<SharePermit<IpAddr>>) {
    let length = length(&response);
    if length < LONG_RESPONSE {
        return (response, None);
    }
    match all.try_take(network_of(client), length) {
        Some(permit) => (response, Some(permit)),
        None => (busy(), None),
    }
}

/// Lets a response wait for its client, with its permit, if it is a long one.
pub(crate) async fn wait(
    response: Response<Body>,
    permit: Option<SharePermit<IpAddr>>,
    own: &ConnectionResponses,
) -> Response<Body> {
    let length = length(&response);
    let Some(mut permit) = permit.filter(|_| length >= LONG_RESPONSE) else {
        return response;
    };
    // It may have been compressed since.
    permit.shrink_to(length);
    let kibibytes = u32::try_from(length >> 10).unwrap_or(u32::MAX);
    let waiting = Arc::clone(&own.waiting);
    // A response that is longer than the limit takes all permits. The semaphore is never closed.
    let Ok(own) = waiting
        .acquire_many_owned(kibibytes.min(own.max_waiting))
        .await
    else {
        return busy();
    };
    let (parts, body) = response.into_parts();
    // A body that is there does not break off.
    let bytes = body.collect().await.map(Collected::to_bytes);
    let bytes = counted(bytes.unwrap_or_default(), (own, permit));
    Response::from_parts(parts, Either::Left(Full::new(bytes)))
}

fn length(response: &Response<Body>) -> usize {
    match response.body() {
        Either::Left(body) => usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX),
        // A streamed body waits where it is made.
        Either::Right(_) => 0,
    }
}

fn busy() -> Response<Body> {
    response::busy("too many long answers have not been taken yet: try again\n")
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::*;
    use crate::admission::{Admission, MAX_UNREAD_PER_NETWORK};
    use crate::http::response::reply;

    fn answer(length: usize) -> Response<Body> {
        reply(StatusCode::OK, "text/plain", vec![b'x'; length])
    }

    async fn put(
        length: usize,
        own: &ConnectionResponses,
        all: &Arc<SharedLimit<IpAddr>>,
    ) -> Response<Body> {
        let client = [192, 0, 2, 1].into();
        let (response, permit) = count(answer(length), client, all);
        wait(response, permit, own).await
    }

    #[tokio::test]
    async fn responses_are_limited_until_they_are_read() {
        let new = || ConnectionResponses::new(64);
        let (one, other, all) = (new(), new(), SharedLimit::new(100 << 10, 100 << 10));
        let is_free = || all.try_take([192, 0, 2, 9].into(), 100 << 10).is_some();
        let short = put(1_000, &one, &all).await;
        assert!(one.is_empty() && is_free());
        let first = put(64 << 10, &one, &all).await;
        assert!(!one.is_empty() && !is_free());
        let refused = put(64 << 10, &other, &all).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(other.is_empty());
        // The bytes count, wherever they are.
        let bytes = first.into_body().collect().await.unwrap().to_bytes();
        let part = bytes.slice(..10);
        drop(bytes);
        assert!(!one.is_empty());
        drop(part);
        assert!(one.is_empty() && is_free());
        // A response that is longer than the limit takes all permits.
        let long = put(1 << 20, &one, &all).await;
        assert_eq!(long.status(), StatusCode::OK);
        drop((short, long));
    }

    /// 64 answers were made on each connection before the first one was counted.
    #[tokio::test]
    async fn answers_that_are_being_made_count() {
        let own = ConnectionResponses::default();
        let mut working = Vec::new();
        for _ in 0..MAX_WORKING {
            working.push(own.begin().await.unwrap());
        }
        let next = own.begin();
        let mut next = std::pin::pin!(next);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        working.pop();
        assert!(next.as_mut().poll(&mut context).is_ready());
        // A long request alone is no answer that nobody reads.
        assert!(own.is_empty());
    }

    /// One network filled the memory for answers, and everybody else was told to come again.
    #[test]
    fn one_network_leaves_memory_to_others() {
        let all = Admission::default().response_memory;
        let take = |host: u8| count(answer(258_000), [127, 0, 0, host].into(), &all).1;
        let attack: Vec<_> = (2..=6)
            .flat_map(|host| (0..200).map(move |_| host))
            .filter_map(take)
            .collect();
        assert_eq!(attack.len(), 5 * (MAX_UNREAD_PER_NETWORK / 258_000));
        assert!(take(1).is_some());
        assert!(refuse([127, 0, 0, 1].into(), &all).is_none());
        let more: Vec<_> = (0..100)
            .filter_map(|_| count(answer(LONG_RESPONSE), [127, 0, 0, 2].into(), &all).1)
            .collect();
        assert!(refuse([127, 0, 0, 2].into(), &all).is_some());
        drop(more);
    }
}
