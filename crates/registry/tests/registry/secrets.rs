//! Secrets stay secret, and nobody can pass for another.

use handfast_registry::{Edit, HistoryPoint, NewValue, Reading, Role, verify_proof};
use handfast_wire::Permissions;

use crate::*;

fn account(scene: &Scene, name: &str, role: Option<Role>) -> Principal {
    let who = Principal::parse(name).unwrap();
    scene.create_account(&OPERATOR, name, "").unwrap();
    if let Some(role) = role {
        scene.grant(&OPERATOR, "20.1000", &who, role).unwrap();
    }
    who
}

fn indexes(values: &[handfast_wire::Value<'_>]) -> Vec<u32> {
    values.iter().map(|value| value.index).collect()
}

#[test]
fn a_secret_key_is_shown_only_to_those_who_might_replace_it() {
    let scene = scene();
    authority(&scene, "20.1000");
    let restricted = NewValue {
        permissions: Some(Permissions::SECRET),
        ..NewValue::new(7, "DESC", b"for the desk")
    };
    let new = NewName {
        values: vec![NewValue::new(300, "HS_SECKEY", b"secret"), restricted],
        ..NewName::urls(&["https://example.org/"])
    };
    scene.create_name(&OPERATOR, "20.1000/ADMIN", new).unwrap();
    for (role, expected, reading) in [
        (None, &[1][..], Reading::Public),
        (Some(Role::Read), &[1, 7], Reading::Restricted),
        (Some(Role::Write), &[1, 7], Reading::Restricted),
        (Some(Role::Lead), &[1, 7, 300], Reading::Secrets),
        (Some(Role::Admin), &[1, 7, 300], Reading::Secrets),
    ] {
        let name = format!("a{}", role.map_or("nyone", Role::as_str));
        let who = account(&scene, &name, role);
        let shown = scene.show(&who, "20.1000/ADMIN").unwrap();
        assert_eq!(indexes(&shown.record.values), expected, "{role:?}");
        let all = scene
            .show(&OPERATOR, "20.1000/ADMIN")
            .unwrap()
            .record
            .values;
        let said = scene.reading(&who, "20.1000/ADMIN", &all).unwrap();
        assert_eq!(said, reading, "{role:?}");
    }
}

#[test]
fn who_may_write_touches_nothing_by_which_anybody_is_known() {
    let scene = scene();
    authority(&scene, "20.1000");
    let new = with_values(vec![NewValue::new(300, "HS_SECKEY", b"secret")]);
    scene.create_name(&OPERATOR, "20.1000/ADMIN", new).unwrap();
    name(&scene, "20.1000/plain");
    let bob = account(&scene, "bob", Some(Role::Write));
    for value_type in ["HS_SITE", "HS_PUBKEY", "HS_SECKEY", "HS_VLIST", "HS_ADMIN"] {
        let edit = Edit {
            put: vec![NewValue::new(7, value_type, b"")],
            ..Edit::default()
        };
        let refused = scene.edit_name(&bob, "20.1000/ADMIN", edit);
        assert_eq!(code(refused), "denied", "{value_type}");
    }
    let refused = scene.withdraw_name(&bob, "20.1000/ADMIN", "to lock them out", None);
    assert_eq!(code(refused), "denied");
    scene
        .withdraw_name(&bob, "20.1000/plain", "a mistake", None)
        .unwrap();
}

#[test]
fn what_is_withdrawn_or_was_made_private_is_gone_from_its_history_too() {
    let scene = scene();
    authority(&scene, "20.1000");
    let new = NewName {
        values: vec![NewValue::new(2, "EMAIL", b"ann@example.org")],
        ..NewName::urls(&["https://example.org/"])
    };
    scene.create_name(&OPERATOR, "20.1000/x", new).unwrap();
    let nobody = Principal::nobody();
    let ann = account(&scene, "ann", Some(Role::Read));
    let first = scene.history(&OPERATOR, "20.1000/x").unwrap()[0]
        .event
        .number;
    let seen = |who: &Principal| -> Vec<Vec<u32>> {
        let entries = scene.history(who, "20.1000/x").unwrap();
        let versions = entries.iter().map(|entry| entry.version.as_ref());
        versions
            .map(|version| indexes(&version.unwrap().values))
            .collect()
    };
    let then = |who: &Principal| {
        let shown = scene
            .show_at(who, "20.1000/x", HistoryPoint::Event(first))
            .unwrap();
        indexes(&shown.record.values)
    };
    assert_eq!(
        (seen(&nobody), then(&nobody)),
        (vec![vec![1, 2]], vec![1, 2])
    );
    let hide = NewValue {
        permissions: Some(Permissions::SECRET),
        ..NewValue::new(2, "EMAIL", b"ann@example.org")
    };
    let edit = Edit {
        put: vec![hide],
        ..Edit::default()
    };
    change_values(&scene, "20.1000/x", edit);
    assert_eq!(
        (seen(&nobody), then(&nobody)),
        (vec![vec![1], vec![1]], vec![1])
    );
    assert_eq!(
        (seen(&ann), then(&ann)),
        (vec![vec![1, 2], vec![1, 2]], vec![1, 2])
    );
    scene
        .withdraw_name(&OPERATOR, "20.1000/x", "a complaint", None)
        .unwrap();
    assert_eq!(seen(&nobody), [[0_u32; 0]; 3]);
    assert_eq!(then(&nobody), [0_u32; 0]);
    let shown = scene
        .show_at(&nobody, "20.1000/x", HistoryPoint::Event(first))
        .unwrap();
    assert!(shown.record.tombstone.is_some());
    assert_eq!(then(&ann), [1, 2]);
    // Its history has a proof all the same.
    let proof = scene.prove(&nobody, "20.1000/x").unwrap();
    assert_eq!(proof.values.len(), 1);
    let key = scene.log_key().unwrap();
    assert_eq!(
        verify_proof(&proof, Some("20.1000/x"), &key)
            .unwrap()
            .events
            .len(),
        3
    );
}
