//! `handfast --url … log`: the same at a server elsewhere, and what an auditor asks of one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::thread;

use anyhow::{Context, anyhow};
use handfast_log::{
    Bundle, Checkpoint, Hash, Hashes, Tile, VerifyingKey, consistency, verify_consistency,
};
use handfast_registry::{Growth, Proof, RegistryError, Verify, verify_export};
use hyper::body::Bytes;
use serde_json::{Value as Json, json};

use crate::commands::job::{field, text};
use crate::commands::log::{
    Command, Prove, VerifyCommand, read_text, tell_growth, tell_key, tell_proof,
};
use crate::commands::user::said;
use crate::exit::Answer;
use crate::new_file::NewFile;
use crate::remote::api::{Elsewhere, NO_AS, Problem, encode, unreadable};
use crate::terminal::output::Output;
use crate::terminal::progress::Progress;

impl Command {
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        match self {
            Self::Key { output } => {
                said(*output, server.key(), |key| tell_key(*output, Ok(key), ""))
            }
            Self::Checkpoint { output } => said(*output, server.checkpoint(), |note| {
                output.print(
                    Ok(note),
                    |note| json!({ "checkpoint": note }),
                    |note, out| write!(out, "{note}"),
                )
            }),
            Self::Prove(prove) => prove.run_elsewhere(server),
            Self::Export { file, output } => export(server, file, *output),
            Self::Verify(verify) => verify.run_elsewhere(server),
            Self::Tiles { into, output } => {
                let progress = Progress::new(None);
                let copied = copy_tiles(server, into, &progress);
                drop(progress);
                said(*output, copied, |note| {
                    let folder = into.display().to_string();
                    output.print(
                        Ok(note),
                        |note| json!({"folder": folder, "checkpoint": note}),
                        |_, out| writeln!(out, "wrote {folder}"),
                    )
                })
            }
            Self::Begin { origin, output } => {
                let body = origin.as_ref().map(|origin| json!({ "origin": origin }));
                let begun = server.ask("POST", "/log/begin", body.as_ref());
                let key = begun.and_then(|said| read_key(&said));
                said(*output, key, |key| {
                    tell_key(*output, Ok(key), "began a new log; its public key is\n")
                })
            }
        }
    }
}

impl Elsewhere {
    fn key(&self) -> Result<VerifyingKey, Problem> {
        read_key(&self.ask("GET", "/log/key", None)?)
    }

    fn checkpoint(&self) -> Result<String, Problem> {
        let note = self.fetch("/log/checkpoint")?;
        let note = String::from_utf8(note.to_vec());
        note.map_err(|_| anyhow!("the checkpoint cannot be read").into())
    }
}

fn read_key(said: &Json) -> Result<VerifyingKey, Problem> {
    let key = text(said, "key").parse::<VerifyingKey>();
    key.map_err(|error| anyhow!("the key of the log cannot be read: {error}").into())
}

/// Writes the log as files, as the server publishes it. Tiles that are full are fetched once.
fn copy_tiles(server: &Elsewhere, into: &Path, progress: &Progress) -> Result<String, Problem> {
    let note = server.checkpoint()?;
    let key = server.key()?;
    let checkpoint = Checkpoint::open(&note, &key);
    let size = checkpoint
        .map_err(|error| anyhow!("the checkpoint: {error}"))?
        .size;
    let copy = |path: &str, is_full: bool| {
        let file = into.join(path);
        if is_full && file.exists() {
            return Ok(());
        }
        let bytes = server.fetch(&format!("/log/{path}"))?;
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

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        let mut file = NewFile::create(path, 0o644)?;
        file.write_all(bytes)?;
        anyhow::Ok(file.finish()?)
    };
    Ok(write().with_context(|| format!("cannot write {}", path.display()))?)
}

