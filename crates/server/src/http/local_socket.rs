//! The socket in the data folder: the API for commands on a folder that a server is using.
//!
//! The folder is open in one process, the server, so a command asks it over HTTP. The file has mode
//! 0600, and the system says who has connected: only the user of the server and root, who could
//! write the folder anyway, are served. They are the local operator: see [`LocalApi`].

use std::convert::Infallible;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::http::api_v1::Api;
use crate::http::api_v1::operator::LocalApi;
use crate::listen::runtime;

/// The name of the socket in the data folder.
pub const SOCKET: &str = "handfast.sock";
/// How long commands that run have to end when the server does.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The user id of root.
const ROOT: u32 = 0;

/// An open socket, at which commands are served until it is closed.
#[derive(Debug)]
pub struct LocalSocket {
    file: PathBuf,
    closing: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl LocalSocket {
    /// Replaces the socket of an earlier server: the folder is locked, so that one has ended.
    pub(crate) fn open(folder: &Path, api: Arc<Api>) -> io::Result<Self> {
        let file = folder.join(SOCKET);
        drop(fs::remove_file(&file));
        let listener = StdListener::bind(&file)?;
        fs::set_permissions(&file, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let owner = fs::metadata(&file)?.uid();
        let (closing, told) = watch::channel(false);
        let runtime = runtime()?;
        let thread = thread::Builder::new().name("handfast-socket".into());
        let serving = thread.spawn(move || {
            runtime.block_on(serve(listener, owner, &LocalApi::of(api), told));
            // What has not ended in time is not waited for.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            file,
            closing,
            serving,
        })
    }

    /// Takes no more commands, and gives those that run some time to end.
    pub fn close(self) {
        drop(fs::remove_file(&self.file));
        self.closing.send_replace(true);
        drop(self.serving.join());
    }
}

async fn serve(
    listener: StdListener,
    owner: u32,
    api: &LocalApi,
    mut closing: watch::Receiver<bool>,
) {
    let listener = match UnixListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the socket cannot be listened at"),
    };
    let connections = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            _ = closing.wait_for(|is_closing| *is_closing) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a command could not connect");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        if is_operator(&stream, owner) {
            let api = api.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let api = api.clone();
                let request = request.map(|body| body.map_err(io::Error::other).boxed_unsync());
                async move { Ok::<_, Infallible>(api.answer(request).await) }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // What goes wrong with one connection concerns no other.
            let connection = connections.watch(connection);
            tokio::spawn(async move { drop(connection.await) });
        }
    }
    drop(timeout(CLOSE_TIMEOUT, connections.shutdown()).await);
}

/// The mode of the file says who may connect; the system says who has.
fn is_operator(stream: &UnixStream, owner: u32) -> bool {
    let peer = stream.peer_cred();
    peer.is_ok_and(|peer| peer.uid() == owner || peer.uid() == ROOT)
}
