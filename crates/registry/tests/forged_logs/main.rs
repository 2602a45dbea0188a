//! Logs that the holder of a log's key could sign, each with one violation that an honest program
//! never commits; and honest logs with them.
//!
//! The logs are files in `vectors/logs`, and `index.json` lists the findings of each.
//! `successions.json` is the same for logs that are verified with keys and earlier checkpoints.
//! `forge_all` made the forged ones: `cargo test --test forged_logs -- --ignored` writes
//! them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod forged;
mod forger;
mod honest;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use handfast_registry::{Audited, Verify, verify_export};
use serde::{Deserialize, Serialize};

use forged::forged;
use honest::{honest, successions};

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
