//! Prefixes and naming authorities.

use handfast_registry::{
    AuthorityAction, AuthorityChange, AuthorityRequestStatus, AuthorityStatus, NameAction,
    Operation, Persistence, Role, State,
};

use crate::*;

#[test]
fn hdl_6_case_follows_the_authority() {
    let scene = scene();
    let sensitive = sensitive_authority();
    scene
        .create_authority(&OPERATOR, "20.2", sensitive.clone())
        .unwrap();
    name(&scene, "20.2/a");
    name(&scene, "20.2/A");
    assert_eq!(
        scene.show(&OPERATOR, "20.2/A").unwrap().record.text,
        "20.2/A"
    );
    assert_eq!(
        code(scene.create_authority(&OPERATOR, "10.5", sensitive)),
        "always-insensitive"
    );
    // The keys of names cannot change once there are names.
    let fold = AuthorityChange {
        case_sensitive: Some(false),
        ..AuthorityChange::default()
    };
    assert_eq!(
        code(scene.change_authority(&OPERATOR, "20.2", fold)),
        "case-fixed"
    );
}

#[test]
fn hdl_2_a_parent_created_later_gains_no_rights() {
    let scene = scene();
    authority(&scene, "20.500.1");
    authority(&scene, "20.500");
    let ann = account("ann");
    scene.grant(&OPERATOR, "20.500", &ann, Role::Admin).unwrap();
    assert_eq!(
        code(scene.create_name(&ann, "20.500.1/x", NewName::default())),
        "denied"
    );
    create_authority(&scene, &ann, "20.500.2");
    create(&scene, &ann, "20.500.2/x");
    assert_eq!(
        code(scene.create_authority(&ann, "30", NewAuthority::default())),
        "operator-only"
    );
}

#[test]
fn urn_8_local_policy_comes_after_the_grammar_and_is_copied_to_children() {
    let scene = scene();
    authority(&scene, "urn:urn-3");
    authority(&scene, "urn:urn-3:HUL");
    let change = AuthorityChange {
        pattern: Some(Some("[a-z]+".into())),
        approval: Some(true),
        ..AuthorityChange::default()
    };
    scene
        .change_authority(&OPERATOR, "urn:urn-3:HUL", change)
        .unwrap();
    authority(&scene, "urn:urn-3:HUL.OIS");
    assert_eq!(
        code(scene.create_name(&OPERATOR, "urn:urn-3:HUL.OIS:a/b", NewName::default())),
        "bad-character"
    );
    assert_eq!(
        code(scene.create_name(&OPERATOR, "urn:urn-3:HUL.OIS:123", NewName::default())),
        "pattern"
    );
    let ann = account("ann");
    scene
        .grant(&OPERATOR, "urn:urn-3:HUL.OIS", &ann, Role::Write)
        .unwrap();
    let shown = create(&scene, &ann, "urn:urn-3:HUL.OIS:abc");
    assert_eq!(shown.record.state, State::Reserved);
    assert_eq!(
        code(scene.change_name(&ann, "urn:urn-3:HUL.OIS:abc", None, NameAction::Activate)),
        "denied"
    );
    act(&scene, "urn:urn-3:HUL.OIS:abc", NameAction::Activate);
    // URN-3, URN-7: no case rule of its own, never erasable.
    let erasable = AuthorityChange {
        persistence: Some(Persistence::Erasable),
        ..Default::default()
    };
    assert_eq!(
        code(scene.change_authority(&OPERATOR, "urn:urn-3:HUL", erasable)),
        "permanent"
    );
}

