//! The living registry of `info` namespaces.

use std::sync::Arc;

use handfast_id::{InfoUri, InfoValidity, Namespaces, recognise};
use handfast_registry::{
    Limit, NamespaceAct, NamespaceCase, NamespaceForm, NamespaceImport, NamespaceOrder,
    NamespaceQuery, NamespaceStatus, NamespacesChanged, Role,
};
use handfast_store::{Table, TableKey, Write};
use proptest::prelude::*;

use crate::namespace_stage::*;
use crate::*;

#[test]
fn who_may_do_what_is_as_the_table_says() {
    let table = include_str!("namespaces.csv");
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let people: Vec<&str> = lines.next().unwrap().split(',').skip(2).collect();
    let mut cells = 0;
    for line in lines {
        let mut fields = line.split(',');
        let (act, before) = (fields.next().unwrap(), fields.next().unwrap());
        let stage = stage();
        let name = stage.set(before);
        let expected: Vec<&str> = fields.collect();
        for (who, expected) in people.iter().zip(&expected) {
            let got = stage.try_it(act, name, who, true);
            assert_eq!(got, *expected, "{act} on {before} by {who}");
            cells += 1;
        }
        // The preview is what happens; a rejected action changes nothing.
        for (who, expected) in people.iter().zip(&expected).rev() {
            let got = stage.try_it(act, name, who, false);
            assert_eq!(got, *expected, "{act} on {before} by {who}, in earnest");
            if expected.parse::<NamespaceStatus>().is_ok() {
                break;
            }
        }
    }
    assert_eq!(cells, 5 * 64);
}

impl Stage {
    /// Tries an action, or previews it.
    fn try_it(&self, act: &str, name: &str, who: &str, is_rehearsed: bool) -> &'static str {
        let who = match who {
            "console" => OPERATOR,
            account_name => account(account_name),
        };
        let form = || match self.namespace(name) {
            Ok(entry) => NamespaceForm {
                declaration: oai().declaration,
                authority: oai().authority,
                ..entry.form.clone()
            },
            Err(_) => oai(),
        };
        let until = self.time() + 100 * DAY;
        let act = match act {
            "propose" => NamespaceAct::Propose(Box::new(form())),
            "change" => NamespaceAct::Change(Box::new(form())),
            "approve" => NamespaceAct::Approve { until: None },
            "refuse" => NamespaceAct::Refuse,
            "claim" => NamespaceAct::Claim,
            "verify" => NamespaceAct::Verify,
            "renew" => NamespaceAct::Renew { until },
            "deprecate" => NamespaceAct::Deprecate,
            "withdraw" => NamespaceAct::Withdraw,
            "comment" => {
                return match self.comment_on_namespace(&who, name, "Fine.") {
                    Ok(_) => self.namespace(name).unwrap().state(self.time()).as_str(),
                    Err(error) => error.code(),
                };
            }
            "policy" => {
                let set = self.set_namespace_policy(&who, "Ask first.");
                return set.map_or_else(|error| error.code(), |_| "ok");
            }
            "import" => {
                let mut form = form();
                form.title = "Another".into();
                let given = NamespaceImport {
                    form,
                    registered: None,
                    has_rules: true,
                };
                let mut done = self.import_namespaces(&who, vec![given]).unwrap();
                let done = done.pop().unwrap();
                return done.outcome.map_or_else(|error| error.code(), |_| "ok");
            }
            other => panic!("{other}"),
        };
        let done = if is_rehearsed {
            let order = NamespaceOrder::new(act, "because");
            self.consider_namespace(&who, name, order).map(Arc::new)
        } else {
            self.act(&who, name, act)
        };
        match done {
            Ok(entry) => entry.state(self.time()).as_str(),
            Err(error) => error.code(),
        }
    }

    /// Brings an entry into a state, and returns its name.
    pub(crate) fn set(&self, state: &str) -> &'static str {
        let owner = account("owner");
        let provisional = || {
            self.propose(oai()).unwrap();
            let until = Some(self.time() + DAY);
            self.act(&OPERATOR, "oai", NamespaceAct::Approve { until })
                .unwrap();
        };
        match state {
            "none" => {}
            "candidate" => drop(self.propose(oai()).unwrap()),
            "refused" => {
                self.propose(oai()).unwrap();
                self.act(&OPERATOR, "oai", NamespaceAct::Refuse).unwrap();
            }
            "registered" => drop(self.register(oai()).unwrap()),
            "unclaimed" => return "pronom",
            "claim on unclaimed" => {
                self.act(&account("other"), "pronom", NamespaceAct::Claim)
                    .unwrap();
                return "pronom";
            }
            "claimed by another" => {
                self.register(oai()).unwrap();
                self.act(&account("other"), "oai", NamespaceAct::Claim)
                    .unwrap();
            }
            "provisional" => provisional(),
            "lapsed" => {
                provisional();
                self.at(DAY);
            }
            "deprecated" => {
                self.register(oai()).unwrap();
                self.act(&owner, "oai", NamespaceAct::Deprecate).unwrap();
            }
            "withdrawn" => {
                self.register(oai()).unwrap();
                self.act(&owner, "oai", NamespaceAct::Withdraw).unwrap();
            }
            other => panic!("{other}"),
        }
        "oai"
    }
}

