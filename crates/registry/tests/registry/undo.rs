//! A change is undone by a new change, and never at the cost of a later one.

use handfast_registry::{Action, Edit, NameAction, NewValue, Record, Role, State};

use crate::*;

fn record(registry: &Registry, id: &str) -> Record {
    registry.show(&OPERATOR, id).unwrap().record
}

fn values(registry: &Registry, id: &str) -> Vec<(u32, String, String)> {
    let record = record(registry, id);
    let values = record.values.iter();
    values
        .map(|value| {
            let data = String::from_utf8(value.data.to_vec()).unwrap();
            (value.index, value.value_type.to_string(), data)
        })
        .collect()
}

fn put(values: &[(u32, &str)]) -> Edit {
    let values = values
        .iter()
        .map(|(index, data)| NewValue::new(*index, "DESC", data.as_bytes()));
    Edit::put(values.collect::<Vec<_>>())
}

/// The event that changed a name.
fn event_of(changed: Option<Shown>) -> u64 {
    changed.unwrap().record.last_event
}

fn edited(registry: &Registry, id: &str, edit: Edit) -> u64 {
    change_values(registry, id, edit).record.last_event
}

/// The code with which undoing an event is rejected.
fn undo_error(registry: &Registry, id: &str, event: Option<u64>) -> &'static str {
    code(registry.change_name(&OPERATOR, id, None, NameAction::Undo(event)))
}

fn actions(registry: &Registry, id: &str) -> Vec<Action> {
    let history = history(registry, &OPERATOR, id).unwrap();
    history.iter().map(|entry| entry.event.action).collect()
}

#[test]
fn values_that_were_added_replaced_and_removed_come_back_as_they_were() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    change_values(&scene, "20.1/x", put(&[(5, "five"), (6, "six")]));
    let before = values(&scene, "20.1/x");
    let edit = Edit {
        remove: vec![5],
        ..put(&[(6, "SIX"), (7, "seven")])
    };
    change_values(&scene, "20.1/x", edit);
    let after = values(&scene, "20.1/x");
    assert_ne!(before, after);

    let undone = act(&scene, "20.1/x", NameAction::Undo(None));
    assert_eq!(values(&scene, "20.1/x"), before);
    assert_eq!(
        undone.unwrap().record.version,
        4,
        "a new change, nothing taken back"
    );
    // An undone change can be made again in the same way.
    act(&scene, "20.1/x", NameAction::Undo(None));
    assert_eq!(values(&scene, "20.1/x"), after);
    assert_eq!(actions(&scene, "20.1/x")[1..], [Action::Change; 4]);
    let check = scene.check().unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
}

#[test]
fn ttl_permissions_and_references_come_back_too() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let rich = NewValue {
        permissions: Some("1111".parse().unwrap()),
        ttl: Some(handfast_wire::Ttl::Absolute(1_900_000_000)),
        references: vec![handfast_wire::Reference {
            index: 3,
            handle: "20.1/y".into(),
        }],
        ..NewValue::new(9, "DESC", &[0, 0xFF, 10])
    };
    change_values(&scene, "20.1/x", Edit::put(vec![rich]));
    let before = record(&scene, "20.1/x").values;
    change_values(&scene, "20.1/x", Edit::remove(&[9]));
    act(&scene, "20.1/x", NameAction::Undo(None));
    let after = record(&scene, "20.1/x").values;
    assert_eq!(after.len(), before.len());
    for (after, before) in after.iter().zip(&before) {
        assert!(after.is_unchanged_from(before), "{after:?} {before:?}");
    }
}

