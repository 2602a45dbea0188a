//! The life of names.

use std::sync::Arc;
use std::thread;

use handfast_registry::{Action, Edit, HistoryPoint, NameAction, Role, State};

use crate::*;

#[test]
fn hdl_7_urn_7_a_name_that_existed_is_never_given_again_in_any_spelling() {
    let scene = scene();
    authority(&scene, "20.1000");
    name(&scene, "20.1000/Abc");
    withdraw(&scene, "20.1000/Abc");
    for spelling in [
        "20.1000/Abc",
        "20.1000/ABC",
        "hdl:20.1000/abc",
        "hdl://20.1000/%41bc",
        "info:hdl/20.1000/abc",
        "https://hdl.handle.net/20.1000/abc",
    ] {
        match scene.create_name(&OPERATOR, spelling, NewName::default()) {
            Err(RegistryError::Exists { event: Some(3), .. }) => {}
            other => panic!("{spelling}: {other:?}"),
        }
    }
    for path in ["urn:urn-3", "urn:urn-3:HUL"] {
        authority(&scene, path);
    }
    name(&scene, "urn:urn-3:HUL:Home");
    withdraw(&scene, "urn:urn-3:HUL:Home");
    let erased = scene.change_name(&OPERATOR, "urn:urn-3:HUL:Home", None, NameAction::Erase);
    assert_eq!(code(erased), "permanent");
    for spelling in ["urn:urn-3:HUL:Home", "urn-3:hul:HOME"] {
        let again = scene.create_name(&OPERATOR, spelling, NewName::default());
        assert_eq!(code(again), "exists", "{spelling}");
    }
    let file = scene.folder.path().join("backup");
    scene.backup(&file).unwrap();
    let restored =
        Registry::restore(&file, &scene.folder.path().join("restored"), environment()).unwrap();
    for id in ["20.1000/ABC", "urn:urn-3:HUL:home"] {
        let again = restored.create_name(&OPERATOR, id, NewName::default());
        assert_eq!(code(again), "exists", "{id}");
    }
}

#[test]
fn urn_9_urls_keep_their_order_and_versions_are_stored() {
    let scene = scene();
    authority(&scene, "20.1");
    let urls = ["https://z", "https://a", "https://m"];
    scene
        .create_name(&OPERATOR, "20.1/x", NewName::urls(&urls))
        .unwrap();
    let shown = scene.show(&OPERATOR, "20.1/x").unwrap();
    let data: Vec<_> = shown
        .record
        .values
        .iter()
        .map(|value| value.data.to_vec())
        .collect();
    assert_eq!(data, urls.map(|url| url.as_bytes().to_vec()));
    change_values(&scene, "20.1/x", Edit::urls(&["https://new"]));
    scene
        .withdraw_name(&OPERATOR, "20.1/x", "moved", Some("20.1/y"))
        .unwrap();

    let history = scene.history(&OPERATOR, "20.1/x").unwrap();
    let actions: Vec<_> = history.iter().map(|entry| entry.event.action).collect();
    assert_eq!(actions, [Action::Create, Action::Change, Action::Withdraw]);
    assert!(history.iter().all(|entry| entry.who == Some(OPERATOR)));
    assert!(history.iter().all(|entry| entry.version.is_some()));
    let created = history[0].event.clone();
    for point in [
        HistoryPoint::Event(created.number),
        HistoryPoint::Time(created.time),
    ] {
        let then = scene.show_at(&OPERATOR, "20.1/x", point).unwrap();
        assert_eq!(then.record.values.len(), 3);
        assert_eq!(then.record.state, State::Active);
    }
    assert_eq!(
        code(
            scene
                .show_at(&OPERATOR, "20.1/x", HistoryPoint::Event(1))
                .map(|_| ())
        ),
        "not-yet"
    );
}

#[test]
fn erasable_names_can_be_given_again() {
    let scene = scene();
    erasable_authority(&scene, "20.9");
    name(&scene, "20.9/x");
    change_values(&scene, "20.9/x", Edit::urls(&["https://2"]));
    act(&scene, "20.9/x", NameAction::Erase);
    assert_eq!(
        code(scene.show(&OPERATOR, "20.9/x").map(|_| ())),
        "not-found"
    );
    name(&scene, "20.9/x");
    assert!(scene.check().unwrap().problems.is_empty());
}

#[test]
fn hdl_9_a_name_can_be_handed_to_anybody() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let ann = account("ann");
    act(&scene, "20.1/x", transfer(&ann));
    scene
        .edit_name(&ann, "20.1/x", Edit::urls(&["https://2"]))
        .unwrap();
    assert_eq!(
        code(scene.create_name(&ann, "20.1/y", NewName::default())),
        "denied"
    );
}

