//! A limit that clients share: one for all of them, and one for each.
//!
//! It counts the bytes that networks make the server buffer, or the streams that accounts have
//! open. A client gets at most its share, so that it cannot take what others wait for.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::runtime::lock::Lock;

/// A limit for one kind of thing, by client.
#[derive(Debug)]
pub(crate) struct SharedLimit<K> {
    max_total: usize,
    max_per_client: usize,
    taken: Lock<Taken<K>>,
    /// A permit was returned.
    returned: Notify,
}

#[derive(Debug)]
struct Taken<K> {
    total: usize,
    by_client: HashMap<K, usize>,
}

impl<K: Clone + Eq + Hash> SharedLimit<K> {
    pub(crate) fn new(max_total: usize, max_per_client: usize) -> Arc<Self> {
        Arc::new(Self {
            max_total,
            max_per_client,
            taken: Lock::new(Taken {
                total: 0,
                by_client: HashMap::new(),
            }),
            returned: Notify::new(),
        })
    }

    /// A permit for nothing yet.
    pub(crate) fn permit(self: &Arc<Self>, client: K) -> SharePermit<K> {
        SharePermit {
            limit: Arc::clone(self),
            client,
            count: 0,
        }
    }

    /// Whether there is so much left for a client.
    pub(crate) fn has_left(&self, client: &K, count: usize) -> bool {
        self.has_beside(&self.taken.lock(), client, count)
    }

    fn has_beside(&self, taken: &Taken<K>, client: &K, count: usize) -> bool {
        let of_client = taken.by_client.get(client).copied().unwrap_or_default();
        taken.total.saturating_add(count) <= self.max_total
            && of_client.saturating_add(count) <= self.max_per_client
    }

    /// A permit, if there is so much left for the client. More than a client's share takes all of
    /// the share: it could never be had otherwise.
    pub(crate) fn try_take(self: &Arc<Self>, client: K, count: usize) -> Option<SharePermit<K>> {
        let mut permit = self.permit(client);
        permit
            .try_grow(count.min(self.max_per_client))
            .then_some(permit)
    }
}

/// What a client has until this is dropped.
#[derive(Debug)]
pub(crate) struct SharePermit<K: Clone + Eq + Hash> {
    limit: Arc<SharedLimit<K>>,
    client: K,
    count: usize,
}

impl<K: Clone + Eq + Hash> SharePermit<K> {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Adds to the permit, if there is so much left.
    pub(crate) fn try_grow(&mut self, count: usize) -> bool {
        let mut taken = self.limit.taken.lock();
        if !self.limit.has_beside(&taken, &self.client, count) {
            return false;
        }
        taken.total += count;
        *taken.by_client.entry(self.client.clone()).or_default() += count;
        self.count += count;
        true
    }

    /// Adds to the permit, and waits for it until a time; says whether there was so much.
    pub(crate) async fn grow(&mut self, count: usize, deadline: Instant) -> bool {
        loop {
            let limit = Arc::clone(&self.limit);
            let mut returned = pin!(limit.returned.notified());
            // What is returned between the attempt and the wait counts, too.
            returned.as_mut().enable();
            if self.try_grow(count) {
                return true;
            }
            if timeout_at(deadline, returned).await.is_err() {
                return false;
            }
        }
    }

    /// Returns all but so much.
    pub(crate) fn shrink_to(&mut self, count: usize) {
        let returned = self.count.saturating_sub(count);
        if returned == 0 {
            return;
        }
        self.count -= returned;
        let mut taken = self.limit.taken.lock();
        taken.total -= returned;
        if let Some(of_client) = taken.by_client.get_mut(&self.client) {
            *of_client -= returned;
            if *of_client == 0 {
                taken.by_client.remove(&self.client);
            }
        }
        drop(taken);
        self.limit.returned.notify_waiters();
    }
}

impl<K: Clone + Eq + Hash> Drop for SharePermit<K> {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// One network took all memory, and everybody else waited.
    #[test]
    fn one_client_takes_no_more_than_its_share() {
        let limit = SharedLimit::new(100, 40);
        let first = limit.try_take("a", 30).unwrap();
        assert!(limit.try_take("a", 11).is_none());
        let second = limit.try_take("b", 40).unwrap();
        let third = limit.try_take("c", 30).unwrap();
        assert!(limit.try_take("c", 1).is_none() && !limit.has_left(&"c", 1));
        drop(second);
        assert!(limit.try_take("c", 10).is_some() && limit.has_left(&"c", 10));
        assert!(limit.try_take("c", 11).is_none());
        drop((first, third));
        assert!(limit.taken.lock().by_client.is_empty());
        assert_eq!(limit.taken.lock().total, 0);
        // A request for more than a share takes the whole share.
        assert_eq!(limit.try_take("a", 1_000).unwrap().count(), 40);
    }

    #[tokio::test]
    async fn who_waits_gets_what_others_return_and_does_not_wait_for_ever() {
        let limit = SharedLimit::new(100, 100);
        let first = limit.try_take("a", 80).unwrap();
        let mut second = limit.permit("b");
        let soon = Instant::now() + Duration::from_millis(20);
        assert!(!second.grow(30, soon).await);
        let later = Instant::now() + Duration::from_mins(1);
        let (grown, ()) = tokio::join!(second.grow(30, later), async {
            tokio::task::yield_now().await;
            drop(first);
        });
        assert!(grown);
        assert_eq!(second.count(), 30);
    }
}
