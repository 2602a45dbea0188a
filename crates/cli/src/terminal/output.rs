//! What commands print: data to standard output, words to standard error.

use std::io::{self, Write};

use clap::Args;
use handfast_registry::RegistryError;
use handfast_server::convert;
use serde_json::{Map, Value as Json, json};

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
    /// Prints what came of a command: JSON, or lines for people; or why it was refused.
    pub(crate) fn print<T>(
        self,
        outcome: Result<T, RegistryError>,
        as_json: impl FnOnce(&T) -> Json,
        for_people: impl FnOnce(&T, &mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<Answer> {
        let done = match outcome {
            Ok(done) => done,
            Err(error) => return Ok(self.refuse(&error)),
        };
        let mut out = io::stdout();
        if self.json {
            writeln!(out, "{}", as_json(&done))?;
        } else {
            for_people(&done, &mut out)?;
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

    /// Says that a command was not used as it should be.
    pub(crate) fn misused(self, problem: &str) -> Answer {
        let text = if self.json {
            json!({"error": {"code": "usage", "message": problem}}).to_string()
        } else {
            format!("error: {problem}")
        };
        let _ = writeln!(io::stderr(), "{text}");
        Answer::Misused
    }

    /// Says why something was not done: a code, what is wrong, and perhaps what to do about it.
    pub(crate) fn complain(self, code: &str, problem: &str, hint: Option<&str>) {
        let text = if self.json {
            let mut error = Map::new();
            error.insert("code".into(), code.into());
            error.insert("message".into(), problem.into());
            error.extend(hint.map(|hint| ("hint".to_string(), hint.into())));
            json!({ "error": error }).to_string()
        } else {
            let hint = hint.map(|hint| format!("\nhint: {hint}"));
            format!(
                "error: {} [{code}]{}",
                Shown(problem),
                hint.unwrap_or_default()
            )
        };
        // If standard error is gone there is nobody left to tell.
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Says why something was not done, with all that is known of it.
    pub(crate) fn complain_with(self, about: &Map<String, Json>) {
        if self.json {
            // If standard error is gone there is nobody left to tell.
            let _ = writeln!(io::stderr(), "{}", json!({ "error": about }));
            return;
        }
        let text = |name: &str| about.get(name).and_then(Json::as_str);
        let (code, problem) = (text("code"), text("message"));
        self.complain(
            code.unwrap_or_default(),
            problem.unwrap_or_default(),
            text("hint"),
        );
    }

    /// Says why something was not done: the answer is no, or the system failed.
    pub(crate) fn refuse(self, error: &RegistryError) -> Answer {
        let text = if self.json {
            let error = convert::command_error(convert::problem(error));
            json!({ "error": error }).to_string()
        } else {
            let hint = error
                .hint()
                .map(|hint| format!("\nhint: {hint}"))
                .unwrap_or_default();
            let refused = error.to_string();
            format!("error: {} [{}]{hint}", Shown(&refused), error.code())
        };
        // If standard error is gone there is nobody left to tell.
        let _ = writeln!(io::stderr(), "{text}");
        if error.is_failure() {
            Answer::Failed
        } else {
            Answer::No
        }
    }
}