/// Document 003 §6: N4 before, N0 after; nothing is reopened in between.
#[test]
fn info_6_oai_as_in_the_document() {
    let stage = stage();
    let u4 = "info:OAI/arXiv.org%3AHEP-TH%2F9901001";
    let n4 = "info:oai/arXiv.org:HEP-TH%2F9901001";
    assert_eq!(stage.canonical(u4), (n4.into(), Some(false)));
    stage.propose(oai()).unwrap();
    assert_eq!(stage.canonical(u4), (n4.into(), Some(false)));
    stage.approve("oai").unwrap();
    let n0 = "info:oai/arxiv.org:hep-th%2F9901001";
    assert_eq!(stage.canonical(u4), (n0.into(), Some(true)));
    // Names are looked up by the same rules.
    authority(&stage, "info:oai");
    name(&stage, u4);
    assert_eq!(stage.show(&OPERATOR, n0).unwrap().key, n0);
    // Withdrawn, it is no longer registered, and its normalisation stays.
    stage
        .act(&account("owner"), "oai", NamespaceAct::Withdraw)
        .unwrap();
    assert_eq!(stage.canonical(u4), (n0.into(), Some(false)));
    assert_eq!(stage.show(&OPERATOR, u4).unwrap().key, n0);
    assert_eq!(code(stage.propose(oai())), "state");
}

#[test]
fn info_7_every_historical_example_comes_out_as_stated() {
    let stage = stage();
    let mut count = 0;
    let page = stage.namespaces(&NamespaceQuery::default());
    assert_eq!((page.total, page.next), (29, None));
    for entry in page.entries {
        assert!(entry.historical && !entry.claimed && entry.is_live(stage.time()));
        for sample in &entry.form.examples {
            let expected = (sample.canonical.clone(), Some(true));
            assert_eq!(stage.canonical(&sample.input), expected);
            assert_eq!(stage.canonical(&sample.canonical), expected);
            let uri = InfoUri::parse(&sample.input).unwrap();
            assert_eq!(uri.validate(&stage.rules()), InfoValidity::Fits);
            count += 1;
        }
    }
    assert_eq!(count, 81);
    // Of the namespaces that the draft names, these were registered and these never were.
    for name in ["bibcode", "doi", "lccn", "ofi", "pmid", "sici"] {
        assert!(stage.namespace(name).is_ok(), "{name}");
    }
    for name in ["ddc", "oai", "pii"] {
        let uri = format!("info:{name}/1");
        assert_eq!(code(stage.namespace(name)), "no-namespace");
        assert_eq!(stage.canonical(&uri), (uri, Some(false)));
    }
}

/// Each historical entry would be accepted again: its examples and the generated trials normalise
/// to themselves.
#[test]
fn all_historical_entries_pass_what_new_ones_must() {
    let stage = stage();
    let given = NamespaceImport::read(Namespaces::historical_json()).unwrap();
    assert_eq!(given.len(), 29);
    let done = stage.import_namespaces(&OPERATOR, given).unwrap();
    for imported in done {
        assert!(
            !imported.outcome.unwrap(),
            "{} has changed",
            imported.namespace
        );
    }
    for entry in stage.namespaces(&NamespaceQuery::default()).entries {
        let mut form = form(&serde_json::to_string(&entry.form).unwrap());
        form.title.clone_from(&entry.form.title);
        let act = NamespaceAct::Change(Box::new(form));
        stage.act(&OPERATOR, entry.name(), act).unwrap();
    }
    let check = stage.check().unwrap();
    assert_eq!((check.problems, check.namespaces), (vec![], 29));
}

