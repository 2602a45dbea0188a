//! Binding the addresses of the server, and serving them.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use handfast_registry::{EventFollower, Registry, RegistryError, reuse_snapshots};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::admission::connections::{ConnectionLimits, Connections, accept};
use crate::context::ServerContext;
use crate::http::api_v1::Api;
use crate::http::local_socket::LocalSocket;
use crate::http::native_tunnel::NativeTunnel;
use crate::http::{self, Web, WebSettings};
use crate::native::{Native, tcp, udp};
use crate::runtime::blocking::BLOCKING_THREADS;
use crate::runtime::snapshot_reuse;

/// The addresses that the server listens at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The native protocol, over UDP and TCP.
    pub native: SocketAddr,
    /// HTTP.
    pub web: SocketAddr,
}

/// Bound sockets that are not served yet.
#[derive(Debug)]
pub struct Listener {
    addresses: Addresses,
    /// Each core has its own sockets, so that cores share nothing.
    cores: Vec<Core>,
}

#[derive(Debug)]
struct Core {
    udp: UdpSocket,
    native: StdListener,
    web: StdListener,
}

/// A server that accepts connections.
pub struct RunningServer {
    /// The bound addresses.
    pub addresses: Addresses,
    /// Announces that the server shuts down.
    closing: watch::Sender<bool>,
    web_connections: Arc<Connections>,
    registry: Arc<Registry>,
    api: Arc<Api>,
    /// Counts names in the background.
    _follower: EventFollower,
}

/// How long those who have asked for something have to get it when the server is told to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long that takes over the native protocol, whose connections stay open when nothing is asked.
const SHUTDOWN_POLL_INTERVAL: Duration = Duration::from_millis(100);

impl RunningServer {
    /// Serves the API to the local operator, at a socket in the data folder.
    pub fn open_socket(&self) -> io::Result<LocalSocket> {
        LocalSocket::open(self.registry.folder(), Arc::clone(&self.api))
    }

    /// The account of the first administrator and the URL by which it signs in, if no account can
    /// sign in yet.
    pub fn first_sign_in_link(&self) -> Result<Option<(String, String)>, RegistryError> {
        let link = self.registry.first_sign_in_link()?;
        Ok(link.map(|link| {
            let url = self.api.sign_in_url(&link);
            (link.account, url)
        }))
    }

    /// Waits until the process is told to end, by SIGTERM or from the keyboard. Then no connection
    /// is taken any more, and what was asked for is answered, within ten seconds. Nothing that was
    /// acknowledged is lost, however the process ends.
    pub fn wait(self) -> io::Result<()> {
        runtime()?.block_on(async {
            let mut told = signal(SignalKind::terminate())?;
            tokio::select! {
                _ = told.recv() => {}
                pressed = ctrl_c() => pressed?,
            }
            self.closing.send_replace(true);
            // Long jobs continue after a restart.
            self.registry.pause_jobs();
            let answered = async {
                tokio::time::sleep(SHUTDOWN_POLL_INTERVAL).await;
                self.web_connections.drained().await;
                while self.registry.jobs_under_way() > 0 {
                    tokio::time::sleep(SHUTDOWN_POLL_INTERVAL).await;
                }
            };
            tokio::select! {
                _ = timeout(SHUTDOWN_TIMEOUT, answered) => {}
                // A second signal ends the process at once.
                _ = told.recv() => {}
                _ = ctrl_c() => {}
            }
            Ok(())
        })
    }
}

