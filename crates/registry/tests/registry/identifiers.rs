//! Names and authorities to the letter: which text is registered, under which rules, and what the
//! register shows.

use std::io::Cursor;

use handfast_id::{CaseRule, InfoGrammar, RuleBook, inspect};
use handfast_registry::{
    Action, AuthorityAction, Import, NameAction, NamespaceAct, NamespaceOrder, Operation, Report,
    Role,
};

use crate::namespace_stage::{DAY, form, stage};
use crate::*;

const HEX: &str = "d41d8cd98f00b204e9800998ecf8427e";

fn cordra(registry: &Registry, path: &str) {
    registry
        .create_authority(&OPERATOR, path, cordra_authority())
        .unwrap();
}

#[test]
fn cid_4_names_under_a_cordra_authority_are_minted_as_uuids() {
    let scene = scene();
    cordra(&scene, "300");
    let mint = |style: Option<&str>| {
        let options = MintOptions {
            style: style.map(|style| style.parse().unwrap()),
            ..MintOptions::default()
        };
        let mut ids = Vec::new();
        let minted = scene.mint(&OPERATOR, "300", &options, 20, |minted| {
            ids.push(minted.id);
            Ok(())
        });
        minted.map(|()| ids)
    };
    for (style, version) in [(None, '4'), (Some("guid"), '4'), (Some("guid-v1"), '1')] {
        for id in mint(style).unwrap() {
            let path = id.strip_prefix("300/").unwrap();
            let digits: Vec<char> = path.chars().collect();
            let is_digit = |c: &char| matches!(c, '0'..='9' | 'A'..='F');
            assert!(digits.len() == 32 && digits.iter().all(is_digit), "{id}");
            assert_eq!(digits[12], version, "{id}");
            assert!(matches!(digits[16], '8' | '9' | 'A' | 'B'), "{id}");
            // Which node made it stands in its event, and that it was made here.
            let event = scene.history(&OPERATOR, &id).unwrap()[0].event.clone();
            assert_eq!((event.action, event.node), (Action::Mint, 1));
        }
    }
    assert_eq!(code(mint(Some("random:32"))), "not-cordra");
    let supplied = format!("300/{HEX}");
    name(&scene, &supplied);
    let event = scene.history(&OPERATOR, &supplied).unwrap()[0]
        .event
        .clone();
    assert_eq!(event.action, Action::Create);
}

/// Each prefix has a local namespace of its own.
#[test]
fn hdl_7_a_suffix_is_unique_under_its_prefix_and_no_further() {
    let scene = scene();
    let prefixes = ["20.1", "20.10", "20.1.1", "201"];
    for prefix in prefixes {
        authority(&scene, prefix);
        let url = format!("https://e.example/{prefix}");
        for (id, expected) in [
            (format!("{prefix}/x"), None),
            (format!("{prefix}/X"), Some("exists")),
            (format!("hdl:{prefix}/%78"), Some("exists")),
        ] {
            let made = scene.create_name(&OPERATOR, &id, NewName::urls(&[url.as_str()]));
            assert_eq!(made.err().map(|error| error.code()), expected, "{id}");
        }
    }
    for prefix in prefixes {
        let shown = scene.show(&OPERATOR, &format!("{prefix}/x")).unwrap();
        let url = format!("https://e.example/{prefix}");
        assert_eq!(*shown.record.values[0].data, *url.as_bytes());
        let mut listed = Vec::new();
        let listing = scene.names(&OPERATOR, prefix, None, &mut |shown| {
            listed.push(shown.record.text);
            std::ops::ControlFlow::Continue(())
        });
        listing.unwrap();
        assert_eq!(listed, [format!("{prefix}/x")]);
    }
}

