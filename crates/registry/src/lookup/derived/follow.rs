//! Following the events, in the background or when a command needs it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use handfast_store::StoreError;

use crate::error::RegistryError;
use crate::lookup::derived::environment::{Position, is_disposable};
use crate::lookup::derived::gather::{Gathered, position_at};
use crate::registry::{Registry, locked};

/// How often the thread looks for new events.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How long the thread pauses after work, as a multiple of the time that the work took: it uses at
/// most a twentieth of one core.
const PAUSE_FACTOR: u32 = 20;
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The background thread that follows the events. It ends when this is dropped.
pub struct EventFollower {
    is_stopped: Arc<AtomicBool>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Registry {
    /// Starts the thread that follows the events. From now on counts and lists never wait for new
    /// events, and say which event they are as of. Errors are passed to a function; the thread
    /// tries again.
    pub fn follow_events(
        self: &Arc<Self>,
        report: impl Fn(&RegistryError) + Send + 'static,
    ) -> io::Result<EventFollower> {
        // The first token that is used would make its request wait for new files.
        drop(self.observed_store());
        let (stop, stopped) = channel();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (registry, is_ending) = (Arc::downgrade(self), Arc::clone(&is_stopped));
        self.derived.is_followed.store(true, Ordering::Release);
        let follow = move || {
            let mut followed = None;
            loop {
                let pause = follow_once(&registry, &mut followed, &is_ending, &report);
                let waited = pause.map(|pause| stopped.recv_timeout(pause));
                if waited != Some(Err(RecvTimeoutError::Timeout)) {
                    break;
                }
            }
            if let Some(registry) = registry.upgrade() {
                registry.derived.is_followed.store(false, Ordering::Release);
            }
        };
        let thread = thread::Builder::new().name("handfast-derived".into());
        let thread = thread.spawn(follow).inspect_err(|_| {
            self.derived.is_followed.store(false, Ordering::Release);
        })?;
        Ok(EventFollower {
            is_stopped,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Brings the derived data up to date, or stops between two snapshots when it is told to.
    pub(crate) fn follow_now(&self, is_stopped: &AtomicBool) -> Result<(), RegistryError> {
        let _following = locked(&self.derived.following);
        match self.follow_to_end(is_stopped) {
            Err(RegistryError::Store(error))
                if is_disposable(&error) && !self.store.is_damaged() =>
            {
                // The derived data itself is damaged: it is rebuilt from the events.
                self.discard_derived()?;
                self.follow_to_end(is_stopped)
            }
            outcome => outcome,
        }
    }

    fn follow_to_end(&self, is_stopped: &AtomicBool) -> Result<(), RegistryError> {
        let mut derived = self.derived_store()?;
        let mut position = derived.read(Position::of)?;
        let known = position.map(|found| self.store.read(|now| position_at(now, found.event)));
        // The data of another log, or of events that are lost.
        if known.transpose()? != position {
            drop(derived);
            derived = self.discard_derived()?;
            position = None;
        }
        let mut at = position.unwrap_or_default();
        let mut gathered = Gathered::after(at);
        loop {
            let is_end = self.read(|view| gathered.read(view))?;
            if is_end || gathered.is_complete() {
                let next = Gathered::after(gathered.at);
                let done = std::mem::replace(&mut gathered, next);
                if done.at != at || position.is_none() {
                    at = done.at;
                    position = Some(at);
                    derived.change(move |now| Ok::<_, StoreError>((done.into_writes(now)?, ())))?;
                }
            }
            if is_end || is_stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
}

/// Follows the events if there are any, and returns how long to pause; `None` if the registry is
/// gone. `followed` is the number of commits at the last time.
#[expect(
    clippy::disallowed_methods,
    reason = "how much of a core the thread uses is about this machine, not about the records"
)]
fn follow_once(
    registry: &Weak<Registry>,
    followed: &mut Option<u64>,
    is_stopped: &AtomicBool,
    report: &dyn Fn(&RegistryError),
) -> Option<Duration> {
    let registry = registry.upgrade()?;
    let commits = registry.store.commits();
    if *followed == Some(commits) {
        return Some(POLL_INTERVAL);
    }
    let start = Instant::now();
    match registry.follow_now(is_stopped) {
        Ok(()) => *followed = Some(commits),
        Err(error) => {
            report(&error);
            return Some(MAX_PAUSE);
        }
    }
    let pause = start.elapsed().saturating_mul(PAUSE_FACTOR);
    Some(pause.clamp(POLL_INTERVAL, MAX_PAUSE))
}

impl Drop for EventFollower {
    /// Waits until the thread has ended.
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for EventFollower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventFollower").finish_non_exhaustive()
    }
}
