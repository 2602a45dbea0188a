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
    create_authority(&scene, &ann, "urn:urn-3:HUL.OIS.X");
    create(&scene, &ann, "urn:urn-3:HUL.OIS.X:Home");
    scene.create_account(&OPERATOR, "bob", "").unwrap();
    scene
        .grant(&ann, "urn:urn-3:HUL.OIS", &bob, Role::Write)
        .unwrap();

    create(&scene, &bob, "urn:urn-3:hul.ois:b");
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
    create_authority(&scene, &root, "urn:urn-3:HBS");
    scene
        .act_on_authority(&root, "urn:urn-3:HUL.OIS", None, revoke(&bob))
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
        "reserve" => scene.create_name(&who, id, reserved()).map(|_| ()),
        "create with admin" => scene
            .create_name(&who, id, with_values(new_values(admin())))
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
            .change_name(&who, id, None, transfer(&account("friend")))
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
            scene.act_on_authority(&who, "20.1.9", None, RETIRE)
        }
        "approve child" | "decline child" => {
            scene.create_account(&OPERATOR, "asker", "").unwrap();
            request(&scene, &account("asker"), "20.1.9");
            if operation == "approve child" {
                scene.act_on_authority(&who, "20.1.9", None, AuthorityAction::Approve)
            } else {
                scene.act_on_authority(&who, "20.1.9", None, decline())
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
            scene.act_on_authority(&who, "20.1", None, revoke(&account("friend")))
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
        "retire" => scene.act_on_authority(&who, "20.1", None, RETIRE),
        other => panic!("unknown operation {other}"),
    };
    outcome.map_or_else(|error| error.code(), |()| "ok")
}

#[test]
fn a_reserved_name_does_not_leak() {
    let scene = scene();
    authority(&scene, "20.1");
    let (ann, eve) = (account("ann"), account("eve"));
    scene.grant(&OPERATOR, "20.1", &ann, Role::Write).unwrap();
    authority(&scene, "20.2");
    scene.grant(&OPERATOR, "20.2", &eve, Role::Write).unwrap();
    scene.create_name(&ann, "20.1/x", reserved()).unwrap();
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
fn keys_and_groups_are_not_for_those_who_only_write() {
    let scene = scene();
    authority(&scene, "20.1");
    let wes = account("wes");
    scene.grant(&OPERATOR, "20.1", &wes, Role::Write).unwrap();
    let key = || vec![(300, "HS_SECKEY".to_string(), b"mine".to_vec())];
    let boss = with_values(new_values(key()));
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
