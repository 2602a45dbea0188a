//! Authorities: making them, inviting, granting, asking, deciding, retiring.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handfast_registry::{NewName, Role};
use handfast_testing::{OPERATOR, Server, Setup, clock};

use crate::browser::{Browser, PASSWORD, start};

/// The address of a link that a page shows.
fn link_in(body: &str) -> String {
    let text = body.replace("<wbr>", "");
    let at = text.find("/console/enter/").unwrap();
    let rest = text.get(at..).unwrap();
    let end = rest.find('<').unwrap();
    rest.get(..end).unwrap().to_string()
}

#[test]
fn an_administrator_makes_a_prefix_and_invites_a_person_for_a_child() {
    let server = start();
    let boss = Browser::of(&server, "boss");
    let made = boss.done(
        "/console/authorities/new",
        &[("authority", "20.3000"), ("title", "Prints")],
    );
    assert!(made.body.contains("<h1><bdi>Prints</bdi></h1>"));
    let child = boss.done(
        "/console/authorities/20.3000/children",
        &[("authority", "20.3000.7"), ("profile", "cordra")],
    );
    assert!(child.body.contains("CORDRA identifiers"));
    let path = "/console/authorities/20.3000.7/invite";
    let fields = [
        ("account", "new"),
        ("title", "A new one"),
        ("role", "write"),
    ];
    let invited = boss.send(path, &fields);
    assert_eq!(invited.status, 201);
    let new = Browser::enter(&server, &link_in(&invited.body));
    let shown = new.get("/console/authorities/20.3000.7");
    assert!(shown.body.contains("Mint names"), "{}", shown.body);
    assert!(!shown.body.contains("Invite a person"));
    // There is no second link to the same account.
    let again = boss.send(path, &fields);
    assert_eq!(again.status, 201);
    assert!(!again.body.contains("/console/enter/"));
}

/// A page, its form, and the field that is wrong.
type WrongInput<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c str);

#[test]
fn wrong_input_comes_back_with_what_was_typed() {
    let server = start();
    let boss = Browser::of(&server, "boss");
    let cases: [WrongInput<'_>; 7] = [
        (
            "authorities/new",
            &[("authority", "20 1000"), ("title", "kept-text")],
            "authority",
        ),
        (
            "authorities/new",
            &[("authority", "20.1000"), ("title", "kept-text")],
            "authority",
        ),
        (
            "authorities/20.1000/children",
            &[("authority", "20.9999.1"), ("title", "kept-text")],
            "authority",
        ),
        (
            "authorities/20.1000/people",
            &[("to", "kept-text"), ("role", "write")],
            "to",
        ),
        (
            "authorities/20.1000/people",
            &[("to", "kept-text"), ("role", "king")],
            "role",
        ),
        (
            "authorities/20.1000/invite",
            &[("account", "a b"), ("title", "kept-text"), ("role", "read")],
            "account",
        ),
        (
            "authorities/20.1000/policy",
            &[("pattern", "("), ("title", "kept-text"), ("ttl", "86400")],
            "pattern",
        ),
    ];
    for (path, fields, field) in cases {
        let answer = boss.send(&format!("/console/{path}"), fields);
        assert_eq!(answer.status, 422, "{path} {}", answer.body);
        assert!(answer.body.contains("kept-text"), "{path}");
        let link = format!("href=\"#{field}\"");
        assert!(answer.body.contains(&link), "{path} {link}");
        assert!(answer.body.contains(&format!("id=\"{field}\"")), "{path}");
        assert_eq!(answer.body.matches("<h1").count(), 1, "{path}");
    }
}

