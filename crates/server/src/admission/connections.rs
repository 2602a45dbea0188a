//! Accepting connections: one limit for all of them, and one for each network.
//!
//! The server accepts a new connection first. When a limit is exceeded, it closes the
//! connection that has been idle for the longest time, of the network that has the most
//! connections. A connection is idle while the server waits for its client: before the first
//! request, between two requests, and in the middle of a request that does not arrive. A
//! connection whose request is being worked on is not idle.
//!
//! A connection notes its last activity in an atomic of its own, so that requests on open
//! connections take no lock. The server looks through the connections only when there are too
//! many, and then closes several at once.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nix::libc::{EMFILE, ENFILE};
use slab::Slab;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::admission::network::Network;
use crate::admission::network_of;
use crate::admission::seen_networks::SeenNetworks;
use crate::runtime::lock::Lock;

/// How many connections a listener has open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    pub(crate) total: usize,
    /// From one IPv4 address, or one /64 of IPv6.
    pub(crate) per_network: usize,
    /// From one /48 of IPv6: a provider gives a client as many networks as that.
    pub(crate) per_site: usize,
    /// Connections that take ten times the memory of others: with TLS, or with requests that the
    /// fast path leaves.
    pub(crate) large: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            total: 10_000,
            per_network: 2_000,
            per_site: 4_000,
            large: 4_000,
        }
    }
}

/// How many idle connections are closed at once: looking through all of them is dear.
const MAX_RECLAIMED: usize = 128;
/// How often the server looks whether connections have ended, when it is about to end itself.
const DRAIN_INTERVAL: Duration = Duration::from_millis(10);

/// The connections of one listener, on all cores.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: ConnectionLimits,
    /// Proxies, which have many clients behind them: for these only the total counts.
    proxies: Vec<Network>,
    epoch: Instant,
    open: Lock<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    /// How many connections there have been.
    count: u64,
    entries: Slab<ConnectionEntry>,
    by_network: HashMap<IpAddr, usize>,
    by_site: HashMap<IpAddr, usize>,
    large: usize,
}

/// Where a connection is listed. A connection that was closed for another one does not know it, and
/// its slot may be in use again: the number tells them apart.
#[derive(Clone, Copy, Debug)]
struct ConnectionId {
    slot: usize,
    number: u64,
}

#[derive(Debug)]
struct ConnectionEntry {
    number: u64,
    network: IpAddr,
    is_proxy: bool,
    is_large: bool,
    activity: Arc<Activity>,
}

/// When a connection last moved, and whether the server works for it.
#[derive(Debug)]
pub(crate) struct Activity {
    epoch: Instant,
    /// In milliseconds since the epoch.
    last: AtomicU64,
    /// Requests that were begun and not answered.
    working: AtomicU32,
    /// Of these, the requests whose bodies have not arrived.
    receiving: AtomicU32,
    task: OnceLock<AbortHandle>,
}

impl Activity {
    pub(crate) fn new(epoch: Instant, now: Instant) -> Self {
        let activity = Self {
            epoch,
            last: AtomicU64::new(0),
            working: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            task: OnceLock::new(),
        };
        activity.touch(now);
        activity
    }

    /// Something passed over the connection.
    pub(crate) fn touch(&self, now: Instant) {
        let since = now.saturating_duration_since(self.epoch).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        self.last.store(since, Ordering::Relaxed);
    }

    /// A request is worked on until the guard is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Working {
        self.working.fetch_add(1, Ordering::Relaxed);
        Working(Arc::clone(self))
    }

    /// The server waits for the body of a request until the guard is dropped.
    pub(crate) fn receive(self: &Arc<Self>) -> Receiving {
        self.receiving.fetch_add(1, Ordering::Relaxed);
        Receiving(Arc::clone(self))
    }

    fn is_idle(&self) -> bool {
        self.working.load(Ordering::Relaxed) <= self.receiving.load(Ordering::Relaxed)
    }
}

/// A request that is worked on.
pub(crate) struct Working(Arc<Activity>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.touch(Instant::now());
        self.0.working.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that is waited for.
pub(crate) struct Receiving(Arc<Activity>);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.receiving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A client that has connected. Its connection counts until this is dropped.
pub(crate) struct ClientConnection {
    pub(crate) address: SocketAddr,
    pub(crate) activity: Arc<Activity>,
    connections: Arc<Connections>,
    id: ConnectionId,
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        if open.entry(self.id).is_some() {
            open.remove(self.id.slot);
        }
    }
}

