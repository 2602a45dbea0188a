//! Entries of the registry of `info` namespaces: changing them, and proposing them again.

use handfast_registry::{NamespaceCase, NamespaceStatus};

use crate::browser::{Browser, start};

const ENTRY: &str = "/console/namespaces/est-survey";
const EDIT: &str = "/console/namespaces/est-survey/edit";

fn proposal() -> Vec<(&'static str, &'static str)> {
    vec![
        ("namespace", "est-survey"),
        ("title", "Survey sheets"),
        ("organisation", "Survey Office"),
        ("contact", "survey@example.org"),
        ("syntax", "Digits."),
        ("case", "lower"),
        ("examples", "info:est-survey/A1 info:est-survey/a1"),
        ("public", "yes"),
        ("in-use", "yes"),
        ("without-uri", "yes"),
    ]
}

/// The proposal with other fields.
fn with(fields: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let mut all = proposal();
    all.retain(|(name, _)| fields.iter().all(|(other, _)| name != other));
    all.extend(fields);
    all
}

#[test]
fn an_entry_is_changed_by_those_who_may() {
    let server = start();
    let registry = &server.registry;
    let (ann, boss) = (Browser::of(&server, "ann"), Browser::of(&server, "boss"));
    let wim = Browser::of(&server, "wim");
    ann.done("/console/namespaces/new", &proposal());
    let shown = ann.get(ENTRY).body;
    assert!(shown.contains(&format!("href=\"{EDIT}\"")), "{shown}");
    let form = ann.get(EDIT);
    assert_eq!(form.status, 200);
    for part in [
        "value=\"Survey sheets\"",
        "value=\"survey@example.org\"",
        "info:est-survey/A1 info:est-survey/a1",
        "<option value=\"lower\" selected>",
        "handfast namespace change est-survey",
    ] {
        assert!(form.body.contains(part), "{part}\n{}", form.body);
    }
    // Others see the entry, and cannot change it.
    assert!(!wim.get(ENTRY).body.contains(EDIT));
    assert_eq!(wim.get(EDIT).status, 403);
    assert_eq!(wim.send(EDIT, &with(&[("title", "Mine")])).status, 403);

    let wrong = ann.send(EDIT, &with(&[("title", ""), ("version", "1")]));
    assert_eq!(wrong.status, 422);
    let wrong = ann.send(EDIT, &with(&[("pattern", "("), ("version", "1")]));
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains("id=\"pattern-error\""),
        "{}",
        wrong.body
    );
    let stale = ann.send(EDIT, &with(&[("title", "Sheets <b>"), ("version", "7")]));
    assert_eq!(stale.status, 409);
    assert!(
        stale.body.contains("Sheets &lt;b&gt;"),
        "what was typed stays"
    );
    assert!(stale.body.contains("name=\"version\" value=\"1\""));
    let changed = [
        ("title", "Sheets of the survey"),
        ("address", "1 Quay Street"),
        ("mechanism", "https://survey.example/{id}"),
        ("security", "The host may go."),
        ("page-first", "yes"),
        ("version", "1"),
    ];
    let saved = ann.done(EDIT, &with(&changed)).body;
    assert!(saved.contains("Saved.") && saved.contains("Sheets of the survey"));
    let entry = registry.namespace("est-survey").unwrap();
    let said = &entry.form;
    assert_eq!(said.authority.address, "1 Quay Street");
    assert!(said.resolution.page_first);
    assert_eq!(said.normalisation.case, NamespaceCase::Lower);
    assert_eq!(entry.version, 2);
    // An administrator maintains the registry, and may change entries too.
    assert_eq!(boss.get(EDIT).status, 200);
    assert_eq!(boss.get("/console/namespaces/none/edit").status, 404);
}

#[test]
fn the_effect_of_new_rules_is_shown_first() {
    let server = start();
    let boss = Browser::of(&server, "boss");
    let path = "/console/namespaces/pronom/edit";
    let fields = |what| {
        let form = server.registry.namespace("pronom").unwrap().form.clone();
        let texts = [
            ("title", form.title.clone()),
            ("organisation", form.authority.organisation.clone()),
            ("contact", "pronom@example.org".to_string()),
            ("url", form.authority.url.clone()),
            ("examples", String::new()),
        ];
        let more = [("case", "upper"), ("do", what)];
        let more = more.map(|(name, value)| (name, value.to_string()));
        texts.into_iter().chain(more).collect::<Vec<_>>()
    };
    let send = |what| {
        let fields = fields(what);
        let fields: Vec<_> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        boss.send(path, &fields)
    };
    let shown = send("preview");
    assert_eq!(shown.status, 200, "{}", shown.body);
    assert!(shown.body.contains("Nothing has been changed yet"));
    assert!(shown.body.contains("FMT"), "{}", shown.body);
    let entry = server.registry.namespace("pronom").unwrap();
    assert_eq!(entry.version, 1);
    assert_eq!(send("save").status, 303);
    let entry = server.registry.namespace("pronom").unwrap();
    assert_eq!(entry.form.normalisation.case, NamespaceCase::Upper);
}

#[test]
fn a_declined_proposal_is_sent_again() {
    let server = start();
    let (ann, boss) = (Browser::of(&server, "ann"), Browser::of(&server, "boss"));
    ann.done("/console/namespaces/new", &proposal());
    assert!(!ann.get(ENTRY).body.contains("Propose it again"));
    let refuse = format!("{ENTRY}/acts/refuse");
    boss.done(&refuse, &[("why", "no contact")]);
    assert!(ann.get(ENTRY).body.contains("Propose it again"));
    let again = ann.done(
        EDIT,
        &with(&[("why", "There is one now."), ("version", "2")]),
    );
    assert!(again.body.contains("Proposed."), "{}", again.body);
    let entry = server.registry.namespace("est-survey").unwrap();
    assert_eq!(entry.status, NamespaceStatus::Candidate);
}
