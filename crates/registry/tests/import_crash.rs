//! An import that is killed at any time, and run again until it ends, gives the same result as one
//! that was not: the same names and values, the same events, nothing twice.
//!
//! This program is both: the tests, and, with the argument `child`, the process that is killed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic, and the child reports to its parent"
)]

mod common;

use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use handfast_registry::{
    AuthorityChange, Counts, Environment, Export, Import, Job, JobKind, NewAuthority, NewName,
    Persistence, Principal, Registry, Verify,
};
use handfast_store::{Store, Table, TableKey};
use libtest_mimic::{Arguments, Trial};

use common::fill_with;

const OPERATOR: Principal = Principal::Operator;
const NAMES: u64 = 9_000;
const TESTS: [(&str, fn()); 4] = [
    (
        "a_sorted_import_that_is_killed_and_resumed_comes_to_the_same",
        a_sorted_import_that_is_killed_and_resumed_comes_to_the_same,
    ),
    (
        "a_shuffled_import_that_is_killed_and_resumed_comes_to_the_same",
        a_shuffled_import_that_is_killed_and_resumed_comes_to_the_same,
    ),
    (
        "what_a_killed_import_left_for_later_is_done_by_the_next_one",
        what_a_killed_import_left_for_later_is_done_by_the_next_one,
    ),
    (
        "a_batch_that_is_killed_and_resumed_comes_to_the_same",
        a_batch_that_is_killed_and_resumed_comes_to_the_same,
    ),
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, folder, file, seed] = arguments.as_slice()
        && first == "child"
    {
        return child(Path::new(folder), Path::new(file), seed.parse().unwrap());
    }
    let tests = TESTS.map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), tests.into()).exit();
}

/// The clock stands still, so that two imports give the same bytes; random bytes differ from
/// process to process.
fn world(seed: u64) -> Environment {
    let count = AtomicU64::new(seed << 32);
    Environment::new(
        || 1_800_000_000_000,
        move |bytes| fill_with(bytes, count.fetch_add(1, Ordering::Relaxed)),
    )
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn point(&mut self, limit: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(limit.as_micros()).unwrap()))
    }
}

/// The process that is killed.
fn child(folder: &Path, file: &Path, seed: u64) {
    let registry = Registry::open(folder, world(seed)).unwrap();
    println!("{}", run(&registry, file));
}

fn run(registry: &Registry, file: &Path) -> String {
    let import = Import {
        source: file.display().to_string(),
        update: true,
        ..Import::default()
    };
    let input = File::open(file).unwrap();
    let imported = registry.import(&OPERATOR, &import, input, &mut |_| ());
    let Counts {
        created,
        changed,
        unchanged,
        refused,
    } = imported.unwrap().counts;
    format!("done {created} {changed} {unchanged} {refused}")
}