impl ClientConnection {
    /// From here on the connection takes much memory: others that do make place for it.
    pub(crate) fn becomes_large(&self) {
        self.connections.enlarge(self.id);
    }
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits, proxies: Vec<Network>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            proxies,
            epoch: Instant::now(),
            open: Lock::default(),
        })
    }

    /// Waits until no connection is open.
    pub(crate) async fn drained(&self) {
        while !self.open.lock().entries.is_empty() {
            tokio::time::sleep(DRAIN_INTERVAL).await;
        }
    }

    /// A place for a connection, for which idle ones are closed at a limit; `None` if all others
    /// are worked for.
    fn enter(self: &Arc<Self>, address: SocketAddr, now: Instant) -> Option<ClientConnection> {
        let network = network_of(address.ip());
        let is_proxy = self
            .proxies
            .iter()
            .any(|proxy| proxy.contains(address.ip()));
        let mut open = self.open.lock();
        open.count_network(network);
        let is_full = open.entries.len() >= self.limits.total;
        let has_place = (is_proxy || open.make_place(network, self.limits))
            && (!is_full || open.reclaim(|_| true));
        if !has_place {
            open.discount_network(network);
            return None;
        }
        let activity = Arc::new(Activity::new(self.epoch, now));
        let number = open.count;
        open.count += 1;
        let slot = open.entries.insert(ConnectionEntry {
            number,
            network,
            is_proxy,
            is_large: false,
            activity: Arc::clone(&activity),
        });
        drop(open);
        Some(ClientConnection {
            address,
            activity,
            connections: Arc::clone(self),
            id: ConnectionId { slot, number },
        })
    }

    fn enlarge(&self, id: ConnectionId) {
        let mut open = self.open.lock();
        if open.entry(id).is_none_or(|entry| entry.is_large) {
            return;
        }
        if open.large >= self.limits.large {
            // If all of them are worked for, there are as many more as the total allows.
            open.reclaim(|entry| entry.is_large);
        }
        if let Some(entry) = open.entry(id) {
            entry.is_large = true;
            open.large += 1;
        }
    }
}

impl OpenConnections {
    fn entry(&mut self, id: ConnectionId) -> Option<&mut ConnectionEntry> {
        let entry = self.entries.get_mut(id.slot)?;
        (entry.number == id.number).then_some(entry)
    }

    /// Closes idle connections of a network, or of its site, that has one too many; says whether
    /// it has its place now.
    fn make_place(&mut self, network: IpAddr, limits: ConnectionLimits) -> bool {
        let is_over = |count: Option<&usize>, limit| count.is_some_and(|count| *count > limit);
        if is_over(self.by_network.get(&network), limits.per_network)
            && !self.reclaim(|entry| entry.network == network)
        {
            return false;
        }
        site_of(network).is_none_or(|site| {
            !is_over(self.by_site.get(&site), limits.per_site)
                || self.reclaim(|entry| site_of(entry.network) == Some(site))
        })
    }

    fn count_network(&mut self, network: IpAddr) {
        *self.by_network.entry(network).or_default() += 1;
        if let Some(site) = site_of(network) {
            *self.by_site.entry(site).or_default() += 1;
        }
    }

    fn discount_network(&mut self, network: IpAddr) {
        decrement(&mut self.by_network, network);
        if let Some(site) = site_of(network) {
            decrement(&mut self.by_site, site);
        }
    }

    /// Closes some of the connections that have been idle longest: those of proxies last, and of
    /// the others first those of the network that has the most. Says whether there were any.
    fn reclaim(&mut self, is_meant: impl Fn(&ConnectionEntry) -> bool) -> bool {
        let meant = self.entries.iter().filter(|(_, entry)| is_meant(entry));
        let mut idle: Vec<_> = meant
            .filter(|(_, entry)| entry.activity.is_idle())
            .map(|(slot, entry)| {
                let of_network = self.by_network.get(&entry.network).copied();
                let last = entry.activity.last.load(Ordering::Relaxed);
                // Of those that moved in one millisecond, the one that came first.
                (
                    entry.is_proxy,
                    Reverse(of_network),
                    last,
                    entry.number,
                    slot,
                )
            })
            .collect();
        // A sixteenth at most, so that few lose connections where few are allowed.
        let count = (idle.len() / 16).clamp(1, MAX_RECLAIMED);
        if count < idle.len() {
            idle.select_nth_unstable(count - 1);
            idle.truncate(count);
        }
        for (.., slot) in &idle {
            if let Some(task) = self.remove(*slot).activity.task.get() {
                task.abort();
            }
        }
        !idle.is_empty()
    }

