//! `handfast token`: what programs act by.

use std::io::{self, Write};

use clap::Subcommand;
use handfast_registry::{NewToken, Principal, Role, Token, json, rfc3339 as time};
use serde_json::Value as Json;

use crate::exit::Answer;
use crate::folder::Data;
use crate::output::Output;
use crate::view::Shown as Safe;

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
                output.print(made, made_json, |(secret, token), out| {
                    writeln!(out, "{secret}")?;
                    output.note(&format!(
                        "token {} for {} until {}; it is not shown again",
                        token.id,
                        token.account,
                        time(token.expires)
                    ));
                    Ok(())
                })
            }
            Self::List { output } => output.print(
                data.open()
                    .and_then(|registry| registry.tokens(&Principal::Operator)),
                |tokens| tokens.iter().map(json::token).collect::<Json>(),
                |tokens, out| tokens.iter().try_for_each(|token| line(token, out)),
            ),
            Self::Revoke { token, output } => output.print(
                data.open()
                    .and_then(|registry| registry.revoke_token(&Principal::Operator, token)),
                json::token,
                |token, out| writeln!(out, "revoked {} of {}", token.id, token.account),
            ),
        }
    }
}

fn made_json((secret, token): &(String, Token)) -> Json {
    let mut made = json::token(token);
    if let Json::Object(made) = &mut made {
        made.insert("secret".into(), secret.as_str().into());
    }
    made
}

fn line(token: &Token, out: &mut dyn Write) -> io::Result<()> {
    let may = match &token.limit {
        None => "all that it may".to_string(),
        Some(limit) => match &limit.authority {
            Some(authority) => format!("{} on {authority}", limit.role),
            None => limit.role.to_string(),
        },
    };
    writeln!(
        out,
        "{}  until {}  {:<16}  {may}  {}",
        token.id,
        time(token.expires),
        token.account,
        Safe(&token.title)
    )
}
