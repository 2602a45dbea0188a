//! Clients and colleagues who try to get more than they may have.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handfast_registry::{
    AccountChange, Edit, NewAuthority, NewName, NewValue, Principal, Registry, Role, SignInClient,
};
use handfast_testing::{OPERATOR, Server, Setup, clock};

use crate::browser::{Browser, PASSWORD, start};

const HOUR: u64 = 60 * 60 * 1_000;

/// A server with an account `lea`, and its clock.
fn with_clock() -> (Server, Arc<AtomicU64>) {
    let clock = Arc::new(AtomicU64::new(clock::NOW));
    let moving = Arc::clone(&clock);
    let setup = Setup::new().environment(move || clock::fixed(&moving));
    let server = setup.start_for(&["20.1000"]);
    server.account("lea", &[("20.1000", Role::Lead)]);
    (server, clock)
}

#[test]
fn signing_in_never_leads_out_of_the_console() {
    let server = start();
    let lea = Browser::of(&server, "lea");
    for to in [
        "/console/../20.1000/a",
        "/console/%2e%2e/20.1000/a",
        "//evil.example/",
    ] {
        let there = lea.get(&format!("/console/sign-in?to={to}"));
        assert_eq!(there.location(), "/console/", "{to}");
    }
}

#[test]
fn a_handle_identity_signs_in_by_its_link() {
    let server = start();
    let identity = "300:20.1000/lea";
    server.name("20.1000/lea", &[(300, "HS_SECKEY", b"old secret")]);
    let lea = Browser::of(&server, identity);
    let me = lea.get("/console/me");
    assert_eq!(me.status, 200);
    assert!(me.body.contains(identity), "{}", me.body);
}

/// Somebody else may have had the key.
#[test]
fn a_session_of_a_handle_identity_ends_when_its_key_changes() {
    let (server, clock) = with_clock();
    server.name(
        "20.1000/lea",
        &[(300, "HS_SECKEY", b"old secret"), (1, "DESC", b"Lea")],
    );
    let lea = Browser::of(&server, "300:20.1000/lea");
    clock.fetch_add(60_000, Ordering::Relaxed);
    let change = |value: NewValue| {
        let edit = Edit {
            put: vec![value],
            ..Edit::default()
        };
        let changed = server.registry.edit_name(&OPERATOR, "20.1000/lea", edit);
        changed.unwrap();
    };
    change(NewValue::new(1, "DESC", b"Lea Blum"));
    assert_eq!(lea.get("/console/me").status, 200);
    change(NewValue::new(300, "HS_SECKEY", b"new secret"));
    assert_eq!(lea.get("/console/me").status, 303);
}

/// The page said that such an identity has no role, and the page for passwords failed.
#[test]
fn a_handle_identity_that_administers_is_told_so() {
    let identity = "300:0.SITE/ADMIN";
    let folder = tempfile::tempdir().unwrap();
    let environment = clock::fixed(&Arc::new(AtomicU64::new(clock::NOW)));
    let registry = Registry::create(folder.path(), environment).unwrap();
    let all = vec![Principal::parse(identity).unwrap()];
    let server = Setup::new().serve(registry.with_administrators(all));
    let admin = Browser::of(&server, identity);
    let me = admin.get("/console/me").body;
    assert!(me.contains("you are an administrator"), "{me}");
    assert!(!me.contains("No role was given to you yet"), "{me}");
    assert_eq!(admin.get("/console/server").status, 200);
    let password = admin.get("/console/password");
    assert_eq!(password.status, 409);
    let told = "300:0.SITE/ADMIN signs in with its key";
    assert!(password.body.contains(told), "{}", password.body);
    let other = Setup::new().start_for(&["20.1000"]);
    other.name("20.1000/lea", &[(300, "HS_SECKEY", b"its secret")]);
    let identity = Principal::parse("300:20.1000/lea").unwrap();
    let granted = other
        .registry
        .grant(&OPERATOR, "20.1000", &identity, Role::Write);
    granted.unwrap();
    let me = Browser::of(&other, "300:20.1000/lea")
        .get("/console/me")
        .body;
    assert!(me.contains("granted to you"), "{me}");
}

#[test]
fn a_form_that_cannot_be_read_is_refused() {
    let server = start();
    let wim = Browser::of(&server, "wim");
    let many = vec![("name", "20.1000/a"); 20_001];
    let refused = wim.send("/console/activate", &many);
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("could not be read"));
}

