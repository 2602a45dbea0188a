//! `/api/v1/jobs`: changing many names at once, and looking after that.

use std::sync::Arc;

use handfast_registry::{
    BulkChanged, Done, Job, JobKind, Outcome, Principal, Registry, RegistryError, StartedJob, json,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::background::is_preferred;
use super::call::{Answer, Call};
use super::problem::Problem;
use super::spool;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Given {
    ReplaceUrl {
        authority: String,
        from: String,
        to: String,
        /// Whether only the host is meant.
        #[serde(default)]
        host: bool,
    },
    SetTtl {
        authority: String,
        seconds: u32,
        #[serde(rename = "type")]
        value_type: Option<String>,
    },
    Undo {
        job: u64,
    },
    Withdraw {
        names: Vec<String>,
        reason: String,
    },
}

/// What is to be done.
enum Wanted {
    Kind(JobKind),
    Resume(u64),
    Withdrawal { names: Vec<String>, reason: String },
}

/// How many outcomes are told.
pub(super) const MOST_TOLD: usize = 10_000;

/// A list of names of more bytes than these is a long one.
const LONG_LIST: usize = 64 << 10;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let (limit, after) = (call.limit()?, call.number("after")?.unwrap_or(0));
    let page = call.registry().jobs_page(&call.who, after, limit)?;
    let next = page.next.map(|next| next.to_string());
    let page = page.jobs.into_iter().map(|job| shown(call, job));
    let page = page.collect::<Result<Vec<_>, _>>()?;
    Ok(Answer::json(json!({"jobs": page, "next": next})))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    Ok(Answer::json(shown(call, find(call)?)?))
}

fn shown(call: &Call, job: Job) -> Result<Json, Problem> {
    let (job, progress) = call.registry().with_progress(job)?;
    Ok(json::job(&job, progress))
}

/// A job that someone may see: what someone does with many names is theirs, and for those who may do everything.
fn find(call: &Call) -> Result<Job, Problem> {
    let number = call.id().parse().ok();
    let number: u64 = number.ok_or_else(|| Problem::usage("a job has a number"))?;
    Ok(call.registry().job_of(&call.who, number)?)
}

/// What it has refused.
pub(super) fn outcomes(call: &Call) -> Result<Answer, Problem> {
    let (limit, after) = (call.limit()?, call.number("after")?.unwrap_or(0));
    let job = find(call)?;
    let found = call.registry().job_errors(job.number, after, limit)?;
    let next = found.last().map(|(number, _)| number.to_string());
    let next = next.filter(|_| found.len() == limit);
    let page: Vec<Json> = found
        .iter()
        .map(|(_, outcome)| json::outcome(outcome))
        .collect();
    Ok(Answer::json(json!({"outcomes": page, "next": next})))
}

/// Stops it at its next batch.
pub(super) fn cancel(call: &Call) -> Result<Answer, Problem> {
    let job = find(call)?;
    let job = call.registry().cancel_job(&call.who, job.number)?;
    spool::forget(call.registry(), &job);
    Ok(Answer::json(shown(call, job)?))
}

pub(super) fn undo(call: &Call) -> Result<Answer, Problem> {
    let job = find(call)?.number;
    run(call, Wanted::Kind(JobKind::Undo { job }))
}

pub(super) fn resume(call: &Call) -> Result<Answer, Problem> {
    let job = find(call)?;
    match job.kind {
        JobKind::Import { .. } if job.ended.is_none() => spool::resume(call, &job),
        _ => run(call, Wanted::Resume(job.number)),
    }
}

/// Runs to its end before it is answered, unless the client does not wait.
pub(super) fn start(call: &Call) -> Result<Answer, Problem> {
    // A long list takes memory and a thread while it is looked at: an account has few of them at a time.
    let is_long = call.body.len() > LONG_LIST;
    let open = is_long.then(|| call.web.api.streams.enter(call.who.to_string()));
    let _open = open.transpose()?;
    let wanted = match call.read()? {
        Given::Withdraw { names, reason } => Wanted::Withdrawal { names, reason },
        Given::ReplaceUrl { from, to, .. } if from.is_empty() || to.is_empty() => {
            return Err(Problem::usage("say both what is there and what is to be"));
        }
        Given::ReplaceUrl {
            authority,
            from,
            to,
            host,
        } => Wanted::Kind(JobKind::ReplaceUrl {
            authority,
            from,
            to,
            is_host: host,
        }),
        Given::SetTtl {
            authority,
            seconds,
            value_type,
        } => Wanted::Kind(JobKind::SetTtl {
            authority,
            value_type,
            seconds,
        }),
        Given::Undo { job } => Wanted::Kind(JobKind::Undo { job }),
    };
    run(call, wanted)
}

impl Wanted {
    fn start(self, registry: &Registry, who: &Principal) -> Result<StartedJob, RegistryError> {
        match self {
            Self::Kind(kind) => registry.start_job(who, kind),
            Self::Resume(number) => registry.resume_job(who, number),
            Self::Withdrawal { names, reason } => registry.start_withdrawal(who, &names, &reason),
        }
    }

    fn plan(
        self,
        registry: &Registry,
        who: &Principal,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, RegistryError> {
        match self {
            Self::Kind(kind) => registry.run_job(who, kind, true, report),
            Self::Resume(number) => {
                let job = registry.job(number)?;
                job.check_unfinished()?;
                registry.run_job(who, job.kind, true, report)
            }
            Self::Withdrawal { names, reason } => {
                registry.withdraw_all(who, &names, &reason, true, report)
            }
        }
    }
}

fn run(call: &Call, wanted: Wanted) -> Result<Answer, Problem> {
    let dry_run = call.flag("dry-run")?;
    let (registry, who) = (call.registry(), &call.who);
    if !dry_run && is_preferred(&call.headers) {
        let started = wanted.start(registry, who)?.left_alone();
        let answer = Answer::accepted(call, started.job().clone())?;
        let (web, who) = (Arc::clone(&call.web), who.clone());
        call.web.api.background.run(move || {
            let number = started.job().number;
            let done = web.registry().finish_job(&who, started, &mut |_| ());
            if let Err(refusal) = done {
                tracing::warn!(job = number, error = %refusal, "a job was not finished");
            }
        })?;
        return Ok(answer);
    }
    let (mut told, mut untold) = (Vec::new(), 0_u64);
    let mut report = |outcome: &Outcome| {
        let is_told = match outcome.done {
            Done::Refused { .. } => true,
            Done::Unchanged => false,
            Done::Changed(_) | Done::Created(_) => dry_run,
        };
        if is_told && told.len() < MOST_TOLD {
            told.push(json::outcome(outcome));
        } else if is_told {
            untold += 1;
        }
    };
    let done = if dry_run {
        wanted.plan(registry, who, &mut report)?
    } else {
        let started = wanted.start(registry, who)?;
        registry.finish_job(who, started, &mut report)?
    };
    let mut body = match &done.job {
        Some(job) => json::job(job, None),
        None => json!({
            "dry-run": true,
            "changed": done.counts.changed,
            "unchanged": done.counts.unchanged,
            "refused": done.counts.refused,
        }),
    };
    if let Json::Object(body) = &mut body {
        if done.stay > 0 {
            body.insert("stay".into(), done.stay.into());
        }
        body.insert("outcomes".into(), told.into());
        body.insert("untold".into(), untold.into());
    }
    Ok(Answer::json(body))
}
