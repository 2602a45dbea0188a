//! Faults: in the map of a store they are damage, anywhere else they keep their meaning.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use handfast_store::{Store, StoreError, TableKey, Write};

/// Runs one of the tests below, which are ignored, in a process of its own.
fn run(test: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", test]);
    command.output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn store(folder: &tempfile::TempDir) -> Store {
    let store = Store::create(folder.path()).unwrap();
    let writes =
        (0..200_u32).map(|number| Write::put(TableKey::record(&number.to_be_bytes()), &[7; 2_000]));
    let writes = writes.collect::<Vec<_>>();
    store
        .change(move |_| Ok::<_, StoreError>((writes, ())))
        .unwrap();
    store
}

/// Guards against a process that ends by SIGBUS when the file of its store is truncated.
#[test]
fn a_page_that_is_missing_ends_the_process_with_status_3() {
    let output = run("reads_a_page_that_is_missing");
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("error: the store is damaged: restore it from a backup"));
}

#[test]
#[ignore = "ends its process"]
fn reads_a_page_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let path = folder.path().join("data.mdb");
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(8_192).unwrap();
    drop(store.check());
}

/// Guards against a handler that takes a stack overflow for damage: the standard library reports
/// those.
#[test]
fn a_stack_that_overflows_is_reported_as_one() {
    for test in ["overflows_inside_of_a_read", "overflows_the_stack"] {
        let output = run(test);
        let told = told(&output);
        assert_eq!(output.status.signal(), Some(6), "{test}: {told}");
        assert!(told.contains("has overflowed its stack"), "{test}: {told}");
        assert!(!told.contains("damaged"), "{test}: {told}");
    }
}

fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    if depth == u64::MAX {
        return 0;
    }
    overflow(depth + 1) + frame[usize::from(frame[0] == 1)]
}

#[test]
#[ignore = "ends its process"]
fn overflows_inside_of_a_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let read = store.read(|_| Ok(overflow(0)));
    black_box(read.unwrap());
}

#[test]
#[ignore = "ends its process"]
fn overflows_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let _store = store(&folder);
    black_box(overflow(0));
}
