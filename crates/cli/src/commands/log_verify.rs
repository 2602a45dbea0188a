//! `handfast log verify`: a log checked by those who do not trust it.
//!
//! The log of a data folder is read from the store directly, for reading alone and in a process of
//! its own: it may be damaged. Everything else needs no data folder: a file, or a server on the
//! network, whose log is checked as it comes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, anyhow};
use clap::{Args, ValueHint};
use handfast_log::{
    Checkpoint, Hash, Hashes, ProveError, Tile, VerifyingKey, consistency, verify_consistency,
};
use handfast_registry::{
    Audited, Finding, Growth, Note, Proof, ProofProblem, Verify, rfc3339 as time, verify_export,
    verify_growth, verify_proof,
};
use handfast_wire::json as wire_json;
use hyper::body::Bytes;
use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::log::{tell_proven, write_file};
use crate::exit::{Answer, Problem, UnreadableInput, is_broken_pipe, misuse, misused, refused};
use crate::files::{self, read_input};
use crate::folder::Data;
use crate::remote::client::Client;
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

/// Verify something.
#[derive(Args)]
pub(crate) struct VerifyCommand {
    /// With --proof, the name that it must be of
    #[arg(requires = "proof")]
    id: Option<String>,
    /// An export, instead of the log of the data folder; needs no data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    export: Option<PathBuf>,
    /// A proof, instead of a log; needs no data folder
    #[arg(long, value_name = "FILE", conflicts_with = "export", value_hint = ValueHint::FilePath)]
    proof: Option<PathBuf>,
    /// A public key that is trusted; by default the log's own. Once for each: the key of the log,
    /// and those of the logs that it continues
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// A checkpoint from earlier that the log must continue
    #[arg(
        long,
        value_name = "CHECKPOINT",
        conflicts_with = "proof",
        value_hint = ValueHint::FilePath
    )]
    from: Vec<PathBuf>,
    /// At a server on the network: check only that the log has grown since the checkpoint in this
    /// file, and keep the new one there
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["from", "export", "proof"],
        value_hint = ValueHint::FilePath
    )]
    keep: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl VerifyCommand {
    /// Whether it reads a log that is not in a file.
    pub(crate) fn reads_log(&self) -> bool {
        self.export.is_none() && self.proof.is_none()
    }

    pub(crate) fn run(&self, data: &Data, client: &Client) -> anyhow::Result<Answer> {
        if self.keep.is_some() && !client.is_remote() {
            let problem = "--keep is for a server on the network: say --api before the command";
            return Err(misused(problem));
        }
        let keys = misuse(self.keys())?;
        if let Some(path) = &self.proof {
            return self.proof(path, &keys);
        }
        if let Some(file) = &self.keep {
            return self.grown(client, file, &keys);
        }
        let from = self.from.iter().map(|path| misuse(read_input(path)));
        let verify = Verify {
            keys,
            from: from.collect::<Result<_, _>>()?,
            now: Some(crate::folder::world().now()),
        };
        let (audited, key) = if let Some(path) = &self.export {
            let file = misuse(File::open(path).with_context(|| UnreadableInput::new(path)))?;
            let progress = Progress::new(file.metadata().map(|metadata| metadata.len()).ok());
            let mut input = BufReader::with_capacity(1 << 20, file);
            let verified = verify_export(&mut input, &verify, &mut |events, bytes| {
                progress.at(bytes, "events", events);
            });
            let (audited, key) = verified.map_err(refused)?;
            (audited, Some(key))
        } else if client.is_remote() {
            let (audited, key) = read_through(client, &verify)?;
            (audited, Some(key))
        } else {
            let audited = data.open_to_read().and_then(|registry| {
                let progress = Progress::new(Some(registry.event_count()?));
                registry.verify_log(&verify, &mut |events, _| {
                    progress.at(events, "events", events);
                })
            });
            (audited.map_err(refused)?, None)
        };
        self.tell(&audited, key.filter(|_| verify.keys.is_empty()))
    }

    fn grown(&self, client: &Client, file: &Path, keys: &[VerifyingKey]) -> anyhow::Result<Answer> {
        let (from, to) = grown(client, file, keys)?;
        let said = json!({"verified": true, "from": from, "to": to});
        self.output.print(&said, |out| match from {
            Some(from) => writeln!(out, "the log of {to} events continues that of {from}"),
            None => writeln!(out, "the log has {to} events; from now on it can only grow"),
        })
    }

    fn keys(&self) -> anyhow::Result<Vec<VerifyingKey>> {
        let read = |given: &String| {
            let text = files::read_text(Path::new(given)).unwrap_or_else(|_| given.clone());
            let key = text.trim().parse::<VerifyingKey>();
            key.map_err(|error| anyhow!("--key {given}: {error}"))
        };
        self.key.iter().map(read).collect()
    }

    /// Says what was found. `own_key` is the key of an export that was not given by the user.
    fn tell(&self, audited: &Audited, own_key: Option<String>) -> anyhow::Result<Answer> {
        let checkpoints = audited.checkpoints.iter();
        let checkpoints = checkpoints.map(|(what, size)| json!({"what": what, "size": size}));
        let said = json!({
            "verified": audited.findings.is_empty(),
            "events": audited.events,
            "names": audited.names,
            "hidden": audited.hidden,
            "erased": audited.erased,
            "reassigned": audited.reassigned,
            "checkpoints": checkpoints.collect::<Json>(),
            "notes": audited.notes.iter().map(note_json).collect::<Json>(),
            "findings": audited.findings.iter().map(finding_json).collect::<Json>(),
            "following": audited.following,
        });
        self.output.print(&said, |out| {
            for finding in &audited.findings {
                let text = finding.to_string();
                writeln!(out, "{} [{}]", Safe(&text), finding.code())?;
            }
            if audited.following > 0 {
                let more = audited.following;
                writeln!(
                    out,
                    "{more} more findings can follow from these and are not listed: \
                     verify again when these are explained"
                )?;
            }
            for note in &audited.notes {
                let text = note.to_string();
                writeln!(out, "note: {} [{}]", Safe(&text), note.code())?;
            }
            writeln!(out, "read {} events", audited.events)?;
            for (what, size) in &audited.checkpoints {
                writeln!(out, "compared with {what}, of {size} events")?;
            }
            if let Some(key) = own_key {
                writeln!(
                    out,
                    "signatures were checked with the key that the export says is its own:"
                )?;
                writeln!(out, "{}", Safe(&key))?;
                writeln!(out, "give one that you trust with --key")?;
            }
            match audited.findings.len() {
                0 => writeln!(out, "the log is whole: {}", coverage(audited)),
                1 => writeln!(out, "1 thing is wrong"),
                count => writeln!(out, "{count} things are wrong"),
            }
        })?;
        Ok(Answer::all(audited.findings.is_empty()))
    }

    fn proof(&self, path: &Path, keys: &[VerifyingKey]) -> anyhow::Result<Answer> {
        let text = misuse(read_input(path))?;
        if let Ok(growth) = serde_json::from_str::<Growth>(&text) {
            let (from, to) = verify_growth(&growth, keys).map_err(not_proven)?;
            let (from, to) = (from.size, to.size);
            let said = json!({"verified": true, "from": from, "to": to});
            return self.output.print(&said, |out| {
                writeln!(out, "the log of {to} events continues that of {from}")
            });
        }
        let Ok(proof) = serde_json::from_str::<Proof>(&text) else {
            return Err(misused(format!("{} is no proof", path.display())));
        };
        let own = proof.log.parse::<VerifyingKey>();
        let (keys, is_own) = match (keys, own) {
            ([], Ok(own)) => (vec![own], true),
            (keys, _) => (keys.to_vec(), false),
        };
        let mut outcome = Err(ProofProblem::Unreadable("the key"));
        for key in &keys {
            outcome = verify_proof(&proof, self.id.as_deref(), key);
            if outcome.is_ok() {
                break;
            }
        }
        let proven = outcome.map_err(not_proven)?;
        let events = proven.events.iter().map(|event| {
            json!({
                "event": event.number,
                "time": time(event.time),
                "action": event.action.as_str(),
                "version": event.version,
            })
        });
        let said = json!({
            "verified": true,
            "id": proof.id,
            "log": proven.checkpoint.origin,
            "size": proven.checkpoint.size,
            "events": events.collect::<Json>(),
            "values": proven.values.iter().map(wire_json::value).collect::<Json>(),
        });
        self.output.print(&said, |out| {
            tell_proven(&proof, &proven, out)?;
            if is_own {
                writeln!(
                    out,
                    "signed by the key that the proof says is the log's own: \
                     give one that you trust with --key"
                )?;
            }
            Ok(())
        })
    }
}

