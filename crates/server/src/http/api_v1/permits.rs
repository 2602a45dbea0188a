//! How many requests of a kind are worked on at once.
//!
//! The memory that one request needs while its answer is made is bounded; this bounds it for all of
//! them. A request waits for as long as others compute, and never for a client.

use std::sync::{Condvar, Mutex, PoisonError};

/// So many at a time.
pub(super) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

/// One of them, until it is dropped.
pub(super) struct Permit<'p>(&'p Permits);

impl Permits {
    pub(super) const fn new(count: usize) -> Self {
        Self {
            free: Mutex::new(count),
            freed: Condvar::new(),
        }
    }

    /// Waits until one is free.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let free = self.0.free.lock();
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_are_worked_on_at_once() {
        let permits = Permits::new(2);
        let (now, maximum) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _permit = permits.acquire();
                    let open = now.fetch_add(1, Ordering::SeqCst) + 1;
                    maximum.fetch_max(open, Ordering::SeqCst);
                    thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(maximum.load(Ordering::SeqCst) <= 2);
        drop(permits.acquire());
    }
}
