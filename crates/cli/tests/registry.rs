//! The registry as a user of the command line meets it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use handfast_testing::Folder;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

/// A new data folder, by `handfast init`.
fn init(arguments: &[&str]) -> Folder {
    let folder = Folder::empty(PROGRAM);
    folder.done(&[&["init"], arguments].concat());
    folder
}

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

/// All options of `name` stood under "At a handle server", as if they needed one; `--server` was
/// offered where it was always refused.
#[test]
fn help_headings_are_true() {
    let help = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        let output = command.args(arguments).arg("--help").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // The options under each heading.
    let under = |text: &str, heading: &str| {
        let part = text.split(&format!("\n{heading}:\n")).nth(1);
        let lines = part.unwrap_or_default().lines();
        let lines = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
        let option = |line: &str| {
            let at = line.find("--")?;
            let is_option = line.get(..at)?.trim_end_matches("-h, ").trim().is_empty();
            let end = line.get(at..)?.find([' ', '\n']).map(|end| end + at);
            is_option.then(|| line[at..end.unwrap_or(line.len())].to_string())
        };
        lines.filter_map(option).collect::<Vec<_>>()
    };
    let at_server = ["--server", "--way", "--key", "--secret-file"];
    for command in ["create", "show", "list", "set", "withdraw"] {
        let text = help(&["name", command]);
        assert_eq!(under(&text, "At a handle server"), at_server, "{text}");
        assert!(
            under(&text, "Options").contains(&"--json".to_string()),
            "{text}"
        );
    }
    let values = ["--url", "--value", "--permissions", "--ttl"];
    assert_eq!(under(&help(&["name", "create"]), "Values"), values);
    let values = ["--url", "--value", "--permissions", "--ttl", "--remove"];
    assert_eq!(under(&help(&["name", "set"]), "Values"), values);
    for command in [
        "activate", "restore", "transfer", "erase", "history", "undo",
    ] {
        let text = help(&["name", command]);
        assert!(!text.contains("--server"), "{text}");
    }
    assert_eq!(under(&help(&["resolve"]), "At a handle server"), at_server);
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
fn a_name_lives_and_is_never_given_again() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.500", "--title", "Test"]);
    let created = folder.json(&[
        "name",
        "create",
        "20.500/Report",
        "--url",
        "https://a.example/",
        "--url",
        "https://b.example/",
        "--value",
        "5:EMAIL:a@example.org",
    ]);
    assert_eq!(created["key"], "hdl:20.500/REPORT");
    assert_eq!(created["version"], 1);
    assert_eq!(created["withdrawn"], Value::Null);
    folder.done(&[
        "name",
        "set",
        "20.500/report",
        "--url",
        "https://c.example/",
    ]);
    let shown = folder.json(&["name", "show", "20.500/report"]);
    assert_eq!(shown["values"].as_array().unwrap().len(), 2);
    let first = folder.json(&["name", "history", "20.500/report"])[0]["event"].to_string();
    let then = folder.json(&["name", "show", "20.500/report", "--at", &first]);
    assert_eq!(then["values"].as_array().unwrap().len(), 3);

    folder.done(&[
        "name",
        "withdraw",
        "20.500/report",
        "--reason",
        "wrong",
        "--successor",
        "20.500/other",
    ]);
    let withdrawn = folder.json(&["name", "show", "20.500/report"]);
    assert_eq!(withdrawn["withdrawn"]["reason"], "wrong");
    assert_eq!(withdrawn["withdrawn"]["successor"], "20.500/other");
    for spelling in [
        "20.500/REPORT",
        "hdl:20.500/report",
        "info:hdl/20.500/Report",
    ] {
        let error = folder.error(&["name", "create", spelling]);
        assert_eq!(error["code"], "exists");
        assert_eq!(error["event"].to_string(), first);
    }
    folder.done(&["name", "restore", "20.500/report"]);
    assert_eq!(
        folder.json(&["name", "show", "20.500/report"])["state"],
        "active"
    );
}

