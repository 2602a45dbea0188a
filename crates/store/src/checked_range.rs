//! Scans that notice when pages of a table are damaged.
//!
//! LMDB trusts its pages. If a page has lost its entries, or has those of another page, a cursor
//! skips them or ends without an error, and a caller that stops at the first unwanted key takes the
//! end for its own. So a scan is compared with other parts of the tree:
//!
//! - Keys ascend.
//! - The entry at which the caller stops is found by its key, too: a key on a wrong page is not.
//! - A scan that reaches the end has seen the last entry of the table; if it has also seen the
//!   first, it has seen as many as the table counts.
//!
//! This costs one comparison for each entry, and one or two lookups for each scan. A scan of a part
//! of a table does not notice that a page in the middle of it counts too few entries: a scan of the
//! whole table does.

use std::ops::Bound;

use heed::types::Bytes;
use heed::{Database, RoRange, RoTxn, WithoutTls};

use crate::error::StoreError;

/// A key and its value.
type Entry<'t> = (&'t [u8], &'t [u8]);

/// The entries of a table from a key on.
pub(crate) struct CheckedRange<'t> {
    table: &'t Database<Bytes, Bytes>,
    txn: &'t RoTxn<'t, WithoutTls>,
    entries: RoRange<'t, Bytes, Bytes>,
    from: &'t [u8],
    first_key: Option<&'t [u8]>,
    last: Option<Entry<'t>>,
    seen: u64,
}

impl<'t> CheckedRange<'t> {
    /// Begins a scan. LMDB has no empty keys: an empty one stands for the beginning of the table.
    pub(crate) fn begin(
        table: &'t Database<Bytes, Bytes>,
        txn: &'t RoTxn<'t, WithoutTls>,
        from: &'t [u8],
    ) -> Result<Self, StoreError> {
        let start = if from.is_empty() {
            Bound::Unbounded
        } else {
            Bound::Included(from)
        };
        Ok(Self {
            table,
            txn,
            entries: table.range(txn, &(start, Bound::Unbounded))?,
            from,
            first_key: None,
            last: None,
            seen: 0,
        })
    }

    /// The next entry; `None` at the end of the table.
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'t>>, StoreError> {
        let Some(entry) = self.entries.next().transpose()? else {
            self.check_end()?;
            return Ok(None);
        };
        // Entries of one key ascend by their values. No key of ours is empty, and the first is not
        // before the beginning.
        let is_in_order = match self.last {
            Some(last) => last < entry,
            None => !entry.0.is_empty() && self.from <= entry.0,
        };
        if !is_in_order {
            return Err(StoreError::Damaged);
        }
        self.first_key.get_or_insert(entry.0);
        self.last = Some(entry);
        self.seen += 1;
        Ok(Some(entry))
    }

    /// Checks the entry at which the caller stops.
    pub(crate) fn stop(self) -> Result<(), StoreError> {
        let Some((key, _)) = self.last else {
            return Ok(());
        };
        match self.table.get(self.txn, key)? {
            Some(_) => Ok(()),
            None => Err(StoreError::Damaged),
        }
    }

    /// The number of entries, by reading all of them.
    pub(crate) fn count(mut self) -> Result<u64, StoreError> {
        while self.next()?.is_some() {}
        Ok(self.seen)
    }

    fn check_end(&self) -> Result<(), StoreError> {
        let key = |entry: Option<Entry<'t>>| entry.map(|(key, _)| key);
        let last_of_table = key(self.table.last(self.txn)?);
        let is_last = match (key(self.last), last_of_table) {
            (None, Some(last)) => last < self.from,
            (seen, last) => seen == last,
        };
        if !is_last {
            return Err(StoreError::Damaged);
        }
        let is_of_whole_table = key(self.table.first(self.txn)?) == self.first_key;
        if is_of_whole_table && self.table.len(self.txn)? != self.seen {
            return Err(StoreError::Damaged);
        }
        Ok(())
    }
}
