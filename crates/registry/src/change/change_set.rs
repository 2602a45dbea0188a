//! A change set: the writes of one change, built on a snapshot and stored in one transaction.

use std::collections::HashMap;
use std::ops::Deref;

use handfast_log::Tree;
use handfast_store::{Table, TableKey, Write};
use handfast_wire::{Codec, Value};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::access::account::Account;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::{Authority, Persistence};
use crate::change::view::{View, with_leaf};
use crate::error::RegistryError;
use crate::log::event::{Action, Commitments, Event, Subject, commit_with, salt};
use crate::log::event_note::EventNote;
use crate::log::event_time::event_time;
use crate::log::tree;
use crate::lookup::value_index::reverse_value;
use crate::name::record::{Record, State};

/// The principal, the time and the random bytes of one change.
pub(crate) struct Call {
    pub(crate) actor: Principal,
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) node: u32,
    pub(crate) random: [u8; 32],
}

/// The writes of one change, and the state that it sees. It sees its own writes, too.
pub(crate) struct ChangeSet<'n> {
    view: View<'n>,
    call: Call,
    actor: [u8; 16],
    tree: Tree,
    /// The number of events before this change.
    events_before: u64,
    writes: Vec<Write>,
    records: HashMap<String, Record>,
}

impl<'n> ChangeSet<'n> {
    pub(crate) fn begin(view: View<'n>, call: Call) -> Result<Self, RegistryError> {
        if let Principal::Group(_) = call.actor {
            let problem = "a group does nothing itself: one of its members does";
            return Err(RegistryError::policy("group-acts", problem));
        }
        let tree = tree::read(view.now)?;
        let time = event_time(view.now, &tree, call.time)?;
        let mut change_set = Self {
            view,
            call: Call { time, ..call },
            actor: [0; 16],
            events_before: tree.size(),
            tree,
            writes: Vec::new(),
            records: HashMap::new(),
        };
        change_set.actor = change_set.opaque_id()?;
        Ok(change_set)
    }

    pub(crate) fn into_writes(mut self) -> Vec<Write> {
        if self.tree.size() > self.events_before {
            self.writes.push(tree::edge_write(&self.tree));
        }
        self.writes
    }

    /// The number that the next event will have.
    pub(crate) fn next_event(&self) -> u64 {
        self.tree.size() + 1
    }

    /// The opaque id of the principal.
    pub(crate) fn actor_id(&self) -> [u8; 16] {
        self.actor
    }

    /// Whether the change writes an entry of some kind.
    pub(crate) fn touches(&self, is_meant: impl Fn(&TableKey<'_>) -> bool) -> bool {
        self.writes.iter().any(|write| match write {
            Write::Put(table_key, _) | Write::Delete(table_key) => is_meant(table_key),
            Write::IndexInsert { .. } | Write::IndexRemove { .. } => false,
        })
    }

    /// The tree of all events so far.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn who(&self) -> &Principal {
        &self.call.actor
    }

    /// Milliseconds since 1970.
    pub(crate) fn time(&self) -> u64 {
        self.call.time
    }

    /// Seconds since 1970, as values carry them.
    pub(crate) fn timestamp(&self) -> u32 {
        u32::try_from(self.call.time / 1_000).unwrap_or(u32::MAX)
    }

