//! `handfast job`: changing many names at once, and undoing that.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand, ValueHint};
use handfast_registry::{
    BulkChanged, Done, Job, JobKind, Outcome, Principal, Refusal, Registry, json,
};
use serde_json::{Value as Json, json};

use crate::console;
use crate::exit::Answer;
use crate::folder::Data;
use crate::import::for_people;
use crate::output::Output;
use crate::progress::Progress;
use crate::view::Shown as Safe;

/// Bulk changes
///
/// Each is a job: one event a name. One that was cut short is gone on with by running it again, or with
/// `handfast job resume`; the whole of it can be undone.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Replace the beginning of URLs
    ReplaceUrl {
        /// What URLs begin with now
        from: String,
        /// What they are to begin with
        to: String,
        #[command(flatten)]
        run: Running,
        #[command(flatten)]
        under: Under,
    },
    /// Replace the host of URLs
    ReplaceHost {
        /// The host now, such as old.example.org
        from: String,
        /// The host that it is to be
        to: String,
        #[command(flatten)]
        run: Running,
        #[command(flatten)]
        under: Under,
    },
    /// Set the TTL of values
    SetTtl {
        /// The TTL, in seconds
        seconds: u32,
        /// Only values of this type
        #[arg(long = "type", value_name = "TYPE")]
        value_type: Option<String>,
        #[command(flatten)]
        run: Running,
        #[command(flatten)]
        under: Under,
    },
    /// Withdraw the names in a file, one a line
    Withdraw {
        /// The file; - is standard input
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Why
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        run: Running,
    },
    /// Undo all that a job did, as new changes
    Undo {
        /// Its number
        job: u64,
        #[command(flatten)]
        run: Running,
    },
    /// Go on with a job that was cut short
    Resume {
        /// Its number
        job: u64,
        #[command(flatten)]
        run: Running,
    },
    /// List jobs, imports included
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show a job
    Show {
        /// Its number
        job: u64,
        #[command(flatten)]
        output: Output,
    },
}

/// Whose names.
#[derive(Args)]
pub(crate) struct Under {
    /// Whose names, with all below
    #[arg(long)]
    authority: String,
}

/// Hears what becomes of each name.
type Tell<'t> = dyn FnMut(&Outcome) + 't;

/// How a job is run.
#[derive(Args)]
pub(crate) struct Running {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        match self {
            Self::ReplaceUrl {
                from,
                to,
                run,
                under,
            } => run.replace(data, under, from, to, false),
            Self::ReplaceHost {
                from,
                to,
                run,
                under,
            } => run.replace(data, under, from, to, true),
            Self::SetTtl {
                seconds,
                value_type,
                run,
                under,
            } => run.run(
                data,
                JobKind::SetTtl {
                    authority: under.authority.clone(),
                    value_type: value_type.clone(),
                    seconds: *seconds,
                },
            ),
            Self::Withdraw { file, reason, run } => {
                let text = if file.as_os_str() == "-" {
                    io::read_to_string(console::stdin())
                } else {
                    fs::read_to_string(console::here(file))
                };
                let text = text.with_context(|| format!("cannot read {}", file.display()))?;
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                let ids: Vec<_> = lines.map(str::to_string).collect();
                run.run_with(data, |registry, who, report| {
                    registry.withdraw_all(who, &ids, reason, run.dry_run, report)
                })
            }
            Self::Undo { job, run } => run.run(data, JobKind::Undo { job: *job }),
            Self::Resume { job, run } => {
                match data.open().and_then(|registry| registry.job(*job)) {
                    Ok(found) if found.ended.is_some() => {
                        let problem = format!("job {job} was done: nothing is left to do");
                        let code = "done";
                        Ok(run.output.refuse(&Refusal::Policy { code, problem }))
                    }
                    Ok(found) => run.run(data, found.kind),
                    Err(refusal) => Ok(run.output.refuse(&refusal)),
                }
            }
            Self::List { output } => output.print(
                data.open().and_then(|registry| {
                    let jobs = registry.jobs()?.into_iter();
                    let with = |job: Job| {
                        let progress = registry.progress(job.number);
                        json::job(&job, progress)
                    };
                    Ok(jobs.map(with).collect::<Vec<_>>())
                }),
                |jobs| Json::from(jobs.clone()),
                |jobs, out| {
                    jobs.iter()
                        .try_for_each(|job| writeln!(out, "{}", line(job)))
                },
            ),
            Self::Show { job, output } => output.print(
                data.open().and_then(|registry| {
                    let found = registry.job(*job)?;
                    Ok(json::job(&found, registry.progress(*job)))
                }),
                Json::clone,
                show,
            ),
        }
    }
}

impl Running {
    fn replace(
        &self,
        data: &Data,
        under: &Under,
        from: &str,
        to: &str,
        is_host: bool,
    ) -> anyhow::Result<Answer> {
        if from.is_empty() || to.is_empty() {
            return Ok(self
                .output
                .misused("say both what is there and what is to be"));
        }
        let kind = JobKind::ReplaceUrl {
            authority: under.authority.clone(),
            from: from.to_string(),
            to: to.to_string(),
            is_host,
        };
        self.run(data, kind)
    }