#[test]
fn people_without_the_right_are_told_which_role_is_missing() {
    let server = start();
    let (wim, ann) = (Browser::of(&server, "wim"), Browser::of(&server, "ann"));
    let grant = [("to", "ann"), ("role", "write")];
    let path = "/console/authorities/20.1000";
    for (page, fields) in [
        ("people", &grant[..]),
        ("invite", &[("account", "new"), ("role", "read")]),
        ("policy", &[("title", "Mine"), ("ttl", "86400")]),
        ("retire", &[]),
        ("transfer", &[("to", "wim")]),
    ] {
        for browser in [&wim, &ann] {
            let answer = browser.send(&format!("{path}/{page}"), fields);
            assert_eq!(answer.status, 403, "{page} {}", answer.body);
        }
    }
    let denied = wim.send(&format!("{path}/people"), &grant);
    assert!(denied.body.contains("the role <strong>lead</strong> on"));
    assert!(denied.body.contains("lea</bdi> can grant it"));
    assert!(
        denied
            .body
            .contains("/console/authorities/20.1000/ask?role=lead")
    );
    for page in ["people", "invite", "retire", "transfer", "requests"] {
        assert_eq!(ann.get(&format!("{path}/{page}")).status, 403, "{page}");
    }
    let shown = ann.get(path);
    assert!(shown.body.contains("You have no role here"));
    assert!(shown.body.contains("or an administrator"));
    assert!(
        !shown.body.contains("<bdi>lea"),
        "who leads here is not public"
    );
    assert!(!shown.body.contains("Retire it"));
    let why = ann.get(&format!("{path}/why?who=lea"));
    assert_eq!(why.status, 403);
}

