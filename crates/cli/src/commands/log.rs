//! `handfast log`: proving that nothing was ever taken back.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand, ValueHint};
use handfast_api::{LogExportSummary, LogKey, NewLog};
use handfast_log::{Bundle, Checkpoint, Tile, VerifyingKey};
use handfast_registry::{Growth, Proof, Proven, rfc3339 as time, verify_proof};
use handfast_server::convert;
use serde_json::json;

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::log_list::ListEventsCommand;
use crate::commands::log_verify::VerifyCommand;
use crate::commands::name_history::citable_link;
use crate::exit::{Answer, Problem, misuse};
use crate::files::read_input;
use crate::folder::Data;
use crate::new_file::NewFile;
use crate::remote::client::{ApiRequest, Caller, Client, encode, unreadable};
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// The proof log
///
/// Every change is an event; the events are the leaves of a Merkle tree whose head can be signed.
/// CHECKPOINT is a file with such a signed head, KEY the public key of a log or a file with it.
#[derive(Subcommand)]
pub(crate) enum LogCommand {
    /// Print the public key of the log, by which others check what it signs
    Key {
        #[command(flatten)]
        output: Output,
    },
    /// Sign the head of the log and print it
    Checkpoint {
        #[command(flatten)]
        output: Output,
    },
    /// List what has happened, newest first
    List(ListEventsCommand),
    /// Prove the history of a name, or that the log has only grown
    Prove(Prove),
    /// Write the whole log to a file that anybody can verify
    Export {
        /// The file; - is standard output
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Verify the log of the data folder, an export of one, or a proof
    Verify(VerifyCommand),
    /// Write the log as files for a web server, in the layout of C2SP tlog-tiles
    Tiles {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        into: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Begin a new log, with a new key, that continues this one
    Begin {
        /// Its name, such as pid.example.org/log
        #[arg(long, value_name = "NAME")]
        origin: Option<String>,
        #[command(flatten)]
        output: Output,
    },
}

/// Prove something.
#[derive(Args)]
pub(crate) struct Prove {
    /// The name, in any spelling
    #[arg(required_unless_present = "from")]
    id: Option<String>,
    /// Prove instead that the log has only grown since this checkpoint
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "id", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,
    #[command(flatten)]
    caller: Caller,
}

impl LogCommand {
    /// Whether it reads the whole store of a data folder.
    pub(crate) fn reads_whole_store(&self) -> bool {
        matches!(self, Self::Verify(verify) if verify.reads_log())
    }

    pub(crate) fn run(&self, data: &Data, client: Client) -> anyhow::Result<Answer> {
        match self {
            Self::Key { output } => tell_key(*output, &client.log_key()?, ""),
            Self::Checkpoint { output } => {
                let note = client.checkpoint()?;
                output.print(&json!({ "checkpoint": note }), |out| write!(out, "{note}"))
            }
            Self::List(list) => list.run(client),
            Self::Prove(prove) => prove.run(client),
            Self::Export { file, output } => export(&client, file, *output),
            Self::Verify(verify) => verify.run(data, &client),
            Self::Tiles { into, output } => {
                let note = copy_tiles(&client, into)?;
                let folder = into.display().to_string();
                output.print(&json!({"folder": folder, "checkpoint": note}), |out| {
                    writeln!(out, "wrote {folder}")
                })
            }
            Self::Begin { origin, output } => {
                let new = origin.clone().map(|origin| NewLog {
                    origin: Some(origin),
                });
                let request = ApiRequest::new("POST", "/log/begin").json(new.as_ref());
                let key = read_key(&client.ask(request)?)?;
                tell_key(*output, &key, "began a new log; its public key is\n")
            }
        }
    }
}

impl Client {
    /// The public key of the log.
    pub(crate) fn log_key(&self) -> anyhow::Result<VerifyingKey> {
        read_key(&self.get("/log/key")?)
    }

    /// The signed head of the log.
    pub(crate) fn checkpoint(&self) -> anyhow::Result<String> {
        let note = self.fetch("/log/checkpoint")?;
        String::from_utf8(note.to_vec()).map_err(|_| anyhow!("the checkpoint cannot be read"))
    }
}

fn read_key(said: &LogKey) -> anyhow::Result<VerifyingKey> {
    let key = said.key.parse::<VerifyingKey>();
    key.map_err(|error| anyhow!("the key of the log cannot be read: {error}"))
}

/// The key of a log, behind some words for people.
fn tell_key(output: Output, key: &VerifyingKey, words: &str) -> anyhow::Result<Answer> {
    let said = json!({"origin": key.name(), "key": key.to_string()});
    output.print(&said, |out| writeln!(out, "{words}{key}"))
}

/// Writes the log as files, as the server publishes it. Tiles that are full are fetched once.
fn copy_tiles(client: &Client, into: &Path) -> anyhow::Result<String> {
    let progress = Progress::new(None);
    let note = client.checkpoint()?;
    let key = client.log_key()?;
    let checkpoint = Checkpoint::open(&note, &key);
    let size = checkpoint
        .map_err(|error| anyhow!("the checkpoint: {error}"))?
        .size;
    if let Ok(there) = fs::read_to_string(into.join("checkpoint"))
        && let Some(first) = there.lines().next()
        && first != key.name()
    {
        let problem = format!("the folder holds the log {first}: name an empty one");
        let code = "other-log";
        return Err(Problem::new(Answer::No, code, problem, None).into());
    }
    let copy = |path: &str, is_full: bool| {
        let file = into.join(path);
        if is_full && file.exists() {
            return Ok(());
        }
        let bytes = client.fetch(&format!("/log/{path}"))?;
        write_file(&file, &bytes)
    };
    for bundle in (0..).map_while(|index| Bundle::of(index, size)) {
        copy(&bundle.path(), bundle.is_full())?;
        progress.at(bundle.first(), "events", bundle.first());
    }
    for level in 0..8 {
        for tile in (0..).map_while(|index| Tile::of(level, index, size)) {
            copy(&tile.path(), tile.is_full())?;
        }
    }
    // Last, so that all that it speaks of is there.
    write_file(&into.join("checkpoint"), note.as_bytes())?;
    Ok(note)
}

pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        let mut file = NewFile::create(path, 0o644)?;
        file.write_all(bytes)?;
        anyhow::Ok(file.finish()?)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

fn export(client: &Client, path: &Path, output: Output) -> anyhow::Result<Answer> {
    let file = Some(path).filter(|path| path.as_os_str() != "-");
    let summary = client.save::<LogExportSummary>("/log/export", file, 0o644)?;
    if file.is_none() {
        return Ok(Answer::Done);
    }
    let LogExportSummary { events } = summary.ok_or_else(unreadable)?;
    let file = path.display().to_string();
    output.print(&json!({"file": file, "events": events}), |out| {
        writeln!(out, "wrote {events} events to {file}")
    })
}

impl Prove {
    fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let client = self.caller.client(client);
        if let Some(from) = &self.from {
            let growth: Growth = client.send_text("/log/growth", misuse(read_input(from))?)?;
            return self.caller.output.print(&growth, |out| {
                writeln!(
                    out,
                    "the log has only grown; the proof has {} hashes",
                    growth.consistency.len()
                )?;
                writeln!(
                    out,
                    "--json prints it; `handfast log verify --proof FILE --key KEY` checks it"
                )
            });
        }
        let id = encode(self.id.as_deref().unwrap_or_default());
        let proof: Proof = client.get(&format!("/names/{id}/proof"))?;
        let key = client.log_key()?;
        self.caller.output.print(&proof, |out| {
            match verify_proof(&proof, None, &key) {
                Ok(proven) => tell_proven(&proof, &proven, out)?,
                Err(problem) => writeln!(out, "{problem}")?,
            }
            if let Some(link) = citable_link(&client, &format!("/names/{id}")) {
                writeln!(out, "cite as {link}")?;
            }
            writeln!(
                out,
                "--json prints the proof; \
                 `handfast log verify --proof FILE --key KEY {}` checks it",
                Safe(&proof.id)
            )
        })
    }
}

pub(crate) fn tell_proven(proof: &Proof, proven: &Proven, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", Safe(&proof.id))?;
    for event in &proven.events {
        let (number, when, action) = (event.number, time(event.time), event.action.as_str());
        writeln!(out, "  event {number}  {when}  {action}")?;
    }
    for value in &proven.values {
        let value = crate::commands::name::line(&convert::value(value));
        writeln!(out, "  {value}")?;
    }
    let checkpoint = &proven.checkpoint;
    writeln!(
        out,
        "all of this is in the log {} of {} events; a proof does not show whether the name has \
         later events",
        Safe(&checkpoint.origin),
        checkpoint.size
    )
}