#[test]
fn rules_that_would_move_or_merge_names_are_refused() {
    let stage = stage();
    let mut plain = oai();
    plain.normalisation.case = NamespaceCase::Sensitive;
    plain.examples.clear();
    stage.register(plain.clone()).unwrap();
    authority(&stage, "info:oai");
    name(&stage, "info:oai/ABC");
    let error = stage.change(oai()).unwrap_err();
    assert_eq!(error.code(), "moves-names");
    assert!(error.to_string().contains("info:oai/ABC"), "{error}");

    // Rules that keep the key of each name are accepted.
    name(&stage, "info:oai/abc");
    assert_eq!(code(stage.change(oai())), "moves-names");
    for i in 0..20 {
        name(&stage, &format!("info:oai/X-{i}"));
    }
    plain.normalisation.strip = "-".into();
    let error = stage.change(plain.clone()).unwrap_err().to_string();
    assert!(
        error.contains("info:oai/X-0") && error.contains("10 more"),
        "{error}"
    );
    // A reserved name counts, and is not named.
    let reserved = reserved();
    stage
        .create_name(&OPERATOR, "info:oai/secret_", reserved)
        .unwrap();
    plain.normalisation.strip = "_".into();
    let error = stage.change(plain.clone()).unwrap_err().to_string();
    assert!(!error.contains("secret"), "{error}");
    // A change that affects no name is allowed.
    plain.normalisation.strip = "~".into();
    plain.title = "Another".into();
    assert_eq!(stage.change(plain).unwrap().form.title, "Another");
    assert!(stage.check().unwrap().problems.is_empty());
}

#[test]
fn what_other_schemes_look_up_keeps_its_rules() {
    let stage = stage();
    let mut doi = stage.namespace("doi").unwrap().form.clone();
    doi.authority.contact = "doi@example.org".into();
    doi.normalisation.case = NamespaceCase::Sensitive;
    doi.examples.clear();
    let act = |form: &NamespaceForm| NamespaceAct::Change(Box::new(form.clone()));
    assert_eq!(code(stage.act(&OPERATOR, "doi", act(&doi))), "fixed-rules");
    doi.normalisation.case = NamespaceCase::Upper;
    stage.act(&OPERATOR, "doi", act(&doi)).unwrap();
}

#[test]
fn what_changed_is_harvested_in_order() {
    let stage = stage();
    let all = stage.namespaces_changed(&NamespacesChanged::default());
    assert_eq!(all.len(), 29);
    assert!(
        all.windows(2)
            .all(|pair| pair[0].changed <= pair[1].changed)
    );
    // In pages of ten, nothing twice and nothing lost.
    let (mut harvested, mut after) = (Vec::new(), None);
    loop {
        let page = stage.namespaces_changed(&NamespacesChanged {
            after: after.take(),
            limit: 10,
            ..NamespacesChanged::default()
        });
        let Some(last) = page.last() else { break };
        after = Some((last.changed, last.entry.name().to_string()));
        harvested.extend(
            page.into_iter()
                .map(|change| change.entry.name().to_string()),
        );
    }
    let names: Vec<_> = all
        .iter()
        .map(|change| change.entry.name().to_string())
        .collect();
    assert_eq!(harvested, names);

    let since = stage.time();
    stage.propose(oai()).unwrap();
    let changed = || {
        let changes = stage.namespaces_changed(&NamespacesChanged {
            from: Some(since),
            ..NamespacesChanged::default()
        });
        changes
            .iter()
            .map(|c| (c.entry.name().to_string(), c.deleted))
            .collect::<Vec<_>>()
    };
    assert!(changed().is_empty(), "a candidate is not registered");
    stage.at(5_500);
    stage.approve("oai").unwrap();
    assert_eq!(changed(), [("oai".to_string(), false)]);
    stage
        .act(&account("owner"), "oai", NamespaceAct::Withdraw)
        .unwrap();
    assert_eq!(changed(), [("oai".to_string(), true)]);
}

#[test]
fn a_token_is_its_account_made_smaller() {
    let stage = stage();
    stage.register(oai()).unwrap();
    let limited = |authority: Option<&str>, role| {
        let rules = stage.rules();
        let path = |text| handfast_registry::AuthorityPath::parse(text, &rules).unwrap();
        Principal::Limited {
            account: "owner".into(),
            limit: Limit {
                authority: authority.map(path),
                role,
            },
        }
    };
    for (authority, role, may) in [
        (None, Role::Admin, true),
        (None, Role::Lead, false),
        (Some("info:oai"), Role::Admin, true),
        (Some("info:"), Role::Admin, true),
        (Some("info:lccn"), Role::Admin, false),
        (Some("20.1000"), Role::Admin, false),
    ] {
        let change = NamespaceAct::Change(Box::new(oai()));
        let done = stage.act(&limited(authority, role), "oai", change);
        assert_eq!(done.is_ok(), may, "{authority:?} {role}");
    }
}

