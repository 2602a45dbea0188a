//! The native protocol over UDP: one socket for each core, packets cut and put together.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use handfast_registry::reuse_snapshots;
use handfast_wire::{Codec, Envelope, MAX_PACKET, Reader, packets};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::time::Instant;

use crate::admission::expensive_work::{MAX_WAITING_DATAGRAMS, WorkPermit};
use crate::admission::peer::Peer;
use crate::admission::udp_responses::Allowed;
use crate::native::metrics::Dropped;
use crate::native::reassembly::Parts;
use crate::native::remote_handles::Elsewhere;
use crate::native::{Native, Way, Work};
use crate::runtime::snapshot_reuse;

/// The largest packet that is looked at. Clients send at most 512 octets.
const LARGEST: usize = 2_048;

/// A socket that shares its address with others.
pub(crate) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket.set_reuse_port(true)?;
    // A burst is kept, not lost. The system may give less.
    drop(socket.set_recv_buffer_size(4 << 20));
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Answers what comes to a socket, until it fails for good. What has come together is taken together, and
/// answered together: calls of the system cost more than answers.
pub(crate) fn run(native: &Arc<Native>, socket: &UdpSocket) {
    let mut buffers = vec![[0; LARGEST]; TOGETHER];
    let mut headers = MultiHeaders::preallocate(TOGETHER, None);
    let mut parts = Parts::default();
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
        native.meters.received(Way::Udp, octets);
        for (buffer, (length, from)) in buffers.iter().zip(received) {
            let packet = buffer.get(..length).unwrap_or_default();
            let Some((from, ip)) = from.and_then(with_ip) else {
                continue;
            };
            let start = replies.end();
            let answered = catch_unwind(AssertUnwindSafe(|| {
                let Some((envelope, payload)) = parts.whole(packet, ip, || native.world.now())
                else {
                    return;
                };
                // Who has had enough comes back over TCP.
                let seen = &native.admission.seen_networks;
                let Some(allowed) = native.udp_responses.allowed(ip, seen, Instant::now) else {
                    native.meters.dropped(Dropped::Allowance);
                    return;
                };
                if native.answer_quickly(&envelope, &payload, &mut replies.bytes, Way::Udp) {
                    replies.finish(start.0, from);
                } else if native.work_of(&envelope, &payload) == Work::None {
                    replies.answer(native, envelope, &payload, None, from);
                } else {
                    // What signs or waits must not hold others up. When there is too much of it, some is dropped: its
                    // clients ask again.
                    let message = (envelope, payload.into_owned(), from, (ip, allowed));
                    if slow.try_send(message).is_err() {
                        native.meters.dropped(Dropped::Busy);
                    }
                    let cost = SLOW_COST;
                    native.udp_responses.sent(ip, allowed, cost, Instant::now);
                    return;
                }
                replies.account(native, start, (ip, allowed));
            }));
            if answered.is_err() {
                // A panic costs this packet its answer, and no other.
                replies.undo();
            }
        }
        native.meters.sent(Way::Udp, replies.bytes.len());
        snapshot_reuse::end();
        replies.send(socket);
    }
}

/// Packets on their way out, one behind the other.
struct Replies {
    bytes: Vec<u8>,
    /// Where each packet ends, and whom it is for.
    packets: Vec<(usize, SockaddrStorage)>,
    headers: MultiHeaders<SockaddrStorage>,
}

impl Replies {
    fn new() -> Self {
        Self {
            bytes: Vec::new(),
            packets: Vec::new(),
            headers: MultiHeaders::preallocate(TOGETHER, None),
        }
    }

    /// How much there is: bytes, and packets.
    fn end(&self) -> (usize, usize) {
        (self.bytes.len(), self.packets.len())
    }

    /// Counts what was added to the answers of a client; takes it back if it is longer than the client may be sent.
    fn account(&mut self, native: &Native, start: (usize, usize), client: (IpAddr, Allowed)) {
        let (ip, allowed) = client;
        match self.keep_within(start, allowed.max_response) {
            Some(length) => native.udp_responses.sent(ip, allowed, length, Instant::now),
            None => native.meters.dropped(Dropped::Allowance),
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
        for reply in native.answer(envelope, payload, (Way::Udp, Peer::Datagram), permit) {
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

    /// What was appended from `start` on is a message: one packet, or several.
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

    /// Sends them all. One that cannot be sent does not keep those behind it: a client that has gone does not mind,
    /// and others ask again.
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
            let some = slices.len().min(TOGETHER);
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

/// Threads that answer what takes time: some of it may wait for other servers, and must not hold up the rest.
fn workers(native: &Arc<Native>, socket: &UdpSocket) -> io::Result<SyncSender<Slow>> {
    let (give, take) = sync_channel::<Slow>(WAITING);
    let take = Arc::new(Mutex::new(take));
    for _ in 0..WORKERS {
        let (native, socket, take) = (Arc::clone(native), socket.try_clone()?, Arc::clone(&take));
        let work = move || {
            let mut replies = Replies::new();
            let next = || take.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok((envelope, payload, from, client)) = next() {
                let permit = match native.work_of(&envelope, &payload) {
                    Work::Login => {
                        let logins = &native.admission.expensive_work.logins;
                        let Ok(permit) = logins.enter_blocking(Peer::Datagram) else {
                            native.meters.dropped(Dropped::Busy);
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
                native.meters.sent(Way::Udp, replies.bytes.len());
                replies.send(&socket);
            }
        };
        let builder = thread::Builder::new().name("handfast-udp-slow".into());
        builder.spawn(work)?;
    }
    Ok(give)
}

/// How many threads answer what takes time: two more than wait for other servers, or for a permit to log somebody in.
const WORKERS: usize = Elsewhere::MOST + MAX_WAITING_DATAGRAMS + 2;

/// What a message that takes time takes of a network's rate beside its answer, in bytes: for the work.
const SLOW_COST: usize = 1_024;
/// How many messages that take time wait at most.
const WAITING: usize = 256;
/// How many packets are taken, and sent, by one call.
const TOGETHER: usize = 32;

/// Waits for a packet, and takes those that have come with it: how long each is, and whose.
fn receive(
    socket: &UdpSocket,
    headers: &mut MultiHeaders<SockaddrStorage>,
    buffers: &mut [[u8; LARGEST]],
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

/// What says nothing about the socket: somebody else's packet could not be delivered.
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

    /// A long answer went to whoever was written on the datagram as its sender.
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
