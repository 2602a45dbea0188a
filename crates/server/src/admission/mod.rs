//! Admission: how much work, memory and network the server gives to each client.
//!
//! The native protocol, HTTP and the API ask here before they do anything that costs more than an
//! answer from the store. Limits go by network ([`network_of`]) for anonymous clients and by
//! account for known ones.

pub(crate) mod body_memory;
pub(crate) mod connections;
pub(crate) mod expensive_work;
pub(crate) mod network;
pub(crate) mod peer;
pub(crate) mod seen_networks;
pub(crate) mod shared_limit;
pub(crate) mod table_shares;
pub(crate) mod udp_responses;

use std::net::IpAddr;
use std::sync::Arc;

use self::body_memory::BodyMemory;
use self::expensive_work::ExpensiveWork;
use self::seen_networks::SeenNetworks;
use self::shared_limit::SharedLimit;
use self::udp_responses::{UdpLimits, UdpResponses};

/// How many bytes of long answers wait until clients read them: of all networks, and of one.
const MAX_UNREAD: usize = 20 << 20;
pub(crate) const MAX_UNREAD_PER_NETWORK: usize = 3 << 20;

/// The limits that the native protocol, HTTP and the API share.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Cryptography for clients that are not known yet.
    pub(crate) expensive_work: ExpensiveWork,
    /// Memory for request bodies and long messages.
    pub(crate) body_memory: BodyMemory,
    /// Memory for long answers that clients have not read.
    pub(crate) response_memory: Arc<SharedLimit<IpAddr>>,
    /// Networks that have connected over TCP lately.
    pub(crate) seen_networks: SeenNetworks,
    /// Responses over UDP.
    pub(crate) udp_responses: UdpResponses,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            expensive_work: ExpensiveWork::default(),
            body_memory: BodyMemory::default(),
            response_memory: SharedLimit::new(MAX_UNREAD, MAX_UNREAD_PER_NETWORK),
            seen_networks: SeenNetworks::default(),
            udp_responses: UdpResponses::new(UdpLimits::default()),
        }
    }
}

/// The network that an address belongs to: the address itself for IPv4, its first 64 bits for IPv6,
/// because one client has all 2⁶⁴ addresses of such a network.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}
