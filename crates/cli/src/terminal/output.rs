//! What commands print: data to standard output, words to standard error.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use crate::commands::inspect_view::Shown;
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

/// Standard output for data, standard error for words.
pub(crate) fn stream(is_data: bool) -> Box<dyn Write> {
    if is_data {
        Box::new(io::stdout())
    } else {
        Box::new(io::stderr())
    }
}

/// Rows of a label and a text. Those without a text are left out.
pub(crate) fn rows(
    out: &mut dyn Write,
    width: usize,
    rows: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> io::Result<()> {
    for (label, text) in rows {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            writeln!(out, "  {label:<width$}  {}", Shown(&text))?;
        }
    }
    Ok(())
}
