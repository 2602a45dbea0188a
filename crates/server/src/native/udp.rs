//! The native protocol over UDP: one socket for each core, packets cut and put together.

use std::collections::HashMap;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use handfast_wire::{Codec, Envelope, Reader, Reassembly, packets};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, sendmmsg};
use socket2::{Domain, Protocol, Socket, Type};

use crate::native::{Native, Way, is_quick};

/// The largest packet that is looked at. Clients send at most 512 octets.
const LARGEST: usize = 2_048;
/// How long packets of one message may be apart, in milliseconds.
const PATIENCE: u64 = 5_000;
/// How many octets of messages that are not whole are kept by a socket, about.
const MOST: usize = 4 << 20;

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
    let mut replies = Vec::with_capacity(TOGETHER);
    let Ok(slow) = workers(native, socket) else {
        tracing::error!("no thread could be started for a UDP socket");
        return;
    };
    loop {
        let received = match receive(socket, &mut headers, &mut buffers) {
            Ok(received) => received,
            Err(error) if is_passing(&error) => continue,
            Err(error) => {
                tracing::error!(%error, "a UDP socket failed");
                return;
            }
        };
        for (buffer, (length, from)) in buffers.iter().zip(received) {
            let packet = buffer.get(..length).unwrap_or_default();
            let Some((from, ip)) = from.and_then(with_ip) else {
                continue;
            };
            let Some((envelope, payload)) = parts.whole(packet, ip, native.world.now()) else {
                continue;
            };
            // What signs or waits must not hold others up. When there is too much of it, some is dropped: its
            // clients ask again.
            if envelope.flags.is_encrypted || !is_quick(&payload) {
                drop(slow.try_send((envelope, payload, from)));
                continue;
            }
            replies.extend(answer(native, envelope, &payload, from));
        }
        send(socket, &replies);
        replies.clear();
    }
}

/// The packets of an answer.
fn answer(
    native: &Native,
    envelope: Envelope,
    payload: &[u8],
    to: SockaddrStorage,
) -> Vec<(Vec<u8>, SockaddrStorage)> {
    let mut out = Vec::new();
    for reply in native.answer(envelope, payload, Way::Udp) {
        let packets = packets(&reply.envelope, &reply.payload);
        out.extend(packets.map(|packet| (packet, to)));
    }
    out
}

/// A message that takes time, and who sent it.
type Slow = (Envelope, Vec<u8>, SockaddrStorage);

/// Threads that answer what takes time.
fn workers(native: &Arc<Native>, socket: &UdpSocket) -> io::Result<SyncSender<Slow>> {
    let (give, take) = sync_channel::<Slow>(WAITING);
    let (native, socket) = (Arc::clone(native), socket.try_clone()?);
    thread::Builder::new()
        .name("handfast-udp-slow".into())
        .spawn(move || {
            for (envelope, payload, from) in take {
                send(&socket, &answer(&native, envelope, &payload, from));
            }
        })?;
    Ok(give)
}

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

