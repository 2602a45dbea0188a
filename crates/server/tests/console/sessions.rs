//! Sessions over the API, and what the console says beside its pages.

use handfast_registry::{AccountChange, EventFilter, NewAuthority, NewName, NewToken};
use handfast_testing::{OPERATOR, Setup};

use crate::browser::{Browser, start};

#[test]
fn sessions_are_listed_and_ended_by_their_owner() {
    let server = start();
    let token = |account| server.token(account, NewToken::default());
    let (ann, boss, wim) = (token("ann"), token("boss"), token("wim"));
    let (first, second) = (Browser::of(&server, "ann"), Browser::of(&server, "ann"));
    let path = "/api/v1/accounts/ann/sessions";
    let listed = server.get_with(path, &[&ann]);
    assert_eq!(listed.status, 200, "{}", listed.body);
    let sessions = listed.json();
    let sessions = sessions.as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0]["means"], "link");
    assert!(!listed.body.contains("secret"));
    // Others neither see nor end them.
    assert_eq!(server.get_with(path, &[&wim]).status, 403);
    assert_eq!(server.ask("DELETE", path, &[&wim], None).status, 403);
    assert_eq!(server.get(path).status, 401);
    let one = format!("{path}/{}", sessions[1]["id"].as_str().unwrap());
    assert_eq!(server.ask("DELETE", &one, &[&wim], None).status, 403);
    let of_wim = one.replace("/ann/", "/wim/");
    let wrong = server.ask("DELETE", &of_wim, &[&boss], None);
    assert!(wrong.body.contains("no-session"), "{}", wrong.body);

    assert_eq!(server.ask("DELETE", &one, &[&ann], None).status, 204);
    assert_eq!(first.get("/console/").status, 303);
    assert_eq!(second.get("/console/").status, 200);
    let ended = server.ask("DELETE", path, &[&boss], None);
    assert_eq!(ended.json()["ended"], 1, "{}", ended.body);
    assert_eq!(second.get("/console/").status, 303);
}

#[test]
fn pages_say_the_same_by_command_and_by_curl() {
    let server = start();
    let boss = Browser::with_password(&server, "boss");
    let new = NewName::urls(&["https://example.org/"]);
    server
        .registry
        .create_name(&OPERATOR, "20.1000/a", new)
        .unwrap();
    let filter = EventFilter {
        id: Some("20.1000/a".to_string()),
        ..EventFilter::default()
    };
    let found = server.registry.list_events(&OPERATOR, &filter, None, 1);
    let number = found.unwrap().events.first().unwrap().event.number;
    let event = format!("/names/20.1000%2Fa/history/{number}");
    for path in [
        "/password",
        "/me",
        "/me/sessions",
        "/me/tokens",
        "/people/invite",
        "/groups/new",
        "/authorities/20.1000/invite",
        "/authorities/20.1000/ask",
        "/authorities/20.1000/transfer",
        "/names/20.1000%2Fa/label",
        "/names/20.1000%2Fa/history",
        event.as_str(),
        "/names",
        "/names?authority=20.1000&q=a",
        "/namespaces/new",
        "/namespaces/lccn/edit",
        "/jobs",
        "/jobs/new",
        "/events",
        "/events?authority=20.1000&action=create+authority",
        "/server/sign-ins",
    ] {
        let page = boss.get(&format!("/console{path}"));
        assert_eq!(page.status, 200, "{path}");
        let (_, same) = page.body.split_once("The same by command").unwrap();
        for word in ["<pre>handfast ", "\ncurl "] {
            assert!(same.contains(word), "{path}: {word} is not in {same}");
        }
        // A shell looks for files whose names fit a `?`, and ends a command at `&`.
        for word in same.split("</pre>").next().unwrap().split_whitespace() {
            let is_split = word.contains('?') || word.contains("&#38;");
            let is_address = word.contains("http:");
            let is_quoted = word.starts_with("&#39;") && word.ends_with("&#39;");
            assert!(!(is_split && is_address) || is_quoted, "{path}: {word}");
        }
    }
}

#[test]
fn the_page_of_events_says_the_command_with_its_filters() {
    let server = start();
    let boss = Browser::of(&server, "boss");
    let page = boss.get("/console/events?authority=20.1000&action=create+authority&since=");
    let command = "handfast log list --authority 20.1000 --action &#39;create authority&#39;\n";
    assert!(page.body.contains(command), "{}", page.body);
}

#[test]
fn an_administrator_without_authorities_is_led_to_the_first_one() {
    let server = Setup::new().start(|_| {});
    server.account("boss", &[]);
    server.account("ann", &[]);
    let promotion = AccountChange {
        administrator: Some(true),
        ..AccountChange::default()
    };
    let registry = &server.registry;
    registry
        .change_account(&OPERATOR, "boss", &promotion)
        .unwrap();
    let (boss, ann) = (Browser::of(&server, "boss"), Browser::of(&server, "ann"));
    for path in ["/console/names/new", "/console/mint", "/console/names"] {
        assert!(boss.get(path).body.contains("Make a prefix"), "{path}");
        assert!(!ann.get(path).body.contains("Make a prefix"), "{path}");
    }
    let made = registry.create_authority(&OPERATOR, "20.7", NewAuthority::default());
    made.unwrap();
    assert!(!boss.get("/console/mint").body.contains("Make a prefix"));
}