#[test]
fn an_earlier_change_is_undone_beside_later_ones_but_never_over_them() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let first = edited(&scene, "20.1/x", put(&[(5, "a"), (6, "b")]));
    change_values(&scene, "20.1/x", put(&[(7, "c")]));
    act(&scene, "20.1/x", NameAction::Undo(Some(first)));
    let url = (1, "URL".to_string(), "https://example.org/".to_string());
    let seven = (7, "DESC".to_string(), "c".to_string());
    assert_eq!(values(&scene, "20.1/x"), [url.clone(), seven.clone()]);

    let replaced = edited(&scene, "20.1/x", put(&[(7, "d")]));
    change_values(&scene, "20.1/x", put(&[(7, "e")]));
    let before = record(&scene, "20.1/x");
    let error = scene
        .change_name(&OPERATOR, "20.1/x", None, NameAction::Undo(Some(replaced)))
        .unwrap_err();
    assert_eq!(error.code(), "changed-since");
    assert!(error.to_string().contains("value 7"), "{error}");
    assert_eq!(record(&scene, "20.1/x"), before, "a refusal leaves nothing");
    // The later one first, then the earlier one: back to the start.
    act(&scene, "20.1/x", NameAction::Undo(None));
    act(&scene, "20.1/x", NameAction::Undo(Some(replaced)));
    assert_eq!(values(&scene, "20.1/x"), [url, seven]);
}

#[test]
fn a_value_that_came_back_differently_is_a_conflict() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let removed = edited(&scene, "20.1/x", Edit::remove(&[1]));
    change_values(&scene, "20.1/x", Edit::urls(&["https://other.example/"]));
    assert_eq!(undo_error(&scene, "20.1/x", Some(removed)), "changed-since");
}

#[test]
fn withdrawing_restoring_and_handing_over_are_undone() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    scene
        .withdraw_name(&OPERATOR, "20.1/x", "wrong", Some("20.1/y"))
        .unwrap();
    let tombstone = record(&scene, "20.1/x").tombstone;
    act(&scene, "20.1/x", NameAction::Undo(None));
    assert_eq!(record(&scene, "20.1/x").state, State::Active);
    assert_eq!(record(&scene, "20.1/x").tombstone, None);
    // A restoration was undone: the withdrawal has its old reason, date and successor.
    act(&scene, "20.1/x", NameAction::Undo(None));
    assert_eq!(record(&scene, "20.1/x").state, State::Withdrawn);
    assert_eq!(record(&scene, "20.1/x").tombstone, tombstone);
    act(&scene, "20.1/x", NameAction::Restore);

    let ann = account("ann");
    let bob = account("bob");
    let first = event_of(act(&scene, "20.1/x", transfer(&ann)));
    act(&scene, "20.1/x", transfer(&bob));
    assert_eq!(undo_error(&scene, "20.1/x", Some(first)), "changed-since");
    act(&scene, "20.1/x", NameAction::Undo(None));
    assert_eq!(record(&scene, "20.1/x").holder, Some(ann));
    act(&scene, "20.1/x", NameAction::Undo(Some(first)));
    assert_eq!(record(&scene, "20.1/x").holder, None);
    let told = actions(&scene, "20.1/x");
    assert_eq!(
        told[1..5],
        [
            Action::Withdraw,
            Action::Restore,
            Action::Withdraw,
            Action::Restore
        ]
    );
    assert_eq!(told[5..], [Action::Transfer; 4]);
}

#[test]
fn what_gave_a_name_or_showed_it_to_the_public_is_never_undone() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    assert_eq!(undo_error(&scene, "20.1/x", None), "cannot-undo");
    let reserved = reserved();
    scene.create_name(&OPERATOR, "20.1/r", reserved).unwrap();
    assert_eq!(undo_error(&scene, "20.1/r", None), "cannot-undo");
    act(&scene, "20.1/r", NameAction::Activate);
    assert_eq!(undo_error(&scene, "20.1/r", None), "cannot-undo");
    assert_eq!(record(&scene, "20.1/r").state, State::Active);
    let mut minted = Vec::new();
    scene
        .mint(&OPERATOR, "20.1", &MintOptions::default(), 1, |made| {
            minted.push(made.id);
            Ok(())
        })
        .unwrap();
    assert_eq!(undo_error(&scene, &minted[0], None), "cannot-undo");
}

