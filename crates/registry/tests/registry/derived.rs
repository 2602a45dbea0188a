//! Counts of names, which follow the events in an environment of their own.

use std::fs;
use std::sync::Arc;

use handfast_registry::{Format, Import, NameAction, NameCounts, NameFilter, State, StateCounts};

use super::*;

/// Counts by reading all names.
fn counted(registry: &Registry, authority: &str, with_children: bool) -> StateCounts {
    let filter = NameFilter {
        authority: Some(authority.to_string()),
        with_children,
        ..NameFilter::default()
    };
    let (mut counts, mut after) = (StateCounts::default(), None);
    loop {
        let page = registry.list_names(&OPERATOR, &filter, after.as_deref(), 3);
        let page = page.unwrap();
        for name in &page.names {
            match name.state {
                State::Active => counts.active += 1,
                State::Reserved => counts.reserved += 1,
                State::Withdrawn => counts.withdrawn += 1,
            }
        }
        after = page.next;
        if after.is_none() {
            return counts;
        }
    }
}

fn assert_counted(registry: &Registry, authorities: &[&str]) {
    let all = registry.counts_of_all().unwrap();
    for authority in authorities {
        let counts = registry.counts(authority).unwrap();
        assert_eq!(
            counts.own(),
            counted(registry, authority, false),
            "{authority}"
        );
        let with_children = counted(registry, authority, true);
        assert_eq!(counts.with_children, with_children, "{authority}");
        assert_eq!(counts.as_of_event, registry.event_count().unwrap());
        let path = registry.authority(&OPERATOR, authority).unwrap().path;
        assert_eq!(all.get(path.key()), Some(&counts), "{authority}");
    }
}

fn act(registry: &Registry, id: &str, action: NameAction) {
    registry.change_name(&OPERATOR, id, None, action).unwrap();
}

#[test]
fn counts_are_right_after_every_kind_of_change() {
    let scene = scene();
    authority(&scene, "20.1");
    authority(&scene, "20.1.5");
    erasable_authority(&scene, "20.2");
    authority(&scene, "urn:urn-3");
    authority(&scene, "urn:urn-3:HUL");
    let all = ["20.1", "20.1.5", "20.2", "urn:urn-3", "urn:urn-3:HUL"];
    let create = |id: &str, reserve: bool| {
        let new = NewName {
            reserve,
            ..NewName::default()
        };
        scene.create_name(&OPERATOR, id, new).unwrap();
    };
    for prefix in ["20.1", "20.1.5", "20.2"] {
        for name in ["a", "b", "c"] {
            create(&format!("{prefix}/{name}"), name == "b");
        }
    }
    create("urn:urn-3:HUL:x", false);
    assert_counted(&scene, &all);
    let withdraw = || NameAction::Withdraw {
        reason: "wrong".to_string(),
        successor: None,
    };
    act(&scene, "20.1/b", NameAction::Activate);
    act(&scene, "20.1/a", withdraw());
    act(&scene, "20.1/b", withdraw());
    act(&scene, "20.1/b", NameAction::Restore);
    act(&scene, "20.1/b", NameAction::Undo(None));
    assert_counted(&scene, &all);
    // An erased name may have had any state.
    act(&scene, "20.2/c", withdraw());
    for name in ["20.2/a", "20.2/b", "20.2/c"] {
        act(&scene, name, NameAction::Erase);
        assert_counted(&scene, &all);
    }
    create("20.2/a", true);
    let minted = scene.mint(&OPERATOR, "20.1.5", &MintOptions::default(), 5, |_| Ok(()));
    minted.unwrap();
    let lines = r#"{"id":"20.1.5/m","state":"withdrawn","withdrawn":{"reason":"old"}}
{"id":"20.1.5/n","state":"reserved"}
{"id":"20.1.5/o"}
"#;
    let import = Import {
        format: Some(Format::Ndjson),
        ..Import::default()
    };
    let imported = scene.import(&OPERATOR, &import, lines.as_bytes(), &mut |_| ());
    assert_eq!(imported.unwrap().counts.refused, 0);
    assert_counted(&scene, &all);
    assert!(scene.counts("20.1.5").unwrap().active >= 7);
    let totals = scene.name_totals().unwrap();
    let names = scene.statistics().unwrap().names;
    assert_eq!(totals.by_state.total(), names);
    assert_eq!(totals.by_scheme["hdl"] + totals.by_scheme["urn"], names);
}

/// A parent that is created later has no rights over what was there before, and so it does not
/// learn how many names there are.
#[test]
fn children_are_those_that_were_created_under_an_authority() {
    let scene = scene();
    authority(&scene, "20.1.5");
    authority(&scene, "20.1");
    authority(&scene, "20.1.6");
    authority(&scene, "20.11");
    for id in ["20.1/a", "20.1.5/a", "20.1.6/a", "20.11/a"] {
        let created = scene.create_name(&OPERATOR, id, NewName::default());
        created.unwrap();
    }
    assert_counted(&scene, &["20.1", "20.1.5", "20.1.6", "20.11"]);
    let counts = scene.counts("20.1").unwrap();
    assert_eq!((counts.active, counts.with_children.active), (1, 2));
}

