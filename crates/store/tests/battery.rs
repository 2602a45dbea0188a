//! The behaviour that every engine must show, written once. A second engine is added to the list at
//! the end.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use handfast_store::{FORMAT, Snapshot, Store, StoreError, Table, TableKey, Write};
use proptest::prelude::*;

type Outcome<T = ()> = Result<T, StoreError>;

fn put(store: &Store, name: &[u8], bytes: &[u8]) -> Outcome {
    let write = Write::put(TableKey::record(name), bytes);
    store.change(move |_| Ok((vec![write], ())))
}

fn get(store: &Store, name: &[u8]) -> Option<Vec<u8>> {
    store
        .read(|now| now.get(&TableKey::record(name), <[u8]>::to_vec))
        .unwrap()
}

fn names(store: &Store, from: &TableKey<'_>) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let visit = &mut |table_key: &TableKey<'_>, _: &[u8]| {
        names.push(table_key.name().to_vec());
        ControlFlow::Continue(())
    };
    store.read(|now| now.scan(from, visit)).unwrap();
    names
}

fn exists(now: &Snapshot<'_>, name: &[u8]) -> Outcome<bool> {
    Ok(now.get(&TableKey::record(name), |_| ())?.is_some())
}

mod behaviour {
    use super::*;

    pub(super) fn what_is_put_is_there(store: &Store) {
        put(store, b"hdl:1/A", b"one").unwrap();
        put(store, b"hdl:1/A", b"two").unwrap();
        assert_eq!(get(store, b"hdl:1/A").unwrap(), b"two");
        assert_eq!(get(store, b"hdl:1/B"), None);
        store
            .change(|_| {
                Ok::<_, StoreError>((vec![Write::Delete(TableKey::record(b"hdl:1/A"))], ()))
            })
            .unwrap();
        assert_eq!(get(store, b"hdl:1/A"), None);
    }

    pub(super) fn names_of_any_length_stay_distinct(store: &Store) {
        let long: Vec<Vec<u8>> = [479, 480, 481, 600, 2_052]
            .map(|length| vec![b'x'; length])
            .to_vec();
        for (number, name) in (0..).zip(&long) {
            put(store, name, &[number]).unwrap();
        }
        for (number, name) in (0..).zip(&long) {
            assert_eq!(get(store, name).unwrap(), [number], "{}", name.len());
        }
        let mut listed = names(store, &TableKey::record(b"x"));
        listed.sort_by_key(Vec::len);
        assert_eq!(listed, long);
    }

    pub(super) fn tables_are_in_order(store: &Store) {
        let writes = [3, 1, 2].map(|number| Write::put(TableKey::event(number), b""));
        store
            .change(move |_| Ok::<_, StoreError>((writes.to_vec(), ())))
            .unwrap();
        let mut numbers = Vec::new();
        let visit = &mut |table_key: &TableKey<'_>, _: &[u8]| {
            numbers.push(table_key.number().unwrap());
            if numbers.len() == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        store
            .read(|now| now.scan(&TableKey::event(2), visit))
            .unwrap();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(
            store.read(|now| now.last_number(Table::Events)).unwrap(),
            Some(3)
        );
        assert_eq!(
            store.read(|now| now.last_number(Table::Jobs)).unwrap(),
            None
        );
        assert_eq!(store.read(|now| now.count(Table::Events)).unwrap(), 3);
    }

