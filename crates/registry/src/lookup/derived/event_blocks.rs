//! Where to find the events of an authority, of a principal or of an action.
//!
//! The log is divided into blocks of 4,096 events. For each word (the authority, the principal, the
//! action) the environment stores the blocks that have such an event. An import of a million names
//! adds a few hundred entries, where an index of single events would add three million. A list
//! reads only blocks in which it may find something.

use std::collections::BTreeSet;

use handfast_store::{Snapshot, StoreError, Table, TableKey, Write};

use crate::log::event::Action;
use crate::log::event_outline::EventOutline;

/// The number of events in a block.
pub(crate) const BLOCK_EVENTS: u64 = 4_096;

/// The block of an event.
pub(crate) fn block_of(number: u64) -> u64 {
    number / BLOCK_EVENTS
}

/// The words of events, and their blocks.
#[derive(Default)]
pub(crate) struct EventWords {
    words: BTreeSet<(String, u64)>,
    /// The last event. In most events the same principal does the same in the same authority.
    last: Option<(u64, Action, [u8; 16], String)>,
}

impl EventWords {
    pub(crate) fn add(&mut self, number: u64, event: &EventOutline<'_>) {
        let block = block_of(number);
        let is_same = self.last.as_ref().is_some_and(|last| {
            (last.0, last.1, last.2, last.3.as_str())
                == (block, event.action, event.actor, event.authority)
        });
        if is_same {
            return;
        }
        self.words
            .insert((word_of_authority(event.authority), block));
        self.words.insert((word_of_actor(&event.actor), block));
        self.words.insert((word_of_action(event.action), block));
        let authority = event.authority.to_string();
        self.last = Some((block, event.action, event.actor, authority));
    }

    pub(crate) fn add_writes(self, writes: &mut Vec<Write>) {
        let words = self.words.iter();
        writes.extend(
            words.map(|(word, block)| Write::put(TableKey::event_of(word.as_bytes(), *block), b"")),
        );
    }
}

pub(crate) fn word_of_authority(key: &str) -> String {
    format!("in {key}")
}

pub(crate) fn word_of_actor(actor: &[u8; 16]) -> String {
    format!("by {:032x}", u128::from_be_bytes(*actor))
}

pub(crate) fn word_of_action(action: Action) -> String {
    format!("did {:02x}", action.code())
}

/// The last block, up to a block, that has an event with a word.
pub(crate) fn last_block(
    derived: &Snapshot<'_>,
    word: &str,
    up_to: u64,
) -> Result<Option<u64>, StoreError> {
    let from = TableKey::event_of(word.as_bytes(), up_to);
    let found = derived.at_or_before(&from)?;
    // A longer word that begins with this one stands behind all its blocks: their numbers begin
    // with bytes that no text has.
    let found = found
        .filter(|found| found.table() == Table::EventsByKey && found.name() == word.as_bytes());
    Ok(found.and_then(|found| found.number()))
}
