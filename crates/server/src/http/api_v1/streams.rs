//! How many bodies of any length are on their way at once.
//!
//! Each has a thread that waits for it, for as long as something comes or goes: so there are few of
//! them, and fewer for one account.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hyper::StatusCode;

use super::problem::Problem;

/// Of all accounts together; there are more threads, so that some are left for everything else.
const MAX_STREAMS: usize = 8;
/// Of one account.
const MAX_PER_ACCOUNT: usize = 3;

/// Those on their way, by account.
#[derive(Default)]
pub(super) struct Streams(Mutex<HashMap<String, usize>>);

/// One of them, until it is dropped.
pub(super) struct Stream<'s> {
    streams: &'s Streams,
    account: String,
}

impl Streams {
    pub(super) fn enter(&self, account: String) -> Result<Stream<'_>, Problem> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.get(&account).copied().unwrap_or_default();
        if own >= MAX_PER_ACCOUNT || open.values().sum::<usize>() >= MAX_STREAMS {
            let message = "others are being sent and taken already: come again later";
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return Err(Problem::new(status, "busy", message));
        }
        open.insert(account.clone(), own + 1);
        Ok(Stream {
            streams: self,
            account,
        })
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        let open = self.streams.0.lock();
        let mut open = open.unwrap_or_else(PoisonError::into_inner);
        match open.get_mut(&self.account) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(open.remove(&self.account)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_account_takes_all_streams() {
        let streams = Streams::default();
        let enter = |account: &str| streams.enter(account.to_string());
        let mut open: Vec<_> = (0..MAX_PER_ACCOUNT)
            .map(|_| enter("ann").unwrap())
            .collect();
        assert!(enter("ann").is_err());
        open.extend((MAX_PER_ACCOUNT..MAX_STREAMS).map(|n| enter(&n.to_string()).unwrap()));
        assert!(enter("bob").is_err());
        open.remove(0);
        drop(enter("ann").unwrap());
        open.clear();
        assert!(streams.0.lock().unwrap().is_empty());
    }
}