    pub(super) fn versions_of_one_name_are_not_those_of_another(store: &Store) {
        let writes = [
            Write::put(TableKey::version(b"a", 1), b"a1"),
            Write::put(TableKey::version(b"a", 2), b"a2"),
            Write::put(TableKey::version(b"ab", 1), b"ab1"),
        ];
        store
            .change(move |_| Ok::<_, StoreError>((writes.to_vec(), ())))
            .unwrap();
        let version = |name: &'static [u8], number| {
            store
                .read(|now| now.get(&TableKey::version(name, number), <[u8]>::to_vec))
                .unwrap()
        };
        assert_eq!(version(b"a", 2).unwrap(), b"a2");
        assert_eq!(version(b"ab", 1).unwrap(), b"ab1");
        assert_eq!(version(b"ab", 2), None);
    }

    pub(super) fn many_names_have_a_value(store: &Store) {
        let hold = |key: &[u8]| Write::IndexInsert {
            value: b"URL\0https://x".to_vec(),
            key: key.to_vec(),
        };
        let writes = vec![hold(b"b"), hold(b"a"), hold(b"a")];
        store
            .change(move |_| Ok::<_, StoreError>((writes, ())))
            .unwrap();
        let names_with_value = || {
            let mut keys = Vec::new();
            let visit = &mut |key: &[u8]| {
                keys.push(key.to_vec());
                ControlFlow::Continue(())
            };
            store
                .read(|now| now.names_with_value(b"URL\0https://x", visit))
                .unwrap();
            keys
        };
        assert_eq!(names_with_value(), [b"a", b"b"]);
        let release = Write::IndexRemove {
            value: b"URL\0https://x".to_vec(),
            key: b"a".to_vec(),
        };
        store
            .change(move |_| Ok::<_, StoreError>((vec![release], ())))
            .unwrap();
        assert_eq!(names_with_value(), [b"b"]);
    }

    pub(super) fn a_refused_change_leaves_no_trace_and_spoils_no_other(store: &Store) {
        #[derive(Debug)]
        struct Refused;
        impl From<StoreError> for Refused {
            fn from(error: StoreError) -> Self {
                panic!("{error}")
            }
        }
        let refused: Result<(), Refused> = store.change(|_| Err(Refused));
        assert!(refused.is_err());
        put(store, b"after", b"").unwrap();
        assert!(get(store, b"after").is_some());
    }

    pub(super) fn a_snapshot_does_not_change(store: &Store) {
        put(store, b"old", b"1").unwrap();
        store
            .read(|now| {
                put(store, b"old", b"2").unwrap();
                put(store, b"new", b"").unwrap();
                assert_eq!(
                    now.get(&TableKey::record(b"old"), <[u8]>::to_vec)?.unwrap(),
                    b"1"
                );
                assert!(!exists(now, b"new")?);
                Ok(())
            })
            .unwrap();
        assert_eq!(get(store, b"old").unwrap(), b"2");
    }

    /// Many writers want the same names: each name is assigned once, to the writer that gets "yes".
    pub(super) fn a_name_is_never_given_twice(store: &Arc<Store>) {
        let writers: Vec<_> = (0_u8..8)
            .map(|writer| {
                let store = Arc::clone(store);
                thread::spawn(move || {
                    let mut mine = Vec::new();
                    for number in 0..50_u8 {
                        let name = vec![b'n', number];
                        let taken = store.change({
                            let name = name.clone();
                            move |now| {
                                if exists(now, &name)? {
                                    return Ok::<_, StoreError>((vec![], false));
                                }
                                Ok((vec![Write::put(TableKey::record(&name), &[writer])], true))
                            }
                        });
                        if taken.unwrap() {
                            mine.push((name, writer));
                        }
                    }
                    mine
                })
            })
            .collect();
        let given: Vec<_> = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect();
        assert_eq!(given.len(), 50);
        for (name, writer) in given {
            assert_eq!(get(store, &name).unwrap(), [writer]);
        }
    }

    pub(super) fn what_was_acknowledged_is_there_after_opening_again(
        store: Store,
        open: impl FnOnce() -> Outcome<Store>,
    ) {
        put(&store, b"stored", b"x").unwrap();
        drop(store);
        assert_eq!(get(&open().unwrap(), b"stored").unwrap(), b"x");
    }

    pub(super) fn a_copy_is_a_store(store: &Store, folder: &Path) {
        put(store, b"copied", b"x").unwrap();
        let file = folder.join("copy");
        store.backup(&file).unwrap();
        assert!(
            store.backup(&file).is_err(),
            "a copy never overwrites a file"
        );
        put(store, b"later", b"x").unwrap();
        let copy = Store::restore(&file, &folder.join("restored")).unwrap();
        assert!(get(&copy, b"copied").is_some());
        assert!(get(&copy, b"later").is_none());
        assert!(
            copy.check()
                .unwrap()
                .iter()
                .all(|check| check.entries.is_ok())
        );
        drop(copy);
        let again = Store::restore(&file, &folder.join("restored"));
        assert!(matches!(again, Err(StoreError::AlreadyExists { .. })));
    }

    #[derive(Clone, Debug)]
    pub(super) enum Operation {
        Put(Vec<u8>, u8),
        Delete(Vec<u8>),
    }

    pub(super) fn operations() -> impl Strategy<Value = Vec<Operation>> {
        let name = prop_oneof![
            prop::collection::vec(prop::sample::select(vec![b'a', b'b']), 1..3),
            (478_usize..484).prop_map(|length| vec![b'l'; length]),
        ];
        let operation = prop_oneof![
            (name.clone(), any::<u8>()).prop_map(|(name, byte)| Operation::Put(name, byte)),
            name.prop_map(Operation::Delete),
        ];
        prop::collection::vec(operation, 0..40)
    }

    /// After any operations the store has the same entries as a map, in the same order for short
    /// names.
    pub(super) fn the_store_is_a_map(store: &Store, operations: &[Operation]) {
        let mut model = BTreeMap::new();
        for operation in operations {
            let write = match operation {
                Operation::Put(name, byte) => {
                    model.insert(name.clone(), vec![*byte]);
                    Write::put(TableKey::record(name), &[*byte])
                }
                Operation::Delete(name) => {
                    model.remove(name);
                    Write::Delete(TableKey::record(name).into_owned())
                }
            };
            store
                .change(move |_| Ok::<_, StoreError>((vec![write], ())))
                .unwrap();
        }
        let mut listed = names(store, &TableKey::record(b""));
        listed.sort();
        assert_eq!(listed, model.keys().cloned().collect::<Vec<_>>());
        for (name, bytes) in &model {
            assert_eq!(get(store, name).as_ref(), Some(bytes));
        }
    }
}

