//! What pages say: which account an event is about, what is wrong at which field, and what was
//! answered.

use handfast_registry::{AccessDecision, AuthorityAction, NewName, NewToken, Principal, Role};
use handfast_testing::{OPERATOR, Setup};

use crate::authorities::wait_for_counts;
use crate::browser::{Browser, start};

/// Rows once read "token", "group" and "grant 20.1000", and did not say what was touched.
#[test]
fn events_name_accounts_groups_tokens_and_roles_for_those_who_may_know() {
    let server = start();
    let registry = &server.registry;
    registry.create_group(&OPERATOR, "editors", "").unwrap();
    registry.add_to_group(&OPERATOR, "editors", "ann").unwrap();
    let new = NewToken {
        title: "Nightly <i>copy</i>".to_string(),
        ..NewToken::default()
    };
    let (_, token) = registry.create_token(&OPERATOR, "eve", new).unwrap();
    let revoke = AuthorityAction::Revoke {
        from: Principal::account("wim").unwrap(),
        role: None,
    };
    let revoked = registry.act_on_authority(&OPERATOR, "20.1000", None, revoke);
    revoked.unwrap();
    let boss = Browser::of(&server, "boss");
    let (page, table) = (
        boss.get("/console/events").body.replace("<wbr>", ""),
        boss.get("/console/events.csv").body,
    );
    let feed = boss.get("/console/events.atom").body;
    let token_words = format!(
        "created for eve: Nightly &lt;i&gt;copy&lt;/i&gt; ({})",
        token.id
    );
    for words in [
        "editors: ann added",
        "write to wim",
        "write from wim",
        "lead to lea",
        token_words.as_str(),
    ] {
        assert!(
            page.replace("&#60;", "&lt;")
                .replace("&#62;", "&gt;")
                .contains(words),
            "{words}"
        );
        let plain = words.replace("&lt;", "<").replace("&gt;", ">");
        assert!(table.contains(&plain), "{words} {table}");
        assert!(feed.contains(words), "{words} {feed}");
    }
    // A lead sees the roles of the authority, and nothing of accounts, groups and tokens.
    let lea = Browser::of(&server, "lea");
    let table = lea.get("/console/events.csv").body;
    assert!(table.contains("write from wim"), "{table}");
    for secret in ["editors", "Nightly", &token.id, "write to eve"] {
        assert!(!table.contains(secret), "{secret} {table}");
    }
}

#[test]
fn what_is_wrong_stands_at_its_field() {
    let server = start();
    let registry = &server.registry;
    let name = registry.create_name(&OPERATOR, "20.1000/a", NewName::default());
    name.unwrap();
    let boss = Browser::of(&server, "boss");
    let wrong = |path: &str, fields: &[(&str, &str)], expected: &[&str]| {
        let answer = boss.send(path, fields);
        assert_eq!(answer.status, 422, "{path} {}", answer.body);
        for field in expected {
            let link = format!("href=\"#{field}\"");
            let shown = format!("id=\"{field}-error\"");
            assert!(answer.body.contains(&link), "{path} {field}");
            assert!(answer.body.contains(&shown), "{path} {field}");
        }
        let found = answer.body.matches("href=\"#").count();
        answer.body.contains("kept").then_some(found)
    };
    let fields = [
        ("title", "kept"),
        ("days", "0"),
        ("authority", "20.404"),
        ("role", "king"),
    ];
    let token = wrong(
        "/console/me/tokens",
        &fields,
        &["days", "authority", "role"],
    );
    assert!(token.is_some());
    let mint = [
        ("authority", "20.1000"),
        ("count", "1"),
        ("urls", "javascript:alert(1)"),
        ("do", "mint"),
    ];
    wrong("/console/mint", &mint, &["urls"]);
    let policy = |name, value| {
        [
            ("title", "kept"),
            ("ttl", "86400"),
            ("persistence", "permanent"),
            ("case", "insensitive"),
            (name, value),
        ]
    };
    let path = "/console/authorities/20.1000/policy";
    wrong(path, &policy("profile", "cordra"), &["profile"]);
    let erasable = [
        ("title", "kept"),
        ("ttl", "86400"),
        ("persistence", "erasable"),
    ];
    wrong(path, &erasable, &["persistence"]);
    wait_for_counts(&server);
    let shown = boss.get(path).body;
    assert!(shown.contains("value=\"cordra\" disabled"), "{shown}");
    let passwords = [("password", "short"), ("again", "other"), ("first", "1")];
    wrong("/console/password", &passwords, &["again"]);
    let answer = boss.send("/console/password", &passwords).body;
    assert!(answer.contains("You are signed in as") && answer.contains(">Later<"));
}

#[test]
fn a_person_without_a_role_is_told_so() {
    let server = start();
    let ann = Browser::of(&server, "ann");
    let page = ann.get("/console/authorities/20.1000").body;
    assert!(page.contains("You have no role here"), "{page}");
    assert!(!page.contains("You may read here") && !page.contains(">Names here<"));
    let events = ann.get("/console/events").body;
    assert!(events.contains("You see no events yet"));
    let job = ann.get("/console/jobs/new").body;
    assert!(job.contains("You may not change names yet") && !job.contains("name=\"from\""));
    let wim = Browser::of(&server, "wim");
    assert!(
        wim.get("/console/authorities/20.1000")
            .body
            .contains(">Names here<")
    );
    assert!(wim.get("/console/jobs/new").body.contains("name=\"from\""));
}

