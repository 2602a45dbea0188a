//! The proof log: its identity, checkpoints and tiles.
//!
//! The leaves are the events. With the public key and an old checkpoint, anyone can check that the
//! log only grew; with a [`Proof`], that it contains a name. Neither needs to ask this registry
//! again.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use handfast_api::Growth;
use handfast_log::{
    Bundle, Checkpoint, SignedNote, SigningKey, Tile, VerifyingKey, consistency, root_at,
};
use handfast_store::{Table, TableKey, sync_name};
use serde::{Deserialize, Serialize};

use crate::Principal;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::transactions::LogStart;
use crate::log::event::{Action, Commitments, Subject};
use crate::log::proof::growth;
use crate::log::tree::{self, StoredHashes};
use crate::registry::Registry;

/// The file of the secret key, in the data folder.
const KEY_FILE: &str = "log.key";
/// The file of the secret key of a log that is about to begin.
const NEW_KEY_FILE: &str = "log.key.new";
/// The key of the identity of the log in the store.
const IDENTITY: &[u8] = b"log";
/// The key of the number of the log's first own event in the store.
const FIRST_EVENT: &[u8] = b"log-from";
/// The key of the last signed checkpoint in the store.
const CHECKPOINT: &[u8] = b"checkpoint";

/// The head of the log in a snapshot.
pub(crate) struct SignedHead {
    pub(crate) note: SignedNote,
    /// The number of events.
    pub(crate) size: u64,
}

/// The identity of the log.
#[derive(Debug, Serialize, Deserialize)]
struct Identity {
    /// The public key, with the name of the log.
    key: String,
}

impl Registry {
    /// The number of events.
    pub fn event_count(&self) -> Result<u64, RegistryError> {
        self.read(|view| Ok(tree::read(view.now)?.size()))
    }

    /// The start of the current log; `None` if it is empty. Events that a client read before that
    /// may no longer be part of it.
    pub fn log_start(&self) -> Result<Option<LogStart>, RegistryError> {
        self.read(|view| {
            let number: u64 = view.decode_stored(Table::Meta, FIRST_EVENT)?.unwrap_or(1);
            let event = view.event(number)?;
            Ok(event.map(|event| LogStart {
                number,
                time: event.time,
            }))
        })
    }

    /// The public key of the log.
    pub fn log_key(&self) -> Result<VerifyingKey, RegistryError> {
        self.read(log_key)
    }

    /// The name of the log and the number of events in the last checkpoint that was signed; `None`
    /// if none was.
    pub fn last_signed(&self) -> Result<Option<(String, u64)>, RegistryError> {
        let text = self.read(last_checkpoint)?;
        let note = text.and_then(|text| text.parse::<SignedNote>().ok());
        let checkpoint = note.and_then(|note| note.unverified_text().parse::<Checkpoint>().ok());
        Ok(checkpoint.map(|checkpoint| (checkpoint.origin, checkpoint.size)))
    }

    /// Signs the head of the log.
    pub fn checkpoint(&self) -> Result<SignedNote, RegistryError> {
        self.read_signed(|_, head| Ok(head.note.clone()))
    }

