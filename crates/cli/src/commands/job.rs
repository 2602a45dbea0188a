//! `handfast job`: changing many names at once, and undoing that.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueHint};
use handfast_api::Outcome;
use handfast_registry::Principal;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::commands::import::for_people;
use crate::commands::inspect_view::Shown as Safe;
use crate::exit::{Answer, UnreadableInput};
use crate::files;
use crate::remote::client::{Client, Problem, unreadable};
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

/// Whose names.
#[derive(Args)]
pub(crate) struct Under {
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
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

impl JobCommand {
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let replace = |under: &Under, from: &str, to: &str, host: bool| {
            let authority = &under.authority;
            json!({
                "kind": "replace-url",
                "authority": authority,
                "from": from,
                "to": to,
                "host": host,
            })
        };
        match self {
            Self::ReplaceUrl {
                from,
                to,
                run,
                under,
            } => run.start(client, &replace(under, from, to, false)),
            Self::ReplaceHost {
                from,
                to,
                run,
                under,
            } => run.start(client, &replace(under, from, to, true)),
            Self::SetTtl {
                seconds,
                value_type,
                run,
                under,
            } => {
                let kind = json!({
                    "kind": "set-ttl",
                    "authority": under.authority,
                    "seconds": seconds,
                    "type": value_type,
                });
                run.start(client, &kind)
            }
            Self::Withdraw { file, reason, run } => {
                let names = names_in(file)?;
                let kind = json!({"kind": "withdraw", "names": names, "reason": reason});
                run.start(client, &kind)
            }
            Self::Undo { job, run } => run.run(client, &format!("/jobs/{job}/undo"), None),
            Self::Resume { job, run } => run.run(client, &format!("/jobs/{job}/resume"), None),
            Self::Cancel { job, output } => {
                let job = client.ask("POST", &format!("/jobs/{job}/cancel"), None);
                output.show(job, tell_cancelled)
            }
            Self::List { output } => output.show_as(
                client.pages("/jobs", "jobs"),
                |jobs| Json::Array(jobs.clone()),
                |jobs, out| {
                    let mut jobs = jobs.iter();
                    jobs.try_for_each(|job| writeln!(out, "{}", line(job)))
                },
            ),
            Self::Show {
                job,
                follow: is_followed,
                output,
            } => {
                let path = format!("/jobs/{job}");
                let found = if *is_followed {
                    follow(&client, &path)
                } else {
                    client.ask("GET", &path, None)
                };
                output.show(found, show)
            }
        }
    }
}

impl Running {
    fn start(&self, client: Client, kind: &Json) -> anyhow::Result<Answer> {
        if ["from", "to"].iter().any(|name| field(kind, name) == "") {
            let problem = "say both what is there and what is to be";
            return Ok(self.output.misused(problem));
        }
        self.run(client, "/jobs", Some(kind))
    }

    fn run(&self, client: Client, path: &str, body: Option<&Json>) -> anyhow::Result<Answer> {
        let client = client.acting_as(self.who.as_ref());
        let query = if self.dry_run { "?dry-run=true" } else { "" };
        let asked = format!("{path}{query}");
        let mut untold = 0;
        let done = if !client.is_remote() {
            self.run_and_tell(&client, &asked, body)
        } else if self.dry_run {
            client.ask("POST", &asked, body)
        } else {
            begin_and_follow(&client, path, body)
                .and_then(|done| with_what_stays(&client, path, done))
        };
        let done = done.and_then(|mut done| {
            if let Json::Object(done) = &mut done {
                let outcomes = done.remove("outcomes");
                let outcomes = outcomes.iter().filter_map(Json::as_array).flatten();
                for outcome in outcomes {
                    let outcome = Outcome::deserialize(outcome);
                    self.tell(&outcome.map_err(|_| unreadable())?);
                }
                untold = done.get("untold").and_then(Json::as_u64).unwrap_or(0);
                if untold == 0 {
                    // Nothing was left out.
                    done.remove("untold");
                }
            }
            Ok(done)
        });
        if untold > 0 {
            let note = format!("the server does not tell of {untold} names more");
            self.output.note(&note);
        }
        self.tell_done(done)
    }

    /// Has a job done, and tells of names while it goes on.
    fn run_and_tell(
        &self,
        client: &Client,
        path: &str,
        body: Option<&Json>,
    ) -> Result<Json, Problem> {
        let progress = Progress::new(None);
        client.run_job(path, body, &mut |line| match progress_of(&line) {
            Some((position, names)) => progress.at(position, "names", names),
            None => {
                if let Ok(outcome) = Outcome::deserialize(&line) {
                    progress.suspend(|| self.tell(&outcome));
                }
            }
        })
    }

