//! `handfast mint`: new names.

use std::io::{self, BufWriter, Write};

use clap::Args;
use handfast_registry::{Minted, Principal, Refusal, Style};
use serde_json::json;

use crate::console;
use crate::exit::Answer;
use crate::folder::Data;
use crate::output::Output;

/// Make new names, one or a million
#[derive(Args)]
pub(crate) struct Mint {
    /// Under which authority
    #[arg(long)]
    authority: String,
    /// How many
    #[arg(long, default_value_t = 1)]
    count: u64,
    /// A URL of each, in which {name} stands for the local name; may be repeated
    #[arg(long = "url", value_name = "URL")]
    urls: Vec<String>,
    /// What they look like: by default a GUID under a cordra authority, else random characters
    #[arg(
        long,
        value_name = "guid|guid-v1|uuid|random[:LENGTH]|sequence[:TEXT[:WIDTH]]"
    )]
    style: Option<Style>,
    /// Act as this account, or INDEX:HANDLE, instead of the local operator
    #[arg(long = "as", value_name = "WHO", value_parser = Principal::parse)]
    who: Option<Principal>,
    #[command(flatten)]
    output: Output,
}

impl Mint {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let who = self.who.clone().unwrap_or(Principal::Operator);
        let mut out = BufWriter::new(console::stdout());
        let mut failed = None;
        let outcome = data.open().and_then(|registry| {
            registry.mint(
                &who,
                &self.authority,
                self.style.as_ref(),
                self.count,
                &self.urls,
                |minted| {
                    if let Err(error) = self.print(&mut out, &minted) {
                        failed = Some(error);
                        // The names are made; only saying so has failed.
                        return Err(Refusal::NotFound(minted.id));
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
