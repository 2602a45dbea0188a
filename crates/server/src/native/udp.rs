//! The native protocol over UDP: one socket for each core, packets cut and put together.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use handfast_wire::{Codec, Envelope, Reader, Reassembly, packets};
use socket2::{Domain, Protocol, Socket, Type};

use crate::native::{Native, Outgoing, Way};

/// The largest packet that is looked at. Clients send at most 512 octets.
const LARGEST: usize = 2_048;
/// How long packets of one message may be apart, in milliseconds.
const PATIENCE: u64 = 5_000;
/// How many octets of messages that are not whole are kept by a socket.
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

/// Answers what comes to a socket, until it fails for good.
pub(crate) fn run(native: &Arc<Native>, socket: &UdpSocket) {
    let mut buffer = [0; LARGEST];
    let mut parts = Parts::default();
    loop {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if is_passing(&error) => continue,
            Err(error) => {
                tracing::error!(%error, "a UDP socket failed");
                return;
            }
        };
        let packet = buffer.get(..length).unwrap_or_default();
        let Some((envelope, payload)) = parts.whole(packet, from.ip(), native.world.now()) else {
            continue;
        };
        for reply in native.answer(envelope, &payload, Way::Udp) {
            send(socket, from, &reply);
        }
    }
}

fn send(socket: &UdpSocket, to: SocketAddr, reply: &Outgoing) {
    for packet in packets(&reply.envelope, &reply.payload) {
        // A client that has gone does not mind.
        drop(socket.send_to(&packet, to));
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
    waiting: HashMap<(IpAddr, u32), (u64, Reassembly)>,
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
        self.make_room(now);
        let key = (from, envelope.request_id);
        let is_whole = if let Some((_, parts)) = self.waiting.get_mut(&key) {
            parts.add(packet).unwrap_or(false)
        } else {
            let parts = Reassembly::begin(packet).ok()?;
            let is_whole = parts.is_complete();
            self.waiting.insert(key, (now, parts));
            is_whole
        };
        if !is_whole {
            return None;
        }
        self.waiting.remove(&key)?.1.finish()
    }

    fn make_room(&mut self, now: u64) {
        self.waiting
            .retain(|_, (began, _)| now.saturating_sub(*began) < PATIENCE);
        let held: usize = self.waiting.values().map(|(_, parts)| parts.held()).sum();
        if held > MOST {
            self.waiting.clear();
        }
    }
}