/// An import put `400/d41d…` into uppercase, and took `400/D41D…` for the same name.
#[test]
fn hdl_10_an_import_takes_local_names_as_they_are() {
    let scene = scene();
    let new = sensitive_authority();
    scene.create_authority(&OPERATOR, "400", new).unwrap();
    let suffixes = [
        HEX,
        &HEX.to_uppercase(),
        "a/b?c#d",
        "%41",
        "Été 中",
        "A",
        "a",
    ];
    let lines: String = suffixes
        .iter()
        .map(|suffix| serde_json::json!({"id": format!("400/{suffix}")}).to_string() + "\n")
        .collect();
    let import = Import {
        source: "names.ndjson".into(),
        ..Import::default()
    };
    let mut reported = Vec::new();
    let report = &mut |report: Report<'_>| reported.push(format!("{report:?}"));
    let input = Cursor::new(lines.into_bytes());
    let job = scene.import(&OPERATOR, &import, input, report).unwrap();
    assert_eq!(job.counts.created, 7, "{reported:?}");
    for suffix in suffixes {
        let id = format!("400/{suffix}");
        assert_eq!(scene.show(&OPERATOR, &id).unwrap().record.text, id);
    }
}

#[test]
fn info_3_registration_follows_the_configured_grammar() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::create(&folder.path().join("data"), environment()).unwrap();
    let rules = RuleBook::standard().with_info_grammar(InfoGrammar::Draft);
    let registry = registry.with_rules(rules);
    authority(&registry, "info:lccn");
    for (id, expected) in [
        ("info:lccn/a/b", "bad-character"),
        ("info:lccn/a#b", "has-fragment"),
    ] {
        let made = registry.create_name(&OPERATOR, id, NewName::default());
        assert_eq!(code(made), expected, "{id}");
    }
    name(&registry, "info:lccn/2002022641");
}

/// A derived prefix for tests: its names may go, those of its parent may not.
#[test]
fn hdl_2_a_derived_prefix_has_policies_of_its_own() {
    let scene = scene();
    authority(&scene, "12345");
    erasable_authority(&scene, "12345.1");
    for id in ["12345/x", "12345.1/x"] {
        name(&scene, id);
    }
    assert_eq!(
        code(scene.change_name(&OPERATOR, "12345/x", None, NameAction::Erase)),
        "permanent"
    );
    act(&scene, "12345.1/x", NameAction::Erase);
    name(&scene, "12345.1/x");
    let parent = scene.authority(&OPERATOR, "12345.1").unwrap().parent;
    assert_eq!(parent.unwrap().to_string(), "12345");
}

/// `name create urn:urn-3:HBS:a#b` made `urn:urn-3:HBS:a`, and so did import, the API, REST and the
/// protocol.
#[test]
fn cid_14_registering_never_cuts() {
    let scene = scene();
    cordra(&scene, "300");
    for path in ["20.1", "10.5", "urn:urn-3", "urn:urn-3:HBS", "ark:12025"] {
        authority(&scene, path);
    }
    for (id, expected) in [
        (format!("300/{HEX}?x=1"), "has-query"),
        (format!("300/{HEX}#f"), "has-fragment"),
        (format!("hdl:300/{HEX}?x=1"), "has-query"),
        (format!("hdl:300/{HEX}%3Fx=1"), "has-query"),
        (format!("hdl:300/{HEX}%23x"), "has-fragment"),
        (format!("info:hdl/300/{HEX}%3Fx"), "has-query"),
        ("hdl:20.1/q?x=1".into(), "has-query"),
        ("http://hdl.handle.net/20.1/q?x=1".into(), "has-query"),
        ("https://doi.org/10.5/q#x".into(), "has-fragment"),
        ("urn:urn-3:HBS:a#b".into(), "has-fragment"),
        ("urn:urn-3:HBS:a?=b".into(), "has-query"),
        ("urn:urn-3:HBS:a?+b".into(), "has-query"),
        ("ark:12025/a?info".into(), "has-query"),
    ] {
        for reserve in [false, true] {
            let new = NewName {
                reserve,
                ..NewName::default()
            };
            assert_eq!(
                code(scene.create_name(&OPERATOR, &id, new)),
                expected,
                "{id}"
            );
        }
        let line = format!("{{\"id\":\"{id}\",\"urls\":[\"https://e.example/\"]}}\n");
        for migrate in [false, true] {
            let import = Import {
                source: "names.ndjson".into(),
                migrate,
                restart: true,
                ..Import::default()
            };
            let mut refused = Vec::new();
            let report = &mut |report: Report<'_>| refused.push(format!("{report:?}"));
            let input = Cursor::new(line.clone().into_bytes());
            scene.import(&OPERATOR, &import, input, report).unwrap();
            assert!(refused.join("").contains(expected), "{id} {refused:?}");
        }
    }
    let create = |handle: String| Operation::Create {
        handle,
        values: Vec::new(),
        overwrite: false,
        mint: false,
    };
    let asked = create(format!("300/{HEX}?x=1"));
    assert_eq!(code(scene.perform(&OPERATOR, asked)), "has-query");
    // In bare handles under other authorities, and in DOIs, they are ordinary characters.
    for id in [
        format!("20.1/{HEX}?x=1#y"),
        "10.5/a?b".into(),
        "doi:10.5/a#b".into(),
    ] {
        name(&scene, &id);
    }
    scene.perform(&OPERATOR, create("20.1/a?b".into())).unwrap();
    assert!(scene.show(&OPERATOR, &format!("300/{HEX}")).is_err());
    assert!(scene.show(&OPERATOR, "urn:urn-3:HBS:a").is_err());
    assert!(scene.show(&OPERATOR, "20.1/q").is_err());
}

