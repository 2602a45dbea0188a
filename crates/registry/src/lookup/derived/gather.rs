//! Gathering the effects of events.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use handfast_store::{Snapshot, StoreError, TableKey, Write};

use crate::change::view::View;
use crate::error::RegistryError;
use crate::handle_protocol::prefix_record::{PREFIX_RECORDS, is_prefix_record};
use crate::log::event::Action;
use crate::log::event_outline::EventOutline;
use crate::log::tree;
use crate::lookup::derived::counts::{StateCounts, stored_counts, write_counts};
use crate::lookup::derived::environment::Position;
use crate::lookup::derived::event_blocks::EventWords;
use crate::name::record::Record;

/// The number of events that are read in one snapshot.
const EVENTS_PER_SNAPSHOT: u64 = 65_536;

/// The effects of some events, after a position.
pub(crate) struct Gathered {
    /// The last of the events.
    pub(crate) at: Position,
    /// The changes of the counts of each authority.
    changes: BTreeMap<String, CountChange>,
    /// Authorities whose names must be counted again. The event of an erased name does not tell the
    /// state that the name had.
    recount: BTreeSet<String>,
    recounted: BTreeMap<String, StateCounts>,
    words: EventWords,
}

/// How a count changes.
#[derive(Clone, Copy, Default)]
struct CountChange {
    active: i64,
    reserved: i64,
    withdrawn: i64,
}

impl Gathered {
    pub(crate) fn after(at: Position) -> Self {
        Self {
            at,
            changes: BTreeMap::new(),
            recount: BTreeSet::new(),
            recounted: BTreeMap::new(),
            words: EventWords::default(),
        }
    }

    /// Whether its effects are complete. Names are counted again only at the end of the log, where
    /// the records and the events of one snapshot belong together.
    pub(crate) fn is_complete(&self) -> bool {
        self.recount.is_empty()
    }

    /// Reads the next events of a snapshot, and returns whether there are no more.
    pub(crate) fn read(&mut self, view: &View<'_>) -> Result<bool, RegistryError> {
        let size = tree::read(view.now)?.size();
        let last = size.min(self.at.event.saturating_add(EVENTS_PER_SNAPSHOT));
        let first = TableKey::event(self.at.event.saturating_add(1));
        view.now.scan(&first, &mut |table_key, bytes| {
            let number = table_key.number().unwrap_or(u64::MAX);
            if number > last {
                return ControlFlow::Break(());
            }
            if let Some(event) = EventOutline::read(bytes) {
                self.add(number, &event);
            }
            ControlFlow::Continue(())
        })?;
        if last > self.at.event {
            self.at = position_at(view.now, last)?;
        }
        if last < size {
            return Ok(false);
        }
        for authority in std::mem::take(&mut self.recount) {
            let counts = count_names(view, &authority)?;
            self.recounted.insert(authority, counts);
        }
        Ok(true)
    }

    fn add(&mut self, number: u64, event: &EventOutline<'_>) {
        self.words.add(number, event);
        let (active, reserved, withdrawn) = match event.action {
            Action::Create | Action::Mint => (1, 0, 0),
            Action::Reserve | Action::MintReserved => (0, 1, 0),
            Action::Activate => (1, -1, 0),
            Action::Withdraw => (-1, 0, 1),
            Action::Restore => (1, 0, -1),
            Action::Erase => {
                self.recount.insert(event.authority.to_string());
                return;
            }
            _ => return,
        };
        let authority = if event.key.is_some_and(is_prefix_record) {
            prefix_records()
        } else {
            event.authority
        };
        let change = match self.changes.get_mut(authority) {
            Some(change) => change,
            None => self.changes.entry(authority.to_string()).or_default(),
        };
        change.active += active;
        change.reserved += reserved;
        change.withdrawn += withdrawn;
    }

    /// The writes to the environment, in its current state.
    pub(crate) fn into_writes(self, derived: &Snapshot<'_>) -> Result<Vec<Write>, StoreError> {
        let mut writes = vec![self.at.write()];
        for (authority, change) in &self.changes {
            if !self.recounted.contains_key(authority) {
                let mut counts = stored_counts(derived, authority)?;
                counts.active = counts.active.saturating_add_signed(change.active);
                counts.reserved = counts.reserved.saturating_add_signed(change.reserved);
                counts.withdrawn = counts.withdrawn.saturating_add_signed(change.withdrawn);
                writes.push(write_counts(authority, counts));
            }
        }
        for (authority, counts) in &self.recounted {
            writes.push(write_counts(authority, *counts));
        }
        self.words.add_writes(&mut writes);
        Ok(writes)
    }
}

/// The records of prefixes are counted by themselves: they are not among the names of an authority.
fn prefix_records() -> &'static str {
    PREFIX_RECORDS.trim_end_matches('/')
}

/// The position at an event. A missing event, which is damage that `check` reports, has no hash.
pub(crate) fn position_at(now: &Snapshot<'_>, event: u64) -> Result<Position, StoreError> {
    let leaf = now.get(&TableKey::event(event), |bytes| bytes.last_chunk().copied())?;
    let leaf = leaf.flatten().unwrap_or_default();
    Ok(Position { event, leaf })
}

/// Counts the names of an authority by reading all of them.
fn count_names(view: &View<'_>, authority: &str) -> Result<StateCounts, RegistryError> {
    let mark = if authority.starts_with("urn:") {
        ':'
    } else {
        '/'
    };
    let start = format!("{authority}{mark}");
    let mut counts = StateCounts::default();
    view.scan_names(&TableKey::record(start.as_bytes()), |_, bytes| {
        // Names of other authorities stand in the range of the root of a URN namespace.
        if let Some((of, state)) = Record::authority_and_state_in(bytes)
            && of == authority
        {
            counts.add(state, 1);
        }
        Ok(())
    })?;
    Ok(counts)
}
