//! A folder in which the program is run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::Process;

/// The options that a test must not get from the environment.
const VARIABLES: [&str; 8] = [
    "DATA",
    "NATIVE",
    "PASSPHRASE",
    "PUBLIC_URL",
    "SECRET",
    "TOKEN",
    "URL",
    "WEB",
];

/// A folder, with the data folder `data` in it, and the program.
pub struct Folder {
    temporary: TempDir,
    program: &'static str,
}

impl Folder {
    /// A folder without a data folder. The test knows where the program is:
    /// `env!("CARGO_BIN_EXE_handfast")`.
    pub fn empty(program: &'static str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { temporary, program }
    }

    /// A new data folder with authorities.
    pub fn with(program: &'static str, authorities: &[&str]) -> Self {
        let folder = Self::empty(program);
        folder.done(&["init"]);
        for authority in authorities {
            folder.done(&["authority", "create", authority]);
        }
        folder
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The path of a file beside the data folder.
    pub fn file(&self, name: &str) -> String {
        self.path().join(name).to_str().unwrap().to_string()
    }

    /// Writes such a file: its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.file(name), content).unwrap();
        self.file(name)
    }

    /// Writes the configuration file.
    pub fn configure(&self, lines: &str) {
        self.write("data/handfast.toml", format!("version = \"v1\"\n{lines}\n"));
    }

    /// A command on the data folder, in the folder in which that is.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program();
        command.arg("--data").arg(self.data()).args(arguments);
        command
    }

    /// The program in this folder, without arguments.
    pub fn program(&self) -> Command {
        let mut command = Command::new(self.program);
        for name in VARIABLES {
            command.env_remove(format!("HANDFAST_{name}"));
        }
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs a command.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed: its output.
    pub fn done(&self, arguments: &[&str]) -> String {
        done(&mut self.command(arguments))
    }

    /// The same, read as JSON.
    pub fn json(&self, arguments: &[&str]) -> Json {
        serde_json::from_str(&self.done(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Runs a command that must fail with the status 1: the error.
    pub fn error(&self, arguments: &[&str]) -> Json {
        let (_, mut errors) = self.not_all(arguments);
        errors.remove(0)["error"].take()
    }

    /// Runs a command whose answer is no: lines of its output, and of standard error.
    pub fn not_all(&self, arguments: &[&str]) -> (Vec<Json>, Vec<Json>) {
        let output = self.run(&[arguments, &["--json"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        (
            lines(&String::from_utf8(output.stdout).unwrap()),
            lines(&errors),
        )
    }

    /// Starts a server at ports that are free. Its working folder is another one than that of
    /// commands.
    pub fn serve(&self, arguments: &[&str]) -> Process {
        self.serve_by(Command::new(self.program), arguments)
    }

    /// The same by a command that runs the program with the arguments it is given.
    pub fn serve_by(&self, mut command: Command, arguments: &[&str]) -> Process {
        let any = "127.0.0.1:0";
        for name in VARIABLES {
            command.env_remove(format!("HANDFAST_{name}"));
        }
        command.current_dir("/").arg("--data").arg(self.data());
        command.args(["serve", "--json", "--native", any, "--web", any]);
        Process::start(command.args(arguments))
    }
}

/// Runs a command that must succeed: its output.
pub fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{errors}");
    said.into_owned()
}

/// Reads lines of JSON.
pub fn lines(text: &str) -> Vec<Json> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}
