//! Memory that networks share: one limit for all of them, and one for each.
//!
//! A pool counts the bytes that clients make the server buffer. A network gets at most its
//! share, so that it cannot take the memory that others wait for.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::admission::network_of;

/// Memory of one kind.
#[derive(Debug)]
pub(crate) struct MemoryPool {
    max_total: usize,
    max_per_network: usize,
    taken: Mutex<Taken>,
    /// A permit was returned.
    returned: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_network: HashMap<IpAddr, usize>,
}

impl MemoryPool {
    pub(crate) fn new(max_total: usize, max_per_network: usize) -> Arc<Self> {
        Arc::new(Self {
            max_total,
            max_per_network,
            taken: Mutex::default(),
            returned: Notify::new(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit for no memory yet, for a client at an address.
    pub(crate) fn permit(self: &Arc<Self>, client: IpAddr) -> MemoryPermit {
        MemoryPermit {
            pool: Arc::clone(self),
            network: network_of(client),
            bytes: 0,
        }
    }

    /// Whether there is so much left for a client.
    pub(crate) fn has_left(&self, client: IpAddr, bytes: usize) -> bool {
        let taken = self.taken();
        let of_network = taken.by_network.get(&network_of(client)).copied();
        taken.total.saturating_add(bytes) <= self.max_total
            && of_network.unwrap_or_default().saturating_add(bytes) <= self.max_per_network
    }

    /// A permit for some memory, if the pool and the client's network have it left. What is longer
    /// than a network's share takes all of the share: it could never be sent otherwise.
    pub(crate) fn try_take(self: &Arc<Self>, client: IpAddr, bytes: usize) -> Option<MemoryPermit> {
        let mut permit = self.permit(client);
        permit
            .try_grow(bytes.min(self.max_per_network))
            .then_some(permit)
    }
}

/// Memory that a client has until this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryPermit {
    pool: Arc<MemoryPool>,
    network: IpAddr,
    bytes: usize,
}

impl MemoryPermit {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds memory to the permit, if there is some left.
    pub(crate) fn try_grow(&mut self, bytes: usize) -> bool {
        let pool = &self.pool;
        let mut taken = pool.taken();
        let total = taken.total.saturating_add(bytes);
        if total > pool.max_total {
            return false;
        }
        let of_network = taken.by_network.get(&self.network).copied();
        let of_network = of_network.unwrap_or_default().saturating_add(bytes);
        if of_network > pool.max_per_network {
            return false;
        }
        taken.total = total;
        taken.by_network.insert(self.network, of_network);
        drop(taken);
        self.bytes += bytes;
        true
    }

    /// Adds memory to the permit, and waits for it until a time; says whether there was some.
    pub(crate) async fn grow(&mut self, bytes: usize, deadline: Instant) -> bool {
        loop {
            let pool = Arc::clone(&self.pool);
            let mut returned = pin!(pool.returned.notified());
            // Memory that is returned between the attempt and the wait counts, too.
            returned.as_mut().enable();
            if self.try_grow(bytes) {
                return true;
            }
            if timeout_at(deadline, returned).await.is_err() {
                return false;
            }
        }
    }

    /// Returns all but so many bytes.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let returned = self.bytes.saturating_sub(bytes);
        if returned == 0 {
            return;
        }
        self.bytes -= returned;
        let mut taken = self.pool.taken();
        taken.total = taken.total.saturating_sub(returned);
        if let Some(of_network) = taken.by_network.get_mut(&self.network) {
            *of_network = of_network.saturating_sub(returned);
            if *of_network == 0 {
                taken.by_network.remove(&self.network);
            }
        }
        drop(taken);
        self.pool.returned.notify_waiters();
    }
}

impl Drop for MemoryPermit {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// One network took all memory, and everybody else waited.
    #[test]
    fn one_network_takes_no_more_than_its_share() {
        let pool = MemoryPool::new(100, 40);
        let first = pool.try_take(ip("192.0.2.1"), 30).unwrap();
        assert!(pool.try_take(ip("192.0.2.1"), 11).is_none());
        let second = pool.try_take(ip("192.0.2.2"), 40).unwrap();
        let third = pool.try_take(ip("2001:db8::1"), 30).unwrap();
        assert!(pool.try_take(ip("2001:db8::2"), 1).is_none());
        drop(second);
        assert!(pool.try_take(ip("2001:db8::2"), 10).is_some());
        assert!(pool.try_take(ip("2001:db8::2"), 11).is_none());
        drop((first, third));
        assert!(pool.taken().by_network.is_empty());
        assert_eq!(pool.taken().total, 0);
        // A request for more than a share takes the whole share.
        assert_eq!(pool.try_take(ip("192.0.2.1"), 1_000).unwrap().bytes(), 40);
    }

    #[test]
    fn who_waits_gets_what_others_return_and_does_not_wait_for_ever() {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(async {
            let pool = MemoryPool::new(100, 100);
            let first = pool.try_take(ip("192.0.2.1"), 80).unwrap();
            let mut second = pool.permit(ip("192.0.2.2"));
            let soon = Instant::now() + Duration::from_millis(20);
            assert!(!second.grow(30, soon).await);
            let later = Instant::now() + Duration::from_mins(1);
            let (grown, ()) = tokio::join!(second.grow(30, later), async {
                tokio::task::yield_now().await;
                drop(first);
            });
            assert!(grown);
            assert_eq!(second.bytes(), 30);
        });
    }
}
