//! Groups: a role of a group is a role of its members, wherever a role is decided.

use std::ops::ControlFlow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use handfast_registry::{
    AccountChange, Action, AuthorityAction, Edit, Event, Export, Import, NameAction, NewToken,
    Role, Subject,
};

use crate::*;

/// Two authorities, one below the other, and a group with a role on the upper one.
fn with_group(role: Role) -> Scene {
    let scene = scene();
    for path in ["20.1000", "20.1000.5", "20.2000"] {
        authority(&scene, path);
    }
    for name in ["ann", "Bob"] {
        scene.create_account(&OPERATOR, name, "").unwrap();
    }
    scene.create_group(&OPERATOR, "editors", "").unwrap();
    scene
        .grant(&OPERATOR, "20.1000", &account("group:Editors"), role)
        .unwrap();
    scene.add_to_group(&OPERATOR, "EDITORS", "Ann").unwrap();
    scene
}

fn create(scene: &Scene, who: &Principal, id: &str) -> Result<(), RegistryError> {
    let new = NewName::urls(&["https://example.org/map"]);
    scene.create_name(who, id, new).map(|_| ())
}

#[test]
fn members_have_the_roles_of_their_group_below_and_nowhere_else() {
    let scene = with_group(Role::Write);
    let (ann, bob) = (account("ann"), account("bob"));
    create(&scene, &ann, "20.1000/a").unwrap();
    create(&scene, &ann, "20.1000.5/a").unwrap();
    assert_eq!(code(create(&scene, &ann, "20.2000/a")), "denied");
    assert_eq!(code(create(&scene, &bob, "20.1000/b")), "denied");
    // A role of their own counts beside that of the group: the higher one holds.
    scene
        .grant(&OPERATOR, "20.1000.5", &ann, Role::Read)
        .unwrap();
    create(&scene, &ann, "20.1000.5/b").unwrap();

    scene
        .remove_from_group(&OPERATOR, "editors", "ann")
        .unwrap();
    assert_eq!(code(create(&scene, &ann, "20.1000/b")), "denied");
    assert_eq!(scene.groups_of("ann").unwrap(), Vec::<String>::new());
}