/// `check` lists names that an earlier version may have spelt otherwise than they were registered.
#[test]
fn cid_12_names_that_were_put_into_uppercase_are_listed() {
    let scene = scene();
    cordra(&scene, "300");
    authority(&scene, "20.1");
    name(&scene, &format!("20.1/{}", HEX.to_uppercase()));
    name(&scene, "20.1/0123456789ABCDEF0123456789abcdef");
    name(&scene, &format!("300/{HEX}"));
    let check = scene.check().unwrap();
    assert!(check.problems.is_empty());
    assert_eq!(check.uppercased, 1);
    assert_eq!(
        check.first_uppercased,
        [format!("20.1/{}", HEX.to_uppercase())]
    );
}

/// `inspect --live` and `/api/v1/inspect` did not know profile and case rule of authorities.
#[test]
fn live_rules_are_those_of_the_authorities() {
    let scene = scene();
    cordra(&scene, "300");
    let new = sensitive_authority();
    scene.create_authority(&OPERATOR, "555", new).unwrap();
    let rules = scene.rules();
    let read = |text: &str| {
        let found = handfast_id::recognise(text, &rules).unwrap().identifier;
        (found.scheme().as_str(), found.canonical(&rules))
    };
    let upper = HEX.to_uppercase();
    assert_eq!(
        read(&format!("hdl:300/{HEX}")),
        ("hdl", format!("hdl:300/{upper}"))
    );
    assert_eq!(read(&format!("300/{HEX}?q")).0, "cordra");
    assert_eq!(read(&format!("555/{HEX}")).0, "handle");
    let key = |text: &str| {
        let found = handfast_id::recognise(text, &rules).unwrap();
        found.identifier.key(&rules).to_string()
    };
    assert_eq!(key("555/Ab"), "hdl:555/Ab");
    assert_eq!(key("556/Ab"), "hdl:556/AB");
    let uri = format!("hdl:300/{HEX}?q");
    let cordra = handfast_id::parse_as(&uri, handfast_id::Scheme::Cordra, &rules);
    assert_eq!(cordra.unwrap().to_string(), format!("300/{upper}?q"));
    let rules = scene.rules().with_info_grammar(InfoGrammar::Draft);
    let slash = inspect(b"info:lccn/a/b", handfast_id::Scheme::Info, &rules);
    assert!(slash.outcome.is_err());
}

