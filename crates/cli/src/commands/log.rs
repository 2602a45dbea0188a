//! `handfast log`: proving that nothing was ever taken back.

use std::fmt;
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand, ValueHint};
use handfast_log::VerifyingKey;
use handfast_registry::{
    Audited, Finding, Growth, Note, Principal, Proof, ProofProblem, Proven, RegistryError, Verify,
    rfc3339 as time, verify_export,
};
use handfast_wire::json as wire_json;
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::files::Files;
use crate::folder::Data;
use crate::new_file::NewFile;
use crate::terminal::console;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// The proof log
///
/// Every change is an event; the events are the leaves of a Merkle tree whose head can be signed. CHECKPOINT
/// is a file with such a signed head, KEY the public key of a log or a file with it.
#[derive(Subcommand)]
pub(crate) enum Command {
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
    /// Verify the log kept here, an export of one, or a proof
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
    pub(crate) id: Option<String>,
    /// Prove instead that the log has only grown since this checkpoint
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "id", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    pub(crate) who: Option<Principal>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Verify something.
#[derive(Args)]
pub(crate) struct VerifyCommand {
    /// With --proof, the name that it must be of
    #[arg(requires = "proof")]
    id: Option<String>,
    /// An export, instead of the log kept here; needs no data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) export: Option<PathBuf>,
    /// A proof, instead of a log; needs no data folder
    #[arg(long, value_name = "FILE", conflicts_with = "export", value_hint = ValueHint::FilePath)]
    pub(crate) proof: Option<PathBuf>,
    /// A public key that is trusted; by default the log's own. Once for each: the key of the log,
    /// and those of the logs that it continues
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// A checkpoint from earlier that the log must continue
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "proof", value_hint = ValueHint::FilePath)]
    from: Vec<PathBuf>,
    /// At a server elsewhere: check only that the log has grown since the checkpoint in this file, and keep the new
    /// one there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "export", "proof"], value_hint = ValueHint::FilePath)]
    pub(crate) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Command {
    /// Whether it reads the whole store of a data folder.
    pub(crate) fn reads_whole_store(&self) -> bool {
        matches!(self, Self::Verify(verify) if verify.export.is_none() && verify.proof.is_none())
    }

    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        match self {
            Self::Key { output } => {
                let key = data.open().and_then(|registry| registry.log_key());
                tell_key(*output, key, "")
            }
            Self::Checkpoint { output } => output.print(
                data.open().and_then(|registry| registry.checkpoint()),
                |note| json!({"checkpoint": note.to_string()}),
                |note, out| write!(out, "{note}"),
            ),
            Self::Prove(prove) => prove.run(data),
            Self::Export { file, output } => export(data, file, *output),
            Self::Verify(verify) => verify.run(Some(data)),
            Self::Tiles { into, output } => {
                let progress = Progress::new(None);
                let (folder, _open) = console::folder(into)
                    .with_context(|| format!("cannot write {}", into.display()))?;
                let outcome = data.open().and_then(|registry| {
                    registry.write_tiles(&folder, &mut |events| {
                        progress.at(events, "events", events);
                    })
                });
                drop(progress);
                output.print(
                    outcome,
                    |note| json!({"folder": into.display().to_string(), "checkpoint": note.to_string()}),
                    |_, out| writeln!(out, "wrote {}", into.display()),
                )
            }
            Self::Begin { origin, output } => {
                let key = data.open().and_then(|registry| {
                    registry.begin_log(&Principal::Operator, origin.as_deref())
                });
                tell_key(*output, key, "began a new log; its public key is\n")
            }
        }
    }
}

impl Command {
    /// The files that it names.
    pub(crate) fn files(&self) -> Files {
        let files = Files::default();
        match self {
            Self::Export { file, .. } => files.write(Some(file), 0o644),
            Self::Prove(prove) => files.read_all(&prove.from),
            // A key is a file, or stands there itself.
            Self::Verify(verify) => files
                .read_all(&verify.export)
                .read_all(&verify.proof)
                .read_all(&verify.from)
                .read_all(&verify.key),
            Self::Tiles { into, .. } => files.folder(into),
            Self::Begin { .. } | Self::Checkpoint { .. } | Self::Key { .. } => files,
        }
    }
}

