//! The times of last use.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use handfast_store::{Store, StoreError, Table, TableKey, Write};

use crate::access::principal::Principal;
use crate::error::RegistryError;
use crate::lookup::derived::environment::{SIDE_MAP_SIZE, is_disposable};
use crate::registry::{Registry, locked};

/// The folder, inside the data folder.
pub(crate) const OBSERVED: &str = "observed";
/// A time of a session or account is written when it is this much later than the last one.
const MIN_INTERVAL_MS: u64 = 300_000;
const DAY_MS: u64 = 86_400_000;
/// Times of sessions are deleted when they are this old. No session lasts so long.
const MAX_SESSION_AGE_MS: u64 = 30 * DAY_MS;
/// The maximum number of times in memory.
const MAX_RECENT: usize = 100_000;

/// The environment, opened at first use, and the times that were written recently.
#[derive(Default)]
pub(crate) struct Observed {
    opened: Mutex<Option<Arc<Store>>>,
    recent: Mutex<HashMap<String, u64>>,
}

impl Registry {
    /// Notes that a token was used, to the day. It does not wait for the disk.
    pub fn note_token_used(&self, id: &str) {
        let day = self.time() / DAY_MS * DAY_MS;
        self.note_time(&token_key(id), day, 1);
    }

    /// The day on which a token was last used: its beginning, in milliseconds since 1970.
    #[must_use]
    pub fn token_last_used(&self, id: &str) -> Option<u64> {
        self.noted_time(&token_key(id))
    }

    /// Notes that a session was used. It does not wait for the disk, and writes at most one time
    /// every five minutes.
    pub fn note_session_seen(&self, id: &str) {
        self.note_time(&session_key(id), self.time(), MIN_INTERVAL_MS);
    }

    /// When a session was last used, to five minutes, in milliseconds since 1970.
    #[must_use]
    pub fn session_last_seen(&self, id: &str) -> Option<u64> {
        self.noted_time(&session_key(id))
    }

    /// Deletes the time of a session that has ended.
    pub fn forget_session_seen(&self, id: &str) {
        let key = session_key(id);
        locked(&self.observed.recent).remove(&key);
        self.write_observed(Write::Delete(seen_key(&key).into_owned()));
    }

    /// Notes that an account did something. It does not wait for the disk, and writes at most one
    /// time every five minutes.
    pub fn note_account_seen(&self, account: &str) {
        self.note_time(&account_key(account), self.time(), MIN_INTERVAL_MS);
    }

    /// When an account last did something, to five minutes, in milliseconds since 1970.
    ///
    /// ```
    /// # use handfast_registry::{Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 7, |b| b.fill(1)))?;
    /// assert_eq!(registry.account_last_seen("ann"), None);
    /// registry.note_account_seen("ann");
    /// assert_eq!(registry.account_last_seen("Ann"), Some(7));
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    #[must_use]
    pub fn account_last_seen(&self, account: &str) -> Option<u64> {
        self.noted_time(&account_key(account))
    }

    fn note_time(&self, key: &str, time: u64, interval: u64) {
        if self.store.is_read_only() {
            return;
        }
        {
            let mut recent = locked(&self.observed.recent);
            let last = recent.get(key).copied();
            if last.is_some_and(|last| time < last.saturating_add(interval)) {
                return;
            }
            if recent.len() >= MAX_RECENT {
                recent.clear();
            }
            recent.insert(key.to_string(), time);
        }
        self.write_observed(Write::put(seen_key(key), &time.to_be_bytes()));
    }

    /// Writes in the background. Nobody waits for it: if it fails, a time of last use is lost.
    fn write_observed(&self, write: Write) {
        if let Ok(store) = self.observed_store() {
            store.submit(move |_| Ok::<_, StoreError>((vec![write], ())), drop);
        }
    }

    fn noted_time(&self, key: &str) -> Option<u64> {
        if let Some(time) = locked(&self.observed.recent).get(key) {
            return Some(*time);
        }
        // A folder that has none is not made by asking.
        if !self.folder().join(OBSERVED).exists() {
            return None;
        }
        let read = |bytes: &[u8]| bytes.try_into().map(u64::from_be_bytes).ok();
        let store = self.observed_store().ok()?;
        let found = store.read(|now| now.get(&seen_key(key), read));
        found.ok()?.flatten()
    }

    /// The environment, opened at first use.
    pub(crate) fn observed_store(&self) -> Result<Arc<Store>, RegistryError> {
        let mut opened = locked(&self.observed.opened);
        if let Some(store) = &*opened {
            return Ok(Arc::clone(store));
        }
        let folder = self.folder().join(OBSERVED);
        let store = if self.store.is_read_only() {
            Store::open_read_only(&folder)?
        } else {
            let store = open(&folder)?;
            delete_old_sessions(&store, self.time());
            store
        };
        Ok(Arc::clone(opened.insert(Arc::new(store))))
    }
}

/// Opens the environment. A damaged one is moved aside, so that its times can still be looked at.
fn open(folder: &Path) -> Result<Store, StoreError> {
    let opened = Store::open_or_create(folder, SIDE_MAP_SIZE);
    let Err(error) = &opened else {
        return opened;
    };
    if !is_disposable(error) {
        return opened;
    }
    let aside = folder.with_extension("damaged");
    let moved = remove(&aside).and_then(|()| fs::rename(folder, &aside));
    moved.map_err(|source| StoreError::Io {
        path: aside,
        source,
    })?;
    Store::open_or_create(folder, SIDE_MAP_SIZE)
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

fn delete_old_sessions(store: &Store, now: u64) {
    let oldest = now.saturating_sub(MAX_SESSION_AGE_MS).to_be_bytes();
    store.submit(
        move |snapshot| {
            let mut writes = Vec::new();
            let from = session_key("");
            snapshot.scan(&seen_key(&from), &mut |table_key, bytes| {
                if !table_key.name().starts_with(from.as_bytes()) {
                    return ControlFlow::Break(());
                }
                if bytes < &oldest[..] {
                    writes.push(Write::Delete(table_key.clone().into_owned()));
                }
                ControlFlow::Continue(())
            })?;
            Ok::<_, StoreError>((writes, ()))
        },
        drop,
    );
}

fn seen_key(key: &str) -> TableKey<'_> {
    TableKey::named(Table::Accounts, key.as_bytes())
}

fn token_key(id: &str) -> String {
    format!("token:{id}")
}

fn session_key(id: &str) -> String {
    format!("session:{id}")
}

/// The key of an account in the registry's environment, too.
fn account_key(account: &str) -> String {
    Principal::Account(account.to_string()).key()
}
