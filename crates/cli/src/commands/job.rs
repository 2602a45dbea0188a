//! `handfast job`: changing many names at once, and undoing that.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};
use handfast_api::{
    Job, JobDone, JobKind, JobProgress, JobResult, JobState, JobSummary, NewJob, Outcome,
};
use hyper::header::HeaderName;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::commands::import::tell;
use crate::commands::inspect_view::Shown as Safe;
use crate::exit::{Answer, misused};
use crate::files::read_input;
use crate::remote::client::{ApiRequest, Caller, Client};
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// Bulk changes
///
/// Each is a job: one event a name. Resume one that was interrupted by running it again, or with
/// `handfast job resume`; the whole of it can be undone.
#[derive(Subcommand)]
pub(crate) enum JobCommand {
    /// Replace the beginning of URLs
    ReplaceUrl {
        /// What URLs begin with now
        from: String,
        /// What they are to begin with
        to: String,
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
    /// Undo all that a job did, as new changes; names that an import created stay
    Undo {
        /// Its number
        job: u64,
        #[command(flatten)]
        run: Running,
    },
    /// Resume a job that was interrupted
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
    /// Stop a job at its next batch, for good; what it did stays, and can be undone
    Cancel {
        /// Its number
        job: u64,
        #[command(flatten)]
        output: Output,
    },
    /// Show a job
    Show {
        /// Its number
        job: u64,
        /// Wait until it has ended, and say how far it has come
        #[arg(long)]
        follow: bool,
        #[command(flatten)]
        output: Output,
    },
}

/// Whose names, and how the job is run.
#[derive(Args)]
pub(crate) struct Under {
    #[command(flatten)]
    run: Running,
    /// Whose names, with all below
    #[arg(long)]
    authority: String,
}

/// How a job is run.
#[derive(Args)]
pub(crate) struct Running {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    caller: Caller,
}

impl JobCommand {
    pub(crate) fn run(self, client: Client) -> anyhow::Result<Answer> {
        match self {
            Self::ReplaceUrl { from, to, under } => under.replace(client, &from, &to, false),
            Self::ReplaceHost { from, to, under } => under.replace(client, &from, &to, true),
            Self::SetTtl {
                seconds,
                value_type,
                under,
            } => {
                let new = NewJob::SetTtl {
                    authority: under.authority,
                    seconds,
                    value_type,
                };
                under.run.run(client, "/jobs", Some(&new))
            }
            Self::Withdraw { file, reason, run } => {
                let names = names_in(&file)?;
                run.run(client, "/jobs", Some(&NewJob::Withdraw { names, reason }))
            }
            Self::Undo { job, run } => run.run(client, &format!("/jobs/{job}/undo"), None),
            Self::Resume { job, run } => run.run(client, &format!("/jobs/{job}/resume"), None),
            Self::Cancel { job, output } => {
                let job: Job = client.act("POST", &format!("/jobs/{job}/cancel"))?;
                output.print(&job, |out| match job.state {
                    JobState::Running => writeln!(out, "job {} stops at its next batch", job.job),
                    _ => writeln!(out, "cancelled job {}", job.job),
                })
            }
            Self::List { output } => {
                let jobs: Vec<Job> = client.pages("/jobs", "", "jobs")?;
                output.print(&jobs, |out| {
                    jobs.iter().try_for_each(|job| {
                        let (number, started, state, kind) =
                            (job.job, &job.started, job.state, job.kind);
                        let what = Safe(&job.what);
                        writeln!(out, "{number} {started}  {state:<9}  {kind:<11}  {what}")
                    })
                })
            }
            Self::Show {
                job,
                follow: is_followed,
                output,
            } => {
                let path = format!("/jobs/{job}");
                let job = if is_followed {
                    follow(&client, &path)?
                } else {
                    client.get(&path)?
                };
                output.print(&job, |out| show(&job, out))
            }
        }
    }
}

impl Under {
    fn replace(&self, client: Client, from: &str, to: &str, host: bool) -> anyhow::Result<Answer> {
        if from.is_empty() || to.is_empty() {
            return Err(misused("say both what is there and what is to be"));
        }
        let new = NewJob::ReplaceUrl {
            authority: self.authority.clone(),
            from: from.into(),
            host,
            to: to.into(),
        };
        self.run.run(client, "/jobs", Some(&new))
    }
}

impl Running {
    fn run(&self, client: Client, path: &str, body: Option<&NewJob>) -> anyhow::Result<Answer> {
        let client = self.caller.client(client);
        let query = if self.dry_run { "?dry-run=true" } else { "" };
        let asked = format!("{path}{query}");
        let request = ApiRequest::new("POST", &asked).json(body);
        let done = if !client.is_remote() {
            self.run_and_tell(&client, request)?
        } else if self.dry_run {
            client.ask(request)?
        } else {
            begin_and_follow(&client, path, request)?
        };
        for outcome in &done.outcomes {
            tell(outcome, self.caller.output, self.dry_run);
        }
        if done.untold > 0 {
            let note = format!("the server does not tell of {} names more", done.untold);
            self.caller.output.note(&note);
        }
        self.tell_done(&done)
    }

    /// Has a job done, and tells of names while it goes on.
    fn run_and_tell(&self, client: &Client, request: ApiRequest<'_>) -> anyhow::Result<JobDone> {
        let progress = Progress::new(None);
        let summary = client.lines(request, &mut |line| match progress_of(&line) {
            Some((position, names)) => progress.at(position, "names", names),
            None => {
                if let Ok(outcome) = Outcome::deserialize(&line) {
                    progress.suspend(|| tell(&outcome, self.caller.output, self.dry_run));
                }
            }
        })?;
        Ok(JobDone {
            summary,
            outcomes: Vec::new(),
            untold: 0,
        })
    }

