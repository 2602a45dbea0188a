//! The page size is that of the file, not of the machine.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::fs;
use std::path::Path;

use handfast_store::{Store, StoreError, TableKey, Write};

/// Larger than the pages of the machines that tests run on.
const PAGE: usize = 16_384;

// The layout of a meta page of LMDB: a header of 16 octets, then magic, version, address and size
// of the map, the trees of free pages and of tables (48 octets each: page size or padding, flags,
// depth, three counts of pages, entries, root), the last page and the number of the transaction.
const MAP_SIZE: usize = 32;
const TREES: [usize; 2] = [40, 88];
const TREE_LENGTH: usize = 48;
const LAST_PAGE: usize = 136;
const TRANSACTION: usize = 144;
const META_LENGTH: usize = 152;

/// Makes the file of an empty store with pages of another size, out of a meta page that LMDB has
/// written.
fn make_with_other_pages(folder: &Path) {
    let other = tempfile::tempdir().unwrap();
    drop(Store::create(other.path()).unwrap());
    let bytes = fs::read(other.path().join("data.mdb")).unwrap();
    let mut file = vec![0; 2 * PAGE];
    for number in 0_u8..2 {
        let start = usize::from(number) * PAGE;
        let meta = &mut file[start..start + META_LENGTH];
        meta.copy_from_slice(&bytes[..META_LENGTH]);
        meta[0] = number;
        meta[MAP_SIZE..MAP_SIZE + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        for tree in TREES {
            // An empty tree: all zero but its flags, and a root that is none.
            meta[tree..tree + 4].copy_from_slice(&0_u32.to_le_bytes());
            meta[tree + 6..tree + TREE_LENGTH - 8].fill(0);
            meta[tree + TREE_LENGTH - 8..tree + TREE_LENGTH].fill(0xff);
        }
        let page = u32::try_from(PAGE).unwrap().to_le_bytes();
        meta[TREES[0]..TREES[0] + 4].copy_from_slice(&page);
        meta[LAST_PAGE..LAST_PAGE + 8].copy_from_slice(&1_u64.to_le_bytes());
        meta[TRANSACTION..TRANSACTION + 8].copy_from_slice(&u64::from(number).to_le_bytes());
    }
    fs::write(folder.join("data.mdb"), file).unwrap();
}

/// Guards against an intact folder from a machine with another page size that is called damaged, or
/// here, a truncated one that is called intact: the page size was the machine's.
#[test]
fn a_file_with_other_pages_is_measured_by_them() {
    let folder = tempfile::tempdir().unwrap();
    make_with_other_pages(folder.path());
    let store = Store::create(folder.path()).unwrap();
    let names: Vec<_> = (0..4_000_u32).map(u32::to_be_bytes).collect();
    let writes = names
        .iter()
        .map(|name| Write::put(TableKey::record(name), &[7; 1_000]))
        .collect::<Vec<_>>();
    store
        .change(move |_| Ok::<_, StoreError>((writes, ())))
        .unwrap();
    let used = store.usage().used;
    drop(store);

    let file = folder.path().join("data.mdb");
    let length = fs::metadata(&file).unwrap().len();
    assert!(length > 4_000_000);
    assert!(used.abs_diff(length) <= 64 * 16_384, "{used} of {length}");
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(store.usage().used, used);
    drop(store);

    let cut = fs::OpenOptions::new().write(true).open(&file).unwrap();
    cut.set_len(2_000_000).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged), "{error}");
}
