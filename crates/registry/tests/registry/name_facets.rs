//! Filters and counts of lists of names, and what they tell to whom.

use handfast_registry::{NameFacets, NameFilter, NameListPage, NameTable, Role, State};

use super::*;

fn listed(page: &NameListPage) -> Vec<&str> {
    page.names.iter().map(|name| name.id.as_str()).collect()
}

fn with_url(url: &str) -> NameFilter {
    NameFilter {
        url: Some(url.to_string()),
        ..NameFilter::default()
    }
}

/// Two authorities, an account with `write` on the first one, and names of every state.
fn two_authorities() -> (Scene, Principal) {
    let scene = scene();
    authority(&scene, "20.1");
    authority(&scene, "20.1.5");
    authority(&scene, "20.2");
    for prefix in ["20.1", "20.1.5", "20.2"] {
        for (local, reserve) in [("a", false), ("b", true), ("c", false)] {
            let new = NewName {
                reserve,
                ..NewName::urls(&["https://example.org/same"])
            };
            let id = format!("{prefix}/{local}");
            scene.create_name(&OPERATOR, &id, new).unwrap();
        }
        let id = format!("{prefix}/c");
        scene.withdraw_name(&OPERATOR, &id, "wrong", None).unwrap();
    }
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    let ann = Principal::account("ann").unwrap();
    scene.grant(&OPERATOR, "20.1.5", &ann, Role::Write).unwrap();
    (scene, ann)
}

#[test]
fn names_are_found_by_url_and_by_the_events_that_created_them() {
    let (scene, ann) = two_authorities();
    let url = "https://example.org/same";
    let page = scene.list_names(&ann, &with_url(url), None, 10).unwrap();
    assert_eq!(listed(&page), ["20.1.5/a", "20.1.5/b", "20.1.5/c"]);
    let all = scene
        .list_names(&OPERATOR, &with_url(url), None, 4)
        .unwrap();
    assert_eq!(all.names.len(), 4);
    let next = scene.list_names(&OPERATOR, &with_url(url), all.next.as_deref(), 10);
    assert_eq!(next.unwrap().names.len(), 5);
    let other = scene.list_names(&OPERATOR, &with_url("https://example.org/sam"), None, 10);
    assert!(other.unwrap().names.is_empty());

    let first = scene.show(&OPERATOR, "20.1/b").unwrap().record.first_event;
    let filter = NameFilter {
        authority: Some("20.1".to_string()),
        created_by: Some((first, first + 1)),
        ..NameFilter::default()
    };
    let page = scene.list_names(&OPERATOR, &filter, None, 10).unwrap();
    assert_eq!(listed(&page), ["20.1/b", "20.1/c"]);
}

#[test]
fn counts_of_a_list_are_exact_and_only_of_what_may_be_listed() {
    let (scene, ann) = two_authorities();
    let facets = |who: &Principal, filter: &NameFilter| scene.name_facets(who, filter, 10).unwrap();
    let paths = |facets: &NameFacets| {
        let paths = facets
            .authorities
            .iter()
            .map(|found| found.path.to_string());
        paths.collect::<Vec<_>>()
    };
    let own = facets(&ann, &NameFilter::default());
    assert_eq!(paths(&own), ["20.1.5"]);
    assert_eq!(own.all_authorities, 1);
    let states = own.states.unwrap();
    assert_eq!(
        (states.active, states.reserved, states.withdrawn),
        (1, 1, 1)
    );
    assert!(own.is_current);

    let of = |authority: &str, with_children, state| NameFilter {
        authority: Some(authority.to_string()),
        with_children,
        state,
        ..NameFilter::default()
    };
    let below = facets(&OPERATOR, &of("20.1", true, Some(State::Reserved)));
    assert_eq!(below.states.unwrap().total(), 6);
    assert_eq!(
        below.authorities.first().and_then(|found| found.count),
        Some(1)
    );
    let alone = facets(&OPERATOR, &of("20.1", false, None));
    assert_eq!(alone.states.unwrap().total(), 3);
    // Nothing is counted for words.
    let words = NameFilter {
        words: handfast_registry::Words::parse("a").ok(),
        ..NameFilter::default()
    };
    let words = facets(&ann, &words);
    assert_eq!((words.states, words.authorities[0].count), (None, None));
    assert_eq!(
        code(scene.name_facets(&ann, &of("20.2", false, None), 10)),
        "denied"
    );
    assert!(
        facets(&Principal::nobody(), &NameFilter::default())
            .authorities
            .is_empty()
    );

    let writable = |who: &Principal| scene.writable_authorities(who, 10).unwrap();
    assert_eq!(writable(&ann).len(), 1);
    assert_eq!(writable(&OPERATOR).len(), 3);
    assert_eq!(scene.writable_authorities(&OPERATOR, 2).unwrap().len(), 2);
}

/// A title such as `=1+1` would be run as a formula by a spreadsheet.
#[test]
fn a_table_of_names_has_no_formulas() {
    let scene = scene();
    authority(&scene, "20.1");
    let new = NewName {
        values: vec![NewValue::new(10, "TITLE", b"=1+1, \"quoted\"")],
        ..NewName::default()
    };
    scene.create_name(&OPERATOR, "20.1/a", new).unwrap();
    let page = scene.list_names(&OPERATOR, &NameFilter::default(), None, 10);
    let page = page.unwrap();
    let mut table = NameTable::new();
    let name = page.names.iter().find(|name| name.id == "20.1/a").unwrap();
    table.add(name, "https://id.example/20.1/a").unwrap();
    let text = String::from_utf8(table.take().unwrap()).unwrap();
    let row = text.lines().nth(1).unwrap();
    assert!(row.starts_with("20.1/a,https://id.example/20.1/a,\"'=1+1, \"\"quoted\"\"\",,active,"));
}
