//! Work that nobody waits for.
//!
//! The server answers a client that says `Prefer: respond-async` (RFC 7240) as soon as a job has
//! begun; the client looks it up later. Two workers do such jobs one after the other, and the
//! number of jobs that wait for them is bounded. A job that waits when the server ends is
//! interrupted, and can be resumed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use handfast_registry::Job;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName};

use super::call::{Answer, Call};
use super::convert;
use super::problem::Problem;

use crate::runtime::lock::Lock;

/// What is done later.
type Work = Box<dyn FnOnce() + Send>;

/// Those who do it.
#[derive(Default)]
pub(super) struct Background(OnceLock<Option<SyncSender<Work>>>);

/// How many jobs are done at once.
const WORKERS: usize = 2;
/// How many jobs wait for a worker.
const WAITING: usize = 16;
pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
const APPLIED: HeaderName = HeaderName::from_static("preference-applied");

impl Background {
    /// Has something done as soon as a worker is free.
    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Problem> {
        let failed = || Problem::failed("the server has no thread for this; its log says why");
        let workers = self.0.get_or_init(start).as_ref().ok_or_else(failed)?;
        workers
            .try_send(Box::new(work))
            .map_err(|error| match error {
                TrySendError::Full(_) => {
                    Problem::busy(format!("{WAITING} jobs wait already: come again later"))
                }
                TrySendError::Disconnected(_) => failed(),
            })
    }
}

fn start() -> Option<SyncSender<Work>> {
    let (give, take) = sync_channel(WAITING);
    let take = Arc::new(Lock::new(take));
    for _ in 0..WORKERS {
        let take = Arc::clone(&take);
        let worker = thread::Builder::new().name("handfast-job".into());
        if let Err(error) = worker.spawn(move || work(&take)) {
            tracing::error!(%error, "no thread for jobs");
            return None;
        }
    }
    Some(give)
}

fn work(take: &Lock<Receiver<Work>>) {
    loop {
        let Ok(work) = take.lock().recv() else {
            return;
        };
        // What goes wrong with one concerns no other.
        drop(catch_unwind(AssertUnwindSafe(work)));
    }
}

/// RFC 7240 §4.1: "The 'respond-async' preference indicates that the client prefers the server to
/// respond asynchronously to a response."
pub(super) fn is_preferred(headers: &HeaderMap) -> bool {
    let said = headers.get_all(PREFER).iter();
    let texts = said.filter_map(|value| value.to_str().ok());
    let mut preferences = texts.flat_map(|text| text.split(','));
    preferences.any(|preference| {
        let name = preference.split(';').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("respond-async")
    })
}

impl Answer {
    /// A job has begun.
    pub(super) fn accepted(call: &Call, job: Job) -> Result<Self, Problem> {
        let (job, progress) = call.registry().with_progress(job)?;
        let answer = Self::json(&convert::job(&job, progress));
        let answer = answer.created("jobs", &job.number.to_string());
        let answer = answer.status(StatusCode::ACCEPTED);
        Ok(answer.with(APPLIED, "respond-async"))
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn a_preference_is_found_among_others() {
        for (said, is_meant) in [
            ("respond-async", true),
            ("wait=10, Respond-Async", true),
            ("return=minimal; respond-async", false),
            ("respond-async; x=y", true),
            ("respond", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(PREFER, HeaderValue::from_static("handling=lenient"));
            headers.append(PREFER, HeaderValue::from_static(said));
            assert_eq!(is_preferred(&headers), is_meant, "{said}");
        }
    }

    #[test]
    fn only_so_much_waits() {
        let background = Background::default();
        let (go, wait) = sync_channel::<()>(0);
        let wait = Arc::new(Lock::new(wait));
        let mut taken = 0;
        let refused = loop {
            let wait = Arc::clone(&wait);
            let blocked = background.run(move || wait.lock().recv().unwrap_or_default());
            match blocked {
                Ok(()) => taken += 1,
                Err(problem) => break problem,
            }
        };
        assert_eq!(refused.about.code, "busy");
        assert!((WAITING..=WAITING + WORKERS).contains(&taken));
        drop(go);
    }
}
