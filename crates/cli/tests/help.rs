//! The help texts of all commands, compared with the files in `snapshots/`: one for each command,
//! with its subcommands. CONTRIBUTING.md says how to accept a change.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

/// The help text of a command, whatever the environment sets.
fn help(words: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_handfast"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HANDFAST_") {
            command.env_remove(name);
        }
    }
    let output = command.args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    list.take_while(|line| !line.is_empty())
        // Continued descriptions are further to the right.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_string)
        .collect()
}

/// The help texts of a command and of everything below it.
fn all(words: &[String]) -> String {
    let own = help(words);
    let mut text = format!("$ handfast {} --help\n\n{own}", words.join(" "));
    for name in subcommands(&own) {
        let words = [words, &[name]].concat();
        text = text + "\n" + &all(&words);
    }
    text
}

#[test]
fn help_texts() {
    let own = help(&[]);
    insta::assert_snapshot!("handfast", own);
    let commands = subcommands(&own);
    assert!(commands.len() > 15, "{commands:?}");
    for name in commands {
        let text = all(std::slice::from_ref(&name));
        insta::assert_snapshot!(name, text);
    }
}
