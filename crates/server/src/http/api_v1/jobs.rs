//! `/api/v1/jobs`: changing many names at once, and looking after that.

use std::sync::Arc;

use handfast_api::{self as api, NewJob, limits};
use handfast_registry::{
    BulkChanged, Done, Job, JobKind, Outcome, Principal, Registry, RegistryError, StartedJob,
};

use super::Api;
use super::background::is_preferred;
use super::call::{Answer, Call};
use super::convert;
use super::problem::Problem;
use super::spool;

/// What is to be done.
pub(crate) enum Wanted {
    Kind(JobKind),
    Resume(u64),
    Withdrawal { names: Vec<String>, reason: String },
}

/// A list of names of more bytes than these is a long one.
const LONG_LIST: usize = 64 << 10;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let (limit, after) = (call.limit()?, call.number("after")?.unwrap_or(0));
    let page = call.registry().jobs_page(&call.who, after, limit)?;
    let next = page.next.map(|next| next.to_string());
    let jobs = page.jobs.into_iter().map(|job| shown(call, job));
    let jobs = jobs.collect::<Result<Vec<_>, _>>()?;
    Ok(Answer::json(&api::JobPage { jobs, next }))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    Ok(Answer::json(&shown(call, find(call)?)?))
}

fn shown(call: &Call, job: Job) -> Result<api::Job, Problem> {
    let (job, progress) = call.registry().with_progress(job)?;
    Ok(convert::job(&job, progress))
}

/// A job that someone may see: what someone does with many names is theirs, and for those who may
/// do everything.
fn find(call: &Call) -> Result<Job, Problem> {
    let number = call.id().parse().ok();
    let number: u64 = number.ok_or_else(|| Problem::usage("a job has a number"))?;
    if call.is_local {
        // The operator sees all, also what is tried as somebody else.
        return Ok(call.registry().job(number)?);
    }
    Ok(call.registry().job_of(&call.who, number)?)
}

/// What it has refused.
pub(super) fn outcomes(call: &Call) -> Result<Answer, Problem> {
    let (limit, after) = (call.limit()?, call.number("after")?.unwrap_or(0));
    let job = find(call)?;
    let found = call.registry().job_errors(job.number, after, limit)?;
    let next = found.last().map(|(number, _)| number.to_string());
    let next = next.filter(|_| found.len() == limit);
    let outcomes = found.iter().map(|(_, outcome)| convert::outcome(outcome));
    Ok(Answer::json(&api::OutcomePage {
        next,
        outcomes: outcomes.collect(),
    }))
}

/// Stops it at its next batch.
pub(super) fn cancel(call: &Call) -> Result<Answer, Problem> {
    let job = find(call)?;
    let job = stop(call.registry(), &call.who, job.number)?;
    Ok(Answer::json(&shown(call, job)?))
}

pub(super) fn undo(call: &Call) -> Result<Wanted, Problem> {
    let job = find(call)?.number;
    Ok(Wanted::Kind(JobKind::Undo { job }))
}

pub(super) fn resume(call: &Call) -> Result<Wanted, Problem> {
    Ok(Wanted::Resume(find(call)?.number))
}

