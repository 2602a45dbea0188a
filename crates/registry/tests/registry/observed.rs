//! Times of last use, which backups contain.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::NewToken;
use handfast_store::Store;

use super::*;

const MINUTE: u64 = 60_000;
const DAY: u64 = 86_400_000;

/// An environment whose clock the test moves.
fn clocked(clock: &Arc<AtomicU64>) -> Environment {
    let clock = Arc::clone(clock);
    Environment::new(move || clock.load(Ordering::Relaxed), |bytes| bytes.fill(7))
}

#[test]
fn a_used_token_is_noted_by_its_day_and_its_account_to_five_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicU64::new(20_000 * DAY + 5));
    let registry = Registry::create(folder.path(), clocked(&clock)).unwrap();
    registry.create_account(&OPERATOR, "Ann", "").unwrap();
    let made = registry.create_token(&OPERATOR, "Ann", NewToken::default());
    let (text, token) = made.unwrap();
    let last = |registry: &Registry| {
        let token = registry.token_last_used(&token.id);
        (token, registry.account_last_seen("ann"))
    };
    assert_eq!(last(&registry), (None, None));
    assert_eq!(registry.who_has("handfast_wrong").unwrap(), None);
    assert_eq!(last(&registry), (None, None));
    let day = 20_000 * DAY;
    for (later, seen) in [
        (0, 0),
        (4 * MINUTE, 0),
        (5 * MINUTE, 5 * MINUTE),
        (6 * MINUTE, 5 * MINUTE),
    ] {
        clock.store(day + 5 + later, Ordering::Relaxed);
        assert!(registry.who_has(&text).unwrap().is_some());
        assert_eq!(last(&registry), (Some(day), Some(day + 5 + seen)));
    }
    drop(registry);
    let registry = Registry::open(folder.path(), clocked(&clock)).unwrap();
    assert_eq!(last(&registry), (Some(day), Some(day + 5 + 5 * MINUTE)));
    clock.store(day + DAY, Ordering::Relaxed);
    assert!(registry.who_has(&text).unwrap().is_some());
    assert_eq!(last(&registry), (Some(day + DAY), Some(day + DAY)));
}

#[test]
fn sessions_are_forgotten_when_they_end_or_are_old() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicU64::new(20_000 * DAY));
    let registry = Registry::create(folder.path(), clocked(&clock)).unwrap();
    for id in ["one", "two"] {
        registry.note_session_seen(id);
        assert_eq!(registry.session_last_seen(id), Some(20_000 * DAY));
    }
    registry.forget_session_seen("one");
    assert_eq!(registry.session_last_seen("one"), None);
    drop(registry);
    let reopened = |days: u64| {
        clock.store((20_000 + days) * DAY, Ordering::Relaxed);
        let registry = Registry::open(folder.path(), clocked(&clock)).unwrap();
        // The first write opens the environment, and comes after the deletion.
        registry.note_token_used("t");
        drop(registry);
        let registry = Registry::open(folder.path(), clocked(&clock)).unwrap();
        ["one", "two"].map(|id| registry.session_last_seen(id))
    };
    assert_eq!(reopened(20), [None, Some(20_000 * DAY)]);
    assert_eq!(reopened(31), [None, None]);
}

#[test]
fn a_backup_has_the_times_and_programs_that_do_not_know_them_can_restore_it() {
    let scene = scene();
    authority(&scene, "20.1");
    scene
        .create_name(&OPERATOR, "20.1/a", NewName::default())
        .unwrap();
    let file = |name: &str| scene.folder.path().join(name);
    scene.backup(&file("without")).unwrap();
    scene.note_token_used("t");
    scene.note_session_seen("s");
    scene.backup(&file("with")).unwrap();
    assert!(scene.backup(&file("with")).is_err());
    let last = |registry: &Registry| {
        assert!(registry.show(&OPERATOR, "20.1/a").is_ok());
        assert_eq!(registry.check().unwrap().problems.len(), 0);
        (
            registry.token_last_used("t"),
            registry.session_last_seen("s"),
        )
    };
    let restored = Registry::restore(&file("with"), &file("a"), environment()).unwrap();
    assert_eq!(last(&restored), last(&scene));
    let restored = Registry::restore(&file("without"), &file("b"), environment()).unwrap();
    assert_eq!(last(&restored), (None, None));
    // As every earlier version restores a file: all of it is the store.
    drop(Store::restore(&file("with"), &file("c")).unwrap());
    let restored = Registry::open(&file("c"), environment()).unwrap();
    assert_eq!(last(&restored), (None, None));
    for number in 0..200 {
        let new = NewName::urls(&[&format!("https://example.org/{}", "x".repeat(500))]);
        restored
            .create_name(&OPERATOR, &format!("20.1/{number}"), new)
            .unwrap();
    }
    drop(restored);
    let restored = Registry::open(&file("c"), environment()).unwrap();
    assert_eq!(last(&restored), (None, None));
    assert!(restored.show(&OPERATOR, "20.1/199").is_ok());
}

#[test]
fn damaged_times_are_moved_aside_and_stop_nothing_but_a_backup() {
    let scene = scene();
    authority(&scene, "20.1");
    scene.note_token_used("t");
    let data = copy_of(&scene);
    fs::write(data.join("observed/data.mdb"), b"no store").unwrap();
    let file = scene.folder.path().join("another");
    let reading = Registry::open_read_only(&data, environment()).unwrap();
    assert_eq!(code(reading.backup(&file)), "damaged-observations");
    assert!(!file.exists());
    drop(reading);
    let registry = Registry::open(&data, environment()).unwrap();
    assert_eq!(registry.token_last_used("t"), None);
    registry.note_token_used("t");
    assert!(registry.token_last_used("t").is_some());
    assert!(data.join("observed.damaged").exists());
    registry.backup(&file).unwrap();
}
