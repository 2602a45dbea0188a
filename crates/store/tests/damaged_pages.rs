//! Scans of a store with damaged pages: they see all entries, or report that the store is damaged.
//!
//! This program is both: the tests, and, with the argument `child`, the process that reads a
//! damaged store, which may end it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use handfast_store::{Snapshot, Store, StoreError, Table, TableKey, Write};
use libtest_mimic::{Arguments, Trial};

const NAMES: u32 = 600;
const PAGE: usize = 4_096;
/// The position of the number of entries in the header of a page.
const LOWER: usize = 12;
/// The status of a process that has seen fewer entries, or others, and no error.
const SILENT: i32 = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, scans, folder] = arguments.as_slice()
        && first == "child"
    {
        return reads_a_damaged_store(Path::new(folder), scans == "partial");
    }
    let tests = vec![
        Trial::test("scans_of_damaged_pages_are_errors", || {
            scans_of_damaged_pages_are_errors();
            Ok(())
        }),
        Trial::test("a_store_that_met_damage_remembers_it", || {
            a_store_that_met_damage_remembers_it();
            Ok(())
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}

fn name(number: u32) -> String {
    let start = match number % 3 {
        0 => 'a',
        1 => 'b',
        _ => 'c',
    };
    format!("{start}/{number:04}")
}

fn put(store: &Store, writes: Vec<Write>) {
    let change = store.change(move |_| Ok::<_, StoreError>((writes, ())));
    change.unwrap();
}

/// Names of three beginnings, events, and an index with values that one name and many names have.
fn fill(folder: &Path) {
    let store = Store::create(folder).unwrap();
    for number in 0..NAMES {
        let name = name(number);
        let value = if number % 2 == 0 { "same" } else { &name };
        put(
            &store,
            vec![
                Write::put(TableKey::record(name.as_bytes()), &[7; 60]),
                Write::put(TableKey::event(number.into()), &[8; 60]),
                Write::IndexInsert {
                    value: value.into(),
                    key: name.clone().into_bytes(),
                },
            ],
        );
    }
}

fn scanned(now: &Snapshot<'_>, from: &TableKey<'_>, start: &[u8]) -> Result<u32, StoreError> {
    let mut count = 0;
    now.scan(from, &mut |place, _| {
        if !place.name().starts_with(start) {
            return ControlFlow::Break(());
        }
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(count)
}

/// How many entries scans of whole tables see.
fn whole(now: &Snapshot<'_>) -> Result<Vec<u32>, StoreError> {
    let mut count = 0;
    now.scan_index(b"", &mut |_, _, _| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    Ok(vec![
        scanned(now, &TableKey::record(b""), b"")?,
        scanned(now, &TableKey::event(0), b"")?,
        count,
    ])
}

/// How many entries scans of parts of tables see.
fn parts(now: &Snapshot<'_>) -> Result<Vec<u32>, StoreError> {
    let mut seen = Vec::new();
    for start in ["a/", "b/", "c/", "c/03"] {
        seen.push(scanned(
            now,
            &TableKey::record(start.as_bytes()),
            start.as_bytes(),
        )?);
    }
    seen.push(scanned(now, &TableKey::event(300), b"")?);
    let mut count = 0;
    now.scan_index(b"b/", &mut |_, _, _| {
        count += 1;
        ControlFlow::Continue(())
    })?;
    seen.push(count);
    Ok(seen)
}

/// The child. With `has_partial_scans` it also scans parts of tables.
fn reads_a_damaged_store(folder: &Path, has_partial_scans: bool) {
    let sees = |sound: Vec<u32>, found: Result<Vec<u32>, StoreError>| match found {
        Ok(found) if found != sound => std::process::exit(SILENT),
        // Reported by an error.
        Ok(_) | Err(_) => {}
    };
    let Ok(store) = Store::open_read_only(folder) else {
        return;
    };
    let whole_found = store.read(whole);
    sees(vec![600, 600, 600], whole_found);
    let copy = folder.join("copy");
    if store.backup(&copy).is_ok() {
        // A finished copy has everything.
        let restored = Store::restore(&copy, &folder.join("restored"));
        assert_eq!(restored.unwrap().read(whole).unwrap(), [600, 600, 600]);
    }
    if has_partial_scans {
        sees(vec![200, 200, 200, 33, 300, 100], store.read(parts));
    }
}

/// Reads a store whose file has these bytes, in a process of its own.
fn read_in_child(bytes: &[u8], has_partial_scans: bool, what: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.mdb"), bytes).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    let scans = if has_partial_scans {
        "partial"
    } else {
        "whole"
    };
    child.args(["child", scans]).arg(folder.path());
    let output = child.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    // The handler of faults ends a process with 3.
    let is_told = matches!(output.status.code(), Some(0 | 3));
    assert!(is_told, "{what}: {:?}: {told}", output.status);
}

/// Guards against scans that end early on a damaged page without an error: an export with fewer
/// names, and an incomplete backup.
fn scans_of_damaged_pages_are_errors() {
    let sound = tempfile::tempdir().unwrap();
    fill(sound.path());
    let bytes = fs::read(sound.path().join("data.mdb")).unwrap();
    read_in_child(&bytes, true, "sound");
    let pages = bytes.len() / PAGE;
    for page in 2..pages {
        let place = page * PAGE..(page + 1) * PAGE;
        for fill in [0, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[place.clone()].fill(fill);
            read_in_child(&damaged, true, &format!("page {page} is all {fill}"));
        }
        // A write that went to a wrong page.
        let other = 2 + (page * 7 + 3) % (pages - 2);
        let mut damaged = bytes.clone();
        damaged.copy_within(other * PAGE..(other + 1) * PAGE, place.start);
        read_in_child(&damaged, false, &format!("page {page} is page {other}"));
        let mut damaged = bytes.clone();
        damaged[place.start + LOWER] ^= 1 << (1 + page % 5);
        let what = format!("page {page} has another number of entries");
        read_in_child(&damaged, false, &what);
    }
}

/// Guards against a store that meets damage and reports itself as sound afterwards.
fn a_store_that_met_damage_remembers_it() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let store = Store::open(folder.path()).unwrap();
    assert!(!store.is_damaged());
    let (done, wait) = std::sync::mpsc::channel();
    let probe = || {
        let done = done.clone();
        store.probe(move |outcome| done.send(outcome).unwrap());
        wait.recv().unwrap()
    };
    probe().unwrap();
    store.note_damage();
    assert!(store.is_damaged());
    assert!(matches!(probe(), Err(StoreError::Damaged)));
    // A change that reaches the disk makes nothing sound.
    put(&store, vec![Write::put(TableKey::record(b"d"), b"")]);
    assert!(matches!(probe(), Err(StoreError::Damaged)));
    assert_eq!(store.check().unwrap().len(), Table::ALL.len());
}
