//! Handfast: one program that registers, administers and resolves persistent identifiers.

mod exit;
mod inspect;
mod lines;
mod view;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Keeps and resolves persistent identifiers: handles, DOIs, CORDRA identifiers, info URIs, URNs and
/// ARKs.
///
/// Exit status: 0 done, 1 the answer is no, 2 wrong usage, 3 the system failed.
#[derive(Parser)]
#[command(name = "handfast", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what an identifier is: its parts, canonical form and other spellings
    Inspect(inspect::Inspect),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Inspect(command) => command.run(),
    };
    exit::code(outcome)
}
