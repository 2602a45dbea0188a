//! Who may do what by the values of the handle protocol: `HS_ADMIN`, groups, and permissions.

use handfast_registry::{AuthorityChange, Edit, NameAction, Role};
use handfast_wire::{Admin, AdminPermissions, Codec, Reference, ValueList};

use crate::*;

#[test]
fn the_protocol_grants_what_hs_admin_says_and_no_more() {
    use AdminPermissions as P;
    let scene = scene();
    authority(&scene, "20.1");
    let admin = |permissions, handle: &'static str, index| {
        Admin {
            permissions,
            administrator: Reference::new(handle, index),
        }
        .to_bytes()
    };
    let group = ValueList(vec![Reference::new("20.1/ann", 300)]).to_bytes();
    let record = Edit::put(vec![
        (
            100,
            "HS_ADMIN".into(),
            admin(P::ADD_HANDLE, "20.1/group", 200),
        ),
        (
            101,
            "HS_ADMIN".into(),
            admin(P::DELETE_HANDLE, "20.1/ann", 300),
        ),
    ]);
    change_values(&scene, "0.NA/20.1", record);
    let values = vec![(200, "HS_VLIST".to_string(), group)];
    scene
        .create_name(&OPERATOR, "20.1/group", with_values(new_values(values)))
        .unwrap();

    // A member of the group may create; nobody else may.
    let ann = Principal::parse("300:20.1/ann").unwrap();
    let own = vec![(
        100,
        "HS_ADMIN".to_string(),
        admin(P::MODIFY_VALUE | P::DELETE_HANDLE, "20.1/ann", 0),
    )];
    let values = [own, vec![(1, "URL".into(), b"https://a".to_vec())]].concat();
    scene
        .create_name(&ann, "20.1/new", with_values(new_values(values)))
        .unwrap();
    for other in ["301:20.1/ann", "300:20.1/ANN", "300:20.1/bob", "ann"] {
        let other = Principal::parse(other).unwrap();
        assert_eq!(
            code(scene.create_name(&other, "20.1/y", NewName::default())),
            "denied"
        );
    }
    // The prefix owner has no rights over existing handles; their own HS_ADMIN does.
    let change = |text: &str| Edit::put(vec![(1, "URL".into(), text.as_bytes().to_vec())]);
    scene
        .edit_name(&ann, "20.1/new", change("https://b"))
        .unwrap();
    assert_eq!(
        code(scene.edit_name(&ann, "20.1/new", Edit::remove(&[1]))),
        "denied"
    );
    assert_eq!(
        code(scene.edit_name(&ann, "20.1/group", change("https://c"))),
        "denied"
    );
    scene.withdraw_name(&ann, "20.1/new", "done", None).unwrap();
}

#[test]
fn roles_of_identities_are_shown_but_never_read_back() {
    let scene = scene();
    authority(&scene, "20.1");
    let ann = Principal::parse("300:20.1/ann").unwrap();
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    let shown = scene.show(&OPERATOR, "0.NA/20.1").unwrap().record;
    let value = shown
        .values
        .iter()
        .find(|value| value.is_type("HS_ADMIN"))
        .unwrap();
    assert_eq!(
        Admin::from_bytes(&value.data)
            .unwrap()
            .administrator
            .to_string(),
        "300:20.1/ann"
    );
    act_on(&scene, "20.1", revoke(&ann));
    assert!(
        scene
            .show(&OPERATOR, "0.NA/20.1")
            .unwrap()
            .record
            .values
            .is_empty()
    );
    assert_eq!(
        code(scene.create_name(&ann, "20.1/x", NewName::default())),
        "denied"
    );
}

#[test]
fn a_permission_of_the_protocol_is_for_what_it_says() {
    let scene = scene();
    authority(&scene, "20.1");
    authority(&scene, "20.1.5");
    let permissions = AdminPermissions::ADD_DERIVED_PREFIX;
    let admin = Admin {
        permissions,
        administrator: Reference::new("20.1/eve", 300),
    }
    .to_bytes();
    let record = Edit::put(vec![(100, "HS_ADMIN".into(), admin)]);
    change_values(&scene, "0.NA/20.1", record);
    let eve = Principal::parse("300:20.1/eve").unwrap();
    create_authority(&scene, &eve, "20.1.6");
    assert_eq!(
        code(scene.create_authority(&eve, "77", NewAuthority::default())),
        "operator-only"
    );
    assert_eq!(
        code(scene.act_on_authority(&eve, "20.1.5", None, RETIRE)),
        "denied"
    );
    let change = AuthorityChange {
        default_ttl: Some(1),
        ..Default::default()
    };
    assert_eq!(
        code(scene.change_authority(&eve, "20.1.5", change)),
        "denied"
    );
}

