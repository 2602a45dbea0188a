//! People and groups: who sees whom, and what administrators do.

use handfast_registry::{NameAction, NewToken, Principal, Role};
use handfast_testing::OPERATOR;

use crate::browser::{Browser, start};

#[test]
fn people_see_those_with_whom_they_share_an_authority() {
    let server = start();
    let list = |account: &str| Browser::of(&server, account).get("/console/people").body;
    let boss = list("boss");
    for account in ["ann", "eve", "lea", "wim"] {
        assert!(
            boss.contains(&format!("/console/people/{account}\"")),
            "{account}"
        );
    }
    let wim = list("wim");
    assert!(wim.contains("/console/people/lea\""));
    for account in ["ann", "eve"] {
        assert!(
            !wim.contains(&format!("/console/people/{account}\"")),
            "{account}"
        );
    }
    let browser = Browser::of(&server, "wim");
    assert_eq!(browser.get("/console/people/lea").status, 200);
    let (hidden, none) = (
        browser.get("/console/people/eve"),
        browser.get("/console/people/nix"),
    );
    assert_eq!((hidden.status, none.status), (404, 404));
    assert_eq!(hidden.body.len(), none.body.len());
    assert!(list("ann").contains("Nobody to show yet"));
}

#[test]
fn only_administrators_change_accounts_and_groups() {
    let server = start();
    let lea = Browser::of(&server, "lea");
    for (path, fields) in [
        ("people/invite", &[("account", "new")][..]),
        ("people/wim/state", &[("state", "suspended")]),
        ("people/wim", &[("title", "Nobody"), ("email", "")]),
        ("people/wim/administrator", &[("administrator", "yes")]),
        ("people/lea/administrator", &[("administrator", "yes")]),
        ("people/boss/link", &[]),
        ("people/wim/leave", &[("do", "suspend")]),
        ("groups/new", &[("name", "mine")]),
    ] {
        let answer = lea.send(&format!("/console/{path}"), fields);
        assert_eq!(answer.status, 403, "{path} {}", answer.body);
    }
    assert_eq!(lea.get("/console/people/invite").status, 403);
    assert!(!server.registry.account("wim").unwrap().is_suspended);

    let boss = Browser::of(&server, "boss");
    let wim = Browser::of(&server, "wim");
    let suspended = boss.done("/console/people/wim/state", &[("state", "suspended")]);
    assert!(suspended.body.contains("Make active again"));
    assert!(
        wim.get("/console/")
            .location()
            .starts_with("/console/sign-in")
    );
    boss.done("/console/people/wim/state", &[("state", "active")]);
    let own = boss.send("/console/people/boss/state", &[("state", "suspended")]);
    assert_eq!(own.status, 422);
    let link = boss.send("/console/people/wim/link", &[]);
    assert_eq!(link.status, 201);
    assert!(link.body.contains("console/<wbr>enter/"));
}

#[test]
fn administrators_change_the_name_and_the_e_mail_of_others() {
    let server = start();
    let boss = Browser::of(&server, "boss");
    let page = boss.get("/console/people/wim");
    assert!(page.body.contains("How others see this person"));
    let described = boss.done(
        "/console/people/wim",
        &[("title", "Wim's Maps"), ("email", "wim@example.org")],
    );
    assert!(described.body.contains("Saved."), "{}", described.body);
    let shell = "--title &#39;Wim&#39;\\&#39;&#39;s Maps&#39; --email wim@example.org";
    assert!(described.body.contains(shell), "{}", described.body);
    let wim = server.registry.account("wim").unwrap();
    assert_eq!(
        (wim.title.as_str(), wim.email.as_str()),
        ("Wim's Maps", "wim@example.org")
    );
    let wrong = boss.send(
        "/console/people/wim",
        &[("title", "Wim"), ("email", "nowhere")],
    );
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("value=\"nowhere\""));
    assert!(wrong.body.contains("id=\"email-error\""));
    assert_eq!(server.registry.account("wim").unwrap().title, "Wim's Maps");
}

#[test]
fn members_see_their_group_and_administrators_change_it() {
    let server = start();
    let boss = Browser::of(&server, "boss");
    let made = boss.done(
        "/console/groups/new",
        &[("name", "prints"), ("title", "Prints")],
    );
    assert!(made.body.contains("No members yet"));
    let members = "/console/groups/prints/members";
    assert_eq!(boss.send(members, &[("account", "nix")]).status, 422);
    let added = boss.done(members, &[("account", "ann")]);
    assert!(added.body.contains("/console/people/ann\""));
    let (ann, eve) = (Browser::of(&server, "ann"), Browser::of(&server, "eve"));
    assert_eq!(ann.get("/console/groups/prints").status, 200);
    assert_eq!(eve.get("/console/groups/prints").status, 404);
    assert_eq!(ann.send(members, &[("account", "eve")]).status, 403);
    let lea = Browser::of(&server, "lea");
    lea.done(
        "/console/authorities/20.1000/people",
        &[("to", "group:prints"), ("role", "write")],
    );
    let why = ann.get("/console/authorities/20.1000/why").body;
    assert!(why.contains("is in the group"), "{why}");
    assert!(why.contains("Added by <bdi>boss</bdi>"), "{why}");
    let remove = "/console/groups/prints/members/remove";
    boss.done(remove, &[("account", "ann")]);
    boss.done(remove, &[("account", "ann")]);
    assert!(server.registry.groups_of("ann").unwrap().is_empty());
}

#[test]
fn everything_of_a_person_who_leaves_is_handed_over_on_one_page() {
    let server = start();
    server.name("20.1000/1", &[(1, "URL", b"https://example.org/")]);
    let transfer = NameAction::Transfer {
        to: Principal::account("wim").unwrap(),
        creates_account: false,
    };
    let moved = server
        .registry
        .change_name(&OPERATOR, "20.1000/1", None, transfer);
    moved.unwrap();
    server.token("wim", NewToken::default());
    let boss = Browser::of(&server, "boss");
    let path = "/console/people/wim/leave";
    let page = boss.get(path).body;
    assert!(
        page.contains("20.<wbr>1000/<wbr>1") && page.contains("Tokens: 1"),
        "{page}"
    );
    let all = |to: &'static str| {
        [
            ("do", "names"),
            ("do", "give-roles"),
            ("do", "tokens"),
            ("do", "suspend"),
            ("to", to),
        ]
    };
    for to in ["", "nix", "wim", "group:nix"] {
        assert_eq!(boss.send(path, &all(to)).status, 422, "{to}");
    }
    let left = boss.done(path, &all("ann"));
    assert!(left.body.contains("Suspended"));
    let registry = &server.registry;
    let wim = registry.holdings(&OPERATOR, "wim").unwrap();
    assert!(wim.account.is_suspended && wim.roles.is_empty() && wim.tokens.is_empty());
    let ann = registry.holdings(&OPERATOR, "ann").unwrap();
    assert_eq!((wim.names, ann.names), (0, 1));
    let rights = registry.rights_on(&Principal::account("ann").unwrap(), "20.1000");
    assert_eq!(rights.unwrap().role, Some(Role::Write));
    // Once more changes nothing.
    boss.done(path, &all("ann"));
}
