//! Faults: in the map of a store they are damage, anywhere else they keep their meaning.
//!
//! This program is both: the tests, and, with the argument `child`, a process that causes a fault.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use handfast_store::{Store, StoreError, TableKey, Write};
use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [first, fault] if first == "child" => return child(fault),
        _ => {}
    }
    let tests = vec![
        Trial::test(
            "a_page_that_is_missing_ends_the_process_with_status_3",
            || {
                a_page_that_is_missing_ends_the_process_with_status_3();
                Ok(())
            },
        ),
        Trial::test("a_stack_that_overflows_is_reported_as_one", || {
            a_stack_that_overflows_is_reported_as_one();
            Ok(())
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}

/// Causes a fault, which ends the process.
fn child(fault: &str) {
    match fault {
        "missing page" => reads_a_page_that_is_missing(),
        "overflow inside of a read" => overflows_inside_of_a_read(),
        "overflow" => overflows_the_stack(),
        other => panic!("unknown fault: {other}"),
    }
}

/// Causes a fault in a process of its own.
fn run(fault: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", fault]);
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
fn a_page_that_is_missing_ends_the_process_with_status_3() {
    let output = run("missing page");
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(told(&output).contains("error: the store is damaged: restore it from a backup"));
}

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
fn a_stack_that_overflows_is_reported_as_one() {
    for fault in ["overflow inside of a read", "overflow"] {
        let output = run(fault);
        let told = told(&output);
        assert_eq!(output.status.signal(), Some(6), "{fault}: {told}");
        assert!(told.contains("has overflowed its stack"), "{fault}: {told}");
        assert!(!told.contains("damaged"), "{fault}: {told}");
    }
}

fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    if depth == u64::MAX {
        return 0;
    }
    overflow(depth + 1) + frame[usize::from(frame[0] == 1)]
}

fn overflows_inside_of_a_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let read = store.read(|_| Ok(overflow(0)));
    black_box(read.unwrap());
}

fn overflows_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let _store = store(&folder);
    black_box(overflow(0));
}