#[test]
fn forms_that_are_not_fit_are_refused() {
    let stage = stage();
    let mut count = 0;
    for line in include_str!("namespaces_refused.jsonl").lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let expected = line["refused"].as_str().unwrap();
        assert_eq!(
            code(stage.propose(form(&line["form"].to_string()))),
            expected,
            "{line}"
        );
        count += 1;
    }
    assert_eq!(count, 36);
    let long = |bytes| NamespaceForm {
        description: "x".repeat(bytes),
        ..oai()
    };
    assert_eq!(code(stage.propose(long(10_001))), "too-large");
    // Each text fits by itself, but all of them are too much.
    let mut large = long(10_000);
    large.syntax.summary = "x".repeat(10_000);
    large.normalisation.summary = "x".repeat(10_000);
    assert!(
        stage
            .consider_namespace(&account("owner"), "oai", propose(&large))
            .is_ok()
    );
    large.see = vec![format!("https://example.org/{}", "x".repeat(1_900)); 20];
    assert_eq!(code(stage.propose(large)), "too-large");
    for (bytes, is_fine) in [(500, true), (501, false)] {
        let mut sample = oai();
        sample.examples[0].native = Some("x".repeat(bytes));
        let done = stage.consider_namespace(&account("owner"), "oai", propose(&sample));
        assert_eq!(done.is_ok(), is_fine);
        let input = format!("info:oai/{}", "x".repeat(bytes - 9));
        sample.examples[0].native = None;
        sample.examples[0].canonical.clone_from(&input);
        sample.examples[0].input = input;
        let done = stage.consider_namespace(&account("owner"), "oai", propose(&sample));
        assert_eq!(done.is_ok(), is_fine);
    }
    let pattern = "a".repeat(1_025);
    assert_eq!(
        code(stage.propose(form(&format!(
            r#"{{"namespace": "x", "syntax": {{"pattern": "{pattern}"}}}}"#
        )))),
        "bad-pattern"
    );
    let undeclared = NamespaceForm {
        declaration: None,
        ..oai()
    };
    assert_eq!(code(stage.propose(undeclared)), "not-declared");
    // A script in a text stays text.
    let script = NamespaceForm {
        description: "<script>alert(1)</script>".into(),
        ..oai()
    };
    stage.propose(script).unwrap();
}

