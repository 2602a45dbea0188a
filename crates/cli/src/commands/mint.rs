//! `handfast mint`: new names.

use std::io::{self, BufWriter, Write};

use clap::Args;
use handfast_api::{Minted, NewMint};
use handfast_registry::{Style, StyleError, url_problem};

use crate::commands::name::after_id;
use crate::exit::Answer;
use crate::remote::client::{Caller, Client};

/// Make new names, one or a million
#[derive(Args)]
pub(crate) struct Mint {
    /// Under which authority
    #[arg(long)]
    authority: String,
    /// How many, up to a million
    #[arg(long, default_value_t = 1, value_parser = count)]
    count: u64,
    /// A URL of each, in which {name} stands for the local name; may be repeated
    #[arg(long = "url", value_name = "URL", value_parser = url)]
    urls: Vec<String>,
    /// What they look like: by default a GUID under a cordra authority, else random characters
    #[arg(
        long,
        value_name = "guid|guid-v1|uuid|random[:LENGTH]|sequence[:TEXT[:WIDTH]]",
        value_parser = style
    )]
    style: Option<String>,
    /// Reserve them: nobody sees them until they are activated
    #[arg(long)]
    reserve: bool,
    #[command(flatten)]
    caller: Caller,
}

/// How many names are made in one request.
const BATCH_SIZE: u64 = 10_000;

impl Mint {
    /// So many at a time.
    pub(crate) fn run(&self, client: Client) -> anyhow::Result<Answer> {
        let client = self.caller.client(client);
        let mut out = BufWriter::new(io::stdout());
        let mut left = self.count;
        while left > 0 {
            let new = NewMint {
                authority: self.authority.clone(),
                count: left.min(BATCH_SIZE),
                reserve: self.reserve,
                style: self.style.clone(),
                urls: self.urls.clone(),
            };
            // There are fewer than asked for if something failed after them: the next request says
            // what.
            let made: Minted = client.send("POST", "/mint", &new)?;
            for name in &made.names {
                if self.caller.output.is_json() {
                    writeln!(out, "{}", serde_json::to_string(name)?)?;
                } else {
                    writeln!(out, "{}{}", name.id, after_id(name.link.as_ref()))?;
                }
            }
            if made.names.is_empty() {
                anyhow::bail!("the server made no name and gave no reason");
            }
            left = left.saturating_sub(made.names.len().try_into()?);
        }
        out.flush()?;
        Ok(Answer::Done)
    }
}

/// Reads how many names are wanted. A slip of a few zeros would fill the disk with names that stay
/// for ever.
fn count(text: &str) -> Result<u64, String> {
    let number: u64 = text
        .parse()
        .map_err(|_| "that is not a number".to_string())?;
    match number {
        0 => Err("at least one name is made".into()),
        1..=MAX_COUNT => Ok(number),
        _ => {
            let names = format!("{MAX_COUNT} names, which stay for ever");
            Err(format!(
                "one command makes at most {names}: run it again for more"
            ))
        }
    }
}

/// How many names one command makes at most.
const MAX_COUNT: u64 = 1_000_000;

/// A URL in which `{name}` may stand anywhere.
fn url(text: &str) -> Result<String, String> {
    match url_problem(&text.replace("{name}", "name")) {
        None => Ok(text.to_string()),
        Some(problem) => Err(problem),
    }
}

/// A style, as it was said.
fn style(text: &str) -> Result<String, StyleError> {
    text.parse::<Style>().map(|_| text.to_string())
}
