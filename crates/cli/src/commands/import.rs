//! `handfast import`: names from files.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::{Args, ValueHint};
use handfast_api::{ImportSummary, Outcome, OutcomeKind, ValueCounts};
use handfast_registry::Format;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::commands::import_input;
use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::progress_of;
use crate::exit::{Answer, misused};
use crate::new_file::NewFile;
use crate::remote::client::{Caller, Client, encode, query};
use crate::remote::http_client::read_from;
use crate::terminal::output::{Output, stream};
use crate::terminal::progress::Progress;

/// Take names from a file: NDJSON, CSV, handle batch files, JSON dumps of handle servers
///
/// A line that is refused is reported with its number and leaves nothing; all others are done.
/// Running an interrupted import again resumes it. The data folder is made if it is not there.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Import {
    /// The file; - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// What the file is, where its name and its beginning do not tell
    #[arg(long, value_name = "ndjson|csv|batch|json", value_parser = format)]
    format: Option<Format>,
    /// Put local names under this authority: x becomes AUTHORITY/x
    #[arg(long)]
    authority: Option<String>,
    /// Change names that exist and are different: the values that a line names, and nothing else
    #[arg(long)]
    update: bool,
    /// With --update, also remove the values that a line does not name
    #[arg(long, requires = "update")]
    replace: bool,
    /// Take names that could not be registered here, because they exist at another server already
    #[arg(long)]
    migrate: bool,
    /// Do not resume an interrupted import of this file: do all of it as if it were new
    #[arg(long)]
    restart: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Write what became of each line to this file, as NDJSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    outcome: Option<PathBuf>,
    #[command(flatten)]
    caller: Caller,
}

/// Reads the name of a format.
pub(crate) fn format(text: &str) -> anyhow::Result<Format> {
    let mut all = Format::ALL.into_iter();
    all.find(|format| format.as_str() == text)
        .context("a format is ndjson, csv, batch or json")
}

impl Import {
    /// What is imported.
    fn input(&self) -> Result<File, String> {
        let is_same = |outcome: &PathBuf| match (outcome.canonicalize(), self.file.canonicalize()) {
            (Ok(outcome), Ok(file)) => outcome == file,
            _ => false,
        };
        if self.outcome.as_ref().is_some_and(is_same) {
            return Err("--outcome would overwrite the file that is imported".into());
        }
        import_input::open(&self.file, self.format)
    }

