//! Where a command reads and writes: the terminal of this process, or that of another one for which a server runs it.
//!
//! A command that a server runs has a thread of its own. What it prints goes to whoever asked for it, relative paths
//! start where they are, and the registry is the one that the server has open.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, LineWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use handfast_registry::Registry;

/// Who asks a server to run a command.
pub(crate) struct Client {
    pub(crate) input: File,
    pub(crate) output: File,
    pub(crate) errors: File,
    /// Where relative paths start.
    pub(crate) folder: PathBuf,
    pub(crate) registry: Arc<Registry>,
    /// Whether nobody waits any more.
    pub(crate) is_gone: Arc<AtomicBool>,
}

thread_local! {
    static CLIENT: RefCell<Option<Client>> = const { RefCell::new(None) };
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

/// Standard input.
pub(crate) fn stdin() -> Box<dyn Read + Send> {
    let of_client = with(|client| client.input.try_clone());
    match of_client {
        Some(Ok(file)) => Box::new(file),
        Some(Err(error)) => Box::new(Broken(error.kind())),
        None => Box::new(io::stdin()),
    }
}

/// A path, from where whoever asks is.
pub(crate) fn here(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    with(|client| client.folder.join(path)).unwrap_or_else(|| path.to_path_buf())
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
