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

use std::io::{self, Write};
use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    access, authority, bench, export, group, import, init, inspect, job, log, mint, name,
    namespace, resolve, serve, token, user,
};
use crate::folder::Data;
use crate::remote::client::{Client, ServerOptions};

/// Keeps and resolves persistent identifiers: handles, DOIs, CORDRA identifiers, info URIs, URNs
/// and ARKs.
///
/// Exit status: 0 done, 1 the answer is no, 2 wrong usage, 3 the system failed.
#[derive(Parser)]
#[command(name = "handfast", version, about, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    server: ServerOptions,
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
    Authority(authority::AuthorityCommand),
    /// Names: create, show, change, withdraw, history
    #[command(subcommand)]
    Name(name::NameCommand),
    /// The registry of info namespaces: propose, review, claim, change
    #[command(subcommand)]
    Namespace(namespace::NamespaceCommand),
    /// Make new names, one or a million
    Mint(mint::Mint),
    /// Take names from a file
    Import(import::Import),
    /// Give names to a file
    Export(export::Export),
    /// Bulk changes: new hosts, TTLs, withdrawals; list and undo them
    #[command(subcommand)]
    Job(job::JobCommand),
    /// The proof log: checkpoints, proofs, verification
    #[command(subcommand)]
    Log(log::LogCommand),
    /// Accounts, to which roles can be granted
    #[command(subcommand)]
    User(user::UserCommand),
    /// Groups of accounts, to which roles can be granted
    #[command(subcommand)]
    Group(group::GroupCommand),
    /// Requests for access: ask for a role, and decide what others ask for
    #[command(subcommand)]
    Access(access::AccessCommand),
    /// Tokens, by which programs act for an account over the web
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Copy the data folder to a file
    Backup(folder::Backup),
    /// Make a data folder from a backup
    Restore(folder::Restore),
    /// Ask a handle server for many names, and say how fast it answers
    Bench(bench::Bench),
    /// Read everything in the data folder and compare it with the events that made it
    Check(folder::Check),
}

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let is_said = |option| matches.value_source(option) == Some(ValueSource::CommandLine);
    // HANDFAST_URL is for commands that a server can be asked for, on no other folder than the
    // usual one.
    if !is_said("server") && (is_said("folder") || cli.command.needs_folder().is_some()) {
        cli.server.server = None;
    }
    if matches!(cli.command, Command::Serve(_)) {
        allocator::return_memory_soon();
    }
    if cli.server.server.is_none() && cli.command.reads_whole_store() {
        let arguments: Vec<_> = std::env::args_os().collect();
        if let Some(status) = isolate::run(&arguments) {
            return ExitCode::from(status);
        }
    }
    let mut command = &matches;
    while let Some((_, inner)) = command.subcommand() {
        command = inner;
    }
    let is_json = command.try_get_one::<bool>("json").ok().flatten();
    let is_json = is_json.copied().unwrap_or_default();
    ExitCode::from(exit::status(cli.run(), is_json))
}

impl Cli {
    fn run(self) -> anyhow::Result<exit::Answer> {
        let Self {
            data,
            server,
            command,
        } = self;
        if let (Some(why), true) = (command.needs_folder(), server.server.is_some()) {
            writeln!(io::stderr(), "error: {why}")?;
            return Ok(exit::Answer::Misused);
        }
        let client = || Client::new(&data, server);
        match command {
            Command::Inspect(command) => command.run(&data),
            Command::Resolve(command) => command.run(&data),
            Command::Init(command) => command.run(&data),
            Command::Serve(command) => command.run(&data),
            Command::Authority(command) => command.run(client()),
            Command::Name(command) => command.run(client()),
            Command::Namespace(command) => command.run(client()),
            Command::Mint(command) => command.run(client()),
            Command::Import(command) => command.run(client()),
            Command::Export(command) => command.run(client()),
            Command::Job(command) => command.run(client()),
            Command::Log(command) => command.run(&data, client()),
            Command::User(command) => command.run(&client()),
            Command::Group(command) => command.run(&client()),
            Command::Access(command) => command.run(client()),
            Command::Token(command) => command.run(&client()),
            Command::Backup(command) => command.run(&data),
            Command::Restore(command) => command.run(&data),
            Command::Bench(command) => command.run(),
            Command::Check(command) => command.run(&data),
        }
    }
}

impl Command {
    /// Why a command cannot be asked of a server on the network, if so.
    fn needs_folder(&self) -> Option<&'static str> {
        Some(match self {
            Self::Backup(_) | Self::Restore(_) => {
                "a backup holds secrets, which do not travel: \
                 run it on the machine of the data folder, without --api"
            }
            Self::Check(_) => {
                "check reads the files of the data folder: run it on their machine, without --api; \
                 `log verify` checks a server from anywhere"
            }
            Self::Init(_) | Self::Serve(_) => {
                "this makes and uses a data folder on this machine: leave out --api"
            }
            Self::Bench(_) | Self::Resolve(_) => {
                "this asks handle servers: name one with --server, and leave out --api"
            }
            // The rules of identifiers are the same everywhere. Each command is listed, so that
            // somebody decides about a new one.
            Self::Inspect(_)
            | Self::Access(_)
            | Self::Authority(_)
            | Self::Export(_)
            | Self::Group(_)
            | Self::Import(_)
            | Self::Job(_)
            | Self::Log(_)
            | Self::Mint(_)
            | Self::Name(_)
            | Self::Namespace(_)
            | Self::Token(_)
            | Self::User(_) => return None,
        })
    }

    /// Whether it reads all of a store that may be damaged, and so runs in a process of its own.
    fn reads_whole_store(&self) -> bool {
        match self {
            Self::Check(_) => true,
            Self::Log(command) => command.reads_whole_store(),
            _ => false,
        }
    }
}