    /// What was refused on standard error; in a dry run what would be done on standard output.
    fn tell(&self, outcome: &Outcome) {
        let text = if self.output.is_json() {
            serde_json::to_string(outcome).unwrap_or_default()
        } else {
            for_people(outcome)
        };
        // If nobody is listening the work goes on.
        let _ = if self.dry_run {
            writeln!(io::stdout(), "{text}")
        } else {
            writeln!(io::stderr(), "{text}")
        };
    }

    /// What came of all of it.
    fn tell_done(&self, done: Result<Json, Problem>) -> anyhow::Result<Answer> {
        let is_all = done.as_ref().is_ok_and(|done| number(done, "refused") == 0);
        let answer = self.output.show(done, |done, out| {
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
                "cut-short" => writeln!(
                    out,
                    "interrupted: resume it with `handfast job resume {job}`"
                )?,
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

/// The names in a file, one a line.
fn names_in(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = files::read_text(file).with_context(|| UnreadableInput::new(file))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_string).collect())
}

/// Names that an import created stay when it is undone.
fn tell_what_stays(done: &Json, out: &mut dyn Write) -> io::Result<()> {
    match number(done, "stay") {
        0 => Ok(()),
        stay => writeln!(
            out,
            "what the import created stays ({stay}): \
             withdraw names with `handfast job withdraw FILE --reason WHY`"
        ),
    }
}

/// How far an import or a job has come, if a line of an answer says so: a position, and a number of
/// names.
pub(crate) fn progress_of(line: &Json) -> Option<(u64, u64)> {
    let position = line.get("progress")?.as_u64()?;
    Some((position, number(line, "names")))
}

/// Looks at a job until it has ended, and says how far it has come.
fn follow(client: &Client, path: &str) -> Result<Json, Problem> {
    let progress = Progress::new(None);
    loop {
        let job = client.ask("GET", path, None)?;
        if text(&job, "state") != "running" {
            return Ok(job);
        }
        let far = field(&job, "progress");
        let done = number(far, "done");
        progress.at(done, text(far, "unit"), done);
        #[expect(
            clippy::disallowed_methods,
            reason = "the server that does the job does not notify us"
        )]
        std::thread::sleep(PAUSE);
    }
}

/// Nobody waits for the server; what it refused is asked for at the end.
fn begin_and_follow(client: &Client, path: &str, body: Option<&Json>) -> Result<Json, Problem> {
    let begun = client.begin(path, body)?;
    let place = format!("/jobs/{}", number(&begun, "job"));
    let mut job = follow(client, &place)?;
    let outcomes = client.pages(&format!("{place}/outcomes"), "outcomes")?;
    let told = u64::try_from(outcomes.len()).unwrap_or(u64::MAX);
    let untold = number(&job, "refused").saturating_sub(told);
    if let Json::Object(job) = &mut job {
        job.insert("untold".into(), untold.into());
        job.insert("outcomes".into(), outcomes.into());
    }
    Ok(job)
}

/// How many names an import had created that was undone, as a server says that does not wait for
/// the end.
fn with_what_stays(client: &Client, path: &str, mut done: Json) -> Result<Json, Problem> {
    let Some(undone) = path.strip_suffix("/undo") else {
        return Ok(done);
    };
    let undone = client.ask("GET", undone, None)?;
    let created = number(&undone, "created");
    if field(&undone, "kind") == "import"
        && created > 0
        && let Json::Object(done) = &mut done
    {
        done.insert("stay".into(), created.into());
    }
    Ok(done)
}

/// How long apart a job is looked at.
const PAUSE: Duration = Duration::from_millis(100);

fn tell_cancelled(job: &Json, out: &mut dyn Write) -> io::Result<()> {
    match text(job, "state") {
        "running" => writeln!(out, "job {} stops at its next batch", field(job, "job")),
        _ => writeln!(out, "cancelled job {}", field(job, "job")),
    }
}

/// A job in a list, from its JSON.
fn line(job: &Json) -> String {
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

fn number(job: &Json, name: &str) -> u64 {
    field(job, name).as_u64().unwrap_or_default()
}

pub(crate) fn text<'j>(job: &'j Json, field: &str) -> &'j str {
    job.get(field).and_then(Json::as_str).unwrap_or_default()
}

fn show(job: &Json, out: &mut dyn Write) -> io::Result<()> {
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
fn far(job: &Json) -> String {
    let progress = field(job, "progress");
    let (done, unit) = (field(progress, "done"), text(progress, "unit"));
    match field(progress, "total").as_u64() {
        Some(total) => format!("{done} of {total} {unit}"),
        None => format!("{done} {unit}"),
    }
}
