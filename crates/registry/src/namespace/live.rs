//! The rules of namespaces in memory.
//!
//! Entries are few and used often, so all of them are in memory. They form a *generation*: the
//! number of the last event that changed an entry. Interfaces use the newest generation on disk. A
//! snapshot, and a change that is being decided, use the one that they see themselves, so that no
//! name is ever stored under outdated rules.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use handfast_id::{HttpResolver, Namespace, Namespaces, RuleBook, Rules};
use handfast_store::{Snapshot, Store, Table, TableKey};

use super::entry::NamespaceEntry;
use super::seeds::seeds;
use super::stored::{ENTRY, LAST_CHANGE, StoredNamespace};
use crate::error::RegistryError;

/// All rules: the configured ones, and the entries of the registry.
pub(crate) struct NamespaceRules {
    pub(crate) base: RuleBook,
    newest: RwLock<Arc<NamespaceGeneration>>,
    public: RwLock<Option<PublicRules>>,
    /// The configured resolvers and those of this server, once it knows its addresses.
    resolvers: OnceLock<Vec<HttpResolver>>,
}

/// All entries after an event.
pub(crate) struct NamespaceGeneration {
    /// The number of the last event that changed one; 0 if none did.
    pub(crate) number: u64,
    /// All entries, by name.
    pub(crate) entries: Vec<Arc<NamespaceEntry>>,
    /// The rules of all entries that were ever registered: keys do not depend on whether they still
    /// are.
    pub(crate) rules: Namespaces,
}

/// The rules that interfaces use to read identifiers.
struct PublicRules {
    generation: u64,
    /// When the next provisional entry expires.
    until: Option<u64>,
    rules: Arc<RuleBook>,
}

impl NamespaceRules {
    pub(crate) fn new(base: RuleBook) -> Self {
        Self::of(base, NamespaceGeneration::original())
    }

    /// The same entries with other configured rules.
    pub(crate) fn with_base(&self, base: RuleBook) -> Self {
        Self::of(base, self.newest())
    }

    fn of(base: RuleBook, newest: Arc<NamespaceGeneration>) -> Self {
        Self {
            base,
            newest: RwLock::new(newest),
            public: RwLock::new(None),
            resolvers: OnceLock::new(),
        }
    }

    /// The configured resolvers, and those of this server.
    pub(crate) fn resolvers(&self) -> &[HttpResolver] {
        self.resolvers
            .get()
            .map_or_else(|| self.base.resolvers(), Vec::as_slice)
    }

    /// Adds the base URLs of this server as resolvers.
    pub(crate) fn set_own_urls(&self, bases: &[String]) {
        let own = bases.iter().filter_map(|base| HttpResolver::own(base).ok());
        let configured = self.base.resolvers().iter().cloned();
        let all = configured.chain(own.flatten()).collect();
        // A server that is started twice in one process keeps its first addresses.
        drop(self.resolvers.set(all));
    }

