//! Names and their values.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::init;

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

#[test]
fn names_are_minted_as_reserved_and_listed_by_state() {
    let folder = init(&[]);
    folder.done(&["authority", "create", "20.1"]);
    folder.done(&[
        "mint",
        "--authority",
        "20.1",
        "--style",
        "sequence",
        "--reserve",
    ]);
    folder.done(&["mint", "--authority", "20.1", "--style", "sequence"]);
    let list = |options: &[&str]| {
        let list = ["name", "list", "--authority", "20.1"];
        folder.done(&[&list, options].concat())
    };
    assert_eq!(list(&["--state", "reserved"]), "reserved   20.1/1\n");
    assert_eq!(
        list(&["--state", "active", "--children"]),
        "active     20.1/2\n"
    );
    assert_eq!(list(&["--words", "1/2"]), "active     20.1/2\n");
    assert_eq!(list(&["--changed-since", "2999-01-01T00:00:00Z"]), "");
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