impl Listener {
    /// Takes addresses. A port of 0 is left to the system to choose.
    pub fn bind(native: SocketAddr, web: SocketAddr) -> io::Result<Self> {
        allow_files();
        if native.port() != 0 && native == web {
            let text = format!("the native protocol and HTTP cannot both listen at {native}");
            return Err(io::Error::new(io::ErrorKind::AddrInUse, text));
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let (native, native_listeners) = listen_on(native, cores)?;
        let (web, web_listeners) = listen_on(web, cores)?;
        // Sockets that share an address would share it with another server, too.
        drop(UdpSocket::bind(native).map_err(|error| named(native, &error))?);
        let listeners = native_listeners.into_iter().zip(web_listeners);
        let core = |(listener, web)| {
            Ok(Core {
                udp: udp::bind(native)?,
                native: listener,
                web,
            })
        };
        Ok(Self {
            addresses: Addresses { native, web },
            cores: listeners.map(core).collect::<io::Result<_>>()?,
        })
    }

    /// The bound addresses.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Begins to serve.
    pub fn open(self, context: ServerContext, settings: WebSettings) -> io::Result<RunningServer> {
        let (closing, told) = watch::channel(false);
        let tls = settings.tls.clone();
        let proxies = settings.trusted_proxies.clone();
        let context = Arc::new(context);
        let native = Arc::new(Native::new(Arc::clone(&context)));
        let tunnel = NativeTunnel::new(Arc::clone(&native));
        let web = Web::new(
            (context, tunnel),
            settings,
            self.addresses.web,
            told.clone(),
        )?;
        let web = Arc::new(web);
        let registry = Arc::clone(web.registry());
        registry.set_own_urls(&web.hosts.urls());
        let follower = registry.follow_events(|error| {
            tracing::warn!(%error, "names cannot be counted; trying again");
        })?;
        let limits = ConnectionLimits::default();
        let native_connections = Connections::new(limits, Vec::new());
        let web_connections = Connections::new(limits, proxies);
        for core in self.cores {
            let connections = (
                Arc::clone(&native_connections),
                Arc::clone(&web_connections),
            );
            let to_udp = Arc::clone(&native);
            let udp = core.udp;
            spawn("handfast-udp", move || udp::run(&to_udp, &udp))?;
            let (runtime, web, native) = (runtime()?, Arc::clone(&web), Arc::clone(&native));
            let (to_tcp, to_web) = (core.native, core.web);
            let told = told.clone();
            spawn("handfast-tcp", move || {
                reuse_snapshots();
                runtime.block_on(async {
                    serve((&native, &web), to_tcp, to_web, connections, &told).await;
                    // Requests continue until the process ends.
                    std::future::pending::<()>().await;
                });
            })?;
        }
        web.renew_certificates(tls)?;
        Ok(RunningServer {
            addresses: self.addresses,
            closing,
            web_connections,
            registry,
            api: Arc::clone(&web.api),
            _follower: follower,
        })
    }
}

/// Takes connections on one core.
async fn serve(
    (native, web): (&Arc<Native>, &Arc<Web>),
    to_tcp: StdListener,
    to_web: StdListener,
    (native_connections, web_connections): (Arc<Connections>, Arc<Connections>),
    closing: &watch::Receiver<bool>,
) {
    let listeners = (TcpListener::from_std(to_tcp), TcpListener::from_std(to_web));
    let (Ok(to_tcp), Ok(to_web)) = listeners else {
        tracing::error!("a socket cannot be listened at");
        return;
    };
    let seen = &web.context.admission.seen_networks;
    let by_native = |stream, client| tcp::serve_connection(Arc::clone(native), stream, client);
    let by_web = |stream, client| http::serve_connection(Arc::clone(web), stream, client);
    tokio::join!(
        accept(to_tcp, native_connections, seen, closing.clone(), by_native),
        accept(to_web, web_connections, seen, closing.clone(), by_web),
    );
}

pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_name("handfast-slow")
        .max_blocking_threads(BLOCKING_THREADS)
        .on_thread_park(snapshot_reuse::end)
        .build()
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name(name.into());
    builder.spawn(run).map(|_| ())
}

/// The listeners of all cores, which share an address, and that address.
fn listen_on(address: SocketAddr, cores: usize) -> io::Result<(SocketAddr, Vec<StdListener>)> {
    if address.port() != 0 {
        // Without this, they would share it with another server, too.
        drop(StdListener::bind(address).map_err(|error| named(address, &error))?);
    }
    // The system chooses no port that is in use, so the first listener holds it for the others.
    let first = listen(address)?;
    let address = first.local_addr()?;
    let others = (1..cores).map(|_| listen(address));
    let all: io::Result<_> = std::iter::once(Ok(first)).chain(others).collect();
    Ok((address, all?))
}

/// A listener that shares its address with those of the other cores.
fn listen(address: SocketAddr) -> io::Result<StdListener> {
    let listen = || {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(ACCEPT_BACKLOG)?;
        Ok(socket.into())
    };
    listen().map_err(|error| named(address, &error))
}

/// How many connections wait to be taken.
const ACCEPT_BACKLOG: i32 = 4_096;

fn named(address: SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot listen at {address}: {error}"))
}

/// Each connection is a file, and what a process may open unless it asks is often 1,024.
fn allow_files() {
    if let Ok((_, max)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // With fewer, connections beyond them wait.
        if let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, max, max) {
            tracing::warn!(%error, "no more files may be open than were allowed");
        }
    }
}
