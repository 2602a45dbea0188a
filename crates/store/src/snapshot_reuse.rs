//! Snapshot reuse: a thread reads many requests from one read transaction.
//!
//! Opening a snapshot costs about as much as a lookup. So each worker reuses one read transaction
//! for all requests it serves between two waits, and opens a new one after any commit: it always
//! sees acknowledged writes. An old snapshot keeps pages from being reused, so a thread that waits
//! has none. One thread may see a commit that is not acknowledged yet slightly before another.

use std::cell::Cell;

use heed::{RoTxn, WithoutTls};

use crate::embedded::Embedded;
use crate::error::StoreError;

thread_local! {
    static REUSES_SNAPSHOTS: Cell<bool> = const { Cell::new(false) };
    static CACHED: Cell<Option<CachedSnapshot>> = const { Cell::new(None) };
}

/// A snapshot that later reads of the same thread may reuse.
struct CachedSnapshot {
    engine: u64,
    /// The number of commits before it was opened.
    commits: u64,
    txn: RoTxn<'static, WithoutTls>,
}

/// Lets the reads of this thread reuse one snapshot from now on. The thread must call
/// [`release_snapshot`] before it waits for anything.
pub fn reuse_snapshots() {
    REUSES_SNAPSHOTS.set(true);
}

/// Whether the reads of this thread reuse a snapshot.
#[must_use]
pub fn reuses_snapshots() -> bool {
    REUSES_SNAPSHOTS.get()
}

/// Releases the snapshot that reads of this thread have reused.
pub fn release_snapshot() {
    CACHED.set(None);
}

/// Reads from the newest snapshot.
pub(crate) fn read<T>(
    engine: &Embedded,
    read: impl FnOnce(&RoTxn<'_, WithoutTls>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if !REUSES_SNAPSHOTS.get() {
        return read(&engine.begin_read()?);
    }
    let commits = engine.commits();
    // A nested read, which is rare, opens its own snapshot.
    let cached = CACHED
        .take()
        .filter(|cached| cached.engine == engine.id() && cached.commits == commits);
    let cached = match cached {
        Some(cached) => cached,
        None => CachedSnapshot {
            engine: engine.id(),
            commits,
            txn: engine.begin_lasting_read()?,
        },
    };
    let outcome = read(&cached.txn);
    CACHED.set(Some(cached));
    outcome
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Store, TableKey, Write};

    fn put(store: &Store, value: u8) {
        let write = Write::put(TableKey::record(b"name"), &[value]);
        let put = store.change(move |_| Ok::<_, StoreError>((vec![write], ())));
        put.unwrap();
    }

    fn get(store: &Store) -> Option<u8> {
        let read = store.read(|now| now.get(&TableKey::record(b"name"), |bytes| bytes[0]));
        read.unwrap()
    }

    /// Runs a function in a thread that reuses snapshots.
    fn in_reusing_thread(run: impl FnOnce() + Send) {
        thread::scope(|scope| {
            scope.spawn(|| {
                reuse_snapshots();
                run();
            });
        });
    }

    #[test]
    fn a_commit_is_seen_before_the_snapshot_is_released() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let stores = folders
            .each_ref()
            .map(|folder| Store::create(folder.path()).unwrap());
        in_reusing_thread(|| {
            for value in 0..100 {
                for (store, value) in stores.iter().zip([value, value + 100]) {
                    put(store, value);
                    assert_eq!((get(store), get(store)), (Some(value), Some(value)));
                }
            }
            release_snapshot();
            assert_eq!(stores.each_ref().map(get), [Some(99), Some(199)]);
        });
    }

    #[test]
    fn a_read_inside_of_a_read_sees_what_came_between() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        in_reusing_thread(|| {
            put(&store, 1);
            let table_key = TableKey::record(b"name");
            let read = store.read(|now| {
                put(&store, 2);
                assert_eq!(get(&store), Some(2));
                now.get(&table_key, |bytes| bytes[0])
            });
            assert_eq!(read.unwrap(), Some(1));
            assert_eq!(get(&store), Some(2));
        });
    }

    #[test]
    fn a_released_snapshot_lets_pages_be_reused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let grown = |releases: bool| {
            let before = store.usage().used;
            in_reusing_thread(|| {
                assert!(get(&store).is_some());
                if releases {
                    release_snapshot();
                }
                thread::scope(|scope| {
                    scope.spawn(|| (0..200).for_each(|value| put(&store, value)));
                });
            });
            store.usage().used - before
        };
        put(&store, 0);
        grown(true);
        let (cached, released) = (grown(false), grown(true));
        assert!(released < cached / 4, "{released} and {cached}");
    }
}
