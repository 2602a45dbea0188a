//! Storing records: sorted tables, snapshot reads, one writer.
//!
//! A store has a handful of sorted tables of bytes. Reads see a snapshot and take no lock. Changes
//! go through one writer. It collects the waiting changes, decides each against the state after the
//! ones before it, writes all of them in one transaction, syncs once, and answers all callers. A
//! rejected change writes nothing and does not affect the others.
//!
//! ```
//! use handfast_store::{TableKey, Store, StoreError, Write};
//!
//! # let folder = tempfile::tempdir()?;
//! let store = Store::create(folder.path())?;
//! let table_key = TableKey::record(b"hdl:20.1000/X");
//! store.change(|_now| Ok::<_, StoreError>((vec![Write::put(table_key, b"bytes")], ())))?;
//! let length = store.read(|now| now.get(&TableKey::record(b"hdl:20.1000/X"), <[u8]>::len))?;
//! assert_eq!(length, Some(5));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod checked_range;
mod damage_handler;
mod embedded;
mod error;
mod health;
mod loading;
mod opening;
mod snapshot_reuse;
mod sorter;
mod store;
mod table_key;
mod writer;

pub use embedded::{Snapshot, VisitIndex};
pub use error::StoreError;
pub use health::DiskSpace;
pub use loading::Loading;
pub use snapshot_reuse::{release_snapshot, reuse_snapshots, reuses_snapshots};
pub use sorter::{Merge, Run, Sorted, Sorter};
pub use store::{FORMAT, Store, TableCheck, Usage, sync_name};
pub use table_key::{Table, TableKey, index_value};
pub use writer::{Change, Write};
