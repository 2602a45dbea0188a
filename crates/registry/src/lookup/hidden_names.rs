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
        let mut looked_at = 0;
        for (authority, hidden) in hidden {
            let mark = if authority.starts_with("urn:") {
                ':'
            } else {
                '/'
            };
            let start = format!("{authority}{mark}");
            let from = TableKey::record(start.as_bytes());
            self.now.scan(&from, &mut |table_key, bytes| {
                let key = String::from_utf8_lossy(table_key.name());
                if !key.starts_with(&start) || looked_at == MAX_NAMES {
                    return ControlFlow::Break(());
                }
                looked_at += 1;
                for at in hidden.of(&key, bytes) {
                    if let Some(listed) = events.get_mut(*at) {
                        listed.name = Record::name_in(bytes).map(str::to_string);
                    }
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(())
    }
}

/// The events of an authority that hide a name.
#[derive(Default)]
struct HiddenEvents {
    /// Where the events of a commitment stand in the list.
    positions: HashMap<[u8; 32], Vec<usize>>,
    oldest: Option<u64>,
    newest: Option<u64>,
}

impl HiddenEvents {
    fn add(&mut self, commitment: [u8; 32], number: u64, at: usize) {
        self.positions.entry(commitment).or_default().push(at);
        self.oldest = Some(self.oldest.map_or(number, |oldest| oldest.min(number)));
        self.newest = self.newest.max(Some(number));
    }

    /// The events of a name.
    fn of(&self, key: &str, record: &[u8]) -> &[usize] {
        let found = Record::hidden_in(record).filter(|(first, last, _)| {
            // Most names were not changed at that time.
            Some(*first) <= self.newest && Some(*last) >= self.oldest
        });
        let commitment = found.map(|(_, _, salt)| Subject::hide(key, &salt));
        match commitment {
            Some(Subject::Hidden(commitment)) => {
                self.positions.get(&commitment).map_or(&[], Vec::as_slice)
            }
            _ => &[],
        }
    }
}