/// The key of a log, behind some words for people.
pub(crate) fn tell_key(
    output: Output,
    key: Result<VerifyingKey, RegistryError>,
    words: &str,
) -> anyhow::Result<Answer> {
    output.print(
        key,
        |key| json!({"origin": key.name(), "key": key.to_string()}),
        |key, out| writeln!(out, "{words}{key}"),
    )
}

fn export(data: &Data, path: &Path, output: Output) -> anyhow::Result<Answer> {
    let registry = match data.open() {
        Ok(registry) => registry,
        Err(refusal) => return Ok(output.refuse(&refusal)),
    };
    let is_standard = path.as_os_str() == "-";
    let progress = Progress::new(None);
    let mut tell = |events: u64| progress.at(events, "events", events);
    let outcome = if is_standard {
        let mut out = BufWriter::with_capacity(1 << 20, console::stdout());
        registry.export_log(&mut out, &mut tell)
    } else {
        let mut file = BufWriter::with_capacity(1 << 20, NewFile::create(path, 0o644)?);
        let outcome = registry.export_log(&mut file, &mut tell);
        if outcome.is_ok() {
            file.into_inner()?.finish()?;
        }
        outcome
    };
    drop(progress);
    match outcome {
        Err(RegistryError::Output { source }) if source.kind() == ErrorKind::BrokenPipe => {
            Ok(Answer::Done)
        }
        Ok(_) if is_standard => Ok(Answer::Done),
        outcome => output.print(
            outcome,
            |events| json!({"file": path.display().to_string(), "events": events}),
            |events, out| writeln!(out, "wrote {events} events to {}", path.display()),
        ),
    }
}

impl Prove {
    fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let who = self.who.clone().unwrap_or(Principal::Operator);
        if let Some(from) = &self.from {
            let text = match read_text(from) {
                Ok(text) => text,
                Err(problem) => return Ok(self.output.misused(&problem)),
            };
            let outcome = data
                .open()
                .and_then(|registry| registry.prove_growth(&text));
            return tell_growth(self.output, outcome);
        }
        let id = self.id.clone().unwrap_or_default();
        let outcome = data.open().and_then(|registry| {
            let proof = registry.prove(&who, &id)?;
            let key = registry.log_key()?;
            Ok((proof, key))
        });
        tell_proof(self.output, outcome)
    }
}

/// That the log has only grown.
pub(crate) fn tell_growth(
    output: Output,
    growth: Result<Growth, RegistryError>,
) -> anyhow::Result<Answer> {
    output.print(
        growth,
        |growth| json!(growth),
        |growth, out| {
            writeln!(
                out,
                "the log has only grown; the proof has {} hashes",
                growth.consistency.len()
            )?;
            writeln!(
                out,
                "--json prints it; `handfast log verify --proof FILE --key KEY` checks it"
            )
        },
    )
}

/// The proof of a name, looked at with the key of its log.
pub(crate) fn tell_proof(
    output: Output,
    outcome: Result<(Proof, VerifyingKey), RegistryError>,
) -> anyhow::Result<Answer> {
    output.print(
        outcome,
        |(proof, _)| json!(proof),
        |(proof, key), out| {
            match proof.verify(None, key) {
                Ok(proven) => tell_proven(proof, &proven, out)?,
                Err(problem) => writeln!(out, "{problem}")?,
            }
            writeln!(out, "--json prints the proof; `handfast log verify --proof FILE --key KEY {}` checks it", Safe(&proof.id))
        },
    )
}

fn tell_proven(proof: &Proof, proven: &Proven, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", Safe(&proof.id))?;
    for event in &proven.events {
        let (number, when, action) = (event.number, time(event.time), event.action.as_str());
        writeln!(out, "  event {number}  {when}  {action}")?;
    }
    for value in &proven.values {
        let value = crate::commands::name::line(value);
        writeln!(out, "  {value}")?;
    }
    let checkpoint = &proven.checkpoint;
    writeln!(
        out,
        "all of this is in the log {} of {} events; what came later is not in this proof",
        Safe(&checkpoint.origin),
        checkpoint.size
    )
}

