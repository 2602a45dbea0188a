//! Lists of names and events with filters, and near names: what they find, and what they hide.

use handfast_registry::{
    Action, EventFilter, EventListPage, NameAction, NameFilter, Role, State, Words,
};

use super::*;

fn reserve(registry: &Registry, who: &Principal, id: &str) {
    let new = NewName {
        reserve: true,
        ..NewName::default()
    };
    registry.create_name(who, id, new).unwrap();
}

fn withdraw(registry: &Registry, id: &str) {
    registry
        .withdraw_name(&OPERATOR, id, "wrong", None)
        .unwrap();
}

/// Two authorities with names in every state, and one below each. Ann writes the first one.
fn library() -> Scene {
    let scene = scene();
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    scene.create_account(&OPERATOR, "bob", "").unwrap();
    for prefix in ["20.1", "20.2"] {
        authority(&scene, prefix);
        authority(&scene, &format!("{prefix}.5"));
        for id in ["atlas", "map", "old"] {
            name(&scene, &format!("{prefix}/{id}"));
        }
        reserve(&scene, &OPERATOR, &format!("{prefix}/secret"));
        name(&scene, &format!("{prefix}.5/child"));
        withdraw(&scene, &format!("{prefix}/old"));
    }
    erasable_authority(&scene, "20.3");
    name(&scene, "20.3/passing");
    scene
        .grant(&OPERATOR, "20.1", &account("ann"), Role::Write)
        .unwrap();
    scene
}

fn of(authority: &str) -> NameFilter {
    NameFilter {
        authority: Some(authority.to_string()),
        ..NameFilter::default()
    }
}

/// All names, two on a page.
fn all_names(registry: &Registry, who: &Principal, filter: &NameFilter) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = registry
            .list_names(who, filter, after.as_deref(), 2)
            .unwrap();
        assert!(page.is_complete && page.names.len() <= 2);
        all.extend(page.names.into_iter().map(|name| name.id));
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

