//! `handfast token`: what programs act by.

use std::io::{self, Write};

use clap::Subcommand;
use handfast_registry::{NewToken, Principal, RegistryError, Role, Token, json};
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::job::text;
use crate::commands::user::said;
use crate::exit::Answer;
use crate::folder::Data;
use crate::remote::api::{Elsewhere, encode, unreadable};
use crate::terminal::output::Output;

/// Tokens, by which programs act for an account over the web
#[derive(Subcommand)]
pub(crate) enum Command {
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
    /// List tokens; what they are is not kept
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

impl Command {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        match self {
            Self::Create {
                account,
                title,
                authority,
                role,
                days,
                output,
            } => {
                let new = NewToken {
                    title: title.clone(),
                    authority: authority.clone(),
                    role: *role,
                    days: *days,
                };
                let made = data
                    .open()
                    .and_then(|registry| registry.create_token(&Principal::Operator, account, new));
                tell_made(*output, made.map(|made| made_json(&made)))
            }
            Self::List { output } => {
                let tokens = data
                    .open()
                    .and_then(|registry| registry.tokens(&Principal::Operator));
                list(
                    *output,
                    tokens.map(|all| all.iter().map(json::token).collect()),
                )
            }
            Self::Revoke { token, output } => {
                let revoked = data
                    .open()
                    .and_then(|registry| registry.revoke_token(&Principal::Operator, token));
                tell_revoked(*output, revoked.map(|token| json::token(&token)))
            }
        }
    }

    /// The same at a server elsewhere.
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
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
                let made = server.ask("POST", "/tokens", Some(&body));
                said(*output, made, |made| tell_made(*output, Ok(made)))
            }
            Self::List { output } => {
                let all = server.ask("GET", "/tokens", None);
                said(*output, all, |all| {
                    let all = all.as_array().cloned().unwrap_or_default();
                    list(*output, Ok(all))
                })
            }
            Self::Revoke { token, output } => {
                let all = server.ask("GET", "/tokens", None);
                let path = format!("/tokens/{}", encode(token));
                let revoked = server.ask("DELETE", &path, None);
                let revoked = all.and_then(|all| revoked.map(|_| all));
                said(*output, revoked, |all| {
                    let mut all = all.as_array().into_iter().flatten();
                    let found = all.find(|found| text(found, "token") == token);
                    let found = found.cloned().ok_or_else(unreadable);
                    tell_revoked(*output, found)
                })
            }
        }
    }
}

fn tell_made(output: Output, made: Result<Json, RegistryError>) -> anyhow::Result<Answer> {
    output.print(made, Json::clone, |made, out| {
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

fn list(output: Output, tokens: Result<Vec<Json>, RegistryError>) -> anyhow::Result<Answer> {
    output.print(
        tokens,
        |tokens| Json::Array(tokens.clone()),
        |tokens, out| tokens.iter().try_for_each(|token| line(token, out)),
    )
}

fn tell_revoked(output: Output, token: Result<Json, RegistryError>) -> anyhow::Result<Answer> {
    output.print(token, Json::clone, |token, out| {
        let (id, account) = (text(token, "token"), text(token, "account"));
        writeln!(out, "revoked {id} of {account}")
    })
}

fn made_json((secret, token): &(String, Token)) -> Json {
    let mut made = json::token(token);
    if let Json::Object(made) = &mut made {
        made.insert("secret".into(), secret.as_str().into());
    }
    made
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