#[test]
fn lists_searches_imports_exports_and_tokens_count_groups() {
    let scene = with_group(Role::Write);
    let (ann, bob) = (account("ann"), account("Bob"));
    name(&scene, "20.1000/map");
    name(&scene, "20.2000/map");
    let mut listed = Vec::new();
    scene
        .names(&ann, "20.1000", None, &mut |shown| {
            listed.push(shown.key);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(listed, ["hdl:20.1000/MAP"]);
    assert_eq!(
        code(scene.names(&bob, "20.1000", None, &mut |_| ControlFlow::Break(()))),
        "denied"
    );

    scene.may_import(&ann).unwrap();
    assert_eq!(code(scene.may_import(&bob)), "no-role");
    let line = &b"{\"id\": \"20.1000/new\"}\n{\"id\": \"20.2000/new\"}\n"[..];
    let report = scene.import(&ann, &Import::default(), line, &mut |_| ());
    let counts = report.unwrap().counts;
    assert_eq!((counts.created, counts.refused), (1, 1));

    let export = Export {
        authority: Some("20.1000".into()),
        ..Export::default()
    };
    assert_eq!(
        scene
            .export(&ann, &export, &mut Vec::new(), &mut |_| ())
            .unwrap()
            .names,
        2
    );
    assert!(
        scene
            .export(&bob, &export, &mut Vec::new(), &mut |_| ())
            .is_err()
    );

    // A token takes from the role of the group as from any other.
    let limited = |authority: &str, role| {
        let new = NewToken {
            authority: Some(authority.into()),
            role: Some(role),
            ..NewToken::default()
        };
        let (text, _) = scene.create_token(&ann, "ann", new).unwrap();
        scene.who_has(&text).unwrap().unwrap()
    };
    create(&scene, &limited("20.1000", Role::Write), "20.1000/t").unwrap();
    for (authority, role) in [("20.1000", Role::Read), ("20.1000.5", Role::Write)] {
        let who = limited(authority, role);
        assert_eq!(
            code(create(&scene, &who, "20.1000/u")),
            "denied",
            "{authority}"
        );
    }
}

#[test]
fn a_lead_group_grants_and_owns_names_and_authorities() {
    let scene = with_group(Role::Lead);
    let (ann, bob) = (account("ann"), account("bob"));
    let group = account("group:editors");
    scene
        .create_authority(&ann, "20.1000.6", NewAuthority::default())
        .unwrap();
    scene.grant(&ann, "20.1000", &bob, Role::Lead).unwrap();
    assert_eq!(
        code(scene.grant(&ann, "20.1000", &bob, Role::Admin)),
        "denied"
    );
    // A name that was transferred to the group is in the hands of its members.
    name(&scene, "20.2000/a");
    let transfer = NameAction::Transfer {
        to: group.clone(),
        creates_account: false,
    };
    scene
        .change_name(&OPERATOR, "20.2000/a", None, transfer)
        .unwrap();
    let edit = Edit::urls(&["https://example.org/2"]);
    scene.edit_name(&ann, "20.2000/a", edit.clone()).unwrap();
    assert_eq!(code(scene.edit_name(&bob, "20.2000/a", edit)), "denied");
    // So is an authority.
    let transfer = AuthorityAction::Transfer {
        to: group.clone(),
        creates_account: false,
    };
    scene
        .act_on_authority(&OPERATOR, "20.2000", None, transfer)
        .unwrap();
    scene.grant(&ann, "20.2000", &bob, Role::Admin).unwrap();
    let revoke = AuthorityAction::Revoke {
        from: group,
        role: None,
    };
    scene
        .act_on_authority(&bob, "20.2000", None, revoke)
        .unwrap();
    assert_eq!(code(create(&scene, &ann, "20.2000/b")), "denied");
}

#[test]
fn only_administrators_make_groups_and_a_group_never_acts() {
    let scene = with_group(Role::Admin);
    let (ann, bob) = (account("ann"), account("Bob"));
    assert_eq!(code(scene.create_group(&ann, "mine", "")), "operator-only");
    assert_eq!(
        code(scene.add_to_group(&ann, "editors", "Bob")),
        "operator-only"
    );
    assert_eq!(
        code(scene.remove_from_group(&ann, "editors", "ann")),
        "operator-only"
    );
    let change = AccountChange {
        administrator: Some(true),
        ..AccountChange::default()
    };
    scene.change_account(&OPERATOR, "Bob", &change).unwrap();
    scene.create_group(&bob, "readers", "The readers").unwrap();
    scene.add_to_group(&bob, "readers", "bob").unwrap();
    assert_eq!(scene.group("Readers").unwrap().members, ["Bob"]);
    assert_eq!(scene.groups().unwrap().len(), 2);

    assert_eq!(
        code(scene.create_group(&OPERATOR, "Editors", "")),
        "group-exists"
    );
    assert_eq!(code(scene.create_group(&OPERATOR, "a b", "")), "bad-group");
    assert_eq!(
        code(scene.add_to_group(&OPERATOR, "none", "ann")),
        "no-group"
    );
    assert_eq!(
        code(scene.add_to_group(&OPERATOR, "editors", "eve")),
        "no-account"
    );
    assert_eq!(
        code(scene.remove_from_group(&OPERATOR, "editors", "bob")),
        "no-member"
    );
    let nobody = account("group:none");
    assert_eq!(
        code(scene.grant(&OPERATOR, "20.1000", &nobody, Role::Read)),
        "no-group"
    );
    let group = account("group:editors");
    assert_eq!(code(create(&scene, &group, "20.1000/a")), "group-acts");
    assert_eq!(
        code(scene.request_access(&group, "20.2000", Role::Read, "")),
        "account-only"
    );
    assert!(Principal::parse_actor("group:editors").is_err());
}

#[test]
fn accounts_groups_tokens_and_grants_leave_events_that_name_nobody() {
    let scene = scene();
    authority(&scene, "20.1000");
    let before = scene.event_count().unwrap();
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    scene.create_account(&OPERATOR, "bob", "").unwrap();
    scene.create_group(&OPERATOR, "editors", "").unwrap();
    scene.add_to_group(&OPERATOR, "editors", "ann").unwrap();
    // A member is added once.
    scene.add_to_group(&OPERATOR, "editors", "ann").unwrap();
    scene
        .remove_from_group(&OPERATOR, "editors", "ann")
        .unwrap();
    let ann = account("ann");
    let (_, token) = scene
        .create_token(&ann, "ann", NewToken::default())
        .unwrap();
    scene.revoke_token(&OPERATOR, &token.id).unwrap();
    scene.grant(&OPERATOR, "20.1000", &ann, Role::Read).unwrap();

    let mut log = Vec::new();
    scene.export_log(&mut log, &mut |_| ()).unwrap();
    let log = String::from_utf8(log).unwrap();
    let event = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        Event::from_bytes(&STANDARD.decode(line["event"].as_str().unwrap()).unwrap()).unwrap()
    };
    let events: Vec<_> = log.lines().skip(1).map(event).collect();
    let events = &events[usize::try_from(before).unwrap()..];
    let expected = [
        Action::Account,
        Action::Account,
        Action::Group,
        Action::Group,
        Action::Group,
        Action::Token,
        Action::Token,
        Action::Grant,
    ];
    assert!(
        events.iter().map(|event| event.action).eq(expected),
        "{events:?}"
    );
    assert!(events.iter().all(|event| event.subject == Subject::None));

    let note = |who: &Principal, number: u64| scene.event_note(who, number).unwrap();
    let added = before + 4;
    assert_eq!(
        note(&OPERATOR, added).as_deref(),
        Some("group:editors add account:ann")
    );
    assert_eq!(note(&ann, added), note(&OPERATOR, added));
    assert_eq!(note(&account("bob"), added), None);
    assert_eq!(note(&Principal::nobody(), added), None);
    let secret = format!("token:{} create account:ann", token.id);
    assert_eq!(note(&ann, before + 6), Some(secret));
    let check = scene.check().unwrap();
    assert_eq!(check.problems, []);
}

#[test]
fn a_backup_has_groups_and_an_export_has_grants_to_them() {
    let scene = with_group(Role::Write);
    let copy = Registry::open(&copy_of(&scene), environment()).unwrap();
    assert_eq!(copy.groups().unwrap(), scene.groups().unwrap());
    assert_eq!(copy.groups_of("ANN").unwrap(), ["editors"]);

    let mut exported = Vec::new();
    scene
        .export(&OPERATOR, &Export::default(), &mut exported, &mut |_| ())
        .unwrap();
    let other = scene_with(Limits::default());
    other
        .import(&OPERATOR, &Import::default(), &exported[..], &mut |_| ())
        .unwrap();
    let mut again = Vec::new();
    other
        .export(&OPERATOR, &Export::default(), &mut again, &mut |_| ())
        .unwrap();
    assert_eq!(
        String::from_utf8(again).unwrap(),
        String::from_utf8(exported).unwrap()
    );
    // Who is in a group is not part of an export.
    assert_eq!(
        other.group("editors").unwrap().members,
        Vec::<String>::new()
    );
}

#[test]
fn an_account_has_an_address_for_mail() {
    let scene = with_group(Role::Write);
    let set = |email: &str| {
        let change = AccountChange {
            email: Some(email.into()),
            ..AccountChange::default()
        };
        scene.change_account(&OPERATOR, "ann", &change)
    };
    assert_eq!(scene.account("ann").unwrap().email, "");
    assert_eq!(set("ann@example.org").unwrap().email, "ann@example.org");
    for wrong in ["ann", "@example.org", "ann@", "a b@example.org", "a@b\n"] {
        assert_eq!(code(set(wrong)), "bad-email", "{wrong}");
    }
    assert_eq!(scene.account("ann").unwrap().email, "ann@example.org");
    assert_eq!(set("").unwrap().email, "");
}

#[test]
fn why_names_every_grant_strongest_first() {
    let scene = with_group(Role::Write);
    let (ann, bob) = (account("ann"), account("Bob"));
    scene
        .grant(&OPERATOR, "20.1000", &bob, Role::Admin)
        .unwrap();
    scene.grant(&bob, "20.1000.5", &ann, Role::Lead).unwrap();
    // A later change of the authority is not the grant.
    let change = AuthorityChange {
        title: Some("Maps".into()),
        ..AuthorityChange::default()
    };
    scene
        .change_authority(&OPERATOR, "20.1000.5", change)
        .unwrap();

    let reasons = scene.why(&ann, &ann, "20.1000.5").unwrap();
    let [own, group] = &reasons[..] else {
        panic!("{reasons:?}");
    };
    assert_eq!(
        (own.role, own.authority.as_str()),
        (Role::Lead, "20.1000.5")
    );
    assert_eq!(
        (&own.granted_by, own.is_inherited),
        (&Some(bob.clone()), false)
    );
    assert_eq!(
        (group.role, group.authority.as_str()),
        (Role::Write, "20.1000")
    );
    assert_eq!(group.through.as_deref(), Some("Editors"));
    assert_eq!(group.joined_by, Some(OPERATOR));
    assert!(group.joined_at.is_some() && own.joined_at.is_none());
    assert_eq!(
        (&group.granted_by, group.is_inherited),
        (&Some(OPERATOR), true)
    );
    assert!(group.granted_at < own.granted_at);

    // A role that was taken and granted again counts since then.
    let first = own.granted_at;
    let revoke = AuthorityAction::Revoke {
        from: ann.clone(),
        role: None,
    };
    scene
        .act_on_authority(&bob, "20.1000.5", None, revoke)
        .unwrap();
    scene
        .grant(&OPERATOR, "20.1000.5", &ann, Role::Lead)
        .unwrap();
    let again = scene.why(&bob, &ann, "20.1000.5").unwrap();
    assert!(again[0].granted_at > first);
    assert_eq!(again[0].granted_by, Some(OPERATOR));

    assert_eq!(
        scene.why(&OPERATOR, &account("eve"), "20.1000").unwrap(),
        []
    );
    assert_eq!(code(scene.why(&ann, &bob, "20.1000")), "denied");
    assert_eq!(
        code(scene.why(&Principal::nobody(), &bob, "20.1000")),
        "denied"
    );
    assert_eq!(code(scene.why(&ann, &ann, "20.3000")), "no-authority");
    let operator = scene.why(&OPERATOR, &OPERATOR, "20.1000").unwrap();
    assert!(operator[0].is_administrator && operator[0].role == Role::Admin);
}

#[test]
fn people_lists_everybody_once_with_the_strongest_reason() {
    let scene = with_group(Role::Write);
    let (ann, bob) = (account("ann"), account("Bob"));
    let identity = account("300:20.1000/ann");
    scene.add_to_group(&OPERATOR, "editors", "bob").unwrap();
    scene
        .grant(&OPERATOR, "20.1000.5", &bob, Role::Lead)
        .unwrap();
    scene
        .grant(&OPERATOR, "20.1000", &identity, Role::Read)
        .unwrap();
    scene
        .create_account(&OPERATOR, "root", "The administrator")
        .unwrap();
    let change = AccountChange {
        administrator: Some(true),
        ..AccountChange::default()
    };
    scene.change_account(&OPERATOR, "root", &change).unwrap();

    let people = scene.people(&ann, "20.1000.5").unwrap();
    let listed: Vec<_> = people
        .iter()
        .map(|person| {
            let reason = &person.reason;
            (
                person.who.to_string(),
                reason.role,
                reason.through.clone(),
                reason.is_inherited,
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("root".to_string(), Role::Admin, None, false),
            ("Bob".to_string(), Role::Lead, None, false),
            (
                "ann".to_string(),
                Role::Write,
                Some("Editors".to_string()),
                true
            ),
            ("300:20.1000/ann".to_string(), Role::Read, None, true),
        ]
    );
    assert!(people[0].reason.is_administrator && people[0].title == "The administrator");
    assert_eq!(code(scene.people(&ann, "20.2000")), "denied");
    assert_eq!(
        code(scene.people(&Principal::nobody(), "20.1000")),
        "denied"
    );
}

#[test]
fn holdings_list_everything_that_an_account_has() {
    let scene = with_group(Role::Write);
    let (ann, bob) = (account("ann"), account("Bob"));
    scene.grant(&OPERATOR, "20.2000", &ann, Role::Lead).unwrap();
    scene
        .create_token(&ann, "ann", NewToken::default())
        .unwrap();
    for id in ["20.1000/a", "20.2000/a", "20.2000/b"] {
        name(&scene, id);
    }
    let transfer = |to: &Principal| NameAction::Transfer {
        to: to.clone(),
        creates_account: false,
    };
    scene
        .change_name(&OPERATOR, "20.1000/a", None, transfer(&ann))
        .unwrap();
    scene
        .change_name(&OPERATOR, "20.2000/a", None, transfer(&bob))
        .unwrap();
    let holdings = scene.holdings(&ann, "Ann").unwrap();
    let roles: Vec<_> = holdings
        .roles
        .iter()
        .map(|granted| {
            (
                granted.authority.as_str(),
                granted.role,
                granted.through.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        roles,
        [
            ("20.1000", Role::Write, Some("Editors")),
            ("20.2000", Role::Lead, None)
        ]
    );
    assert_eq!(
        (holdings.tokens.len(), holdings.names, holdings.is_complete),
        (1, 1, true)
    );
    assert_eq!(
        (holdings.groups, holdings.account.name),
        (vec!["editors".to_string()], "ann".to_string())
    );
    assert_eq!(code(scene.holdings(&bob, "ann")), "not-yours");
    assert_eq!(code(scene.holdings(&OPERATOR, "eve")), "no-account");
}