#[test]
fn each_filter_lists_its_names() {
    let scene = library();
    let ann = account("ann");
    scene
        .create_name(
            &ann,
            "20.1/new",
            NewName {
                urls: vec!["https://example.org/new".to_string()],
                values: vec![NewValue::new(9, "TITLE", b"Charts of the North Sea")],
                reserve: false,
            },
        )
        .unwrap();
    let modified = scene.show(&OPERATOR, "20.1/new").unwrap().record.modified;
    let own = [
        "20.1/atlas",
        "20.1/map",
        "20.1/new",
        "20.1/old",
        "20.1/secret",
    ];
    let with_state = |state| NameFilter {
        state: Some(state),
        ..of("20.1")
    };
    let cases: [(NameFilter, &[&str]); 11] = [
        (of("20.1"), &own),
        (
            with_state(State::Active),
            &["20.1/atlas", "20.1/map", "20.1/new"],
        ),
        (with_state(State::Reserved), &["20.1/secret"]),
        (with_state(State::Withdrawn), &["20.1/old"]),
        (
            NameFilter {
                with_children: true,
                state: Some(State::Active),
                ..of("20.1")
            },
            &["20.1.5/child", "20.1/atlas", "20.1/map", "20.1/new"],
        ),
        (
            NameFilter {
                words: Some(Words::parse("north charts").unwrap()),
                ..NameFilter::default()
            },
            &["20.1/new"],
        ),
        (
            NameFilter {
                prefix: Some("20.1/M".to_string()),
                ..NameFilter::default()
            },
            &["20.1/map"],
        ),
        (
            NameFilter {
                prefix: Some("20.".to_string()),
                state: Some(State::Withdrawn),
                ..NameFilter::default()
            },
            &["20.1/old"],
        ),
        (
            NameFilter {
                changed_since: Some(modified),
                ..NameFilter::default()
            },
            &["20.1/new"],
        ),
        (
            NameFilter {
                changed_by: Some("Ann".to_string()),
                ..NameFilter::default()
            },
            &["20.1/new"],
        ),
        (
            NameFilter {
                changed_by: Some("bob".to_string()),
                ..NameFilter::default()
            },
            &[],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(all_names(&scene, &ann, &filter), expected, "{filter:?}");
    }
    let page = scene
        .list_names(&ann, &of("20.1"), Some("hdl:20.1/MAP"), 1)
        .unwrap();
    let new = page.names.first().unwrap();
    assert_eq!(new.title.as_deref(), Some("Charts of the North Sea"));
    assert_eq!(new.url.as_deref(), Some("https://example.org/new"));
    assert_eq!(page.next.as_deref(), Some("hdl:20.1/NEW"));
}

#[test]
fn a_role_on_one_authority_finds_nothing_of_another() {
    let scene = library();
    let (ann, bob, nobody) = (account("ann"), account("bob"), Principal::nobody());
    let all = |who: &Principal| all_names(&scene, who, &NameFilter::default());
    let own = [
        "20.1.5/child",
        "20.1/atlas",
        "20.1/map",
        "20.1/old",
        "20.1/secret",
    ];
    assert_eq!(all(&ann), own);
    assert!(all(&bob).is_empty() && all(&nobody).is_empty());
    // The records of prefixes are no names of anybody.
    assert_eq!(all(&OPERATOR).len(), 11);
    let records = NameFilter {
        prefix: Some("0.NA/20".to_string()),
        ..NameFilter::default()
    };
    assert_eq!(all_names(&scene, &OPERATOR, &records).len(), 5);
    assert!(all_names(&scene, &ann, &records).is_empty());
    // Neither do the numbers of compared names tell how many names others have.
    let looked_at = |filter: &NameFilter| {
        let page = scene.list_names(&ann, filter, None, 99).unwrap();
        page.looked_at
    };
    assert_eq!(looked_at(&NameFilter::default()), 5);
    let other = NameFilter {
        prefix: Some("20.2/".to_string()),
        ..NameFilter::default()
    };
    assert_eq!(looked_at(&other), 0);
    for path in ["20.2", "20.2.5", "20.3"] {
        assert_eq!(code(scene.list_names(&ann, &of(path), None, 9)), "denied");
        let events = EventFilter {
            authority: Some(path.to_string()),
            ..EventFilter::default()
        };
        assert_eq!(code(scene.list_events(&ann, &events, None, 9)), "denied");
    }
    for id in ["20.2/secret", "20.2/map", "20.3/passing"] {
        let events = EventFilter {
            id: Some(id.to_string()),
            ..EventFilter::default()
        };
        assert_eq!(code(scene.list_events(&ann, &events, None, 9)), "denied");
    }
    let filters = [
        EventFilter::default(),
        EventFilter {
            account: Some("operator".to_string()),
            ..EventFilter::default()
        },
        EventFilter {
            action: Some(Action::Create),
            ..EventFilter::default()
        },
    ];
    for filter in filters {
        let page = scene.list_events(&ann, &filter, None, 99).unwrap();
        assert!(!page.events.is_empty());
        let is_own = |authority: &str| ["hdl:20.1", "hdl:20.1.5"].contains(&authority);
        assert!(
            page.events
                .iter()
                .all(|found| is_own(&found.event.authority))
        );
        let page = scene.list_events(&bob, &filter, None, 99).unwrap();
        assert_eq!((page.events, page.next), (vec![], None));
    }
}

/// All events, two on a page, newest first.
fn numbers(registry: &Registry, who: &Principal, filter: &EventFilter) -> Vec<u64> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = registry.list_events(who, filter, after, 2).unwrap();
        all.extend(page.events.iter().map(|found| found.event.number));
        after = page.next;
        if after.is_none() {
            assert!(all.is_sorted_by(|a, b| a > b));
            return all;
        }
    }
}

