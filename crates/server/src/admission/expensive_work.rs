//! Work that costs the server more than an answer from the store: how much of it runs, and who
//! waits for it.
//!
//! A login with PBKDF2, a signature or Diffie–Hellman costs the server milliseconds of a
//! processor, and the client nothing. So such work needs one of a few permits. Clients wait for
//! a permit without occupying a thread, in one queue for each network, and the networks get
//! permits in rotation. Queues are bounded; when all are full, the largest one gives up its
//! oldest client. A client that disconnects leaves its queue.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::admission::peer::Peer;
use crate::runtime::blocking::BLOCKING_THREADS;
use crate::runtime::lock::Lock;

/// How long a client waits for a permit.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How many datagrams wait for a permit: each occupies a thread of its socket meanwhile.
pub(crate) const MAX_WAITING_DATAGRAMS: usize = 2;

/// The queues of all expensive work.
#[derive(Debug)]
pub(crate) struct ExpensiveWork {
    /// Logins: PBKDF2, signatures of clients, Diffie–Hellman. One for two cores, so that everything
    /// else goes on.
    pub(crate) logins: WorkQueue,
    /// Passwords of accounts. Each hash takes 19 MiB, and the registry computes two at once.
    pub(crate) passwords: WorkQueue,
    /// Steps of TLS handshakes, which sign. They are done on the threads of sockets, so that one
    /// core is left.
    pub(crate) handshakes: WorkQueue,
    /// Answers that are signed on request. They are short, and many at once keep all cores busy.
    pub(crate) signatures: WorkQueue,
    /// Requests that wait for the disk, or take long to answer: as many as there are threads for
    /// them. A network that sends thousands of them waits for itself, and not before everybody
    /// else.
    pub(crate) requests: WorkQueue,
}

impl Default for ExpensiveWork {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            logins: WorkQueue::new((cores / 2).max(1), 256, 64),
            passwords: WorkQueue::new(2, 256, 64),
            handshakes: WorkQueue::new((cores - 1).max(1), 4_096, 1_024),
            signatures: WorkQueue::new(cores * 4, 16_384, 4_096),
            requests: WorkQueue::new(cores * BLOCKING_THREADS, 16_384, 4_096),
        }
    }
}

/// Permits for one kind of work, and those who wait for them.
#[derive(Clone, Debug)]
pub(crate) struct WorkQueue {
    shared: Arc<Shared>,
}

/// The queue is full, or did not move: the client should try again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// Leave to do work, until it is dropped.
#[derive(Debug)]
pub(crate) struct WorkPermit {
    /// `None` if the permit was taken back before anybody had it.
    shared: Option<Arc<Shared>>,
}

#[derive(Debug)]
struct Shared {
    max_running: usize,
    max_waiting: usize,
    max_waiting_of_peer: usize,
    state: Lock<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    running: usize,
    /// No queue in here is empty.
    queues: HashMap<Peer, VecDeque<Waiter>>,
    /// The rotation: each peer that has a queue, once.
    round_robin: VecDeque<Peer>,
    waiting: usize,
    next_number: u64,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    sender: oneshot::Sender<WorkPermit>,
}

/// A place in a queue, which is left when this is dropped.
struct WaitingClient {
    shared: Arc<Shared>,
    peer: Peer,
    number: u64,
}

enum Entered {
    Permit(WorkPermit),
    Waiting(WaitingClient, oneshot::Receiver<WorkPermit>),
}

