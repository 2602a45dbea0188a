//! `handfast user`: accounts.

use clap::Subcommand;
use serde_json::{Map, Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::{field, text};
use crate::exit::Answer;
use crate::remote::client::{Client, Problem, encode};
use crate::terminal::output::Output;

/// Accounts, to which roles can be granted
#[derive(Subcommand)]
pub(crate) enum UserCommand {
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

impl UserCommand {
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        let change = |name: &str, body: &Json| {
            let path = format!("/accounts/{}", encode(name));
            client.ask("PATCH", &path, Some(body))
        };
        match self {
            Self::Create {
                name,
                title,
                administrator,
                output,
            } => {
                let body = json!({"account": name, "title": title, "administrator": administrator});
                let made = client.ask("POST", "/accounts", Some(&body));
                let made = made.map(|_| json!({ "account": name }));
                tell(*output, made, "created account")
            }
            Self::List { output } => list(*output, client.pages("/accounts", "accounts")),
            Self::Show { name, output } => {
                let path = format!("/accounts/{}", encode(name));
                show(*output, client.ask("GET", &path, None))
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
                tell(
                    *output,
                    change(name, &Json::Object(body)),
                    "changed account",
                )
            }
            Self::Suspend { name, output } | Self::Restore { name, output } => {
                let (suspended, done) = self.suspends();
                let state = if suspended { "suspended" } else { "active" };
                tell(*output, change(name, &json!({ "state": state })), done)
            }
        }
    }

    fn suspends(&self) -> (bool, &'static str) {
        match self {
            Self::Suspend { .. } => (true, "suspended account"),
            _ => (false, "restored account"),
        }
    }
}

fn tell(output: Output, account: Result<Json, Problem>, done: &str) -> anyhow::Result<Answer> {
    output.show(account, |account, out| {
        writeln!(out, "{done} {}", text(account, "account"))
    })
}

fn list(output: Output, accounts: Result<Vec<Json>, Problem>) -> anyhow::Result<Answer> {
    output.show_as(
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

fn show(output: Output, account: Result<Json, Problem>) -> anyhow::Result<Answer> {
    output.show(account, |account, out| {
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
