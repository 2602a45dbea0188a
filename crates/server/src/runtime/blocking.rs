//! Threads for work that waits for the disk or the processor. The server counts the work that
//! waits for a thread: a queue that grows is the first sign of overload.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinHandle;

use crate::admission::expensive_work::{Busy, WorkQueue};
use crate::admission::peer::Peer;
use crate::runtime::counters::Counted;

/// How many threads there are for each core: enough for changes to be written together, and not so
/// many that others get no time on the processor when clients ask for much.
pub(crate) const BLOCKING_THREADS: usize = 16;

/// How many pieces of work wait for a thread, in the whole process.
static WAITING: AtomicU64 = AtomicU64::new(0);

/// Runs work on a thread that may block.
pub(crate) fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    // Until the work begins, or is given up.
    let waiting = Counted::new(&WAITING);
    tokio::task::spawn_blocking(move || {
        drop(waiting);
        work()
    })
}

/// Why work was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkError {
    /// There was too much of it: the client should try again later.
    Busy,
    /// It panicked.
    Failed,
}

/// Runs work for a client on a thread that may block, when it is the turn of the client's network.
/// A client that goes before leaves the queue.
pub(crate) async fn run<T: Send + 'static>(
    queue: &WorkQueue,
    client: IpAddr,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkError> {
    let permit = queue.enter(Peer::connected(client)).await;
    let permit = permit.map_err(|Busy| WorkError::Busy)?;
    let working = spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    working.await.map_err(|_| WorkError::Failed)
}

/// How many pieces of work wait for a thread.
pub(crate) fn queue_length() -> u64 {
    WAITING.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Guards against a queue that looks empty while work waits.
    #[test]
    fn work_that_waits_for_a_thread_is_counted() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (go, wait) = channel::<()>();
            let (begun, begins) = channel::<()>();
            let first = spawn_blocking(move || {
                begun.send(()).unwrap();
                let _ = wait.recv();
            });
            begins.recv().unwrap();
            let others: Vec<_> = (0..3).map(|_| spawn_blocking(|| ())).collect();
            // Other tests of this process may have work waiting, too.
            assert!(queue_length() >= 3);
            drop(go);
            first.await.unwrap();
            for other in others {
                other.await.unwrap();
            }
        });
    }
}
