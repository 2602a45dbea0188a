//! TLS handshakes, which sign on the thread that serves the connection.
//!
//! A signature with an RSA key of 2,048 bits takes 0.4 milliseconds of a processor, with 4,096 bits
//! 5, and costs the client nothing. A client that opens many connections would keep the thread
//! busy, with everybody else on it. So each step of a handshake takes a permit, for which networks
//! take turns; no permit is held while the server waits for the client.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;

use crate::admission::expensive_work::{Busy, WorkQueue};
use crate::admission::peer::Peer;

/// Does a handshake, step by step.
pub(crate) async fn shake_hands<S>(
    queue: &WorkQueue,
    peer: Peer,
    accept: impl Future<Output = io::Result<S>>,
) -> io::Result<S> {
    let mut accept = pin!(accept);
    loop {
        let permit = queue.enter(peer).await;
        let permit = permit.map_err(|Busy| io::Error::from(io::ErrorKind::TimedOut))?;
        let step = poll_fn(|context| Poll::Ready(accept.as_mut().poll(context))).await;
        drop(permit);
        if let Poll::Ready(done) = step {
            return done;
        }
        woken().await;
    }
}

/// Waits until something wakes the task: the step that came before has said what it waits for.
async fn woken() {
    let mut is_first = true;
    poll_fn(|_| {
        if std::mem::replace(&mut is_first, false) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::admission::expensive_work::ExpensiveWork;

    /// Handshakes were done as their clients sent them, however many a network sent.
    #[tokio::test]
    async fn steps_take_permits_and_the_time_between_takes_none() {
        let queue = ExpensiveWork::default().handshakes;
        let peer = Peer::connected([192, 0, 2, 1].into());
        let (steps, client) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let accept = {
            let (steps, client) = (Arc::clone(&steps), Arc::clone(&client));
            async move {
                steps.fetch_add(1, Ordering::Relaxed);
                client.notified().await;
                steps.fetch_add(1, Ordering::Relaxed);
                Ok(7)
            }
        };
        // As long as others have all permits, nothing is done.
        let mut permits = Vec::new();
        while let Ok(permit) = queue.try_enter() {
            permits.push(permit);
        }
        let shaking = tokio::spawn({
            let queue = queue.clone();
            async move { shake_hands(&queue, peer, accept).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(steps.load(Ordering::Relaxed), 0);
        // While the client is waited for, all permits are there.
        let all = permits.len();
        drop(permits);
        while steps.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        let mut permits = Vec::new();
        while permits.len() < all {
            match queue.try_enter() {
                Ok(permit) => permits.push(permit),
                Err(Busy) => tokio::task::yield_now().await,
            }
        }
        client.notify_one();
        tokio::task::yield_now().await;
        assert_eq!(steps.load(Ordering::Relaxed), 1);
        drop(permits);
        assert_eq!(shaking.await.unwrap().unwrap(), 7);
        assert_eq!(steps.load(Ordering::Relaxed), 2);
    }
}
