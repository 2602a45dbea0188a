//! `handfast token`: what programs act by.

use std::io::{self, Write};

use clap::Subcommand;
use handfast_api::{self as api, Token};
use handfast_registry::{NewToken, Role};
use serde::de::IgnoredAny;

use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::remote::client::{Client, encode, unreadable};
use crate::terminal::output::Output;

/// Tokens, by which programs act for an account over the web
#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token, and show it this once
    Create {
        /// The account that it acts for
        account: String,
        /// What it is for, for people
        #[arg(long, default_value = "")]
        title: String,
        /// Only for this authority, with all below
        #[arg(long)]
        authority: Option<String>,
        /// At most this role: read, write, lead or admin
        #[arg(long)]
        role: Option<Role>,
        /// How long it lasts
        #[arg(long, default_value_t = NewToken::default().days)]
        days: u64,
        #[command(flatten)]
        output: Output,
    },
    /// List tokens, with the day when each was last used; their secrets are not stored
    List {
        #[command(flatten)]
        output: Output,
    },
    /// End a token
    Revoke {
        /// Which, as `token list` calls it
        token: String,
        #[command(flatten)]
        output: Output,
    },
}

impl TokenCommand {
    pub(crate) fn run(self, client: &Client) -> anyhow::Result<Answer> {
        match self {
            Self::Create {
                account,
                title,
                authority,
                role,
                days,
                output,
            } => {
                let new = api::NewToken {
                    account: Some(account),
                    authority,
                    days: Some(days),
                    role: role.map(|role| role.to_string()),
                    title,
                };
                let made: Token = client.send("POST", "/tokens", &new)?;
                output.print(&made, |out| {
                    writeln!(out, "{}", made.secret.as_deref().unwrap_or_default())?;
                    output.note(&format!(
                        "token {} for {} until {}; it is not shown again",
                        made.token, made.account, made.expires
                    ));
                    Ok(())
                })
            }
            Self::List { output } => {
                let tokens: Vec<Token> = client.get("/tokens")?;
                output.print(&tokens, |out| {
                    tokens.iter().try_for_each(|token| line(token, out))
                })
            }
            Self::Revoke { token: id, output } => {
                let mut all: Vec<Token> = client.get("/tokens")?;
                client.act::<IgnoredAny>("DELETE", &format!("/tokens/{}", encode(&id)))?;
                all.retain(|token| token.token == id);
                let token = all.first().ok_or_else(unreadable)?;
                output.print(token, |out| {
                    writeln!(out, "revoked {id} of {}", token.account)
                })
            }
        }
    }
}

fn line(token: &Token, out: &mut dyn Write) -> io::Result<()> {
    let may = match (&token.role, &token.authority) {
        (None, _) => "all that it may".to_string(),
        (Some(role), None) => role.to_string(),
        (Some(role), Some(authority)) => format!("{role} on {authority}"),
    };
    let (id, until, account, title) = (&token.token, &token.expires, &token.account, &token.title);
    let used = match &token.last_used {
        Some(day) => format!("used {day}"),
        None => "never used".to_string(),
    };
    writeln!(
        out,
        "{id}  until {until}  {used:<15}  {account:<16}  {may}  {}",
        Safe(title)
    )
}