    fn remove(&mut self, slot: usize) -> ConnectionEntry {
        let entry = self.entries.remove(slot);
        self.large -= usize::from(entry.is_large);
        self.discount_network(entry.network);
        entry
    }
}

fn decrement(counts: &mut HashMap<IpAddr, usize>, key: IpAddr) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// The /48 of an IPv6 network.
fn site_of(network: IpAddr) -> Option<IpAddr> {
    match network {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => Some(IpAddr::V6((u128::from(v6) >> 80 << 80).into())),
    }
}

/// Accepts connections, and has each of them served until it ends; none any more once the server is
/// closing.
pub(crate) async fn accept<C, F>(
    listener: TcpListener,
    connections: Arc<Connections>,
    seen: &SeenNetworks,
    mut closing: watch::Receiver<bool>,
    serve: C,
) where
    C: Fn(TcpStream, ClientConnection) -> F,
    F: Future + Send + 'static,
    F::Output: Send,
{
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Ok(_) = closing.wait_for(|is_closing| *is_closing) => return,
        };
        match accepted {
            Ok((stream, address)) => {
                let now = Instant::now();
                seen.note(address.ip(), now);
                // All others are worked for: the client hears at once that it has to come again.
                let Some(client) = connections.enter(address, now) else {
                    continue;
                };
                let activity = Arc::clone(&client.activity);
                // An error of one connection does not affect others.
                let task = tokio::spawn(serve(stream, client));
                // No other task sets it.
                drop(activity.task.set(task.abort_handle()));
            }
            Err(error) => {
                // Too many files are open, or the connection has gone: others will come.
                tracing::warn!(%error, "a connection could not be accepted");
                // `EMFILE`, `ENFILE`: the process, or the machine, has too many files open.
                if matches!(error.raw_os_error(), Some(EMFILE | ENFILE)) {
                    connections.open.lock().reclaim(|_| true);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        total: 10,
        per_network: 4,
        per_site: 6,
        large: 2,
    };

    fn enter(connections: &Arc<Connections>, text: &str) -> Option<ClientConnection> {
        // Later ones have moved later.
        let count = u32::try_from(connections.open.lock().count).unwrap();
        let now = connections.epoch + Duration::from_secs(1) * count;
        let address = SocketAddr::new(text.parse().unwrap(), 0);
        connections.enter(address, now)
    }

    fn several(connections: &Arc<Connections>, count: usize, text: &str) -> Vec<ClientConnection> {
        let enter = |_| enter(connections, text).unwrap();
        (0..count).map(enter).collect()
    }

    fn is_open(place: &ClientConnection) -> bool {
        place.connections.open.lock().entry(place.id).is_some()
    }

    /// Idle connections of five networks blocked all others.
    #[test]
    fn the_oldest_idle_connection_of_the_largest_network_is_closed() {
        let connections = Connections::new(LIMITS, Vec::new());
        let small = enter(&connections, "192.0.2.9").unwrap();
        let first = several(&connections, 4, "192.0.2.1");
        let second = several(&connections, 4, "192.0.2.2");
        let third = enter(&connections, "192.0.2.3").unwrap();
        assert_eq!(connections.open.lock().entries.len(), LIMITS.total);
        // Longest idle is the one of the small network, which stays.
        let alice = enter(&connections, "192.0.2.10").unwrap();
        assert!(is_open(&small) && is_open(&third) && is_open(&alice));
        assert!(!is_open(&first[0]) && is_open(&first[1]));
        // One that moves again is not the longest idle.
        let now = connections.epoch + Duration::from_secs(100);
        second[0].activity.touch(now);
        let bob = enter(&connections, "192.0.2.11").unwrap();
        assert!(is_open(&second[0]) && !is_open(&second[1]) && is_open(&bob));
        drop((small, first, second, third, alice, bob));
        let open = connections.open.lock();
        assert!(open.entries.is_empty() && open.by_network.is_empty());
    }

    #[test]
    fn a_connection_whose_request_is_worked_on_is_not_closed() {
        let connections = Connections::new(LIMITS, Vec::new());
        let permits = several(&connections, 4, "192.0.2.1");
        let working: Vec<_> = permits.iter().map(|place| place.activity.work()).collect();
        assert!(enter(&connections, "192.0.2.1").is_none());
        assert!(enter(&connections, "192.0.2.2").is_some());
        // A request whose body does not arrive is not worked on.
        let receiving = permits[2].activity.receive();
        assert!(enter(&connections, "192.0.2.1").is_some());
        assert!(!is_open(&permits[2]) && is_open(&permits[0]));
        drop((working, receiving));
    }

    #[test]
    fn connections_that_take_much_memory_make_place_for_each_other() {
        let connections = Connections::new(LIMITS, Vec::new());
        let permits: Vec<_> = (1..=4)
            .map(|host| enter(&connections, &format!("192.0.2.{host}")).unwrap())
            .collect();
        for place in &permits[1..] {
            connections.enlarge(place.id);
            connections.enlarge(place.id);
        }
        assert!(is_open(&permits[0]) && !is_open(&permits[1]));
        assert!(is_open(&permits[2]) && is_open(&permits[3]));
        drop(permits);
        assert_eq!(connections.open.lock().large, 0);
    }

    /// A connection that found no place waited until others ended.
    #[tokio::test]
    async fn a_new_connection_is_served_while_idle_ones_fill_the_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = SeenNetworks::default();
        let (_open, closing) = watch::channel(false);
        let connections = Connections::new(LIMITS, Vec::new());
        let echo = |mut stream: TcpStream, client: ClientConnection| async move {
            let mut byte = [0];
            stream.read_exact(&mut byte).await?;
            let _working = client.activity.work();
            stream.write_all(&byte).await
        };
        let asking = async {
            let mut idle = Vec::new();
            for _ in 0..20 {
                idle.push(TcpStream::connect(address).await.unwrap());
                let mut asking = TcpStream::connect(address).await.unwrap();
                asking.write_all(b"x").await.unwrap();
                assert_eq!(asking.read_u8().await.unwrap(), b'x');
            }
            // The first of the idle ones was closed, and the last was not.
            assert_eq!(idle[0].read(&mut [0]).await.unwrap(), 0);
            let last = idle[19].try_read(&mut [0]).unwrap_err();
            assert_eq!(last.kind(), std::io::ErrorKind::WouldBlock);
        };
        tokio::select! {
            () = accept(listener, connections, &seen, closing, echo) => panic!("it ended"),
            () = asking => {}
        }
    }

    #[test]
    fn networks_of_ipv6_are_counted_alone_and_in_groups() {
        let connections = Connections::new(LIMITS, Vec::new());
        let one: Vec<_> = (1..=4)
            .map(|host| enter(&connections, &format!("2001:db8::{host}")).unwrap())
            .collect();
        let fifth = enter(&connections, "2001:db8::5").unwrap();
        assert!(!is_open(&one[0]) && is_open(&one[1]));
        let other = several(&connections, 2, "2001:db8:0:1::1");
        let third = enter(&connections, "2001:db8:0:2::1").unwrap();
        assert!(!is_open(&one[1]) && other.iter().all(is_open));
        assert_eq!(connections.open.lock().by_site.len(), 1);
        assert!(enter(&connections, "2001:db8:1::1").is_some());
        drop((one, fifth, other, third));
        assert!(connections.open.lock().by_site.is_empty());
    }

    /// Everybody behind a proxy had the connections of one client.
    #[test]
    fn a_trusted_proxy_has_all_connections_and_loses_them_last() {
        let trusted = vec!["192.0.2.0/28".parse().unwrap()];
        let connections = Connections::new(LIMITS, trusted);
        let proxied = several(&connections, 9, "192.0.2.1");
        let other = enter(&connections, "198.51.100.1").unwrap();
        let next = enter(&connections, "192.0.2.1").unwrap();
        assert!(proxied.iter().all(is_open) && is_open(&next));
        assert!(!is_open(&other));
        assert!(enter(&connections, "198.51.100.1").is_some());
        assert!(!is_open(&proxied[0]) && is_open(&proxied[1]));
    }
}
