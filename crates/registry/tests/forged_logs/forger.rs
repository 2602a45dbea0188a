//! Writes logs as only the holder of a key can.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_log::{Checkpoint, SigningKey, Tree, leaf_hash};
use handfast_registry::{Action, Commitments, Event, Subject};
use serde_json::json;

/// Writes events as only the holder of the key can.
#[derive(Clone)]
pub(super) struct Forger {
    pub(super) events: Vec<Event>,
    pub(super) time: u64,
}

pub(super) const DAY: u64 = 24 * 60 * 60 * 1_000;
pub(super) const A: &str = "hdl:20.9";
pub(super) const ERASABLE: &str = "hdl:20.8";
pub(super) const THESIS: &str = "hdl:20.9/THESIS";
pub(super) const SALT: [u8; 32] = [5; 32];

pub(super) fn open(key: &str) -> Subject {
    Subject::Open(key.to_string())
}

pub(super) fn hidden(key: &str) -> Subject {
    Subject::hide(key, &SALT)
}

pub(super) fn opened(key: &str) -> Subject {
    Subject::Opened {
        key: key.to_string(),
        salt: SALT,
    }
}

impl Forger {
    /// An honest beginning: an authority whose names are permanent, with a name; and one whose
    /// names may be erased.
    pub(super) fn new() -> Self {
        Self {
            events: Vec::new(),
            time: 1_800_000_000_000,
        }
        .authority(A)
        .authority(ERASABLE)
        .name(Action::Create, open(THESIS), A, 1)
    }

    pub(super) fn add(
        mut self,
        action: Action,
        subject: Subject,
        authority: &str,
        version: u64,
    ) -> Self {
        let number = u64::try_from(self.events.len()).unwrap() + 1;
        self.time += 1_000;
        let commitment = |index| (index, [u8::try_from(number % 251).unwrap(); 32]);
        // Every name has one value, which stays until it is changed.
        let commitments = match action {
            Action::Erase => Vec::new(),
            action if action.is_of_name() => vec![commitment(0), commitment(1)],
            _ => vec![commitment(0)],
        };
        self.events.push(Event {
            action,
            number,
            time: self.time,
            actor: [7; 16],
            node: 1,
            subject,
            authority: authority.to_string(),
            version,
            commitments: Commitments::Each(commitments),
        });
        self
    }

    /// Something is done to a name.
    pub(super) fn name(
        self,
        action: Action,
        subject: Subject,
        authority: &str,
        version: u64,
    ) -> Self {
        self.add(action, subject, authority, version)
    }

    /// Something is done to an authority, or a namespace.
    pub(super) fn on(self, action: Action, authority: &str, version: u64) -> Self {
        self.add(action, Subject::None, authority, version)
    }

    /// An authority is created, and the record of its prefix.
    pub(super) fn authority(self, key: &str) -> Self {
        let made = self.on(Action::CreateAuthority, key, 1);
        match key.strip_prefix("hdl:") {
            Some(prefix) => made.name(Action::Create, open(&format!("hdl:0.NA/{prefix}")), key, 1),
            None => made,
        }
    }

    /// A name is assigned and withdrawn.
    pub(super) fn withdrawn(self) -> Self {
        self.name(Action::Withdraw, open(THESIS), A, 2)
    }

    /// Changes the last event.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Event)) -> Self {
        change(self.events.last_mut().unwrap());
        self
    }

    /// A log begins that continues this one.
    pub(super) fn begin_log(self) -> Self {
        self.begin_log_after(old_key().verifying_key().name())
    }

    /// A log begins and names the one that it continues.
    pub(super) fn begin_log_after(self, name: &str) -> Self {
        let (size, root) = self.head();
        self.on(Action::BeginLog, name, size)
            .with(|event| event.commitments = Commitments::Each(vec![(0, root)]))
    }

    pub(super) fn head(&self) -> (u64, [u8; 32]) {
        let mut tree = Tree::default();
        for event in &self.events {
            tree.append(leaf_hash(&event.to_bytes()), &mut |_| ());
        }
        (tree.size(), tree.root())
    }

    /// The head, signed by a key.
    pub(super) fn checkpoint(&self, key: &SigningKey) -> String {
        let (size, root) = self.head();
        let head = Checkpoint::new(key.verifying_key().name(), size, root);
        head.sign(key).unwrap().to_string()
    }

    pub(super) fn export(&self) -> String {
        let bytes: Vec<_> = self.events.iter().map(Event::to_bytes).collect();
        export(&bytes, |_| ())
    }
}

pub(super) fn key() -> SigningKey {
    SigningKey::new("forged.example/log", &[9; 32]).unwrap()
}

/// The key of a log before this one.
pub(super) fn old_key() -> SigningKey {
    SigningKey::new("old.example/log", &[8; 32]).unwrap()
}

pub(super) fn public(key: &SigningKey) -> String {
    key.verifying_key().to_string()
}

/// An export with another header.
pub(super) fn with_header(log: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let (header, lines) = log.split_once('\n').unwrap();
    let mut header = serde_json::from_str(header).unwrap();
    change(&mut header);
    format!("{header}\n{lines}")
}

/// An export of events with any bytes; the header may be changed before it is signed.
pub(super) fn export(events: &[Vec<u8>], change: impl FnOnce(&mut Checkpoint)) -> String {
    let mut tree = Tree::default();
    let mut lines = String::new();
    for (number, event) in (1..).zip(events) {
        let number = event.get(2..10).map_or(number, |bytes| {
            u64::from_be_bytes(bytes.try_into().unwrap())
        });
        let leaf = leaf_hash(event);
        tree.append(leaf, &mut |_| ());
        let (event, leaf) = (STANDARD.encode(event), STANDARD.encode(leaf));
        let line = json!({"number": number, "event": event, "leaf": leaf});
        writeln!(lines, "{line}").unwrap();
    }
    let mut checkpoint = Checkpoint::new(key().verifying_key().name(), tree.size(), tree.root());
    change(&mut checkpoint);
    let header = json!({
        "log": "handfast-log-1",
        "key": key().verifying_key().to_string(),
        "checkpoint": checkpoint.sign(&key()).unwrap().to_string(),
    });
    format!("{header}\n{lines}")
}

/// An export whose header and leaves are those of another.
pub(super) fn with_leaves(log: &str, other: &str) -> String {
    let lines = log.lines().zip(other.lines()).enumerate();
    let lines = lines.map(|(at, (own, other))| {
        if at == 0 {
            return format!("{other}\n");
        }
        let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        let mut line = read(own);
        line["leaf"] = read(other)["leaf"].clone();
        format!("{line}\n")
    });
    lines.collect()
}

/// The export of a log whose last event lists values at other indexes.
pub(super) fn with_indexes(log: Forger, indexes: &[u32]) -> String {
    let each = indexes.iter().map(|index| (*index, [1; 32])).collect();
    log.with(|event| event.commitments = Commitments::Each(each))
        .export()
}