fn send(socket: &UdpSocket, replies: &[(Vec<u8>, SockaddrStorage)]) {
    for some in replies.chunks(TOGETHER) {
        let slices: Vec<_> = some
            .iter()
            .map(|(packet, _)| [IoSlice::new(packet)])
            .collect();
        let addresses: Vec<_> = some.iter().map(|(_, to)| Some(*to)).collect();
        let mut headers = MultiHeaders::preallocate(some.len(), None);
        let sent = sendmmsg(
            socket.as_raw_fd(),
            &mut headers,
            &slices,
            &addresses,
            [],
            MsgFlags::empty(),
        );
        // A client that has gone does not mind; one whose packet could not be sent asks again.
        if let Err(error) = sent {
            tracing::debug!(%error, "packets could not be sent");
        }
    }
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

/// Messages that are not whole yet, by who sends them and their request id.
#[derive(Default)]
struct Parts {
    waiting: HashMap<(IpAddr, u32), Part>,
    /// What they hold, about.
    held: usize,
}

/// A message that is not whole yet.
struct Part {
    began: u64,
    held: usize,
    parts: Reassembly,
}

impl Parts {
    /// The message that a packet is, or makes whole.
    fn whole(&mut self, packet: &[u8], from: IpAddr, now: u64) -> Option<(Envelope, Vec<u8>)> {
        let envelope = Envelope::decode(&mut Reader::new(packet)).ok()?;
        let payload = packet.get(Envelope::LENGTH..)?;
        let length = usize::try_from(envelope.length).ok()?;
        // What is there beyond the message is ignored.
        if let Some(payload) = payload.get(..length) {
            return Some((envelope, payload.to_vec()));
        }
        let key = (from, envelope.request_id);
        let held = payload.len() + OVERHEAD;
        if self.held + held > MOST {
            self.make_room(now);
        }
        let is_whole = match self.waiting.get_mut(&key) {
            Some(part) if now.saturating_sub(part.began) < PATIENCE => {
                part.held += held;
                part.parts.add(packet).unwrap_or(false)
            }
            _ => {
                self.remove(&key);
                let parts = Reassembly::begin(packet).ok()?;
                let is_whole = parts.is_complete();
                let part = Part {
                    began: now,
                    held,
                    parts,
                };
                self.waiting.insert(key, part);
                is_whole
            }
        };
        self.held += held;
        if !is_whole {
            return None;
        }
        self.remove(&key)?.parts.finish()
    }

    fn remove(&mut self, key: &(IpAddr, u32)) -> Option<Part> {
        let part = self.waiting.remove(key)?;
        self.held = self.held.saturating_sub(part.held);
        Some(part)
    }

    /// Looks at everything, so it is for when much has come since the last time: what is outdated goes, and if
    /// that is not half of it, everything.
    fn make_room(&mut self, now: u64) {
        self.waiting
            .retain(|_, part| now.saturating_sub(part.began) < PATIENCE);
        self.held = self.waiting.values().map(|part| part.held).sum();
        if self.held > MOST / 2 {
            self.waiting.clear();
            self.held = 0;
        }
    }
}

/// What a packet that is kept costs beyond its octets, about.
const OVERHEAD: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const SOMEONE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn piece(request_id: u32, sequence: u32, length: u32, octets: usize) -> Vec<u8> {
        let mut packet = Vec::new();
        let envelope = Envelope {
            request_id,
            sequence,
            length,
            ..Envelope::new(handfast_wire::Version::CURRENT)
        };
        envelope.encode(&mut packet);
        packet.resize(packet.len() + octets, 0);
        packet
    }

    /// Each piece cost a look at all others, and small ones were counted by their octets alone.
    #[test]
    fn pieces_without_an_end_take_bounded_memory() {
        let mut parts = Parts::default();
        for request_id in 0..200_000 {
            let packet = piece(request_id, 0, 262_144, usize::from(request_id % 2 == 0));
            assert!(parts.whole(&packet, SOMEONE, 0).is_none());
            assert!(parts.held <= MOST);
        }
        assert!(parts.waiting.len() <= MOST / OVERHEAD);
    }

    #[test]
    fn a_message_is_put_together_among_others_and_is_forgotten_then() {
        let mut parts = Parts::default();
        assert!(parts.whole(&piece(1, 0, 600, 492), SOMEONE, 0).is_none());
        assert!(parts.whole(&piece(2, 0, 600, 492), SOMEONE, 0).is_none());
        let (envelope, payload) = parts.whole(&piece(1, 1, 600, 108), SOMEONE, 1).unwrap();
        assert_eq!((envelope.request_id, payload.len()), (1, 600));
        assert_eq!(parts.held, 492 + OVERHEAD);
    }

    #[test]
    fn pieces_too_far_apart_are_not_put_together() {
        let mut parts = Parts::default();
        assert!(parts.whole(&piece(1, 0, 600, 492), SOMEONE, 0).is_none());
        assert!(
            parts
                .whole(&piece(1, 1, 600, 108), SOMEONE, PATIENCE)
                .is_none()
        );
        assert_eq!(parts.waiting.len(), 1);
    }
}
