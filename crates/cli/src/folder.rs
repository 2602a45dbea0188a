//! The data folder: making, copying, checking.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueHint};
use handfast_registry::{Environment, Registry, RegistryError, StoreError, sync_name};
use serde_json::json;

use crate::commands::demo;
use crate::commands::inspect_view::Shown as Safe;
use crate::config::Config;
use crate::exit::{Answer, UnreadableInput, refused};
use crate::new_file::{NewFile, beside, move_folder};
use crate::terminal::output::Output;

/// Where the data is.
#[derive(Args, Clone)]
pub(crate) struct Data {
    /// The data folder
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "HANDFAST_DATA",
        default_value = DEFAULT,
        global = true,
        value_hint = ValueHint::DirPath
    )]
    pub(crate) folder: PathBuf,
}

impl Data {
    /// Opens the folder for reading alone, under the rules of its configuration: also beside a
    /// server that is using it, and without writing to it.
    pub(crate) fn open_to_read(&self) -> Result<Registry, RegistryError> {
        let rules = self.config()?.rules().map_err(|error| unusable(&error))?;
        let registry = Registry::open_read_only(&self.folder, world())?;
        Ok(registry.with_rules(rules))
    }

    pub(crate) fn config(&self) -> Result<Config, RegistryError> {
        Config::read(&self.folder).map_err(|error| unusable(&error))
    }

    /// Opens the folder for this process alone, under the rules of its configuration.
    pub(crate) fn open(&self, config: &Config) -> Result<Registry, RegistryError> {
        let rules = config.rules().map_err(|error| unusable(&error))?;
        let limits = config.limits();
        let mut tries = 0;
        loop {
            match Registry::open(&self.folder, world()) {
                // Another command may be about to end.
                Err(RegistryError::Store(StoreError::Locked { .. })) if tries < TRIES => {
                    tries += 1;
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "the other process will not tell us"
                    )]
                    std::thread::sleep(PAUSE);
                }
                outcome => {
                    let opened = outcome?;
                    return Ok(opened.with_rules(rules).with_limits(limits));
                }
            }
        }
    }

    /// Opens the folder, or makes it where there is none or nothing in it. Says so, in case
    /// the name of the folder was mistyped. A new one may be filled with examples.
    pub(crate) fn open_or_make(
        &self,
        config: &Config,
        output: Output,
        with_demo: bool,
    ) -> Result<Registry, RegistryError> {
        let is_empty = match fs::read_dir(&self.folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if is_empty {
            let registry = make(&self.folder)?;
            if with_demo {
                demo::fill(&registry)?;
            }
            output.note(&format!("made {}", self.folder.display()));
        }
        self.open(config)
    }
}

fn unusable(error: &anyhow::Error) -> RegistryError {
    RegistryError::Configuration {
        problem: format!("{error:#}"),
    }
}

/// A new folder, without any authority.
pub(crate) fn make(folder: &Path) -> Result<Registry, RegistryError> {
    Registry::create(folder, world())
}

/// How often, and how long apart, a folder that is in use is tried again: ten seconds in all.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// The folder of those who say none.
const DEFAULT: &str = "./handfast-data";

/// How the program is called for a folder, for commands that are shown to be tried.
pub(crate) fn program(folder: &Path) -> String {
    let text = folder.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    if text == DEFAULT || std::env::var_os("HANDFAST_DATA").is_some_and(|said| said == folder) {
        "handfast".to_string()
    } else if text.chars().all(is_plain) {
        format!("handfast --data {text}")
    } else {
        format!("handfast --data '{}'", text.replace('\'', r"'\''"))
    }
}

/// The clock and the random numbers of this machine.
pub(crate) fn world() -> Environment {
    let clock = Arc::new(handfast_client::Environment::system());
    let chance = Arc::clone(&clock);
    Environment::new(move || clock.now(), move |bytes| chance.fill(bytes))
}

/// Copy the data folder to a file
#[derive(Args)]
pub(crate) struct Backup {
    /// The file, which must not exist yet
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Backup {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        self.copy(data).map_err(refused)?;
        let file = self.file.display().to_string();
        self.output.print(&json!({"file": file}), |out| {
            writeln!(out, "copied {} to {file}", data.folder.display())
        })
    }

