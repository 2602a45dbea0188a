//! Taking connections: not too many, and each on its own.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How many connections a door has open at most; others wait.
const MOST: usize = 10_000;

/// Takes connections, and has each of them conversed with until it ends.
pub(crate) async fn accept<C, F>(listener: TcpListener, converse: C)
where
    C: Fn(TcpStream) -> F,
    F: Future + Send + 'static,
    F::Output: Send,
{
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let conversation = converse(stream);
                tokio::spawn(async move {
                    // What goes wrong with one connection concerns nobody else.
                    drop(conversation.await);
                    drop(place);
                });
            }
            Err(error) => {
                // Too many files are open, or the connection has gone: others will come.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}
