//! The native protocol over UDP: one socket for each core; long messages take several
//! datagrams.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use handfast_registry::reuse_snapshots;
use handfast_wire::{Codec, Envelope, MAX_PACKET, Reader, packets};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::time::Instant;

use crate::admission::expensive_work::{MAX_WAITING_DATAGRAMS, WorkPermit};
use crate::admission::peer::Peer;
use crate::admission::udp_responses::Allowed;
use crate::auth::remote_servers::RemoteServers;
use crate::native::reassembly::MessageParts;
use crate::native::{MessageWork, Native};
use crate::runtime::lock::Lock;
use crate::runtime::native_metrics::Dropped;
use crate::runtime::native_metrics::Transport;
use crate::runtime::snapshot_reuse;

/// The largest packet that is looked at. Clients send at most 512 octets.
const MAX_DATAGRAM: usize = 2_048;

/// A socket that shares its address with others.
pub(crate) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket.set_reuse_port(true)?;
    // A large buffer absorbs bursts. The system may give less.
    drop(socket.set_recv_buffer_size(4 << 20));
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Answers what comes to a socket, until it fails for good. What has come together is taken
/// together, and answered together: calls of the system cost more than answers.
pub(crate) fn run(native: &Arc<Native>, socket: &UdpSocket) {
    let mut buffers = vec![[0; MAX_DATAGRAM]; DATAGRAM_BATCH];
    let mut headers = MultiHeaders::preallocate(DATAGRAM_BATCH, None);
    let mut parts = MessageParts::default();
    let mut replies = Replies::new();
    let Ok(slow) = workers(native, socket) else {
        tracing::error!("no thread could be started for a UDP socket");
        return;
    };
    reuse_snapshots();
    loop {
        let received = match receive(socket, &mut headers, &mut buffers) {
            Ok(received) => received,
            Err(error) if is_passing(&error) => continue,
            Err(error) => {
                tracing::error!(%error, "a UDP socket failed");
                return;
            }
        };
        let octets = received.iter().map(|(length, _)| *length).sum();
        native.context.metrics.received(Transport::Udp, octets);
        for (buffer, (length, from)) in buffers.iter().zip(received) {
            let packet = buffer.get(..length).unwrap_or_default();
            let Some((from, ip)) = from.and_then(with_ip) else {
                continue;
            };
            let start = replies.end();
            let answered = catch_unwind(AssertUnwindSafe(|| {
                let Some((envelope, payload)) =
                    parts.whole(packet, ip, || native.context.world.now())
                else {
                    return;
                };
                // A client above the rate limit comes back over TCP.
                let admission = &native.context.admission;
                let (seen, responses) = (&admission.seen_networks, &admission.udp_responses);
                let Some(allowed) = responses.allowed(ip, seen, Instant::now) else {
                    native.context.metrics.dropped(Dropped::RateLimit);
                    return;
                };
                if native.answer_fast(&envelope, &payload, &mut replies.bytes, Transport::Udp) {
                    replies.finish(start.0, from);
                } else if native.work_of(&envelope, &payload) == MessageWork::None {
                    replies.answer(native, envelope, &payload, None, from);
                } else {
                    // What signs or waits must not hold others up. When there is too much of it,
                    // some is dropped: its clients ask again.
                    let message = (envelope, payload.into_owned(), from, (ip, allowed));
                    if slow.try_send(message).is_err() {
                        native.context.metrics.dropped(Dropped::Busy);
                    }
                    responses.sent(ip, allowed, SLOW_COST, Instant::now);
                    return;
                }
                replies.account(native, start, (ip, allowed));
            }));
            if answered.is_err() {
                // A panic costs this packet its answer, and no other.
                replies.undo();
            }
        }
        native
            .context
            .metrics
            .sent(Transport::Udp, replies.bytes.len());
        snapshot_reuse::end();
        replies.send(socket);
    }
}

/// Packets on their way out, one behind the other.
struct Replies {
    bytes: Vec<u8>,
    /// The end of each datagram, and its receiver.
    packets: Vec<(usize, SockaddrStorage)>,
    headers: MultiHeaders<SockaddrStorage>,
}