#[test]
fn urn_5_an_authority_can_be_asked_for() {
    let scene = scene();
    authority(&scene, "urn:urn-3");
    authority(&scene, "urn:urn-3:HUL");
    let (ann, lead) = (account("ann"), account("lead"));
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    scene
        .grant(&OPERATOR, "urn:urn-3:HUL", &lead, Role::Lead)
        .unwrap();
    request(&scene, &ann, "urn:urn-3:HUL.A");
    assert_eq!(
        code(scene.create_name(&ann, "urn:urn-3:HUL.A:x", NewName::default())),
        "not-approved"
    );
    // Others do not learn of the request.
    let nobody = Principal::nobody();
    let as_nobody = |id: &str| scene.create_name(&nobody, id, NewName::default());
    assert_eq!(code(as_nobody("urn:urn-3:HUL.A:x")), "no-authority");
    assert_eq!(code(as_nobody("urn:urn-3:HUL.Z:x")), "no-authority");
    assert_eq!(
        code(scene.act_on_authority(&ann, "urn:urn-3:HUL.A", None, AuthorityAction::Approve)),
        "denied"
    );
    scene
        .act_on_authority(&lead, "urn:urn-3:HUL.A", None, AuthorityAction::Approve)
        .unwrap();
    create(&scene, &ann, "urn:urn-3:HUL.A:x");
    request(&scene, &ann, "urn:urn-3:HUL.B");
    scene
        .act_on_authority(&lead, "urn:urn-3:HUL.B", None, decline())
        .unwrap();
    assert_eq!(
        code(scene.authority(&OPERATOR, "urn:urn-3:HUL.B").map(|_| ())),
        "no-authority"
    );
    // Retiring keeps names and the path.
    scene
        .act_on_authority(&lead, "urn:urn-3:HUL.A", None, RETIRE)
        .unwrap();
    assert_eq!(
        code(scene.create_name(&ann, "urn:urn-3:HUL.A:y", NewName::default())),
        "retired"
    );
    assert_eq!(
        scene.show(&ann, "urn:urn-3:HUL.A:x").unwrap().record.state,
        State::Active
    );
    let again = scene.create_authority(&lead, "urn:urn-3:HUL.A", NewAuthority::default());
    assert_eq!(code(again), "authority-exists");
}

#[test]
fn cid_11_paths_under_a_cordra_authority_are_in_uppercase() {
    let scene = scene();
    let cordra = cordra_authority();
    scene
        .create_authority(&OPERATOR, "100.102", cordra)
        .unwrap();
    let lower = "hdl:100.102/f58fb49eb1f848f0a606e84cef294be5";
    name(&scene, lower);
    let shown = scene
        .show(&OPERATOR, "100.102/F58FB49EB1F848f0A606E84CEF294BE5?q#f")
        .unwrap();
    assert_eq!(
        shown.record.text,
        "100.102/F58FB49EB1F848F0A606E84CEF294BE5"
    );
    assert_eq!(
        code(scene.create_name(&OPERATOR, "100.102/x", NewName::default())),
        "not-cordra"
    );
    let sensitive = AuthorityChange {
        case_sensitive: Some(true),
        ..AuthorityChange::default()
    };
    assert!(
        scene
            .change_authority(&OPERATOR, "100.102", sensitive)
            .is_err()
    );
}

#[test]
fn permanence_cannot_be_switched_off() {
    let scene = scene();
    authority(&scene, "20.9");
    name(&scene, "20.9/x");
    let erasable = AuthorityChange {
        persistence: Some(Persistence::Erasable),
        ..Default::default()
    };
    assert_eq!(
        code(scene.change_authority(&OPERATOR, "20.9", erasable.clone())),
        "permanent"
    );
    assert_eq!(
        code(scene.change_name(&OPERATOR, "0.NA/20.9", None, NameAction::Erase)),
        "prefix-record"
    );
    // Before the first name it can.
    authority(&scene, "20.8");
    scene.change_authority(&OPERATOR, "20.8", erasable).unwrap();
}

/// A request that was made before its parent was retired could be approved after it, and named
/// something new below it.
#[test]
fn nothing_is_approved_below_a_retired_parent() {
    let scene = scene();
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    for (parent, path) in [("20.7", "20.7.1"), ("urn:urn-3", "urn:urn-3:HUL")] {
        authority(&scene, parent);
        request(&scene, &account("ann"), path);
        act_on(&scene, parent, RETIRE);
        let below = scene.create_authority(&OPERATOR, &format!("{path}2"), NewAuthority::default());
        let hint = below.unwrap_err().hint().unwrap_or_default();
        assert_eq!(hint.contains("HOME"), parent == "20.7", "{hint}");
        let refused = scene
            .act_on_authority(&OPERATOR, path, None, AuthorityAction::Approve)
            .unwrap_err();
        assert_eq!(refused.code(), "retired", "{refused}");
        let told = format!("{refused} {}", refused.hint().unwrap_or_default());
        let remedy = format!("handfast authority decline {path}");
        assert!(told.contains(&remedy) && told.contains(parent), "{told}");
        let shown = scene.authority(&OPERATOR, path).unwrap();
        let is_requested = matches!(shown.status, AuthorityStatus::Requested { .. });
        assert!(is_requested);
    }
    // A prefix that is homed again can have children again.
    let home = Operation::Home {
        prefix: "20.7".into(),
    };
    scene.perform(&OPERATOR, home).unwrap();
    act_on(&scene, "20.7.1", AuthorityAction::Approve);
    act_on(&scene, "urn:urn-3:HUL", decline());
}

