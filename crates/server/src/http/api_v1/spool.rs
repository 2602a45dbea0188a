//! The bodies of imports: each is received into a file of the data folder, and taken from there.
//!
//! ```text
//! spool/SOMETHING.part    what is being sent, or taken while the client waits
//! spool/import-N          what job N takes
//! spool/import-N.json     how it takes it, for going on after a restart
//! ```

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use handfast_registry::{Format, Import, Job, Principal, Registry, StartedImport, sync_name};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};

use super::Api;
use super::call::{Answer, Call};
use super::problem::Problem;
use crate::http::connection::request_body::Incoming;
use crate::runtime::lock::Lock;

/// The folder, in the data folder.
const FOLDER: &str = "spool";
/// The end of the name of what is being sent.
const PART: &str = "part";

/// How an import is resumed.
#[derive(Serialize, Deserialize)]
struct Manner {
    source: String,
    format: Option<String>,
    authority: Option<String>,
    update: bool,
    /// Updates of earlier versions, which do not say this, replace all values.
    #[serde(default = "replaces")]
    replace: bool,
    migrate: bool,
}

fn replaces() -> bool {
    true
}

/// How many times the bytes of one account all accounts together may have.
const ALL_ACCOUNTS: u64 = 4;
/// How many bytes of a body have to come within the time that clients have, so that an upload
/// ends.
const MIN_BYTES_IN_TIME: usize = 16 << 10;

/// How many bytes of bodies are in files that no job has taken, by account.
#[derive(Default)]
pub(super) struct Spooling(Lock<HashMap<String, u64>>);

/// A body that was received, in a file. The file goes with this, unless a job has taken it.
pub(super) struct Spooled {
    api: Arc<Api>,
    account: String,
    path: PathBuf,
    pub(super) size: u64,
    pub(super) digest: [u8; 32],
}

impl Drop for Spooled {
    fn drop(&mut self) {
        // It has another name if a job takes it.
        drop(fs::remove_file(&self.path));
        let mut counted = self.api.spooling.0.lock();
        match counted.get_mut(&self.account) {
            Some(bytes) if *bytes > self.size => *bytes -= self.size,
            _ => drop(counted.remove(&self.account)),
        }
    }
}

impl Spooled {
    /// What was received.
    pub(super) fn open(&self) -> Result<File, Problem> {
        File::open(&self.path).map_err(|error| failed(&error))
    }

    /// Counts bytes before they are written.
    fn grow(&mut self, bytes: u64, waiting: &Waiting) -> Result<(), Problem> {
        let limit = self.api.settings.spool_limit;
        let mut counted = self.api.spooling.0.lock();
        let all = counted.values().sum::<u64>() + bytes + waiting.all;
        let own = counted.entry(self.account.clone()).or_default();
        if *own + bytes + waiting.own > limit {
            let message = format!(
                "imports of one account that are on their way, or wait, have at most {limit} bytes"
            );
            let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message);
            return Err(problem.hint(
                "send it in parts, or import it on the machine of the server; `spool-limit` in \
                 handfast.toml sets this",
            ));
        }
        if all > limit.saturating_mul(ALL_ACCOUNTS) {
            let message = "the imports of others take all the room for imports: come again later";
            return Err(Problem::busy(message));
        }
        *own += bytes;
        self.size += bytes;
        Ok(())
    }
}

/// How many bytes wait in files of jobs: of one account, and of all.
struct Waiting {
    own: u64,
    all: u64,
}

impl Waiting {
    fn now(registry: &Registry, who: &Principal) -> Self {
        let mut waiting = Self { own: 0, all: 0 };
        for (path, job) in files(registry) {
            let (Some(job), Ok(about)) = (job, path.metadata()) else {
                continue;
            };
            waiting.all += about.len();
            if registry.job(job).is_ok_and(|job| job.who == *who) {
                waiting.own += about.len();
            }
        }
        waiting
    }
}

/// Receives the whole body of an import into a file before reading any of it: an import blocks all
/// others, so it must not wait for a network. The length of the body and its rate are bounded.
pub(super) fn receive(call: &Call, body: Incoming) -> Result<Spooled, Problem> {
    call.registry().may_import(&call.who)?;
    let folder = call.registry().folder().join(FOLDER);
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(&folder);
    let name = call.api.spool_files.fetch_add(1, Ordering::Relaxed);
    let mut spooled = Spooled {
        api: Arc::clone(&call.api),
        account: call.who.to_string(),
        path: folder.join(format!("{name}.{PART}")),
        size: 0,
        digest: [0; 32],
    };
    let waiting = Waiting::now(call.registry(), &call.who);
    let opened = made.and_then(|()| private_file().create_new(true).open(&spooled.path));
    let mut file = opened.map_err(|error| failed(&error))?;
    let mut hash = Sha256::new();
    let mut body = SteadyBody::new(body, call.api.settings.client_timeout);
    while let Some(piece) = body.next()? {
        spooled.grow(u64::try_from(piece.len()).unwrap_or(u64::MAX), &waiting)?;
        hash.update(&piece);
        file.write_all(&piece).map_err(|error| failed(&error))?;
    }
    spooled.digest = hash.finalize().into();
    Ok(spooled)
}

/// A body that has to come at a least rate, read by a thread that may wait.
struct SteadyBody {
    body: Incoming,
    runtime: Handle,
    /// How long the next bytes may take.
    time: Duration,
    until: Instant,
    /// How many have come since that began.
    come: usize,
}

impl SteadyBody {
    fn new(body: Incoming, time: Duration) -> Self {
        Self {
            body,
            runtime: Handle::current(),
            time,
            until: Instant::now() + time,
            come: 0,
        }
    }

