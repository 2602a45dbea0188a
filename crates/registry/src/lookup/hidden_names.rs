//! The names that events hide, for principals who may see them.
//!
//! The event of a reserved or erasable name has a commitment instead of the name. The record of the
//! name has the random bytes of that commitment, so reading the names of the authority tells which
//! of them it is.

use std::collections::HashMap;
use std::ops::ControlFlow;

use handfast_store::{StoreError, TableKey};

use crate::change::view::View;
use crate::log::event::Subject;
use crate::lookup::event_list::ListedEvent;
use crate::name::record::Record;

/// The maximum number of names that are looked at for one page of events.
const MAX_NAMES: u64 = 200_000;

impl View<'_> {
    /// Finds the names of events that hide them, in authorities with few enough names. Names that
    /// were erased stay unknown.
    pub(crate) fn find_hidden_names(&self, events: &mut [ListedEvent]) -> Result<(), StoreError> {
        let mut hidden: HashMap<String, HiddenEvents> = HashMap::new();
        for (at, listed) in events.iter().enumerate() {
            if let (Subject::Hidden(commitment), None) = (&listed.event.subject, &listed.name) {
                let authority = hidden.entry(listed.event.authority.clone()).or_default();
                authority.add(*commitment, listed.event.number, at);
            }
        }
        self.visit_hidden(hidden, MAX_NAMES, &mut |at, _, bytes| {
            if let Some(listed) = events.get_mut(at) {
                listed.name = Record::name_in(bytes).map(str::to_string);
            }
        })?;
        Ok(())
    }

    /// Visits the names of hidden events, by authority: the position of an event, the key of its
    /// name and the record. Ends when all are found, or after a number of names; returns whether
    /// it did not reach that number.
    pub(crate) fn visit_hidden(
        &self,
        hidden: HashMap<String, HiddenEvents>,
        max_names: u64,
        visit: &mut dyn FnMut(usize, &str, &[u8]),
    ) -> Result<bool, StoreError> {
        let mut looked_at: u64 = 0;
        for (authority, mut hidden) in hidden {
            let mark = if authority.starts_with("urn:") {
                ':'
            } else {
                '/'
            };
            let start = format!("{authority}{mark}");
            let from = TableKey::record(start.as_bytes());
            self.now.scan(&from, &mut |table_key, bytes| {
                let is_found = hidden.positions.is_empty();
                if is_found || !table_key.name().starts_with(start.as_bytes()) {
                    return ControlFlow::Break(());
                }
                looked_at = looked_at.saturating_add(1);
                if looked_at > max_names {
                    return ControlFlow::Break(());
                }
                if let Some(salt) = hidden.salt_in(bytes) {
                    let key = String::from_utf8_lossy(table_key.name());
                    for at in hidden.take(&key, &salt) {
                        visit(at, &key, bytes);
                    }
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(looked_at <= max_names)
    }
}

/// The events of an authority that hide a name.
#[derive(Default)]
pub(crate) struct HiddenEvents {
    /// Where the events of a commitment stand in the list.
    positions: HashMap<[u8; 32], Vec<usize>>,
    oldest: Option<u64>,
    newest: Option<u64>,
}

impl HiddenEvents {
    pub(crate) fn add(&mut self, commitment: [u8; 32], number: u64, at: usize) {
        self.positions.entry(commitment).or_default().push(at);
        self.oldest = Some(self.oldest.map_or(number, |oldest| oldest.min(number)));
        self.newest = self.newest.max(Some(number));
    }

    /// The random bytes of a record that may be the one of an event.
    fn salt_in(&self, record: &[u8]) -> Option<[u8; 32]> {
        let found = Record::hidden_in(record).filter(|(first, last, _)| {
            // Most names were not changed at that time.
            Some(*first) <= self.newest && Some(*last) >= self.oldest
        });
        found.map(|(_, _, salt)| salt)
    }

    /// Takes out the events of a name.
    fn take(&mut self, key: &str, salt: &[u8; 32]) -> Vec<usize> {
        match Subject::hide(key, salt) {
            Subject::Hidden(commitment) => self.positions.remove(&commitment).unwrap_or_default(),
            _ => Vec::new(),
        }
    }
}