#[test]
fn values_say_who_may_write_them() {
    let scene = scene();
    authority(&scene, "20.1");
    let all = Admin {
        permissions: AdminPermissions::ALL,
        administrator: Reference::new("20.1/ann", 300),
    };
    let with = |index, permissions: &str| NewValue {
        permissions: Some(permissions.parse().unwrap()),
        ..NewValue::new(index, "NOTE", b"old")
    };
    let values = vec![
        NewValue::new(100, "HS_ADMIN", &all.to_bytes()),
        with(1, "1010"),
        with(2, "1111"),
        with(3, "1110"),
    ];
    scene
        .create_name(&OPERATOR, "20.1/x", with_values(values))
        .unwrap();
    let ann = Principal::parse("300:20.1/ann").unwrap();
    let outsider = Principal::parse("300:99/outsider").unwrap();
    let note = |index, text: &[u8]| {
        Edit::put(vec![NewValue {
            permissions: Some("1111".parse().unwrap()),
            ..NewValue::new(index, "NOTE", text)
        }])
    };
    assert_eq!(
        code(scene.edit_name(&ann, "20.1/x", note(1, b"new"))),
        "invalid-value"
    );
    scene.edit_name(&ann, "20.1/x", note(3, b"new")).unwrap();
    // Any known identity may write values that are open to public writing, and nothing else.
    scene
        .edit_name(&outsider, "20.1/x", note(2, b"new"))
        .unwrap();
    assert_eq!(
        code(scene.edit_name(&outsider, "20.1/x", note(2, b"new"))),
        "denied"
    );
    assert_eq!(
        code(scene.edit_name(&outsider, "20.1/x", Edit::remove(&[2]))),
        "denied"
    );
    assert_eq!(
        code(scene.edit_name(&account("bob"), "20.1/x", note(2, b"x"))),
        "denied"
    );
}

/// Any client that could log in turned a publicly writable note into a secret key, and could then
/// log in with it.
#[test]
fn a_public_writable_value_never_becomes_a_key_or_an_administrator() {
    let scene = scene();
    authority(&scene, "20.1");
    let with = |index, kind: &str, permissions: &str, data: &[u8]| NewValue {
        permissions: Some(permissions.parse().unwrap()),
        ..NewValue::new(index, kind, data)
    };
    let values = vec![
        with(1, "NOTE", "1111", b"old"),
        with(2, "HS_SECKEY", "0111", b"old"),
        with(3, "HS_SITE", "1111", b"old"),
    ];
    let name = with_values(values);
    scene.create_name(&OPERATOR, "20.1/box", name).unwrap();
    let box_itself = Principal::parse("0:20.1/box").unwrap();
    let granted = scene.grant(&OPERATOR, "20.1", &box_itself, Role::Write);
    granted.unwrap();
    let (outsider, public) = (
        Principal::parse("300:20.2/outsider").unwrap(),
        Principal::parse("0:0.SITE/PUBLIC").unwrap(),
    );
    for who in [&outsider, &public, &account("bob")] {
        for value in [
            with(1, "HS_SECKEY", "1111", b"known"),
            with(1, "hs_seckey", "1111", b"known"),
            with(1, "HS_PUBKEY", "1111", b"known"),
            with(1, "HS_ADMIN", "1111", b"known"),
            with(1, "HS_VLIST", "1111", b"known"),
            with(1, "HS_SITE.6", "1111", b"known"),
            with(1, "HS_CERT", "1111", b"known"),
            with(1, "HS_SIGNATURE", "1111", b"known"),
            // Neither the type of the value nor its permissions change.
            with(1, "URL", "1111", b"known"),
            with(1, "NOTE", "1110", b"new"),
            with(2, "HS_SECKEY", "0111", b"known"),
            with(2, "NOTE", "0111", b"known"),
            with(3, "HS_SITE", "1111", b"known"),
        ] {
            let said = format!("{who} {value:?}");
            let edit = Edit::put(vec![value.clone()]);
            let edited = scene.edit_name(who, "20.1/box", edit);
            assert_eq!(code(edited), "denied", "{said}");
            for overwrite in [false, true] {
                let handle = "20.1/box".to_string();
                let values = vec![value.clone()];
                let operation = if overwrite {
                    handfast_registry::Operation::Add {
                        handle,
                        values,
                        overwrite,
                    }
                } else {
                    handfast_registry::Operation::Modify { handle, values }
                };
                assert_eq!(code(scene.perform(who, operation)), "denied", "{said}");
            }
        }
    }
    for (who, data) in [(&outsider, b"1"), (&public, b"2")] {
        let edit = Edit::put(vec![with(1, "NOTE", "1111", data)]);
        scene.edit_name(who, "20.1/box", edit).unwrap();
    }
}

#[test]
fn the_root_of_the_handle_system_grants_new_prefixes() {
    let scene = scene();
    authority(&scene, "0.NA");
    let permissions = AdminPermissions::ADD_HANDLE;
    let admin = Admin {
        permissions,
        administrator: Reference::new("0.NA/0.NA", 300),
    }
    .to_bytes();
    let record = Edit::put(vec![(100, "HS_ADMIN".into(), admin)]);
    change_values(&scene, "0.NA/0.NA", record);
    let root = Principal::parse("300:0.na/0.na").unwrap();
    create_authority(&scene, &root, "77");
    assert_eq!(
        code(scene.create_authority(&root, "78.1", NewAuthority::default())),
        "operator-only"
    );
}

#[test]
fn groups_are_not_taken_over_by_erasing_them() {
    let scene = scene();
    erasable_authority(&scene, "20.6");
    let ann = account("ann");
    scene.grant(&OPERATOR, "20.6", &ann, Role::Write).unwrap();
    let group = vec![NewValue::new(
        200,
        "HS_VLIST",
        &ValueList(vec![]).to_bytes(),
    )];
    scene
        .create_name(&OPERATOR, "20.6/g", with_values(group))
        .unwrap();
    assert_eq!(
        code(scene.change_name(&ann, "20.6/g", None, NameAction::Erase)),
        "denied"
    );
    scene
        .withdraw_name(&OPERATOR, "20.6/g", "cut off", None)
        .unwrap();
    assert_eq!(
        code(scene.change_name(&ann, "20.6/g", None, NameAction::Restore)),
        "denied"
    );
    scene
        .create_name(&ann, "20.6/plain", NewName::urls(&["https://a"]))
        .unwrap();
    scene
        .change_name(&ann, "20.6/plain", None, NameAction::Erase)
        .unwrap();
}