/// Reads all of the log as it comes, and gives its key.
fn read_through(client: &Client, verify: &Verify) -> anyhow::Result<(Audited, String)> {
    let (reader, mut writer) = io::pipe().context("no pipe")?;
    thread::scope(|scope| {
        let verifying = scope.spawn(move || {
            let progress = Progress::new(None);
            let mut input = BufReader::with_capacity(1 << 20, reader);
            verify_export(&mut input, verify, &mut |events, _| {
                progress.at(events, "events", events);
            })
        });
        let given = client.download::<IgnoredAny>("/log/export", &mut writer, &mut |_| ());
        drop(writer);
        let verified = verifying.join();
        match given {
            // The verification stops reading where something is wrong.
            Err(error) if !is_broken_pipe(&error) => return Err(error),
            _ => {}
        }
        let verified = verified.map_err(|_| anyhow!("the verification failed"))?;
        verified.map_err(refused)
    })
}

/// Checks by tiles that the log has only grown since the checkpoint in a file, and writes the new
/// one. Gives the sizes before and after.
fn grown(
    client: &Client,
    file: &Path,
    keys: &[VerifyingKey],
) -> anyhow::Result<(Option<u64>, u64)> {
    let own = if keys.is_empty() {
        vec![client.log_key()?]
    } else {
        keys.to_vec()
    };
    let open = |note: &str| own.iter().find_map(|key| Checkpoint::open(note, key).ok());
    let unsigned = |what| not_proven(format!("{what} is not signed by a key that is trusted"));
    let note = client.checkpoint()?;
    let new = open(&note).ok_or_else(|| unsigned("the checkpoint".to_string()))?;
    let old = match fs::read_to_string(file) {
        Ok(text) => Some(open(&text).ok_or_else(|| unsigned(file.display().to_string()))?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(anyhow!("cannot read {}: {error}", file.display())),
    };
    if let Some(old) = &old {
        if old.size > new.size {
            let (had, has) = (old.size, new.size);
            return Err(not_proven(format!(
                "the log had {had} events, and has {has}"
            )));
        }
        let tiles = LogTiles {
            client,
            size: new.size,
            fetched: RefCell::default(),
        };
        let proof = consistency(&tiles, old.size, new.size).map_err(|error| match error {
            ProveError::Hashes(problem) => problem,
            _ => not_proven("the tiles of the log do not fit its size"),
        })?;
        verify_consistency(old.size, &old.root, new.size, &new.root, &proof)
            .map_err(|error| not_proven(format!("the log is another than it was: {error}")))?;
    }
    write_file(file, note.as_bytes())?;
    Ok((old.map(|old| old.size), new.size))
}

/// The hashes of a log, from the tiles that its server publishes.
struct LogTiles<'s> {
    client: &'s Client,
    size: u64,
    fetched: RefCell<HashMap<Tile, Bytes>>,
}

