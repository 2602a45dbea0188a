//! What a change would do, before it is made.

use handfast_registry::{Edit, NameAction, NameRight, Role};
use handfast_wire::Permissions;

use crate::*;

#[test]
fn a_preview_says_what_the_change_does_and_writes_nothing() {
    let scene = scene();
    authority(&scene, "20.1");
    let urls = NewName::urls(&["https://a.example/", "https://b.example/"]);
    scene.create_name(&OPERATOR, "20.1/x", urls).unwrap();
    let events = scene.event_count().unwrap();
    let edit = || NameAction::Edit(Edit::urls(&["https://c.example/"]));
    let preview = scene
        .preview_name_change(&OPERATOR, "20.1/x", Some(1), edit())
        .unwrap();
    let changed: Vec<_> = preview.changes.iter().map(|one| one.index).collect();
    assert_eq!(changed, [1, 2]);
    assert_eq!(scene.event_count().unwrap(), events);
    let done = scene.change_name(&OPERATOR, "20.1/x", Some(1), edit());
    assert_eq!(
        done.unwrap().unwrap().record.values[0].data,
        preview.after.unwrap().values[0].data
    );
    let late = scene.preview_name_change(&OPERATOR, "20.1/x", Some(1), edit());
    assert_eq!(code(late), "other-version");
}

#[test]
fn an_edit_over_a_value_that_one_may_not_read_is_not_previewed() {
    let scene = scene();
    authority(&scene, "20.1");
    let hidden = NewValue {
        permissions: Some(Permissions::from_bits(0)),
        ..NewValue::new(10, "NOTE", b"hidden")
    };
    let new = NewName {
        values: vec![hidden],
        ..NewName::default()
    };
    scene.create_name(&OPERATOR, "20.1/x", new).unwrap();
    let ann = Principal::account("ann").unwrap();
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    scene.grant(&OPERATOR, "20.1", &ann, Role::Lead).unwrap();
    let edit = |index| NameAction::Edit(Edit::put(vec![NewValue::new(index, "TITLE", b"t")]));
    let over = scene.preview_name_change(&ann, "20.1/x", None, edit(10));
    assert_eq!(code(over), "hidden-value");
    let beside = scene.preview_name_change(&ann, "20.1/x", None, edit(11));
    assert_eq!(beside.unwrap().changes.len(), 1);
}

#[test]
fn rights_are_those_of_the_role_and_of_the_state() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let reserved = NewName {
        reserve: true,
        ..NewName::default()
    };
    scene.create_name(&OPERATOR, "20.1/r", reserved).unwrap();
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    let ann = Principal::account("ann").unwrap();
    assert_eq!(scene.name_rights(&ann, "20.1/x").unwrap(), []);
    assert_eq!(code(scene.name_rights(&ann, "20.1/r")), "not-found");
    scene.grant(&OPERATOR, "20.1", &ann, Role::Read).unwrap();
    assert_eq!(scene.name_rights(&ann, "20.1/r").unwrap(), []);
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    let rights = |who: &Principal, id: &str| scene.name_rights(who, id).unwrap();
    assert_eq!(
        rights(&ann, "20.1/x"),
        [NameRight::Edit, NameRight::Withdraw]
    );
    assert_eq!(
        rights(&ann, "20.1/r"),
        [NameRight::Activate, NameRight::Edit]
    );
    scene.withdraw_name(&ann, "20.1/x", "gone", None).unwrap();
    assert_eq!(
        rights(&OPERATOR, "20.1/x"),
        [NameRight::Restore, NameRight::Transfer]
    );
}

#[test]
fn a_history_is_read_from_its_end() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    for number in 0..6 {
        let url = format!("https://example.org/{number}");
        scene
            .edit_name(&OPERATOR, "20.1/x", Edit::urls(&[&url]))
            .unwrap();
    }
    let all = scene.history(&OPERATOR, "20.1/x").unwrap();
    let numbers: Vec<_> = all.iter().map(|entry| entry.event.number).collect();
    let (mut before, mut read) = (None, Vec::new());
    loop {
        let page = scene.history_before(&OPERATOR, "20.1/x", before, 3);
        let page = page.unwrap();
        read.extend(page.entries.iter().rev().map(|entry| entry.event.number));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    read.reverse();
    assert_eq!(read, numbers);
}
