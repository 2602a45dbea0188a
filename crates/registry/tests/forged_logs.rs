//! Logs that the holder of a log's key could sign, each with one violation that an honest program
//! never commits; and honest logs with them.
//!
//! The logs are files in `vectors/logs`, and `index.json` lists the findings of each.
//! `successions.json` is the same for logs that are verified with keys and earlier checkpoints.
//! `forge_all` below made the forged ones: `cargo test --test forged_logs -- --ignored` writes
//! them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_log::{Checkpoint, SigningKey, Tree, leaf_hash};
use handfast_registry::{Action, Audited, Commitments, Event, Subject, Verify, verify_export};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A log, and its findings.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Vector {
    file: String,
    what: String,
    /// The keys that are given, if not the log's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<String>,
    /// Earlier checkpoints that the log must continue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    from: Vec<String>,
    findings: BTreeSet<String>,
    notes: BTreeSet<String>,
}

/// A log that was made here.
struct Made {
    name: &'static str,
    what: &'static str,
    log: String,
    keys: Vec<String>,
    from: Vec<String>,
}

impl From<(&'static str, &'static str, String)> for Made {
    fn from((name, what, log): (&'static str, &'static str, String)) -> Self {
        let (keys, from) = (Vec::new(), Vec::new());
        Self {
            name,
            what,
            log,
            keys,
            from,
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/logs")
}

fn index() -> Vec<Vector> {
    let read = |name: &str| -> Vec<Vector> {
        let text = fs::read_to_string(folder().join(name)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let mut all = read("index.json");
    all.extend(read("successions.json"));
    all
}

fn verify(log: &[u8]) -> Audited {
    verify_with(log, &[], &[])
}

fn verify_with(log: &[u8], keys: &[String], from: &[String]) -> Audited {
    let verify = Verify {
        keys: keys.iter().map(|key| key.parse().unwrap()).collect(),
        from: from.to_vec(),
        now: None,
    };
    verify_export(&mut &log[..], &verify, &mut |_, _| ())
        .unwrap()
        .0
}

fn codes(audited: &Audited) -> (BTreeSet<String>, BTreeSet<String>) {
    let findings = audited.findings.iter().map(|f| f.code().to_string());
    let notes = audited.notes.iter().map(|n| n.code().to_string());
    (findings.collect(), notes.collect())
}

/// A log in which a permanent name was erased and assigned again passed the audit.
#[test]
fn every_forged_log_is_found_out_and_every_honest_one_passes() {
    let index = index();
    let forged = index.iter().filter(|log| !log.findings.is_empty()).count();
    assert!(forged >= 60 && index.len() - forged >= 10, "{forged}");
    for log in index {
        let bytes = fs::read(folder().join(&log.file)).unwrap();
        let audited = verify_with(&bytes, &log.keys, &log.from);
        let (findings, notes) = codes(&audited);
        assert_eq!(
            findings, log.findings,
            "{}: {:?}",
            log.file, audited.findings
        );
        assert_eq!(notes, log.notes, "{}: {:?}", log.file, audited.notes);
        for finding in &audited.findings {
            assert!(!finding.to_string().is_empty());
        }
        for note in &audited.notes {
            assert!(!note.to_string().is_empty());
        }
    }
}

#[test]
fn a_verdict_counts_what_it_covers() {
    let audited = verify(&fs::read(folder().join("honest-life.log")).unwrap());
    assert_eq!(audited.findings, []);
    // `0.NA/20.8`, `0.NA/20.9`, THESIS and what was reserved; two that are hidden; one that was
    // erased.
    assert_eq!((audited.names, audited.hidden, audited.erased), (4, 2, 1));
    assert_eq!(audited.reassigned, None);
}

/// Writes events as only the holder of the key can.
#[derive(Clone)]
struct Forger {
    events: Vec<Event>,
    time: u64,
}

const DAY: u64 = 24 * 60 * 60 * 1_000;
const A: &str = "hdl:20.9";
const ERASABLE: &str = "hdl:20.8";
const THESIS: &str = "hdl:20.9/THESIS";
const SALT: [u8; 32] = [5; 32];

fn open(key: &str) -> Subject {
    Subject::Open(key.to_string())
}

fn hidden(key: &str) -> Subject {
    Subject::hide(key, &SALT)
}

fn opened(key: &str) -> Subject {
    Subject::Opened {
        key: key.to_string(),
        salt: SALT,
    }
}

impl Forger {
    /// An honest beginning: an authority whose names are permanent, with a name; and one whose
    /// names may be erased.
    fn new() -> Self {
        Self {
            events: Vec::new(),
            time: 1_800_000_000_000,
        }
        .authority(A)
        .authority(ERASABLE)
        .name(Action::Create, open(THESIS), A, 1)
    }

    fn add(mut self, action: Action, subject: Subject, authority: &str, version: u64) -> Self {
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
    fn name(self, action: Action, subject: Subject, authority: &str, version: u64) -> Self {
        self.add(action, subject, authority, version)
    }

    /// Something is done to an authority, or a namespace.
    fn on(self, action: Action, authority: &str, version: u64) -> Self {
        self.add(action, Subject::None, authority, version)
    }

    /// An authority is created, and the record of its prefix.
    fn authority(self, key: &str) -> Self {
        let made = self.on(Action::CreateAuthority, key, 1);
        match key.strip_prefix("hdl:") {
            Some(prefix) => made.name(Action::Create, open(&format!("hdl:0.NA/{prefix}")), key, 1),
            None => made,
        }
    }

    /// A name is assigned and withdrawn.
    fn withdrawn(self) -> Self {
        self.name(Action::Withdraw, open(THESIS), A, 2)
    }

    /// Changes the last event.
    fn with(mut self, change: impl FnOnce(&mut Event)) -> Self {
        change(self.events.last_mut().unwrap());
        self
    }

    /// A log begins that continues this one.
    fn begin_log(self) -> Self {
        self.begin_log_after(old_key().verifying_key().name())
    }

    /// A log begins and names the one that it continues.
    fn begin_log_after(self, name: &str) -> Self {
        let (size, root) = self.head();
        self.on(Action::BeginLog, name, size)
            .with(|event| event.commitments = Commitments::Each(vec![(0, root)]))
    }

    fn head(&self) -> (u64, [u8; 32]) {
        let mut tree = Tree::default();
        for event in &self.events {
            tree.append(leaf_hash(&event.to_bytes()), &mut |_| ());
        }
        (tree.size(), tree.root())
    }

    /// The head, signed by a key.
    fn checkpoint(&self, key: &SigningKey) -> String {
        let (size, root) = self.head();
        let head = Checkpoint::new(key.verifying_key().name(), size, root);
        head.sign(key).unwrap().to_string()
    }

    fn export(&self) -> String {
        let bytes: Vec<_> = self.events.iter().map(Event::to_bytes).collect();
        export(&bytes, |_| ())
    }
}

fn key() -> SigningKey {
    SigningKey::new("forged.example/log", &[9; 32]).unwrap()
}

/// The key of a log before this one.
fn old_key() -> SigningKey {
    SigningKey::new("old.example/log", &[8; 32]).unwrap()
}

fn public(key: &SigningKey) -> String {
    key.verifying_key().to_string()
}

/// An export with another header.
fn with_header(log: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
    let (header, lines) = log.split_once('\n').unwrap();
    let mut header = serde_json::from_str(header).unwrap();
    change(&mut header);
    format!("{header}\n{lines}")
}

/// An export of events with any bytes; the header may be changed before it is signed.
fn export(events: &[Vec<u8>], change: impl FnOnce(&mut Checkpoint)) -> String {
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
fn with_leaves(log: &str, other: &str) -> String {
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

/// Logs that continue another, and the keys and checkpoints to compare them with.
#[rustfmt::skip] // A row is a line.
fn successions() -> Vec<Made> {
    use Action::*;
    let base = Forger::new;
    let (new, old) = (key(), old_key());
    let other = SigningKey::new("other.example/log", &[7; 32]).unwrap();
    let both = || vec![public(&old), public(&new)];
    let before = || vec![base().checkpoint(&old)];
    let change = |log: Forger| log.name(Change, open(THESIS), A, 2);
    let made = |name, what, log: Forger, keys,
        from| Made { name, what, log: log.export(), keys, from };
    vec![
        made("honest-succession", "a log continues another, compared with a checkpoint of that",
            change(base().begin_log()), both(), before()),
        made("honest-succession-one-key", "a log continues another, of which nothing is known",
            change(base().begin_log()), vec![public(&new)], vec![]),
        made("honest-succession-of-none", "events from before there was a log",
            change(base().begin_log_after("")), vec![public(&new)], vec![]),
        made("honest-successions", "a log continues one that continues another",
            change(base().begin_log()).begin_log_after("other.example/log"),
            vec![public(&other), public(&old), public(&new)],
            vec![base().checkpoint(&old), change(base().begin_log()).checkpoint(&other)]),
        made("honest-same-name", "a log of the same name continues it with another key",
            change(base().begin_log_after("forged.example/log")),
            vec![public(&SigningKey::new("forged.example/log", &[3; 32]).unwrap()), public(&new)],
            vec![base().checkpoint(&SigningKey::new("forged.example/log", &[3; 32]).unwrap())]),
        made("honest-own-earlier", "an earlier checkpoint of the same log", change(base()),
            vec![public(&new)], vec![base().checkpoint(&new)]),
        made("succession-of-another",
            "a log continues another than the one whose checkpoint is known",
            change(base().begin_log_after("other.example/log")), both(), before()),
        made("succession-of-another-key", "a log continues another than the one whose key is known",
            change(base().begin_log_after("other.example/log")), both(), vec![]),
        made("succession-unsaid", "a new key signs, and no event begins a log", change(base()),
            both(), vec![]),
        made("succession-unsaid-from",
            "a new key signs after a checkpoint, and no event begins a log", change(base()), both(),
            before()),
        made("succession-unsaid-same-name",
            "a new key of the same name signs, and no event begins a log", change(base()),
            vec![public(&SigningKey::new("forged.example/log", &[3; 32]).unwrap()), public(&new)],
            vec![base().checkpoint(&SigningKey::new("forged.example/log", &[3; 32]).unwrap())]),
        made("succession-same-key", "a log begins with the key of the one before it",
            change(base().begin_log_after("forged.example/log")), vec![public(&new)],
            vec![base().checkpoint(&new)]),
        made("succession-signed-by-old", "the old key signs what came after the new log began",
            change(base().begin_log()), both(), vec![change(base().begin_log()).checkpoint(&old)]),
        made("earlier-rewritten", "an earlier checkpoint is of other events", change(base()),
            vec![public(&new)], vec![base().withdrawn().checkpoint(&new)]),
        made("earlier-longer", "an earlier checkpoint is of more events", base(),
            vec![public(&new)], vec![change(base()).checkpoint(&new)]),
        Made { log: with_header(&change(base().begin_log()).export(),
            |header| header["key"] = json!(public(&old))),
            ..made("wrong-key", "an export says that another key is its own", base(), both(),
            vec![]) },
    ]
}

/// The export of a log whose last event lists values at other indexes.
fn with_indexes(log: Forger, indexes: &[u32]) -> String {
    let each = indexes.iter().map(|index| (*index, [1; 32])).collect();
    log.with(|event| event.commitments = Commitments::Each(each))
        .export()
}

/// Each forged log: its file, what was done, and the log.
#[rustfmt::skip] // A row is a line.
#[expect(clippy::too_many_lines, reason = "a table")]
fn forged() -> Vec<(&'static str, &'static str, String)> {
    use Action::*;
    let base = Forger::new;
    // A name that is hidden under an authority whose names may be erased.
    let erasable = || base().name(Create, hidden("hdl:20.8/X"), ERASABLE, 1);
    let reserved = || base().name(Reserve, hidden("hdl:20.9/PLAN"), A, 1);
    let active = || reserved().name(Activate, opened("hdl:20.9/PLAN"), A, 2);
    let second = |key: &str| base().name(Create, open(key), A, 1).export();
    let under = |authority: &str,
        key: &str| base().authority(authority).name(Create, open(key), authority, 1).export();
    let entry = |name: &str| base().on(ProposeNamespace, name, 1);
    let bytes = |forger: Forger| forger.events.iter().map(Event::to_bytes).collect::<Vec<_>>();
    vec![
        // A second life.
        ("erase-then-create", "a public name is erased and assigned again",
            base().name(Erase, open(THESIS), A, 2).name(Create, open(THESIS), A, 1).export()),
        ("erase-public", "a public name is erased",
            base().name(Erase, open(THESIS), A, 2).export()),
        ("erase-opened", "a name that was opened is erased, hidden again",
            active().name(Erase, hidden("hdl:20.9/PLAN"), A, 3).export()),
        ("erase-opened-openly", "a name that was opened is erased",
            active().name(Erase, opened("hdl:20.9/PLAN"), A, 3).export()),
        ("create-twice", "a public name is assigned twice", second(THESIS)),
        ("mint-again", "a public name is minted again",
            base().name(Mint, open(THESIS), A, 1).export()),
        ("create-again-later", "the second assignment goes on counting versions",
            base().name(Create, open(THESIS), A, 2).export()),
        ("hidden-second-life", "a public name is reserved under cover and then opened",
            base().name(Reserve, hidden(THESIS), A, 1).name(Activate, opened(THESIS), A,
            2).export()),
        ("hidden-first-life", "a hidden name is assigned openly too, and then opened",
            reserved().name(Create, open("hdl:20.9/PLAN"), A, 1).name(Activate,
            opened("hdl:20.9/PLAN"), A, 2).export()),
        ("hidden-twice", "one commitment is assigned twice",
            erasable().name(Create, hidden("hdl:20.8/X"), ERASABLE, 1).export()),
        ("commitment-reused", "a commitment that was erased is assigned again",
            erasable().name(Erase, hidden("hdl:20.8/X"), ERASABLE, 2).name(Create,
            hidden("hdl:20.8/X"), ERASABLE, 1).export()),
        ("opened-commitment-reused", "the commitment of an opened name is assigned again",
            active().name(Reserve, hidden("hdl:20.9/PLAN"), A, 1).export()),
        ("reserve-openly", "a public name is reserved",
            base().name(Reserve, open(THESIS), A, 1).export()),
        // Hiding and opening.
        ("opened-at-once", "a new name opens earlier events",
            base().name(Create, opened("hdl:20.9/NEW"), A, 1).export()),
        ("open-then-opened", "a name that was never hidden is opened",
            base().name(Change, opened(THESIS), A, 2).export()),
        ("opened-with-other-salt", "a name is opened twice, with other random bytes",
            active().name(Change, Subject::Opened { key: "hdl:20.9/PLAN".into(), salt: [6; 32] }, A,
            3).export()),
        ("opened-as-another", "a commitment is opened as another name",
            reserved().name(Activate, opened("hdl:20.9/OTHER"), A, 2).export()),
        ("opened-then-open", "a name that was hidden forgets what opens it",
            active().name(Change, open("hdl:20.9/PLAN"), A, 3).export()),
        ("hidden-again", "a name that was opened is hidden again",
            active().name(Change, hidden("hdl:20.9/PLAN"), A, 3).export()),
        ("opened-while-reserved", "a reserved name is opened by a change",
            reserved().name(Change, opened("hdl:20.9/PLAN"), A, 2).export()),
        ("opened-after-erase", "a name that was erased is opened",
            erasable().name(Erase, hidden("hdl:20.8/X"), ERASABLE, 2).name(Change,
            opened("hdl:20.8/X"), ERASABLE, 3).export()),
        ("reserved-openly", "a name is reserved in public",
            base().name(Reserve, open("hdl:20.9/NEW"), A, 1).export()),
        // Subjects.
        ("create-nothing", "an assignment without a subject",
            base().name(Create, Subject::None, A, 1).export()),
        ("change-nothing", "a change without a subject",
            base().name(Change, Subject::None, A, 2).export()),
        ("withdraw-nothing", "a withdrawal without a subject",
            base().name(Withdraw, Subject::None, A, 2).export()),
        ("erase-nothing", "an erasure without a subject",
            base().name(Erase, Subject::None, ERASABLE, 2).export()),
        ("grant-a-name", "a grant that names a name",
            base().add(Grant, open(THESIS), A, 2).export()),
        ("account-with-name", "an account that names a name",
            base().add(Account, open("hdl:20.9/NEW"), "", 0).export()),
        ("log-with-name", "the beginning of a log that names a name",
            base().begin_log().with(|e| e.subject = open("hdl:20.9/NEW")).export()),
        // Spellings.
        ("tag-in-upper-case", "one name more by its scheme in upper case",
            second("HDL:20.9/THESIS")),
        ("tag-unknown", "a scheme that is none", second("doi:20.9/THESIS")),
        ("tag-missing", "a key without a scheme", second("20.9/THESIS")),
        ("prefix-in-lower-case", "one name more by its prefix in lower case",
            under("hdl:20.ABC", "hdl:20.abc/X")),
        ("doi-in-lower-case", "one DOI more by its suffix in lower case",
            under("hdl:10.1000", "hdl:10.1000/abc")),
        ("site-in-lower-case", "one handle more under 0.* by its suffix in lower case",
            under("hdl:0.SITE", "hdl:0.SITE/admin")),
        ("prefix-record-in-lower-case", "one record of a prefix more",
            base().name(Create, open("hdl:0.na/20.9"), A, 1).export()),
        ("urn-3-in-upper-case", "one urn-3 name more by its case",
            base().authority("urn:urn-3").authority("urn:urn-3:hul").name(Create,
            open("urn:urn-3:hul:Home"), "urn:urn-3:hul", 1).export()),
        ("urn-triplet", "one URN more by a triplet in lower case",
            under("urn:example", "urn:example:a%2cb")),
        ("urn-nid", "one URN more by its namespace in upper case",
            under("urn:example", "urn:EXAMPLE:a")),
        ("urn-component", "one URN more by a component", under("urn:example", "urn:example:a?=q")),
        ("ark-hyphen", "one ARK more by a hyphen", under("ark:12025", "ark:12025/a-b")),
        ("ark-slash", "one ARK more by a slash", under("ark:12025", "ark:/12025/ab")),
        ("info-two-spellings", "an LCCN is assigned in both of its spellings",
            base().authority("info:lccn").name(Create, open("info:lccn/n78890351"), "info:lccn",
            1).name(Create, open("info:lccn/n78-890351"), "info:lccn", 1).export()),
        ("info-two-spellings-reversed", "the same, the odd spelling first",
            base().authority("info:lccn").name(Create, open("info:lccn/n78-890351"), "info:lccn",
            1).name(Create, open("info:lccn/n78890351"), "info:lccn", 1).export()),
        ("info-two-odd-spellings",
            "an LCCN is assigned in two spellings, neither of which is normalised",
            base().authority("info:lccn").name(Mint, open("info:lccn/n78-89351"), "info:lccn",
            1).name(Mint, open("info:lccn/n78-089351"), "info:lccn", 1).export()),
        ("info-two-spellings-claimed",
            "a claim, which changes no rules, stands before a second spelling",
            base().authority("info:lccn").name(Create, open("info:lccn/n78890351"), "info:lccn",
            1).on(ClaimNamespace, "info:lccn", 2).on(VerifyNamespace, "info:lccn", 3).name(Create,
            open("info:lccn/n78-890351"), "info:lccn", 1).export()),
        ("info-two-spellings-opened", "a reservation is opened as a second spelling",
            base().authority("info:lccn").name(Reserve, hidden("info:lccn/n78-890351"), "info:lccn",
            1).name(Create, open("info:lccn/n78890351"), "info:lccn", 1).name(Activate,
            opened("info:lccn/n78-890351"), "info:lccn", 2).export()),
        ("info-triplet", "one info URI more by a needless triplet",
            under("info:lccn", "info:lccn/n%37")),
        ("info-doi", "a DOI by another scheme", under("info:doi", "info:doi/10.1000/x")),
        ("empty-key", "a name that is empty", second("")),
        ("opened-not-canonical", "a hidden name turns out to be a spelling of another",
            base().name(Reserve, hidden("HDL:20.9/THESIS"), A, 1).name(Activate,
            opened("HDL:20.9/THESIS"), A, 2).export()),
        // Authorities of names.
        ("no-authority", "a name under an authority that was never created",
            base().name(Create, open("hdl:20.7/X"), "hdl:20.7", 1).export()),
        ("hidden-no-authority", "a hidden name under an authority that was never created",
            base().name(Create, hidden("hdl:20.7/X"), "hdl:20.7", 1).export()),
        ("no-authority-at-all", "a name without an authority",
            base().name(Create, open("hdl:20.9/X"), "", 1).export()),
        ("other-authority", "a name under another authority than its own",
            base().name(Create, open("hdl:20.9/X"), ERASABLE, 1).export()),
        ("opened-under-other-authority", "a hidden name turns out to be of another authority",
            base().name(Reserve, hidden("hdl:20.9/X"), ERASABLE, 1).name(Activate,
            opened("hdl:20.9/X"), ERASABLE, 2).export()),
        ("authority-changes", "a change of a name under another authority",
            base().name(Change, open(THESIS), ERASABLE, 2).export()),
        ("hidden-authority-changes", "a change of a hidden name under another authority",
            erasable().name(Change, hidden("hdl:20.8/X"), A, 2).export()),
        ("requested-authority", "a name under an authority that was only asked for",
            base().on(RequestAuthority, "hdl:20.7", 1).name(Create, open("hdl:20.7/X"), "hdl:20.7",
            1).export()),
        ("declined-authority", "a name under an authority that was declined",
            base().on(RequestAuthority, "hdl:20.7", 1).on(DeclineAuthority, "hdl:20.7",
            2).name(Create, open("hdl:20.7/X"), "hdl:20.7", 1).export()),
        ("retired-authority", "a name under an authority that was retired",
            base().on(RetireAuthority, A, 2).name(Create, open("hdl:20.9/X"), A, 1).export()),
        ("erase-under-permanent", "a reserved name is erased where names are permanent",
            reserved().name(Erase, hidden("hdl:20.9/PLAN"), A, 2).export()),
        ("becomes-erasable", "names are hidden where they were permanent",
            base().name(Create, hidden("hdl:20.9/X"), A, 1).export()),
        ("activated-under-cover",
            "a reserved name becomes active where names are permanent, and stays hidden",
            reserved().name(Activate, hidden("hdl:20.9/PLAN"), A, 2).export()),
        ("urn-erased", "a URN is erased",
            base().authority("urn:example").name(Reserve, hidden("urn:example:a"), "urn:example",
            1).name(Erase, hidden("urn:example:a"), "urn:example", 2).export()),
        ("urn-hidden", "a URN is created under cover",
            base().authority("urn:example").name(Create, hidden("urn:example:a"), "urn:example",
            1).export()),
        // States of names.
        ("transfer-changes-values", "a transfer comes with one value more",
            with_indexes(base().name(Transfer, open(THESIS), A, 2), &[0, 1, 2])),
        ("transfer-changes-withdrawn",
            "a withdrawn name is changed by what is called a transfer",
            with_indexes(base().withdrawn().name(Transfer, open(THESIS), A, 3), &[0, 5])),
        ("transfer-removes-withdrawn", "a transfer takes the values of a withdrawn name away",
            with_indexes(base().withdrawn().name(Transfer, open(THESIS), A, 3), &[0])),
        ("transfer-changes-many", "a transfer of a name with many values lists fewer",
            base().name(Change, open(THESIS), A, 2)
            .with(|e| e.commitments = Commitments::Combined { count: 3_000, digest: [1; 32] })
            .name(Transfer, open(THESIS), A, 3)
            .with(|e| e.commitments = Commitments::Combined { count: 2_999, digest: [1; 32] })
            .export()),
        ("withdraw-changes-values", "a withdrawal comes with other values",
            with_indexes(base().withdrawn(), &[0, 7, 8])),
        ("restore-changes-values", "a restoration comes with other values",
            with_indexes(base().withdrawn().name(Restore, open(THESIS), A, 3), &[0, 9])),
        ("activate-changes-values", "an activation comes with other values",
            with_indexes(active(), &[0, 2])),
        ("change-withdrawn", "a withdrawn name is changed",
            base().withdrawn().name(Change, open(THESIS), A, 3).export()),
        ("withdraw-twice", "a withdrawn name is withdrawn",
            base().withdrawn().name(Withdraw, open(THESIS), A, 3).export()),
        ("restore-active", "an active name is restored",
            base().name(Restore, open(THESIS), A, 2).export()),
        ("activate-active", "an active name is activated",
            base().name(Activate, open(THESIS), A, 2).export()),
        ("withdraw-reserved", "a reserved name is withdrawn",
            reserved().name(Withdraw, hidden("hdl:20.9/PLAN"), A, 2).export()),
        ("change-erased", "an erased name is changed",
            erasable().name(Erase, hidden("hdl:20.8/X"), ERASABLE, 2).name(Change,
            hidden("hdl:20.8/X"), ERASABLE, 3).export()),
        ("erase-twice", "an erased name is erased",
            erasable().name(Erase, hidden("hdl:20.8/X"), ERASABLE, 2).name(Erase,
            hidden("hdl:20.8/X"), ERASABLE, 3).export()),
        ("change-before-create", "a name is changed that was never assigned",
            base().name(Change, open("hdl:20.9/X"), A, 2).export()),
        ("prefix-record-withdrawn", "the record of a prefix is withdrawn",
            base().name(Withdraw, open("hdl:0.NA/20.9"), A, 2).export()),
        ("prefix-record-minted", "the record of a prefix is minted",
            base().on(CreateAuthority, "hdl:20.7", 1).name(Mint, open("hdl:0.NA/20.7"), "hdl:20.7",
            1).export()),
        // Versions.
        ("version-gap", "a version of a name is left out",
            base().name(Change, open(THESIS), A, 3).export()),
        ("version-back", "the versions of a name go back",
            base().name(Change, open(THESIS), A, 2).name(Change, open(THESIS), A, 2).export()),
        ("version-overflow", "a version that nothing can follow",
            base().name(Change, open(THESIS), A, u64::MAX).name(Change, open(THESIS), A,
            0).export()),
        ("first-version", "a name begins with version 2",
            base().name(Create, open("hdl:20.9/X"), A, 2).export()),
        // Lives of authorities.
        ("authority-twice", "an authority is created twice",
            base().on(CreateAuthority, A, 1).export()),
        ("authority-twice-later", "an authority is created again as its next version",
            base().on(CreateAuthority, A, 2).export()),
        ("authority-requested-again", "an authority that exists is asked for",
            base().on(RequestAuthority, A, 1).export()),
        ("authority-changed-first", "an authority is changed that was never created",
            base().on(ChangeAuthority, "hdl:20.7", 2).export()),
        ("authority-version-gap", "a version of an authority is left out",
            base().on(ChangeAuthority, A, 3).export()),
        ("authority-approved-twice", "an authority is approved that nobody asked for",
            base().on(ApproveAuthority, A, 2).export()),
        ("authority-changed-retired", "a retired authority is changed",
            base().on(RetireAuthority, A, 2).on(ChangeAuthority, A, 3).export()),
        ("authority-declined-active", "an authority in use is declined",
            base().on(DeclineAuthority, A, 2).export()),
        ("authority-in-lower-case", "one authority more by its case",
            base().on(CreateAuthority, "hdl:20.a", 1).export()),
        ("authority-tag", "one authority more by its scheme",
            base().on(CreateAuthority, "HDL:20.9", 1).export()),
        ("authority-without-parent", "a URN authority without the one above it",
            base().authority("urn:urn-3").on(CreateAuthority, "urn:urn-3:hul.ois", 1).export()),
        // Namespaces, accounts.
        ("namespace-approved-first", "a namespace is approved that nobody proposed",
            base().on(ApproveNamespace, "info:x", 1).export()),
        ("namespace-twice", "a namespace is proposed twice",
            entry("info:x").on(ApproveNamespace, "info:x", 2).on(ProposeNamespace, "info:x",
            3).export()),
        ("namespace-after-withdrawal", "a namespace is assigned again after it was withdrawn",
            entry("info:x").on(ApproveNamespace, "info:x", 2).on(WithdrawNamespace, "info:x",
            3).on(ProposeNamespace, "info:x", 4).export()),
        ("namespace-version", "a version of a namespace is left out",
            entry("info:x").on(ApproveNamespace, "info:x", 3).export()),
        ("namespace-of-others", "an entry of the original registry is proposed",
            base().on(ProposeNamespace, "info:lccn", 1).export()),
        ("namespace-verified-unclaimed", "a claim is verified that nobody made",
            base().on(VerifyNamespace, "info:lccn", 2).export()),
        ("namespace-in-upper-case", "one namespace more by its case", entry("info:X").export()),
        ("namespace-policy-twice", "the policy of the registry goes back",
            base().on(NamespacePolicy, "info:", 1).on(NamespacePolicy, "info:", 1).export()),
        ("account-with-version", "an account with a version", base().on(Account, "", 3).export()),
        // The form of events.
        ("no-actor", "an event that nobody made",
            base().name(Change, open(THESIS), A, 2).with(|e| e.actor = [0; 16]).export()),
        ("two-values-one-index", "two values have one index",
            base().name(Change, open(THESIS), A,
            2).with(|e| e.commitments = Commitments::Each(vec![(0, [1; 32]), (1, [1; 32]),
            (1, [2; 32])])).export()),
        ("no-commitment", "a change that commits to nothing",
            base().name(Change, open(THESIS), A,
            2).with(|e| e.commitments = Commitments::Each(Vec::new())).export()),
        ("many-listed", "more commitments than are listed",
            base().name(Change, open(THESIS), A,
            2).with(|e| e.commitments = Commitments::Each((0..300).map(|index| (index,
            [1; 32])).collect())).export()),
        ("few-together", "few commitments as one",
            base().name(Change, open(THESIS), A,
            2).with(|e| e.commitments = Commitments::Combined { count: 3,
            digest: [1; 32] }).export()),
        ("index-too-large", "a value at an index that is none",
            base().name(Change, open(THESIS), A,
            2).with(|e| e.commitments = Commitments::Each(vec![(0, [1; 32]),
            (u32::MAX, [1; 32])])).export()),
        ("too-long", "a name that is longer than any",
            second(&format!("hdl:20.9/{}", "X".repeat(9_000)))),
        ("begins-with-nothing", "a log begins by continuing nothing",
            Forger { events: Vec::new(),
            time: 1_800_000_000_000 }.begin_log().authority(A).export()),
        ("erase-with-values", "an erased name keeps values",
            erasable().name(Erase, hidden("hdl:20.8/X"), ERASABLE,
            2).with(|e| e.commitments = Commitments::Each(vec![(0, [1; 32])])).export()),
        ("unknown-action", "an action that no program knows",
            { let mut all = bytes(base().name(Change, open(THESIS), A,
            2)); all.last_mut().unwrap()[1] = 0x0F; export(&all, |_| ()) }),
        ("unknown-format", "a format that no program knows",
            { let mut all = bytes(base().name(Change, open(THESIS), A,
            2)); all.last_mut().unwrap()[0] = 2; export(&all, |_| ()) }),
        ("trailing-byte", "a byte too many",
            { let mut all = bytes(base().name(Change, open(THESIS), A,
            2)); all.last_mut().unwrap().push(0); export(&all, |_| ()) }),
        ("not-utf-8", "a key that is no text",
            { let mut all = bytes(base().name(Create, open("hdl:20.9/X"), A,
            1)); let event = all.last_mut().unwrap(); let at = event.len() - 95 - A.len() + 12;
                event[at] = 0xFF; export(&all, |_| ()) }),
        // Time.
        ("time-back", "two days earlier",
            base().name(Change, open(THESIS), A, 2).with(|e| e.time -= 2 * DAY).export()),
        ("time-back-in-steps", "two days earlier, in steps of less than a day",
            (2..5).fold(base(), |log,
            version| log.name(Change, open(THESIS), A,
            version).with(|e| e.time -= (version - 1) * 20 * DAY / 24)).export()),
        ("time-never", "a time that no clock shows",
            base().name(Change, open(THESIS), A, 2).with(|e| e.time = u64::MAX).export()),
        // Spellings that are under authorities of their own.
        ("info-hdl", "a handle by another scheme", under("info:hdl", "info:hdl/20.9/THESIS")),
        ("info-ark", "an ARK by another scheme", under("info:ark", "info:ark/12025/654xz321")),
        ("urn-3-authority-in-upper-case", "one urn-3 authority more by its case",
            base().authority("urn:urn-3").authority("urn:urn-3:HUL").export()),
        ("urn-authority-colon", "an authority that is a name",
            base().authority("urn:example").authority("urn:example:a:b").name(Create,
            open("urn:example:a:b:c"), "urn:example:a:b", 1).export()),
        // Second lives of what was withdrawn, retired or declined.
        ("create-withdrawn", "a withdrawn name is assigned again",
            base().withdrawn().name(Create, open(THESIS), A, 1).export()),
        ("mint-withdrawn", "a withdrawn name is minted as its next version",
            base().withdrawn().name(Mint, open(THESIS), A, 3).export()),
        ("activate-withdrawn", "a withdrawn name is activated",
            base().withdrawn().name(Activate, open(THESIS), A, 3).export()),
        ("opened-twice", "two hidden names turn out to be one",
            active().name(Reserve, Subject::hide("hdl:20.9/PLAN", &[6; 32]), A, 1).name(Activate,
            Subject::Opened { key: "hdl:20.9/PLAN".into(), salt: [6; 32] }, A, 2).export()),
        ("authority-after-retirement", "a retired authority is created again",
            base().on(RetireAuthority, A, 2).on(CreateAuthority, A, 1).export()),
        ("urn-after-retirement", "a retired URN authority is taken up again",
            base().authority("urn:example").on(RetireAuthority, "urn:example",
            2).on(ApproveAuthority, "urn:example", 3).export()),
        ("authority-approved-after-decline", "a declined authority is approved",
            base().on(RequestAuthority, "hdl:20.7", 1).on(DeclineAuthority, "hdl:20.7",
            2).on(ApproveAuthority, "hdl:20.7", 3).export()),
        ("authority-requested-changed", "an authority that was only asked for is changed",
            base().on(RequestAuthority, "hdl:20.7", 1).on(ChangeAuthority, "hdl:20.7", 2).export()),
        ("prefix-record-twice", "the record of a prefix is assigned again when it is homed again",
            base().on(RetireAuthority, A, 2).on(ApproveAuthority, A, 3).name(Create,
            open("hdl:0.NA/20.9"), A, 1).export()),
        ("mint-reserved-public", "a public name is minted and kept back",
            base().name(MintReserved, open(THESIS), A, 1).export()),
        ("restored-then-created", "a name is withdrawn, restored and assigned again",
            base().withdrawn().name(Restore, open(THESIS), A, 3).name(Create, open(THESIS), A,
            1).export()),
        ("name-of-other-scheme", "a URN under a prefix",
            base().name(Create, open("urn:example:a"), A, 1).export()),
        ("ark-under-prefix", "an ARK under a prefix of the same number",
            base().authority("hdl:12025").name(Create, open("ark:12025/x"), "hdl:12025",
            1).export()),
        ("urn-under-child", "a URN of one authority under another that begins alike",
            base().authority("urn:urn-3").authority("urn:urn-3:hul").name(Create,
            open("urn:urn-3:hulx:a"), "urn:urn-3:hul", 1).export()),
        ("withdrawn-moved", "a withdrawn name is transferred to another authority",
            base().withdrawn().name(Transfer, open(THESIS), ERASABLE, 3).export()),
        ("history-twice", "a whole history stands there twice",
            { let mut log = base(); let again = log.events.clone(); log.events.extend(again);
                log.export() }),
        // Parents.
        ("prefix-below-retired", "a prefix is created below a retired one",
            base().on(RetireAuthority, A, 2).authority("hdl:20.9.1").export()),
        ("prefix-requested-below-retired", "a prefix is asked for below a retired one",
            base().on(RetireAuthority, A, 2).on(RequestAuthority, "hdl:20.9.1", 1).export()),
        ("urn-below-retired", "a URN authority is created below a retired one",
            base().authority("urn:urn-3").authority("urn:urn-3:hul").on(RetireAuthority,
            "urn:urn-3:hul", 2).authority("urn:urn-3:hul.ois").export()),
        ("grant-nowhere", "a role on an authority that does not exist",
            base().on(Grant, "hdl:20.7", 1).export()),
        // Names where no names are.
        ("hidden-in-info", "a hidden name at the root of info",
            base().authority("info:").name(Create, hidden("info:x/1"), "info:", 1).export()),
        ("hidden-in-info-doi", "a hidden name under info:doi",
            base().authority("info:doi").name(Reserve, hidden("info:doi/10.1000/x"), "info:doi",
            1).export()),
        ("hidden-in-urn-3", "a hidden name at the root of urn-3",
            base().authority("urn:urn-3").name(Reserve, hidden("urn:urn-3:x"), "urn:urn-3",
            1).export()),
        // Permanence.
        ("changed-before-erasable",
            "names become permanent, and the authority was changed only before one showed that it \
            may be erased",
            base().on(ChangeAuthority, ERASABLE, 2).name(Create, hidden("hdl:20.8/X"), ERASABLE,
            1).name(Create, open("hdl:20.8/Y"), ERASABLE, 1).export()),
        ("changed-before-erasable-erased",
            "the same, and the name that was erased is assigned again in the open",
            base().on(ChangeAuthority, ERASABLE, 2).name(Create, hidden("hdl:20.8/X"), ERASABLE,
            1).name(Erase, hidden("hdl:20.8/X"), ERASABLE, 2).name(Create, open("hdl:20.8/X"),
            ERASABLE, 1).export()),
        ("becomes-permanent-silently", "names become permanent without a change of their authority",
            erasable().name(Create, open("hdl:20.8/Y"), ERASABLE, 1).export()),
        ("opened-where-erasable", "an active name is opened where names stay hidden",
            erasable().name(Change, opened("hdl:20.8/X"), ERASABLE, 2).export()),
        // Values of what has none.
        ("account-with-values", "an account with values",
            base().on(Account, "",
            0).with(|e| e.commitments = Commitments::Each(vec![(0, [1; 32]),
            (1, [1; 32])])).export()),
        ("authority-with-values", "a change of an authority with values",
            base().on(ChangeAuthority, A,
            2).with(|e| e.commitments = Commitments::Combined { count: 300,
            digest: [1; 32] }).export()),
        // Logs that continue others.
        ("begin-without-name", "a log continues one without a name",
            base().begin_log().begin_log_after("").export()),
        ("begin-bad-name", "a log continues one whose name is none",
            base().begin_log_after("old log").export()),
        // One event is not what was signed: what follows from it is not listed.
        ("one-changed", "the event that creates an authority is another",
            { let log = base().name(Create, open("hdl:20.9/B"), A, 1).name(Create,
            open("hdl:20.9/C"), A,
            1).withdrawn(); let signed = log.export(); let mut log = log;
                log.events[0].authority = "hdl:20.7".into(); let other = log.export();
                with_leaves(&other, &signed) }),
        ("one-missing", "the event that creates an authority is missing",
            { let log = base().name(Create, open("hdl:20.9/B"), A,
            1).withdrawn().export(); log.split_inclusive('\n').enumerate().filter(|(at,
            _)| *at != 1).map(|(_, line)| line).collect() }),
        ("tail-missing", "the last events are missing",
            { let log = base().withdrawn().export(); log.split_inclusive('\n').take(5).collect() }),
        // The order, and what is signed.
        ("link-wrong", "a log continues another than this one",
            base().begin_log().with(|e| e.commitments = Commitments::Each(vec![(0,
            [1; 32])])).export()),
        ("link-short", "a log continues less than all",
            base().begin_log().with(|e| e.version -= 1).export()),
        ("begin-then-create-again", "a new log assigns a name again",
            base().begin_log().name(Create, open(THESIS), A, 1).export()),
        ("begin-then-authority-again", "a new log creates an authority again",
            base().begin_log().on(CreateAuthority, A, 1).export()),
        ("number-twice", "two events have one number",
            base().name(Change, open(THESIS), A, 2).with(|e| e.number -= 1).export()),
        ("number-gap", "a number is left out",
            base().name(Change, open(THESIS), A, 2).with(|e| e.number += 1).export()),
        ("number-zero", "an event before the first",
            base().name(Change, open(THESIS), A, 2).with(|e| e.number = 0).export()),
        ("number-last", "the last number there is",
            base().name(Change, open(THESIS), A, 2).with(|e| e.number = u64::MAX).name(Change,
            open(THESIS), A, 3).export()),
        ("out-of-order", "two events are exchanged",
            { let mut log = base().name(Change, open(THESIS), A,
            2); let last = log.events.len() - 1; log.events.swap(last, last - 2); log.export() }),
        ("empty-but-signed", "a checkpoint of events that are not there",
            export(&[], |head| head.size = 5)),
        ("longer-than-signed", "an event that is not signed",
            { let log = base(); let (size, root) = log.head(); let log = log.name(Change,
            open(THESIS), A, 2); export(&bytes(log),
            |head| (head.size, head.root) = (size, root)) }),
        ("other-root", "the head of other events",
            export(&bytes(base()), |head| head.root = [1; 32])),
        ("other-origin", "a checkpoint of another log",
            { let note = Checkpoint::new("other.example/log", base().head().0,
            base().head().1); let other = SigningKey::new("other.example/log",
            &[8; 32]).unwrap(); let log = base().export();
                let own = log.lines().next().unwrap();
                let own: serde_json::Value = serde_json::from_str(own).unwrap();
                let header = json!({"log": own["log"], "key": own["key"],
                    "checkpoint": note.sign(&other).unwrap().to_string()});
                format!("{header}\n{}", log.split_once('\n').unwrap().1) }),
    ]
}

/// Honest logs that only earlier programs wrote, or that are small enough to read.
#[rustfmt::skip] // A row is a line.
#[expect(clippy::too_many_lines, reason = "a table")]
fn honest() -> Vec<(&'static str, &'static str, String)> {
    use Action::*;
    let base = Forger::new;
    let erased = || base().name(Create, hidden("hdl:20.8/X"), ERASABLE, 1).name(Erase,
        hidden("hdl:20.8/X"), ERASABLE, 2);
    vec![
        ("honest-empty", "nothing", export(&[], |_| ())),
        ("honest-life", "all that can become of a name", erased()
            .name(Create, hidden("hdl:20.8/Y"), ERASABLE, 1).name(Withdraw, hidden("hdl:20.8/Y"),
                ERASABLE, 2)
            .name(Transfer, hidden("hdl:20.8/Y"), ERASABLE, 3).name(MintReserved,
                hidden("hdl:20.8/Z"), ERASABLE, 1)
            .name(Activate, hidden("hdl:20.8/Z"), ERASABLE, 2).name(Reserve, hidden("hdl:20.9/P"),
                A, 1)
            .name(Change, hidden("hdl:20.9/P"), A, 2).name(Activate, opened("hdl:20.9/P"), A, 3)
            .name(Change, opened("hdl:20.9/P"), A, 4).withdrawn().name(Transfer, open(THESIS), A, 3)
            .name(Restore, open(THESIS), A, 4).name(Change, open(THESIS), A, 5).export()),
        ("honest-becomes-permanent", "names that could be erased become permanent, and are opened",
            base()
            .name(Create, hidden("hdl:20.8/X"), ERASABLE, 1).on(ChangeAuthority, ERASABLE, 2)
            .name(Change, opened("hdl:20.8/X"), ERASABLE, 2).name(Create, open("hdl:20.8/Y"),
                ERASABLE, 1).export()),
        ("honest-erased-then-permanent",
            "an earlier program made an authority permanent that had erased names", erased()
            .on(ChangeAuthority, ERASABLE, 2).name(Create, open("hdl:20.8/Y"), ERASABLE,
                1).export()),
        ("honest-time-back", "an earlier program dated all of an import by its beginning", base()
            .name(Create, open("hdl:20.9/X"), A, 1).with(|e| e.time -= 23 * DAY / 24).export()),
        ("honest-nul", "an earlier program took a name with U+0000",
            base().name(Create, open("hdl:20.9/A\0B"), A, 1).export()),
        ("honest-case", "case counts", base().name(Create, open("hdl:20.9/thesis"), A, 1).export()),
        ("honest-case-of-urns", "case counts in URNs and info URIs", base()
            .authority("urn:example").name(Create, open("urn:example:A"), "urn:example",
                1).name(Create, open("urn:example:a"), "urn:example", 1)
            .authority("ark:12025").name(Create, open("ark:12025/A"), "ark:12025", 1).name(Create,
                open("ark:12025/a"), "ark:12025", 1)
            .authority("info:pmid").name(Create, open("info:pmid/1"), "info:pmid", 1).export()),
        ("honest-begin", "a log continues another",
            base().begin_log().name(Change, open(THESIS), A, 2).begin_log().export()),
        ("honest-declined", "an authority is declined, asked for again and homed again", base()
            .on(RequestAuthority, "hdl:20.7", 1).on(Grant, "hdl:20.7", 2).on(DeclineAuthority,
                "hdl:20.7", 3)
            .on(RequestAuthority, "hdl:20.7", 1).on(ApproveAuthority, "hdl:20.7", 2)
            .name(Create, open("hdl:0.NA/20.7"), "hdl:20.7", 1).on(RetireAuthority, "hdl:20.7", 3)
            .on(Revoke, "hdl:20.7", 4).on(ApproveAuthority, "hdl:20.7", 5).name(Create,
                open("hdl:20.7/X"), "hdl:20.7", 1).export()),
        ("honest-namespaces", "entries are proposed, claimed, refused and withdrawn", base()
            .on(ClaimNamespace, "info:lccn", 2).on(VerifyNamespace, "info:lccn",
                3).on(ChangeNamespace, "info:lccn", 4)
            .on(ProposeNamespace, "info:x", 1).on(CommentNamespace, "info:x", 1).on(RefuseNamespace,
                "info:x", 2)
            .on(ProposeNamespace, "info:x", 3).on(CommentNamespace, "info:x",
                2).on(ApproveNamespace, "info:x", 4)
            .on(RenewNamespace, "info:x", 5).on(DeprecateNamespace, "info:x",
                6).on(WithdrawNamespace, "info:x", 7)
            .on(ImportNamespace, "info:y", 1).on(NamespacePolicy, "info:", 1).on(NamespacePolicy,
                "info:", 2).export()),
        ("honest-home", "a prefix below one that is not here;
                UNHOME leaves those below, which go on", base()
            .authority("hdl:20.9.1").on(RetireAuthority, A, 2).name(Create, open("hdl:20.9.1/X"),
                "hdl:20.9.1", 1)
            .authority("hdl:20.9.1.5").on(ChangeAuthority, "hdl:20.9.1", 2).on(ApproveAuthority, A,
                3).authority("hdl:20.9.2").export()),
        ("honest-approved-below-retired",
            "an authority was asked for before the one above it was retired", base()
            .authority("urn:urn-3").authority("urn:urn-3:hul").on(RequestAuthority,
                "urn:urn-3:hul.ois", 1)
            .on(RetireAuthority, "urn:urn-3:hul", 2).on(ApproveAuthority, "urn:urn-3:hul.ois", 2)
            .name(Create, open("urn:urn-3:hul.ois:home"), "urn:urn-3:hul.ois", 1).export()),
        ("honest-below-requested", "a prefix below one that was only asked for, or declined", base()
            .on(RequestAuthority, "hdl:20.7", 1).authority("hdl:20.7.1").on(DeclineAuthority,
                "hdl:20.7", 2).authority("hdl:20.7.2").export()),
        ("honest-info", "names in namespaces that are registered", base()
            .authority("info:lccn").name(Create, open("info:lccn/n78890351"), "info:lccn", 1)
            .on(ProposeNamespace, "info:x", 1).on(ApproveNamespace, "info:x",
                2).authority("info:x").name(Mint, open("info:x/1"), "info:x", 1)
            .on(DeprecateNamespace, "info:x", 3).name(Create, open("info:x/2"), "info:x", 1)
            .on(WithdrawNamespace, "info:x", 4).name(Change, open("info:x/2"), "info:x",
                2).export()),
        ("honest-info-unregistered",
            "earlier programs named in namespaces that nobody had registered", base()
            .authority("info:x").name(Create, open("info:x/1"), "info:x", 1).on(ProposeNamespace,
                "info:x", 1)
            .name(Create, open("info:x/2"), "info:x", 1).export()),
        ("honest-info-withdrawn", "an earlier program named in a namespace that was withdrawn",
            base()
            .authority("info:lccn").on(WithdrawNamespace, "info:lccn", 2).name(Create,
                open("info:lccn/1"), "info:lccn", 1).export()),
        ("honest-info-other-rules", "a namespace of the original registry has rules of its own",
            base()
            .authority("info:lccn").on(ChangeNamespace, "info:lccn", 2).name(Create,
                open("info:lccn/n78-890351"), "info:lccn", 1).export()),
        ("honest-info-rules-changed",
            "a namespace of the original registry gets other rules, by which two spellings are two \
            names", base()
            .authority("info:lccn").name(Create, open("info:lccn/n78890351"), "info:lccn", 1)
            .on(ChangeNamespace, "info:lccn", 2)
            .name(Create, open("info:lccn/n78-890351"), "info:lccn", 1).export()),
        ("noted-info-spelling", "an LCCN that the original registry spells otherwise", base()
            .authority("info:lccn").name(Create, open("info:lccn/n78-890351"), "info:lccn",
                1).export()),
        ("noted-scheme-in-prefix", "an earlier program took a scheme for a part of a prefix", base()
            .authority("hdl:HDL:20.9").name(Create, open("hdl:HDL:20.9/THESIS"), "hdl:HDL:20.9",
                1).export()),
        ("honest-urn-tree", "authorities of URN namespaces, one below the other", base()
            .authority("urn:urn-3").authority("urn:urn-3:hul").authority("urn:urn-3:hul.ois")
            .name(Create, open("urn:urn-3:hul.ois:home"), "urn:urn-3:hul.ois",
                1).authority("urn:example")
            .authority("urn:example:a").name(Create, open("urn:example:a:b:c"), "urn:example:a", 1)
            .name(Create, open("urn:example:b"), "urn:example", 1)
            .on(RetireAuthority, "urn:urn-3:hul", 2).on(RetireAuthority, "urn:urn-3:hul.ois", 2)
            .name(Change, open("urn:urn-3:hul.ois:home"), "urn:urn-3:hul.ois", 2).export()),
        ("honest-extra-lines", "a checkpoint with a line that others may know", {
            let events: Vec<_> = base().events.iter().map(Event::to_bytes).collect();
            export(&events, |head| head.extensions.push("witness 1".into()))
        }),
    ]
}

/// Writes the forged logs, and an index of all: look at the changes before you commit them.
#[test]
#[ignore = "it writes files"]
fn forge_all() {
    let mut index = Vec::new();
    let made = forged().into_iter().chain(honest()).map(Made::from);
    for made in made.chain(successions()) {
        let file = format!("{}.log", made.name);
        fs::write(folder().join(&file), &made.log).unwrap();
        index.push((file, made.what.to_string(), made.keys, made.from));
    }
    // Those that the program itself wrote.
    for entry in fs::read_dir(folder().join("written")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let what = "what the program itself wrote".to_string();
        index.push((format!("written/{name}"), what, Vec::new(), Vec::new()));
    }
    index.sort();
    let index: Vec<Vector> = index
        .into_iter()
        .map(|(file, what, keys, from)| {
            let log = fs::read(folder().join(&file)).unwrap();
            let (findings, notes) = codes(&verify_with(&log, &keys, &from));
            Vector {
                file,
                what,
                keys,
                from,
                findings,
                notes,
            }
        })
        .collect();
    let (index, successions): (Vec<_>, Vec<_>) =
        index.into_iter().partition(|log| log.keys.is_empty());
    for (name, logs) in [("index.json", index), ("successions.json", successions)] {
        let text = serde_json::to_string_pretty(&logs).unwrap() + "\n";
        fs::write(folder().join(name), text).unwrap();
    }
}