#[test]
fn bad_values_are_refused_and_leave_no_trace() {
    let scene = scene();
    authority(&scene, "20.1");
    let before = scene.check().unwrap().events;
    let put = |index, value_type: &str, data: &[u8]| {
        with_values(vec![NewValue::new(index, value_type, data)])
    };
    for new in [
        put(0, "URL", b"x"),
        put(1, "URL", b""),
        put(1, "URL", b" JAVASCRIPT:alert(1)"),
    ] {
        assert_eq!(
            code(scene.create_name(&OPERATOR, "20.1/x", new)),
            "invalid-value"
        );
    }
    assert_eq!(scene.check().unwrap().events, before);
    let twice = vec![(5, "A".to_string(), vec![]), (5, "B".to_string(), vec![])];
    let new = with_values(new_values(twice));
    assert_eq!(
        code(scene.create_name(&OPERATOR, "20.1/x", new)),
        "invalid-value"
    );
    let secret = scene
        .create_name(&OPERATOR, "20.1/s", put(300, "HS_SECKEY", b"secret"))
        .unwrap();
    assert_eq!(secret.record.values[0].permissions.to_string(), "1100");
}

#[test]
fn names_of_every_kind_and_length() {
    let scene = scene();
    authority(&scene, "20.1");
    let max_length_name = format!("20.1/{}", "x".repeat(2_043));
    let long = format!("20.1/{}", "y".repeat(600));
    for id in [
        max_length_name.as_str(),
        &long,
        "20.1/a/b?c#d%",
        "20.1/中文",
        "20.1/اسم",
    ] {
        name(&scene, id);
        assert_eq!(scene.show(&OPERATOR, id).unwrap().record.text, id);
        scene.withdraw_name(&OPERATOR, id, "test", None).unwrap();
        assert_eq!(scene.history(&OPERATOR, id).unwrap().len(), 2);
    }
    let check = scene.check().unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
    for prefix in ["préfixe", "中文", "a+b@c", "20:79", "~"] {
        authority(&scene, prefix);
        let id = format!("{prefix}/x");
        name(&scene, &id);
        assert_eq!(scene.show(&OPERATOR, &id).unwrap().record.text, id);
    }
    for prefix in handfast_registry::RESERVED_SEGMENTS {
        assert_eq!(
            code(scene.create_authority(&OPERATOR, prefix, NewAuthority::default())),
            "reserved-prefix"
        );
    }
}

#[test]
fn minting_never_gives_a_name_that_existed() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/2");
    let mut ids = Vec::new();
    let sequence = MintOptions {
        style: "sequence".parse().ok(),
        urls: vec!["https://example.org/{name}".to_string()],
        reserve: false,
    };
    for _ in 0..2 {
        scene
            .mint(&OPERATOR, "20.1", &sequence, 3, |minted| {
                assert_eq!(
                    minted.urls,
                    [format!("https://example.org/{}", &minted.id[5..])]
                );
                ids.push(minted.id);
                Ok(())
            })
            .unwrap();
    }
    assert_eq!(
        ids,
        ["20.1/1", "20.1/3", "20.1/4", "20.1/5", "20.1/6", "20.1/7"]
    );
    let mut random = std::collections::BTreeSet::new();
    for style in ["random:12", "uuid", "guid", "guid-v1"] {
        let options = MintOptions {
            style: style.parse().ok(),
            ..MintOptions::default()
        };
        scene
            .mint(&OPERATOR, "20.1", &options, 600, |minted| {
                assert!(random.insert(minted.id));
                Ok(())
            })
            .unwrap();
    }
    assert_eq!(random.len(), 2_400);
}