    /// What came of all of it.
    fn tell_done(&self, done: &JobDone) -> anyhow::Result<Answer> {
        let mut said = serde_json::to_value(&done.summary)?;
        if let (Json::Object(said), 1..) = (&mut said, done.untold) {
            said.insert("untold".into(), done.untold.into());
        }
        let stay = done.summary.stay;
        let (job, changed, unchanged, refused) = match &done.summary.result {
            JobResult::Job(job) => (Some(job), job.changed, job.unchanged, job.refused),
            JobResult::DryRun(plan) => (None, plan.changed, plan.unchanged, plan.refused),
        };
        self.caller.output.print(&said, |out| {
            let counts = format!("changed {changed}, unchanged {unchanged}, refused {refused}");
            let Some(Job { job, state, .. }) = job.map(Box::as_ref) else {
                writeln!(out, "would be {counts}")?;
                return tell_what_stays(stay, out);
            };
            writeln!(out, "job {job}: {counts}")?;
            match state {
                JobState::Interrupted => writeln!(
                    out,
                    "interrupted: resume it with `handfast job resume {job}`"
                )?,
                JobState::Cancelled => writeln!(out, "cancelled before its end")?,
                JobState::Done | JobState::Running => {}
            }
            tell_what_stays(stay, out)?;
            if changed > 0 {
                writeln!(out, "undo it with `handfast job undo {job}`")?;
            }
            Ok(())
        })?;
        Ok(Answer::all(refused == 0))
    }
}

/// The names in a file, one a line.
fn names_in(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = read_input(file)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_string).collect())
}

/// Names that an import created stay when it is undone.
fn tell_what_stays(stay: u64, out: &mut dyn Write) -> io::Result<()> {
    if stay == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "what the import created stays ({stay}): \
         withdraw names with `handfast job withdraw FILE --reason WHY`"
    )
}

/// How far an import or a job has come, if a line of an answer says so: a position, and a number of
/// names.
pub(crate) fn progress_of(line: &Json) -> Option<(u64, u64)> {
    let position = line.get("progress")?.as_u64()?;
    Some((position, line.get("names")?.as_u64()?))
}

/// Looks at a job until it has ended, and says how far it has come.
fn follow(client: &Client, path: &str) -> anyhow::Result<Job> {
    let progress = Progress::new(None);
    loop {
        let job: Job = client.get(path)?;
        if job.state != JobState::Running {
            return Ok(job);
        }
        if let Some(JobProgress { done, unit, .. }) = &job.progress {
            progress.at(*done, unit, *done);
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the server that does the job does not notify us"
        )]
        std::thread::sleep(PAUSE);
    }
}

/// Nobody waits for the server; what it refused is asked for at the end, and how many names an
/// import had created that was undone.
fn begin_and_follow(
    client: &Client,
    path: &str,
    request: ApiRequest<'_>,
) -> anyhow::Result<JobDone> {
    let prefer = HeaderName::from_static("prefer");
    let begun: Job = client.ask(request.header(prefer, "respond-async"))?;
    let place = format!("/jobs/{}", begun.job);
    let job = follow(client, &place)?;
    let outcomes: Vec<Outcome> = client.pages(&format!("{place}/outcomes"), "", "outcomes")?;
    let told = u64::try_from(outcomes.len()).unwrap_or(u64::MAX);
    let untold = job.refused.saturating_sub(told);
    let mut stay = 0;
    if let Some(undone) = path.strip_suffix("/undo") {
        let undone: Job = client.get(undone)?;
        if undone.kind == JobKind::Import {
            stay = undone.created;
        }
    }
    let result = JobResult::Job(Box::new(job));
    Ok(JobDone {
        summary: JobSummary { result, stay },
        outcomes,
        untold,
    })
}

/// How long apart a job is looked at.
const PAUSE: Duration = Duration::from_millis(100);

fn show(job: &Job, out: &mut dyn Write) -> io::Result<()> {
    let number = job.job;
    writeln!(out, "job {number}: {} {}", job.kind, Safe(&job.what))?;
    let (started, who) = (&job.started, Safe(&job.who));
    writeln!(out, "  {:<8}  {started} by {who}", "started")?;
    let ended = job.ended.as_deref().unwrap_or_default();
    match job.state {
        JobState::Running => writeln!(out, "  {:<8}  {}", "running", far(job))?,
        JobState::Interrupted => writeln!(
            out,
            "  {:<8}  not yet: `handfast job resume {number}`, or for an import run it again",
            "ended"
        )?,
        JobState::Cancelled => writeln!(out, "  {:<8}  {ended}, cancelled", "ended")?,
        JobState::Done => writeln!(out, "  {:<8}  {ended}", "ended")?,
    }
    writeln!(
        out,
        "  {:<8}  created {}, changed {}, unchanged {}, refused {}",
        "names", job.created, job.changed, job.unchanged, job.refused
    )?;
    for (from, to) in &job.events {
        writeln!(out, "  {:<8}  {from} to {to}", "events")?;
    }
    Ok(())
}

/// How far a job has come.
fn far(job: &Job) -> String {
    match &job.progress {
        Some(JobProgress { done, total, unit }) => match total {
            Some(total) => format!("{done} of {total} {unit}"),
            None => format!("{done} {unit}"),
        },
        None => String::new(),
    }
}
