//! Exit statuses, and the last words of a command that failed.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

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
pub(crate) fn status(outcome: anyhow::Result<Answer>) -> u8 {
    match outcome {
        Ok(Answer::Done) => 0,
        Ok(Answer::No) => 1,
        Ok(Answer::Misused) => 2,
        Ok(Answer::Failed) => 3,
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => {
            // If standard error is gone too there is nobody left to tell.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            if error.downcast_ref::<UnreadableInput>().is_some() {
                2
            } else {
                3
            }
        }
    }
}

/// Whether the reader of our output has seen enough, as `head` does.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
