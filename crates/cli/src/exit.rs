//! Exit statuses, and the last words of a command that was not done.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use handfast_api as api;
use handfast_registry::RegistryError;
use handfast_server::convert;
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown;

/// What a command that ran has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// The system failed, and that has been said.
    Failed,
    /// Wrong usage that only the command itself could tell.
    Misused,
    /// Refused, not found, denied, a bad line.
    No,
}

impl Answer {
    /// Done, if all of it could be done.
    pub(crate) fn all(is_all: bool) -> Self {
        if is_all { Self::Done } else { Self::No }
    }

    /// No, unless the system failed.
    pub(crate) fn no(is_failure: bool) -> Self {
        if is_failure { Self::Failed } else { Self::No }
    }
}

/// Why a command was not done, and how that is printed: as an object, or as text for people.
#[derive(Debug)]
pub(crate) struct Problem {
    answer: Answer,
    object: Json,
    text: String,
}

impl Problem {
    /// A problem with a code, and perhaps with advice.
    pub(crate) fn new(answer: Answer, code: &str, message: String, hint: Option<&str>) -> Self {
        let problem = api::Problem {
            code: code.into(),
            detail: message,
            hint: hint.map(str::to_string),
            ..api::Problem::default()
        };
        Self::of(answer, problem)
    }

    /// What the API says.
    pub(crate) fn of(answer: Answer, problem: api::Problem) -> Self {
        let (code, message) = (&problem.code, Shown(&problem.detail));
        let hint = problem.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        let text = format!("{message} [{code}]{}", hint.unwrap_or_default());
        Self {
            answer,
            text,
            object: convert::command_error(problem).into(),
        }
    }

    /// Says it.
    pub(crate) fn tell(&self, is_json: bool, errors: &mut dyn Write) {
        // If standard error is gone there is nobody left to tell.
        let _ = if is_json {
            writeln!(errors, "{}", json!({ "error": self.object }))
        } else {
            writeln!(errors, "error: {self}")
        };
    }

    pub(crate) fn has_code(&self, code: &str) -> bool {
        self.object.get("code").is_some_and(|of| of == code)
    }
}

impl From<RegistryError> for Problem {
    fn from(error: RegistryError) -> Self {
        Self::of(Answer::no(error.is_failure()), convert::problem(&error))
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A command that was not used as it should be.
pub(crate) fn misused(problem: impl Into<String>) -> anyhow::Error {
    let text = problem.into();
    let problem = Problem {
        answer: Answer::Misused,
        object: json!({"code": "usage", "message": text}),
        text,
    };
    problem.into()
}

/// The same, if something has failed because of the command line.
pub(crate) fn misuse<T>(outcome: anyhow::Result<T>) -> anyhow::Result<T> {
    outcome.map_err(|error| misused(format!("{error:#}")))
}

/// The registry said no, or failed.
pub(crate) fn refused(error: RegistryError) -> anyhow::Error {
    Problem::from(error).into()
}

/// The context of an error: the command line names a file that cannot be read, which is wrong usage
/// for every command.
#[derive(Debug)]
pub(crate) struct UnreadableInput(String);

impl UnreadableInput {
    pub(crate) fn new(file: impl AsRef<Path>) -> Self {
        Self(file.as_ref().display().to_string())
    }
}

impl fmt::Display for UnreadableInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}", self.0)
    }
}

/// 0 done, 1 the answer is no, 2 wrong usage (clap's own), 3 the system failed.
pub(crate) fn status(outcome: anyhow::Result<Answer>, is_json: bool) -> u8 {
    match outcome.unwrap_or_else(|error| report(&error, is_json)) {
        Answer::Done => 0,
        Answer::No => 1,
        Answer::Misused => 2,
        Answer::Failed => 3,
    }
}

/// Says why a command was not done.
fn report(error: &anyhow::Error, is_json: bool) -> Answer {
    if is_broken_pipe(error) {
        return Answer::Done;
    }
    if let Some(problem) = error.downcast_ref::<Problem>() {
        problem.tell(is_json, &mut io::stderr());
        return problem.answer;
    }
    // If standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {error:#}");
    match error.downcast_ref::<UnreadableInput>() {
        Some(_) => Answer::Misused,
        None => Answer::Failed,
    }
}

/// Whether the reader of our output has seen enough, as `head` does.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
