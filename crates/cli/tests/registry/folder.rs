//! The data folder: making, copying and checking it.

use std::fs;
use std::path::Path;
use std::process::Command;

use handfast_testing::Folder;

use crate::{PROGRAM, init};

#[test]
fn the_demo_shows_the_examples_of_the_documents() {
    let folder = init(&["--demo"]);
    let shown = folder.json(&["name", "show", "urn:URN-3:hul.ois:HOME"]);
    assert_eq!(shown["id"], "urn:urn-3:HUL.OIS:Home");
    assert_eq!(shown["values"].as_array().unwrap().len(), 3);
    assert_eq!(shown["values"][0]["index"], 1);
    // The documents 000 and 001, each with the identifier of its metadata.
    for (id, metadata) in [
        (
            "hdl:2000.01/ffee9f72b00c4189b137ecd34188b94e",
            "2000.01/A3D8BE7457C943FFB66ED4583059A8BA",
        ),
        (
            "[2000.01/EEF4DF17361A42E2B975E554663B70C3]",
            "2000.01/F4FBE5D290194191AAD3A1EFE79D6C5A",
        ),
    ] {
        let document = folder.json(&["name", "show", id]);
        let values = document["values"].as_array().unwrap();
        let link = values
            .iter()
            .find(|value| value["type"] == "METADATA")
            .unwrap();
        assert_eq!(link["data"]["value"], metadata);
        assert_eq!(folder.json(&["name", "show", metadata])["id"], metadata);
    }
    for (id, state) in [
        ("urn:urn-3:FHCL:10403", "active"),
        ("urn:urn-3:HBS.Baker.TC:1923", "active"),
        ("urn:urn-3:HUL.Eresource:holliswb", "active"),
        ("urn:urn-3:HUL.OIS:Home", "active"),
        ("100.102/F58FB49EB1F848f0A606E84CEF294BE5", "active"),
        ("https://doi.org/10.1045/APRIL2006-paskin", "active"),
        ("12345.1/vase-8", "withdrawn"),
        ("12345.1/not-yet-shown", "reserved"),
    ] {
        assert_eq!(folder.json(&["name", "show", id])["state"], state, "{id}");
    }
    assert_eq!(
        folder.error(&["name", "show", "12345.1/not-yet-shown", "--as", "eve"])["code"],
        "not-found"
    );
    folder.done(&["check"]);
}

/// Every fresh folder showed an authority of Harvard, with its address, on the public pages of
/// others.
#[test]
fn a_new_folder_has_no_authority_of_anybody() {
    let folder = init(&[]);
    let list = folder.json(&["authority", "list"]);
    assert!(list.as_array().unwrap().is_empty(), "{list}");
    let refused = folder.error(&["authority", "create", "urn:urn-3:HUL"]);
    let hint = refused["hint"].to_string();
    assert!(hint.contains("authority create urn:urn-3"), "{refused}");
    folder.done(&["authority", "create", "urn:urn-3"]);
    folder.done(&["authority", "create", "urn:urn-3:HUL"]);
    let demo = init(&["--demo"]);
    let shown = demo.json(&["authority", "show", "urn:urn-3"]);
    assert_eq!(shown["title"], "Harvard University Library");
}

#[test]
fn the_folder_can_be_named_before_after_and_in_the_environment() {
    let folder = init(&[]);
    let handfast = || Command::new(PROGRAM);
    let after = handfast()
        .args(["authority", "list", "--data"])
        .arg(folder.data())
        .output()
        .unwrap();
    assert!(after.status.success());
    let environment = handfast()
        .args(["authority", "list"])
        .env("HANDFAST_DATA", folder.data())
        .output()
        .unwrap();
    assert_eq!(environment.stdout, after.stdout);
    let nowhere = handfast()
        .args(["--data", "/nonexistent/x", "authority", "list"])
        .output()
        .unwrap();
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("init"));
}