#[test]
fn errors_say_which_role_would_be_needed() {
    let folder = init(&[]);
    for path in [
        "urn:urn-3",
        "urn:urn-3:HUL",
        "urn:urn-3:HUL2",
        "urn:urn-3:HUL.OIS",
    ] {
        folder.done(&["authority", "create", path]);
    }
    let grant = [
        "authority",
        "grant",
        "urn:urn-3:HUL",
        "--to",
        "ann",
        "--role",
        "lead",
    ];
    // A typing error in the name made an account with the role, which nobody could remove.
    let unknown = folder.error(&grant);
    assert_eq!(unknown["code"], "no-account");
    let message = unknown["message"].to_string();
    assert!(message.contains("`handfast user create ann`"), "{message}");
    assert!(
        folder
            .json(&["user", "list"])
            .as_array()
            .unwrap()
            .is_empty()
    );
    folder.done(&[&grant[..], &["--create"]].concat());
    folder.done(&["user", "create", "bob"]);
    folder.done(&["authority", "create", "urn:urn-3:HUL.OIS.X", "--as", "ann"]);
    folder.done(&["name", "create", "urn:urn-3:HUL.OIS.X:Home", "--as", "ann"]);
    folder.done(&[
        "authority",
        "grant",
        "urn:urn-3:HUL.OIS",
        "--to",
        "300:20.1/bob",
        "--role",
        "write",
        "--as",
        "ann",
    ]);
    folder.done(&[
        "name",
        "create",
        "urn:urn-3:HUL.OIS:b",
        "--as",
        "300:20.1/bob",
    ]);
    for path in ["HUL", "HUL2"] {
        let error = folder.error(&[
            "name",
            "create",
            &format!("urn:urn-3:{path}:b"),
            "--as",
            "300:20.1/bob",
        ]);
        assert_eq!(error["needs"]["role"], "write");
        assert_eq!(error["needs"]["authority"], format!("urn:urn-3:{path}"));
    }
    let error = folder.error(&[
        "authority",
        "grant",
        "urn:urn-3:HUL.OIS",
        "--to",
        "eve",
        "--role",
        "read",
        "--as",
        "300:20.1/bob",
    ]);
    assert_eq!(error["needs"]["role"], "lead");
    assert_eq!(
        folder.error(&["authority", "create", "urn:urn-3:HUL.NO.X"])["code"],
        "no-authority"
    );
    folder.done(&[
        "authority",
        "revoke",
        "urn:urn-3:HUL.OIS",
        "--to",
        "300:20.1/bob",
        "--role",
        "write",
    ]);
    assert_eq!(
        folder.error(&[
            "name",
            "create",
            "urn:urn-3:HUL.OIS:c",
            "--as",
            "300:20.1/bob"
        ])["code"],
        "denied"
    );
    let shown = folder.json(&["authority", "show", "urn:urn-3:hul"]);
    assert_eq!(shown["grants"][0]["role"], "lead");
}

#[test]
fn names_are_minted_with_their_urls() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    folder.done(&["authority", "create", "2000.02", "--profile", "cordra"]);
    for (authority, length) in [("20.1", 9), ("2000.02", 32)] {
        let printed = folder.done(&[
            "mint",
            "--authority",
            authority,
            "--count",
            "700",
            "--url",
            "https://example.org/{name}",
            "--json",
        ]);
        let lines: Vec<Value> = printed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 700);
        let (_, local) = lines[0]["id"].as_str().unwrap().split_once('/').unwrap();
        assert_eq!(local.len(), length);
        assert_eq!(lines[0]["urls"][0], format!("https://example.org/{local}"));
    }
}

/// Guards against a slip of a few zeros that fills the disk with names.
#[test]
fn a_command_mints_no_more_than_a_million_names() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    for (count, words) in [
        ("1000001", "at most 1000000 names"),
        ("18446744073709551615", "run it again for more"),
        ("0", "at least one"),
        ("many", "not a number"),
    ] {
        let output = folder.run(&["mint", "--authority", "20.1", "--count", count]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{count}: {told}");
        assert!(told.contains(words), "{count}: {told}");
        assert!(output.stdout.is_empty(), "{count}");
    }
    let listed = folder.done(&["name", "list", "--authority", "20.1"]);
    assert!(!listed.contains("20.1/"), "{listed}");
}

