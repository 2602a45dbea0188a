//! `handfast token`: what programs act by.

use std::io::{self, Write};

use clap::Subcommand;
use handfast_registry::{NewToken, Role};
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::text;
use crate::exit::Answer;
use crate::remote::client::{Client, Problem, encode, unreadable};
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
    /// List tokens; their secrets are not stored
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
    pub(crate) fn run(&self, client: &Client) -> anyhow::Result<Answer> {
        match self {
            Self::Create {
                account,
                title,
                authority,
                role,
                days,
                output,
            } => {
                let mut body = json!({"account": account, "title": title, "days": days});
                if let Json::Object(body) = &mut body {
                    let authority = authority.clone();
                    body.extend(authority.map(|said| ("authority".into(), said.into())));
                    body.extend(role.map(|role| ("role".into(), role.as_str().into())));
                }
                tell_made(*output, client.ask("POST", "/tokens", Some(&body)))
            }
            Self::List { output } => {
                let all = client.ask("GET", "/tokens", None);
                let all = all.map(|all| all.as_array().cloned().unwrap_or_default());
                list(*output, all)
            }
            Self::Revoke { token, output } => {
                let all = client.ask("GET", "/tokens", None);
                let path = format!("/tokens/{}", encode(token));
                let revoked = client.ask("DELETE", &path, None);
                let revoked = all.and_then(|all| {
                    revoked?;
                    let mut all = all.as_array().into_iter().flatten();
                    let found = all.find(|found| text(found, "token") == token);
                    found.cloned().ok_or_else(unreadable)
                });
                tell_revoked(*output, revoked)
            }
        }
    }
}

fn tell_made(output: Output, made: Result<Json, Problem>) -> anyhow::Result<Answer> {
    output.show(made, |made, out| {
        writeln!(out, "{}", text(made, "secret"))?;
        output.note(&format!(
            "token {} for {} until {}; it is not shown again",
            text(made, "token"),
            text(made, "account"),
            text(made, "expires")
        ));
        Ok(())
    })
}

fn list(output: Output, tokens: Result<Vec<Json>, Problem>) -> anyhow::Result<Answer> {
    output.show_as(
        tokens,
        |tokens| Json::Array(tokens.clone()),
        |tokens, out| tokens.iter().try_for_each(|token| line(token, out)),
    )
}

fn tell_revoked(output: Output, token: Result<Json, Problem>) -> anyhow::Result<Answer> {
    output.show(token, |token, out| {
        let (id, account) = (text(token, "token"), text(token, "account"));
        writeln!(out, "revoked {id} of {account}")
    })
}

fn line(token: &Json, out: &mut dyn Write) -> io::Result<()> {
    let may = match (text(token, "role"), text(token, "authority")) {
        ("", _) => "all that it may".to_string(),
        (role, "") => role.to_string(),
        (role, authority) => format!("{role} on {authority}"),
    };
    writeln!(
        out,
        "{}  until {}  {:<16}  {may}  {}",
        text(token, "token"),
        text(token, "expires"),
        text(token, "account"),
        Safe(text(token, "title"))
    )
}
