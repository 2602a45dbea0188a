//! The socket in a data folder: a command on a folder that a server is using is run by the server.
//!
//! ```text
//! command ─▶ server   u32 length · standard input, output and error (SCM_RIGHTS)
//!                     the working folder, the data folder and the arguments, with a NUL between them
//! server ─▶ command   one octet: the exit status
//! ```
//!
//! The server runs the very same code on the registry that it has open, and what that prints goes to the descriptors
//! of the command: so the output is the same. Whoever may connect may write the data folder, and is the operator.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
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

use crate::console::{self, Client};

/// The socket, in the data folder.
const FILE: &str = "handfast.sock";
/// The longest that arguments are.
const LONGEST: u32 = 4 << 20;
/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has a command run by the server that uses a data folder; `None` if none does.
pub(crate) fn run(folder: &Path, arguments: &[OsString]) -> Option<io::Result<u8>> {
    let stream = UnixStream::connect(folder.join(FILE)).ok()?;
    Some(ask(stream, folder, arguments))
}

fn ask(mut stream: UnixStream, folder: &Path, arguments: &[OsString]) -> io::Result<u8> {
    let here = std::env::current_dir()?;
    let mut said = here.into_os_string().into_vec();
    said.push(0);
    said.extend_from_slice(folder.as_os_str().as_bytes());
    for argument in arguments {
        said.push(0);
        said.extend_from_slice(argument.as_bytes());
    }
    let length = u32::try_from(said.len())
        .ok()
        .filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("the arguments are too long"))?;
    let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
    let own = [input.as_fd(), output.as_fd(), errors.as_fd()];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
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
    let ended = |_| io::Error::other("the server ended before the command did");
    stream.read_exact(&mut status).map_err(ended)?;
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
    let (length, [input, output, errors]) = receive(&stream)?;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut said = Vec::new();
    (&mut stream).take(length.into()).read_to_end(&mut said)?;
    let mut parts = said.split(|byte| *byte == 0);
    let mut path = || PathBuf::from(OsStr::from_bytes(parts.next().unwrap_or_default()));
    let (folder, data) = (path(), path());
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
        folder,
        registry,
        is_gone,
    });
    let ran = catch_unwind(AssertUnwindSafe(|| runner(data, arguments)));
    let status = ran.unwrap_or_else(|_| {
        // If standard error is gone there is nobody left to tell.
        let _ = writeln!(console::stderr(), "error: the command failed in the server");
        3
    });
    stream.write_all(&[status])?;
    stream.shutdown(Shutdown::Both)
}

/// The length of what follows, and the descriptors that come with it.
fn receive(stream: &UnixStream) -> io::Result<(u32, [OwnedFd; 3])> {
    let mut start = [0; 4];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut start)];
    let received = recvmsg(stream, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(given) = message {
            descriptors.extend(given);
        }
    }
    match <[OwnedFd; 3]>::try_from(descriptors) {
        Ok(descriptors) if received.bytes == 4 => Ok((u32::from_be_bytes(start), descriptors)),
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
