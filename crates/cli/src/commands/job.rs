//! `handfast job`: changing many names at once, and undoing that.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueHint};
use handfast_registry::{
    BulkChanged, Done, Job, JobKind, Outcome, Principal, Registry, RegistryError, json,
};
use serde_json::{Value as Json, json};

use crate::commands::import::for_people;
use crate::commands::inspect_view::Shown as Safe;
use crate::exit::{Answer, UnreadableInput};
use crate::folder::Data;
use crate::terminal::console;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

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
    /// Undo all that a job did, as new changes; names that an import created stay
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

/// Whose names.
#[derive(Args)]
pub(crate) struct Under {
    /// Whose names, with all below
    #[arg(long)]
    pub(crate) authority: String,
}

/// Hears what becomes of each name.
type Tell<'t> = dyn FnMut(&Outcome) + 't;

/// How a job is run.
#[derive(Args)]
pub(crate) struct Running {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    pub(crate) who: Option<Principal>,
    #[command(flatten)]
    pub(crate) output: Output,
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
                let ids = names_in(file)?;
                run.run_with(data, |registry, who, report| {
                    registry.withdraw_all(who, &ids, reason, run.dry_run, report)
                })
            }
            Self::Undo { job, run } => run.run(data, JobKind::Undo { job: *job }),
            Self::Resume { job, run } => run.run_with(data, |registry, who, report| {
                let found = registry.job(*job)?;
                if run.dry_run && found.ended.is_none() {
                    return registry.run_job(who, found.kind, true, report);
                }
                let started = registry.resume_job(who, *job)?;
                registry.finish_job(who, started, report)
            }),
            Self::List { output } => output.print(
                data.open().and_then(|registry| {
                    let jobs = registry.jobs()?.into_iter();
                    jobs.map(|job| look(&registry, job)).collect()
                }),
                |jobs: &Vec<Json>| Json::from(jobs.clone()),
                |jobs, out| {
                    jobs.iter()
                        .try_for_each(|job| writeln!(out, "{}", line(job)))
                },
            ),
            Self::Cancel { job, output } => output.print(
                data.open().and_then(|registry| {
                    look(&registry, registry.cancel_job(&Principal::Operator, *job)?)
                }),
                Json::clone,
                tell_cancelled,
            ),
            Self::Show {
                job,
                follow: is_followed,
                output,
            } => {
                let found = data.open().and_then(|registry| {
                    let mut look = || look(&registry, registry.job(*job)?);
                    if *is_followed {
                        follow(&mut look)
                    } else {
                        look()
                    }
                });
                output.print(found, Json::clone, show)
            }
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
        job: impl FnOnce(&Registry, &Principal, &mut Tell<'_>) -> Result<BulkChanged, RegistryError>,
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
            if self.is_told(outcome) {
                progress.suspend(|| self.tell(outcome));
            }
        });
        drop(progress);
        let done = outcome.map(|done| {
            let mut shown = match &done.job {
                Some(job) => json::job(job, None),
                None => json!({"dry-run": true, "changed": done.counts.changed, "unchanged": done.counts.unchanged, "refused": done.counts.refused}),
            };
            if let (Json::Object(shown), 1..) = (&mut shown, done.stay) {
                shown.insert("stay".into(), done.stay.into());
            }
            shown
        });
        self.tell_done(done)
    }

    fn is_told(&self, outcome: &Outcome) -> bool {
        match outcome.done {
            Done::Refused { .. } => true,
            Done::Unchanged => false,
            Done::Changed(_) | Done::Created(_) => self.dry_run,
        }
    }

    /// What was refused on standard error; in a dry run what would be done on standard output.
    pub(crate) fn tell(&self, outcome: &Outcome) {
        let text = if self.output.is_json() {
            json::outcome(outcome).to_string()
        } else {
            for_people(outcome)
        };
        // If nobody is listening the work goes on.
        let _ = if self.dry_run {
            writeln!(console::stdout(), "{text}")
        } else {
            writeln!(console::stderr(), "{text}")
        };
    }

    /// What came of all of it.
    pub(crate) fn tell_done(&self, done: Result<Json, RegistryError>) -> anyhow::Result<Answer> {
        let is_all = done.as_ref().is_ok_and(|done| number(done, "refused") == 0);
        let answer = self.output.print(done, Json::clone, |done, out| {
            let counts = ["changed", "unchanged", "refused"].map(|name| number(done, name));
            let [changed, unchanged, refused] = counts;
            let Some(job) = done.get("job") else {
                writeln!(
                    out,
                    "would be changed {changed}, unchanged {unchanged}, refused {refused}"
                )?;
                return tell_what_stays(done, out);
            };
            writeln!(
                out,
                "job {job}: changed {changed}, unchanged {unchanged}, refused {refused}"
            )?;
            match text(done, "state") {
                "cut-short" => writeln!(out, "cut short: go on with `handfast job resume {job}`")?,
                "cancelled" => writeln!(out, "cancelled before its end")?,
                _ => {}
            }
            tell_what_stays(done, out)?;
            if changed > 0 {
                writeln!(out, "undo it with `handfast job undo {job}`")?;
            }
            Ok(())
        })?;
        Ok(if answer == Answer::Done && !is_all {
            Answer::No
        } else {
            answer
        })
    }
}

