//! The socket in a data folder: a command on a folder that a server is using is run by the server.
//!
//! ```text
//! command ─▶ server   u32 length · standard input, output and error, and files (SCM_RIGHTS)
//!                     the data folder, the number of files, the files and the arguments, with a NUL between them
//!                     a file: r (read), w (written) or f (a folder), the error number or 0, a colon, its name
//! server ─▶ command   the exit status, and the numbers of the files that are written: an octet each
//! ```
//!
//! The server runs the very same code on the registry that it has open, and what that prints goes to the descriptors
//! of the command: so the output is the same. It opens no file that the arguments name: the command has done so. Whoever
//! may connect may write the data folder, and is the operator.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use handfast_registry::Registry;
use rustix::cmsg_space;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::geteuid;

use crate::files::{Access, Files};
use crate::terminal::console::{self, Client, ClientFile};

/// The socket, in the data folder.
const FILE: &str = "handfast.sock";
/// How many descriptors a command hands over, with the three that every one has.
const MAX_DESCRIPTORS: usize = 200;
/// The longest that arguments are.
const LONGEST: u32 = 4 << 20;
/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server that uses a data folder; `None` if none does.
pub(crate) fn connect(folder: &Path) -> Option<UnixStream> {
    UnixStream::connect(folder.join(FILE)).ok()
}

/// Has a command run by a server.
pub(crate) fn ask(
    mut stream: UnixStream,
    folder: &Path,
    arguments: &[OsString],
    files: Files,
) -> io::Result<u8> {
    let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
    let replaced = files.input.as_ref().map(AsFd::as_fd);
    let mut own = vec![replaced.unwrap_or(input.as_fd())];
    own.extend([output.as_fd(), errors.as_fd()]);
    let mut said = folder.as_os_str().as_bytes().to_vec();
    said.push(0);
    said.extend_from_slice(files.named.len().to_string().as_bytes());
    for file in &files.named {
        let error = match file.descriptor() {
            Ok(descriptor) => {
                own.push(descriptor);
                0
            }
            Err(error) => error,
        };
        said.extend_from_slice(&[0, file.access.letter()]);
        said.extend_from_slice(format!("{error}:").as_bytes());
        said.extend_from_slice(file.path.as_os_str().as_bytes());
    }
    if own.len() > MAX_DESCRIPTORS {
        let problem = format!("a command names at most {} files", MAX_DESCRIPTORS - 3);
        return Err(io::Error::other(problem));
    }
    for argument in arguments {
        said.push(0);
        said.extend_from_slice(argument.as_bytes());
    }
    let length = u32::try_from(said.len())
        .ok()
        .filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("the arguments are too long"))?;
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&own));
    let start = length.to_be_bytes();
    let sent = sendmsg(
        &stream,
        &[IoSlice::new(&start)],
        &mut control,
        SendFlags::empty(),
    )?;
    stream.write_all(start.get(sent..).unwrap_or_default())?;
    stream.write_all(&said)?;
    let mut status = [0];
    let ended = |_| {
        io::Error::other(
            "the server ended before the command did; if the program was updated after the server \
             started, restart the server",
        )
    };
    stream.read_exact(&mut status).map_err(ended)?;
    let mut finished = Vec::new();
    stream.read_to_end(&mut finished)?;
    drop(own);
    files.finish(&finished)?;
    Ok(status[0])
}

/// What runs a command: what it calls the data folder, its arguments, and what it comes to.
pub(crate) type Runner = fn(PathBuf, Vec<OsString>) -> u8;

/// A socket at which commands are taken.
pub(crate) struct Socket {
    file: PathBuf,
    at_work: Arc<AtWork>,
}

#[derive(Default)]
struct AtWork {
    count: Mutex<usize>,
    fewer: Condvar,
}

impl Socket {
    /// Takes commands on a folder from now on. What an earlier server has left goes: the folder is ours.
    pub(crate) fn open(
        folder: &Path,
        registry: &Arc<Registry>,
        runner: Runner,
    ) -> io::Result<Self> {
        let file = folder.join(FILE);
        drop(fs::remove_file(&file));
        let listener = UnixListener::bind(&file)?;
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        let at_work = Arc::new(AtWork::default());
        let (registry, counted) = (Arc::clone(registry), Arc::clone(&at_work));
        let taking = thread::Builder::new().name("handfast-socket".into());
        taking.spawn(move || {
            for stream in listener.incoming().flatten() {
                let (registry, counted) = (Arc::clone(&registry), Arc::clone(&counted));
                let command = thread::Builder::new().name("handfast-command".into());
                let begun = command.spawn(move || {
                    counted.enter();
                    // What goes wrong with one concerns nobody else.
                    drop(answer(stream, registry, runner));
                    counted.leave();
                });
                drop(begun);
            }
        })?;
        Ok(Self { file, at_work })
    }

