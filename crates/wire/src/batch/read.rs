//! Reading operations, one after the other.

use std::fmt;
use std::io::{self, BufRead};

use super::lines::{Line, Lines};
use super::{
    BatchData, BatchEntry, BatchError, BatchReason, BatchSessionSetup, BatchValue, Operation, parse,
};

/// The maximum number of bytes of the lines of one operation, which is buffered in memory.
pub(super) const MAX_OPERATION: usize = 4 << 20;

/// Reads the operations of a batch. An error of the input ends it; a mistake in an operation does
/// not.
///
/// After a mistake in the lines of a block, reading goes on after the next empty line. After a
/// command that is not known it goes on at the next line that begins with one that is: a run of
/// `DELETE` needs no empty lines, and one mistake in it must not hide the rest.
///
/// ```
/// use handfast_wire::batch::BatchReader;
///
/// let file = "CREAT a/b\n1 URL 60 1110 UTF8 x\n\nDELETE a/c\nDELETE a/d\n";
/// let entries: Vec<_> = BatchReader::new(file.as_bytes()).collect::<Result<_, _>>()?;
/// let is_ok: Vec<_> = entries.iter().map(|entry| entry.operation.is_ok()).collect();
/// assert_eq!(is_ok, [false, true, true]);
/// # Ok::<_, std::io::Error>(())
/// ```
pub struct BatchReader<R> {
    lines: Lines<R>,
    is_done: bool,
    /// How many bytes the lines of this operation have so far.
    size: usize,
    /// The values of this operation that name files, if the input is copied.
    files: Vec<FileLine>,
}

/// A value that names a file, and where its line stands in the copy of the input.
pub(super) struct FileLine {
    pub(super) line: u64,
    pub(super) value: BatchValue,
    pub(super) at: std::ops::Range<usize>,
}

impl<R: BufRead> BatchReader<R> {
    /// A reader at the start of a batch.
    pub fn new(input: R) -> Self {
        Self::over(Lines::new(input))
    }

    /// The same reader, which also copies what it reads.
    pub(super) fn copying(input: R) -> Self {
        Self::over(Lines::copying(input))
    }

    fn over(lines: Lines<R>) -> Self {
        Self {
            lines,
            is_done: false,
            size: 0,
            files: Vec::new(),
        }
    }

    /// The bytes read since the last call, and the values in them that name files.
    pub(super) fn take_copy(&mut self) -> (Vec<u8>, Vec<FileLine>) {
        let copy = self.lines.copy().map(std::mem::take);
        let text = copy.map(|copy| copy.text).unwrap_or_default();
        (text, std::mem::take(&mut self.files))
    }

    /// The next operation; `None` at the end.
    fn entry(&mut self) -> io::Result<Option<BatchEntry>> {
        let (command, rest) = loop {
            match self.lines.next()? {
                None => return Ok(None),
                Some(line) if line.is_empty() => {}
                Some(line) => break command(&line),
            }
        };
        let line = self.lines.number();
        self.size = 0;
        let operation = match command {
            Ok(command) => self.operation(command, &rest)?,
            Err(reason) => {
                match reason {
                    BatchReason::Blank => {}
                    BatchReason::TooLong => self.skip(false)?,
                    _ => self.skip(true)?,
                }
                Err(BatchError { line, reason })
            }
        };
        Ok(Some(BatchEntry { line, operation }))
    }

    fn operation(
        &mut self,
        command: Command,
        rest: &str,
    ) -> io::Result<Result<Operation, BatchError>> {
        let line = self.lines.number();
        let at = |reason| BatchError { line, reason };
        match command {
            Command::Add | Command::Create | Command::Modify => {
                let handle = parse::handle(rest).map_err(at);
                let values = self.values(handle.is_ok())?;
                Ok(handle.and_then(|handle| {
                    let values = values?;
                    Ok(match command {
                        Command::Add => Operation::Add { handle, values },
                        Command::Modify => Operation::Modify { handle, values },
                        _ => Operation::Create { handle, values },
                    })
                }))
            }
            Command::Authenticate => {
                // The next line belongs to it even if this one is wrong: it is a secret, and no
                // command.
                let identity = parse::identity(rest).map_err(at);
                let is_private_key = identity.as_ref().is_ok_and(|(_, is)| *is);
                let read = |text: &str| parse::credential(text, is_private_key);
                let credential = match self.line(read)? {
                    Some(credential) => credential,
                    None => Err(at(BatchReason::CredentialLine)),
                };
                let is_too_long = |error: &BatchError| error.reason == BatchReason::TooLong;
                if credential.as_ref().err().is_some_and(is_too_long) {
                    self.skip(false)?;
                }
                Ok(identity.and_then(|(administrator, _)| {
                    let credential = credential?;
                    Ok(Operation::Authenticate {
                        administrator,
                        credential,
                    })
                }))
            }
            Command::Delete => Ok(parse::handle(rest)
                .map(|handle| Operation::Delete { handle })
                .map_err(at)),
            Command::Home | Command::Unhome => {
                let server = parse::server(rest).map_err(at);
                let mut prefixes = Vec::new();
                let block = self.trimmed_block(server.is_ok(), |line| {
                    prefixes.push(parse::prefix(line)?);
                    Ok(())
                })?;
                Ok(server.and_then(|server| {
                    block?;
                    Ok(match command {
                        Command::Home => Operation::Home { server, prefixes },
                        _ => Operation::Unhome { server, prefixes },
                    })
                }))
            }
            Command::Remove => Ok(parse::remove(rest)
                .map(|(indexes, handle)| Operation::Remove { indexes, handle })
                .map_err(at)),
            Command::SessionSetup => {
                let mut setup = BatchSessionSetup::default();
                let block = self.trimmed_block(true, |line| parse::session(&mut setup, line))?;
                Ok(block.map(|()| Operation::SessionSetup(setup)))
            }
        }
    }