impl VerifyCommand {
    /// Verifies what is here: in a data folder, or in a file.
    pub(crate) fn run(&self, data: Option<&Data>) -> anyhow::Result<Answer> {
        if self.keep.is_some() {
            let problem = "--keep is for a server elsewhere: say --url before the command";
            return Ok(self.output.misused(problem));
        }
        let keys = match self.keys() {
            Ok(keys) => keys,
            Err(error) => return Ok(self.output.misused(&format!("{error:#}"))),
        };
        if let Some(path) = &self.proof {
            return self.proof(path, &keys);
        }
        let verify = match self.wanted(keys) {
            Ok(verify) => verify,
            Err(problem) => return Ok(self.output.misused(&problem)),
        };
        let outcome = if let Some(path) = &self.export {
            let file = match console::open(path) {
                Ok(file) => file,
                Err(error) => {
                    let problem = format!("cannot read {}: {error}", path.display());
                    return Ok(self.output.misused(&problem));
                }
            };
            let progress = Progress::new(file.metadata().map(|metadata| metadata.len()).ok());
            let mut input = BufReader::with_capacity(1 << 20, file);
            let verified = verify_export(&mut input, &verify, &mut |events, bytes| {
                progress.at(bytes, "events", events);
            });
            verified.map(|(audited, key)| (audited, Some(key)))
        } else {
            let Some(data) = data else {
                return Ok(self.output.misused("there is nothing to verify"));
            };
            data.open_to_read().and_then(|registry| {
                let progress = Progress::new(Some(registry.event_count()?));
                let audited = registry.verify_log(&verify, &mut |events, _| {
                    progress.at(events, "events", events);
                })?;
                Ok((audited, None))
            })
        };
        self.tell(outcome, verify.keys.is_empty())
    }

    /// What is compared with what.
    pub(crate) fn wanted(&self, keys: Vec<VerifyingKey>) -> Result<Verify, String> {
        let from = self.from.iter().map(|path| read_text(path));
        Ok(Verify {
            keys,
            from: from.collect::<Result<_, _>>()?,
            now: Some(crate::folder::world().now()),
        })
    }

    pub(crate) fn keys(&self) -> anyhow::Result<Vec<VerifyingKey>> {
        let read = |given: &String| {
            let text = match console::read_to_string(given) {
                Ok(text) => text,
                Err(_) => given.clone(),
            };
            let key = text.trim().parse::<VerifyingKey>();
            key.map_err(|error| anyhow!("--key {given}: {error}"))
        };
        self.key.iter().map(read).collect()
    }

    pub(crate) fn tell(
        &self,
        outcome: Result<(Audited, Option<String>), RegistryError>,
        is_own_key: bool,
    ) -> anyhow::Result<Answer> {
        let is_right = outcome
            .as_ref()
            .is_ok_and(|(audited, _)| audited.findings.is_empty());
        let answer = self.output.print(
            outcome,
            |(audited, _)| {
                json!({
                    "verified": audited.findings.is_empty(),
                    "events": audited.events,
                    "names": audited.names,
                    "hidden": audited.hidden,
                    "erased": audited.erased,
                    "reassigned": audited.reassigned,
                    "checkpoints": audited.checkpoints.iter().map(|(what, size)| json!({"what": what, "size": size})).collect::<Json>(),
                    "notes": audited.notes.iter().map(note_json).collect::<Json>(),
                    "findings": audited.findings.iter().map(finding_json).collect::<Json>(),
                    "following": audited.following,
                })
            },
            |(audited, key), out| {
                for finding in &audited.findings {
                    let text = finding.to_string();
                    writeln!(out, "{} [{}]", Safe(&text), finding.code())?;
                }
                if audited.following > 0 {
                    let more = audited.following;
                    writeln!(out, "{more} more findings can follow from these and are not listed: \
                        verify again when these are explained")?;
                }
                for note in &audited.notes {
                    let text = note.to_string();
                    writeln!(out, "note: {} [{}]", Safe(&text), note.code())?;
                }
                writeln!(out, "read {} events", audited.events)?;
                for (what, size) in &audited.checkpoints {
                    writeln!(out, "compared with {what}, of {size} events")?;
                }
                if let (Some(key), true) = (key, is_own_key) {
                    writeln!(out, "signatures were checked with the key that the export says is its own:")?;
                    writeln!(out, "{}", Safe(key))?;
                    writeln!(out, "give one that you trust with --key")?;
                }
                match audited.findings.len() {
                    0 => writeln!(out, "the log is whole: {}", Coverage(audited)),
                    1 => writeln!(out, "1 thing is wrong"),
                    count => writeln!(out, "{count} things are wrong"),
                }
            },
        )?;
        Ok(if answer == Answer::Done && !is_right {
            Answer::No
        } else {
            answer
        })
    }