    /// Random bytes for one purpose.
    pub(crate) fn random(&self, purpose: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.call.random);
        hash.update(self.next_event().to_be_bytes());
        hash.update(purpose);
        hash.finalize().into()
    }

    /// An account, also one that this change creates.
    pub(crate) fn account(&self, account: &Principal) -> Result<Option<Account>, RegistryError> {
        let key = account.key();
        let written = self.writes.iter().rev().find_map(|write| match write {
            Write::Put(table_key, bytes)
                if table_key.table() == Table::Accounts && table_key.name() == key.as_bytes() =>
            {
                Some(bytes)
            }
            _ => None,
        });
        match written {
            Some(bytes) => Ok(Account::from_bytes(bytes)),
            None => self.view.account(account),
        }
    }

    pub(crate) fn record(&self, key: &str) -> Result<Option<Record>, RegistryError> {
        if let Some(record) = self.records.get(key) {
            return Ok(Some(record.clone()));
        }
        let found = self.view.record(key)?;
        if found.is_none() {
            self.view.ensure_free_place(key)?;
        }
        Ok(found)
    }

    /// Assigns a name with its first event, and returns the number of the event. Every new name
    /// passes here, except plain names of an import: its fast path makes the same checks.
    pub(crate) fn assign(
        &mut self,
        key: &str,
        record: Record,
        action: Action,
        persistence: Persistence,
    ) -> Result<u64, RegistryError> {
        check_new_key(key)?;
        self.view.check_unassigned(key, self.events_before)?;
        Ok(self.store_record(key, None, record, action, persistence))
    }

    /// Stores a new version of a record with its event, and returns the number of the event.
    pub(crate) fn store_record(
        &mut self,
        key: &str,
        old: Option<&Record>,
        mut record: Record,
        action: Action,
        persistence: Persistence,
    ) -> u64 {
        let number = self.next_event();
        record.version = old.map_or(1, |old| old.version + 1);
        record.modified = self.call.time;
        record.last_event = number;
        record.first_event = old.map_or(number, |old| old.first_event);
        record.seed = self.random("seed");
        let subject = name_subject(key, old, &mut record, persistence, || self.random("salt"));
        let commitments = commitments(&record);
        self.add_event(
            action,
            subject,
            &record.authority,
            record.version,
            commitments,
        );
        self.put(TableKey::event_of(key.as_bytes(), number), Vec::new());

        if let Some(old) = old {
            self.put(
                TableKey::version(key.as_bytes(), old.version),
                old.to_bytes(),
            );
        }
        self.index_values(key, old, Some(&record));
        self.put(TableKey::record(key.as_bytes()), record.to_bytes());
        self.records.insert(key.to_string(), record);
        number
    }

    /// Deletes a record and its earlier versions; the event stays.
    pub(crate) fn erase_record(&mut self, key: &str, old: &Record) -> u64 {
        let number = self.next_event();
        let salt = old.salt.unwrap_or_default();
        let subject = Subject::hide(key, &salt);
        let none = Commitments::Each(Vec::new());
        self.add_event(
            Action::Erase,
            subject,
            &old.authority,
            old.version + 1,
            none,
        );
        self.put(TableKey::event_of(key.as_bytes(), number), Vec::new());
        for version in 1..old.version {
            self.delete(TableKey::version(key.as_bytes(), version));
        }
        self.index_values(key, Some(old), None);
        self.delete(TableKey::record(key.as_bytes()));
        number
    }

    /// Stores a new version of an authority, with its event.
    pub(crate) fn store_authority(
        &mut self,
        mut authority: Authority,
        action: Action,
    ) -> Result<u64, RegistryError> {
        let number = self.next_event();
        let key = authority.path.key().to_string();
        let history = authority_history(&key);
        if let Some(old) = self.authority_by_key(&key)? {
            let bytes = encode(&old)?;
            self.put(TableKey::version(history.as_bytes(), old.version), bytes);
        }
        authority.version += 1;
        authority.last_event = number;
        authority.seed = self.random("seed");
        let (commitments, bytes) = authority_commitments(&authority)?;
        self.add_event(action, Subject::None, &key, authority.version, commitments);
        self.put(TableKey::event_of(history.as_bytes(), number), Vec::new());
        self.put(TableKey::named(Table::Authorities, key.as_bytes()), bytes);
        Ok(number)
    }

    /// Frees the path of a requested authority that was never approved.
    pub(crate) fn forget_authority(&mut self, path: &AuthorityPath) {
        self.delete(TableKey::named(Table::Authorities, path.key().as_bytes()));
    }

    /// Stores a value in postcard form.
    pub(crate) fn store_encoded(
        &mut self,
        table: Table,
        key: &[u8],
        item: &impl Serialize,
    ) -> Result<(), RegistryError> {
        let bytes = encode(item)?;
        self.put(TableKey::named(table, key), bytes);
        Ok(())
    }

    /// Adds an event whose subject has no record, and stores the text that it commits to. The text
    /// names people, so it is never public.
    pub(crate) fn note(&mut self, action: Action, text: &str) -> Result<(), RegistryError> {
        let note = EventNote {
            text: text.to_string(),
            seed: self.random("seed"),
        };
        self.store_encoded(Table::Meta, &EventNote::key(self.next_event()), &note)?;
        self.add_event(action, Subject::None, "", 0, note.commitments());
        Ok(())
    }

    pub(crate) fn add_event(
        &mut self,
        action: Action,
        subject: Subject,
        authority: &str,
        version: u64,
        commitments: Commitments,
    ) {
        let number = self.next_event();
        let event = Event {
            action,
            number,
            time: self.call.time,
            actor: self.actor,
            node: self.call.node,
            subject,
            authority: authority.to_string(),
            version,
            commitments,
        };
        let (bytes, leaf) = with_leaf(&event);
        self.put(TableKey::event(number), bytes);
        tree::push(&mut self.tree, leaf, &mut self.writes);
    }

    fn index_values(&mut self, key: &str, old: Option<&Record>, new: Option<&Record>) {
        let values = |record: Option<&Record>| -> Vec<Vec<u8>> {
            let values = record
                .map(|record| record.values.as_slice())
                .unwrap_or_default();
            values
                .iter()
                .filter(|value| value.is_public())
                .map(reverse_value)
                .collect()
        };
        let (before, after) = (values(old), values(new));
        for value in before.iter().filter(|value| !after.contains(value)) {
            self.writes.push(Write::IndexRemove {
                value: value.clone(),
                key: key.as_bytes().to_vec(),
            });
        }
        for value in after.iter().filter(|value| !before.contains(value)) {
            self.writes.push(Write::IndexInsert {
                value: value.clone(),
                key: key.as_bytes().to_vec(),
            });
        }
    }

    /// The opaque id of the principal: random, and the same for everything that it does.
    fn opaque_id(&mut self) -> Result<[u8; 16], RegistryError> {
        let key = [b"who:", self.call.actor.key().as_bytes()].concat();
        if let Some(id) = self.view.decode_stored(Table::Actors, &key)? {
            return Ok(id);
        }
        let random = self.random("actor");
        let id: [u8; 16] = random.first_chunk().copied().unwrap_or_default();
        self.store_encoded(Table::Actors, &key, &id)?;
        let actor = self.call.actor.lasting();
        self.store_encoded(Table::Actors, &[b"id:", &id[..]].concat(), &actor)?;
        Ok(id)
    }

    pub(crate) fn push(&mut self, write: Write) {
        self.writes.push(write);
    }

    pub(crate) fn put(&mut self, table_key: TableKey<'_>, bytes: Vec<u8>) {
        self.writes.push(Write::Put(table_key.into_owned(), bytes));
    }

    pub(crate) fn delete(&mut self, table_key: TableKey<'_>) {
        self.writes.push(Write::Delete(table_key.into_owned()));
    }
}

