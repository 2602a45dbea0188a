//! Transports: sockets, limits and timeouts.
//!
//! A conversation is a request and its replies. It has no background task: dropping it stops it.

mod http;
mod udp;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use handfast_wire::{Codec, Envelope, Reader};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::target::{Transport, write_host_port};

/// The address of a server, and the transport to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    pub(crate) transport: Transport,
    /// An address, or a host name.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path before handles in HTTP.
    pub(crate) path: String,
}

/// A message with its envelope, encrypted or not.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) envelope: Envelope,
    pub(crate) payload: Vec<u8>,
}

/// A request that was sent, and its replies.
#[derive(Debug)]
pub(crate) enum Conversation {
    Udp(udp::Asked),
    /// "one request per connection. Do not pipeline." (`handle-protocol.md` §13)
    Tcp(TcpStream),
    /// Only one reply fits into an HTTP response.
    Http(Option<Packed>),
}

impl Packed {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.envelope.to_bytes();
        bytes.extend_from_slice(&self.payload);
        bytes
    }

    /// Reads a message that is not in packets.
    async fn receive(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut start = [0; Envelope::LENGTH];
        reader.read_exact(&mut start).await?;
        let envelope = envelope(&start)?;
        let mut payload = Vec::new();
        // Memory is allocated only for bytes that have arrived.
        let mut rest = reader.take(u64::from(envelope.length));
        rest.read_to_end(&mut payload).await?;
        if u32::try_from(payload.len()) != Ok(envelope.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self { envelope, payload })
    }
}

/// Why a conversation failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Whether the server may have received the request.
    pub(crate) was_sent: bool,
    pub(crate) source: io::Error,
}

impl Conversation {
    /// Sends a request about `handle`.
    pub(crate) async fn begin(
        endpoint: &Endpoint,
        handle: &str,
        request: &Packed,
    ) -> Result<Self, Failure> {
        match endpoint.transport {
            Transport::Udp => udp::Asked::new(endpoint, request)
                .await
                .map(Self::Udp)
                .map_err(failed(false)),
            Transport::Tcp => {
                let mut stream = endpoint.connect().await.map_err(failed(false))?;
                let bytes = request.to_bytes();
                let written = in_time(MESSAGE_TIMEOUT, stream.write_all(&bytes)).await;
                written.map(|()| Self::Tcp(stream)).map_err(failed(true))
            }
            Transport::Http => {
                let stream = endpoint.connect().await.map_err(failed(false))?;
                let reply = http::exchange(stream, endpoint, handle, request).await;
                reply
                    .map(|reply| Self::Http(Some(reply)))
                    .map_err(failed(true))
            }
        }
    }

    /// The next reply.
    pub(crate) async fn reply(&mut self) -> Result<Packed, Failure> {
        let reply = match self {
            Self::Udp(asked) => asked.reply().await,
            Self::Tcp(stream) => in_time(MESSAGE_TIMEOUT, Packed::receive(stream)).await,
            Self::Http(reply) => reply
                .take()
                .ok_or_else(|| io::ErrorKind::UnexpectedEof.into()),
        };
        reply.map_err(failed(true))
    }
}

impl Endpoint {
    /// The addresses of the host. A host name may have several.
    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, self.port)]);
        }
        let found = lookup_host((self.host.as_str(), self.port));
        let addresses: Vec<_> = in_time(CONNECT_TIMEOUT, found).await?.collect();
        if addresses.is_empty() {
            let problem = format!("{} has no address", self.host);
            return Err(io::Error::new(io::ErrorKind::NotFound, problem));
        }
        Ok(addresses)
    }

    /// Connects to the first address that accepts.
    async fn connect(&self) -> io::Result<TcpStream> {
        let connect = |address| in_time(CONNECT_TIMEOUT, TcpStream::connect(address));
        let stream = self.connect_by(connect).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn connect_by<T, F: Future<Output = io::Result<T>>>(
        &self,
        connect: impl Fn(SocketAddr) -> F,
    ) -> io::Result<T> {
        let mut last = io::ErrorKind::NotFound.into();
        for address in self.addresses().await? {
            match connect(address).await {
                Ok(connected) => return Ok(connected),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_host_port(f, &self.host, self.port)?;
        write!(f, " over {}", self.transport)
    }
}

/// The envelope at the start of bytes. One that announces more than is allowed is rejected.
fn envelope(bytes: &[u8]) -> io::Result<Envelope> {
    Envelope::decode(&mut Reader::new(bytes))
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

async fn in_time<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(limit, work).await?
}

fn failed(was_sent: bool) -> impl Fn(io::Error) -> Failure {
    move |source| Failure { was_sent, source }
}

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of a whole message.
const MESSAGE_TIMEOUT: Duration = Duration::from_mins(1);
