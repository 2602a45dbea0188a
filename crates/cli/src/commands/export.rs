//! `handfast export`: names to files.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use handfast_registry::{Export as Options, Exported, Format, Principal, RegistryError, json};

use crate::commands::import::GivenFormat;
use crate::exit::Answer;
use crate::files::Files;
use crate::folder::Data;
use crate::new_file::NewFile;
use crate::remote::api::{Elsewhere, NO_AS, encode, unreadable};
use crate::terminal::console;
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
    /// The file that it names.
    pub(crate) fn files(&self) -> Files {
        Files::default().write(self.file.as_deref(), self.mode())
    }

    fn mode(&self) -> u32 {
        if self.with_secrets { 0o600 } else { 0o644 }
    }

    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let registry = match data.open() {
            Ok(registry) => registry,
            Err(refusal) => return Ok(self.output.refuse(&refusal)),
        };
        let path = self.file.as_ref().filter(|path| path.as_os_str() != "-");
        let options = Options {
            format: Some(self.format.0),
            authority: self.authority.clone(),
            since: self.since,
            with_secrets: self.with_secrets,
        };
        let who = self.who.clone().unwrap_or(Principal::Operator);
        let progress = Progress::new(None);
        let mut tell = |names: u64| progress.at(names, "names", names);
        let exported = if let Some(path) = path {
            let mut file = BufWriter::with_capacity(1 << 20, NewFile::create(path, self.mode())?);
            let exported = registry.export(&who, &options, &mut file, &mut tell);
            if exported.is_ok() {
                file.into_inner()?.finish()?;
            }
            exported
        } else {
            let mut out = BufWriter::with_capacity(1 << 20, console::stdout());
            registry.export(&who, &options, &mut out, &mut tell)
        };
        drop(progress);
        match exported {
            // Whoever reads has seen enough, as `head` does.
            Err(RegistryError::Output { source }) if source.kind() == ErrorKind::BrokenPipe => {
                Ok(Answer::Done)
            }
            Err(refusal) => Ok(self.output.refuse(&refusal)),
            Ok(exported) => self.summary(&exported, path.is_some()),
        }
    }

    /// The same at a server elsewhere.
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        if self.who.is_some() {
            return Ok(self.output.misused(NO_AS));
        }
        if self.with_secrets {
            let problem = "--with-secrets is for the data folder alone: secrets do not travel";
            return Ok(self.output.misused(problem));
        }
        let mut query = format!("/export?format={}", self.format.0.as_str());
        if let Some(authority) = &self.authority {
            query = format!("{query}&authority={}", encode(authority));
        }
        if let Some(since) = self.since {
            query = format!("{query}&since={since}");
        }
        let path = self.file.as_ref().filter(|path| path.as_os_str() != "-");
        let progress = Progress::new(None);
        let mut tell = |bytes: u64| progress.at(bytes, "bytes", bytes);
        let given = match path {
            Some(path) => {
                let mut file = BufWriter::with_capacity(1 << 20, NewFile::create(path, 0o644)?);
                let given = server.download(&query, &mut file, &mut tell);
                if matches!(given, Ok(Ok(_))) {
                    file.into_inner()?.finish()?;
                }
                given
            }
            None => server.download(&query, &mut io::stdout(), &mut tell),
        };
        drop(progress);
        match given {
            Err(problem) => problem.tell(self.output),
            Ok(Err(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Answer::Done),
            Ok(Err(error)) => Err(error.into()),
            Ok(Ok(summary)) => {
                let exported = summary.as_ref().and_then(json::read_exported);
                match exported {
                    Some(exported) => self.summary(&exported, path.is_some()),
                    None => Ok(self.output.refuse(&unreadable())),
                }
            }
        }
    }

    /// On standard output, unless the names are there.
    fn summary(&self, exported: &Exported, to_file: bool) -> anyhow::Result<Answer> {
        let text = if self.output.is_json() {
            format!("{}\n", json::exported(self.format.0, exported))
        } else {
            self.for_people(exported)
        };
        if to_file {
            write!(console::stdout(), "{text}")?;
        } else {
            write!(console::stderr(), "{text}")?;
        }
        Ok(Answer::Done)
    }

    fn for_people(&self, exported: &Exported) -> String {
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
        left_out(exported.secrets, "secrets", "--with-secrets gives them too");
        let cannot = match format {
            Format::Csv => "a table holds text only; --format ndjson loses nothing",
            _ => "the format has no way to say them; --format ndjson loses nothing",
        };
        left_out(exported.unsaid_values, "values", cannot);
        let cannot = "the format knows only handles that are active; --format ndjson loses nothing";
        left_out(exported.unsaid_names, "names", cannot);
        text
    }
}
