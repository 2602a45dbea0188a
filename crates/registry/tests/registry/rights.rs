//! Rights.

use handfast_registry::{AuthorityAction, AuthorityChange, Edit, HistoryPoint, NameAction, Role};
use handfast_wire::{Admin, AdminPermissions, Codec, Reference, ValueList};

use crate::*;

#[test]
fn urn_5_roles_hold_below_and_nowhere_else() {
    let scene = scene();
    for path in [
        "urn:urn-3",
        "urn:urn-3:HUL",
        "urn:urn-3:HUL2",
        "urn:urn-3:HUL.OIS",
    ] {
        authority(&scene, path);
    }
    let (ann, bob) = (account("ann"), account("bob"));
    scene
        .grant(&OPERATOR, "urn:urn-3:HUL", &ann, Role::Lead)
        .unwrap();
    scene
        .create_authority(&ann, "urn:urn-3:HUL.OIS.X", NewAuthority::default())
        .unwrap();
    scene
        .create_name(&ann, "urn:urn-3:HUL.OIS.X:Home", NewName::default())
        .unwrap();
    scene.create_account(&OPERATOR, "bob", "").unwrap();
    scene
        .grant(&ann, "urn:urn-3:HUL.OIS", &bob, Role::Write)
        .unwrap();

    scene
        .create_name(&bob, "urn:urn-3:hul.ois:b", NewName::default())
        .unwrap();
    for id in ["urn:urn-3:HUL:b", "urn:urn-3:HUL2:b"] {
        match scene.create_name(&bob, id, NewName::default()) {
            Err(RegistryError::Denied {
                needs: Role::Write,
                authority,
            }) => {
                assert!(id.starts_with(&authority.to_string()));
            }
            other => panic!("{id}: {other:?}"),
        }
    }
    let refused = scene.grant(&bob, "urn:urn-3:HUL.OIS", &account("eve"), Role::Read);
    assert!(
        matches!(
            refused,
            Err(RegistryError::Denied {
                needs: Role::Lead,
                ..
            })
        ),
        "{refused:?}"
    );
    // A lead above has full control of everything below; the root of all.
    let root = account("hul");
    scene
        .grant(&OPERATOR, "urn:urn-3", &root, Role::Admin)
        .unwrap();
    for who in [&ann, &root] {
        let id = "urn:urn-3:HUL.OIS:b";
        scene
            .edit_name(who, id, Edit::urls(&["https://2"]))
            .unwrap();
        scene.withdraw_name(who, id, "moved", None).unwrap();
        scene
            .change_name(who, id, None, NameAction::Restore)
            .unwrap();
    }
    scene
        .create_authority(&root, "urn:urn-3:HBS", NewAuthority::default())
        .unwrap();
    scene
        .act_on_authority(
            &root,
            "urn:urn-3:HUL.OIS",
            None,
            AuthorityAction::Revoke {
                from: bob.clone(),
                role: None,
            },
        )
        .unwrap();
    let late = scene.create_name(&bob, "urn:urn-3:HUL.OIS:c", NewName::default());
    assert_eq!(code(late), "denied");
    assert_eq!(
        code(scene.create_authority(&ann, "urn:urn-3:X", NewAuthority::default())),
        "denied"
    );
    let orphan = scene.create_authority(&ann, "urn:urn-3:HUL.NO.X", NewAuthority::default());
    assert_eq!(code(orphan), "no-authority");
    // The root has no names.
    assert_eq!(
        code(scene.create_name(&OPERATOR, "urn:urn-3:NOBODY:x", NewName::default())),
        "no-authority"
    );
}

#[test]
fn rights_are_those_of_the_table() {
    let table = include_str!("rights.csv");
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let roles: Vec<&str> = lines.next().unwrap().split(',').skip(2).collect();
    let mut cells = 0;
    for line in lines {
        let (operation, rest) = line.split_once(',').unwrap();
        let (state, rest) = rest.split_once(',').unwrap();
        for (role, expected) in roles.iter().zip(rest.split(',')) {
            let got = try_it(operation, state, role.parse().ok());
            assert_eq!(got, expected, "{operation} on {state} by {role}");
            cells += 1;
        }
    }
    assert_eq!(cells, 5 * 45);
}

