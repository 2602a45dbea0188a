//! Entries on disk.
//!
//! An event commits to the text of an entry, which is stored as it was written: fields that later
//! versions of the program add do not change it.

use handfast_store::{Table, TableKey};
use serde::{Deserialize, Serialize};

use super::entry::NamespaceEntry;
use crate::access::principal::Principal;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::Commitments;

/// An entry in postcard form, in the table `namespaces`, or an earlier version of it in `versions`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredNamespace {
    /// The entry in JSON.
    text: String,
    people: People,
    pub(crate) last_event: u64,
    seed: [u8; 32],
}

/// The data that is not public.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct People {
    owner: Option<Principal>,
    claimant: Option<Principal>,
}

impl StoredNamespace {
    pub(crate) fn of(entry: &NamespaceEntry) -> Result<Self, RegistryError> {
        let text = serde_json::to_string(entry).map_err(|_| damaged(entry.name()))?;
        Ok(Self {
            text,
            people: People {
                owner: entry.owner.clone(),
                claimant: entry.claimant.clone(),
            },
            last_event: entry.last_event,
            seed: entry.seed,
        })
    }

    pub(crate) fn read(self) -> Option<NamespaceEntry> {
        let entry: NamespaceEntry = serde_json::from_str(&self.text).ok()?;
        Some(NamespaceEntry {
            owner: self.people.owner,
            claimant: self.people.claimant,
            last_event: self.last_event,
            seed: self.seed,
            ..entry
        })
    }

    /// Reads an entry from its bytes on disk.
    pub(crate) fn entry_in(bytes: &[u8]) -> Option<NamespaceEntry> {
        postcard::from_bytes::<Self>(bytes).ok()?.read()
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, RegistryError> {
        postcard::to_stdvec(self).map_err(|_| damaged(&self.text))
    }

    /// The commitments of its event: the public part at index 0, the people at index 1.
    pub(crate) fn commitments(&self) -> Commitments {
        let people = postcard::to_stdvec(&self.people).unwrap_or_default();
        let parts = [(0, self.text.as_bytes()), (1, people.as_slice())];
        Commitments::to(&self.seed, parts.into_iter())
    }
}

/// The start of the keys of entries in the table `namespaces`.
pub(crate) const ENTRY: &str = "entry:";

/// The start of the keys of versions and events of entries. Keys of names never start with it.
pub(crate) const NAMESPACE_HISTORY: &str = "namespace ";

/// The number of the last event that changed an entry.
pub(crate) const LAST_CHANGE: &[u8] = b"namespaces";

pub(crate) fn history_key(name: &str) -> String {
    format!("{NAMESPACE_HISTORY}{name}")
}

pub(crate) fn entry_key(name: &str) -> String {
    format!("{ENTRY}{name}")
}

pub(crate) fn damaged(name: &str) -> RegistryError {
    RegistryError::corrupt(what(name))
}

fn what(name: &str) -> String {
    format!("the entry of namespace {name}")
}

impl View<'_> {
    /// A stored entry; `None` if it was never changed.
    pub(crate) fn stored_namespace(
        &self,
        name: &str,
    ) -> Result<Option<StoredNamespace>, RegistryError> {
        self.decode_stored(Table::Namespaces, entry_key(name).as_bytes())
    }

    /// An earlier version.
    pub(crate) fn namespace_version(
        &self,
        name: &str,
        version: u64,
    ) -> Result<Option<NamespaceEntry>, RegistryError> {
        let key = history_key(name);
        let table_key = TableKey::version(key.as_bytes(), version);
        self.stored(&table_key, StoredNamespace::entry_in, || what(name))
    }
}
