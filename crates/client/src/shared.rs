//! The state that all clones of a client share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use handfast_wire::Site;

use crate::cache::Cache;
use crate::environment::Environment;
use crate::roots::Roots;
use crate::session::Sessions;
use crate::target::ServerAddress;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) environment: Environment,
    pub(crate) cache: Cache,
    pub(crate) sessions: Sessions,
    roots: Mutex<Arc<Roots>>,
    /// Site information of servers that were asked by address.
    sites: Mutex<HashMap<ServerAddress, Site>>,
}

impl Shared {
    pub(crate) fn new(environment: Environment, max_answers: usize) -> Self {
        Self {
            environment,
            cache: Cache::new(max_answers),
            sessions: Sessions::default(),
            roots: Mutex::default(),
            sites: Mutex::default(),
        }
    }

    pub(crate) fn roots(&self) -> Arc<Roots> {
        Arc::clone(&lock(&self.roots))
    }

    pub(crate) fn set_roots(&self, roots: Roots) {
        *lock(&self.roots) = Arc::new(roots);
    }

    pub(crate) fn site_of(&self, address: &ServerAddress) -> Option<Site> {
        lock(&self.sites).get(address).cloned()
    }

    pub(crate) fn keep_site(&self, address: &ServerAddress, site: &Site) {
        let mut sites = lock(&self.sites);
        if sites.len() >= MAX_CACHED_SITES {
            sites.clear();
        }
        sites.insert(address.clone(), site.clone());
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const MAX_CACHED_SITES: usize = 1_024;