/// Instantiates the battery for an engine: how to create a store in a folder, and how to open it
/// again.
macro_rules! store_battery {
    ($engine:ident, $create:expr, $open:expr) => {
        mod $engine {
            use super::*;

            macro_rules! check {
                ($name:ident) => {
                    #[test]
                    fn $name() {
                        let folder = tempfile::tempdir().unwrap();
                        behaviour::$name(&$create(folder.path()).unwrap());
                    }
                };
            }
            check!(what_is_put_is_there);
            check!(names_of_any_length_stay_distinct);
            check!(tables_are_in_order);
            check!(versions_of_one_name_are_not_those_of_another);
            check!(many_names_have_a_value);
            check!(a_refused_change_leaves_no_trace_and_spoils_no_other);
            check!(a_snapshot_does_not_change);

            #[test]
            fn a_name_is_never_given_twice() {
                let folder = tempfile::tempdir().unwrap();
                behaviour::a_name_is_never_given_twice(&Arc::new($create(folder.path()).unwrap()));
            }

            #[test]
            fn what_was_acknowledged_is_there_after_opening_again() {
                let folder = tempfile::tempdir().unwrap();
                let store = $create(folder.path()).unwrap();
                let open = || $open(folder.path());
                behaviour::what_was_acknowledged_is_there_after_opening_again(store, open);
            }

            #[test]
            fn a_copy_is_a_store() {
                let folder = tempfile::tempdir().unwrap();
                let store = $create(&folder.path().join("store")).unwrap();
                behaviour::a_copy_is_a_store(&store, folder.path());
            }

            proptest! {
                #![proptest_config(ProptestConfig {
                    cases: 40,
                    failure_persistence: None,
                    ..Default::default()
                })]

                #[test]
                fn the_store_is_a_map(operations in behaviour::operations()) {
                    let folder = tempfile::tempdir().unwrap();
                    behaviour::the_store_is_a_map(&$create(folder.path()).unwrap(), &operations);
                }
            }
        }
    };
}

store_battery!(embedded, Store::create, Store::open);