impl WorkQueue {
    fn new(max_running: usize, max_waiting: usize, max_waiting_of_peer: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                max_running,
                max_waiting,
                max_waiting_of_peer,
                state: Lock::default(),
            }),
        }
    }

    /// Waits for a permit. A caller that stops waiting leaves the queue.
    pub(crate) async fn enter(&self, peer: Peer) -> Result<WorkPermit, Busy> {
        match self.ask(peer)? {
            Entered::Permit(permit) => Ok(permit),
            Entered::Waiting(_place, receiver) => {
                let permit = timeout(WAIT_TIMEOUT, receiver).await;
                permit.ok().and_then(Result::ok).ok_or(Busy)
            }
        }
    }

    /// Waits for a permit on a thread that serves nobody else. Never call this on a thread of a
    /// runtime.
    pub(crate) fn enter_blocking(&self, peer: Peer) -> Result<WorkPermit, Busy> {
        match self.ask(peer)? {
            Entered::Permit(permit) => Ok(permit),
            Entered::Waiting(_place, receiver) => receiver.blocking_recv().map_err(|_| Busy),
        }
    }

    /// A permit, if there is one now.
    pub(crate) fn try_enter(&self) -> Result<WorkPermit, Busy> {
        let mut state = self.shared.state.lock();
        if state.running >= self.shared.max_running {
            return Err(Busy);
        }
        state.running += 1;
        Ok(self.permit())
    }

    fn permit(&self) -> WorkPermit {
        WorkPermit {
            shared: Some(Arc::clone(&self.shared)),
        }
    }

    fn ask(&self, peer: Peer) -> Result<Entered, Busy> {
        let mut state = self.shared.state.lock();
        if state.running < self.shared.max_running {
            state.running += 1;
            return Ok(Entered::Permit(self.permit()));
        }
        let max = match peer {
            Peer::Connected(_) => self.shared.max_waiting_of_peer,
            Peer::Datagram => MAX_WAITING_DATAGRAMS,
        };
        let own = state.queues.get(&peer).map_or(0, VecDeque::len);
        if own >= max || state.waiting >= self.shared.max_waiting && !state.shorten_largest(own) {
            return Err(Busy);
        }
        let (sender, receiver) = oneshot::channel();
        let number = state.next_number;
        state.next_number += 1;
        state.waiting += 1;
        if own == 0 {
            state.round_robin.push_back(peer);
        }
        let queue = state.queues.entry(peer).or_default();
        queue.push_back(Waiter { number, sender });
        let place = WaitingClient {
            shared: Arc::clone(&self.shared),
            peer,
            number,
        };
        Ok(Entered::Waiting(place, receiver))
    }
}

impl QueueState {
    /// Takes the first waiter of the next peer.
    fn next(&mut self) -> Option<Waiter> {
        let peer = self.round_robin.pop_front()?;
        let queue = self.queues.get_mut(&peer)?;
        let waiter = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&peer);
        } else {
            self.round_robin.push_back(peer);
        }
        self.waiting -= usize::from(waiter.is_some());
        waiter
    }

    /// Refuses the last waiter of the largest queue, if that is longer than the caller's will be.
    fn shorten_largest(&mut self, own: usize) -> bool {
        let largest = self.queues.iter().max_by_key(|(_, queue)| queue.len());
        let Some((peer, number)) = largest
            .filter(|(_, queue)| queue.len() > own + 1)
            .and_then(|(peer, queue)| Some((*peer, queue.back()?.number)))
        else {
            return false;
        };
        self.remove(peer, number);
        true
    }

    fn remove(&mut self, peer: Peer, number: u64) {
        let Some(queue) = self.queues.get_mut(&peer) else {
            return;
        };
        let before = queue.len();
        queue.retain(|waiter| waiter.number != number);
        self.waiting -= before - queue.len();
        if queue.is_empty() {
            self.queues.remove(&peer);
            self.round_robin.retain(|next| *next != peer);
        }
    }
}

impl Drop for WaitingClient {
    fn drop(&mut self) {
        self.shared.state.lock().remove(self.peer, self.number);
    }
}

impl Drop for WorkPermit {
    /// The permit goes to the next client in the queue; if that client has just disconnected, to
    /// the one after it.
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else {
            return;
        };
        let mut state = shared.state.lock();
        while let Some(waiter) = state.next() {
            let permit = Self {
                shared: Some(Arc::clone(&shared)),
            };
            match waiter.sender.send(permit) {
                Ok(()) => return,
                // Dropped as it is, it would come here again.
                Err(mut permit) => permit.shared = None,
            }
        }
        state.running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Entering<'q> = Pin<Box<dyn Future<Output = Result<WorkPermit, Busy>> + 'q>>;

    fn peer(number: u8) -> Peer {
        Peer::connected([192, 0, 2, number].into())
    }

    fn poll(entering: &mut Entering<'_>) -> Poll<Result<WorkPermit, Busy>> {
        let mut context = Context::from_waker(Waker::noop());
        entering.as_mut().poll(&mut context)
    }

