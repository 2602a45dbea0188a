//! Who a limit counts for: the network that a request comes from, as far as that is known.

use std::net::IpAddr;

use crate::admission::network_of;

/// The network of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Peer {
    /// A network that has shown that it is there, by a handshake of TCP: over the native protocol
    /// or HTTP. Behind trusted proxies, the network of the client.
    Connected(IpAddr),
    /// A datagram. Its source address can be forged, so all datagrams count as one network: with
    /// forged addresses nobody gets more attempts, and nobody uses up those that another network
    /// has over TCP.
    Datagram,
}

impl Peer {
    /// The other end of a connection.
    pub(crate) fn connected(address: IpAddr) -> Self {
        Self::Connected(network_of(address))
    }
}