impl Command {
    /// The file that it names.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Withdraw { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// The names in a file, one a line.
pub(crate) fn names_in(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = if file.as_os_str() == "-" {
        console::read_text(console::stdin())
    } else {
        console::read_to_string(file)
    };
    let text = text.with_context(|| UnreadableInput::new(file))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_string).collect())
}

/// Names that an import created stay when it is undone.
fn tell_what_stays(done: &Json, out: &mut dyn Write) -> io::Result<()> {
    match number(done, "stay") {
        0 => Ok(()),
        stay => writeln!(
            out,
            "what the import created stays ({stay}): withdraw names with `handfast job withdraw FILE --reason WHY`"
        ),
    }
}

/// Looks at a job until it has ended, and says how far it has come.
pub(crate) fn follow<E>(look: &mut dyn FnMut() -> Result<Json, E>) -> Result<Json, E> {
    let progress = Progress::new(None);
    loop {
        let job = look()?;
        if text(&job, "state") != "running" {
            return Ok(job);
        }
        let far = field(&job, "progress");
        let done = number(far, "done");
        progress.at(done, text(far, "unit"), done);
        #[expect(
            clippy::disallowed_methods,
            reason = "whoever does the job does not tell us"
        )]
        std::thread::sleep(PAUSE);
    }
}

/// How long apart a job is looked at.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn tell_cancelled(job: &Json, out: &mut dyn Write) -> io::Result<()> {
    match text(job, "state") {
        "running" => writeln!(out, "job {} stops at its next batch", field(job, "job")),
        _ => writeln!(out, "cancelled job {}", field(job, "job")),
    }
}

/// A job in a list, from what is known of it as JSON: the same here and from elsewhere.
pub(crate) fn line(job: &Json) -> String {
    format!(
        "{:<4} {}  {:<9}  {:<11}  {}",
        field(job, "job"),
        text(job, "started"),
        text(job, "state"),
        text(job, "kind"),
        Safe(text(job, "what"))
    )
}

pub(crate) fn field<'j>(job: &'j Json, name: &str) -> &'j Json {
    job.get(name).unwrap_or(&Json::Null)
}

pub(crate) fn number(job: &Json, name: &str) -> u64 {
    field(job, name).as_u64().unwrap_or_default()
}

pub(crate) fn text<'j>(job: &'j Json, field: &str) -> &'j str {
    job.get(field).and_then(Json::as_str).unwrap_or_default()
}

pub(crate) fn show(job: &Json, out: &mut dyn Write) -> io::Result<()> {
    let number = field(job, "job");
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
    let count = |name: &str| self::number(job, name);
    writeln!(
        out,
        "  {:<8}  created {}, changed {}, unchanged {}, refused {}",
        "names",
        count("created"),
        count("changed"),
        count("unchanged"),
        count("refused")
    )?;
    for events in field(job, "events").as_array().into_iter().flatten() {
        if let Some([from, to]) = events.as_array().and_then(|events| events.first_chunk()) {
            writeln!(out, "  {:<8}  {from} to {to}", "events")?;
        }
    }
    Ok(())
}

/// How far a job has come.
pub(crate) fn far(job: &Json) -> String {
    let progress = field(job, "progress");
    let (done, unit) = (field(progress, "done"), text(progress, "unit"));
    match field(progress, "total").as_u64() {
        Some(total) => format!("{done} of {total} {unit}"),
        None => format!("{done} {unit}"),
    }
}

/// A job as it is now.
fn look(registry: &Registry, job: Job) -> Result<Json, RegistryError> {
    let (job, progress) = registry.with_progress(job)?;
    Ok(json::job(&job, progress))
}
