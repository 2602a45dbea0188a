//! The data folder: making, copying, checking.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueHint};
use handfast_registry::{NewAuthority, Principal, Refusal, Registry, StoreError, World};
use serde_json::json;

use crate::config;
use crate::demo;
use crate::exit::Answer;
use crate::output::Output;

/// Where the data is.
#[derive(Args)]
pub(crate) struct Data {
    /// The data folder
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "HANDFAST_DATA",
        default_value = "./handfast-data",
        global = true,
        value_hint = ValueHint::DirPath
    )]
    folder: PathBuf,
}

impl Data {
    /// Opens the folder, under the rules of its configuration.
    pub(crate) fn open(&self) -> Result<Registry, Refusal> {
        let rules = config::rules(&self.folder).map_err(|error| Refusal::Configuration {
            problem: format!("{error:#}"),
        })?;
        let mut tries = 0;
        loop {
            match Registry::open(&self.folder, world()) {
                // Another command may be about to end.
                Err(Refusal::Store(StoreError::Locked { .. })) if tries < TRIES => {
                    tries += 1;
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "the other process will not tell us"
                    )]
                    std::thread::sleep(PAUSE);
                }
                outcome => return outcome.map(|registry| registry.with_rules(rules)),
            }
        }
    }
}

/// How often, and how long apart, a folder that is in use is tried again: ten seconds in all.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// The clock and the random numbers of this machine.
fn world() -> World {
    World::new(
        || {
            #[expect(
                clippy::disallowed_methods,
                reason = "the one place where the clock is read"
            )]
            let now = SystemTime::now();
            let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        },
        |bytes| {
            // Without random numbers nothing that is kept could be kept secret.
            if getrandom::fill(bytes).is_err() {
                std::process::abort();
            }
        },
    )
}

/// Make a data folder
#[derive(Args)]
pub(crate) struct Init {
    /// Fill it with the examples of the documents that describe these identifiers
    #[arg(long)]
    demo: bool,
    #[command(flatten)]
    output: Output,
}

impl Init {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let outcome = Registry::create(&data.folder, world()).and_then(|registry| {
            registry.create_authority(&Principal::Operator, "urn:urn-3", harvard())?;
            if self.demo {
                demo::fill(&registry)?;
            }
            registry.check()
        });
        let folder = data.folder.display().to_string();
        self.output.print(
            outcome,
            |check| json!({"folder": folder, "authorities": check.authorities, "names": check.records}),
            |check, out| {
                writeln!(out, "made {folder}: {} authorities, {} names", check.authorities, check.records)?;
                if self.demo {
                    writeln!(out, "try:  handfast name show urn:urn-3:HUL.OIS:Home")
                } else {
                    writeln!(out, "next: handfast authority create PREFIX")
                }
            },
        )
    }
}

fn harvard() -> NewAuthority {
    NewAuthority {
        title: "Harvard University Library".into(),
        meaning: "Network-accessible resources delivered through Harvard's library systems".into(),
        contact: "nrsadm@hulmail.harvard.edu".into(),
        ..NewAuthority::default()
    }
}

/// Copy the data folder to a file
#[derive(Args)]
pub(crate) struct Backup {
    /// The file, which must not exist yet
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Backup {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let outcome = data.open().and_then(|registry| registry.backup(&self.file));
        let file = self.file.display().to_string();
        self.output.print(
            outcome,
            |()| json!({"file": file}),
            |(), out| writeln!(out, "copied {} to {file}", data.folder.display()),
        )
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
        let restored = Registry::restore(&self.file, &data.folder, world());
        let outcome = restored.and_then(|registry| registry.check());
        let is_sound = outcome
            .as_ref()
            .is_ok_and(|check| check.problems.is_empty());
        let folder = data.folder.display().to_string();
        let answer = self.output.print(
            outcome,
            |check| {
                let problems: Vec<_> = check.problems.iter().map(ToString::to_string).collect();
                json!({
                    "folder": folder,
                    "names": check.records,
                    "events": check.events,
                    "problems": problems,
                })
            },
            |check, out| {
                writeln!(
                    out,
                    "made {folder}: {} names, {} events",
                    check.records, check.events
                )?;
                check
                    .problems
                    .iter()
                    .try_for_each(|problem| writeln!(out, "problem: {problem}"))
            },
        )?;
        Ok(if answer == Answer::Done && !is_sound {
            Answer::No
        } else {
            answer
        })
    }
}

/// Read everything that is kept
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    output: Output,
}

impl Check {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let outcome = data.open().and_then(|registry| registry.check());
        let is_sound = outcome
            .as_ref()
            .is_ok_and(|check| check.problems.is_empty());
        let answer = self.output.print(
            outcome,
            |check| {
                let problems: Vec<_> = check.problems.iter().map(ToString::to_string).collect();
                json!({
                    "records": check.records,
                    "versions": check.versions,
                    "authorities": check.authorities,
                    "events": check.events,
                    "problems": problems,
                })
            },
            |check, out| {
                writeln!(
                    out,
                    "read {} records, {} earlier versions, {} authorities and {} events",
                    check.records, check.versions, check.authorities, check.events
                )?;
                for problem in &check.problems {
                    writeln!(out, "problem: {problem}")?;
                }
                match check.problems.len() {
                    0 => writeln!(out, "all is as it was written"),
                    count => writeln!(out, "{count} problems; restore from a backup"),
                }
            },
        )?;
        Ok(if answer == Answer::Done && !is_sound {
            Answer::No
        } else {
            answer
        })
    }
}