    /// One that waits.
    fn enter(queue: &WorkQueue, number: u8) -> Entering<'_> {
        let mut entering: Entering<'_> = Box::pin(queue.enter(peer(number)));
        assert!(poll(&mut entering).is_pending());
        entering
    }

    fn is_busy(queue: &WorkQueue, number: u8) -> bool {
        let mut entering: Entering<'_> = Box::pin(queue.enter(peer(number)));
        matches!(poll(&mut entering), Poll::Ready(Err(Busy)))
    }

    /// 64 requests whose connections were closed at once were computed for 20 minutes.
    #[tokio::test]
    async fn clients_that_have_gone_have_left_the_queue() {
        let queue = WorkQueue::new(1, 100, 100);
        let running = queue.enter(peer(1)).await.unwrap();
        let gone: Vec<_> = (0..64).map(|_| enter(&queue, 2)).collect();
        let mut waits = enter(&queue, 3);
        drop(gone);
        assert_eq!(queue.shared.state.lock().waiting, 1);
        drop(running);
        let permit = poll(&mut waits);
        assert!(matches!(permit, Poll::Ready(Ok(_))));
        drop((permit, waits));
        let state = queue.shared.state.lock();
        assert_eq!((state.running, state.waiting), (0, 0));
        assert!(state.queues.is_empty() && state.round_robin.is_empty());
    }

    #[tokio::test]
    async fn a_permit_whose_client_goes_when_it_comes_is_not_lost() {
        let queue = WorkQueue::new(1, 100, 100);
        let running = queue.enter(peer(1)).await.unwrap();
        let (sent, mut waits) = (enter(&queue, 2), enter(&queue, 3));
        // It is on its way to the second, who is not there to take it.
        drop(running);
        drop(sent);
        assert!(matches!(poll(&mut waits), Poll::Ready(Ok(_))));
        drop(waits);
        assert_eq!(queue.shared.state.lock().running, 0);
    }

    /// A network that asks much would keep all others waiting.
    #[tokio::test]
    async fn networks_alternate_and_the_largest_queue_gives_way() {
        let queue = WorkQueue::new(1, 10, 8);
        let mut running = Some(queue.enter(peer(1)).await.unwrap());
        let mut many: Vec<_> = (0..8).map(|_| enter(&queue, 1)).collect();
        assert!(is_busy(&queue, 1));
        let mut two = [enter(&queue, 2), enter(&queue, 2)];
        // The queue is full: the last client of the first network is evicted.
        let mut other = enter(&queue, 3);
        assert!(matches!(poll(&mut many[7]), Poll::Ready(Err(Busy))));
        let mut order = Vec::new();
        for _ in 0..4 {
            drop(running.take());
            let waiters = many.iter_mut().take(7).map(|waiter| (1, waiter));
            let others = two.iter_mut().map(|waiter| (2, waiter));
            for (number, waiter) in waiters.chain(others).chain([(3, &mut other)]) {
                if running.is_none()
                    && !order.contains(&(std::ptr::from_ref(waiter), number))
                    && let Poll::Ready(Ok(permit)) = poll(waiter)
                {
                    running = Some(permit);
                    order.push((std::ptr::from_ref(waiter), number));
                }
            }
        }
        let order: Vec<_> = order.iter().map(|(_, number)| *number).collect();
        assert_eq!(order, [1, 2, 3, 1]);
    }

    #[test]
    fn datagrams_wait_on_few_threads() {
        let queue = WorkQueue::new(1, 100, 100);
        let running = queue.enter_blocking(Peer::Datagram).unwrap();
        assert!(queue.try_enter().is_err());
        std::thread::scope(|scope| {
            for _ in 0..MAX_WAITING_DATAGRAMS {
                scope.spawn(|| queue.enter_blocking(Peer::Datagram).unwrap());
            }
            while queue.shared.state.lock().waiting < MAX_WAITING_DATAGRAMS {
                std::thread::yield_now();
            }
            assert!(matches!(queue.enter_blocking(Peer::Datagram), Err(Busy)));
            drop(running);
        });
        assert!(queue.try_enter().is_ok());
    }
}