#[test]
fn each_filter_lists_its_events() {
    let scene = library();
    let ann = account("ann");
    name(&scene, "20.1/first");
    scene
        .create_name(&ann, "20.1/second", NewName::default())
        .unwrap();
    let event = scene.event_count().unwrap();
    let time = scene.event_time(event).unwrap().unwrap();
    scene
        .create_name(&ann, "20.1.5/third", NewName::default())
        .unwrap();
    withdraw(&scene, "20.1/second");
    reserve(&scene, &ann, "20.1/fourth");
    let filter = EventFilter::default;
    let account = Some("ann".to_string());
    let cases: [(EventFilter, &[u64]); 6] = [
        (
            EventFilter {
                account: account.clone(),
                ..filter()
            },
            &[event + 3, event + 1, event],
        ),
        (
            EventFilter {
                account,
                until: Some(time),
                ..filter()
            },
            &[event],
        ),
        (
            EventFilter {
                since: Some(time),
                ..filter()
            },
            &[event + 3, event + 2, event + 1, event],
        ),
        (
            EventFilter {
                since: Some(time),
                action: Some(Action::Withdraw),
                ..filter()
            },
            &[event + 2],
        ),
        (
            EventFilter {
                authority: Some("20.1.5".to_string()),
                since: Some(time),
                ..filter()
            },
            &[event + 1],
        ),
        (
            EventFilter {
                id: Some("20.1/SECOND".to_string()),
                ..filter()
            },
            &[event + 2, event],
        ),
    ];
    for (filter, expected) in cases {
        for who in [&ann, &OPERATOR] {
            assert_eq!(numbers(&scene, who, &filter), expected, "{filter:?}");
        }
    }
    let everything = numbers(&scene, &OPERATOR, &filter());
    assert_eq!(everything.first(), Some(&scene.event_count().unwrap()));
    assert_eq!(everything.last(), Some(&1));
    let page: EventListPage = scene.list_events(&ann, &filter(), None, 3).unwrap();
    let [fourth, _, third] = &page.events[..] else {
        panic!("three events");
    };
    assert_eq!(
        (third.name.as_deref(), &third.who),
        (Some("20.1.5/third"), &Some(ann.clone()))
    );
    // The event of a reserved name hides the name, also after it has become active.
    assert_eq!(fourth.name.as_deref(), Some("20.1/fourth"));
    let activate = NameAction::Activate;
    scene
        .change_name(&OPERATOR, "20.1/fourth", None, activate)
        .unwrap();
    let of_name = EventFilter {
        id: Some("20.1/fourth".to_string()),
        ..filter()
    };
    for filter in [filter(), of_name] {
        let page = scene.list_events(&ann, &filter, None, 2).unwrap();
        let names = page.events.iter().map(|found| found.name.as_deref());
        assert_eq!(names.collect::<Vec<_>>(), [Some("20.1/fourth"); 2]);
    }
}

/// The blocks of events that may be left out are found in derived data.
#[test]
fn events_are_found_in_a_long_log_with_and_without_derived_data() {
    let scene = library();
    let ann = account("ann");
    let many = |count: u64| {
        let minted = scene.mint(
            &OPERATOR,
            "20.2",
            &MintOptions::default(),
            count,
            |_| Ok(()),
        );
        minted.unwrap();
    };
    many(9_000);
    scene
        .create_name(&ann, "20.1/rare", NewName::default())
        .unwrap();
    many(9_000);
    let filters = [
        EventFilter::default(),
        EventFilter {
            account: Some("ann".to_string()),
            ..EventFilter::default()
        },
        EventFilter {
            action: Some(Action::Create),
            authority: Some("20.1".to_string()),
            ..EventFilter::default()
        },
    ];
    let data = copy_of(&scene);
    let without = Registry::open_read_only(&data, environment()).unwrap();
    for filter in filters {
        let page = scene.list_events(&ann, &filter, None, 1).unwrap();
        let rare = page.events.first().unwrap();
        assert_eq!(rare.name.as_deref(), Some("20.1/rare"));
        // The rest of 18,000 events was not read.
        assert!(page.looked_at <= 8_192, "{}", page.looked_at);
        let found = numbers(&scene, &ann, &filter);
        assert_eq!(numbers(&without, &ann, &filter), found);
    }
}

#[test]
fn near_names_are_public_and_one_edit_away() {
    let scene = library();
    let near = |id: &str| {
        let found = scene.near_names(id).unwrap();
        found.into_iter().map(|near| near.id).collect::<Vec<_>>()
    };
    for (typed, meant) in [
        ("20.1/mapp", "20.1/map"),
        ("20.1/ma", "20.1/map"),
        ("20.1/mpa", "20.1/map"),
        ("20.1/nap", "20.1/map"),
        ("hdl:20.2/Atla", "20.2/atlas"),
    ] {
        assert_eq!(near(typed), [meant], "{typed}");
    }
    // Reserved, withdrawn, erasable; two edits; no authority; no name at all.
    for typed in [
        "20.1/secre",
        "20.1/ol",
        "20.3/passin",
        "20.1/mappp",
        "20.9/map",
        "20.1",
        "???",
        "",
    ] {
        assert!(near(typed).is_empty(), "{typed}");
    }
    for number in 0..9 {
        name(&scene, &format!("20.1/x{number}"));
    }
    assert_eq!(near("20.1/x").len(), 5);
    let activate = NameAction::Activate;
    scene
        .change_name(&OPERATOR, "20.1/secret", None, activate)
        .unwrap();
    assert_eq!(near("20.1/secre"), ["20.1/secret"]);
}
