//! `handfast mint`: new names.

use std::io::{self, BufWriter, Write};
use std::str::FromStr;

use clap::Args;
use handfast_registry::{Minted, Principal, RegistryError, Style, StyleError};
use serde_json::{Value as Json, json};

use crate::commands::job::{field, text};
use crate::exit::Answer;
use crate::folder::Data;
use crate::remote::api::{Elsewhere, NO_AS};
use crate::terminal::console;
use crate::terminal::output::Output;

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
    #[arg(long = "url", value_name = "URL", value_parser = crate::commands::name::url)]
    urls: Vec<String>,
    /// What they look like: by default a GUID under a cordra authority, else random characters
    #[arg(
        long,
        value_name = "guid|guid-v1|uuid|random[:LENGTH]|sequence[:TEXT[:WIDTH]]"
    )]
    style: Option<GivenStyle>,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

/// A style, and how it was said.
#[derive(Clone)]
struct GivenStyle {
    style: Style,
    text: String,
}

impl FromStr for GivenStyle {
    type Err = StyleError;

    fn from_str(text: &str) -> Result<Self, StyleError> {
        Ok(Self {
            style: text.parse()?,
            text: text.to_string(),
        })
    }
}

/// Reads how many names are wanted. A slip of a few zeros would fill the disk with names that stay for ever.
fn count(text: &str) -> Result<u64, String> {
    let number: u64 = text
        .parse()
        .map_err(|_| "that is not a number".to_string())?;
    match number {
        0 => Err("at least one name is made".into()),
        1..=MAX_COUNT => Ok(number),
        _ => Err(format!(
            "one command makes at most {MAX_COUNT} names, which stay for ever: run it again for more"
        )),
    }
}

/// How many names one command makes at most.
const MAX_COUNT: u64 = 1_000_000;

/// How many names a server makes in one request.
const TOGETHER: u64 = 10_000;

impl Mint {
    /// The same at a server elsewhere, so many at a time.
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        if self.who.is_some() {
            return Ok(self.output.misused(NO_AS));
        }
        let mut out = BufWriter::new(console::stdout());
        let mut left = self.count;
        loop {
            let mut body = json!({
                "authority": self.authority,
                "count": left.min(TOGETHER),
                "urls": self.urls,
            });
            if let (Some(style), Json::Object(body)) = (&self.style, &mut body) {
                body.insert("style".into(), style.text.as_str().into());
            }
            let said = match server.ask("POST", "/mint", Some(&body)) {
                Ok(said) => said,
                Err(problem) => {
                    out.flush()?;
                    return problem.tell(self.output);
                }
            };
            for name in field(&said, "names").as_array().into_iter().flatten() {
                let id = text(name, "id").to_string();
                let urls = field(name, "urls").as_array().into_iter().flatten();
                let urls = urls.filter_map(|url| url.as_str().map(str::to_string));
                let urls = urls.collect();
                self.print(&mut out, &Minted { id, urls })?;
            }
            left = left.saturating_sub(TOGETHER);
            if left == 0 {
                break;
            }
        }
        out.flush()?;
        Ok(Answer::Done)
    }

    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let who = self.who.clone().unwrap_or(Principal::Operator);
        let mut out = BufWriter::new(console::stdout());
        let mut failed = None;
        let outcome = data.open().and_then(|registry| {
            registry.mint(
                &who,
                &self.authority,
                self.style.as_ref().map(|given| &given.style),
                self.count,
                &self.urls,
                |minted| {
                    if let Err(error) = self.print(&mut out, &minted) {
                        failed = Some(error);
                        // The names are made; only saying so has failed.
                        return Err(RegistryError::NotFound(minted.id));
                    }
                    Ok(())
                },
            )
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        out.flush()?;
        match outcome {
            Ok(()) => Ok(Answer::Done),
            Err(refusal) => Ok(self.output.refuse(&refusal)),
        }
    }

    fn print(&self, out: &mut impl Write, minted: &Minted) -> io::Result<()> {
        if self.output.is_json() {
            writeln!(out, "{}", json!({"id": minted.id, "urls": minted.urls}))
        } else {
            writeln!(out, "{}", minted.id)
        }
    }
}