/// Guards against values that are read from devices, which have no end, and from pipes, which may
/// have no beginning.
#[test]
fn values_are_read_from_regular_files_of_limited_size() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    let path = |name: &str| {
        let path = folder.path().join(name);
        path.to_str().unwrap().to_string()
    };
    let (large, pipe) = (path("large"), path("pipe"));
    fs::write(&large, vec![b'x'; 260_001]).unwrap();
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for (file, words) in [
        ("/dev/zero", "/dev/zero is not a regular file"),
        (&pipe, "is not a regular file"),
        (&large, "has more than 260000 bytes"),
        ("/does/not/exist", "cannot read /does/not/exist"),
    ] {
        let value = format!("5:DESC:@{file}");
        let output = folder.run(&["name", "create", "20.1/x", "--value", &value]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{file}: {told}");
        assert!(told.contains(words), "{file}: {told}");
    }
    let output = folder.run(&["name", "show", "20.1/x"]);
    assert_eq!(output.status.code(), Some(1));
    // Texts may come from pipes, and end all the same.
    let output = folder.run(&["job", "withdraw", "/dev/zero", "--reason", "test"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && told.contains("split it"),
        "{told}"
    );
}

#[test]
fn values_are_read_from_files_and_secrets_are_not_printed() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    let file = folder.path().join("secret");
    fs::write(&file, "geheim").unwrap();
    let value = format!("300:HS_SECKEY:@{}", file.display());
    let created = folder.json(&["name", "create", "20.1/admin", "--value", &value]);
    assert_eq!(created["values"][0]["permissions"], "1100");
    assert!(
        !folder
            .done(&["name", "show", "20.1/admin"])
            .contains("geheim")
    );
    assert!(
        !folder
            .done(&["name", "history", "20.1/admin", "--json"])
            .contains("geheim")
    );
    assert!(
        !folder
            .done(&["name", "show", "20.1/admin", "--as", "eve", "--json"])
            .contains("geheim")
    );
    let missing = folder.run(&["name", "create", "20.1/x", "--value", "1:URL:@/nonexistent"]);
    assert_eq!(missing.status.code(), Some(2));
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

/// A grant on `urn:urn-3:HBS.X:secret` was one on `HBS.X`, and `authority create hdl:20.79` made a
/// prefix of that name.
#[test]
fn authorities_are_named_as_they_are_acted_on() {
    let folder = init(&[]);
    let said = folder.done(&["authority", "create", "hdl:20.79"]);
    assert_eq!(said, "created 20.79\n");
    assert_eq!(
        folder.done(&["authority", "create", "doi:10.5"]),
        "created 10.5\n"
    );
    folder.done(&[
        "name",
        "create",
        "hdl:20.79/x",
        "--url",
        "https://e.example/",
    ]);
    folder.done(&["authority", "create", "urn:urn-3"]);
    folder.done(&["authority", "create", "urn:urn-3:HBS"]);
    for arguments in [
        &["create", "urn:urn-3:HBS.X:Y"][..],
        &[
            "grant",
            "urn:urn-3:HBS:secret",
            "--to",
            "tc",
            "--role",
            "admin",
        ],
        &["request", "urn:urn-3:A:B", "--as", "tc"],
    ] {
        let error = folder.error(&[&["authority"], arguments].concat());
        assert_eq!(error["code"], "bad-character", "{arguments:?}");
    }
    assert_eq!(
        folder.error(&["authority", "create", "foo:20.1"])["code"],
        "unknown-scheme"
    );
    let shown = folder.json(&["authority", "show", "urn:urn-3:HBS"]);
    assert_eq!(shown["grants"].as_array().unwrap().len(), 0);
    assert_eq!(
        folder.error(&["mint", "--authority", "urn:urn-3:HBS:Y"])["code"],
        "bad-character"
    );
}

/// `transfer` and `request` created an account from a typing error, as `grant` once did, and nobody
/// can remove an account.
#[test]
fn unknown_accounts_are_created_only_on_demand() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    folder.done(&["name", "create", "20.1/a", "--url", "https://a.example/"]);
    let accounts = || {
        let list = folder.json(&["user", "list"]);
        let names = list.as_array().unwrap().iter();
        names
            .map(|user| user["account"].as_str().unwrap().to_string())
            .collect::<Vec<_>>()
    };
    for (arguments, who) in [
        (&["authority", "transfer", "20.1", "--to", "ann"][..], "ann"),
        (&["name", "transfer", "20.1/a", "--to", "bob"], "bob"),
        (&["authority", "request", "20.1.5", "--as", "eve"], "eve"),
    ] {
        let before = accounts();
        let error = folder.error(arguments);
        assert_eq!(error["code"], "no-account", "{arguments:?}");
        let message = error["message"].as_str().unwrap();
        let remedy = format!("`handfast user create {who}`");
        assert!(message.contains(&remedy), "{message}");
        assert_eq!(accounts(), before, "{arguments:?}");
        folder.done(&[arguments, &["--create"]].concat());
        assert!(accounts().contains(&who.to_string()), "{arguments:?}");
    }
    // An identity of the handle protocol has no account and needs none.
    folder.done(&["name", "transfer", "20.1/a", "--to", "300:20.1/carol"]);
    // Only the operator and administrators create accounts.
    let error = folder.error(&[
        "authority",
        "transfer",
        "20.1",
        "--to",
        "zoe",
        "--create",
        "--as",
        "ann",
    ]);
    assert_eq!(error["code"], "operator-only");
}

