//! `handfast user`: accounts.

use std::sync::Arc;

use clap::Subcommand;
use handfast_registry::{AccountChange, Principal, Registry, RegistryError, json};
use serde_json::{Map, Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::{field, text};
use crate::exit::Answer;
use crate::folder::Data;
use crate::remote::api::{Elsewhere, Problem, encode};
use crate::terminal::output::Output;

/// Accounts, to which roles can be granted
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create an account, for which tokens can be made
    Create {
        /// Its name: letters, digits and . _ @ -
        name: String,
        /// Who that is, for people
        #[arg(long, default_value = "")]
        title: String,
        /// Let it do everything, over the web too
        #[arg(long)]
        administrator: bool,
        #[command(flatten)]
        output: Output,
    },
    /// List accounts
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show an account
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        output: Output,
    },
    /// Change an account
    Set {
        /// Its name
        name: String,
        /// Who that is, for people
        #[arg(long)]
        title: Option<String>,
        /// Whether it may do everything: true or false
        #[arg(long, value_name = "BOOL")]
        administrator: Option<bool>,
        #[command(flatten)]
        output: Output,
    },
    /// Suspend an account: its tokens count no more
    Suspend {
        /// Its name
        name: String,
        #[command(flatten)]
        output: Output,
    },
    /// Let a suspended account act again
    Restore {
        /// Its name
        name: String,
        #[command(flatten)]
        output: Output,
    },
}

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let operator = &Principal::Operator;
        let change = |name: &str, change: &AccountChange| {
            let registry = data.open()?;
            let changed = registry.change_account(operator, name, change)?;
            Ok(json::account(&changed))
        };
        match self {
            Self::Create {
                name,
                title,
                administrator,
                output,
            } => {
                let create = |registry: Arc<Registry>| {
                    registry.create_account(operator, name, title)?;
                    if *administrator {
                        let change = AccountChange {
                            administrator: Some(true),
                            ..AccountChange::default()
                        };
                        registry.change_account(operator, name, &change)?;
                    }
                    Ok(json!({ "account": name }))
                };
                tell(*output, data.open().and_then(create), "created account")
            }
            Self::List { output } => {
                let accounts = data.open().and_then(|registry| registry.accounts());
                list(
                    *output,
                    accounts.map(|all| all.iter().map(json::account).collect()),
                )
            }
            Self::Show { name, output } => {
                let account = data.open().and_then(|registry| registry.account(name));
                show(*output, account.map(|account| json::account(&account)))
            }
            Self::Set {
                name,
                title,
                administrator,
                output,
            } => {
                let wanted = AccountChange {
                    title: title.clone(),
                    administrator: *administrator,
                    suspended: None,
                };
                tell(*output, change(name, &wanted), "changed account")
            }
            Self::Suspend { name, output } | Self::Restore { name, output } => {
                let (suspended, done) = self.suspends();
                let wanted = AccountChange {
                    suspended: Some(suspended),
                    ..AccountChange::default()
                };
                tell(*output, change(name, &wanted), done)
            }
        }
    }

    fn suspends(&self) -> (bool, &'static str) {
        match self {
            Self::Suspend { .. } => (true, "suspended account"),
            _ => (false, "restored account"),
        }
    }

    /// The same at a server elsewhere.
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        let change = |name: &str, body: &Json| {
            let path = format!("/accounts/{}", encode(name));
            server.ask("PATCH", &path, Some(body))
        };
        match self {
            Self::Create {
                name,
                title,
                administrator,
                output,
            } => {
                let body = json!({"account": name, "title": title, "administrator": administrator});
                let made = server.ask("POST", "/accounts", Some(&body));
                let made = made.map(|_| json!({ "account": name }));
                said(*output, made, |made| {
                    tell(*output, Ok(made), "created account")
                })
            }
            Self::List { output } => {
                let all = server.pages("/accounts", "accounts");
                said(*output, all, |all| list(*output, Ok(all)))
            }
            Self::Show { name, output } => {
                let path = format!("/accounts/{}", encode(name));
                let found = server.ask("GET", &path, None);
                said(*output, found, |found| show(*output, Ok(found)))
            }
            Self::Set {
                name,
                title,
                administrator,
                output,
            } => {
                let mut body = Map::new();
                body.extend(title.clone().map(|title| ("title".into(), title.into())));
                body.extend(administrator.map(|may| ("administrator".into(), may.into())));
                let changed = change(name, &Json::Object(body));
                said(*output, changed, |changed| {
                    tell(*output, Ok(changed), "changed account")
                })
            }
            Self::Suspend { name, output } | Self::Restore { name, output } => {
                let (suspended, done) = self.suspends();
                let state = if suspended { "suspended" } else { "active" };
                let changed = change(name, &json!({ "state": state }));
                said(*output, changed, |changed| tell(*output, Ok(changed), done))
            }
        }
    }
}

/// What a server said, told as the command tells it.
pub(crate) fn said<T>(
    output: Output,
    said: Result<T, Problem>,
    tell: impl FnOnce(T) -> anyhow::Result<Answer>,
) -> anyhow::Result<Answer> {
    match said {
        Ok(said) => tell(said),
        Err(problem) => problem.tell(output),
    }
}

fn tell(
    output: Output,
    account: Result<Json, RegistryError>,
    done: &str,
) -> anyhow::Result<Answer> {
    output.print(account, Json::clone, |account, out| {
        writeln!(out, "{done} {}", text(account, "account"))
    })
}

fn list(output: Output, accounts: Result<Vec<Json>, RegistryError>) -> anyhow::Result<Answer> {
    output.print(
        accounts,
        |accounts| Json::Array(accounts.clone()),
        |accounts, out| {
            accounts.iter().try_for_each(|account| {
                let (name, title) = (text(account, "account"), text(account, "title"));
                let suspended = match text(account, "state") {
                    "suspended" => "  (suspended)",
                    _ => "",
                };
                writeln!(out, "{name:<20}  {}{suspended}", Safe(title))
            })
        },
    )
}

fn show(output: Output, account: Result<Json, RegistryError>) -> anyhow::Result<Answer> {
    output.print(account, Json::clone, |account, out| {
        writeln!(out, "{}", text(account, "account"))?;
        for field in ["title", "state", "created"] {
            writeln!(out, "  {field:<13}  {}", Safe(text(account, field)))?;
        }
        writeln!(
            out,
            "  {:<13}  {}",
            "administrator",
            field(account, "administrator")
        )
    })
}