    /// Over the network the outcomes of lines come at the end.
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let input = self.input().map_err(misused)?;
        let mut client = self.caller.client(client);
        if !self.dry_run {
            // What is only looked at must be there.
            client = client.making_folder(self.caller.output);
        }
        let create = |path: &PathBuf| NewFile::create(path, 0o644).map(BufWriter::new);
        let mut outcomes = self.outcome.as_ref().map(create).transpose()?;
        let size = size_of(&input);
        let progress = Arc::new(Progress::new(size));
        let (sending, is_remote) = (Arc::clone(&progress), client.is_remote());
        let body = read_from(input, move |bytes| {
            if is_remote {
                sending.at(bytes, "bytes", bytes);
            }
        });
        let mut failed = None;
        let imported: anyhow::Result<ImportSummary> =
            client.upload(&self.path(&client, size), body, &mut |line| {
                if let Some((bytes, names)) = progress_of(&line) {
                    return progress.at(bytes, "names", names);
                }
                if let Some(file) = &mut outcomes
                    && let Err(error) = writeln!(file, "{line}")
                {
                    failed = Some(error);
                }
                if let Ok(outcome) = Outcome::deserialize(&line) {
                    progress.suspend(|| self.tell(&outcome));
                }
            });
        drop(progress);
        if let Some(file) = outcomes {
            file.into_inner()?.finish()?;
        }
        if let Some(error) = failed {
            return Err(error).context("the outcome of all lines could not be written");
        }
        let imported = imported?;
        if imported.untold > 0 {
            let untold = imported.untold;
            let note = format!("the server does not tell of {untold} lines more");
            self.caller.output.note(&note);
        }
        self.summary(&imported)
    }

    /// How it is asked for.
    fn path(&self, client: &Client, size: Option<u64>) -> String {
        let source = self.file.display().to_string();
        let size = size.filter(|_| !client.is_remote());
        let flag = |is_said: bool| is_said.then(|| "true".to_string());
        let query = query([
            ("format", self.format.map(|format| format.as_str().into())),
            ("authority", self.authority.clone()),
            ("size", size.map(|size| size.to_string())),
            ("update", flag(self.update)),
            ("replace", flag(self.replace)),
            ("migrate", flag(self.migrate)),
            ("restart", flag(self.restart)),
            ("dry-run", flag(self.dry_run)),
            ("all", flag(self.outcome.is_some())),
        ]);
        format!("/import?source={}{query}", encode(&source))
    }

    /// Refused lines on standard error; in a dry run all of them on standard output.
    fn tell(&self, outcome: &Outcome) {
        let is_refused = outcome.outcome == OutcomeKind::Refused;
        if is_refused || self.dry_run {
            tell(outcome, self.caller.output, self.dry_run);
        }
    }

    fn summary(&self, imported: &ImportSummary) -> anyhow::Result<Answer> {
        let mut said = serde_json::to_value(imported)?;
        if let Json::Object(said) = &mut said {
            said.remove("untold");
        }
        self.caller.output.print(&said, |out| {
            if imported.resumed {
                writeln!(out, "went on with job {}", imported.job.unwrap_or_default())?;
            }
            let would = if self.dry_run { "would be " } else { "" };
            let values = if imported.values == ValueCounts::default() {
                String::new()
            } else {
                let ValueCounts {
                    added,
                    changed,
                    removed,
                } = imported.values;
                format!(" (values: {added} added, {changed} changed, {removed} removed)")
            };
            writeln!(
                out,
                "{would}created {}, changed {}{values}, unchanged {}, refused {}",
                imported.created, imported.changed, imported.unchanged, imported.refused
            )?;
            match imported.job {
                Some(job) if imported.changed > 0 => {
                    writeln!(out, "undo the changes with `handfast job undo {job}`")
                }
                _ => Ok(()),
            }
        })?;
        Ok(Answer::all(imported.refused == 0))
    }
}

/// How long an input is, if that is known.
fn size_of(input: &File) -> Option<u64> {
    let about = input.metadata().ok().filter(Metadata::is_file);
    about.map(|about| about.len())
}

/// Tells what was refused on standard error; in a dry run what would be done on standard output.
pub(crate) fn tell(outcome: &Outcome, output: Output, is_dry_run: bool) {
    let text = if output.is_json() {
        serde_json::to_string(outcome).unwrap_or_default()
    } else {
        for_people(outcome)
    };
    // If nobody is listening the work goes on.
    let _ = writeln!(stream(is_dry_run), "{text}");
}

fn for_people(outcome: &Outcome) -> String {
    let id = outcome.id.as_deref().unwrap_or_default();
    let place = outcome.line.map(|line| format!("line {line}: "));
    let place = place.unwrap_or_default();
    if let (Some(code), Some(reason)) = (&outcome.code, &outcome.reason) {
        let id = if id.is_empty() || reason.starts_with(id) {
            String::new()
        } else {
            format!("{}: ", Safe(id))
        };
        return format!("{place}{id}{} [{code}]", Safe(reason));
    }
    let mut text = format!("{place}{} {}", outcome.outcome, Safe(id));
    for line in changed_lines(outcome) {
        text.push_str("\n    ");
        text.push_str(&line);
    }
    text
}

/// What became of the values of a name, as its history shows it: before and after, a line each.
fn changed_lines(outcome: &Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    for change in &outcome.changes {
        for (mark, side) in [('-', &change.before), ('+', &change.after)] {
            if let Some(text) = side {
                let (index, value_type) = (change.index, Safe(&change.value_type));
                lines.push(format!("{mark} {index} {value_type} {}", Safe(text)));
            }
        }
    }
    let counts = outcome.values.unwrap_or_default();
    let listed = u64::try_from(outcome.changes.len()).unwrap_or(u64::MAX);
    let all = counts.added + counts.changed + counts.removed;
    if all > listed {
        lines.push(format!("… {} values more", all - listed));
    }
    if let Some(state) = &outcome.state {
        lines.push(format!("{} becomes {}", state.before, state.after));
    }
    lines
}
