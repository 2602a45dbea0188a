//! `/api/v1/jobs`: changing many names at once.

use handfast_registry::{Done, Job, JobKind, Outcome, Principal, json};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::call::{Answer, Call};
use super::problem::Problem;

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

/// How many outcomes are told.
pub(super) const MOST_TOLD: usize = 10_000;

pub(super) fn list(call: &Call) -> Result<Answer, Problem> {
    let (limit, after) = (call.limit()?, call.number("after")?.unwrap_or(0));
    let jobs = call.registry().jobs()?;
    let mut page: Vec<&Job> = Vec::new();
    for job in jobs.iter().filter(|job| job.number > after) {
        if page.len() < limit && may_see(call, job)? {
            page.push(job);
        }
    }
    let next = page.last().map(|job| job.number.to_string());
    let next = next.filter(|_| page.len() == limit);
    let page: Vec<Json> = page.into_iter().map(json::job).collect();
    Ok(Answer::json(json!({"jobs": page, "next": next})))
}

pub(super) fn show(call: &Call) -> Result<Answer, Problem> {
    let number = call.id().parse().ok();
    let number = number.ok_or_else(|| Problem::usage("a job has a number"))?;
    let job = call.registry().job(number)?;
    if !may_see(call, &job)? {
        let code = "no-job";
        let problem = format!("there is no job {number}");
        return Err(handfast_registry::Refusal::Policy { code, problem }.into());
    }
    Ok(Answer::json(json::job(&job)))
}

/// What someone does with many names is theirs, and for those who may do everything.
fn may_see(call: &Call, job: &Job) -> Result<bool, Problem> {
    Ok(job.who == call.who || call.registry().is_administrator(&call.who)?)
}

/// Runs to its end before it is answered; whoever does not wait finds it in the list.
pub(super) fn start(call: &Call) -> Result<Answer, Problem> {
    let given: Given = call.read()?;
    let dry_run = call.flag("dry-run")?;
    let mut told = Vec::new();
    let mut report = |outcome: &Outcome| {
        let is_told = match outcome.done {
            Done::Refused { .. } => true,
            Done::Unchanged => false,
            Done::Changed(_) | Done::Created(_) => dry_run,
        };
        if is_told && told.len() < MOST_TOLD {
            told.push(json::outcome(outcome));
        }
    };
    let registry = call.registry();
    let who: &Principal = &call.who;
    let done = match given {
        Given::Withdraw { names, reason } => {
            registry.withdraw_all(who, &names, &reason, dry_run, &mut report)
        }
        Given::ReplaceUrl { from, to, .. } if from.is_empty() || to.is_empty() => {
            return Err(Problem::usage("say both what is there and what is to be"));
        }
        Given::ReplaceUrl {
            authority,
            from,
            to,
            host,
        } => {
            let kind = JobKind::ReplaceUrl {
                authority,
                from,
                to,
                is_host: host,
            };
            registry.run_job(who, kind, dry_run, &mut report)
        }
        Given::SetTtl {
            authority,
            seconds,
            value_type,
        } => {
            let kind = JobKind::SetTtl {
                authority,
                value_type,
                seconds,
            };
            registry.run_job(who, kind, dry_run, &mut report)
        }
        Given::Undo { job } => registry.run_job(who, JobKind::Undo { job }, dry_run, &mut report),
    }?;
    let mut body = match &done.job {
        Some(job) => json::job(job),
        None => json!({
            "dry-run": true,
            "changed": done.counts.changed,
            "unchanged": done.counts.unchanged,
            "refused": done.counts.refused,
        }),
    };
    if let Json::Object(body) = &mut body {
        body.insert("outcomes".into(), told.into());
    }
    Ok(Answer::json(body))
}
