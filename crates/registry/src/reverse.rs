//! The index of values: which names hold a value.
//!
//! A change keeps it as it goes. An import leaves it for later, marks from which event on, and builds it
//! at its end from what is kept then, in the order of its keys; the mark stays until that is done, so that
//! one that was cut short is finished by the next.

use std::ops::ControlFlow;

use handfast_store::{Loading, Place, Sorter, Table, Write};

use crate::draft::reverse_value;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::view::View;

/// Where the first event is kept whose name may not be in the index yet.
fn mark() -> Place<'static> {
    Place::named(Table::Meta, b"reverse-from")
}

/// How many entries share a transaction.
const CHUNK: usize = 200_000;

/// Says that the names of events from a number on are not in the index.
pub(crate) fn leave_for_later(loading: &mut Loading<'_>, event: u64) -> Result<(), Refusal> {
    if loading.snapshot().get(&mark(), |_| ())?.is_none() {
        loading.put(&mark(), &event.to_be_bytes())?;
    }
    Ok(())
}

/// From which event on names may not be in the index.
pub(crate) fn left_for_later(view: &View<'_>) -> Result<Option<u64>, Refusal> {
    let read = |bytes: &[u8]| bytes.try_into().map(u64::from_be_bytes).ok();
    Ok(view.now.get(&mark(), read)?.flatten())
}

impl Registry {
    /// Puts names into the index that an import has left for later.
    pub(crate) fn finish_reverse(&self) -> Result<(), Refusal> {
        let mut sorter = Sorter::new(self.folder());
        let seen = self.read(|view| {
            let Some(from) = left_for_later(view)? else {
                return Ok(None);
            };
            let mut outcome = Ok(());
            view.now.scan(&Place::record(b""), &mut |place, bytes| {
                outcome = gather(&mut sorter, place, bytes, from);
                match outcome {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })?;
            outcome?;
            Ok(Some(crate::tree::read(view.now)?.size()))
        })?;
        let Some(seen) = seen else {
            return Ok(());
        };
        let mut merge = sorter.merge()?;
        let mut chunk = Vec::with_capacity(CHUNK);
        while let Some(entry) = merge.next()? {
            chunk.push((entry.key.to_vec(), entry.payload.to_vec()));
            if chunk.len() == CHUNK {
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK));
                self.load(move |loading| hold(loading, full, seen))?;
            }
        }
        self.load(move |loading| {
            hold(loading, chunk, seen)?;
            Ok(loading.apply(&Write::Delete(mark()))?)
        })
    }
}

fn gather(
    sorter: &mut Sorter,
    place: &Place<'_>,
    bytes: &[u8],
    from: u64,
) -> Result<(), Refusal> {
    if Record::last_event_in(bytes) < Some(from) {
        return Ok(());
    }
    let key = place.name();
    let corrupt = |_| Refusal::Corrupt {
        what: format!("the record of {}", String::from_utf8_lossy(key)),
    };
    let record = Record::from_bytes(bytes).map_err(corrupt)?;
    let mut values = record.values.iter();
    values
        .by_ref()
        .filter(|value| value.permissions.public_read())
        .try_for_each(|value| Ok(sorter.push(&reverse_value(value), 0, key)?))
}

/// Values that a name has lost since they were gathered are left out.
fn hold(
    loading: &mut Loading<'_>,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    seen: u64,
) -> Result<(), Refusal> {
    let is_as_seen = crate::tree::read(&loading.snapshot())?.size() == seen;
    for (value, key) in entries {
        if !is_as_seen {
            let record = loading
                .snapshot()
                .get(&Place::record(&key), Record::from_bytes)?;
            let holds = record.and_then(Result::ok).is_some_and(|record| {
                let mut values = record.values.iter();
                values.any(|held| held.permissions.public_read() && reverse_value(held) == value)
            });
            if !holds {
                continue;
            }
        }
        loading.hold(&value, &key)?;
    }
    Ok(())
}
