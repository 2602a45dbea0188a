//! What waits for somebody, and what a job would do.

use handfast_registry::{
    AuthorityChange, JobKind, NewAuthority, NewName, NewValue, Principal, Role,
};

use crate::{OPERATOR, Scene, scene};

fn account(scene: &Scene, name: &str, role: Option<Role>) -> Principal {
    scene.create_account(&OPERATOR, name, "").unwrap();
    let who = Principal::account(name).unwrap();
    if let Some(role) = role {
        scene.grant(&OPERATOR, "20.1", &who, role).unwrap();
    }
    who
}

fn authority(scene: &Scene, path: &str, approval: bool) {
    let new = NewAuthority {
        change: AuthorityChange {
            approval: Some(approval),
            ..AuthorityChange::default()
        },
        ..NewAuthority::default()
    };
    scene.create_authority(&OPERATOR, path, new).unwrap();
}

#[test]
fn reserved_names_wait_for_those_who_may_activate_them() {
    let scene = scene();
    authority(&scene, "20.1", true);
    let (lea, wim) = (
        account(&scene, "lea", Some(Role::Lead)),
        account(&scene, "wim", Some(Role::Write)),
    );
    scene
        .create_name(&wim, "20.1/a", NewName::default())
        .unwrap();
    let waiting = |who: &Principal| scene.waiting(who, 10).unwrap();
    let reserved = waiting(&lea).reserved;
    assert_eq!(reserved.len(), 1);
    assert_eq!(reserved.first().map(|own| own.counts.reserved), Some(1));
    // The approval is not theirs.
    assert_eq!(waiting(&wim).decisions(), 0);
    assert_eq!(waiting(&wim).own.len(), 1);
    let nobody = Principal::nobody();
    assert_eq!(
        (waiting(&nobody).decisions(), waiting(&nobody).own.len()),
        (0, 0)
    );
}

/// The inbox showed 0 names for a prefix whose names are all in authorities below it.
#[test]
fn names_are_counted_with_the_authorities_below() {
    let scene = scene();
    for path in ["20.1", "20.1.5", "20.1.5.7", "20.2"] {
        authority(&scene, path, false);
    }
    for id in ["20.1.5/a", "20.1.5.7/b", "20.1.5.7/c", "20.2/d"] {
        scene
            .create_name(&OPERATOR, id, NewName::default())
            .unwrap();
    }
    let keys = ["hdl:20.1", "hdl:20.1.5", "hdl:20.2", "hdl:20.3"];
    let counts = scene.counts_with_children(keys).unwrap();
    let active = keys.map(|key| counts.by_authority.get(key).unwrap().active);
    assert_eq!(active, [3, 3, 1, 0]);
    assert!(counts.is_complete);
}

#[test]
fn own_requests_do_not_wait_for_oneself() {
    let scene = scene();
    authority(&scene, "20.1", false);
    let (lea, ann) = (
        account(&scene, "lea", Some(Role::Lead)),
        account(&scene, "ann", None),
    );
    scene
        .request_access(&ann, "20.1", Role::Read, "to look")
        .unwrap();
    let new = NewAuthority::default();
    scene.request_authority(&lea, "20.1.5", new).unwrap();
    let of_lea = scene.waiting(&lea, 10).unwrap();
    assert_eq!((of_lea.access.len(), of_lea.authorities.len()), (1, 0));
    assert_eq!(scene.waiting(&ann, 10).unwrap().decisions(), 0);
    let of_operator = scene.waiting(&OPERATOR, 10).unwrap();
    assert_eq!(of_operator.decisions(), 2);
    assert_eq!(scene.waiting(&OPERATOR, 0).unwrap().decisions(), 0);
}

#[test]
fn a_preview_is_bounded_and_shows_no_secrets() {
    let scene = scene();
    authority(&scene, "20.1", false);
    for local in 0..3 {
        let values = vec![
            NewValue::new(1, "URL", b"https://old.example/"),
            NewValue::new(300, "HS_SECKEY", b"a secret"),
        ];
        let new = NewName {
            values,
            ..NewName::default()
        };
        let id = format!("20.1/{local}");
        scene.create_name(&OPERATOR, &id, new).unwrap();
    }
    let kind = || JobKind::SetTtl {
        authority: "20.1".to_string(),
        value_type: None,
        seconds: 60,
    };
    let preview = scene.preview_job(&OPERATOR, kind(), 1_000, 2).unwrap();
    assert!(preview.is_complete);
    assert_eq!((preview.counts.changed, preview.changes.len()), (3, 2));
    let differences = preview
        .changes
        .iter()
        .flat_map(|change| &change.differences);
    let mut values = differences.flat_map(|found| found.before.iter().chain(&found.after));
    assert!(values.all(|value| !value.data.windows(6).any(|part| part == b"secret")));
    let none = scene.preview_job(&OPERATOR, kind(), 0, 2).unwrap();
    assert!(!none.is_complete && none.looked_at == 0);
    // Nothing was changed, and others may not even look.
    assert!(scene.jobs().unwrap().is_empty());
    let ann = account(&scene, "ann", None);
    assert!(scene.preview_job(&ann, kind(), 10, 2).is_err());
}