/// A number that is sent thousands of times, with thousands of fields that belong to it, would be
/// millions of fields.
#[test]
fn a_form_cannot_make_the_server_work_for_long() {
    let server = start();
    let create = server
        .registry
        .create_name(&OPERATOR, "20.1000/a", NewName::default());
    create.unwrap();
    let wim = Browser::of(&server, "wim");
    let path = "/console/names/20.1000%2Fa/edit";
    let event = server.registry.show(&OPERATOR, "20.1000/a").unwrap();
    let event = event.record.last_event.to_string();
    let start = || {
        vec![
            ("do", "preview"),
            ("version", "1"),
            ("event", event.as_str()),
        ]
    };
    let mut form = start();
    form.extend(vec![("loc-index", "5"); 3_000]);
    for name in ["loc-href-5", "loc-weight-5", "loc-country-5", "loc-from-5"] {
        form.extend(vec![(name, ""); 3_000]);
    }
    let answer = wim.send(path, &form);
    assert_eq!(answer.status, 200);
    assert!(answer.body.len() < 4 << 20, "{}", answer.body.len());
    let mut form = start();
    form.extend(vec![("url", "https://example.org/"); 10_000]);
    assert_eq!(wim.send(path, &form).status, 413);
}

#[test]
fn an_old_session_creates_no_token() {
    let (server, clock) = with_clock();
    let lea = Browser::with_password(&server, "lea");
    let form = [("title", "for ever"), ("days", "90")];
    assert_eq!(lea.send("/console/me/tokens", &form).status, 201);
    clock.fetch_add(HOUR, Ordering::Relaxed);
    // A form that cannot be carried out is not worth the password.
    let wrong = [("title", "for ever"), ("days", "many")];
    assert_eq!(lea.send("/console/me/tokens", &wrong).status, 422);
    let again = lea.send("/console/me/tokens", &form);
    assert_eq!(again.status, 303, "{}", again.body);
    assert!(again.location().starts_with("/console/again?to="));
    let lea = Principal::parse("lea").unwrap();
    assert_eq!(server.registry.tokens(&lea).unwrap().len(), 1);
}

#[test]
fn an_old_session_grants_no_admin_from_the_inbox() {
    let (server, clock) = with_clock();
    server.account("ada", &[("20.1000", Role::Admin)]);
    let ada = Browser::with_password(&server, "ada");
    let lea = Principal::parse("lea").unwrap();
    let registry = &server.registry;
    let asked = registry.request_access(&lea, "20.1000", Role::Admin, "please");
    let path = "/console/inbox/access/{id}/grant".replace("{id}", &asked.unwrap().id);
    clock.fetch_add(HOUR, Ordering::Relaxed);
    let led = ada.send(&path, &[]);
    assert!(
        led.location().starts_with("/console/again?to="),
        "{}",
        led.head
    );
    let open = registry.access_requests(&OPERATOR).unwrap();
    assert_eq!(open.len(), 1);
}

#[test]
fn a_password_that_was_typed_in_an_ended_session_is_not_stored() {
    let (server, clock) = with_clock();
    let lea = Browser::with_password(&server, "lea");
    clock.fetch_add(13 * HOUR, Ordering::Relaxed);
    let changed = [
        ("old", PASSWORD),
        ("password", "nine red kites"),
        ("again", ""),
    ];
    for path in ["/console/password", "/console/again"] {
        let led = lea.send(path, &changed);
        assert_eq!(led.status, 303);
        assert!(!led.location().contains("draft"), "{}", led.location());
    }
    // Other forms come back.
    let led = lea.send("/console/me", &[("title", "Lea")]);
    assert!(led.location().contains("draft"), "{}", led.location());
}

#[test]
fn behind_a_proxy_that_is_not_configured_nobody_is_on_this_machine() {
    let server = start();
    let set = server.registry.set_password(&OPERATOR, "lea", PASSWORD);
    set.unwrap();
    let form = format!("account=lea&password={}", PASSWORD.replace(' ', "+"));
    let site = "Sec-Fetch-Site: same-origin";
    let forwarded = [site, "X-Forwarded-For: 192.0.2.7"];
    let path = "/console/sign-in";
    let refused = server.ask("POST", path, &forwarded, Some(&form));
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert_eq!(server.ask("POST", path, &[site], Some(&form)).status, 303);
    let client = SignInClient::default();
    let session = server
        .registry
        .sign_in_with_password("lea", PASSWORD, &client);
    let cookie = format!("Cookie: handfast-local={}", session.unwrap().secret);
    let page = server.get_with("/console/me", &[&cookie, forwarded[1]]);
    assert_eq!(page.status, 303);
    assert_eq!(server.get_with("/console/me", &[&cookie]).status, 200);
}