fn export(server: &Elsewhere, path: &Path, output: Output) -> anyhow::Result<Answer> {
    let is_standard = path.as_os_str() == "-";
    let progress = Progress::new(None);
    let mut tell = |bytes: u64| progress.at(bytes, "bytes", bytes);
    let given = if is_standard {
        server.download("/log/export", &mut io::stdout(), &mut tell)
    } else {
        let mut file = BufWriter::with_capacity(1 << 20, NewFile::create(path, 0o644)?);
        let given = server.download("/log/export", &mut file, &mut tell);
        if matches!(given, Ok(Ok(_))) {
            file.into_inner()?.finish()?;
        }
        given
    };
    drop(progress);
    let summary = match given {
        Err(problem) => return problem.tell(output),
        Ok(Err(error)) if error.kind() == ErrorKind::BrokenPipe => return Ok(Answer::Done),
        Ok(Err(error)) => return Err(error.into()),
        Ok(Ok(_)) if is_standard => return Ok(Answer::Done),
        Ok(Ok(summary)) => summary,
    };
    let events = summary.and_then(|summary| field(&summary, "events").as_u64());
    output.print(
        events.ok_or_else(unreadable),
        |events| json!({"file": path.display().to_string(), "events": events}),
        |events, out| writeln!(out, "wrote {events} events to {}", path.display()),
    )
}

impl Prove {
    fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        let output = self.output;
        if self.who.is_some() {
            return Ok(output.misused(NO_AS));
        }
        if let Some(from) = &self.from {
            let text = match read_text(from) {
                Ok(text) => text,
                Err(problem) => return Ok(output.misused(&problem)),
            };
            return said(output, server.send_text("/log/growth", &text), |growth| {
                let growth = serde_json::from_value::<Growth>(growth);
                tell_growth(output, growth.map_err(|_| unreadable()))
            });
        }
        let path = format!(
            "/names/{}/proof",
            encode(self.id.as_deref().unwrap_or_default())
        );
        let proof = server.ask("GET", &path, None);
        let proof = proof.and_then(|proof| Ok((proof, server.key()?)));
        said(output, proof, |(proof, key)| {
            let proof = serde_json::from_value::<Proof>(proof).map_err(|_| unreadable());
            tell_proof(output, proof.map(|proof| (proof, key)))
        })
    }
}

impl VerifyCommand {
    fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        if self.proof.is_some() || self.export.is_some() {
            return self.run(None);
        }
        let keys = match self.keys() {
            Ok(keys) => keys,
            Err(error) => return Ok(self.output.misused(&format!("{error:#}"))),
        };
        if let Some(file) = &self.keep {
            let grown = grown(server, file, &keys);
            return said(self.output, grown, |outcome| {
                self.output.print(
                    outcome,
                    |(from, to)| json!({"verified": true, "from": from, "to": to}),
                    |(from, to), out| match from {
                        Some(from) => {
                            writeln!(out, "the log of {to} events continues that of {from}")
                        }
                        None => {
                            writeln!(out, "the log has {to} events; from now on it can only grow")
                        }
                    },
                )
            });
        }
        let verify = match self.wanted(keys) {
            Ok(verify) => verify,
            Err(problem) => return Ok(self.output.misused(&problem)),
        };
        let is_own_key = verify.keys.is_empty();
        match read_through(server, &verify) {
            Ok(outcome) => self.tell(outcome, is_own_key),
            Err(problem) => problem.tell(self.output),
        }
    }
}

/// Reads all of the log as it comes.
fn read_through(
    server: &Elsewhere,
    verify: &Verify,
) -> Result<Result<(handfast_registry::Audited, Option<String>), RegistryError>, Problem> {
    let (reader, mut writer) = io::pipe().context("no pipe")?;
    thread::scope(|scope| {
        let verifying = scope.spawn(move || {
            let progress = Progress::new(None);
            let mut input = BufReader::with_capacity(1 << 20, reader);
            verify_export(&mut input, verify, &mut |events, _| {
                progress.at(events, "events", events);
            })
        });
        let given = server.download("/log/export", &mut writer, &mut |_| ());
        drop(writer);
        let verified = verifying.join();
        // Whoever verifies has stopped reading where something is wrong.
        given?.or_else(|error| match error.kind() {
            ErrorKind::BrokenPipe => Ok(None),
            _ => Err(anyhow::Error::from(error)),
        })?;
        let verified = verified.map_err(|_| anyhow!("the verification failed"))?;
        Ok(verified.map(|(audited, key)| (audited, Some(key))))
    })
}

