//! `handfast export`: names to files.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use handfast_api::ExportSummary;
use handfast_registry::Format;

use crate::commands::import::format;
use crate::exit::Answer;
use crate::remote::client::{Caller, Client, query, unreadable};
use crate::terminal::output::stream;

/// Give names to a file: NDJSON, which loses nothing, CSV, handle batch files, JSON dumps
///
/// Secrets are left out unless they are asked for. With a public URL, NDJSON and CSV also have the
/// citable link of each name, which `import` ignores.
#[derive(Args)]
pub(crate) struct Export {
    /// The file; by default, and for -, standard output
    #[arg(value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// How
    #[arg(
        long,
        value_name = "ndjson|csv|batch|json",
        default_value = "ndjson",
        value_parser = format
    )]
    format: Format,
    /// Only what is under this authority, and below it
    #[arg(long)]
    authority: Option<String>,
    /// Only names that were given or changed after this event
    #[arg(long, value_name = "EVENT")]
    since: Option<u64>,
    /// Secret keys too; a file is then readable by its owner alone
    #[arg(long)]
    with_secrets: bool,
    #[command(flatten)]
    caller: Caller,
}

impl Export {
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let client = self.caller.client(client);
        let query = query([
            ("authority", self.authority.clone()),
            ("since", self.since.map(|since| since.to_string())),
            ("with-secrets", self.with_secrets.then(|| "true".into())),
        ]);
        if self.with_secrets {
            client
                .only_local("--with-secrets is for the data folder alone: secrets do not travel")?;
        }
        let file = self.file.as_deref().filter(|path| path.as_os_str() != "-");
        let path = format!("/export?format={}{query}", self.format.as_str());
        let mode = if self.with_secrets { 0o600 } else { 0o644 };
        let summary = client.save(&path, file, mode)?;
        self.summary(&summary.ok_or_else(unreadable)?, file.is_some())
    }

    /// On standard output, unless the names are there.
    fn summary(&self, exported: &ExportSummary, to_file: bool) -> anyhow::Result<Answer> {
        let text = if self.caller.output.is_json() {
            format!("{}\n", serde_json::to_string(exported)?)
        } else {
            self.for_people(exported)
        };
        write!(stream(to_file), "{text}")?;
        Ok(Answer::Done)
    }

    fn for_people(&self, exported: &ExportSummary) -> String {
        let (names, event, left_out) = (exported.names, exported.event, &exported.left_out);
        let cannot = match self.format {
            Format::Csv => "a table holds text only; --format ndjson loses nothing",
            _ => "the format has no way to say them; --format ndjson loses nothing",
        };
        let active = "the format knows only handles that are active; --format ndjson loses nothing";
        let lines = [
            (left_out.secrets, "secrets", "--with-secrets gives them too"),
            (left_out.values, "values", cannot),
            (left_out.names, "names", active),
        ];
        let lines = lines.into_iter().filter(|(count, ..)| *count > 0);
        let lines = lines.map(|(count, what, why)| format!("left out {count} {what}: {why}\n"));
        let lines: String = lines.collect();
        format!("exported {names} names, up to event {event}\n{lines}")
    }
}