    /// Reads from a snapshot together with the signed head of the log in that snapshot, so that the
    /// data fits the checkpoint.
    pub(crate) fn read_signed<T>(
        &self,
        read: impl FnOnce(&View<'_>, &SignedHead) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.read(|view| {
            let key = self.signing_key(&log_key(view)?)?;
            let tree = tree::read(view.now)?;
            let checkpoint = Checkpoint::new(key.verifying_key().name(), tree.size(), tree.root());
            let note = checkpoint.sign(&key).map_err(|_| key_problem())?;
            // A repeated request is not a reason to write.
            if last_checkpoint(view)?.is_none_or(|last| last != note.to_string()) {
                self.store_checkpoint(&note, &checkpoint)?;
            }
            let size = checkpoint.size;
            read(view, &SignedHead { note, size })
        })
    }

    /// Stores a published checkpoint, unless a later one of the same log is stored.
    fn store_checkpoint(&self, note: &SignedNote, new: &Checkpoint) -> Result<(), RegistryError> {
        let (text, new) = (note.to_string(), new.clone());
        self.load(move |loading| {
            let table_key = TableKey::named(Table::Meta, CHECKPOINT);
            let read = |bytes: &[u8]| String::from_utf8_lossy(bytes).parse::<SignedNote>().ok();
            let last = loading.snapshot().get(&table_key, read)?.flatten();
            let last = last.and_then(|last| last.unverified_text().parse::<Checkpoint>().ok());
            if last.is_some_and(|last| last.origin == new.origin && last.size > new.size) {
                return Ok(());
            }
            Ok(loading.put(&table_key, text.as_bytes())?)
        })
    }

    /// Begins a log with a new key. It contains all events of the current log, if there is one, and
    /// its first own event names the head that it continues from. A registry that was restored from
    /// a backup must begin a new log: events that the old log has published may be missing.
    pub fn begin_log(
        &self,
        who: &Principal,
        origin: Option<&str>,
    ) -> Result<VerifyingKey, RegistryError> {
        if !self.is_administrator(who)? {
            let problem = "only the operator and administrators begin a log";
            return Err(RegistryError::policy("operator-only", problem));
        }
        let seed = self.random();
        let origin = match origin {
            Some(origin) => origin.to_string(),
            None => format!("handfast-log-{}", new_name(&seed)),
        };
        let bad_origin = |_| {
            let problem = "the name of a log is like pid.example.org/log: no spaces and no +";
            RegistryError::policy("bad-origin", problem)
        };
        let key = SigningKey::new(&origin, &seed).map_err(bad_origin)?;
        // The new key gets a file of its own. The old key signs until the new one is stored.
        write_key(&self.folder().join(NEW_KEY_FILE), &key)?;
        let identity = Identity {
            key: key.verifying_key().to_string(),
        };
        self.change(who, move |change_set| {
            let first = change_set.next_event();
            change_set.store_encoded(Table::Meta, FIRST_EVENT, &first)?;
            change_set.continue_log();
            change_set.delete(TableKey::named(Table::Meta, CHECKPOINT));
            change_set.store_encoded(Table::Meta, IDENTITY, &identity)
        })?;
        self.signing_key(key.verifying_key())?;
        Ok(key.verifying_key().clone())
    }

    /// The proof that the log has only grown since a checkpoint.
    pub fn prove_growth(&self, from: &str) -> Result<Growth, RegistryError> {
        let bad = || RegistryError::policy("bad-checkpoint", "that is no checkpoint");
        let old = from.parse::<SignedNote>().map_err(|_| bad())?;
        let old: Checkpoint = old.unverified_text().parse().map_err(|_| bad())?;
        self.read_signed(|view, new| {
            let hashes = StoredHashes(view.now);
            let is_ours = old.size <= new.size
                && root_at(&hashes, old.size).is_ok_and(|root| root == old.root);
            if !is_ours {
                let problem = "that is not a checkpoint of this log: its head is another";
                return Err(RegistryError::policy("other-log", problem));
            }
            let proof = consistency(&hashes, old.size, new.size);
            let proof = proof.map_err(|_| RegistryError::corrupt("the tree of the log"))?;
            Ok(growth(from, &new.note.to_string(), &proof))
        })
    }

    /// A tile of the log, in the form of C2SP tlog-tiles; `None` if there are not enough events
    /// yet.
    pub fn tile(&self, tile: &Tile) -> Result<Option<Vec<u8>>, RegistryError> {
        self.read(|view| {
            let size = tree::read(view.now)?.size();
            let now = Tile::of(tile.level(), tile.index(), size);
            if now.is_none_or(|now| now.width() < tile.width()) {
                return Ok(None);
            }
            let (level, first, width) = (tile.level(), tile.first(), tile.width());
            let row = handfast_log::Hashes::hashes(&StoredHashes(view.now), level, first, width)?;
            Ok(Some(row.concat()))
        })
    }

    /// The events of a tile of leaf hashes; `None` if there are not enough yet.
    pub fn bundle(&self, bundle: &Bundle) -> Result<Option<Vec<u8>>, RegistryError> {
        self.read(|view| {
            let size = tree::read(view.now)?.size();
            let now = Bundle::of(bundle.index(), size);
            if now.is_none_or(|now| now.width() < bundle.width()) {
                return Ok(None);
            }
            entries(view, bundle.first(), bundle.width()).map(Some)
        })
    }

    /// The secret key for a public one.
    fn signing_key(&self, known: &VerifyingKey) -> Result<SigningKey, RegistryError> {
        let read = |path: &Path| -> Option<SigningKey> {
            let key: SigningKey = fs::read_to_string(path).ok()?.trim_end().parse().ok()?;
            (key.verifying_key() == known).then_some(key)
        };
        let (path, new) = (
            self.folder().join(KEY_FILE),
            self.folder().join(NEW_KEY_FILE),
        );
        if let Some(key) = read(&path) {
            return Ok(key);
        }
        let key = read(&new).ok_or_else(key_problem)?;
        fs::rename(new, path).map_err(|source| RegistryError::Output { source })?;
        Ok(key)
    }
}