/// Sets up one cell of the table and tries the operation.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each operation of the table"
)]
fn try_it(operation: &str, state: &str, role: Option<Role>) -> &'static str {
    let scene = scene();
    authority(&scene, "20.1");
    let who = account("someone");
    if let Some(role) = role {
        scene.grant(&OPERATOR, "20.1", &who, role).unwrap();
    }
    let id = "20.1/x";
    if state != "none" {
        let reserve = state == "reserved";
        scene
            .create_name(
                &OPERATOR,
                id,
                NewName {
                    reserve,
                    ..NewName::default()
                },
            )
            .unwrap();
    }
    if state == "withdrawn" {
        scene.withdraw_name(&OPERATOR, id, "gone", None).unwrap();
    }
    let admin = || {
        let administrator = Reference::new("20.1/admin", 300);
        let admin = Admin {
            permissions: AdminPermissions::ALL,
            administrator,
        };
        vec![(100, "HS_ADMIN".to_string(), admin.to_bytes())]
    };
    let url = || Edit::urls(&["https://example.org/"]);
    scene.create_account(&OPERATOR, "friend", "").unwrap();
    let grant = |role| scene.grant(&who, "20.1", &account("friend"), role);
    let change = |change| scene.change_authority(&who, "20.1", change);
    let outcome = match operation {
        "show" => scene.show(&who, id).map(|_| ()),
        "create" => scene.create_name(&who, id, NewName::default()).map(|_| ()),
        "reserve" => scene
            .create_name(
                &who,
                id,
                NewName {
                    reserve: true,
                    ..NewName::default()
                },
            )
            .map(|_| ()),
        "create with admin" => scene
            .create_name(
                &who,
                id,
                NewName {
                    values: new_values(admin()),
                    ..NewName::default()
                },
            )
            .map(|_| ()),
        "edit" => scene.edit_name(&who, id, url()).map(|_| ()),
        "edit admin" => scene.edit_name(&who, id, Edit::put(admin())).map(|_| ()),
        "activate" => scene
            .change_name(&who, id, None, NameAction::Activate)
            .map(|_| ()),
        "withdraw" => scene.withdraw_name(&who, id, "gone", None).map(|_| ()),
        "restore" => scene
            .change_name(&who, id, None, NameAction::Restore)
            .map(|_| ()),
        "transfer" => scene
            .change_name(
                &who,
                id,
                None,
                NameAction::Transfer {
                    to: account("friend").clone(),
                    creates_account: true,
                },
            )
            .map(|_| ()),
        "erase" => scene
            .change_name(&who, id, None, NameAction::Erase)
            .map(|_| ()),
        "grant read" => grant(Role::Read),
        "grant lead" => grant(Role::Lead),
        "grant admin" => grant(Role::Admin),
        "create child" => scene
            .create_authority(&who, "20.1.1", NewAuthority::default())
            .map(|_| ()),
        "set pattern" => change(AuthorityChange {
            pattern: Some(Some("x".into())),
            ..Default::default()
        }),
        "set ttl" => change(AuthorityChange {
            default_ttl: Some(60),
            ..Default::default()
        }),
        "list" => scene.names(&who, "20.1", None, &mut |_| {
            std::ops::ControlFlow::Continue(())
        }),
        "history" => scene.history(&who, id).map(|_| ()),
        "edit key" => {
            let key = vec![(300, "HS_PUBKEY".to_string(), b"key".to_vec())];
            scene.edit_name(&who, id, Edit::put(key)).map(|_| ())
        }
        "edit prefix record" => scene.edit_name(&who, "0.NA/20.1", url()).map(|_| ()),
        "retire child" => {
            authority(&scene, "20.1.9");
            scene.act_on_authority(
                &who,
                "20.1.9",
                None,
                AuthorityAction::Retire {
                    keep_children: false,
                },
            )
        }
        "approve child" | "decline child" => {
            scene.create_account(&OPERATOR, "asker", "").unwrap();
            scene
                .request_authority(&account("asker"), "20.1.9", NewAuthority::default())
                .unwrap();
            if operation == "approve child" {
                scene.act_on_authority(&who, "20.1.9", None, AuthorityAction::Approve)
            } else {
                scene.act_on_authority(&who, "20.1.9", None, AuthorityAction::Decline)
            }
        }
        "revoke read" | "revoke admin" => {
            let role = if operation == "revoke read" {
                Role::Read
            } else {
                Role::Admin
            };
            scene
                .grant(&OPERATOR, "20.1", &account("friend"), role)
                .unwrap();
            scene.act_on_authority(
                &who,
                "20.1",
                None,
                AuthorityAction::Revoke {
                    from: account("friend").clone(),
                    role: None,
                },
            )
        }
        "transfer authority" => scene.act_on_authority(
            &who,
            "20.1",
            None,
            AuthorityAction::Transfer {
                to: account("friend").clone(),
                creates_account: true,
            },
        ),
        "retire" => scene.act_on_authority(
            &who,
            "20.1",
            None,
            AuthorityAction::Retire {
                keep_children: false,
            },
        ),
        other => panic!("unknown operation {other}"),
    };
    outcome.map_or_else(|error| error.code(), |()| "ok")
}

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
    scene.edit_name(&OPERATOR, "0.NA/20.1", record).unwrap();
    let values = vec![(200, "HS_VLIST".to_string(), group)];
    scene
        .create_name(
            &OPERATOR,
            "20.1/group",
            NewName {
                values: new_values(values),
                ..NewName::default()
            },
        )
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
        .create_name(
            &ann,
            "20.1/new",
            NewName {
                values: new_values(values),
                ..NewName::default()
            },
        )
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
    scene
        .act_on_authority(
            &OPERATOR,
            "20.1",
            None,
            AuthorityAction::Revoke {
                from: ann.clone(),
                role: None,
            },
        )
        .unwrap();
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
fn a_reserved_name_does_not_leak() {
    let scene = scene();
    authority(&scene, "20.1");
    let (ann, eve) = (account("ann"), account("eve"));
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    authority(&scene, "20.2");
    scene.grant(&OPERATOR, "20.2", &eve, Role::Write).unwrap();
    scene
        .create_name(
            &ann,
            "20.1/x",
            NewName {
                reserve: true,
                ..NewName::default()
            },
        )
        .unwrap();
    assert_eq!(code(scene.show(&eve, "20.1/x").map(|_| ())), "not-found");
    assert_eq!(code(scene.history(&eve, "20.1/x").map(|_| ())), "not-found");
    let history = scene.history(&ann, "20.1/x").unwrap();
    assert!(matches!(
        history[0].event.subject,
        handfast_registry::Subject::Hidden(_)
    ));
    scene
        .change_name(&ann, "20.1/x", None, NameAction::Activate)
        .unwrap();
    let history = scene.history(&eve, "20.1/x").unwrap();
    let handfast_registry::Subject::Opened { key, .. } = &history[1].event.subject else {
        panic!("the name is opened");
    };
    assert_eq!(key, "hdl:20.1/X");
    assert!(
        history.iter().all(|entry| entry.who.is_none()),
        "who acted is for those with a role"
    );
    assert!(
        history[0].version.is_none(),
        "nor what it was while it was reserved"
    );
    let then = HistoryPoint::Event(history[0].event.number);
    assert_eq!(
        code(scene.show_at(&eve, "20.1/x", then).map(|_| ())),
        "not-yet"
    );
    assert!(scene.show_at(&ann, "20.1/x", then).is_ok());
}

