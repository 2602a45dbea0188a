//! Memory for request bodies and long native messages.
//!
//! Bytes count when they arrive, not when they are announced: a client that only announces a
//! long body takes no memory. Anonymous clients share a pool of their own, so that they cannot
//! take the memory of clients that have logged in.

use std::net::IpAddr;
use std::sync::Arc;

use crate::admission::network_of;
use crate::admission::shared_limit::{SharePermit, SharedLimit};

/// How many bytes anonymous clients may have on their way, all together and from one network.
const MAX_ANONYMOUS: usize = 12 << 20;
const MAX_ANONYMOUS_PER_NETWORK: usize = 3 << 20;
/// How many bytes known clients may have on their way, all together and from one network.
const MAX_KNOWN: usize = 40 << 20;
const MAX_KNOWN_PER_NETWORK: usize = 20 << 20;

/// The part of the timeout of clients for which a request waits for memory before it is refused: 5
/// of 30 seconds. It is shorter than the timeout, so that late bodies do not free memory for
/// clients that would be late next.
pub(crate) const MEMORY_TIMEOUT_PART: u32 = 6;
/// How many bytes a known client has to send within the timeout of clients to get more time.
pub(crate) const MIN_BODY_BYTES: usize = 16 << 10;

/// The sender of a body, as far as it is known before the body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    Anonymous,
    Known,
}

/// Memory for bodies.
#[derive(Debug)]
pub(crate) struct BodyMemory {
    anonymous: Arc<SharedLimit<IpAddr>>,
    known: Arc<SharedLimit<IpAddr>>,
}

impl Default for BodyMemory {
    fn default() -> Self {
        Self {
            anonymous: SharedLimit::new(MAX_ANONYMOUS, MAX_ANONYMOUS_PER_NETWORK),
            known: SharedLimit::new(MAX_KNOWN, MAX_KNOWN_PER_NETWORK),
        }
    }
}

impl BodyMemory {
    /// A permit for no memory yet, for the network of a client.
    pub(crate) fn permit(&self, sender: Sender, client: IpAddr) -> SharePermit<IpAddr> {
        let limit = match sender {
            Sender::Anonymous => &self.anonymous,
            Sender::Known => &self.known,
        };
        limit.permit(network_of(client))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five networks used all memory for bodies, so that no client with a token could send one.
    #[test]
    fn anonymous_clients_leave_memory_to_known_ones() {
        let memory = BodyMemory::default();
        let take = |sender, host| {
            let mut permit = memory.permit(sender, [127, 0, 0, host].into());
            permit.try_grow(1 << 20).then_some(permit)
        };
        let attack: Vec<_> = (2..=6)
            .flat_map(|host| (0..300).map(move |_| host))
            .filter_map(|host| take(Sender::Anonymous, host))
            .collect();
        assert_eq!(attack.len(), MAX_ANONYMOUS >> 20);
        assert!(take(Sender::Known, 2).is_some());
    }
}