/// A registry that has a few of the names already.
fn prepare(data: &Path) {
    let registry = Registry::create(data, world(1)).unwrap();
    for (path, persistence) in [
        ("20.1", Persistence::Permanent),
        ("20.2", Persistence::Erasable),
    ] {
        let new = NewAuthority {
            change: AuthorityChange {
                persistence: Some(persistence),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        registry.create_authority(&OPERATOR, path, new).unwrap();
    }
    for number in (0..NAMES).step_by(997) {
        let id = format!("20.1/n{number:06}");
        registry
            .create_name(&OPERATOR, &id, NewName::urls(&["https://old.example/"]))
            .unwrap();
    }
}

/// One after the other, or the times would depend on other tests.
static ALONE: Mutex<()> = Mutex::new(());

/// The whole visible state of a registry, and the whole index of its values.
#[derive(PartialEq)]
struct Seen {
    export: Vec<u8>,
    events: u64,
    names: u64,
    indexed: u64,
    index: Vec<(Vec<u8>, Vec<u8>)>,
    counts: Counts,
}

fn look(data: &Path) -> Seen {
    look_at(data, false)
}

fn look_at(data: &Path, was_interrupted: bool) -> Seen {
    let registry = Registry::open(data, world(2)).unwrap();
    // This also checks records and versions.
    let audited = registry
        .verify_log(&Verify::default(), &mut |_, _| ())
        .unwrap();
    assert!(audited.findings.is_empty(), "{:?}", audited.findings);
    let mut export = Vec::new();
    registry
        .export(&OPERATOR, &Export::default(), &mut export, &mut |_| ())
        .unwrap();
    let events = registry.event_count().unwrap();
    let mut jobs = registry.jobs().unwrap().into_iter();
    let job = jobs.next().unwrap();
    assert!(was_interrupted || job.ended.is_some());
    let is_other = |job: &Job| match &job.kind {
        JobKind::Import { source, .. } => source.ends_with("b.ndjson"),
        _ => false,
    };
    // If it was killed at the very end, there is nothing left to do.
    assert!(jobs.all(|job| is_other(&job) || job.counts.created == 0 && job.counts.changed == 0));
    drop(registry);
    let store = Store::open(data).unwrap();
    let mut index = Vec::new();
    let indexed = store
        .read(|now| {
            let from = TableKey::named(Table::Reverse, b"");
            now.scan(&from, &mut |table_key, key| {
                index.push((table_key.name().to_vec(), key.to_vec()));
                ControlFlow::Continue(())
            })?;
            now.count(Table::Reverse)
        })
        .unwrap();
    Seen {
        export,
        events,
        names: audited.names,
        indexed,
        index,
        counts: job.counts,
    }
}

/// Imports a file in another process, and kills it after a time unless it is done by then. Returns
/// whether it was.
fn is_done(data: &Path, file: &Path, point: Option<Duration>, chance: &mut Chance) -> bool {
    let mut child = Command::new(env::current_exe().unwrap())
        .arg("child")
        .args([data, file])
        .arg(chance.below(1 << 30).to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = child.stdout.take().unwrap();
    let (tell, told) = sync_channel(1);
    thread::spawn(move || {
        let mut text = String::new();
        said.read_to_string(&mut text).unwrap();
        // Nobody reads the output of the killed process.
        drop(tell.send(text));
    });
    let text = match point {
        Some(point) => told.recv_timeout(point).ok(),
        None => told.recv().ok(),
    };
    if let Some(text) = text {
        assert!(child.wait().unwrap().success(), "{text}");
        return true;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

/// Imports a file, killed `kills` times after random times up to about the duration of the import.
fn kill_and_resume(
    data: &Path,
    file: &Path,
    kills: u64,
    whole: Duration,
    chance: &mut Chance,
) -> u64 {
    for killed in 0..kills {
        let point = chance.point(whole);
        if is_done(data, file, Some(point), chance) {
            return killed;
        }
        // It may have been killed after its work was done: a batch file would be applied again.
        let registry = Registry::open(data, world(2)).unwrap();
        let job = registry.jobs().unwrap().into_iter().next_back();
        if job.is_some_and(|job| job.ended.is_some()) {
            return killed + 1;
        }
    }
    assert!(is_done(data, file, None, chance));
    kills
}

/// Imports a file into a new registry without killing it; returns how long that takes.
fn import_whole(data: &Path, file: &Path, chance: &mut Chance) -> Duration {
    prepare(data);
    #[expect(clippy::disallowed_methods, reason = "how long an import takes here")]
    let began = std::time::Instant::now();
    assert!(is_done(data, file, None, chance));
    began.elapsed()
}

fn killed_comes_to_the_same(input: &str, extension: &str, sessions: u64) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("input.{extension}"));
    fs::write(&file, input).unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let mut takes = import_whole(&whole, &file, &mut chance);
    let expected = look(&whole);
    assert!(expected.events > 3_000, "{}", expected.events);
    let mut session = 0;
    while session < sessions {
        prepare(&killed);
        if kill_and_resume(&killed, &file, 6, takes, &mut chance) > 0 {
            session += 1;
        } else {
            // It was done before it was killed, because the machine was busier before. It is killed
            // sooner next time.
            takes /= 2;
            assert!(takes > Duration::from_millis(1), "it is never killed");
        }
        let seen = look(&killed);
        assert_eq!(seen.events, expected.events, "session {session}");
        assert_eq!(seen.names, expected.names, "session {session}");
        assert_eq!(seen.indexed, expected.indexed, "session {session}");
        assert_eq!(seen.counts, expected.counts, "session {session}");
        assert!(seen.export == expected.export, "session {session}");
        assert!(seen.index == expected.index, "session {session}");
        fs::remove_dir_all(&killed).unwrap();
    }
}

/// Names of every kind, in the order of their keys, with some rejected ones. Blank lines make
/// chunks of a few thousand lines.
fn lines(names: u64, blank: usize) -> Vec<String> {
    let blank = " ".repeat(blank);
    let mut lines = vec![
        format!(r#"{{"authority":"20.1","title":""}}"#),
        format!(r#"{{"authority":"20.3","title":"New","policy":{{"default-ttl":300}}}}"#),
    ];
    for number in 0..names {
        let prefix = if number < names - 1_000 {
            "20.1"
        } else {
            "20.2"
        };
        let id = format!("{prefix}/n{number:06}");
        let url = format!("https://example.org/{number}");
        let more = match number % 100 {
            7 => r#","state":"reserved""#.to_string(),
            13 => {
                r#","state":"withdrawn","withdrawn":{"reason":"gone","successor":"20.1/x"}"#.into()
            }
            29 => r#","holder":"ann""#.into(),
            _ => format!(
                r#","values":[{{"index":9,"type":"EMAIL","data":"a{number}@example.org"}}]"#
            ),
        };
        lines.push(format!(r#"{{"id":"{id}","urls":["{url}"]{more}}}{blank}"#));
        match number % 1_000 {
            // The first of them is right.
            501 => lines.push(format!(
                r#"{{"id":"{id}","urls":["https://other.example/"]}}"#
            )),
            502 => lines.push(format!(r#"{{"id":"{id}x","urls":["javascript:1"]}}"#)),
            503 => lines.push("{".into()),
            _ => {}
        }
    }
    lines
}

fn a_sorted_import_that_is_killed_and_resumed_comes_to_the_same() {
    killed_comes_to_the_same(&lines(NAMES, 1_600).join("\n"), "ndjson", 2);
}

/// Names out of order pass the sorter, and are written at the end.
fn a_shuffled_import_that_is_killed_and_resumed_comes_to_the_same() {
    let mut lines = lines(NAMES, 1_600);
    let mut chance = Chance(7);
    // Authorities stay in front, and of equal names the first stays first.
    let mut names = lines.split_off(2);
    names.retain(|line| !line.contains("other.example"));
    for at in (1..names.len()).rev() {
        let other = usize::try_from(chance.below(u64::try_from(at).unwrap() + 1)).unwrap();
        names.swap(at, other);
    }
    lines.extend(names);
    killed_comes_to_the_same(&lines.join("\n"), "ndjson", 2);
}

/// An import that was killed may never be run again. The next import then finishes the index of
/// values, whatever it imports.
fn what_a_killed_import_left_for_later_is_done_by_the_next_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (file, other, export) = (path("a.ndjson"), path("b.ndjson"), path("c.ndjson"));
    fs::write(&file, lines(3_000, 8_000).join("\n")).unwrap();
    fs::write(
        &other,
        r#"{"id":"20.1/other","urls":["https://other.example/"]}"#,
    )
    .unwrap();
    let mut chance = Chance(11);
    let (whole, killed) = (path("whole"), path("killed"));
    let takes = import_whole(&whole, &file, &mut chance);
    let all = look(&whole).events;
    let mut partial = 0;
    for round in 0..12 {
        // On a busy machine it may take more attempts to hit the middle.
        if round >= 4 && partial > 0 {
            break;
        }
        prepare(&killed);
        let point = takes / 3 + chance.point(takes / 2);
        let was_done = is_done(&killed, &file, Some(point), &mut chance);
        assert!(is_done(&killed, &other, None, &mut chance));
        let seen = look_at(&killed, !was_done);
        partial += u64::from((300..all).contains(&seen.events));
        // The export of these names, imported into another folder, gives the same index.
        fs::write(&export, &seen.export).unwrap();
        fs::remove_dir_all(&whole).unwrap();
        drop(Registry::create(&whole, world(3)).unwrap());
        assert!(is_done(&whole, &export, None, &mut chance));
        assert!(look(&whole).index == seen.index);
        fs::remove_dir_all(&killed).unwrap();
    }
    assert!(partial > 0, "none was killed half way");
}

/// Operations of a batch file depend on those before them, and none can be applied twice.
fn a_batch_that_is_killed_and_resumed_comes_to_the_same() {
    let mut batch = "HOME 127.0.0.1:2641:TCP\n0.NA/20.7\n\n".to_string();
    for number in 0..2_000 {
        write!(
            batch,
            "CREATE 20.1/b{number}\n1 URL 86400 1110 UTF8 https://example.org/{number}\n\
             2 DESC 86400 1110 UTF8 two\n\n\
             ADD 20.1/b{number}\n3 EMAIL 300 1110 UTF8 a@example.org\n\n\
             REMOVE 2:20.1/b{number}\n\n"
        )
        .unwrap();
        if number % 3 == 0 {
            write!(
                batch,
                "MODIFY 20.1/b{number}\n1 URL 60 1110 UTF8 https://new.example/\n\n\
                 DELETE 20.1/b{number}\n\nCREATE 20.2/b{number}\n1 URL 60 1110 UTF8 https://b\n\n\
                 DELETE 20.2/b{number}\n\nREMOVE 77:20.1/b{number}\n\n"
            )
            .unwrap();
        }
    }
    killed_comes_to_the_same(&batch, "batch", 2);
}