/// Tests that need a folder on this machine.
mod folder {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_used_by_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        put(&store, b"stored", b"").unwrap();
        assert!(matches!(
            Store::open(folder.path()),
            Err(StoreError::Locked { .. })
        ));
        drop(store);
        assert!(matches!(
            Store::create(folder.path()),
            Err(StoreError::AlreadyExists { .. })
        ));
        assert!(Store::open(folder.path()).is_ok());
    }

    /// `init` may be killed before it has written anything.
    #[test]
    fn a_folder_that_was_not_finished_can_be_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let format = Write::Delete(TableKey::named(Table::Meta, b"format"));
        store
            .change(move |_| Ok::<_, StoreError>((vec![format], ())))
            .unwrap();
        drop(store);
        assert!(matches!(
            Store::open(folder.path()),
            Err(StoreError::NoStore { .. })
        ));
        drop(Store::create(folder.path()).unwrap());
        assert!(Store::open(folder.path()).is_ok());
    }

    /// The shortened form of a long name is itself a possible name.
    #[test]
    fn a_name_made_to_look_like_a_shortened_one_overwrites_nothing() {
        use sha2::{Digest, Sha256};
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let long = vec![b'z'; 600];
        put(&store, &long, b"stored").unwrap();
        let impostor = [&long[..448], &Sha256::digest(&long)[..]].concat();
        assert!(get(&store, &impostor).is_none());
        let is_of_other =
            |name: &[u8]| store.read(|now| now.is_of_other_name(&TableKey::record(name)));
        for (name, expected) in [(&impostor, true), (&long, false), (&vec![b'z'; 480], false)] {
            assert_eq!(is_of_other(name).unwrap(), expected);
        }
        assert!(put(&store, &impostor, b"stolen").is_err());
        assert_eq!(get(&store, &long).unwrap(), b"stored");
    }

    #[test]
    fn files_are_for_their_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        store.backup(&folder.path().join("copy")).unwrap();
        for name in ["data.mdb", "in-use", "copy"] {
            let mode = folder
                .path()
                .join(name)
                .metadata()
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn another_format_is_refused_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let other = (FORMAT + 1).to_be_bytes();
        let write = Write::put(TableKey::named(Table::Meta, b"format"), &other);
        store
            .change(move |_| Ok::<_, StoreError>((vec![write], ())))
            .unwrap();
        drop(store);
        let error = Store::open(folder.path()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("has format 3; this program knows format 2"),
            "{error}"
        );
    }

    #[test]
    fn a_full_store_says_so_keeps_what_it_has_and_goes_on_reading() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create_with(folder.path(), Some(1 << 20)).unwrap();
        let mut stored = 0_u32;
        let error = loop {
            match put(&store, &stored.to_be_bytes(), &[7; 4_000]) {
                Ok(()) => stored += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StoreError::Full), "{error}");
        assert!(stored > 10);
        assert!((0..stored).all(|number| get(&store, &number.to_be_bytes()).is_some()));
        assert!(get(&store, &stored.to_be_bytes()).is_none());
        assert!(
            store
                .check()
                .unwrap()
                .iter()
                .all(|check| check.entries.is_ok())
        );
    }

    #[test]
    fn a_file_that_was_interrupted_is_refused_and_does_not_end_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        for number in 0..200_u32 {
            put(&store, &number.to_be_bytes(), &[7; 2_000]).unwrap();
        }
        drop(store);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(folder.path().join("data.mdb"))
            .unwrap();
        for length in [200_000, 12_288, 8_192, 100, 0] {
            file.set_len(length).unwrap();
            assert!(Store::open(folder.path()).is_err(), "{length}");
        }
    }

    #[test]
    fn a_copy_that_is_no_store_is_refused_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("junk");
        std::fs::write(&file, vec![7; 10_000]).unwrap();
        let target = folder.path().join("target");
        assert!(Store::restore(&file, &target).is_err());
        assert!(!target.join("data.mdb").exists());
        assert!(Store::restore(&folder.path().join("missing"), &target).is_err());
        assert!(Store::create(&target).is_ok());
    }

    #[test]
    fn a_store_that_may_be_missing_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        let open = || Store::open_or_create(&target, 1 << 24).unwrap();
        let key = || TableKey::record(b"name");
        let write = Write::put(key(), b"bytes");
        let written = open().change(move |_| Ok::<_, StoreError>((vec![write], ())));
        written.unwrap();
        let read = open().read(|now| now.get(&key(), <[u8]>::len));
        assert_eq!(read.unwrap(), Some(5));
        assert!(!open().is_read_only());
        assert!(Store::open_read_only(&target).unwrap().is_read_only());
    }

    #[test]
    fn two_copies_in_one_file_are_two_stores() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut file = std::fs::File::create(path("copies")).unwrap();
        let mut middle = 0;
        for name in [&b"one"[..], b"two"] {
            let store = Store::create(&path(str::from_utf8(name).unwrap())).unwrap();
            let write = Write::put(TableKey::record(name), b"");
            let written = store.change(move |_| Ok::<_, StoreError>((vec![write], ())));
            written.unwrap();
            store.backup_to(&mut file).unwrap();
            if name == b"one" {
                middle = file.metadata().unwrap().len();
            }
        }
        let end = file.metadata().unwrap().len();
        for (part, name) in [(0..middle, &b"one"[..]), (middle..end, b"two")] {
            let target = path(&format!("restored-{}", part.start));
            let store = Store::restore_part(&path("copies"), part, &target).unwrap();
            let found = store.read(|now| now.get(&TableKey::record(name), |_| ()));
            assert_eq!(found.unwrap(), Some(()));
        }
    }
}
