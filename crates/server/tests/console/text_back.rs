//! Text that a person has typed: it comes back after a session has ended, and as it was typed.

use handfast_registry::{AuthorityChange, NewAuthority, NewName};
use handfast_testing::{OPERATOR, Response, Server};

use crate::browser::{Browser, PASSWORD, start};

const FORM: [(&str, &str); 2] = [("title", "Lea of the maps"), ("email", "lea@maps.example")];

/// The page of a draft, opened by the same account after signing in again.
fn back(server: &Server, led: &Response) -> Response {
    assert_eq!(led.status, 303, "{}", led.body);
    let draft = led.location().split("%2F").last().unwrap();
    let draft = draft.split('&').next().unwrap();
    let again = Browser::with_password(server, "lea");
    again.get(&format!("/console/draft/{draft}"))
}

/// A way in which a session ends.
type EndOfSession<'a> = &'a dyn Fn(&Browser<'_>);

/// Only a session that had timed out gave the text back.
#[test]
fn text_is_back_however_the_session_has_ended() {
    let server = start();
    let registry = &server.registry;
    let ends: [(&str, EndOfSession<'_>); 4] = [
        ("in the list", &|_| {
            let lea = handfast_registry::Principal::parse("lea").unwrap();
            let sessions = registry.sessions(&lea, "lea").unwrap();
            registry.end_session(&lea, &sessions[0].id).unwrap();
        }),
        ("by an administrator", &|_| {
            registry.end_sessions(&OPERATOR, "lea", None).unwrap();
        }),
        ("by a new password", &|_| {
            registry.set_password(&OPERATOR, "lea", PASSWORD).unwrap();
        }),
        ("by signing out", &|lea| {
            assert_eq!(lea.send("/console/sign-out", &[]).status, 303);
        }),
    ];
    for (how, end) in ends {
        let lea = Browser::with_password(&server, "lea");
        end(&lea);
        let draft = back(&server, &lea.send("/console/me", &FORM));
        assert_eq!(draft.status, 200, "{how}: {}", draft.body);
        assert!(draft.body.contains("Lea of the maps"), "{how}");
    }
    // Nobody else gets it.
    let lea = Browser::with_password(&server, "lea");
    registry.end_sessions(&OPERATOR, "lea", None).unwrap();
    let led = lea.send("/console/me", &FORM);
    let wim = Browser::of(&server, "wim");
    let to = led.location().split("to=").last().unwrap();
    let to = to.split('&').next().unwrap().replace("%2F", "/");
    assert_eq!(wim.get(&to).status, 404);
}

/// The server does not know who sends a form without a cookie: the page for signing in has it.
#[test]
fn text_is_back_although_the_cookie_is_lost() {
    let server = start();
    let set = server.registry.set_password(&OPERATOR, "lea", PASSWORD);
    set.unwrap();
    let mut browser = Browser::anonymous(&server);
    let page = browser.send("/console/me", &FORM);
    assert_eq!(page.status, 401);
    assert!(
        page.body.contains("Your text is still there"),
        "{}",
        page.body
    );
    let form = page.body.split("name=\"form\" value=\"").nth(1).unwrap();
    let form = form.split('"').next().unwrap().replace("&amp;", "&");
    let sign_in = |path: &str, password: &str| {
        let fields = [
            ("account", "lea"),
            ("password", password),
            ("form", form.as_str()),
            ("form-path", path),
        ];
        browser.send("/console/sign-in", &fields)
    };
    // A wrong password does not lose it, and it goes nowhere else.
    let wrong = sign_in("/console/me", "wrong");
    assert!(wrong.body.contains("name=\"form\""), "{}", wrong.body);
    let foreign = sign_in("https://evil.example/", PASSWORD);
    assert_eq!(foreign.location(), "/console/");
    let entered = sign_in("/console/me", PASSWORD);
    assert!(
        entered.location().starts_with("/console/draft/"),
        "{}",
        entered.location()
    );
    browser.store_cookie(&entered);
    let draft = browser.get(entered.location());
    assert!(draft.body.contains("Lea of the maps"), "{}", draft.body);
    // Passwords are not carried along.
    let secret = Browser::anonymous(&server);
    let led = secret.send("/console/password", &[("password", "nine red kites")]);
    assert_eq!(led.status, 303);
}

#[test]
fn a_draft_can_be_corrected_and_shows_no_field_of_the_server() {
    let server = start();
    let lea = Browser::with_password(&server, "lea");
    let form = [
        ("authority", "20.1000"),
        ("count", "2"),
        ("once", "17"),
        ("do", "mint"),
        ("width", "4"),
        ("urls", "https://a.example/\r\nhttps://b.example/"),
    ];
    server
        .registry
        .end_sessions(&OPERATOR, "lea", None)
        .unwrap();
    let draft = back(&server, &lea.send("/console/mint", &form)).body;
    for shown in [
        "<textarea id=\"draft-6\" name=\"urls\"",
        ">Addresses<",
        "https://a.example/\nhttps://b.example/",
        "type=\"hidden\" name=\"once\" value=\"17\"",
        "type=\"hidden\" name=\"do\" value=\"mint\"",
        ">Digits of a running number<",
    ] {
        assert!(draft.contains(shown), "{shown} is not in {draft}");
    }
    for hidden in [">once<", ">Once<", ">do<", ">Do<", ">width<", ">urls<"] {
        assert!(!draft.contains(hidden), "{hidden}");
    }
}

/// Browsers end lines with CR LF; a name or a policy with CR in it differs from what was typed.
#[test]
fn lines_are_stored_without_carriage_returns() {
    let server = start();
    let lea = Browser::with_password(&server, "lea");
    let form = [
        ("authority", "20.1000"),
        ("count", "2"),
        ("style", "usual"),
        ("urls", "https://a.example/\r\nhttps://b.example/"),
        ("once", "1"),
        ("do", "mint"),
    ];
    let minted = lea.send("/console/mint", &form);
    assert_eq!(minted.status, 303, "{}", minted.body);
    let csv = minted.location().replace("/names?", "/names.csv?");
    let csv = lea.get(&csv).body;
    let id = csv.lines().nth(1).unwrap().split(',').next().unwrap();
    let record = server.registry.show(&OPERATOR, id).unwrap().record;
    let urls: Vec<_> = record.values.iter().filter_map(|it| it.text()).collect();
    assert_eq!(urls, ["https://a.example/", "https://b.example/"]);
    let policy = [
        ("title", "Maps"),
        ("meaning", "Maps,\r\nand plans"),
        ("approval", "no"),
        ("ttl", "86400"),
    ];
    lea.done("/console/authorities/20.1000/policy", &policy);
    let stored = server.registry.authority(&OPERATOR, "20.1000").unwrap();
    assert_eq!(stored.meaning, "Maps,\nand plans");
}

#[test]
fn a_copied_policy_changes_nothing_and_a_useless_pattern_is_told() {
    let server = start();
    let registry = &server.registry;
    let new = NewAuthority {
        title: "It's CORDRA".to_string(),
        change: AuthorityChange {
            cordra: Some(true),
            pattern: Some(Some("[0-9]+".to_string())),
            ..AuthorityChange::default()
        },
        ..NewAuthority::default()
    };
    registry
        .create_authority(&OPERATOR, "20.7000", new)
        .unwrap();
    let boss = Browser::of(&server, "boss");
    let policy = boss.get("/console/authorities/20.7000/policy").body;
    assert!(
        policy.contains("Hardly any name can be made here"),
        "{policy}"
    );
    let new_name = boss.get("/console/names/new?authority=20.7000").body;
    let example = "handfast name create 20.7000/0123456789abcdef0123456789abcdef ";
    assert!(new_name.contains(example), "{new_name}");
    let policy = boss.get("/console/authorities/20.1000/policy").body;
    let same =
        "handfast authority policy 20.1000 --title &#39;Map Collection&#39; --approval false";
    assert!(policy.contains(same), "{policy}");
    assert!(!policy.contains("Hardly any name"));
}

#[test]
fn a_copied_edit_changes_nothing_and_a_proof_can_be_verified() {
    let server = start();
    let new = NewName::urls(&["https://a.example/?a=1&b=2", "https://b.example/"]);
    let made = server.registry.create_name(&OPERATOR, "20.1000/a", new);
    made.unwrap();
    let lea = Browser::of(&server, "lea");
    let edit = lea.get("/console/names/20.1000%2Fa/edit").body;
    let same = "--url &#39;https://a.example/?a=1&amp;b=2&#39; --url https://b.example/";
    assert!(edit.contains(same), "{edit}");
    assert!(!edit.contains("--remove"), "{edit}");
    let history = lea.get("/console/names/20.1000%2Fa/history").body;
    let same = "handfast log prove 20.1000/a --json &gt; name.proof";
    assert!(history.contains(same), "{history}");
}