#[test]
fn a_request_for_an_authority_exists_for_those_who_decide_it() {
    let server = start();
    let registry = &server.registry;
    let who = |name: &str| Principal::parse(name).unwrap();
    let new = NewAuthority {
        title: "A secret plan".to_string(),
        ..NewAuthority::default()
    };
    let asked = registry.request_authority(&who("ann"), "20.1000.9", new);
    asked.unwrap();
    let eve = who("eve");
    for (path, is_there) in [("20.1000.9", "requested"), ("20.1000.8", "not there")] {
        let codes = [
            registry.authority(&eve, path).unwrap_err().code(),
            registry.why(&eve, &eve, path).unwrap_err().code(),
            registry.people(&eve, path).unwrap_err().code(),
        ];
        assert_eq!(codes, ["no-authority"; 3], "{is_there}");
    }
    let listed = server.get("/api/v1/authorities");
    assert_eq!(listed.status, 200);
    assert!(!listed.body.contains("secret plan"), "{}", listed.body);
    for name in ["ann", "lea", "boss"] {
        assert!(
            registry.authority(&who(name), "20.1000.9").is_ok(),
            "{name}"
        );
    }
}

/// They were told that there is a request, and who had asked.
#[test]
fn nobody_finds_a_request_for_an_authority_by_trying_to_decide_or_to_repeat_it() {
    let server = start();
    let ann = Principal::parse("ann").unwrap();
    let asked = server
        .registry
        .request_authority(&ann, "20.1000.9", NewAuthority::default());
    asked.unwrap();
    let eve = Browser::of(&server, "eve");
    let answers = ["20.1000.9", "20.1000.8"].map(|path| {
        let inbox = format!("/console/inbox/authorities/{path}");
        let approve = eve.send(&format!("{inbox}/approve"), &[]);
        let decline = eve.send(&format!("{inbox}/decline"), &[("reason", "no")]);
        (approve.status, decline.status)
    });
    assert_eq!(answers[0], answers[1]);
    let repeat = |who: &Browser<'_>| {
        let form = [("authority", "20.1000.9"), ("reason", "mine")];
        let refused = who.send("/console/authorities/new", &form);
        assert_eq!(refused.status, 422, "{}", refused.body);
        refused.body
    };
    let told = repeat(&eve);
    assert!(told.contains("Somebody has asked for") && !told.contains("ann has"));
    // Those who decide read who it is.
    let told = repeat(&Browser::of(&server, "wim"));
    assert!(told.contains("ann has asked for"), "{told}");
    let told = repeat(&Browser::of(&server, "ann"));
    assert!(
        told.contains("You have asked for 20.1000.9 already"),
        "{told}"
    );
    let approve = "/console/inbox/authorities/20.1000.9/approve";
    assert_eq!(Browser::of(&server, "lea").send(approve, &[]).status, 303);
}

/// The page had the title of every account, also of those who work for others.
#[test]
fn a_lead_does_not_learn_what_people_of_others_are_called() {
    let server = start();
    for name in ["eve", "wim"] {
        let change = AccountChange {
            title: Some("A name for friends".to_string()),
            ..AccountChange::default()
        };
        let changed = server.registry.change_account(&OPERATOR, name, &change);
        changed.unwrap();
    }
    let lea = Browser::of(&server, "lea");
    let why = |who: &str| lea.get(&format!("/console/authorities/20.1000/why?who={who}"));
    assert!(why("wim").body.contains("A name for friends"));
    let (eve, none) = (why("eve"), why("abc"));
    assert_eq!(eve.status, none.status);
    assert!(!eve.body.contains("A name for friends"));
    let boss = Browser::of(&server, "boss");
    let why = boss.get("/console/authorities/20.1000/why?who=eve");
    assert!(why.body.contains("A name for friends"));
}

/// Browsers end lines with CR LF, and a page shows CR as a character that cannot be read.
#[test]
fn text_of_several_lines_comes_back_as_it_was() {
    let (server, clock) = with_clock();
    let lea = Browser::with_password(&server, "lea");
    let form = [
        ("authority", "no authority"),
        ("meaning", "Maps,\r\nand plans"),
    ];
    let refused = lea.send("/console/authorities/new", &form);
    assert_eq!(refused.status, 422);
    assert!(
        refused.body.contains("Maps,\nand plans"),
        "{}",
        refused.body
    );
    clock.fetch_add(13 * HOUR, Ordering::Relaxed);
    let led = lea.send("/console/authorities/new", &form);
    let draft = led.location().split("%2F").last().unwrap();
    let draft = draft.split('&').next().unwrap();
    let lea = Browser::with_password(&server, "lea");
    let draft = lea.get(&format!("/console/draft/{draft}"));
    assert!(draft.body.contains("Maps,\nand plans"), "{}", draft.body);
}
