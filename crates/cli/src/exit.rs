//! Exit statuses, and the last words of a command that failed.

use std::io::{self, ErrorKind, Write};

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
            3
        }
    }
}

/// Whether whoever read our output has seen enough, as `head` does.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
