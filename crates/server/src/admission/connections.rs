//! Taking connections: not too many, not too many from one place, and each on its own.

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::admission::network_of;

/// How many connections a door has open at most; others wait.
const MOST: usize = 10_000;
/// How many of them come from one place at most: others are closed. So nobody alone can keep everybody out.
const MOST_FROM_ONE: usize = MOST / 5;

/// Room for the connections of one door, on all cores.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    all: Arc<Semaphore>,
    places: Arc<Places>,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MOST)),
            places: Arc::new(Places::default()),
        }
    }

    /// Waits until no connection is open, and none is waited for.
    pub(crate) async fn emptied(&self) {
        let all = u32::try_from(MOST).unwrap_or(u32::MAX);
        drop(self.all.acquire_many(all).await);
    }
}

/// Takes connections, and has each of them conversed with until it ends; none any more once it is said that the server
/// is closing.
pub(crate) async fn accept<C, F>(
    listener: TcpListener,
    room: Room,
    mut closing: watch::Receiver<bool>,
    converse: C,
) where
    C: Fn(TcpStream) -> F,
    F: Future + Send + 'static,
    F::Output: Send,
{
    loop {
        let Ok(place) = Arc::clone(&room.all).acquire_owned().await else {
            return;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Ok(_) = closing.wait_for(|is_closing| *is_closing) => return,
        };
        match accepted {
            Ok((stream, from)) => {
                let Some(guest) = Places::enter(&room.places, from.ip()) else {
                    continue;
                };
                let conversation = converse(stream);
                tokio::spawn(async move {
                    // What goes wrong with one connection concerns nobody else.
                    drop(conversation.await);
                    drop((guest, place));
                });
            }
            Err(error) => {
                // Too many files are open, or the connection has gone: others will come.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// How many connections come from where.
#[derive(Debug, Default)]
struct Places {
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that is counted until it ends.
struct Guest {
    places: Arc<Places>,
    from: IpAddr,
}

impl Places {
    /// One more from an address, unless there are too many.
    fn enter(places: &Arc<Self>, from: IpAddr) -> Option<Guest> {
        let from = network_of(from);
        let mut open = places.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(from).or_default();
        if *count >= MOST_FROM_ONE {
            return None;
        }
        *count += 1;
        let places = Arc::clone(places);
        Some(Guest { places, from })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let open = self.places.open.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_does_not_take_all_the_room() {
        let places = Arc::new(Places::default());
        let enter = |text: &str| Places::enter(&places, text.parse().unwrap());
        let mut guests: Vec<_> = (0..MOST_FROM_ONE)
            .map(|n| enter(&format!("2001:db8::{n:x}")).unwrap())
            .collect();
        assert!(enter("2001:db8::ffff:1").is_none());
        assert!(enter("2001:db8:0:1::1").is_some());
        assert!(enter("192.0.2.1").is_some());
        guests.pop();
        assert!(enter("2001:db8::ffff:1").is_some());
        guests.clear();
        assert!(places.open.lock().unwrap().is_empty());
    }
}