/// The public key of the log.
pub(crate) fn log_key(view: &View<'_>) -> Result<VerifyingKey, RegistryError> {
    let identity: Option<Identity> = view.decode_stored(Table::Meta, IDENTITY)?;
    let key = identity.and_then(|identity| identity.key.parse().ok());
    key.ok_or_else(key_problem)
}

/// The last signed checkpoint.
pub(crate) fn last_checkpoint(view: &View<'_>) -> Result<Option<String>, RegistryError> {
    let table_key = TableKey::named(Table::Meta, CHECKPOINT);
    let read = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(view.now.get(&table_key, read)?)
}

impl ChangeSet<'_> {
    /// An event that names the head of the log so far, if it has any events.
    fn continue_log(&mut self) {
        let (size, root) = (self.tree().size(), self.tree().root());
        if size == 0 {
            return;
        }
        let origin = match log_key(self) {
            Ok(key) => key.name().to_string(),
            Err(_) => String::new(),
        };
        let head = Commitments::Each(vec![(0, root)]);
        self.add_event(Action::BeginLog, Subject::None, &origin, size, head);
    }
}

/// The first 12 hex digits of a hash of the seed; the seed cannot be derived from it.
fn new_name(seed: &[u8; 32]) -> String {
    let digest = crate::log::event::digest(&[b"handfast log name", seed]);
    let digits = digest.iter().take(6);
    digits.fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn write_key(path: &Path, key: &SigningKey) -> Result<(), RegistryError> {
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        writeln!(file, "{}", key.secret_text())?;
        file.sync_all()?;
        // The store names this key next, so the key must be there after a crash.
        sync_name(path)
    };
    write().map_err(|source| RegistryError::Output { source })
}

/// Events one after the other, each with its length in two bytes.
fn entries(view: &View<'_>, first: u64, count: u16) -> Result<Vec<u8>, RegistryError> {
    let mut bundle = Vec::new();
    for number in (first + 1..).take(usize::from(count)) {
        let event = view.event_bytes(number)?;
        let length = u16::try_from(event.len()).map_err(|_| RegistryError::corrupt("an event"))?;
        bundle.extend_from_slice(&length.to_be_bytes());
        bundle.extend_from_slice(&event);
    }
    Ok(bundle)
}

fn key_problem() -> RegistryError {
    let problem = "the key of the log, log.key in the data folder, is missing or of another log";
    RegistryError::policy("no-log-key", problem)
}
