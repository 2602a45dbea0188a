//! Readiness: whether the server can read and write its store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use handfast_registry::{Registry, RegistryError};
use tokio::sync::{Mutex, oneshot};
use tokio::time::{Instant, timeout};

/// How long an answer is given again. The question is open to everybody, and costs the writer
/// something.
const CACHE_TIME: Duration = Duration::from_secs(1);
/// How long the writer may take to answer before it counts as busy.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The outcome of the last check.
#[derive(Default)]
pub(crate) struct Readiness {
    /// Held while the writer is asked, so that it is asked once for all who come meanwhile.
    last: Mutex<Option<(Instant, Result<(), String>)>>,
    /// Whether the writer has not answered the last question.
    is_asking: Arc<AtomicBool>,
}

impl Readiness {
    /// Whether the store can be read and written; if not, why.
    pub(crate) async fn ask(&self, registry: &Registry) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if let Some((at, found)) = &*last
            && at.elapsed() < CACHE_TIME
        {
            return found.clone();
        }
        let found = self.look(registry).await;
        if let Err(problem) = &found {
            tracing::error!(problem, "the server is not ready");
        }
        *last = Some((Instant::now(), found.clone()));
        found
    }

    async fn look(&self, registry: &Registry) -> Result<(), String> {
        let read = registry.statistics();
        // A request may have met damage, or the read above. It stays so until the folder has been
        // restored: nobody knows which answers are still right.
        if registry.is_store_damaged() {
            return Err(DAMAGED.to_string());
        }
        if let Err(error) = read {
            return Err(format!("the store cannot be read: {error}"));
        }
        let answered = if self.is_asking.swap(true, Ordering::Relaxed) {
            None
        } else {
            let (answer, answered) = oneshot::channel();
            let is_asking = Arc::clone(&self.is_asking);
            registry.probe_store(move |outcome| {
                is_asking.store(false, Ordering::Relaxed);
                // The caller may have stopped waiting.
                drop(answer.send(outcome));
            });
            timeout(PROBE_TIMEOUT, answered).await.ok()
        };
        let problem = match answered {
            Some(Ok(Ok(()))) => return Ok(()),
            Some(Ok(Err(error))) => told(&error),
            Some(Err(_)) => "the writer has ended".to_string(),
            // A large import may take the writer some seconds: then changes wait, and are made.
            None if !registry.is_writer_stuck() => return Ok(()),
            None => "the writer does not come to an end with a change".to_string(),
        };
        Err(format!("the store cannot be written: {problem}"))
    }
}

/// Whether the last write to the store succeeded. Reading this never waits.
pub(crate) fn is_writable(registry: &Registry) -> bool {
    let has_space = registry
        .disk_space()
        .is_none_or(handfast_registry::DiskSpace::is_enough);
    has_space
        && !registry.is_store_damaged()
        && registry.last_store_failure().is_none()
        && !registry.is_writer_stuck()
}

/// What is damaged may be the name of something that not everybody may see: the log and `check` say
/// it.
const DAMAGED: &str = "the store is damaged: stop the server and restore the data folder from a \
    backup (`handfast check` says what is damaged)";

/// An error for people who may not see where the store is.
fn told(error: &RegistryError) -> String {
    match error {
        RegistryError::Store(handfast_registry::StoreError::Io { source, .. }) => {
            source.to_string()
        }
        other => other.to_string(),
    }
}