#[test]
fn minted_names_can_be_reserved_and_activated_as_one_list() {
    let scene = scene();
    authority(&scene, "20.1");
    let options = MintOptions {
        reserve: true,
        urls: vec!["https://example.org/{name}".to_string()],
        ..MintOptions::default()
    };
    let (mut ids, mut events) = (Vec::new(), Vec::new());
    scene
        .mint(&OPERATOR, "20.1", &options, 10, |minted| {
            ids.push(minted.id);
            events.push(minted.event);
            Ok(())
        })
        .unwrap();
    assert!(events.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    let state = |id: &str| scene.show(&OPERATOR, id).unwrap().record.state;
    assert!(ids.iter().all(|id| state(id) == State::Reserved));
    let history = scene.history(&OPERATOR, &ids[0]).unwrap();
    assert_eq!(history[0].event.action, Action::MintReserved);

    // An account without a role does not learn that they exist, and nothing is done by halves.
    let bob = Principal::account("bob").unwrap();
    scene.create_account(&OPERATOR, "bob", "").unwrap();
    assert_eq!(code(scene.activate_names(&bob, &ids)), "not-found");
    let with_unknown = [ids.clone(), vec!["20.1/unknown".to_string()]].concat();
    let refused = scene.activate_names(&OPERATOR, &with_unknown);
    assert_eq!(code(refused), "not-found");
    assert_eq!(state(&ids[0]), State::Reserved);
    let check = |who: &Principal| scene.check_activation(who, &with_unknown).unwrap();
    assert!(check(&bob).iter().all(Result::is_err));
    assert_eq!(
        check(&OPERATOR)
            .iter()
            .filter(|found| found.is_ok())
            .count(),
        10
    );

    scene.grant(&OPERATOR, "20.1", &bob, Role::Write).unwrap();
    assert_eq!(scene.activate_names(&bob, &ids).unwrap(), 10);
    assert!(ids.iter().all(|id| state(id) == State::Active));
    // Sent twice, it does nothing twice.
    assert_eq!(scene.activate_names(&bob, &ids).unwrap(), 0);
}

#[test]
fn a_check_of_a_new_name_writes_nothing_and_says_what_creating_it_would_say() {
    let scene = scene();
    authority(&scene, "20.1");
    let before = scene.event_count().unwrap();
    let new = NewName::urls(&["https://example.org/"]);
    let checked = scene.check_new_name(&OPERATOR, "hdl:20.1/a", &new).unwrap();
    assert_eq!(checked.record.text, "20.1/a");
    assert_eq!(scene.event_count().unwrap(), before);
    name(&scene, "20.1/a");
    let again = scene.check_new_name(&OPERATOR, "20.1/A", &new);
    assert_eq!(code(again), "exists");
    let nobody = Principal::nobody();
    assert_eq!(
        code(scene.check_new_name(&nobody, "20.1/b", &new)),
        "denied"
    );
}

#[test]
fn concurrent_writers_never_share_a_name() {
    let scene = scene();
    authority(&scene, "20.1");
    let registry = Arc::new(scene);
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let registry = Arc::clone(&registry);
            thread::spawn(move || {
                let create = |n: u32| {
                    registry
                        .create_name(&OPERATOR, &format!("20.1/{n}"), NewName::default())
                        .is_ok()
                };
                (0..40).filter(|n| create(*n)).count()
            })
        })
        .collect();
    let created: usize = writers
        .into_iter()
        .map(|writer| writer.join().unwrap())
        .sum();
    assert_eq!(created, 40);
    let check = registry.check().unwrap();
    assert!(check.problems.is_empty());
    assert_eq!(check.events, 2 + 40);
}

#[test]
fn a_change_of_values_is_made_as_one_or_not_at_all() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let edit = Edit {
        remove: vec![1],
        put: vec![NewValue::new(0, "BAD", b"")],
        ..Edit::default()
    };
    assert_eq!(
        code(scene.edit_name(&OPERATOR, "20.1/x", edit)),
        "invalid-value"
    );
    let record = scene.show(&OPERATOR, "20.1/x").unwrap().record;
    assert_eq!((record.version, record.values.len()), (1, 1));
}

#[test]
fn the_history_of_a_name_that_was_erased_is_its_own() {
    let scene = scene();
    erasable_authority(&scene, "20.9");
    name(&scene, "20.9/x");
    act(&scene, "20.9/x", NameAction::Erase);
    name(&scene, "20.9/x");
    let history = scene.history(&OPERATOR, "20.9/x").unwrap();
    let stored: Vec<_> = history
        .iter()
        .map(|entry| entry.version.is_some())
        .collect();
    assert_eq!(stored, [false, false, true]);
}

#[test]
fn what_is_not_said_of_a_value_stays() {
    let scene = scene();
    authority(&scene, "20.1");
    let hidden = NewValue {
        permissions: Some("1100".parse().unwrap()),
        ..NewValue::new(5, "S", b"old")
    };
    let new = NewName {
        values: vec![hidden],
        ..NewName::urls(&["https://a"])
    };
    scene.create_name(&OPERATOR, "20.1/x", new).unwrap();
    let edit = Edit {
        put: vec![NewValue::new(5, "S", b"new"), NewValue::new(1, "M", b"m")],
        ..Edit::urls(&["https://b"])
    };
    let record = change_values(&scene, "20.1/x", edit).record;
    let shown: Vec<_> = record
        .values
        .iter()
        .map(|v| (v.index, v.permissions.to_string()))
        .collect();
    let expected = [(1, "1110"), (2, "1110"), (5, "1100")].map(|(i, p)| (i, p.to_string()));
    assert_eq!(shown, expected, "and a URL takes the next free index");
}
