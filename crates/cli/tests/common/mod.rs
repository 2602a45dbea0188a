//! A data folder, and the program run on it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) struct Folder {
    temporary: tempfile::TempDir,
}

impl Folder {
    /// A place for a data folder, where there is none yet.
    pub(crate) fn empty() -> Self {
        Self {
            temporary: tempfile::tempdir().unwrap(),
        }
    }

    /// A new data folder with authorities.
    pub(crate) fn with(authorities: &[&str]) -> Self {
        let folder = Self::empty();
        folder.done(&["init"]);
        for authority in authorities {
            folder.done(&["authority", "create", authority]);
        }
        folder
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.temporary.path().join("data")
    }

    /// The path of a file beside the data folder.
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.temporary.path().join(name);
        path.to_str().unwrap().to_string()
    }

    /// Writes such a file, and gives its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.file(name), content).unwrap();
        self.file(name)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_handfast"));
        command
            .env_remove("HANDFAST_DATA")
            .env_remove("HANDFAST_URL")
            .arg("--data")
            .arg(self.data())
            .args(arguments);
        command.output().unwrap()
    }

    /// Runs a command that must succeed, and gives what it prints.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Runs a command whose answer is no: what it prints, and what it says on standard error, by
    /// lines.
    pub(crate) fn not_all(&self, arguments: &[&str]) -> (Vec<Value>, Vec<Value>) {
        let output = self.run(&[arguments, &["--json"]].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        (
            lines(&String::from_utf8(output.stdout).unwrap()),
            lines(&told),
        )
    }
}

/// Lines of JSON.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}
