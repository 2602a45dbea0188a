//! The registry as a user of the command line meets it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod authorities;
mod events;
mod folder;
mod names;

use std::process::Command;

use handfast_testing::Folder;

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

/// A new data folder, by `handfast init`.
fn init(arguments: &[&str]) -> Folder {
    let folder = Folder::empty(PROGRAM);
    folder.done(&[&["init"], arguments].concat());
    folder
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
