//! Handfast: one program that registers, administers and resolves persistent identifiers.

mod allocator;
mod commands;
mod config;
mod exit;
mod files;
mod folder;
mod isolate;
mod new_file;
mod remote;
mod terminal;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

use crate::commands::{
    authority, bench, export, import, init, inspect, job, log, mint, name, namespace, resolve,
    serve, token, user,
};
use crate::files::Files;
use crate::folder::Data;
use crate::remote::api::Elsewhere;
use crate::remote::socket;
use crate::terminal::console;

/// Keeps and resolves persistent identifiers: handles, DOIs, CORDRA identifiers, info URIs, URNs and
/// ARKs.
///
/// Exit status: 0 done, 1 the answer is no, 2 wrong usage, 3 the system failed.
#[derive(Parser)]
#[command(name = "handfast", version, about, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    elsewhere: Elsewhere,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what an identifier is: its parts, canonical form and other spellings
    Inspect(inspect::Inspect),
    /// Resolve a handle, here or at any handle server
    Resolve(resolve::Resolve),
    /// Make a data folder
    Init(init::Init),
    /// Serve names: the handle protocol, and the web
    Serve(serve::Serve),
    /// Prefixes and naming authorities: create, delegate, grant, retire
    #[command(subcommand)]
    Authority(authority::Command),
    /// Names: create, show, change, withdraw, history
    #[command(subcommand)]
    Name(name::Command),
    /// The registry of info namespaces: propose, review, claim, change
    #[command(subcommand)]
    Namespace(namespace::Command),
    /// Make new names, one or a million
    Mint(mint::Mint),
    /// Take names from a file
    Import(import::Import),
    /// Give names to a file
    Export(export::Export),
    /// Bulk changes: new hosts, TTLs, withdrawals; list and undo them
    #[command(subcommand)]
    Job(job::Command),
    /// The proof log: checkpoints, proofs, verification
    #[command(subcommand)]
    Log(log::Command),
    /// Accounts, to which roles can be granted
    #[command(subcommand)]
    User(user::Command),
    /// Tokens, by which programs act for an account over the web
    #[command(subcommand)]
    Token(token::Command),
    /// Copy the data folder to a file
    Backup(folder::Backup),
    /// Make a data folder from a backup
    Restore(folder::Restore),
    /// Ask a handle server for many names, and say how fast it answers
    Bench(bench::Bench),
    /// Read everything that is kept and compare it with the events that made it
    Check(folder::Check),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if matches!(cli.command, Command::Serve(_)) {
        allocator::return_memory_soon();
    }
    if cli.elsewhere.server.is_none() && cli.command.is_of_folder() {
        let arguments: Vec<_> = std::env::args_os().collect();
        if cli.command.reads_whole_store() {
            if let Some(status) = isolate::run(&arguments) {
                return ExitCode::from(status);
            }
        } else if let Some(stream) = socket::connect(&cli.data.folder) {
            let files = match cli.command.files() {
                Ok(files) => files,
                Err(answer) => return ExitCode::from(exit::status(Ok(answer))),
            };
            let outcome = socket::ask(stream, &cli.data.folder, &arguments, files);
            let context = "the server that uses the data folder was asked to do this";
            let outcome = outcome.context(context);
            return ExitCode::from(outcome.unwrap_or_else(|error| exit::status(Err(error))));
        }
    }
    ExitCode::from(exit::status(cli.run()))
}

/// Runs a command for someone else.
fn run_for_client(folder: PathBuf, arguments: Vec<OsString>) -> u8 {
    match Cli::try_parse_from(arguments) {
        Ok(cli) if cli.elsewhere.server.is_none() && cli.command.is_of_folder() => {
            let data = Data { folder };
            exit::status(Cli { data, ..cli }.run())
        }
        // The program that asks has read the command line before: what it knows and this one does not is of another
        // version.
        parsed => {
            let problem = parsed.err().map(|error| error.to_string());
            let problem = problem.as_deref().and_then(|text| text.lines().next());
            let problem = problem.unwrap_or("error: this command is not run by a server");
            // If standard error is gone there is nobody left to tell.
            let _ = writeln!(
                console::stderr(),
                "{problem}\nhint: the server that uses this folder is another version of handfast ({}) and does not \
                 know this command: restart it with the version of this program",
                env!("CARGO_PKG_VERSION")
            );
            2
        }
    }
}

