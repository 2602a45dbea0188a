//! Admission: how much work, memory and network the server gives to each client.
//!
//! The native protocol, HTTP and the API ask here before they do anything that costs more than an answer from the
//! store. Limits go by network ([`network_of`]) for anonymous clients and by account for known ones.

pub(crate) mod body_memory;
pub(crate) mod connections;
pub(crate) mod expensive_work;
pub(crate) mod failed_logins;
pub(crate) mod memory_pool;
pub(crate) mod peer;
pub(crate) mod pending_responses;
pub(crate) mod seen_networks;
pub(crate) mod table_shares;
pub(crate) mod udp_responses;

use std::net::IpAddr;
use std::sync::Arc;

use self::body_memory::BodyMemory;
use self::expensive_work::ExpensiveWork;
use self::failed_logins::FailedLogins;
use self::memory_pool::MemoryPool;
use self::seen_networks::SeenNetworks;

/// The limits that the native protocol, HTTP and the API share.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Logins that failed, over every interface.
    pub(crate) failed_logins: FailedLogins,
    /// Cryptography for clients that are not known yet.
    pub(crate) expensive_work: ExpensiveWork,
    /// Memory for request bodies and long messages.
    pub(crate) body_memory: BodyMemory,
    /// Memory for long answers that clients have not read.
    pub(crate) response_memory: Arc<MemoryPool>,
    /// Networks that have connected over TCP lately.
    pub(crate) seen_networks: SeenNetworks,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            failed_logins: FailedLogins::default(),
            expensive_work: ExpensiveWork::default(),
            body_memory: BodyMemory::default(),
            response_memory: pending_responses::pool(),
            seen_networks: SeenNetworks::default(),
        }
    }
}

/// The network that an address belongs to: the address itself for IPv4, its first 64 bits for IPv6, because one
/// client has all 2⁶⁴ addresses of such a network.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}
