//! UDP: packets, repeated until a reply comes (`handle-protocol.md` §1.4).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use handfast_wire::{Envelope, Reassembly, packets};
use tokio::net::UdpSocket;
use tokio::time::{Instant, timeout_at};

use super::{Endpoint, Packed, envelope};

/// A request in packets, and a socket that receives from its server only.
#[derive(Debug)]
pub(crate) struct Asked {
    socket: UdpSocket,
    packets: Vec<Vec<u8>>,
    request_id: u32,
}

impl Asked {
    pub(super) async fn new(endpoint: &Endpoint, request: &Packed) -> io::Result<Self> {
        Ok(Self {
            socket: endpoint.connect_by(connected).await?,
            packets: packets(&request.envelope, &request.payload).collect(),
            request_id: request.envelope.request_id,
        })
    }

    /// Sends the request repeatedly until the reply is complete. Packets with other request ids are
    /// ignored.
    pub(super) async fn reply(&mut self) -> io::Result<Packed> {
        let mut reassembly = None;
        for timeout in REPLY_TIMEOUTS {
            for packet in &self.packets {
                self.socket.send(packet).await?;
            }
            let until = Instant::now() + timeout;
            while let Ok(received) = timeout_at(until, self.receive(&mut reassembly)).await {
                if let Some(reply) = received? {
                    return Ok(reply);
                }
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Adds a packet; returns the reply if it is complete.
    async fn receive(&self, reassembly: &mut Option<Reassembly>) -> io::Result<Option<Packed>> {
        // Longer than any packet should be: a longer one is truncated, and then useless.
        let mut buffer = [0; 2_048];
        let length = self.socket.recv(&mut buffer).await?;
        let packet = buffer.get(..length).unwrap_or_default();
        if Envelope::request_id_in(packet) != Some(self.request_id) {
            return Ok(None);
        }
        // A useless packet is ignored as if it had been lost.
        match reassembly {
            None => *reassembly = Reassembly::begin(packet).ok(),
            Some(begun) => {
                if begun.add(packet).is_err() && is_another(begun, packet) {
                    *reassembly = Reassembly::begin(packet).ok();
                }
            }
        }
        Ok(reassembly
            .take_if(|begun| begun.is_complete())
            .and_then(Reassembly::finish)
            .map(|(envelope, payload)| Packed { envelope, payload }))
    }
}

/// Whether a packet belongs to another reply to the same request, such as from a server that was
/// asked twice.
fn is_another(begun: &Reassembly, packet: &[u8]) -> bool {
    envelope(packet).is_ok_and(|envelope| envelope.length != begun.envelope().length)
}

/// A socket that sends to, and receives from, one address only.
async fn connected(address: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = if address.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(address).await?;
    Ok(socket)
}

/// "send, wait 500 ms; resend, wait 1000 ms; resend, wait 1500 ms; then give up on UDP"
const REPLY_TIMEOUTS: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(1_500),
];