#[test]
fn only_events_of_the_name_are_undone_and_not_those_of_an_earlier_life() {
    let scene = scene();
    authority(&scene, "20.1");
    erasable_authority(&scene, "20.2");
    name(&scene, "20.1/x");
    let other = edited(&scene, "20.1/x", put(&[(5, "a")]));
    name(&scene, "20.2/x");
    let before = edited(&scene, "20.2/x", put(&[(5, "personal")]));
    act(&scene, "20.2/x", NameAction::Erase);
    assert_eq!(undo_error(&scene, "20.2/x", Some(before)), "not-found");
    name(&scene, "20.2/x");
    for number in [other, before, 1, 0, u64::MAX] {
        assert_eq!(
            undo_error(&scene, "20.2/x", Some(number)),
            "other-event",
            "{number}"
        );
    }
    assert_eq!(values(&scene, "20.2/x").len(), 1);
}

#[test]
fn a_withdrawn_name_is_restored_before_its_values_are_put_back() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let changed = edited(&scene, "20.1/x", put(&[(5, "a")]));
    withdraw(&scene, "20.1/x");
    assert_eq!(undo_error(&scene, "20.1/x", Some(changed)), "state");
}

#[test]
fn undoing_takes_the_right_to_make_the_opposite_change() {
    let scene = scene();
    authority(&scene, "20.1");
    for (who, role) in [
        ("reader", Role::Read),
        ("writer", Role::Write),
        ("lead", Role::Lead),
        ("admin", Role::Admin),
    ] {
        scene.grant(&OPERATOR, "20.1", &account(who), role).unwrap();
    }
    let try_all = |id: &str, may: &[&str]| {
        for who in ["reader", "outsider", "writer", "lead", "admin"] {
            let outcome = scene.change_name(&account(who), id, None, NameAction::Undo(None));
            if may.contains(&who) {
                outcome.unwrap();
                // Undone again, so that the next case starts the same.
                act(&scene, id, NameAction::Undo(None));
            } else {
                assert_eq!(code(outcome), "denied", "{who} {id}");
            }
        }
    };
    name(&scene, "20.1/changed");
    change_values(&scene, "20.1/changed", put(&[(5, "a")]));
    try_all("20.1/changed", &["writer", "lead", "admin"]);

    name(&scene, "20.1/gone");
    withdraw(&scene, "20.1/gone");
    try_all("20.1/gone", &["writer", "lead", "admin"]);

    // A key identifies somebody: putting it back takes a lead.
    name(&scene, "20.1/id");
    let key = NewValue::new(300, "HS_SECKEY", b"secret");
    change_values(&scene, "20.1/id", Edit::put(vec![key]));
    try_all("20.1/id", &["lead", "admin"]);

    name(&scene, "20.1/handed");
    act(&scene, "20.1/handed", transfer(&account("holder")));
    try_all("20.1/handed", &["admin"]);
    // A principal that administers one name undoes what it may change.
    scene
        .edit_name(&account("holder"), "20.1/handed", put(&[(5, "a")]))
        .unwrap();
    scene
        .change_name(
            &account("holder"),
            "20.1/handed",
            None,
            NameAction::Undo(None),
        )
        .unwrap();
    assert_eq!(values(&scene, "20.1/handed").len(), 1);
}

/// A name was withdrawn, restored, and withdrawn again for another reason: the first withdrawal has
/// been undone long ago, and undoing it again must not take back the second.
#[test]
fn an_earlier_withdrawal_is_not_undone_over_a_later_one() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let withdrawn = scene.withdraw_name(&OPERATOR, "20.1/x", "first", None);
    let first = withdrawn.unwrap().record.last_event;
    let restored = event_of(act(&scene, "20.1/x", NameAction::Restore));
    scene
        .withdraw_name(&OPERATOR, "20.1/x", "court order", None)
        .unwrap();
    assert_eq!(undo_error(&scene, "20.1/x", Some(first)), "changed-since");
    act(&scene, "20.1/x", NameAction::Restore);
    assert_eq!(
        undo_error(&scene, "20.1/x", Some(restored)),
        "changed-since"
    );
}