#[test]
fn values_are_shown_to_those_who_may_read_them() {
    let scene = scene();
    authority(&scene, "20.1");
    let restricted = NewValue {
        permissions: Some(handfast_wire::Permissions::SECRET),
        ..NewValue::new(300, "DESC", b"for the desk")
    };
    let new = NewName {
        values: vec![restricted],
        ..NewName::urls(&["https://a"])
    };
    scene.create_name(&OPERATOR, "20.1/x", new).unwrap();
    let reader = account("reader");
    scene.grant(&OPERATOR, "20.1", &reader, Role::Read).unwrap();
    let seen = |who: &Principal| scene.show(who, "20.1/x").unwrap().record.values.len();
    assert_eq!(seen(&OPERATOR), 2);
    assert_eq!(seen(&reader), 2);
    assert_eq!(seen(&account("nobody")), 1);
    let history = scene.history(&account("nobody"), "20.1/x").unwrap();
    assert_eq!(history[0].version.as_ref().unwrap().values.len(), 1);
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
    scene.edit_name(&OPERATOR, "0.NA/20.1", record).unwrap();
    let eve = Principal::parse("300:20.1/eve").unwrap();
    scene
        .create_authority(&eve, "20.1.6", NewAuthority::default())
        .unwrap();
    assert_eq!(
        code(scene.create_authority(&eve, "77", NewAuthority::default())),
        "operator-only"
    );
    assert_eq!(
        code(scene.act_on_authority(
            &eve,
            "20.1.5",
            None,
            AuthorityAction::Retire {
                keep_children: false
            }
        )),
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
fn keys_and_groups_are_not_for_those_who_only_write() {
    let scene = scene();
    authority(&scene, "20.1");
    let wes = account("wes");
    scene.grant(&OPERATOR, "20.1", &wes, Role::Write).unwrap();
    let key = || vec![(300, "HS_SECKEY".to_string(), b"mine".to_vec())];
    let boss = NewName {
        values: new_values(key()),
        ..NewName::default()
    };
    scene.create_name(&OPERATOR, "20.1/boss", boss).unwrap();
    let group = vec![(200, "HS_VLIST".to_string(), ValueList(vec![]).to_bytes())];
    for (id, values) in [
        ("20.1/boss", key()),
        ("20.1/boss", group.clone()),
        ("0.NA/20.1", group),
    ] {
        let changed: Vec<(u32, String, Vec<u8>)> = values
            .into_iter()
            .map(|(i, t, _)| (i, t, b"\0\0\0\0".to_vec()))
            .collect();
        assert_eq!(
            code(scene.edit_name(&wes, id, Edit::put(changed))),
            "denied"
        );
    }
    let url = Edit::put(vec![(1, "URL".into(), b"https://x".to_vec())]);
    assert_eq!(code(scene.edit_name(&wes, "0.NA/20.1", url)), "denied");
}

#[test]
fn listing_needs_a_role() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    let list = |who: &Principal| {
        let mut count = 0;
        let outcome = scene.names(who, "20.1", None, &mut |_| {
            count += 1;
            std::ops::ControlFlow::Continue(())
        });
        outcome.map(|()| count)
    };
    assert_eq!(list(&OPERATOR).unwrap(), 1);
    assert_eq!(code(list(&account("nobody"))), "denied");
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
        .create_name(
            &OPERATOR,
            "20.1/x",
            NewName {
                values,
                ..NewName::default()
            },
        )
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
    let name = NewName {
        values,
        ..NewName::default()
    };
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
    scene.edit_name(&OPERATOR, "0.NA/0.NA", record).unwrap();
    let root = Principal::parse("300:0.na/0.na").unwrap();
    scene
        .create_authority(&root, "77", NewAuthority::default())
        .unwrap();
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
        .create_name(
            &OPERATOR,
            "20.6/g",
            NewName {
                values: group,
                ..NewName::default()
            },
        )
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