/// A backtracking program would take longer than a lifetime for each of these.
#[test]
fn hostile_patterns_do_no_harm() {
    let stage = stage();
    let patterns = [
        "(a+)+c",
        "(a|aa)+c",
        "(a*)*c",
        "(.*)(.*)(.*)(.*)(.*)c",
        "(?:a?){64}a{64}c",
        "(?:(?:a?){30}){30}c",
        "(?:a|b)*a(?:a|b){200}c",
    ];
    // Without a period, so that no earlier value comes again.
    let letter = |i: u64| {
        let bits = i.wrapping_mul(i).wrapping_mul(2_654_435_761) >> 13;
        if bits & 1 == 0 { 'a' } else { 'b' }
    };
    let letters: String = (0..8_000).map(letter).collect();
    for (number, pattern) in patterns.iter().enumerate() {
        let mut form = form(&format!(r#"{{"namespace": "h{number}"}}"#));
        form.syntax.pattern = Some((*pattern).into());
        let steps = serde_json::json!([["rewrite", pattern, "x"]]);
        form.normalisation.steps = Some(steps.as_array().unwrap().clone());
        stage.register(form).unwrap();
        let text = format!("info:h{number}/{letters}");
        let uri = InfoUri::parse(&text).unwrap();
        let rules = stage.rules();
        assert!(uri.canonical(&rules).is_ok());
        assert_eq!(uri.validate(&rules), InfoValidity::DoesNotFit);
    }
}

#[test]
fn all_of_it_survives_being_closed_backed_up_and_restored() {
    let stage = stage();
    stage.register(oai()).unwrap();
    stage
        .set_namespace_policy(&account("admin"), "Ask first.")
        .unwrap();
    let copy = stage.folder.path().join("copy");
    stage.backup(&copy).unwrap();
    let restored = stage.folder.path().join("restored");
    let restored = Registry::restore(&copy, &restored, environment()).unwrap();
    assert!(restored.check().unwrap().problems.is_empty());
    assert_eq!(restored.namespace_policy().unwrap().text, "Ask first.");
    let key = |registry: &Registry| {
        let rules = registry.rules();
        let found = recognise("info:oai/ABC", &rules).unwrap();
        found.identifier.key(&rules).to_string()
    };
    assert_eq!(key(&restored), "info:oai/abc");
    let folder = copy_of(&stage);
    let opened = Registry::open(&folder, environment()).unwrap();
    assert_eq!(key(&opened), "info:oai/abc");
    assert_eq!(
        opened.namespace("oai").unwrap().status,
        NamespaceStatus::Registered
    );
}

/// A name stored under outdated rules would never be found again.
#[test]
fn names_and_rules_may_race() {
    let stage = stage();
    for round in 0..8 {
        let space = format!("r{round}");
        let mut form = oai();
        (form.namespace, form.examples) = (space.clone(), Vec::new());
        let mut plain = form.clone();
        plain.normalisation.case = NamespaceCase::Sensitive;
        stage.register(plain).unwrap();
        authority(&stage, &format!("info:{space}"));
        let names = std::thread::scope(|scope| {
            let creating = scope.spawn(|| {
                let names = (0..6).map(|i| format!("info:{space}/NAME-{i}"));
                let create = |id: &String| name(&stage, id);
                names.inspect(create).collect::<Vec<_>>()
            });
            // Rejected if a name was created first.
            match stage.change(form) {
                Ok(_) => {}
                Err(error) => assert_eq!(error.code(), "moves-names"),
            }
            creating.join().unwrap()
        });
        for id in names {
            stage.show(&OPERATOR, &id).unwrap();
        }
    }
    assert!(stage.check().unwrap().problems.is_empty());
}

#[test]
fn check_finds_an_entry_that_is_not_what_was_written() {
    let stage = stage();
    stage.register(oai()).unwrap();
    stage
        .comment_on_namespace(&account("other"), "oai", "x")
        .unwrap_err();
    let folder = copy_of(&stage);
    {
        let store = handfast_store::Store::open(&folder).unwrap();
        store
            .change(|now| {
                let table_key = TableKey::named(Table::Namespaces, b"entry:oai");
                let bytes = now.get(&table_key, <[u8]>::to_vec)?.unwrap();
                let text = String::from_utf8_lossy(&bytes).contains("because");
                assert!(text);
                let at = bytes.windows(7).position(|w| w == b"because").unwrap();
                let mut bytes = bytes;
                bytes[at] = b'B';
                let write = Write::put(table_key, &bytes);
                Ok::<_, handfast_store::StoreError>((vec![write], ()))
            })
            .unwrap();
    }
    let opened = Registry::open(&folder, environment()).unwrap();
    let problems: Vec<_> = opened
        .check()
        .unwrap()
        .problems
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(problems, ["entry:oai of the info registry is damaged"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Accepted steps are idempotent on inputs that were not generated, too.
    #[test]
    fn info_6_what_is_taken_is_idempotent(
        strip in "[-._ ]{0,2}", upper in any::<bool>(), cut in "[/:]{0,1}", trim in "[./]{0,2}",
        texts in prop::collection::vec("[a-zA-Z0-9./:_~-]{0,12}(%20|%2F|%C3%A9)?[a-z./-]{0,4}", 20),
    ) {
        let mut steps = vec![];
        if !trim.is_empty() {
            steps.push(serde_json::json!(["trim", trim]));
        }
        if !strip.is_empty() {
            steps.push(serde_json::json!(["strip", strip]));
        }
        if !cut.is_empty() {
            steps.push(serde_json::json!(["cut-at", cut]));
        }
        steps.push(serde_json::json!(["fold", if upper { "upper" } else { "lower" }]));
        let mut form = form(r#"{"namespace": "p"}"#);
        form.normalisation.steps = Some(steps);
        let stage = stage();
        match stage.register(form) {
            Err(error) => prop_assert_eq!(error.code(), "not-idempotent"),
            Ok(_) => {
                for text in texts {
                    let once = stage.canonical(&format!("info:p/{text}")).0;
                    prop_assert_eq!(&stage.canonical(&once).0, &once);
                }
            }
        }
    }
}