/// A URL without its scheme was taken, and led nowhere.
#[test]
fn urls_that_lead_nowhere_are_refused_with_the_remedy() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    let value = ["name", "create", "20.1/a", "--value", "1:URL:example.org/1"];
    let error = folder.error(&value);
    assert_eq!(error["code"], "bad-url");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("https://example.org/1"), "{message}");
    folder.done(&[&value[..], &["--migrate"]].concat());
    let file = folder.path().join("names.ndjson");
    fs::write(
        &file,
        "{\"id\":\"20.1/b\",\"urls\":[\"http:/b.example\"]}\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let output = folder.run(&["import", file]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = told + &String::from_utf8_lossy(&output.stdout);
    assert!(
        told.contains("bad-url") && told.contains("--migrate"),
        "{told}"
    );
    folder.done(&["import", file, "--migrate"]);
    let check = folder.json(&["check"]);
    assert_eq!(check["malformed_urls"], 2);
}

/// A blank in the host, a port of five nines and a backslash became permanent names; `--migrate`
/// did nothing for `--url`.
#[test]
fn malformed_urls_are_refused_unless_they_are_migrated() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "12"]);
    for url in [
        "https://ex ample.org/a b",
        "https://a..b/",
        "https://a.org:99999/",
        "https://a.org\\x",
        " https://a.org",
        "example.org/x",
    ] {
        let error = folder.error(&["name", "create", "12/a", "--url", url]);
        assert_eq!(error["code"], "bad-url", "{url}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("--migrate"), "{message}");
        let value = format!("1:URL.x:{url}");
        let error = folder.error(&["name", "create", "12/a", "--value", &value]);
        assert_eq!(error["code"], "bad-url", "{value}");
    }
    let url = "https://example.org/";
    folder.done(&["name", "create", "12/s", "--url", url]);
    let set = ["name", "set", "12/s", "--url", "example.org/x"];
    assert_eq!(folder.error(&set)["code"], "bad-url");
    folder.done(&[&set[..], &["--migrate"]].concat());
    let create = ["name", "create", "12/m", "--url", "example.org/x"];
    folder.done(&[&create[..], &["--migrate"]].concat());
    assert_eq!(folder.json(&["check"])["malformed_urls"], 2);
    // A name stands anywhere in the URLs of names that are made.
    let url = "https://{name}.example.org/";
    folder.done(&["mint", "--authority", "12", "--url", url]);
}

/// `job replace-url` made URLs without a scheme of whole ones.
#[test]
fn replaced_urls_are_whole() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "12"]);
    let url = "https://e.example/1";
    folder.done(&["name", "create", "12/a", "--url", url]);
    for dry_run in [&["--dry-run"][..], &[]] {
        let job = ["job", "replace-url", "https://e.example/", "e2.example/"];
        let job = [&job[..], &["--authority", "12", "--json"], dry_run].concat();
        let output = folder.run(&job);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = told + &String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("bad-url"), "{told}");
        assert!(told.contains("https://e2.example/1"), "{told}");
    }
    let shown = folder.json(&["name", "show", "12/a"]);
    assert!(shown.to_string().contains(url), "{shown}");
}

/// A file that is not there was wrong usage for some commands, and a failure of the system for
/// others.
#[test]
fn a_file_that_is_not_there_is_wrong_usage_for_every_command() {
    let folder = init(&[]);
    for arguments in [
        &["import", "none"][..],
        &["import", "none", "--json"],
        &["job", "withdraw", "none", "--reason", "x"],
        &["log", "verify", "--export", "none"],
        &["namespace", "import", "none"],
        &["restore", "none"],
        &["inspect", "--registry", "none", "20.1/a"],
        &[
            "resolve",
            "20.1/a",
            "--server",
            "127.0.0.1:9",
            "--as",
            "300:20.1/b",
            "--key",
            "none",
        ],
        &[
            "--url",
            "http://127.0.0.1:9",
            "--token-file",
            "none",
            "authority",
            "list",
        ],
    ] {
        let output = folder.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains("cannot read none"), "{arguments:?}: {told}");
    }
}

/// `--url http://` was answered with "empty string".
#[test]
fn a_url_of_no_server_is_answered_with_what_one_is() {
    let folder = init(&[]);
    for url in [
        "http://",
        "foo",
        "https:///x",
        "http://a b",
        "http://h:99999",
        "ftp://x",
    ] {
        let output = folder.run(&["--url", url, "authority", "list"]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{url}: {told}");
        assert!(
            told.contains("such as https://pid.example.org"),
            "{url}: {told}"
        );
    }
}
