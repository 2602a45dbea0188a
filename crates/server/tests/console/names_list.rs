//! The list of names, new names, minting and activating: rights and wrong input.

use handfast_registry::{AuthorityChange, NewAuthority, NewName, NewValue, State};
use handfast_registry::{Principal, Role};
use handfast_testing::{OPERATOR, Server, Setup};

use crate::browser::Browser;

/// Ann writes under 20.1, and 86.2 is not hers; the names of both have the same words and URLs.
/// No time of day contains `86.2`, so the tests can search whole pages for it.
fn library() -> Server {
    let server = Setup::new().shared_keys().start(|registry| {
        for (path, title) in [("20.1", "Maps"), ("86.2", "Secret plans")] {
            let new = NewAuthority {
                title: title.to_string(),
                ..NewAuthority::default()
            };
            registry.create_authority(&OPERATOR, path, new).unwrap();
        }
        let cordra = NewAuthority {
            change: AuthorityChange {
                cordra: Some(true),
                ..AuthorityChange::default()
            },
            ..NewAuthority::default()
        };
        registry
            .create_authority(&OPERATOR, "20.3", cordra)
            .unwrap();
        for prefix in ["20.1", "86.2"] {
            for (local, reserve) in [("harbour", false), ("hidden", true)] {
                let new = NewName {
                    values: vec![NewValue::new(10, "TITLE", b"Plan <b>of</b> the harbour")],
                    reserve,
                    ..NewName::urls(&["https://maps.example/plan"])
                };
                let id = format!("{prefix}/{local}");
                registry.create_name(&OPERATOR, &id, new).unwrap();
            }
        }
    });
    server.account("ann", &[("20.1", Role::Write), ("20.3", Role::Write)]);
    server.account("eve", &[]);
    server
}

fn state(server: &Server, id: &str) -> State {
    server.registry.show(&OPERATOR, id).unwrap().record.state
}

