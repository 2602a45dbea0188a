//! `handfast user`: accounts.

use std::sync::Arc;

use clap::Subcommand;
use handfast_registry::{Principal, Registry, json};
use serde_json::{Value as Json, json};

use crate::exit::Answer;
use crate::folder::Data;
use crate::output::Output;

/// Accounts, to which roles can be granted
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create an account. Nobody can log in with it yet
    Create {
        /// Its name: letters, digits and . _ @ -
        name: String,
        /// Who that is, for people
        #[arg(long, default_value = "")]
        title: String,
        #[command(flatten)]
        output: Output,
    },
    /// List accounts
    List {
        #[command(flatten)]
        output: Output,
    },
}

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        match self {
            Self::Create {
                name,
                title,
                output,
            } => {
                let create = |registry: Arc<Registry>| {
                    registry.create_account(&Principal::Operator, name, title)
                };
                output.print(
                    data.open().and_then(create),
                    |()| json!({"account": name}),
                    |(), out| writeln!(out, "created account {name}"),
                )
            }
            Self::List { output } => output.print(
                data.open().and_then(|registry| registry.accounts()),
                |accounts| accounts.iter().map(json::account).collect::<Json>(),
                |accounts, out| {
                    accounts.iter().try_for_each(|account| {
                        writeln!(out, "{:<20}  {}", account.name, account.title)
                    })
                },
            ),
        }
    }
}