#[test]
fn derived_data_that_is_missing_or_damaged_or_of_another_store_is_rebuilt() {
    let scene = scene();
    authority(&scene, "20.1");
    scene
        .create_name(&OPERATOR, "20.1/a", NewName::default())
        .unwrap();
    let file = scene.folder.path().join("backup");
    let data = scene.folder.path().join("restored");
    scene.backup(&file).unwrap();
    let reopen = || Registry::open(&data, environment()).unwrap();
    let derived = data.join("derived");
    let check = |registry: &Registry| {
        assert_eq!(registry.counts("20.1").unwrap().active, 1);
        assert!(derived.join("data.mdb").exists());
        assert!(!derived.join("opening").exists());
    };
    check(&Registry::restore(&file, &data, environment()).unwrap());
    check(&reopen());
    fs::remove_dir_all(&derived).unwrap();
    check(&reopen());
    let whole = fs::read(derived.join("data.mdb")).unwrap();
    let truncated = whole.get(..4_096).unwrap();
    for damaged in [&b"no store"[..], truncated] {
        fs::write(derived.join("data.mdb"), damaged).unwrap();
        check(&reopen());
    }
    // A process that ended while it opened the environment.
    fs::write(derived.join("opening"), b"").unwrap();
    check(&reopen());
    // The data of another log: the restored one has other events after the backup.
    let other = scene.folder.path().join("other");
    let registry = Registry::restore(&file, &other, environment()).unwrap();
    for id in ["20.1/x", "20.1/y", "20.1/z"] {
        let created = registry.create_name(&OPERATOR, id, NewName::default());
        created.unwrap();
    }
    assert_eq!(registry.counts("20.1").unwrap().active, 4);
    drop(registry);
    fs::remove_dir_all(&derived).unwrap();
    fs::create_dir(&derived).unwrap();
    for entry in fs::read_dir(other.join("derived")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), derived.join(entry.file_name())).unwrap();
    }
    check(&reopen());
}

/// The cache of redirects is valid for one number of commits.
#[test]
fn writing_to_other_environments_leaves_the_cache_of_redirects_alone() {
    let scene = scene();
    authority(&scene, "20.1");
    let generation = scene.cache_generation();
    assert_eq!(scene.counts("20.1").unwrap().active, 0);
    scene.note_token_used("t");
    scene.note_session_seen("s");
    scene.note_account_seen("ann");
    scene.forget_session_seen("s");
    let file = scene.folder.path().join("backup");
    scene.backup(&file).unwrap();
    assert!(scene.registry.folder().join("derived/data.mdb").exists());
    assert!(scene.registry.folder().join("observed/data.mdb").exists());
    assert_eq!(scene.cache_generation(), generation);
    scene
        .create_name(&OPERATOR, "20.1/a", NewName::default())
        .unwrap();
    assert_ne!(scene.cache_generation(), generation);
}

#[test]
fn a_background_thread_follows_the_events_until_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::create(folder.path(), environment()).unwrap();
    let registry = Arc::new(registry);
    authority(&registry, "20.1");
    let follower = registry.follow_events(|error| panic!("{error}")).unwrap();
    let create = |number: u32| {
        let id = format!("20.1/{number}");
        registry
            .create_name(&OPERATOR, &id, NewName::default())
            .unwrap();
    };
    let wait_for = |is_there: &dyn Fn(&NameCounts) -> bool| {
        // The test ends after its time limit if the thread does nothing.
        while !registry
            .counts("20.1")
            .is_ok_and(|counts| is_there(&counts))
        {
            std::thread::yield_now();
        }
    };
    for number in 1..=3 {
        create(number);
        wait_for(&|counts| counts.active == u64::from(number));
    }
    drop(follower);
    // Without the thread, who asks brings the counts up to date.
    create(4);
    assert_eq!(registry.counts("20.1").unwrap().active, 4);
    is_honest(&registry);
}

/// A program that only reads the folder, beside a server, neither makes nor changes the other
/// environments.
#[test]
fn reading_alone_writes_nothing() {
    let scene = scene();
    authority(&scene, "20.1");
    let data = copy_of(&scene);
    let registry = Registry::open_read_only(&data, environment()).unwrap();
    registry.note_token_used("t");
    assert_eq!(registry.token_last_used("t"), None);
    assert!(registry.counts("20.1").is_err());
    let filter = handfast_registry::EventFilter::default();
    assert!(
        !registry
            .list_events(&OPERATOR, &filter, None, 9)
            .unwrap()
            .events
            .is_empty()
    );
    assert!(!data.join("derived").exists() && !data.join("observed").exists());
}
