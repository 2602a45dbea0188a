//! Exit statuses, and the last words of a command that failed.

use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// What a command that ran has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// Refused, not found, denied, a bad line.
    No,
}

/// 0 done, 1 the answer is no, 2 wrong usage (clap's own), 3 the system failed.
pub(crate) fn code(outcome: anyhow::Result<Answer>) -> ExitCode {
    match outcome {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        // Whoever read our output has seen enough, as `head` does: nobody is left to tell.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
