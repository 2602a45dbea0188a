//! The state that all clones of a client share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

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
    roots: RwLock<Arc<Roots>>,
    /// Site information of servers that were asked by address.
    sites: Mutex<HashMap<ServerAddress, Site>>,
}

impl Shared {
    pub(crate) fn new(environment: Environment, max_answers: usize) -> Self {
        Self {
            environment,
            cache: Cache::new(max_answers),
            sessions: Sessions::default(),
            roots: RwLock::default(),
            sites: Mutex::default(),
        }
    }

    pub(crate) fn roots(&self) -> Arc<Roots> {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&roots)
    }

    pub(crate) fn set_roots(&self, roots: Roots) {
        let mut roots_slot = self.roots.write().unwrap_or_else(PoisonError::into_inner);
        *roots_slot = Arc::new(roots);
    }

    pub(crate) fn site_of(&self, address: &ServerAddress) -> Option<Site> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.get(address).cloned()
    }

    pub(crate) fn keep_site(&self, address: &ServerAddress, site: &Site) {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if sites.len() >= MAX_CACHED_SITES {
            sites.clear();
        }
        sites.insert(address.clone(), site.clone());
    }
}

const MAX_CACHED_SITES: usize = 1_024;
