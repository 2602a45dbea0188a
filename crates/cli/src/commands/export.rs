//! `handfast export`: names to files.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use handfast_api::ExportSummary;
use handfast_registry::{Format, Principal, RegistryError};
use serde::Deserialize;

use crate::commands::import::GivenFormat;
use crate::exit::Answer;
use crate::new_file::NewFile;
use crate::remote::client::{Client, encode, unreadable};
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// Give names to a file: NDJSON, which loses nothing, CSV, handle batch files, JSON dumps
///
/// Secrets are left out unless they are asked for.
#[derive(Args)]
pub(crate) struct Export {
    /// The file; by default, and for -, standard output
    #[arg(value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// How
    #[arg(long, value_name = "ndjson|csv|batch|json", default_value = "ndjson")]
    format: GivenFormat,
    /// Only what is under this authority, and below it
    #[arg(long)]
    authority: Option<String>,
    /// Only names that were given or changed after this event
    #[arg(long, value_name = "EVENT")]
    since: Option<u64>,
    /// Secret keys too; a file is then readable by its owner alone
    #[arg(long)]
    with_secrets: bool,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

impl Export {
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let client = client.acting_as(self.who.as_ref());
        let mut query = format!("/export?format={}", self.format.0.as_str());
        if let Some(authority) = &self.authority {
            query = format!("{query}&authority={}", encode(authority));
        }
        if let Some(since) = self.since {
            query = format!("{query}&since={since}");
        }
        if self.with_secrets {
            let why = "--with-secrets is for the data folder alone: secrets do not travel";
            if let Err(problem) = client.only_local(why) {
                return problem.tell(self.output);
            }
            query = format!("{query}&with-secrets=true");
        }
        let path = self.file.as_ref().filter(|path| path.as_os_str() != "-");
        let progress = Progress::new(None);
        let mut tell = |bytes: u64| progress.at(bytes, "bytes", bytes);
        let mode = if self.with_secrets { 0o600 } else { 0o644 };
        let given = match path {
            Some(path) => {
                let mut file = BufWriter::with_capacity(1 << 20, NewFile::create(path, mode)?);
                let given = client.download(&query, &mut file, &mut tell);
                if matches!(given, Ok(Ok(_))) {
                    file.into_inner()?.finish()?;
                }
                given
            }
            None => client.download(&query, &mut io::stdout(), &mut tell),
        };
        drop(progress);
        let summary = match given {
            Err(problem) => return problem.tell(self.output),
            // The reader has seen enough, as `head` does.
            Ok(Err(error)) if error.kind() == ErrorKind::BrokenPipe => return Ok(Answer::Done),
            Ok(Err(source)) => return Ok(self.output.refuse(&RegistryError::Output { source })),
            Ok(Ok(summary)) => summary,
        };
        match summary.as_ref().map(ExportSummary::deserialize) {
            Some(Ok(exported)) => self.summary(&exported, path.is_some()),
            _ => unreadable().tell(self.output),
        }
    }

    /// On standard output, unless the names are there.
    fn summary(&self, exported: &ExportSummary, to_file: bool) -> anyhow::Result<Answer> {
        let text = if self.output.is_json() {
            format!("{}\n", serde_json::to_string(exported)?)
        } else {
            self.for_people(exported)
        };
        if to_file {
            write!(io::stdout(), "{text}")?;
        } else {
            write!(io::stderr(), "{text}")?;
        }
        Ok(Answer::Done)
    }

    fn for_people(&self, exported: &ExportSummary) -> String {
        let mut text = format!(
            "exported {} names, up to event {}\n",
            exported.names, exported.event
        );
        let format = self.format.0;
        let mut left_out = |count: u64, what: &str, way_out: &str| {
            if count > 0 {
                // Writing to a string cannot fail.
                let _ = std::fmt::Write::write_fmt(
                    &mut text,
                    format_args!("left out {count} {what}: {way_out}\n"),
                );
            }
        };
        left_out(
            exported.left_out.secrets,
            "secrets",
            "--with-secrets gives them too",
        );
        let cannot = match format {
            Format::Csv => "a table holds text only; --format ndjson loses nothing",
            _ => "the format has no way to say them; --format ndjson loses nothing",
        };
        left_out(exported.left_out.values, "values", cannot);
        let cannot = "the format knows only handles that are active; --format ndjson loses nothing";
        left_out(exported.left_out.names, "names", cannot);
        text
    }
}
