//! What commands print: data to standard output, words to standard error.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use crate::exit::Answer;

/// How a command prints.
#[derive(Args, Clone, Copy)]
pub(crate) struct Output {
    /// Print JSON instead of text for people
    #[arg(long)]
    json: bool,
}

impl Output {
    /// Prints what came of a command: JSON, or lines for people.
    pub(crate) fn print(
        self,
        done: &impl Serialize,
        for_people: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<Answer> {
        let mut out = io::stdout();
        if self.json {
            // Members stand in alphabetical order.
            writeln!(out, "{}", serde_json::to_value(done)?)?;
        } else {
            for_people(&mut out)?;
        }
        out.flush()?;
        Ok(Answer::Done)
    }

    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Tells people something beside what a command was asked for.
    pub(crate) fn note(self, text: &str) {
        if !self.json {
            // If standard error is gone there is nobody left to tell.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}
