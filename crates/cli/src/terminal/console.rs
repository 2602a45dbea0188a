//! Where a command reads and writes: the terminal of this process, or that of another one for which a server runs it.
//!
//! A command that a server runs has a thread of its own. What it prints goes to whoever asked for it, the files that it
//! names are those that they have opened, and the registry is the one that the server has open.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, LineWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use handfast_registry::Registry;

use crate::files::{self, Access};
use crate::new_file::NewFile;

/// Who asks a server to run a command.
pub(crate) struct Client {
    pub(crate) input: File,
    pub(crate) output: File,
    pub(crate) errors: File,
    /// The files that its arguments name.
    pub(crate) files: Vec<ClientFile>,
    pub(crate) registry: Arc<Registry>,
    /// Whether nobody waits any more.
    pub(crate) is_gone: Arc<AtomicBool>,
}

/// A file that a client has opened, or why it could not.
pub(crate) struct ClientFile {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    /// `None` once it was taken.
    pub(crate) opened: Option<io::Result<File>>,
}

thread_local! {
    static CLIENT: RefCell<Option<Client>> = const { RefCell::new(None) };
    /// The numbers of the new files that are whole.
    static FINISHED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// From now on this thread works for someone else.
pub(crate) fn serve(client: Client) {
    CLIENT.set(Some(client));
}

/// Standard output.
pub(crate) fn stdout() -> Box<dyn Write> {
    let of_client = with(|client| client.output.try_clone());
    match of_client {
        Some(Ok(file)) => Box::new(LineWriter::new(file)),
        Some(Err(error)) => Box::new(Broken(error.kind())),
        None => Box::new(io::stdout()),
    }
}

/// Standard error.
pub(crate) fn stderr() -> Box<dyn Write> {
    let of_client = with(|client| client.errors.try_clone());
    match of_client {
        Some(Ok(file)) => Box::new(file),
        Some(Err(error)) => Box::new(Broken(error.kind())),
        None => Box::new(io::stderr()),
    }
}

/// Standard input of the process that this thread works for.
pub(crate) fn standard_input() -> io::Result<File> {
    let none = || Err(io::Error::other("this process has its own"));
    with(|client| client.input.try_clone()).unwrap_or_else(none)
}

/// Standard input.
pub(crate) fn stdin() -> Box<dyn Read + Send> {
    let of_client = with(|client| client.input.try_clone());
    match of_client {
        Some(Ok(file)) => Box::new(file),
        Some(Err(error)) => Box::new(Broken(error.kind())),
        None => Box::new(io::stdin()),
    }
}

/// Whether this thread works for another process.
pub(crate) fn is_for_client() -> bool {
    with(|_| ()).is_some()
}

/// Opens a file that is read. For another process, it is the one that has opened it.
pub(crate) fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    match take(path, Access::Read) {
        Some(taken) => taken.map(|(file, _)| file),
        None => File::open(path),
    }
}

/// Reads a file whose content becomes a value. For another process, it is the one that has opened it.
pub(crate) fn read_value(path: &str) -> Result<Vec<u8>, String> {
    let opened = match take(Path::new(path), Access::Read) {
        Some(taken) => taken.map(|(file, _)| file),
        None => files::open_regular(Path::new(path)),
    };
    let file = opened.map_err(|error| format!("cannot read {path}: {error}"))?;
    files::read_value(file, path)
}

/// Reads a text.
pub(crate) fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    read_text(open(path)?)
}

/// Reads a text to its end. A server reads it into its own memory, and devices have no end.
pub(crate) fn read_text(input: impl Read) -> io::Result<String> {
    let mut text = String::new();
    input.take(MAX_TEXT_BYTES + 1).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_TEXT_BYTES) {
        let problem = "it has more than 64 MiB: split it into several files";
        return Err(io::Error::other(problem));
    }
    Ok(text)
}

/// How many bytes a text has at most: some two million names.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// A new file, if it is for another process.
pub(crate) fn written(path: &Path) -> Option<io::Result<NewFile>> {
    let taken = take(path, Access::Write)?;
    Some(taken.map(|(file, number)| NewFile::of_client(file, number)))
}

/// Where files are made in a folder, and what keeps it open.
pub(crate) fn folder(path: &Path) -> io::Result<(PathBuf, Option<File>)> {
    match take(path, Access::Folder) {
        // The descriptor stands for the folder that the other process means.
        Some(taken) => taken.map(|(file, _)| {
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            (path, Some(file))
        }),
        None => Ok((path.to_path_buf(), None)),
    }
}

/// A new file is whole.
pub(crate) fn finished(number: u8) {
    FINISHED.with_borrow_mut(|finished| finished.push(number));
}

/// All that are.
pub(crate) fn all_finished() -> Vec<u8> {
    FINISHED.take()
}

/// A file of the other process, and its number; `None` if there is no other process.
fn take(path: &Path, access: Access) -> Option<io::Result<(File, u8)>> {
    CLIENT.with_borrow_mut(|client| {
        let files = &mut client.as_mut()?.files;
        let mut wanted = (0..).zip(files);
        let found = wanted
            .find(|(_, file)| file.access == access && file.path == path && file.opened.is_some());
        let opened = found.and_then(|(number, file)| Some((file.opened.take()?, number)));
        Some(match opened {
            Some((opened, number)) => opened.map(|file| (file, number)),
            None => Err(io::Error::other("it was not opened by the command")),
        })
    })
}

/// The registry that is open already.
pub(crate) fn registry() -> Option<Arc<Registry>> {
    with(|client| Arc::clone(&client.registry))
}

/// Input that ends in an error when nobody waits any more for what is made of it.
pub(crate) fn watched(input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    match with(|client| Arc::clone(&client.is_gone)) {
        Some(is_gone) => Box::new(Watched { input, is_gone }),
        None => input,
    }
}

fn with<T>(read: impl FnOnce(&Client) -> T) -> Option<T> {
    CLIENT.with_borrow(|client| client.as_ref().map(read))
}

struct Watched {
    input: Box<dyn Read + Send>,
    is_gone: Arc<AtomicBool>,
}

impl Read for Watched {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(io::Error::other("whoever asked for this has gone"));
        }
        self.input.read(into)
    }
}

/// What can be neither read nor written.
struct Broken(io::ErrorKind);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