/// A request for a prefix decided how the names of others under it were read.
#[test]
fn cid_12_an_authority_that_is_only_asked_for_has_no_rules() {
    let scene = scene();
    let ann = account("ann");
    scene.create_account(&OPERATOR, "ann", "").unwrap();
    scene
        .request_authority(&ann, "300", cordra_authority())
        .unwrap();
    let scheme = |scene: &Scene| {
        let rules = scene.rules();
        let text = format!("300/{HEX}?q");
        let found = handfast_id::recognise(&text, &rules).unwrap().identifier;
        found.scheme().as_str()
    };
    let cut = |scene: &Scene| {
        let id = format!("300/{HEX}?q");
        code(scene.create_name(&OPERATOR, &id, NewName::default()))
    };
    assert_eq!((scheme(&scene), cut(&scene)), ("handle", "not-approved"));
    // Creating it declines the request, and then its profile applies.
    let (_, declined) = scene
        .create_authority_over(&OPERATOR, "300", cordra_authority())
        .unwrap();
    assert_eq!(declined, Some(ann));
    assert_eq!((scheme(&scene), cut(&scene)), ("cordra", "has-query"));
}

/// A server did not know its own addresses.
#[test]
fn uri_13_the_addresses_of_this_server_are_read() {
    let scene = scene();
    authority(&scene, "20.1");
    name(&scene, "20.1/x");
    assert!(
        scene
            .show(&OPERATOR, "http://127.0.0.1:8000/20.1/x")
            .is_err()
    );
    scene.set_own_urls(&[
        "http://127.0.0.1:8000".to_string(),
        "https://names.example/".to_string(),
    ]);
    for url in [
        "http://127.0.0.1:8000/20.1/x",
        "http://127.0.0.1:8000/hdl/20.1/x",
        "https://names.example/20.1/x",
        "names.example/hdl:20.1/x",
    ] {
        assert_eq!(scene.show(&OPERATOR, url).unwrap().record.text, "20.1/x");
    }
    let rules = scene.rules();
    let found = handfast_id::recognise("http://127.0.0.1:8000/hdl/20.1/x", &rules).unwrap();
    let printed = found.identifier.spellings(&rules).http.unwrap();
    assert_eq!(printed, "https://hdl.handle.net/20.1/x");
}

/// By default handles are case sensitive, according to the document; `[registry] default-case`
/// follows it.
#[test]
fn hdl_6_new_prefixes_have_the_configured_case_rule() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::create(&folder.path().join("data"), environment()).unwrap();
    let rules = RuleBook::standard().with_new_prefix_case(CaseRule::Sensitive);
    let registry = registry.with_rules(rules);
    for path in ["20.1", "10.5", "urn:isbn", "ark:12025"] {
        authority(&registry, path);
    }
    cordra(&registry, "300");
    let is_sensitive = |path: &str| {
        let authority = registry.authority(&OPERATOR, path).unwrap();
        authority.policy.case_sensitive
    };
    assert!(is_sensitive("20.1"));
    for path in ["10.5", "300", "urn:isbn", "ark:12025"] {
        assert!(!is_sensitive(path), "{path}");
    }
    name(&registry, "20.1/a");
    name(&registry, "20.1/A");
    let scene = scene();
    authority(&scene, "20.1");
    assert!(
        !scene
            .authority(&OPERATOR, "20.1")
            .unwrap()
            .policy
            .case_sensitive
    );
}

