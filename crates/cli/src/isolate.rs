//! Commands that read the whole store run in a child process.
//!
//! `check` and `log verify` are for folders that may be damaged, and reading a damaged page of a
//! mapped file can end a process. The child opens the folder for reading alone, also beside a
//! server that is using it: so neither the server nor the report depends on what is found. The
//! child has the standard input, output and error of the command and is in its process group: it
//! prints what it would print alone, and Ctrl-C ends both.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::exit::{Answer, Problem};

/// Set in the environment of the child.
const CHILD: &str = "HANDFAST_ISOLATED";

/// Runs the command in a child process, and gives its exit status; `None` if this is the child, or
/// if none can be started: then the caller runs the command itself.
pub(crate) fn run(arguments: &[OsString]) -> Option<u8> {
    if std::env::var_os(CHILD).is_some() {
        // A parent that was killed needs no report. Where the system cannot say so, the child goes
        // on to its end.
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
        return None;
    }
    let program = std::env::current_exe().ok()?;
    let mut child = Command::new(program);
    child.args(arguments.get(1..)?).env(CHILD, "1");
    let ended = child.status().ok()?;
    let is_json = arguments.iter().any(|argument| argument == "--json");
    Some(report(ended, is_json, &mut io::stderr()))
}

/// The exit status of the child; for one that was ended by a signal, 3 and a few words.
fn report(ended: ExitStatus, is_json: bool, errors: &mut dyn Write) -> u8 {
    if let Some(code) = ended.code() {
        return u8::try_from(code).unwrap_or(FAILED);
    }
    let signal = ended.signal().and_then(Signal::from_named_raw);
    let is_fault = [
        Signal::BUS,
        Signal::SEGV,
        Signal::ABORT,
        Signal::ILL,
        Signal::FPE,
    ];
    let (code, problem) = if signal.is_some_and(|signal| is_fault.contains(&signal)) {
        let problem = "the store is damaged: reading it ended the process that did; \
                       restore it from a backup (stop the server, move the data folder away, \
                       run `handfast restore FILE`)";
        ("damaged", problem)
    } else {
        ("ended", "the process that read the store was ended")
    };
    Problem::new(Answer::Failed, code, problem.into(), None).tell(is_json, errors);
    FAILED
}

/// The system failed.
const FAILED: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a child that dies by a fault and looks like one that found nothing.
    #[test]
    fn a_child_that_a_fault_ended_is_reported_as_damage() {
        for (signal, words) in [
            (7, "error: the store is damaged"),
            (11, "error: the store is damaged"),
            (6, "error: the store is damaged"),
            (9, "error: the process that read the store was ended"),
        ] {
            let mut told = Vec::new();
            let status = report(ExitStatus::from_raw(signal), false, &mut told);
            let told = String::from_utf8(told).unwrap();
            assert!(status == 3 && told.starts_with(words), "{signal}: {told}");
        }
        let mut told = Vec::new();
        assert_eq!(report(ExitStatus::from_raw(1 << 8), true, &mut told), 1);
        assert!(told.is_empty());
        assert_eq!(report(ExitStatus::from_raw(11), true, &mut told), 3);
        let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
        assert_eq!(told["error"]["code"], "damaged");
    }
}