pub(super) fn start(call: &Call) -> Result<Wanted, Problem> {
    Ok(match call.read()? {
        NewJob::Withdraw { names, reason } => Wanted::Withdrawal { names, reason },
        NewJob::ReplaceUrl { from, to, .. } if from.is_empty() || to.is_empty() => {
            return Err(Problem::usage("say both what is there and what is to be"));
        }
        NewJob::ReplaceUrl {
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
        NewJob::SetTtl {
            authority,
            seconds,
            value_type,
        } => Wanted::Kind(JobKind::SetTtl {
            authority,
            value_type,
            seconds,
        }),
        NewJob::Undo { job } => Wanted::Kind(JobKind::Undo { job }),
    })
}

impl Wanted {
    fn start(self, registry: &Registry, who: &Principal) -> Result<StartedJob, RegistryError> {
        match self {
            Self::Kind(kind) => registry.start_job(who, kind),
            Self::Resume(number) => registry.resume_job(who, number),
            Self::Withdrawal { names, reason } => registry.start_withdrawal(who, &names, &reason),
        }
    }

    /// Does it, or in a dry run says what would be done.
    pub(super) fn run(
        self,
        registry: &Registry,
        who: &Principal,
        dry_run: bool,
        report: &mut dyn FnMut(&Outcome),
    ) -> Result<BulkChanged, RegistryError> {
        if dry_run {
            return self.plan(registry, who, report);
        }
        let started = self.start(registry, who)?;
        registry.finish_job(who, started, report)
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

/// Starts a job, and lets a worker run it: nobody waits for it.
pub(crate) fn begin(api: &Arc<Api>, who: &Principal, wanted: Wanted) -> Result<Job, Problem> {
    let registry = api.registry();
    if let Wanted::Resume(number) = wanted {
        let job = registry.job_of(who, number)?;
        if matches!(job.kind, JobKind::Import { .. }) && job.ended.is_none() {
            return spool::resume(api, who, &job);
        }
    }
    let started = wanted.start(registry, who)?.left_alone();
    let job = started.job().clone();
    let (at_work, who) = (Arc::clone(api), who.clone());
    api.background.run(move || {
        let number = started.job().number;
        let done = at_work.registry().finish_job(&who, started, &mut |_| ());
        if let Err(error) = done {
            tracing::warn!(job = number, %error, "a job was not finished");
        }
    })?;
    Ok(job)
}

/// Stops a job at its next batch.
pub(crate) fn stop(registry: &Registry, who: &Principal, number: u64) -> Result<Job, Problem> {
    let job = registry.cancel_job(who, number)?;
    spool::forget(registry, &job);
    Ok(job)
}

/// Runs to its end before it is answered, unless the client does not wait.
pub(super) fn run(call: &Call, wanted: Wanted) -> Result<Answer, Problem> {
    let dry_run = call.flag("dry-run")?;
    let (registry, who) = (call.registry(), &call.who);
    if let Wanted::Resume(number) = wanted {
        let job = registry.job(number)?;
        if matches!(job.kind, JobKind::Import { .. }) && job.ended.is_none() {
            return Answer::accepted(call, spool::resume(&call.api, who, &job)?);
        }
    }
    // A long list takes memory and a thread while it is looked at: an account has few of them at a
    // time.
    let is_long = call.body.len() > LONG_LIST;
    let _open = is_long.then(|| call.enter_stream()).transpose()?;
    if !dry_run && is_preferred(&call.headers) {
        return Answer::accepted(call, begin(&call.api, who, wanted)?);
    }
    let (mut outcomes, mut untold) = (Vec::new(), 0);
    let mut report = |outcome: &Outcome| {
        let is_listed = is_listed(outcome, dry_run);
        if is_listed && outcomes.len() < limits::OUTCOMES {
            outcomes.push(convert::outcome(outcome));
        } else if is_listed {
            untold += 1;
        }
    };
    let done = wanted.run(registry, who, dry_run, &mut report)?;
    Ok(Answer::json(&api::JobDone {
        summary: summary(&done),
        outcomes,
        untold,
    }))
}

/// Whether a response has the outcome of a name: rejections, and in a dry run changes.
pub(super) fn is_listed(outcome: &Outcome, dry_run: bool) -> bool {
    match outcome.done {
        Done::Refused { .. } => true,
        Done::Unchanged => false,
        Done::Changed(_) | Done::Created(_) => dry_run,
    }
}

/// What came of all names.
pub(super) fn summary(done: &BulkChanged) -> api::JobSummary {
    let result = match &done.job {
        Some(job) => api::JobResult::Job(Box::new(convert::job(job, None))),
        None => api::JobResult::DryRun(api::PlannedCounts {
            changed: done.counts.changed,
            dry_run: true,
            refused: done.counts.refused,
            unchanged: done.counts.unchanged,
        }),
    };
    api::JobSummary {
        result,
        stay: done.stay,
    }
}