/// Waits until the counts have all events.
#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells when the counts have followed"
)]
pub(crate) fn wait_for_counts(server: &Server) {
    let events = server.registry.event_count().unwrap();
    for _ in 0..1_000 {
        if server.registry.counts("20.1000").unwrap().as_of_event >= events {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the counts stay behind");
}

/// The number of reserved names is for people with a role.
#[test]
fn reserved_names_are_counted_for_people_with_a_role_only() {
    let server = start();
    for (number, reserve) in [("1", true), ("2", true), ("3", false)] {
        let new = NewName {
            reserve,
            ..NewName::default()
        };
        let id = format!("20.1000.3/{number}");
        server.registry.create_name(&OPERATOR, &id, new).unwrap();
    }
    wait_for_counts(&server);
    let count = |account: &str| {
        let browser = Browser::of(&server, account);
        let tree = browser.get("/console/authorities").body;
        let at = tree.find("20.<wbr>1000.<wbr>3</span>").unwrap();
        let rest = tree.get(at..).unwrap();
        let number = rest.split("number muted\">").nth(1).unwrap();
        let one = browser.get("/console/authorities/20.1000.3").body;
        let is_reserved_shown = one.contains("reserved");
        let number = number.split('<').next().unwrap().to_string();
        (number, is_reserved_shown)
    };
    assert_eq!(count("wim"), ("3".to_string(), true));
    assert_eq!(count("eve"), ("1".to_string(), false));
    assert_eq!(count("ann"), ("1".to_string(), false));
}

#[test]
fn a_request_for_access_is_asked_decided_and_explained() {
    let server = start();
    let (ann, lea) = (Browser::of(&server, "ann"), Browser::of(&server, "lea"));
    let path = "/console/authorities/20.1000";
    let ask = format!("{path}/ask");
    assert_eq!(ann.send(&ask, &[("role", "write")]).status, 422);
    let fields = [("role", "write"), ("reason", "I keep <the> maps")];
    ann.done(&ask, &fields);
    // Twice is once.
    ann.done(&ask, &fields);
    let requests = format!("{path}/requests");
    let waiting = lea.get(&requests);
    assert!(
        waiting.body.contains("I keep &lt;the&gt; maps"),
        "{}",
        waiting.body
    );
    let asked = server.registry.access_requests(&OPERATOR).unwrap();
    let [request] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    let decide = |decision: &'static str, reason: &'static str| {
        [
            ("kind", "access"),
            ("request", request.id.clone().leak()),
            ("decision", decision),
            ("reason", reason),
        ]
    };
    assert_eq!(lea.send(&requests, &decide("decline", "")).status, 422);
    lea.done(&requests, &decide("grant", ""));
    assert_eq!(lea.send(&requests, &decide("grant", "")).status, 409);
    let why = ann.get("/console/authorities/20.1000.3/why");
    assert!(why.body.contains("I keep &lt;the&gt; maps"));
    assert!(why.body.contains("so the role holds here too"));
    let people = lea.get(&format!("{path}/people")).body;
    assert!(people.contains("granted here") && people.contains("administrator of this registry"));
}

#[test]
fn a_request_for_an_authority_is_declined_with_a_reason() {
    let server = start();
    let ann = Browser::of(&server, "ann");
    let asked = ann.done(
        "/console/authorities/new",
        &[("authority", "20.1000.9"), ("reason", "for globes")],
    );
    assert!(asked.body.contains("Requested"));
    let path = "/console/authorities/20.1000.9";
    // For others it does not exist.
    let eve = Browser::of(&server, "eve");
    let none = eve.get("/console/authorities/20.1000.8");
    let hidden = eve.get(path);
    assert_eq!((none.status, hidden.status), (404, 404));
    assert_eq!(none.body.len(), hidden.body.len());
    let lea = Browser::of(&server, "lea");
    let requests = "/console/authorities/20.1000/requests";
    assert!(lea.get(requests).body.contains("for globes"));
    let decline = [
        ("kind", "authority"),
        ("request", "20.1000.9"),
        ("decision", "decline"),
        ("reason", "use 20.1000.3"),
    ];
    lea.done(requests, &decline);
    let answer = ann.get(requests);
    assert!(answer.body.contains("use 20.1000.3"), "{}", answer.body);
}

#[test]
fn what_is_hard_to_take_back_asks_for_the_password_again() {
    let clock = Arc::new(AtomicU64::new(clock::NOW));
    let moving = Arc::clone(&clock);
    let setup = Setup::new().environment(move || clock::fixed(&moving));
    let server = setup.start_for(&["20.1000"]);
    server.account("ada", &[("20.1000", Role::Admin)]);
    server.account("bob", &[]);
    let mut ada = Browser::with_password(&server, "ada");
    let path = "/console/authorities/20.1000";
    assert_eq!(ada.get(&format!("{path}/transfer")).status, 200);
    clock.fetch_add(11 * 60 * 1_000, Ordering::Relaxed);
    let led = ada.get(&format!("{path}/transfer"));
    assert!(
        led.location().starts_with("/console/again?to="),
        "{}",
        led.head
    );
    let sent = ada.send(&format!("{path}/transfer"), &[("to", "bob")]);
    assert_eq!(sent.status, 303);
    let again = sent.location().to_string();
    assert!(
        again.starts_with("/console/again?to=%2Fconsole%2Fdraft%2F"),
        "{again}"
    );
    let to = again.split_once("to=").unwrap().1.replace("%2F", "/");
    let to = to.replace("%3F", "?").replace("%3D", "=");
    let wrong = [
        ("password", "something else, quite long"),
        ("to", to.as_str()),
    ];
    assert_eq!(ada.send("/console/again", &wrong).status, 422);
    let right = ada.send("/console/again", &[("password", PASSWORD), ("to", &to)]);
    assert_eq!(right.location(), to);
    ada.store_cookie(&right);
    let draft = ada.get(&to);
    assert!(draft.body.contains("value=\"bob\""), "{}", draft.body);
    let grants = || {
        let authority = server.registry.authority(&OPERATOR, "20.1000").unwrap();
        let grants = authority.grants.iter();
        grants.map(|grant| grant.to.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(grants(), ["ada"]);
    ada.done(&format!("{path}/transfer"), &[("to", "bob")]);
    assert_eq!(grants(), ["bob"]);
    // Other places than the console are no place to come back to.
    let away = [
        ("password", PASSWORD),
        ("to", "https://evil.example/console/"),
    ];
    let away = ada.send("/console/again", &away);
    assert_eq!(away.location(), "/console/");
}

#[test]
fn a_retired_authority_keeps_its_names() {
    let server = start();
    server.name("20.1000.3/1", &[(1, "URL", b"https://example.org/")]);
    wait_for_counts(&server);
    let lea = Browser::of(&server, "lea");
    let path = "/console/authorities/20.1000.3";
    let preview = lea.get(&format!("{path}/retire"));
    assert!(
        preview
            .body
            .contains("1 name here and below stay as they are")
    );
    let retired = lea.done(&format!("{path}/retire"), &[]);
    assert!(retired.body.contains("Retired"));
    assert!(!retired.body.contains("Invite a person"));
    assert_eq!(server.get("/20.1000.3/1").status, 302);
    // The one above needs more.
    assert_eq!(lea.get("/console/authorities/20.1000/retire").status, 403);
}