impl<'n> Deref for ChangeSet<'n> {
    type Target = View<'n>;

    fn deref(&self) -> &View<'n> {
        &self.view
    }
}

/// Checks that a new name may have a key. U+0000 would let entries of one name stand between those
/// of another, and no program needs it. Stored names that have it keep it.
pub(crate) fn check_new_key(key: &str) -> Result<(), RegistryError> {
    if has_nul(key) {
        let problem = "a name cannot have the character U+0000: leave it out";
        return Err(RegistryError::policy("nul-character", problem));
    }
    Ok(())
}

/// Whether a key has U+0000.
pub(crate) fn has_nul(key: &str) -> bool {
    memchr::memchr(0, key.as_bytes()).is_some()
}

/// The subject of an event. A name that is reserved, or may be erased, enters as a commitment. When
/// a reserved name becomes active, its commitments are opened.
pub(crate) fn name_subject(
    key: &str,
    old: Option<&Record>,
    record: &mut Record,
    persistence: Persistence,
    random: impl FnOnce() -> [u8; 32],
) -> Subject {
    let is_hidden = record.state == State::Reserved || persistence == Persistence::Erasable;
    record.salt = old
        .and_then(|old| old.salt)
        .or_else(|| is_hidden.then(random));
    match (is_hidden, record.salt) {
        (true, Some(salt)) => Subject::hide(key, &salt),
        (false, Some(salt)) => Subject::Opened {
            key: key.to_string(),
            salt,
        },
        (_, None) => Subject::Open(key.to_string()),
    }
}

/// Commitments to the values of a record and to its other properties.
pub(crate) fn commitments(record: &Record) -> Commitments {
    Commitments::from_each(all_commitments(record))
}

/// All commitments, however many there are.
pub(crate) fn all_commitments(record: &Record) -> Vec<(u32, [u8; 32])> {
    each_commitment(&record.seed, &record.detail(), &record.values)
}

/// Commitments to the other properties of a record, at index 0, and to each value.
pub(crate) fn each_commitment(
    seed: &[u8; 32],
    detail: &[u8],
    values: &[Value<'_>],
) -> Vec<(u32, [u8; 32])> {
    let mut each = Vec::with_capacity(1 + values.len());
    each.push((0, commit_with(&salt(seed, 0), detail)));
    let mut bytes = Vec::new();
    for value in values {
        bytes.clear();
        value.encode(&mut bytes);
        each.push((value.index, commit_with(&salt(seed, value.index), &bytes)));
    }
    each
}

/// The commitment to an authority, and the bytes that it commits to.
pub(crate) fn authority_commitments(
    authority: &Authority,
) -> Result<(Commitments, Vec<u8>), RegistryError> {
    let bytes = encode(authority)?;
    Ok((
        Commitments::to(&authority.seed, [(0, &bytes[..])].into_iter()),
        bytes,
    ))
}

/// The start of the keys of versions and events of authorities. Keys of names never start with it.
pub(crate) const AUTHORITY_HISTORY: &str = "authority ";

fn authority_history(key: &str) -> String {
    format!("{AUTHORITY_HISTORY}{key}")
}

fn encode(item: &impl Serialize) -> Result<Vec<u8>, RegistryError> {
    postcard::to_stdvec(item).map_err(|_| RegistryError::corrupt("the value to be stored"))
}

#[cfg(test)]
mod tests;