#[test]
fn a_backup_is_a_folder_again_and_keeps_what_was_withdrawn() {
    let folder = init(&["--demo"]);
    let backup = folder.path().join("backup");
    folder.done(&["backup", backup.to_str().unwrap()]);
    let other = Folder::empty(PROGRAM);
    other.done(&["restore", backup.to_str().unwrap()]);
    assert_eq!(
        other.error(&["name", "create", "12345.1/VASE-8"])["code"],
        "exists"
    );
    let again = other.run(&["restore", backup.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(1));
}

/// Changes the bytes of the data file wherever they stand. Nothing has it open.
fn damage(data: &Path, find: &[u8], replace: &[u8]) {
    let file = data.join("data.mdb");
    let mut bytes = fs::read(&file).unwrap();
    let offsets: Vec<_> = (0..bytes.len() - find.len())
        .filter(|at| bytes[*at..].starts_with(find))
        .collect();
    assert!(!offsets.is_empty());
    for at in offsets {
        bytes[at..at + find.len()].copy_from_slice(replace);
    }
    fs::write(&file, bytes).unwrap();
}

#[test]
fn a_changed_byte_is_found_and_named() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1", "--title", "Original title"]);
    folder.done(&[
        "name",
        "create",
        "20.1/one",
        "--url",
        "https://example.org/one",
    ]);
    folder.done(&[
        "name",
        "create",
        "20.1/two",
        "--url",
        "https://example.org/two",
    ]);
    folder.done(&["check"]);
    damage(
        &folder.data(),
        b"https://example.org/two",
        b"https://example.org/twp",
    );
    let output = folder.run(&["check"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("the record of 20.1/two (hdl:20.1/TWO) is damaged"),
        "{text}"
    );
    assert!(!text.contains("ONE"), "{text}");
    let shown = folder.run(&["name", "show", "20.1/two"]);
    assert_eq!(
        shown.status.code(),
        Some(3),
        "a damaged record is never shown"
    );
    damage(&folder.data(), b"Original title", b"0riginal title");
    let text = String::from_utf8(folder.run(&["check"]).stdout).unwrap();
    assert!(text.contains("authority hdl:20.1 is damaged"), "{text}");
}

#[test]
fn a_changed_event_is_found_and_named() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    folder.done(&["name", "create", "20.1/x"]);
    let event = folder.json(&["name", "history", "20.1/x"])[0]["event"].to_string();
    // In an event, and nowhere else, the key stands behind its length and in front of the
    // authority's.
    damage(
        &folder.data(),
        b"hdl:20.1/X\0\x08hdl:20.1",
        b"hdl:20.1/Y\0\x08hdl:20.1",
    );
    let output = folder.run(&["check"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(&format!("event {event} is damaged")),
        "{text}"
    );
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let folder = &folder;
            scope.spawn(move || folder.done(&["name", "create", &format!("20.1/{number}")]));
        }
    });
    assert_eq!(
        folder
            .done(&["name", "list", "--authority", "20.1"])
            .lines()
            .count(),
        8
    );
}

#[test]
fn a_damaged_backup_is_refused_and_leaves_nothing() {
    let folder = init(&["--demo"]);
    let backup = folder.path().join("backup");
    folder.done(&["backup", backup.to_str().unwrap()]);
    assert_eq!(
        folder.error(&["backup", backup.to_str().unwrap()])["code"],
        "file-exists"
    );
    let whole = fs::read(&backup).unwrap();
    let other = Folder::empty(PROGRAM);
    let find = b"https://museum.example/vase-7";
    let at = (0..whole.len())
        .find(|at| whole[*at..].starts_with(find))
        .unwrap();
    let mut flipped = whole.clone();
    flipped[at + 10] ^= 1;
    for bad in [&flipped[..], &whole[..whole.len() / 3], b""] {
        fs::write(&backup, bad).unwrap();
        assert_eq!(
            other.error(&["restore", backup.to_str().unwrap()])["code"],
            "damaged-backup"
        );
        assert!(!other.data().exists());
    }
    fs::write(&backup, &whole).unwrap();
    other.done(&["restore", backup.to_str().unwrap()]);
}
