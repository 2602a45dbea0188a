//! Where the doors are, and opening them.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

use crate::connections::accept;
use crate::native::{Native, tcp, udp};
use crate::web;

/// How many requests that take time are worked on at once, for each core: enough for changes to be written together, and
/// not so many that the others get no turn on the processor when strangers ask for much.
const AT_WORK: usize = 16;

/// Where the doors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The native protocol, over UDP and TCP.
    pub native: SocketAddr,
    /// HTTP.
    pub web: SocketAddr,
}

/// Doors that are not open yet: their places are taken.
#[derive(Debug)]
pub struct Door {
    addresses: Addresses,
    runtime: tokio::runtime::Runtime,
    native: TcpListener,
    web: TcpListener,
    sockets: Vec<UdpSocket>,
}

/// Doors that are open: they close when this goes.
#[derive(Debug)]
pub struct Served {
    /// Where they are.
    pub addresses: Addresses,
    runtime: tokio::runtime::Runtime,
}

impl Served {
    /// Waits until the process is told to end, by SIGTERM or from the keyboard. Nothing that was acknowledged is
    /// lost, however it ends; this is for those who look at exit statuses.
    pub fn wait(self) -> io::Result<()> {
        self.runtime.block_on(async {
            let mut told = signal(SignalKind::terminate())?;
            tokio::select! {
                _ = told.recv() => Ok(()),
                pressed = ctrl_c() => pressed,
            }
        })
    }
}

impl Door {
    /// Takes addresses. A port of 0 is left to the system to choose.
    pub fn bind(native: SocketAddr, web: SocketAddr) -> io::Result<Self> {
        allow_files();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("handfast-tcp")
            .max_blocking_threads(AT_WORK * cores)
            .build()?;
        let listen = |address: SocketAddr| {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"))
            };
            runtime.block_on(TcpListener::bind(address)).map_err(named)
        };
        let (native, web) = (listen(native)?, listen(web)?);
        let addresses = Addresses {
            native: native.local_addr()?,
            web: web.local_addr()?,
        };
        let sockets = (0..cores).map(|_| udp::bind(addresses.native));
        Ok(Self {
            addresses,
            sockets: sockets.collect::<io::Result<_>>()?,
            runtime,
            native,
            web,
        })
    }

    /// Where they are.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Opens them.
    pub fn open(self, native: Native) -> io::Result<Served> {
        let native = Arc::new(native);
        for socket in self.sockets {
            spawn_udp(&native, socket)?;
        }
        let to_tcp = Arc::clone(&native);
        self.runtime.spawn(accept(self.native, move |stream| {
            tcp::converse(Arc::clone(&to_tcp), stream)
        }));
        self.runtime.spawn(accept(self.web, move |stream| {
            web::converse(Arc::clone(&native), stream)
        }));
        Ok(Served {
            addresses: self.addresses,
            runtime: self.runtime,
        })
    }
}

/// Each connection is a file, and what a process may open unless it asks is often 1,024.
fn allow_files() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // With fewer, connections beyond them wait.
        if let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, most, most) {
            tracing::warn!(%error, "no more files may be open than were allowed");
        }
    }
}

fn spawn_udp(native: &Arc<Native>, socket: UdpSocket) -> io::Result<()> {
    let native = Arc::clone(native);
    thread::Builder::new()
        .name("handfast-udp".into())
        .spawn(move || udp::run(&native, &socket))
        .map(|_| ())
}