impl Replies {
    fn new() -> Self {
        Self {
            bytes: Vec::new(),
            packets: Vec::new(),
            headers: MultiHeaders::preallocate(DATAGRAM_BATCH, None),
        }
    }

    /// How much there is: bytes, and packets.
    fn end(&self) -> (usize, usize) {
        (self.bytes.len(), self.packets.len())
    }

    /// Counts what was added to the answers of a client; takes it back if it is longer than the
    /// client may be sent.
    fn account(&mut self, native: &Native, start: (usize, usize), client: (IpAddr, Allowed)) {
        let (ip, allowed) = client;
        match self.keep_within(start, allowed.max_response) {
            Some(length) => {
                let responses = &native.context.admission.udp_responses;
                responses.sent(ip, allowed, length, Instant::now);
            }
            None => native.context.metrics.dropped(Dropped::RateLimit),
        }
    }

    /// How many bytes were added; `None` if they were too many, and have been taken back.
    fn keep_within(&mut self, start: (usize, usize), max: usize) -> Option<usize> {
        let length = self.bytes.len().saturating_sub(start.0);
        if length > max {
            self.bytes.truncate(start.0);
            self.packets.truncate(start.1);
            return None;
        }
        Some(length)
    }

    /// Adds the answer to a message.
    fn answer(
        &mut self,
        native: &Native,
        envelope: Envelope,
        payload: &[u8],
        permit: Option<WorkPermit>,
        to: SockaddrStorage,
    ) {
        for reply in native.answer(envelope, payload, (Transport::Udp, Peer::Datagram), permit) {
            let start = self.bytes.len();
            reply.write(&mut self.bytes);
            self.finish(start, to);
        }
    }

    /// Forgets what was appended and is no packet yet.
    fn undo(&mut self) {
        let end = self.packets.last().map_or(0, |(end, _)| *end);
        self.bytes.truncate(end);
    }

    /// Ends the message that begins at `start`: one datagram, or several.
    fn finish(&mut self, start: usize, to: SockaddrStorage) {
        let message = self.bytes.get(start..).unwrap_or_default();
        if message.len() > MAX_PACKET {
            let message = message.to_vec();
            self.bytes.truncate(start);
            let (envelope, payload) = message.split_at(Envelope::LENGTH);
            let Ok(envelope) = Envelope::decode(&mut Reader::new(envelope)) else {
                return;
            };
            for packet in packets(&envelope, payload) {
                self.bytes.extend_from_slice(&packet);
                self.packets.push((self.bytes.len(), to));
            }
            return;
        }
        self.packets.push((self.bytes.len(), to));
    }

    /// Sends them all. One that cannot be sent does not keep those behind it: a client that has
    /// gone does not mind, and others ask again.
    fn send(&mut self, socket: &UdpSocket) {
        let mut start = 0;
        let slices = self.packets.iter().map(|(end, _)| {
            let packet = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            [IoSlice::new(packet)]
        });
        let slices: Vec<_> = slices.collect();
        let addresses: Vec<_> = self.packets.iter().map(|(_, to)| Some(*to)).collect();
        let (mut slices, mut addresses) = (&*slices, &*addresses);
        while !slices.is_empty() {
            let some = slices.len().min(DATAGRAM_BATCH);
            let sent = sendmmsg(
                socket.as_raw_fd(),
                &mut self.headers,
                slices.get(..some).unwrap_or_default(),
                addresses.get(..some).unwrap_or_default(),
                [],
                MsgFlags::empty(),
            );
            let done = match sent {
                Ok(sent) => sent.count().max(1),
                Err(error) => {
                    tracing::debug!(%error, "a packet could not be sent");
                    1
                }
            };
            slices = slices.get(done..).unwrap_or_default();
            addresses = addresses.get(done..).unwrap_or_default();
        }
        self.bytes.clear();
        self.packets.clear();
    }
}

/// A message that takes time, and who sent it.
type Slow = (Envelope, Vec<u8>, SockaddrStorage, (IpAddr, Allowed));