    /// The newest entries.
    pub(crate) fn newest(&self) -> Arc<NamespaceGeneration> {
        Arc::clone(&self.newest.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the newest entries from disk.
    pub(crate) fn refresh(&self, store: &Store) -> Result<(), RegistryError> {
        let current = store.read(|now| Ok(self.at(now)))??;
        let mut newest = self.newest.write().unwrap_or_else(PoisonError::into_inner);
        // This snapshot is older than the newest entries: drop it.
        if current.number > newest.number {
            *newest = current;
        }
        Ok(())
    }

    /// The entries of a snapshot. They are not cached: a change may see entries that are never
    /// committed.
    pub(crate) fn at(&self, now: &Snapshot<'_>) -> Result<Arc<NamespaceGeneration>, RegistryError> {
        let newest = self.newest();
        let number = last_change(now)?;
        if number == newest.number {
            return Ok(newest);
        }
        if number == 0 {
            return Ok(NamespaceGeneration::original());
        }
        Ok(Arc::new(NamespaceGeneration::read(number, now, &newest)?))
    }

    /// The rules at a time, for reading identifiers.
    pub(crate) fn public_rules(&self, now: u64) -> Arc<RuleBook> {
        let newest = self.newest();
        {
            let known = self.public.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = &*known
                && known.generation == newest.number
                && known.until.is_none_or(|until| now < until)
            {
                return Arc::clone(&known.rules);
            }
        }
        let mut live = Namespaces::default();
        let mut until: Option<u64> = None;
        for entry in &newest.entries {
            if let Some(rules) = newest.rules.get(entry.name()) {
                let rules = rules.clone();
                let is_live = entry.is_live(now);
                live.insert(if is_live { rules } else { rules.into_former() });
                let end = entry.provisional_until.filter(|end| is_live && *end > now);
                until = until.into_iter().chain(end).min();
            }
        }
        let rules = Arc::new(self.base.clone().with_registry(live));
        let mut known = self.public.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some(PublicRules {
            generation: newest.number,
            until,
            rules: Arc::clone(&rules),
        });
        rules
    }
}

impl NamespaceGeneration {
    /// The generation before any change: the same for all folders.
    fn original() -> Arc<Self> {
        static ORIGINAL: LazyLock<Arc<NamespaceGeneration>> = LazyLock::new(|| {
            Arc::new(NamespaceGeneration {
                number: 0,
                entries: seeds().to_vec(),
                rules: Namespaces::historical().clone(),
            })
        });
        Arc::clone(&ORIGINAL)
    }

    fn read(number: u64, now: &Snapshot<'_>, before: &Self) -> Result<Self, RegistryError> {
        let mut entries: BTreeMap<String, Arc<NamespaceEntry>> = BTreeMap::new();
        for seed in seeds() {
            entries.insert(seed.name().to_string(), Arc::clone(seed));
        }
        let mut damaged = None;
        let from = TableKey::named(Table::Namespaces, ENTRY.as_bytes());
        now.scan(&from, &mut |table_key, bytes| {
            let Some(name) = table_key.name().strip_prefix(ENTRY.as_bytes()) else {
                return ControlFlow::Break(());
            };
            let Some(entry) = StoredNamespace::entry_in(bytes) else {
                damaged = Some(String::from_utf8_lossy(name).into_owned());
                return ControlFlow::Break(());
            };
            entries.insert(entry.name().to_string(), Arc::new(entry));
            ControlFlow::Continue(())
        })?;
        if let Some(name) = damaged {
            return Err(super::stored::damaged(&name));
        }
        let mut rules = Namespaces::default();
        for entry in entries.values().filter(|entry| entry.was_registered()) {
            rules.insert(before.rules_of(entry)?);
        }
        Ok(Self {
            number,
            entries: entries.into_values().collect(),
            rules,
        })
    }

    /// An entry.
    pub(crate) fn entry(&self, name: &str) -> Option<&Arc<NamespaceEntry>> {
        let at = self
            .entries
            .binary_search_by(|entry| entry.name().cmp(name));
        at.ok().and_then(|at| self.entries.get(at))
    }

    /// The rules of an entry. They are compiled once for each version.
    fn rules_of(&self, entry: &NamespaceEntry) -> Result<Namespace, RegistryError> {
        let is_same = self.entry(entry.name()).is_some_and(|known| {
            (&known.form, known.status, &known.registered)
                == (&entry.form, entry.status, &entry.registered)
        });
        if let Some(rules) = self.rules.get(entry.name()).filter(|_| is_same) {
            return Ok(rules.clone());
        }
        let rules = entry.rules();
        rules.map_err(|_| super::stored::damaged(entry.name()))
    }
}

/// The number of the last event that changed an entry.
fn last_change(now: &Snapshot<'_>) -> Result<u64, RegistryError> {
    let read = |bytes: &[u8]| postcard::from_bytes(bytes);
    let found = now.get(&TableKey::named(Table::Meta, LAST_CHANGE), read)?;
    let damaged = |_| RegistryError::corrupt("the number of the last change of a namespace");
    found.unwrap_or(Ok(0)).map_err(damaged)
}