/// The register stated for `info:` authorities and for `urn:isbn` that case does not count.
#[test]
fn info_5_the_register_states_the_case_rule_that_holds() {
    let stage = stage();
    for path in [
        "20.1",
        "urn:isbn",
        "urn:urn-3",
        "info:lccn",
        "info:sici",
        "ark:12025",
    ] {
        authority(&stage, path);
    }
    let said = |path: &str| {
        let authority = stage.authority(&OPERATOR, path).unwrap();
        let case = match authority.case_rule(&stage.rules()) {
            CaseRule::AsciiInsensitive => "insensitive",
            CaseRule::Sensitive => "sensitive",
        };
        (case, authority.profile_name())
    };
    let of = |case: &'static str, profile: &'static str| (case, profile);
    assert_eq!(said("20.1"), of("insensitive", "handle"));
    assert_eq!(said("urn:isbn"), of("sensitive", "urn"));
    assert_eq!(said("urn:urn-3"), of("insensitive", "urn"));
    assert_eq!(said("ark:12025"), of("sensitive", "ark"));
    let mut oai = form(r#"{"namespace": "oai", "normalisation": {"case": "lower"}}"#);
    oai.syntax.summary = "Words.".into();
    stage.register(oai).unwrap();
    authority(&stage, "info:oai");
    assert_eq!(said("info:oai"), of("insensitive", "info"));
    // Meaningless settings are rejected.
    for (path, expected) in [("info:oai", "prefix-policy"), ("urn:isbn", "case-of-nid")] {
        for is_sensitive in [true, false] {
            let change = AuthorityChange {
                case_sensitive: Some(is_sensitive),
                ..AuthorityChange::default()
            };
            let refused = stage.change_authority(&OPERATOR, path, change);
            assert_eq!(code(refused), expected, "{path}");
        }
    }
}

/// An authority `info:nosuch`, with names that resolve, could be created without the registry.
#[test]
fn info_10_names_are_only_under_live_entries() {
    let stage = stage();
    let make = |who: &Principal, path: &str| {
        code(stage.create_authority(who, path, NewAuthority::default()))
    };
    assert_eq!(make(&OPERATOR, "info:nosuch"), "not-live");
    let mut foo = form(r#"{"namespace": "foo2"}"#);
    foo.syntax.summary = "Words.".into();
    stage.propose(foo).unwrap();
    assert_eq!(make(&OPERATOR, "info:foo2"), "not-live");
    stage.approve("foo2").unwrap();
    assert_eq!(make(&account("outsider"), "info:foo2"), "operator-only");
    // The owner of the namespace decides who creates names in it.
    let owner = account("owner");
    create_authority(&stage, &owner, "info:foo2");
    create(&stage, &owner, "info:foo2/1");
    stage.act(&owner, "foo2", NamespaceAct::Withdraw).unwrap();
    let late = stage.create_name(&owner, "info:foo2/2", NewName::default());
    assert_eq!(code(late), "not-live");
    assert!(stage.show(&OPERATOR, "info:foo2/1").is_ok());
}

/// A planned namespace was registered for good, `isbn` without a word, and a contact `x` without a
/// syntax.
#[test]
fn info_10_review_rules_are_enforced() {
    let stage = stage();
    let approve = |name: &str, until: Option<u64>, despite: Option<&str>| {
        let order = NamespaceOrder {
            despite: despite.map(str::to_string),
            ..NamespaceOrder::new(NamespaceAct::Approve { until }, "letterhead")
        };
        stage.act_on_namespace(&OPERATOR, name, order)
    };
    let propose = |name: &str, in_use: bool, summary: &str, contact: &str| {
        let mut form = form(&format!("{{\"namespace\": \"{name}\"}}"));
        form.declaration = form.declaration.map(|mut declared| {
            declared.in_use = in_use;
            declared
        });
        form.syntax.summary = summary.into();
        form.authority.contact = contact.into();
        stage.propose(form).unwrap();
    };
    propose("planned", false, "Digits.", "c@example.org");
    assert_eq!(code(approve("planned", None, None)), "planned");
    let soon = 1_800_000_000_000 + 30 * DAY;
    approve("planned", Some(soon), None).unwrap();
    propose("wordless", true, " ", "c@example.org");
    assert_eq!(code(approve("wordless", None, None)), "missing-field");
    propose("unreachable", true, "Digits.", "x");
    assert_eq!(code(approve("unreachable", None, None)), "bad-contact");
    propose("webby", true, "Digits.", "https://example.org/contact");
    approve("webby", None, None).unwrap();
    for name in ["isbn", "http", "lccm"] {
        propose(name, true, "Digits.", "c@example.org");
        assert_eq!(code(approve(name, None, None)), "clash", "{name}");
        assert_eq!(code(approve(name, None, Some(" "))), "clash", "{name}");
        let entry = approve(name, None, Some("it is older")).unwrap();
        assert!(entry.why.contains("it is older"), "{}", entry.why);
    }
    // An uppercase string is the lowercase one, also in examples.
    let mut upper = form(r#"{"namespace": "upper"}"#);
    upper.namespace = "UPPER".into();
    upper.syntax.summary = "Digits.".into();
    upper.examples = vec![handfast_registry::NamespaceSample {
        native: None,
        input: "info:UPPER/1".into(),
        canonical: "info:upper/1".into(),
    }];
    let order = NamespaceOrder::new(NamespaceAct::Propose(Box::new(upper)), "");
    let entry = stage
        .act_on_namespace(&account("owner"), "UPPER", order)
        .unwrap();
    assert_eq!(entry.form.namespace, "upper");
}

/// `HBS.Baker` was retired, and `HBS.Baker.TC` still created names.
#[test]
fn urn_5_what_is_below_a_retired_authority_names_nothing_new() {
    let scene = scene();
    for path in [
        "urn:urn-3",
        "urn:urn-3:HBS",
        "urn:urn-3:HBS.Baker",
        "urn:urn-3:HBS.Baker.TC",
    ] {
        authority(&scene, path);
    }
    authority(&scene, "urn:urn-3:HBSX");
    let tc = account("tc");
    scene
        .grant(&OPERATOR, "urn:urn-3:HBS.Baker.TC", &tc, Role::Write)
        .unwrap();
    let make = |id: &str| code(scene.create_name(&tc, id, NewName::default()));
    create(&scene, &tc, "urn:urn-3:HBS.Baker.TC:1");
    let keep_children = AuthorityAction::Retire {
        keep_children: true,
    };
    act_on(&scene, "urn:urn-3:HBS.Baker", keep_children);
    create(&scene, &tc, "urn:urn-3:HBS.Baker.TC:2");
    act_on(&scene, "urn:urn-3:HBS", RETIRE);
    assert_eq!(make("urn:urn-3:HBS.Baker.TC:3"), "retired");
    assert!(scene.show(&OPERATOR, "urn:urn-3:HBS.Baker.TC:1").is_ok());
    name(&scene, "urn:urn-3:HBSX:1");
}

#[test]
fn hdl_7_urn_5_urn_6_authorities_are_unique_and_the_root_names_nothing() {
    let scene = scene();
    for path in ["AbC", "urn:urn-3", "urn:urn-3:HBS", "urn:urn-3:HBS.Baker"] {
        authority(&scene, path);
    }
    for path in ["aBc", "URN:urn-3:hbs.BAKER", "urn:URN-3"] {
        let again = scene.create_authority(&OPERATOR, path, NewAuthority::default());
        assert_eq!(code(again), "authority-exists", "{path}");
    }
    for (id, expected) in [
        ("urn:urn-3::x", "empty-authority"),
        ("urn:urn-3:x", "missing-resource-name"),
    ] {
        let named = scene.create_name(&OPERATOR, id, NewName::default());
        assert_eq!(code(named), expected, "{id}");
    }
    name(&scene, "urn:urn-3:HBS:Report");
    name(&scene, "urn:urn-3:HBS.Baker:Report");
    for id in [
        "urn:urn-3:HBS:Report",
        "URN:URN-3:hbs:REPORT",
        "urn-3:HBS:report",
    ] {
        let again = scene.create_name(&OPERATOR, id, NewName::default());
        assert_eq!(code(again), "exists", "{id}");
    }
    let minted = scene.mint(&OPERATOR, "urn:urn-3", &MintOptions::default(), 1, |_| {
        Ok(())
    });
    assert_eq!(code(minted), "missing-resource-name");
    let orphan = scene.create_authority(&OPERATOR, "urn:urn-3:NO.Such", NewAuthority::default());
    assert_eq!(code(orphan), "no-authority");
}
