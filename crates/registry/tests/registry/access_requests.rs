//! Requests for access.

use handfast_registry::{AccessDecision, AccessRequest, AccessRequestStatus, NewToken, Role};

use crate::*;

fn with_accounts() -> Scene {
    let scene = scene();
    for path in ["20.1000", "20.1000.5", "20.2000"] {
        authority(&scene, path);
    }
    for name in ["ann", "bob", "lea"] {
        scene.create_account(&OPERATOR, name, "").unwrap();
    }
    scene
        .grant(&OPERATOR, "20.1000", &account("lea"), Role::Lead)
        .unwrap();
    scene
}

fn ask(scene: &Scene, authority: &str, role: Role) -> Result<AccessRequest, RegistryError> {
    scene.request_access(&account("ann"), authority, role, "I keep the maps")
}

fn decline(reason: &str) -> AccessDecision {
    AccessDecision::Decline {
        reason: reason.into(),
    }
}

#[test]
fn a_lead_above_grants_what_was_asked_for_and_the_reason_stays() {
    let scene = with_accounts();
    let (ann, bob, lea) = (account("ann"), account("bob"), account("lea"));
    let asked = ask(&scene, "20.1000.5", Role::Write).unwrap();
    assert_eq!(
        scene.access_requests(&lea).unwrap(),
        std::slice::from_ref(&asked)
    );
    assert_eq!(
        scene.access_requests(&ann).unwrap(),
        std::slice::from_ref(&asked)
    );
    for other in [&bob, &Principal::nobody()] {
        assert_eq!(scene.access_requests(other).unwrap(), []);
        let outcome = scene.decide_access_request(other, &asked.id, AccessDecision::Grant);
        assert_eq!(code(outcome), "no-access-request");
    }
    let own = scene.decide_access_request(&ann, &asked.id, AccessDecision::Grant);
    assert_eq!(code(own), "own-request");

    scene
        .decide_access_request(&lea, &asked.id, AccessDecision::Grant)
        .unwrap();
    scene
        .create_name(&ann, "20.1000.5/a", NewName::default())
        .unwrap();
    let reasons = scene.why(&ann, &ann, "20.1000.5").unwrap();
    assert_eq!(reasons[0].granted_by, Some(lea.clone()));
    assert_eq!(reasons[0].reason.as_deref(), Some("I keep the maps"));
    // It is decided: nobody has to do anything, and the account sees what became of it.
    assert_eq!(scene.access_requests(&lea).unwrap(), []);
    let own = scene.access_requests(&ann).unwrap();
    assert!(matches!(&own[0].status, AccessRequestStatus::Granted { by, .. } if *by == lea));
    let twice = scene.decide_access_request(&lea, &asked.id, decline(""));
    assert_eq!(code(twice), "decided");
    assert_eq!(code(ask(&scene, "20.1000.5", Role::Read)), "has-role");
}

#[test]
fn a_request_is_declined_with_a_reason_or_taken_back() {
    let scene = with_accounts();
    let (ann, lea) = (account("ann"), account("lea"));
    let asked = ask(&scene, "20.1000", Role::Write).unwrap();
    scene
        .decide_access_request(&lea, &asked.id, decline("not yours"))
        .unwrap();
    let own = scene.access_requests(&ann).unwrap();
    let AccessRequestStatus::Declined { by, reason, .. } = &own[0].status else {
        panic!("{own:?}");
    };
    assert_eq!((by, reason.as_str()), (&lea, "not yours"));
    assert_eq!(scene.why(&ann, &ann, "20.1000").unwrap(), []);
    // It may ask again, and take that back.
    let again = ask(&scene, "20.1000", Role::Read).unwrap();
    scene
        .decide_access_request(&ann, &again.id, decline(""))
        .unwrap();
    assert_eq!(scene.access_requests(&lea).unwrap(), []);
}

#[test]
fn only_who_may_grant_a_role_decides_about_it() {
    let scene = with_accounts();
    let lea = account("lea");
    let asked = ask(&scene, "20.1000", Role::Admin).unwrap();
    assert_eq!(scene.access_requests(&lea).unwrap(), []);
    let outcome = scene.decide_access_request(&lea, &asked.id, AccessDecision::Grant);
    assert_eq!(code(outcome), "no-access-request");
    scene
        .decide_access_request(&OPERATOR, &asked.id, AccessDecision::Grant)
        .unwrap();
    // A role that is higher by now is not lowered.
    let asked = ask(&scene, "20.2000", Role::Read).unwrap();
    let ann = account("ann");
    scene.grant(&OPERATOR, "20.2000", &ann, Role::Lead).unwrap();
    scene
        .decide_access_request(&OPERATOR, &asked.id, AccessDecision::Grant)
        .unwrap();
    assert_eq!(
        scene.why(&ann, &ann, "20.2000").unwrap()[0].role,
        Role::Lead
    );
}

#[test]
fn requests_are_limited_and_need_an_account() {
    let scene = with_accounts();
    let ann = account("ann");
    assert_eq!(code(ask(&scene, "20.3000", Role::Read)), "no-authority");
    let eve = scene.request_access(&account("eve"), "20.1000", Role::Read, "");
    assert_eq!(code(eve), "no-account");
    for who in [OPERATOR, Principal::nobody(), account("300:20.1000/ann")] {
        let outcome = scene.request_access(&who, "20.1000", Role::Read, "");
        assert_eq!(code(outcome), "account-only", "{who}");
    }
    let new = NewToken {
        role: Some(Role::Read),
        ..NewToken::default()
    };
    let (text, _) = scene.create_token(&ann, "ann", new).unwrap();
    let limited = scene.who_has(&text).unwrap().unwrap();
    let outcome = scene.request_access(&limited, "20.1000", Role::Admin, "");
    assert_eq!(code(outcome), "account-only");
    let long = scene.request_access(&ann, "20.1000", Role::Read, &"x".repeat(1_001));
    assert_eq!(code(long), "too-large");

    ask(&scene, "20.2000", Role::Write).unwrap();
    assert_eq!(code(ask(&scene, "20.2000", Role::Read)), "requested");
    // Asking and taking back is no way around the limit.
    let mut made = 1;
    let refused = loop {
        match ask(&scene, "20.1000", Role::Read) {
            Ok(asked) => scene
                .decide_access_request(&ann, &asked.id, decline(""))
                .unwrap(),
            Err(refused) => break refused,
        }
        made += 1;
    };
    assert_eq!((made, refused.code()), (20, "quota"));
}