    fn copy(&self, data: &Data) -> Result<(), RegistryError> {
        let path = self.file.clone();
        let mut file = NewFile::create_new(&path, 0o600).map_err(|source| match source.kind() {
            ErrorKind::AlreadyExists => RegistryError::Policy {
                code: "file-exists",
                problem: format!(
                    "{} exists: a backup never overwrites a file",
                    path.display()
                ),
            },
            _ => StoreError::Io { path, source }.into(),
        })?;
        let registry = data.open_to_read()?;
        registry.backup_to(file.file())?;
        file.finish()
            .and_then(|()| sync_name(&self.file))
            .map_err(|source| RegistryError::Output { source })?;
        registry.note_backup();
        Ok(())
    }
}

/// Make a data folder from a backup
#[derive(Args)]
pub(crate) struct Restore {
    /// The backup
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Restore {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        File::open(&self.file).with_context(|| UnreadableInput::new(&self.file))?;
        let check = self.restore(&data.folder).map_err(refused)?;
        let (folder, names, events) = (data.folder.display(), check.records, check.events);
        let said = json!({"folder": folder.to_string(), "names": names, "events": events});
        self.output.print(&said, |out| {
            writeln!(out, "made {folder}: {names} names, {events} events")
        })
    }

    /// Makes the folder beside its place and moves it there when all of it has been found sound.
    fn restore(&self, folder: &Path) -> Result<handfast_registry::Check, RegistryError> {
        if folder.join("data.mdb").exists() {
            return Err(StoreError::AlreadyExists {
                folder: folder.to_path_buf(),
            }
            .into());
        }
        let half = beside(folder, ".restoring");
        // What an earlier try left.
        drop(fs::remove_dir_all(&half));
        let outcome = self.restore_to(&half).and_then(|check| {
            move_folder(&half, folder).map_err(|source| StoreError::Io {
                path: folder.to_path_buf(),
                source,
            })?;
            Ok(check)
        });
        outcome.inspect_err(|_| drop(fs::remove_dir_all(&half)))
    }

    fn restore_to(&self, half: &Path) -> Result<handfast_registry::Check, RegistryError> {
        let backup = self.file.display();
        let damaged = |problem: &str| RegistryError::Policy {
            code: "damaged-backup",
            problem: format!("{backup} cannot be restored: {problem}"),
        };
        let restored = Registry::restore(&self.file, half, world());
        let check = restored.and_then(|registry| registry.check());
        let check = check.map_err(|error| match error {
            RegistryError::Store(error)
                if error.is_damage() || matches!(error, StoreError::NoStore { .. }) =>
            {
                damaged("it is not a whole backup")
            }
            error => error,
        })?;
        match check.problems.as_slice() {
            [] => Ok(check),
            [first, rest @ ..] => Err(damaged(&format!(
                "{first}, and {} more problems",
                rest.len()
            ))),
        }
    }
}

/// Read everything in the data folder
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    output: Output,
}

impl Check {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let check = data.open_to_read().and_then(|registry| registry.check());
        let check = check.map_err(refused)?;
        let problems: Vec<_> = check.problems.iter().map(ToString::to_string).collect();
        let said = json!({
            "records": check.records,
            "versions": check.versions,
            "authorities": check.authorities,
            "namespaces": check.namespaces,
            "events": check.events,
            "problems": problems,
            "malformed_urls": check.malformed_urls,
            "uppercased": check.uppercased,
            "uppercased_names": check.first_uppercased,
        });
        self.output.print(&said, |out| {
            writeln!(
                out,
                "read {} records, {} earlier versions, {} authorities and {} events",
                check.records, check.versions, check.authorities, check.events
            )?;
            for problem in &problems {
                writeln!(out, "problem: {problem}")?;
            }
            if check.malformed_urls > 0 {
                writeln!(
                    out,
                    "{} names have a URL that no browser can follow: \
                     it has no scheme or no host",
                    check.malformed_urls
                )?;
            }
            if check.uppercased > 0 {
                writeln!(
                    out,
                    "{} names have 32 hex digits in uppercase under an authority of ordinary \
                     handles. Earlier versions wrote such names so, however they were \
                     registered; nothing is wrong if they were meant so:",
                    check.uppercased
                )?;
                for name in &check.first_uppercased {
                    writeln!(out, "  {}", Safe(name))?;
                }
            }
            let problems = match problems.len() {
                0 => return writeln!(out, "all is as it was written"),
                1 => "1 problem".to_string(),
                count => format!("{count} problems"),
            };
            writeln!(
                out,
                "the store is damaged: {problems}; restore it from a backup \
                 (stop the server, move {} away, run `{} restore FILE`)",
                data.folder.display(),
                program(&data.folder)
            )
        })?;
        Ok(Answer::all(problems.is_empty()))
    }
}