/// Threads that answer what takes time: some of it may wait for other servers, and must not hold up
/// the rest.
fn workers(native: &Arc<Native>, socket: &UdpSocket) -> io::Result<SyncSender<Slow>> {
    let (give, take) = sync_channel::<Slow>(MAX_WAITING_MESSAGES);
    let take = Arc::new(Lock::new(take));
    for _ in 0..WORKERS {
        let (native, socket, take) = (Arc::clone(native), socket.try_clone()?, Arc::clone(&take));
        let work = move || {
            let mut replies = Replies::new();
            let next = || take.lock().recv();
            while let Ok((envelope, payload, from, client)) = next() {
                let permit = match native.work_of(&envelope, &payload) {
                    MessageWork::Login => {
                        let logins = &native.context.admission.expensive_work.logins;
                        let Ok(permit) = logins.enter_blocking(Peer::Datagram) else {
                            native.context.metrics.dropped(Dropped::Busy);
                            continue;
                        };
                        Some(permit)
                    }
                    _ => None,
                };
                let start = replies.end();
                let answered = catch_unwind(AssertUnwindSafe(|| {
                    replies.answer(&native, envelope, &payload, permit, from);
                }));
                if answered.is_err() {
                    replies.undo();
                }
                replies.account(&native, start, client);
                native
                    .context
                    .metrics
                    .sent(Transport::Udp, replies.bytes.len());
                replies.send(&socket);
            }
        };
        let builder = thread::Builder::new().name("handfast-udp-slow".into());
        builder.spawn(work)?;
    }
    Ok(give)
}

/// How many threads answer slow messages: two more than may wait for remote servers, or for a
/// permit to log in.
const WORKERS: usize = RemoteServers::MAX_REQUESTS + MAX_WAITING_DATAGRAMS + 2;

/// How many bytes of a network's rate a slow message costs, beside its response.
const SLOW_COST: usize = 1_024;
/// How many slow messages may wait.
const MAX_WAITING_MESSAGES: usize = 256;
/// How many packets are taken, and sent, by one call.
const DATAGRAM_BATCH: usize = 32;

/// Waits for a packet, and takes those that have come with it: how long each is, and whose.
fn receive(
    socket: &UdpSocket,
    headers: &mut MultiHeaders<SockaddrStorage>,
    buffers: &mut [[u8; MAX_DATAGRAM]],
) -> io::Result<Vec<(usize, Option<SockaddrStorage>)>> {
    let mut slices: Vec<_> = buffers
        .iter_mut()
        .map(|buffer| [IoSliceMut::new(buffer)])
        .collect();
    let flags = MsgFlags::MSG_WAITFORONE;
    let received = recvmmsg(socket.as_raw_fd(), headers, slices.iter_mut(), flags, None)?;
    Ok(received
        .map(|packet| (packet.bytes, packet.address))
        .collect())
}

/// An address, and the part of it that tells one machine from another.
fn with_ip(address: SockaddrStorage) -> Option<(SockaddrStorage, IpAddr)> {
    let ip = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
        (Some(v4), _) => IpAddr::V4(v4.ip()),
        (None, Some(v6)) => IpAddr::V6(v6.ip()),
        (None, None) => return None,
    };
    Some((address, ip))
}

/// Whether an error is about a single datagram and not about the socket.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long answer went to the forged sender of a datagram.
    #[test]
    fn an_answer_that_is_too_long_is_taken_back_alone() {
        let to = SockaddrStorage::from(SocketAddr::from(([192, 0, 2, 1], 2641)));
        let mut replies = Replies::new();
        replies.bytes.extend_from_slice(&[0; 100]);
        replies.finish(0, to);
        let start = replies.end();
        let envelope = Envelope::new(handfast_wire::Version::CURRENT);
        envelope.encode(&mut replies.bytes);
        replies.bytes.extend_from_slice(&[0; 5_000]);
        replies.finish(start.0, to);
        assert!(replies.packets.len() > 2);
        let length = replies.bytes.len() - start.0;
        assert_eq!(replies.keep_within(start, length), Some(length));
        assert_eq!(replies.keep_within(start, 4_096), None);
        assert_eq!(replies.end(), (100, 1));
    }
}
