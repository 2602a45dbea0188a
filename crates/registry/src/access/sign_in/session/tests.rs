use super::*;
use crate::access::sign_in::tests::{OPERATOR, PASSWORD, SignInTest, ann, client};
use crate::{AccountChange, NewToken, Role};

fn signed_in(test: &SignInTest) -> NewSession {
    let registry = &test.registry;
    if !registry.has_password("ann").unwrap() {
        registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
    }
    registry
        .sign_in_with_password("ann", PASSWORD, &client())
        .unwrap()
}

fn is_live(test: &SignInTest, secret: &str) -> bool {
    test.registry.session(secret).unwrap().is_some()
}

#[test]
fn a_session_ends_after_12_hours_without_use_and_after_14_days() {
    let test = SignInTest::new();
    let (used, unused) = (signed_in(&test), signed_in(&test));
    for _ in 0..13 * 24 {
        test.advance(HOUR_MS);
        assert!(is_live(&test, &used.secret));
    }
    assert!(!is_live(&test, &unused.secret));
    test.advance(DAY_MS - 1);
    assert!(!is_live(&test, &used.secret));
    // Only the account is known then, and only for a day.
    let ended = |secret: &str| test.registry.ended_session(secret).unwrap();
    assert_eq!(ended(&used.secret).as_deref(), Some("ann"));
    test.advance(MEMORY + 1);
    let other = signed_in(&test);
    assert_eq!(ended(&used.secret), None);
    assert_eq!(ended(&other.secret), None);
    assert_eq!(test.registry.sessions(&OPERATOR, "ann").unwrap().len(), 1);
}

#[test]
fn a_secret_that_was_never_given_is_no_session() {
    let test = SignInTest::new();
    let new = signed_in(&test);
    for secret in [
        "",
        "x",
        &new.session.id,
        &format!("{}x", new.secret),
        &"x".repeat(9_999),
    ] {
        assert!(!is_live(&test, secret));
    }
    assert!(is_live(&test, &new.secret));
    assert_ne!(new.secret, signed_in(&test).secret);
}

/// A session of a suspended account would have come back with the account.
#[test]
fn suspending_an_account_ends_its_sessions_for_good() {
    let test = SignInTest::new();
    let new = signed_in(&test);
    for suspended in [true, false] {
        let change = AccountChange {
            suspended: Some(suspended),
            ..AccountChange::default()
        };
        let changed = test.registry.change_account(&OPERATOR, "ann", &change);
        changed.unwrap();
        assert!(!is_live(&test, &new.secret));
        let again = test
            .registry
            .sign_in_with_password("ann", PASSWORD, &client());
        assert_eq!(again.is_ok(), !suspended);
    }
}

#[test]
fn a_session_is_listed_and_ended_by_its_owner_and_by_administrators_only() {
    let test = SignInTest::new();
    let registry = &test.registry;
    let (first, second) = (signed_in(&test), signed_in(&test));
    let bob = Principal::parse("bob").unwrap();
    let role = Some(Role::Admin);
    let limited = NewToken {
        role,
        ..NewToken::default()
    };
    let (token, _) = registry.create_token(&OPERATOR, "ann", limited).unwrap();
    let limited = registry.who_has(&token).unwrap().unwrap();
    for other in [&bob, &limited, &Principal::nobody()] {
        assert!(registry.sessions(other, "ann").is_err());
        assert!(registry.end_session(other, &first.session.id).is_err());
        assert!(registry.end_sessions(other, "ann", None).is_err());
    }
    assert_eq!(registry.sessions(&ann(), "Ann").unwrap().len(), 2);
    registry.end_session(&ann(), &first.session.id).unwrap();
    assert!(!is_live(&test, &first.secret));
    let again = registry.end_session(&ann(), &first.session.id);
    assert_eq!(again.unwrap_err().code(), "no-session");
    let third = signed_in(&test);
    let except = Some(third.session.id.as_str());
    assert_eq!(registry.end_sessions(&ann(), "ann", except).unwrap(), 1);
    assert!(!is_live(&test, &second.secret) && is_live(&test, &third.secret));
    assert_eq!(registry.end_sessions(&OPERATOR, "ann", None).unwrap(), 1);
    assert!(!is_live(&test, &third.secret));
}

#[test]
fn confirming_a_session_makes_it_fresh_and_changes_its_secret() {
    let test = SignInTest::new();
    let old = signed_in(&test);
    test.advance(FRESH);
    assert!(!old.session.is_fresh(test.registry.time()));
    let wrong = test.registry.confirm_session(&old.secret, "wrong");
    assert_eq!(wrong.unwrap_err().code(), "wrong-password");
    let new = test.registry.confirm_session(&old.secret, PASSWORD);
    let new = new.unwrap();
    assert!(new.session.is_fresh(test.registry.time()));
    assert!(!is_live(&test, &old.secret) && is_live(&test, &new.secret));
    assert_eq!(new.session.expires, old.session.expires);
    assert!(
        test.registry
            .confirm_session(&old.secret, PASSWORD)
            .is_err()
    );
}

#[test]
fn the_oldest_of_too_many_sessions_ends() {
    let test = SignInTest::new();
    let link = || test.registry.create_sign_in_link(&OPERATOR, "bob").unwrap();
    let enter = || test.registry.use_link(&link().code, &client()).unwrap();
    let first = enter();
    test.advance(1);
    let second = enter();
    test.advance(1);
    for _ in 2..=MAX_SESSIONS_PER_ACCOUNT {
        enter();
    }
    assert!(!is_live(&test, &first.secret));
    assert!(is_live(&test, &second.secret));
    let listed = test.registry.sessions(&OPERATOR, "bob").unwrap();
    assert_eq!(listed.len(), MAX_SESSIONS_PER_ACCOUNT);
}

/// A person who had typed a text lost it if somebody had ended the session.
#[test]
fn the_account_of_a_session_that_was_ended_is_known_for_a_day() {
    let test = SignInTest::new();
    let registry = &test.registry;
    let ended = |secret: &str| registry.ended_session(secret).unwrap();
    let one = signed_in(&test);
    assert_eq!(ended(&one.secret), None);
    registry.end_session(&ann(), &one.session.id).unwrap();
    let several = signed_in(&test);
    registry.end_sessions(&ann(), "ann", None).unwrap();
    let by_password = signed_in(&test);
    registry.set_password(&OPERATOR, "ann", PASSWORD).unwrap();
    for new in [&one, &several, &by_password] {
        assert!(!is_live(&test, &new.secret));
        assert_eq!(ended(&new.secret).as_deref(), Some("ann"));
    }
    assert_eq!(ended(&one.session.id), None);
    test.advance(MEMORY);
    assert_eq!(ended(&one.secret), None);
    // Those of a suspended account are forgotten for good.
    let last = signed_in(&test);
    for suspended in [true, false] {
        let change = AccountChange {
            suspended: Some(suspended),
            ..AccountChange::default()
        };
        registry.change_account(&OPERATOR, "ann", &change).unwrap();
        assert_eq!(ended(&last.secret), None);
    }
}