    /// The next bytes; `None` at the end.
    fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let body = &mut self.body;
        let until = self.until;
        let frame = self
            .runtime
            .block_on(async { timeout_at(until, body.frame()).await });
        let frame = frame.map_err(|_| {
            let message = format!(
                "the body comes too slowly: {MIN_BYTES_IN_TIME} bytes in {} seconds are the least",
                self.time.as_secs()
            );
            Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", message)
                .hint("nothing of it was taken: send it again")
        })?;
        let Some(frame) = frame else {
            return Ok(None);
        };
        let broken =
            |_| Problem::usage("the body did not come to its end; nothing of it was taken");
        let piece = frame.map_err(broken)?.into_data().unwrap_or_default();
        self.come += piece.len();
        if self.come >= MIN_BYTES_IN_TIME {
            self.come = 0;
            self.until = Instant::now() + self.time;
        }
        Ok(Some(piece))
    }
}

/// A file that only the user of the server can read.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn failed(error: &io::Error) -> Problem {
    tracing::error!(%error, "what was sent could not be kept");
    Problem::failed("the server cannot keep this now; its log says why")
}

/// Begins an import of a received body.
pub(super) fn begin(call: &Call, spooled: &Spooled, import: &Import) -> Result<Answer, Problem> {
    let mut file = spooled.open()?;
    // A job that is begun is on disk, and what it takes must be, too.
    file.sync_all().map_err(|error| failed(&error))?;
    let started = call
        .registry()
        .start_import(&call.who, import, &mut file)?
        .left_alone();
    let Some(job) = started.job().cloned() else {
        return Err(Problem::usage("there is nothing to import"));
    };
    let path = path(call.registry(), job.number);
    let manner = Manner {
        source: import.source.clone(),
        format: import.format.map(|format| format.as_str().to_string()),
        authority: import.authority.clone(),
        update: import.update,
        replace: import.replace,
        migrate: import.migrate,
    };
    let manner = serde_json::to_vec(&manner).unwrap_or_default();
    let stored = private_file()
        .create(true)
        .truncate(true)
        .open(path.with_extension("json"))
        .and_then(|mut file| {
            file.write_all(&manner)?;
            file.sync_all()?;
            fs::rename(&spooled.path, &path)?;
            // The names of both files, and of the folder, which may be new.
            sync_name(&path)?;
            sync_name(&call.registry().folder().join(FOLDER))
        });
    stored.map_err(|error| failed(&error))?;
    take(&call.api, &call.who, &job, path, started, file)?;
    Answer::accepted(call, job)
}

/// Resumes an import that was interrupted, if its body is still stored.
pub(super) fn resume(api: &Arc<Api>, who: &Principal, job: &Job) -> Result<Job, Problem> {
    let gone = || {
        Problem::policy(
            "no-input",
            "what was sent is not here any more: send it again",
        )
    };
    if job.who != *who {
        let problem = "only the account that began an import can resume it";
        return Err(Problem::policy("not-yours", problem));
    }
    let path = path(api.registry(), job.number);
    let manner = fs::read(path.with_extension("json")).map_err(|_| gone())?;
    let manner: Manner = serde_json::from_slice(&manner).map_err(|_| gone())?;
    let mut file = File::open(&path).map_err(|_| gone())?;
    let format = manner.format.as_deref();
    let import = Import {
        source: manner.source,
        format: Format::ALL
            .into_iter()
            .find(|of| Some(of.as_str()) == format),
        authority: manner.authority,
        update: manner.update,
        replace: manner.replace,
        migrate: manner.migrate,
        size: file.metadata().map(|about| about.len()).ok(),
        ..Import::default()
    };
    let started = api
        .registry()
        .start_import(who, &import, &mut file)?
        .left_alone();
    let job = started.job().cloned().ok_or_else(gone)?;
    take(api, who, &job, path, started, file)?;
    Ok(job)
}

fn take(
    api: &Arc<Api>,
    who: &Principal,
    job: &Job,
    path: PathBuf,
    started: StartedImport,
    file: File,
) -> Result<(), Problem> {
    let (at_work, who, number) = (Arc::clone(api), who.clone(), job.number);
    api.background.run(move || {
        let registry = at_work.registry();
        let taken = registry.finish_import(&who, started, file, &mut |_| ());
        if let Err(error) = &taken
            && error.code() != "cancelled"
        {
            tracing::warn!(job = number, %error, "an import was not finished");
        }
        // The body of an import that can be resumed stays.
        if registry.job(number).is_ok_and(|job| job.ended.is_some()) {
            remove(&path);
        }
    })
}

fn path(registry: &Registry, job: u64) -> PathBuf {
    registry.folder().join(FOLDER).join(format!("import-{job}"))
}

/// Removes what was sent for a job that nobody will go on with.
pub(super) fn forget(registry: &Registry, job: &Job) {
    if job.ended.is_some() {
        remove(&path(registry, job.number));
    }
}

fn remove(path: &Path) {
    drop(fs::remove_file(path));
    drop(fs::remove_file(path.with_extension("json")));
}

/// The files of the folder, each with the job that it is for.
fn files(registry: &Registry) -> impl Iterator<Item = (PathBuf, Option<u64>)> {
    let entries = fs::read_dir(registry.folder().join(FOLDER));
    entries.into_iter().flatten().flatten().map(|entry| {
        let path = entry.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let job = name.and_then(|name| name.strip_prefix("import-")?.parse().ok());
        (path, job)
    })
}

/// Removes bodies that no job will read: those not received completely, and those of jobs that
/// have ended.
pub(super) fn clean(registry: &Registry) {
    for (path, job) in files(registry) {
        let is_open = |number| registry.job(number).is_ok_and(|job| job.ended.is_none());
        if path.extension().is_some_and(|end| end == PART) || !job.is_some_and(is_open) {
            drop(fs::remove_file(path));
        }
    }
}