impl Hashes for LogTiles<'_> {
    type Error = anyhow::Error;

    fn hash(&self, level: u8, index: u64) -> anyhow::Result<Hash> {
        let found = self.hashes(level, index, 1)?.first().copied();
        found.context("a tile of the log is too short")
    }

    fn hashes(&self, level: u8, start: u64, count: u16) -> anyhow::Result<Vec<Hash>> {
        let tile = Tile::of(level, start / 256, self.size);
        let tile = tile.context("the log has no such tile")?;
        let known = self.fetched.borrow().get(&tile).cloned();
        let bytes = match known {
            Some(bytes) => bytes,
            None => self.client.fetch(&format!("/log/{}", tile.path()))?,
        };
        self.fetched.borrow_mut().insert(tile, bytes.clone());
        let (hashes, _) = bytes.as_chunks::<32>();
        let skip = usize::try_from(start - tile.first()).unwrap_or(usize::MAX);
        let found = hashes.get(skip..).and_then(|rest| rest.get(..count.into()));
        Ok(found.context("a tile of the log is too short")?.to_vec())
    }
}

/// What a verdict covers: which names can be told from each other, and which cannot.
fn coverage(audited: &Audited) -> String {
    let (names, hidden, erased) = (audited.names, audited.hidden, audited.erased);
    let s = if names == 1 { "" } else { "s" };
    let again = match audited.reassigned {
        Some(count) => format!(", {count} of them assigned again"),
        None => " (an export cannot show whether one was assigned again)".into(),
    };
    format!("{names} public name{s}, none assigned twice; {hidden} hidden; {erased} erased{again}")
}

fn note_json(note: &Note) -> Json {
    json!({"code": note.code(), "event": note.event(), "message": note.to_string()})
}

fn finding_json(finding: &Finding) -> Json {
    json!({"code": finding.code(), "event": finding.event(), "message": finding.to_string()})
}

fn not_proven(problem: impl fmt::Display) -> anyhow::Error {
    Problem::new(Answer::No, "not-proven", problem.to_string(), None).into()
}