    fn run(&self, data: &Data, kind: JobKind) -> anyhow::Result<Answer> {
        self.run_with(data, |registry, who, report| {
            registry.run_job(who, kind, self.dry_run, report)
        })
    }

    fn run_with(
        &self,
        data: &Data,
        job: impl FnOnce(&Registry, &Principal, &mut Tell<'_>) -> Result<BulkChanged, Refusal>,
    ) -> anyhow::Result<Answer> {
        let who = self.who.clone().unwrap_or(Principal::Operator);
        let registry = match data.open() {
            Ok(registry) => registry,
            Err(refusal) => return Ok(self.output.refuse(&refusal)),
        };
        let progress = Progress::new(None);
        let mut looked_at = 0;
        let outcome = job(&registry, &who, &mut |outcome| {
            looked_at += 1;
            progress.at(looked_at, "names", looked_at);
            let is_told = match outcome.done {
                Done::Refused { .. } => true,
                Done::Unchanged => false,
                Done::Changed(_) | Done::Created(_) => self.dry_run,
            };
            if !is_told {
                return;
            }
            let text = if self.output.is_json() {
                json::outcome(outcome).to_string()
            } else {
                for_people(outcome)
            };
            progress.suspend(|| {
                // If nobody is listening the work goes on.
                let _ = if self.dry_run {
                    writeln!(console::stdout(), "{text}")
                } else {
                    writeln!(console::stderr(), "{text}")
                };
            });
        });
        drop(progress);
        let is_all = outcome.as_ref().is_ok_and(|done| done.counts.refused == 0);
        let answer = self.output.print(
            outcome,
            |done| match &done.job {
                Some(job) => json::job(job, None),
                None => json!({"dry-run": true, "changed": done.counts.changed, "unchanged": done.counts.unchanged, "refused": done.counts.refused}),
            },
            |done, out| {
                let counts = &done.counts;
                let (changed, unchanged, refused) =
                    (counts.changed, counts.unchanged, counts.refused);
                match &done.job {
                    Some(job) => {
                        writeln!(out, "job {}: changed {changed}, unchanged {unchanged}, refused {refused}", job.number)?;
                        if changed > 0 {
                            writeln!(out, "undo it with `handfast job undo {}`", job.number)?;
                        }
                        Ok(())
                    }
                    None => writeln!(out, "would be changed {changed}, unchanged {unchanged}, refused {refused}"),
                }
            },
        )?;
        Ok(if answer == Answer::Done && !is_all {
            Answer::No
        } else {
            answer
        })
    }
}

/// A job in a list, from what is known of it as JSON: the same here and from elsewhere.
pub(crate) fn line(job: &Json) -> String {
    format!(
        "{:<4} {}  {:<9}  {:<11}  {}",
        job["job"],
        text(job, "started"),
        text(job, "state"),
        text(job, "kind"),
        Safe(text(job, "what"))
    )
}

pub(crate) fn text<'j>(job: &'j Json, field: &str) -> &'j str {
    job.get(field).and_then(Json::as_str).unwrap_or_default()
}

pub(crate) fn show(job: &Json, out: &mut dyn Write) -> io::Result<()> {
    let number = &job["job"];
    let (kind, what) = (text(job, "kind"), text(job, "what"));
    writeln!(out, "job {number}: {kind} {}", Safe(what))?;
    let (started, who) = (text(job, "started"), text(job, "who"));
    writeln!(out, "  {:<8}  {started} by {}", "started", Safe(who))?;
    match (text(job, "state"), text(job, "ended")) {
        ("running", _) => writeln!(out, "  {:<8}  {}", "running", far(job))?,
        ("cut-short", _) => writeln!(
            out,
            "  {:<8}  not yet: `handfast job resume {number}`, or for an import run it again",
            "ended"
        )?,
        ("cancelled", ended) => writeln!(out, "  {:<8}  {ended}, cancelled", "ended")?,
        (_, ended) => writeln!(out, "  {:<8}  {ended}", "ended")?,
    }
    let count = |name: &str| job.get(name).and_then(Json::as_u64).unwrap_or_default();
    writeln!(
        out,
        "  {:<8}  created {}, changed {}, unchanged {}, refused {}",
        "names",
        count("created"),
        count("changed"),
        count("unchanged"),
        count("refused")
    )?;
    for events in job["events"].as_array().into_iter().flatten() {
        writeln!(out, "  {:<8}  {} to {}", "events", events[0], events[1])?;
    }
    Ok(())
}

/// How far a job has come.
pub(crate) fn far(job: &Json) -> String {
    let progress = &job["progress"];
    let (done, unit) = (&progress["done"], text(progress, "unit"));
    match progress["total"].as_u64() {
        Some(total) => format!("{done} of {total} {unit}"),
        None => format!("{done} {unit}"),
    }
}