    /// Takes no more commands, and gives those that run some time.
    pub(crate) fn close(self) {
        drop(fs::remove_file(&self.file));
        let count = self.at_work.count.lock();
        let count = count.unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .at_work
            .fewer
            .wait_timeout_while(count, PATIENCE, |count| *count > 0);
        drop(waited);
    }
}

impl AtWork {
    fn enter(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn leave(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.fewer.notify_all();
    }
}

/// Runs one command, on this thread.
fn answer(mut stream: UnixStream, registry: Arc<Registry>, runner: Runner) -> io::Result<()> {
    // The file says who may connect; the system says who has.
    let peer = socket_peercred(&stream)?;
    if peer.uid != geteuid() && !peer.uid.is_root() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    let (length, [input, output, errors], opened) = receive(&stream)?;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut said = Vec::new();
    (&mut stream).take(length.into()).read_to_end(&mut said)?;
    let mut parts = said.split(|byte| *byte == 0);
    let data = PathBuf::from(OsStr::from_bytes(parts.next().unwrap_or_default()));
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let count = parts
        .next()
        .and_then(|count| std::str::from_utf8(count).ok());
    let count = count.and_then(|count| count.parse::<usize>().ok());
    let count = count.filter(|count| *count <= MAX_DESCRIPTORS);
    let mut opened = opened.into_iter();
    let mut files = Vec::new();
    for _ in 0..count.ok_or_else(bad)? {
        let said = parts.next().ok_or_else(bad)?;
        files.push(client_file(said, &mut opened).ok_or_else(bad)?);
    }
    let arguments = parts
        .map(|part| OsString::from_vec(part.to_vec()))
        .collect();
    stream.set_read_timeout(None)?;
    let is_gone = Arc::new(AtomicBool::new(false));
    watch(&stream, Arc::clone(&is_gone))?;
    console::serve(Client {
        input: input.into(),
        output: output.into(),
        errors: errors.into(),
        files,
        registry,
        is_gone,
    });
    let ran = catch_unwind(AssertUnwindSafe(|| runner(data, arguments)));
    let status = ran.unwrap_or_else(|_| {
        // If standard error is gone there is nobody left to tell.
        let _ = writeln!(console::stderr(), "error: the command failed in the server");
        3
    });
    stream.write_all(&[&[status], &console::all_finished()[..]].concat())?;
    stream.shutdown(Shutdown::Both)
}

/// A file as the client says it: what for it is, the error number or 0, a colon, its name.
fn client_file(said: &[u8], opened: &mut impl Iterator<Item = OwnedFd>) -> Option<ClientFile> {
    let (letter, rest) = said.split_first()?;
    let colon = rest.iter().position(|byte| *byte == b':')?;
    let (error, path) = rest.split_at_checked(colon)?;
    let error = std::str::from_utf8(error).ok()?.parse::<i32>().ok()?;
    Some(ClientFile {
        path: PathBuf::from(OsStr::from_bytes(path.get(1..)?)),
        access: Access::from_letter(*letter)?,
        opened: Some(match error {
            0 => Ok(File::from(opened.next()?)),
            error => Err(io::Error::from_raw_os_error(error)),
        }),
    })
}

/// The length of what follows, and the descriptors that come with it.
fn receive(stream: &UnixStream) -> io::Result<(u32, [OwnedFd; 3], Vec<OwnedFd>)> {
    let mut start = [0; 4];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut start)];
    let received = recvmsg(stream, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(given) = message {
            descriptors.extend(given);
        }
    }
    let files = descriptors.split_off(descriptors.len().min(3));
    match <[OwnedFd; 3]>::try_from(descriptors) {
        Ok(own) if received.bytes == 4 => Ok((u32::from_be_bytes(start), own, files)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Nothing more is said until the command is done: whoever hangs up has gone.
fn watch(stream: &UnixStream, is_gone: Arc<AtomicBool>) -> io::Result<()> {
    let mut stream = stream.try_clone()?;
    let watching = thread::Builder::new().name("handfast-watch".into());
    watching.spawn(move || {
        drop(stream.read(&mut [0]));
        is_gone.store(true, Ordering::Relaxed);
    })?;
    Ok(())
}