#[test]
fn a_new_server_tells_its_administrator_to_make_a_prefix() {
    let server = Setup::new().start(|_| ());
    server.administrator("boss");
    let boss = Browser::of(&server, "boss");
    for path in [
        "/console/",
        "/console/names",
        "/console/mint",
        "/console/jobs/new",
    ] {
        let page = boss.get(path).body;
        assert!(page.contains("There is no authority yet."), "{path} {page}");
        assert!(!page.contains("ask for access"), "{path}");
    }
}

/// The answer was once only on the page of the authority.
#[test]
fn the_inbox_has_the_answers_to_ones_requests() {
    let server = start();
    let registry = &server.registry;
    let ann = Browser::of(&server, "ann");
    let path = "/console/authorities/20.1000/ask";
    let first = [("role", "write"), ("reason", "For the maps")];
    assert!(
        ann.get(path)
            .body
            .contains("the inboxes of all who lead here")
    );
    ann.done(path, &first);
    assert!(
        ann.get("/console/")
            .body
            .contains("Nobody has decided it yet")
    );
    // The same again is a button that was pressed twice; other words are not dropped silently.
    ann.done(path, &first);
    let other = ann.send(path, &[("role", "write"), ("reason", "For the atlases")]);
    assert_eq!(other.status, 422);
    assert!(other.body.contains("Take that request back") && other.body.contains("atlases"));
    let asker = Principal::account("ann").unwrap();
    let open = registry.access_requests(&asker).unwrap();
    let decline = AccessDecision::Decline {
        reason: "Ask for <b>read</b> first".to_string(),
    };
    let lead = Principal::account("lea").unwrap();
    let id = &open.first().unwrap().id;
    registry.decide_access_request(&lead, id, decline).unwrap();
    let inbox = ann.get("/console/").body;
    assert!(
        inbox.contains("<strong>Declined</strong> by <bdi>lea</bdi>"),
        "{inbox}"
    );
    assert!(inbox.contains("read&#60;/b&#62; first") || inbox.contains("read&lt;/b&gt; first"));
    let page = ann.get("/console/authorities/20.1000/requests").body;
    assert!(
        page.contains("You asked for") && !page.contains("asks for"),
        "{page}"
    );
    assert!(
        !Browser::of(&server, "eve")
            .get("/console/")
            .body
            .contains("What you asked for")
    );
}

#[test]
fn remedies_are_those_of_the_console() {
    let server = start();
    server.account("moe", &[("20.2000", Role::Admin)]);
    let registry = &server.registry;
    let name = registry.create_name(&OPERATOR, "20.1000/a", NewName::default());
    name.unwrap();
    let boss = Browser::of(&server, "boss");
    let to = [("to", "nosuch")];
    let bodies = [
        boss.send("/console/names/20.1000%2Fa/transfer", &to).body,
        boss.send("/console/authorities/20.2000/transfer", &to).body,
        boss.get("/console/people/nobody").body,
        boss.get("/console/names?authority=zzz").body,
        boss.get("/console/names/20.1000%2Fmissing").body,
        boss.get("/console/names/nonsense").body,
    ];
    for body in bodies {
        let main = body.split("<details class=\"same\">").next().unwrap();
        assert!(
            !main.contains("handfast ") && !main.contains(" --"),
            "{main}"
        );
        assert!(!main.contains('`') && !main.contains("Nonsense"), "{main}");
        assert!(
            main.contains("Check the spelling") || main.contains("nonsense"),
            "{main}"
        );
    }
}

#[test]
fn all_errors_of_raw_values_are_named_at_once() {
    let server = start();
    let registry = &server.registry;
    let new = NewName::urls(&["https://a.example/"]);
    registry.create_name(&OPERATOR, "20.1000/a", new).unwrap();
    let record = registry.show(&OPERATOR, "20.1000/a").unwrap().record;
    let (version, event) = (record.version.to_string(), record.last_event.to_string());
    let index = record.values.first().unwrap().index.to_string();
    let wim = Browser::of(&server, "wim");
    let fields = [
        ("version", version.as_str()),
        ("event", event.as_str()),
        ("raw-was", index.as_str()),
        ("raw-index", "none"),
        ("raw-type", ""),
        ("raw-data", "zz"),
        ("raw-format", "hex"),
        ("raw-ttl", "soon"),
        ("raw-permissions", "9"),
        ("do", "save"),
    ];
    let answer = wim.send("/console/names/20.1000%2Fa/raw", &fields);
    assert_eq!(answer.status, 422);
    for part in ["index", "type", "data", "ttl", "permissions"] {
        let error = format!("id=\"raw-{part}-1-error\"");
        assert!(answer.body.contains(&error), "{part} {}", answer.body);
    }
}
