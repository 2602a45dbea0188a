//! Imports that nobody waits for: what is sent is kept in a file of the data folder until it has been taken.
//!
//! ```text
//! spool/SOMETHING.part    what is being sent
//! spool/import-N          what job N takes
//! spool/import-N.json     how it takes it, for going on after a restart
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use handfast_registry::{Format, Import, Job, Principal, Refusal, Registry};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::call::{Answer, Call};
use super::problem::Problem;
use crate::web::Web;

/// The folder, in the data folder.
const FOLDER: &str = "spool";
/// The end of the name of what is being sent.
const PART: &str = "part";

/// How an import is gone on with.
#[derive(Serialize, Deserialize)]
struct Manner {
    source: String,
    format: Option<String>,
    authority: Option<String>,
    update: bool,
    migrate: bool,
}

/// How many bodies are kept at once, beside those that jobs take.
const TOGETHER: usize = 4;

/// What was sent, on disk.
pub(super) struct Spooled {
    web: Arc<Web>,
    path: PathBuf,
    size: u64,
    pub(super) digest: [u8; 32],
}

impl Drop for Spooled {
    fn drop(&mut self) {
        // It has another name if a job takes it.
        drop(fs::remove_file(&self.path));
        self.web.api.spooling.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Keeps what is sent. Only so much is: a disk that is full would stop everything else.
pub(super) fn keep(call: &Call, mut input: impl Read) -> Result<Spooled, Problem> {
    let most = call.web.spool_limit;
    let folder = call.registry().folder().join(FOLDER);
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(&folder);
    let name = call.web.new_id();
    let name = name.to_str().unwrap_or("-");
    let spooling = &call.web.api.spooling;
    let mut spooled = Spooled {
        web: Arc::clone(&call.web),
        path: folder.join(format!("{name}.{PART}")),
        size: 0,
        digest: [0; 32],
    };
    if spooling.fetch_add(1, Ordering::Relaxed) >= TOGETHER {
        let message = format!("{TOGETHER} imports are being sent already: come again later");
        return Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            message,
        ));
    }
    let mut options = OpenOptions::new();
    let opened = made.and_then(|()| {
        options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&spooled.path)
    });
    let mut file = opened.map_err(|error| failed(&error))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = input.read(&mut buffer).map_err(|_| {
            Problem::usage("the body did not come to its end; nothing of it was taken")
        })?;
        let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else {
            break;
        };
        spooled.size += u64::try_from(count).unwrap_or(0);
        if spooled.size > most {
            let message = format!("a body that nobody waits for has at most {most} bytes");
            let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message);
            return Err(problem.hint("send it without `Prefer: respond-async`"));
        }
        hash.update(piece);
        file.write_all(piece).map_err(|error| failed(&error))?;
    }
    file.sync_all().map_err(|error| failed(&error))?;
    spooled.digest = hash.finalize().into();
    Ok(spooled)
}

fn failed(error: &io::Error) -> Problem {
    tracing::error!(%error, "what was sent could not be kept");
    let message = "the server cannot keep this now; its log says why";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "failed", message)
}

/// Begins to take what is kept.
pub(super) fn begin(call: &Call, spooled: &Spooled, import: &Import) -> Result<Answer, Problem> {
    let import = Import {
        size: Some(spooled.size),
        ..import.clone()
    };
    let mut file = File::open(&spooled.path).map_err(|error| failed(&error))?;
    let started = call
        .registry()
        .start_import(&call.who, &import, &mut file)?
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
        migrate: import.migrate,
    };
    let manner = serde_json::to_vec(&manner).unwrap_or_default();
    let mut options = OpenOptions::new();
    let kept = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path.with_extension("json"))
        .and_then(|mut file| file.write_all(&manner))
        .and_then(|()| fs::rename(&spooled.path, &path));
    kept.map_err(|error| failed(&error))?;
    take(call, &job, path, move |registry, who| {
        registry.finish_import(who, started, file, &mut |_| ())
    })
}

/// Goes on with an import that was cut short, if what was sent is here still.
pub(super) fn resume(call: &Call, job: &Job) -> Result<Answer, Problem> {
    let gone = || {
        let problem = "what was sent is not here any more: send it again".to_string();
        let code = "no-input";
        Problem::from(Refusal::Policy { code, problem })
    };
    if job.who != call.who {
        let problem = "an import is gone on with by whoever began it".to_string();
        let code = "not-yours";
        return Err(Refusal::Policy { code, problem }.into());
    }
    let path = path(call.registry(), job.number);
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
        migrate: manner.migrate,
        size: file.metadata().map(|about| about.len()).ok(),
        ..Import::default()
    };
    let started = call
        .registry()
        .start_import(&call.who, &import, &mut file)?
        .left_alone();
    let job = started.job().cloned().ok_or_else(gone)?;
    take(call, &job, path, move |registry, who| {
        registry.finish_import(who, started, file, &mut |_| ())
    })
}

fn take(
    call: &Call,
    job: &Job,
    path: PathBuf,
    finish: impl FnOnce(&Registry, &Principal) -> Result<handfast_registry::Imported, Refusal>
    + Send
    + 'static,
) -> Result<Answer, Problem> {
    let answer = Answer::accepted(call, job.clone())?;
    let (web, who, number) = (Arc::clone(&call.web), call.who.clone(), job.number);
    let begun = call.web.api.background.run(move || {
        let taken = finish(web.registry(), &who);
        if let Err(refusal) = &taken
            && refusal.code() != "cancelled"
        {
            tracing::warn!(job = number, error = %refusal, "an import was not finished");
        }
        // What can be gone on with is kept.
        if web
            .registry()
            .job(number)
            .is_ok_and(|job| job.ended.is_some())
        {
            remove(&path);
        }
    });
    begun.map(|()| answer)
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

/// Removes what nobody will take any more: what was not sent to its end, and what jobs have taken that have ended.
pub(super) fn clean(registry: &Registry) {
    let Ok(entries) = fs::read_dir(registry.folder().join(FOLDER)) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().and_then(|name| name.to_str());
        let job = name.and_then(|name| name.strip_prefix("import-")?.parse().ok());
        let is_open = |number| registry.job(number).is_ok_and(|job| job.ended.is_none());
        if path.extension().is_some_and(|end| end == PART) || !job.is_some_and(is_open) {
            drop(fs::remove_file(path));
        }
    }
}
