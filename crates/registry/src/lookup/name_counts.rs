//! Counting names by scheme and state.
//!
//! Changes maintain no counter, which would slow every import. Instead all names are counted on
//! demand, if the last count is old: some tens of thousands at a time, each batch from a snapshot
//! of its own.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use handfast_store::TableKey;

use crate::error::RegistryError;
use crate::name::record::{Record, State};
use crate::registry::{Registry, locked};

/// The number of names by scheme and state, at the time of the count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameCounts {
    /// When they were counted, in milliseconds since 1970.
    pub time: u64,
    /// By scheme: `hdl`, `urn`, `info`, `ark`.
    pub by_scheme: BTreeMap<String, u64>,
    /// By state.
    pub by_state: BTreeMap<&'static str, u64>,
}

/// The number of names that are counted in one snapshot.
const NAMES_PER_SNAPSHOT: usize = 50_000;

impl Registry {
    /// The last count, and whether to count again: it is old, and events have been added since.
    pub fn name_counts(&self, oldest: u64) -> Result<(Option<NameCounts>, bool), RegistryError> {
        let events = self.event_count()?;
        let cached = locked(&self.name_counts);
        Ok(match &*cached {
            Some((of, name_counts)) => {
                let is_old = *of != events && name_counts.time.saturating_add(oldest) < self.time();
                (Some(name_counts.clone()), is_old)
            }
            None => (None, true),
        })
    }

    /// Counts all names.
    pub fn count_names(&self) -> Result<NameCounts, RegistryError> {
        let events = self.event_count()?;
        let mut name_counts = NameCounts {
            time: self.time(),
            ..NameCounts::default()
        };
        for state in [State::Active, State::Reserved, State::Withdrawn] {
            name_counts.by_state.insert(state.as_str(), 0);
        }
        let mut last: Option<Vec<u8>> = None;
        loop {
            let before = last.clone();
            let mut looked_at = 0;
            self.read(|view| {
                let from = TableKey::record(before.as_deref().unwrap_or_default());
                view.now.scan(&from, &mut |table_key, bytes| {
                    if before.as_deref() == Some(table_key.name()) {
                        return ControlFlow::Continue(());
                    }
                    if looked_at == NAMES_PER_SNAPSHOT {
                        return ControlFlow::Break(());
                    }
                    looked_at += 1;
                    name_counts.add(table_key.name(), bytes);
                    last = Some(table_key.name().to_vec());
                    ControlFlow::Continue(())
                })?;
                Ok(())
            })?;
            if looked_at < NAMES_PER_SNAPSHOT {
                break;
            }
        }
        *locked(&self.name_counts) = Some((events, name_counts.clone()));
        Ok(name_counts)
    }
}

impl NameCounts {
    fn add(&mut self, key: &[u8], bytes: &[u8]) {
        let scheme = key.split(|byte| *byte == b':').next().unwrap_or_default();
        let scheme = str::from_utf8(scheme).unwrap_or_default();
        match self.by_scheme.get_mut(scheme) {
            Some(count) => *count += 1,
            None => {
                self.by_scheme.insert(scheme.to_string(), 1);
            }
        }
        if let Ok(record) = Record::from_bytes(bytes) {
            *self.by_state.entry(record.state.as_str()).or_default() += 1;
        }
    }
}