    /// The value lines up to the next empty line. One that is wrong spoils all; so does a line of
    /// blanks.
    fn values(&mut self, is_wanted: bool) -> io::Result<Result<Vec<BatchValue>, BatchError>> {
        let mut values = Vec::new();
        if !is_wanted {
            self.skip(false)?;
            return Ok(Ok(values));
        }
        loop {
            let read = |text: &str| match text {
                "" => Ok(None),
                text => parse::value(text).map(Some),
            };
            match self.line(read)? {
                None | Some(Ok(None)) => return Ok(Ok(values)),
                Some(Ok(Some(value))) => {
                    self.note_file(&value);
                    values.push(value);
                }
                Some(Err(error)) => {
                    self.skip(false)?;
                    return Ok(Err(error));
                }
            }
        }
    }

    fn note_file(&mut self, value: &BatchValue) {
        let line = self.lines.number();
        if let (BatchData::File(_), Some(copy)) = (&value.data, self.lines.copy()) {
            self.files.push(FileLine {
                line,
                value: value.clone(),
                at: copy.last..copy.text.len(),
            });
        }
    }

    /// Lines up to one that is empty or of blanks.
    fn trimmed_block(
        &mut self,
        is_wanted: bool,
        mut read: impl FnMut(&str) -> Result<(), BatchReason>,
    ) -> io::Result<Result<(), BatchError>> {
        let mut outcome = Ok(());
        loop {
            let is_wrong = !is_wanted || outcome.is_err();
            let line = self.line(|text| match parse::trim(text) {
                "" => Ok(true),
                _ if is_wrong => Ok(false),
                text => read(text).map(|()| false),
            });
            match line? {
                None | Some(Ok(true)) => return Ok(outcome),
                Some(Ok(false)) => {}
                Some(Err(error)) => outcome = outcome.and(Err(error)),
            }
        }
    }

    /// The next line, read as something; `None` at the end of the file.
    fn line<T>(
        &mut self,
        read: impl FnOnce(&str) -> Result<T, BatchReason>,
    ) -> io::Result<Option<Result<T, BatchError>>> {
        let Some(line) = self.lines.next()? else {
            return Ok(None);
        };
        let read = text(&line).and_then(|text| {
            self.size += text.len();
            if self.size > MAX_OPERATION && !parse::trim(text).is_empty() {
                return Err(BatchReason::Large);
            }
            read(text)
        });
        let line = self.lines.number();
        Ok(Some(read.map_err(|reason| BatchError { line, reason })))
    }

    /// Goes on after the next empty line, or at the next command if that is enough.
    fn skip(&mut self, to_command: bool) -> io::Result<()> {
        loop {
            match self.lines.next()? {
                None => return Ok(()),
                Some(line) if line.is_empty() => return Ok(()),
                Some(line) => {
                    if to_command && command(&line).0.is_ok() {
                        self.lines.unread();
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl<R: BufRead> Iterator for BatchReader<R> {
    type Item = io::Result<BatchEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let entry = self.entry().transpose();
        self.is_done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

impl<R> fmt::Debug for BatchReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The last line may be a secret.
        f.debug_struct("BatchReader").finish_non_exhaustive()
    }
}

/// The first word of an operation.
#[derive(Clone, Copy)]
enum Command {
    Add,
    Authenticate,
    Create,
    Delete,
    Home,
    Modify,
    Remove,
    SessionSetup,
    Unhome,
}

/// The command of a line and the rest of it, trimmed. Commands ignore case and stand in the first
/// column.
fn command(line: &Line<'_>) -> (Result<Command, BatchReason>, String) {
    let text = match text(line) {
        Ok(text) => text,
        Err(reason) => return (Err(reason), String::new()),
    };
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let command = match word.to_ascii_uppercase().as_str() {
        "ADD" => Ok(Command::Add),
        "AUTHENTICATE" => Ok(Command::Authenticate),
        "CREATE" => Ok(Command::Create),
        "DELETE" => Ok(Command::Delete),
        "HOME" => Ok(Command::Home),
        "MODIFY" => Ok(Command::Modify),
        "REMOVE" => Ok(Command::Remove),
        "SESSIONSETUP" => Ok(Command::SessionSetup),
        "UNHOME" => Ok(Command::Unhome),
        _ if parse::trim(text).is_empty() => Err(BatchReason::Blank),
        _ => Err(BatchReason::Command),
    };
    (command, parse::trim(rest).to_string())
}

fn text<'a>(line: &Line<'a>) -> Result<&'a str, BatchReason> {
    match line {
        Line::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|_| BatchReason::NotUtf8),
        Line::TooLong => Err(BatchReason::TooLong),
    }
}
