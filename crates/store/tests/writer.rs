//! The writer thread outlives the changes that it runs.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::mpsc::{Receiver, channel};

use handfast_store::{Snapshot, Store, StoreError, Table, TableKey, Write};

type Outcome = Result<(), StoreError>;

fn put(name: &str) -> Write {
    Write::put(TableKey::record(name.as_bytes()), b"value")
}

fn holds(store: &Store, name: &str) -> bool {
    let found = store.read(|now| now.get(&TableKey::record(name.as_bytes()), |_| ()));
    found.unwrap().is_some()
}

fn submit(
    store: &Store,
    decide: impl FnOnce(&Snapshot<'_>) -> Result<(Vec<Write>, ()), StoreError> + Send + 'static,
) -> Receiver<Outcome> {
    let (done, wait) = channel();
    store.submit(decide, move |outcome| done.send(outcome).unwrap());
    wait
}

/// Guards against a panic in one change that ends the writer thread: every later change was
/// "closed", and the others of its batch were lost.
#[test]
fn a_change_that_panics_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    // The writer waits inside the first change until the others have arrived: they make one batch.
    let (go, wait) = channel::<()>();
    let first = submit(&store, move |_| {
        wait.recv().unwrap();
        Ok((vec![put("first")], ()))
    });
    let before = submit(&store, |_| Ok((vec![put("before")], ())));
    let panics = submit(&store, |_| panic!("an invariant that does not hold"));
    let after = submit(&store, |now| {
        assert!(now.get(&TableKey::record(b"before"), |_| ())?.is_some());
        Ok((vec![put("after")], ()))
    });
    go.send(()).unwrap();
    first.recv().unwrap().unwrap();
    before.recv().unwrap().unwrap();
    let error = panics.recv().unwrap().unwrap_err();
    assert!(matches!(error, StoreError::ChangePanicked));
    assert_eq!(
        error.to_string(),
        "this change failed inside the server: it was not made"
    );
    after.recv().unwrap().unwrap();
    assert!(holds(&store, "before") && holds(&store, "after"));
    // The writer lives.
    submit(&store, |_| Ok((vec![put("later")], ())))
        .recv()
        .unwrap()
        .unwrap();
    assert!(holds(&store, "later"));
    assert_eq!(store.last_failure(), None);
}

/// Guards against a load that panics: the writer thread ended, or the writes of the load so far
/// were committed.
#[test]
fn a_load_that_panics_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let (done, wait) = channel();
    store.load::<(), StoreError>(
        |loading| {
            loading.put(&TableKey::record(b"half"), b"value")?;
            panic!("half of it is written")
        },
        move |outcome| done.send(outcome).unwrap(),
    );
    let error = wait.recv().unwrap().unwrap_err();
    assert!(matches!(error, StoreError::ChangePanicked));
    assert!(!holds(&store, "half"));
    let later = store.change(|_| Ok::<_, StoreError>((vec![put("later")], ())));
    later.unwrap();
    let names = store.read(|now| now.count(Table::Records)).unwrap();
    assert_eq!(names, 1);
}

/// Guards against an answer function that panics: the writer thread ended, and no other caller was
/// answered.
#[test]
fn a_caller_that_panics_when_it_is_answered_harms_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    store.submit(
        |_| Ok::<_, StoreError>((vec![put("one")], ())),
        |_| panic!("nobody is there"),
    );
    let later = store.change(|_| Ok::<_, StoreError>((vec![put("two")], ())));
    later.unwrap();
    assert!(holds(&store, "one") && holds(&store, "two"));
}

/// Guards against a full store that looks healthy: the failure is recorded until a commit succeeds,
/// and a probe makes that commit.
#[test]
fn a_failed_write_is_remembered_until_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create_with(folder.path(), Some(1 << 20)).unwrap();
    let large = vec![7; 2 << 20];
    let write = Write::put(TableKey::record(b"large"), &large);
    let refused = store.change(move |_| Ok::<_, StoreError>((vec![write], ())));
    assert!(matches!(refused, Err(StoreError::Full)));
    assert!(store.last_failure().is_some());
    let (done, wait) = channel();
    store.probe(move |outcome| done.send(outcome).unwrap());
    wait.recv().unwrap().unwrap();
    assert_eq!(store.last_failure(), None);
    assert!(!holds(&store, "large"));
}
