//! A process that is killed in the middle of writes loses nothing that it acknowledged.
//!
//! This program is both: the test, and, with the argument `child`, the process that is killed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod common;

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use handfast_registry::{Edit, Environment, NewAuthority, NewName, Principal, Registry};
use libtest_mimic::{Arguments, Trial};

use common::fill_with;

const ROUNDS: u64 = 200;
const WRITERS: u64 = 4;
const OPERATOR: Principal = Principal::Operator;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, folder, round] = arguments.as_slice()
        && first == "child"
    {
        return child(Path::new(folder), round.parse().unwrap());
    }
    let test = Trial::test("sigkill_loses_nothing_acknowledged", || {
        sigkill_loses_nothing_acknowledged();
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![test]).exit();
}

fn world(round: u64) -> Environment {
    let count = AtomicU64::new(round << 32);
    Environment::new(
        move || 1_800_000_000_000 + round,
        move |bytes| fill_with(bytes, count.fetch_add(1, Ordering::Relaxed)),
    )
}

/// The process that is killed: several writers create and change names, and print each one when it
/// is acknowledged.
fn child(folder: &Path, round: u64) {
    let registry = Arc::new(Registry::open(folder, world(round)).unwrap());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let registry = Arc::clone(&registry);
            thread::spawn(move || {
                for number in 0.. {
                    let id = format!("20.1/r{round}-w{writer}-{number}");
                    registry
                        .create_name(&OPERATOR, &id, NewName::urls(&["https://a"]))
                        .unwrap();
                    say(&format!("created {id}"));
                    registry
                        .edit_name(&OPERATOR, &id, Edit::urls(&["https://b"]))
                        .unwrap();
                    say(&format!("changed {id}"));
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
}

/// Prints one whole line at once, whatever other threads print.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{text}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn sigkill_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let registry = Registry::create(&data, world(0)).unwrap();
    registry
        .create_authority(&OPERATOR, "20.1", NewAuthority::default())
        .unwrap();
    drop(registry);
    let mut acknowledged = BTreeSet::new();
    for round in 1..=ROUNDS {
        let mut child = Command::new(env::current_exe().unwrap())
            .arg("child")
            .arg(&data)
            .arg(round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        // The time differs from round to round: after so many lines.
        let lines = said
            .by_ref()
            .lines()
            .take(usize::try_from(5 + round % 61).unwrap());
        acknowledged.extend(lines.map_while(Result::ok));
        child.kill().unwrap();
        acknowledged.extend(said.lines().map_while(Result::ok));
        child.wait().unwrap();
        if round % 20 == 0 {
            verify(&data, &acknowledged);
        }
    }
    assert!(acknowledged.len() > 1_000, "{}", acknowledged.len());
}

fn verify(data: &Path, acknowledged: &BTreeSet<String>) {
    let registry = Registry::open(data, world(u64::from(u32::MAX))).unwrap();
    let check = registry.check().unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
    for line in acknowledged {
        if let Some(id) = line.strip_prefix("created ") {
            assert!(registry.show(&OPERATOR, id).is_ok(), "{line}");
        }
        if let Some(id) = line.strip_prefix("changed ") {
            let record = registry.show(&OPERATOR, id).unwrap().record;
            assert_eq!(record.values[0].data.as_ref(), b"https://b", "{line}");
        }
    }
}