/// Checks by tiles that the log has only grown since the checkpoint that is kept, and keeps the new one.
fn grown(
    server: &Elsewhere,
    file: &Path,
    keys: &[VerifyingKey],
) -> Result<Result<(Option<u64>, u64), RegistryError>, Problem> {
    let not_proven = |problem: String| {
        let code = "not-proven";
        Ok(Err(RegistryError::Policy { code, problem }))
    };
    let own = if keys.is_empty() {
        vec![server.key()?]
    } else {
        keys.to_vec()
    };
    let open = |note: &str| own.iter().find_map(|key| Checkpoint::open(note, key).ok());
    let note = server.checkpoint()?;
    let Some(new) = open(&note) else {
        return not_proven("the checkpoint is not signed by a key that is trusted".into());
    };
    let old = match fs::read_to_string(file) {
        Ok(kept) => {
            let Some(old) = open(&kept) else {
                let kept = file.display();
                return not_proven(format!("{kept} is not signed by a key that is trusted"));
            };
            Some(old)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            return Err(anyhow!("cannot read {}: {error}", file.display()).into());
        }
    };
    if let Some(old) = &old {
        if old.size > new.size {
            return not_proven(format!(
                "the log had {} events, and has {}",
                old.size, new.size
            ));
        }
        let tiles = Tiles {
            server,
            size: new.size,
            fetched: RefCell::default(),
        };
        let proof = match consistency(&tiles, old.size, new.size) {
            Ok(proof) => proof,
            Err(handfast_log::ProveError::Hashes(problem)) => return Err(problem),
            Err(_) => return not_proven("the tiles of the log do not fit its size".into()),
        };
        let checked = verify_consistency(old.size, &old.root, new.size, &new.root, &proof);
        if let Err(error) = checked {
            return not_proven(format!("the log is another than it was: {error}"));
        }
    }
    write_file(file, note.as_bytes())?;
    Ok(Ok((old.map(|old| old.size), new.size)))
}

/// The hashes of a log, from the tiles that its server publishes.
struct Tiles<'s> {
    server: &'s Elsewhere,
    size: u64,
    fetched: RefCell<HashMap<Tile, Bytes>>,
}

impl Hashes for Tiles<'_> {
    type Error = Problem;

    fn hash(&self, level: u8, index: u64) -> Result<Hash, Problem> {
        let hashes = self.hashes(level, index, 1)?;
        let missing = || anyhow!("a tile of the log is too short").into();
        hashes.first().copied().ok_or_else(missing)
    }

    fn hashes(&self, level: u8, start: u64, count: u16) -> Result<Vec<Hash>, Problem> {
        let tile = Tile::of(level, start / 256, self.size);
        let tile = tile.ok_or_else(|| anyhow!("the log has no such tile"))?;
        let known = self.fetched.borrow().get(&tile).cloned();
        let bytes = match known {
            Some(bytes) => bytes,
            None => self.server.fetch(&format!("/log/{}", tile.path()))?,
        };
        self.fetched.borrow_mut().insert(tile, bytes.clone());
        let (hashes, _) = bytes.as_chunks::<32>();
        let skip = usize::try_from(start - tile.first()).unwrap_or(usize::MAX);
        let found: Vec<_> = hashes
            .iter()
            .skip(skip)
            .take(count.into())
            .copied()
            .collect();
        if found.len() < usize::from(count) {
            return Err(anyhow!("a tile of the log is too short").into());
        }
        Ok(found)
    }
}