impl Cli {
    fn run(self) -> anyhow::Result<exit::Answer> {
        let Self {
            data,
            elsewhere,
            command,
        } = self;
        if elsewhere.server.is_some() {
            return match command {
                Command::Authority(command) => command.run_elsewhere(&elsewhere),
                Command::Name(command) => command.run_elsewhere(&elsewhere),
                Command::Namespace(command) => command.run_elsewhere(&elsewhere),
                Command::Mint(command) => command.run_elsewhere(&elsewhere),
                Command::Import(command) => command.run_elsewhere(&elsewhere),
                Command::Export(command) => command.run_elsewhere(&elsewhere),
                Command::Job(command) => command.run_elsewhere(&elsewhere),
                Command::Log(command) => command.run_elsewhere(&elsewhere),
                Command::User(command) => command.run_elsewhere(&elsewhere),
                Command::Token(command) => command.run_elsewhere(&elsewhere),
                // The rules of identifiers are the same everywhere.
                Command::Inspect(command) => command.run(&data),
                other => {
                    writeln!(io::stderr(), "error: {}", other.why_not_elsewhere())?;
                    Ok(exit::Answer::Misused)
                }
            };
        }
        match command {
            Command::Inspect(command) => command.run(&data),
            Command::Resolve(command) => command.run(&data),
            Command::Init(command) => command.run(&data),
            Command::Serve(command) => command.run(&data),
            Command::Authority(command) => command.run(&data),
            Command::Name(command) => command.run(&data),
            Command::Namespace(command) => command.run(&data),
            Command::Mint(command) => command.run(&data),
            Command::Import(command) => command.run(&data),
            Command::Export(command) => command.run(&data),
            Command::Job(command) => command.run(&data),
            Command::Log(command) => command.run(&data),
            Command::User(command) => command.run(&data),
            Command::Token(command) => command.run(&data),
            Command::Backup(command) => command.run(&data),
            Command::Restore(command) => command.run(&data),
            Command::Bench(command) => command.run(),
            Command::Check(command) => command.run(&data),
        }
    }
}

impl Command {
    /// Why a command that a server elsewhere cannot be asked for needs something else.
    fn why_not_elsewhere(&self) -> &'static str {
        match self {
            Self::Backup(_) | Self::Restore(_) => {
                "a backup holds secrets, which do not travel: \
                 run it on the machine of the data folder, without --url"
            }
            Self::Check(_) => {
                "check reads the files of the data folder: run it on their machine, without --url; \
                 `log verify` checks a server from elsewhere"
            }
            Self::Init(_) | Self::Serve(_) => {
                "this makes and uses a data folder on this machine: leave out --url"
            }
            _ => "this asks handle servers: name one with --server, and leave out --url",
        }
    }

    /// Whether it reads all of a store that may be damaged, and so runs in a process of its own.
    fn reads_whole_store(&self) -> bool {
        match self {
            Self::Check(_) => true,
            Self::Log(command) => command.reads_whole_store(),
            _ => false,
        }
    }

    /// The files that its arguments name, for a server that runs it: this process opens them.
    fn files(&self) -> Result<Files, exit::Answer> {
        let files = Files::default();
        Ok(match self {
            Self::Backup(command) => files.write_new(&command.file, 0o600),
            Self::Export(command) => command.files(),
            Self::Import(command) => return command.files(),
            Self::Job(command) => files.read_all(command.file()),
            Self::Log(command) => command.files(),
            Self::Name(command) => files.read_values(command.value_files()),
            Self::Namespace(command) => files.read_all(command.file()),
            Self::Authority(_)
            | Self::Bench(_)
            | Self::Check(_)
            | Self::Init(_)
            | Self::Inspect(_)
            | Self::Mint(_)
            | Self::Resolve(_)
            | Self::Restore(_)
            | Self::Serve(_)
            | Self::Token(_)
            | Self::User(_) => files,
        })
    }

    /// Whether it works on what is in the data folder, so that a server that uses the folder runs it.
    fn is_of_folder(&self) -> bool {
        match self {
            Self::Authority(_)
            | Self::Mint(_)
            | Self::Namespace(_)
            | Self::Import(_)
            | Self::Export(_)
            | Self::Job(_)
            | Self::Log(_)
            | Self::User(_)
            | Self::Token(_)
            | Self::Backup(_)
            | Self::Check(_) => true,
            Self::Name(command) => !command.is_elsewhere(),
            Self::Resolve(command) => !command.is_elsewhere(),
            Self::Inspect(command) => command.is_live(),
            Self::Init(_) | Self::Serve(_) | Self::Restore(_) | Self::Bench(_) => false,
        }
    }
}
