//! The time of a new event.

use handfast_log::Tree;
use handfast_store::{Snapshot, TableKey};

use crate::error::RegistryError;
use crate::log::event::Event;

/// The time of the next event: that of the clock, and never before the event before it.
///
/// Readers take the log as the order of events, so time must not run backwards in it. The clock may
/// step back, and callers may read it in another order than the writer takes them.
pub(crate) fn event_time(
    now: &Snapshot<'_>,
    tree: &Tree,
    clock: u64,
) -> Result<u64, RegistryError> {
    let last = now.get(&TableKey::event(tree.size()), Event::time_in)?;
    Ok(last.flatten().unwrap_or(0).max(clock))
}