/// Only those who decide could take a request back, so that a typing error in it waited for them.
#[test]
fn a_request_is_withdrawn_by_the_one_who_asked() {
    let scene = scene();
    let (ann, bob) = (account("ann"), account("bob"));
    for name in ["ann", "bob"] {
        scene.create_account(&OPERATOR, name, "").unwrap();
    }
    let ask = |path: &str| scene.request_authority(&ann, path, NewAuthority::default());
    ask("21.1").unwrap();
    assert_eq!(
        code(scene.act_on_authority(&bob, "21.1", None, decline())),
        "no-authority"
    );
    scene
        .act_on_authority(&ann, "21.1", None, decline())
        .unwrap();
    assert_eq!(code(scene.authority(&ann, "21.1")), "no-authority");
    // The path is free for others.
    request(&scene, &bob, "21.1");
    // Each request and each withdrawal is two events, which stay: a withdrawn request counts for a
    // day.
    for number in 2..6 {
        ask(&format!("21.{number}")).unwrap();
        scene
            .act_on_authority(&ann, &format!("21.{number}"), None, decline())
            .unwrap();
    }
    let refused = ask("21.6").unwrap_err();
    assert_eq!(refused.code(), "quota");
    assert!(
        matches!(&refused, RegistryError::Quota { retry_after: Some(wait), .. } if *wait > 80_000),
        "{refused:?}"
    );
    // Decisions by others are not counted.
    act_on(&scene, "21.1", decline());
    for number in 10..20 {
        let path = format!("21.{number}");
        request(&scene, &bob, &path);
        act_on(&scene, &path, decline());
    }
}

#[test]
fn reasons_of_requests_are_read_by_those_they_are_for() {
    let scene = scene();
    authority(&scene, "20.1");
    let (ann, bob, eve) = (account("ann"), account("bob"), account("eve"));
    for name in ["ann", "bob", "eve"] {
        scene.create_account(&OPERATOR, name, "").unwrap();
    }
    scene.grant(&OPERATOR, "20.1", &bob, Role::Lead).unwrap();
    let ask = |path: &str, reason: &str| {
        let reason = reason.to_string();
        let new = NewAuthority {
            reason,
            ..NewAuthority::default()
        };
        scene.request_authority(&ann, path, new)
    };
    ask("20.1.5", "for the maps").unwrap();
    ask("20.9", "for the prints").unwrap();
    assert_eq!(code(ask("20.7", &"x".repeat(1_001))), "too-large");
    let seen = |who: &Principal| -> Vec<(String, String)> {
        let all = scene.authority_requests(who).unwrap().into_iter();
        all.map(|one| (one.authority, one.reason)).collect()
    };
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    let both = [
        pair("20.1.5", "for the maps"),
        pair("20.9", "for the prints"),
    ];
    assert_eq!(seen(&ann), both);
    assert_eq!(seen(&OPERATOR), both);
    assert_eq!(seen(&bob), [pair("20.1.5", "for the maps")]);
    assert_eq!(seen(&eve), []);
    assert_eq!(seen(&Principal::nobody()), []);

    let reason = "20.1.6 is free".to_string();
    let decline_it = AuthorityAction::Decline { reason };
    scene
        .act_on_authority(&bob, "20.1.5", None, decline_it)
        .unwrap();
    scene
        .act_on_authority(&OPERATOR, "20.9", None, AuthorityAction::Approve)
        .unwrap();
    assert_eq!((seen(&bob), seen(&OPERATOR)), (Vec::new(), Vec::new()));
    let own = scene.authority_requests(&ann).unwrap();
    let answers: Vec<_> = own.iter().map(|one| &one.status).collect();
    assert!(matches!(
        answers.as_slice(),
        [
            AuthorityRequestStatus::Declined { by, reason, .. },
            AuthorityRequestStatus::Approved { .. },
        ] if *by == bob && reason == "20.1.6 is free"
    ));
    // Who takes a request back needs no answer.
    ask("20.1.5", "again").unwrap();
    scene
        .act_on_authority(&ann, "20.1.5", None, decline())
        .unwrap();
    let left = seen(&ann);
    assert_eq!(left, [pair("20.9", "for the prints")]);
    assert_eq!(scene.check().unwrap().problems, []);
}