#[test]
fn the_list_has_filters_in_its_url_and_finds_nothing_of_another_authority() {
    let server = library();
    let ann = Browser::of(&server, "ann");
    for path in [
        "/console/names",
        "/console/names?q=harbour",
        "/console/names?q=20.",
        "/console/names?q=86.2/h",
        "/console/names?q=https://maps.example/plan",
        "/console/names?q=Secret",
        "/console/names?state=reserved",
        "/console/names?since=2020-01-01",
        "/console/names.csv",
        "/console/names.csv?q=harbour",
        "/console/names/new",
        "/console/mint",
        "/console/activate",
    ] {
        let page = ann.get(path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        // What was typed stands in the field, and the list has nothing of 86.2.
        let body = page.body.replace("86.2/h", "").replace("86.2%2Fh", "");
        let body = body.replace("value=\"Secret\"", "");
        assert!(
            !body.contains("86.2") && !body.contains("86.<wbr>2") && !body.contains("Secret plans"),
            "{path}: {body}"
        );
        if !path.contains(".csv") {
            assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
            assert!(!page.body.contains("<b>of</b>"), "{path}");
        }
    }
    let all = ann.get("/console/names").body;
    assert!(all.contains("<strong data-say>2 names</strong>"), "{all}");
    assert!(all.contains("20.<wbr>1/<wbr>hidden"), "{all}");
    let reserved = ann.get("/console/names?state=reserved&q=plan").body;
    assert!(reserved.contains("1 name<"), "{reserved}");
    assert!(!reserved.contains("1/<wbr>harbour"), "{reserved}");
    let csv = ann.get("/console/names.csv?state=active");
    assert_eq!(
        csv.header("content-disposition"),
        Some("attachment; filename=\"names.csv\"")
    );
    assert_eq!(csv.body.lines().count(), 2, "{}", csv.body);

    // An account without a role lists nothing, and another authority answers which role is missing.
    let eve = Browser::of(&server, "eve");
    let none = eve.get("/console/names");
    assert!(
        none.body.contains("You may not list names yet."),
        "{}",
        none.body
    );
    assert_eq!(ann.get("/console/names?authority=86.2").status, 403);
    assert_eq!(ann.get("/console/names.csv?authority=86.2").status, 403);
    assert_eq!(ann.get("/console/names?authority=20.9").status, 404);
    assert_eq!(ann.get("/console/names?since=yesterday").status, 422);
    assert_eq!(server.get("/console/names").status, 303);
}

#[test]
fn an_identifier_in_any_spelling_leads_to_its_name_but_not_while_it_is_typed() {
    let server = library();
    let ann = Browser::of(&server, "ann");
    for q in [
        "20.1/harbour",
        "hdl:20.1/HARBOUR",
        "https://hdl.handle.net/20.1/harbour",
        "%2020.1/hidden%20",
        // A public name of another authority is public here, too.
        "86.2/harbour",
    ] {
        let answer = ann.get(&format!("/console/names?q={q}"));
        assert_eq!(answer.status, 303, "{q}: {}", answer.body);
        assert!(answer.location().starts_with("/console/names/"), "{q}");
    }
    // A reserved one is not.
    // Counts that follow the events would make the pages differ.
    let registry = &server.registry;
    let events = registry.statistics().unwrap().events;
    while registry.counts("86.2").unwrap().as_of_event < events {
        std::thread::yield_now();
    }
    let hidden = ann.get("/console/names?q=86.2/hidden");
    assert_eq!(hidden.status, 200);
    let unknown = ann.get("/console/names?q=86.2/hiddem");
    assert_eq!(
        hidden.body.replace("hidden", "hiddem").len(),
        unknown.body.len(),
        "a name that may not be seen is answered as one that does not exist"
    );
    let headers = [ann.cookie(), "Sec-Fetch-Dest: empty"];
    let live = server.get_with("/console/names?q=20.1/harbour", &headers);
    assert_eq!(live.status, 200);
    assert!(live.body.contains("This is a name:"), "{}", live.body);
    // One letter is wrong.
    let near = ann.get("/console/names?q=20.1/harbor").body;
    assert!(near.contains("spelled almost like it"), "{near}");
}

#[test]
fn a_new_name_is_created_or_the_form_says_what_is_wrong() {
    let server = library();
    let ann = Browser::of(&server, "ann");
    let create = |authority: &str, name: &str, url: &str| {
        let fields = [
            ("authority", authority),
            ("name", name),
            ("state", "active"),
            ("title", "Plan & <script>alert(1)</script>"),
            ("url", url),
            ("url", "https://second.example/"),
            ("value-type", "CREATOR"),
            ("value-data", "Mercator"),
            ("do", "create"),
        ];
        ann.send("/console/names/new", &fields)
    };
    let url = "https://maps.example/1";
    let created = create("20.1", "one", url);
    assert_eq!(created.status, 303, "{}", created.body);
    let event = server.registry.event_count().unwrap();
    let place = format!("/console/names/20.1%2Fone?done=created&event={event}");
    assert_eq!(created.location(), place);
    let record = server.registry.show(&OPERATOR, "20.1/one").unwrap().record;
    let values: Vec<_> = record.values.iter().map(|value| value.index).collect();
    assert_eq!(values, [1, 2, 10, 11]);

    for (authority, name, url, field, words) in [
        ("20.1", "one", url, "name", "is taken: it is active"),
        ("20.1", "hidden", url, "name", "is taken: it is reserved"),
        ("20.1", "two", "maps.example/2", "url-1", "Address 1"),
        ("20.1", "", url, "name", "Write the local name"),
        ("", "two", url, "authority", "Choose an authority"),
        (
            "86.2",
            "hidden",
            url,
            "authority",
            "the role write is missing",
        ),
        ("20.9", "two", url, "authority", "not registered here"),
        ("20.3", "two", url, "name", "CORDRA"),
    ] {
        let before = server.registry.event_count().unwrap();
        let answer = create(authority, name, url);
        assert_eq!(answer.status, 422, "{authority}/{name}: {}", answer.body);
        let body = &answer.body;
        assert!(
            body.contains(&format!("href=\"#{field}\"")),
            "{authority}/{name}: {body}"
        );
        assert!(body.contains(words), "{authority}/{name}: {body}");
        assert!(body.contains("value=\"Mercator\"") && !body.contains("<script>alert"));
        assert_eq!(server.registry.event_count().unwrap(), before);
    }
    // A reserved name of another authority is no more taken than a free one.
    let check = |authority: &str, name: &str| {
        let path = format!("/console/names/new/check?authority={authority}&name={name}");
        ann.get(&path).body
    };
    assert!(check("20.1", "free").contains("is free"));
    assert!(check("20.1", "20.1/free").contains("20.<wbr>1/<wbr>free"));
    assert!(check("20.1", "one").contains("is taken"));
    assert_eq!(
        check("86.2", "hidden")
            .split_once("id=\"check\"")
            .unwrap()
            .1,
        check("86.2", "unseen")
            .split_once("id=\"check\"")
            .unwrap()
            .1
    );
    // Buttons of the form move addresses, without script, and create nothing.
    let moved = ann.send(
        "/console/names/new",
        &[
            ("authority", "20.1"),
            ("url", "https://a/"),
            ("url", "https://b/"),
            ("do", "up-1"),
        ],
    );
    let (a, b) = (moved.body.find("https://a/"), moved.body.find("https://b/"));
    assert!(moved.status == 200 && b < a, "{}", moved.body);
}

/// Flow 7: reserve ten CORDRA names, hand the list over as CSV, activate on publication day.
#[test]
fn ten_cordra_names_are_reserved_handed_over_and_activated() {
    let server = library();
    let ann = Browser::of(&server, "ann");
    let form = [
        ("once", "form-1"),
        ("authority", "20.3"),
        ("count", "10"),
        ("style", "usual"),
        ("urls", "https://objects.example/{name}"),
        ("state", "reserved"),
        ("do", "mint"),
    ];
    let minted = ann.send("/console/mint", &form);
    assert_eq!(minted.status, 303, "{}", minted.body);
    let place = minted.location().to_string();
    assert!(
        place.starts_with("/console/mint/names?authority=20.3&first="),
        "{place}"
    );
    // The same form, sent twice, makes no second list.
    assert_eq!(ann.send("/console/mint", &form).location(), place);
    let page = ann.get(&place).body;
    assert!(
        page.contains("Reserved.") && page.contains("10 names."),
        "{page}"
    );
    let csv = ann.get(&place.replace("/names?", "/names.csv?")).body;
    let ids: Vec<_> = csv
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(ids.len(), 10, "{csv}");
    assert!(ids.iter().all(|id| state(&server, id) == State::Reserved));

    // Others neither see nor activate them.
    server.account("bob", &[("20.1", Role::Write)]);
    let bob = Browser::of(&server, "bob");
    assert_eq!(bob.get(&place).status, 403);
    let pasted = bob.send(
        "/console/activate",
        &[("names", csv.as_str()), ("do", "preview")],
    );
    assert!(
        pasted.body.contains("is not registered here"),
        "{}",
        pasted.body
    );
    assert!(!pasted.body.contains("Activate 10 names"));
    let forced = bob.send("/console/activate", &[("name", ids[0]), ("do", "activate")]);
    assert_eq!(forced.status, 422);
    assert_eq!(state(&server, ids[0]), State::Reserved);

    let preview = ann.get(&place.replace("/mint/names?", "/activate?"));
    assert!(
        preview.body.contains("Activate 10 names"),
        "{}",
        preview.body
    );
    let pasted = ann.send(
        "/console/activate",
        &[("names", csv.as_str()), ("do", "preview")],
    );
    assert!(pasted.body.contains("Activate 10 names"), "{}", pasted.body);
    let mut fields: Vec<_> = ids.iter().map(|id| ("name", *id)).collect();
    fields.push(("do", "activate"));
    let done = ann.send("/console/activate", &fields);
    assert_eq!(done.location(), "/console/activate?done=activated");
    assert!(ids.iter().all(|id| state(&server, id) == State::Active));
    // Sent twice, it does nothing twice.
    let events = server.registry.event_count().unwrap();
    assert_eq!(ann.send("/console/activate", &fields).status, 303);
    assert_eq!(server.registry.event_count().unwrap(), events);
    assert_eq!(
        ann.get(&place)
            .body
            .matches("class=\"state active\"")
            .count(),
        10
    );
}

#[test]
fn a_wrong_form_mints_nothing_and_examples_are_no_names() {
    let server = library();
    let ann = Browser::of(&server, "ann");
    let before = server.registry.event_count().unwrap();
    for (name, value, field) in [
        ("count", "0", "count"),
        ("count", "501", "count"),
        ("length", "3", "length"),
        ("style", "nothing", "style"),
        ("urls", "maps.example/{name}", "urls"),
        ("authority", "86.2", "authority"),
        ("authority", "20.9", "authority"),
    ] {
        let mut fields = vec![
            ("once", "x"),
            ("authority", "20.1"),
            ("count", "2"),
            ("style", "random"),
            ("length", "9"),
            ("do", "mint"),
        ];
        fields.retain(|(own, _)| *own != name);
        fields.push((name, value));
        let answer = ann.send("/console/mint", &fields);
        assert_eq!(answer.status, 422, "{name} {value}: {}", answer.body);
        let link = format!("href=\"#{field}\"");
        assert!(
            answer.body.contains(&link),
            "{name} {value}: {}",
            answer.body
        );
    }
    let example = "/console/mint/example?authority=20.1&style=sequence&start=map-&width=4";
    assert!(ann.get(example).body.contains("map-0003"));
    let foreign = ann.get(&example.replace("20.1", "86.2")).body;
    assert!(
        foreign.contains("needs the role write on 86.2"),
        "{foreign}"
    );
    let eve = Browser::of(&server, "eve");
    assert!(
        eve.get("/console/mint")
            .body
            .contains("You may not create names yet.")
    );
    assert_eq!(server.registry.event_count().unwrap(), before);
    let nobody = Principal::nobody();
    assert!(server.registry.show(&nobody, "20.1/map-0003").is_err());
}