    fn proof(&self, path: &Path, keys: &[VerifyingKey]) -> anyhow::Result<Answer> {
        let text = match read_text(path) {
            Ok(text) => text,
            Err(problem) => return Ok(self.output.misused(&problem)),
        };
        if let Ok(growth) = serde_json::from_str::<Growth>(&text) {
            let outcome = growth.verify(keys).map_err(|problem| refusal(&problem));
            return self.output.print(
                outcome,
                |(from, to)| json!({"verified": true, "from": from.size, "to": to.size}),
                |(from, to), out| {
                    let (from, to) = (from.size, to.size);
                    writeln!(out, "the log of {to} events continues that of {from}")
                },
            );
        }
        let Ok(proof) = serde_json::from_str::<Proof>(&text) else {
            let problem = format!("{} is no proof", path.display());
            return Ok(self.output.misused(&problem));
        };
        let own = proof.log.parse::<VerifyingKey>();
        let (keys, is_own) = match (keys, own) {
            ([], Ok(own)) => (vec![own], true),
            (keys, _) => (keys.to_vec(), false),
        };
        let mut outcome = Err(ProofProblem::Unreadable("the key"));
        for key in &keys {
            outcome = proof.verify(self.id.as_deref(), key);
            if outcome.is_ok() {
                break;
            }
        }
        self.output.print(
            outcome.map_err(|problem| refusal(&problem)),
            |proven| {
                json!({
                    "verified": true,
                    "id": proof.id,
                    "log": proven.checkpoint.origin,
                    "size": proven.checkpoint.size,
                    "events": proven.events.iter().map(|event| json!({
                        "event": event.number,
                        "time": time(event.time),
                        "action": event.action.as_str(),
                        "version": event.version,
                    })).collect::<Json>(),
                    "values": proven.values.iter().map(wire_json::value).collect::<Json>(),
                })
            },
            |proven, out| {
                tell_proven(&proof, proven, out)?;
                if is_own {
                    writeln!(out, "signed by the key that the proof says is the log's own: give one that you trust with --key")?;
                }
                Ok(())
            },
        )
    }
}

/// The text of a file; - is standard input.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let text = if path.as_os_str() == "-" {
        console::read_text(console::stdin())
    } else {
        console::read_to_string(path)
    };
    text.map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// What a verdict covers: which names can be told from each other, and which cannot.
struct Coverage<'a>(&'a Audited);

impl fmt::Display for Coverage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Audited {
            names,
            hidden,
            erased,
            reassigned,
            ..
        } = self.0;
        let s = if *names == 1 { "" } else { "s" };
        write!(
            f,
            "{names} public name{s}, none assigned twice; {hidden} hidden; {erased} erased"
        )?;
        match reassigned {
            Some(reassigned) => write!(f, ", {reassigned} of them assigned again"),
            None => write!(f, " (an export cannot show whether one was assigned again)"),
        }
    }
}

fn note_json(note: &Note) -> Json {
    json!({"code": note.code(), "event": note.event(), "message": note.to_string()})
}

fn finding_json(finding: &Finding) -> Json {
    json!({"code": finding.code(), "event": finding.event(), "message": finding.to_string()})
}

fn refusal(problem: &ProofProblem) -> RegistryError {
    RegistryError::Policy {
        code: "not-proven",
        problem: problem.to_string(),
    }
}
