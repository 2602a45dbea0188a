//! The life of entries of the `info` registry.

use handfast_registry::{
    Action, NamespaceAct, NamespaceForm, NamespaceOrder, NamespaceStatus, NamespacesChanged, Role,
};

use crate::namespace_stage::*;
use crate::*;

/// Trials cannot find everything: a name whose canonical form is not its own would never be found
/// again.
#[test]
fn info_6_no_name_is_stored_where_it_is_not_looked_for() {
    let stage = stage();
    stage
        .register(form(
            r#"{"namespace": "x", "normalisation": {"steps": [["rewrite", ".{40}(.*)", "$1"]]}}"#,
        ))
        .unwrap();
    authority(&stage, "info:x");
    for reserve in [false, true] {
        let new = NewName {
            reserve,
            ..NewName::default()
        };
        let made = stage.create_name(&OPERATOR, &format!("info:x/{}", "a".repeat(81)), new);
        assert_eq!(code(made), "not-stable");
    }
    let fine = format!("info:x/{}", "a".repeat(79));
    name(&stage, &fine);
    assert_eq!(stage.show(&OPERATOR, &fine).unwrap().record.text.len(), 46);
    assert!(stage.check().unwrap().problems.is_empty());
}

#[test]
fn info_10_a_declaration_is_not_taken_back() {
    let stage = stage();
    let undeclared = NamespaceForm {
        declaration: None,
        ..oai()
    };
    stage.propose(oai()).unwrap();
    assert_eq!(code(stage.change(undeclared.clone())), "not-declared");
    stage.approve("oai").unwrap();
    assert_eq!(code(stage.change(undeclared)), "not-declared");
    // The original registry needs no consent.
    let mut lccn = stage.namespace("lccn").unwrap().form.clone();
    lccn.authority.contact = "lccn@example.org".into();
    let change = NamespaceAct::Change(Box::new(lccn));
    stage.act(&account("admin"), "lccn", change).unwrap();
}

#[test]
fn an_owner_who_is_suspended_changes_nothing() {
    let stage = stage();
    stage.register(oai()).unwrap();
    let suspend = |is_so| handfast_registry::AccountChange {
        suspended: Some(is_so),
        ..Default::default()
    };
    stage
        .change_account(&OPERATOR, "owner", &suspend(true))
        .unwrap();
    assert_eq!(code(stage.change(oai())), "denied");
    stage
        .change_account(&OPERATOR, "owner", &suspend(false))
        .unwrap();
    stage.change(oai()).unwrap();
}

#[test]
fn versions_are_bounded_and_read_in_pages() {
    let stage = stage();
    stage.register(oai()).unwrap();
    let change = |title: u64| {
        stage.change(NamespaceForm {
            title: title.to_string(),
            ..oai()
        })
    };
    (2..100).for_each(|title| drop(change(title).unwrap()));
    assert_eq!(code(change(100)), "too-often");
    let page = |after, limit| {
        let found = stage.namespace_history(&OPERATOR, "oai", after, limit);
        let versions = found.unwrap().into_iter();
        versions
            .map(|version| version.entry.version)
            .collect::<Vec<_>>()
    };
    assert_eq!(page(0, 3), [1, 2, 3]);
    assert_eq!(page(98, 2), [99, 100]);
    assert_eq!(page(98, 1), [99]);
    assert_eq!(page(99, 5), [100]);
    assert!(page(100, 5).is_empty() && page(u64::MAX, 5).is_empty());
    stage.at(DAY);
    change(100).unwrap();
}

/// Deprecating a provisional entry does not remove its expiry.
#[test]
fn a_lapsed_entry_is_not_revived_by_its_owner() {
    let stage = stage();
    let text = "info:oai/ABC";
    stage.set("provisional");
    stage
        .act(&account("owner"), "oai", NamespaceAct::Deprecate)
        .unwrap();
    assert_eq!(stage.canonical(text).1, Some(true));
    stage.at(DAY);
    let found = || stage.namespace("oai").unwrap().state(stage.time());
    assert_eq!(
        (found(), stage.canonical(text).1),
        (NamespaceStatus::Lapsed, Some(false))
    );
    let deprecate = |who: &str| stage.act(&account(who), "oai", NamespaceAct::Deprecate);
    assert_eq!(code(deprecate("owner")), "denied");
    // A claim does not change that.
    stage
        .act(&account("other"), "oai", NamespaceAct::Claim)
        .unwrap();
    assert_eq!(found(), NamespaceStatus::Lapsed);
    deprecate("lead").unwrap();
    assert_eq!(
        (found(), stage.canonical(text).1),
        (NamespaceStatus::Deprecated, Some(true))
    );
}

#[test]
fn comments_are_plain_bounded_and_of_accounts() {
    let stage = stage();
    stage.propose(oai()).unwrap();
    let outsider = account("outsider");
    let say = |text: &str| stage.comment_on_namespace(&outsider, "oai", text);
    assert_eq!(say("<script>alert(1)</script>").unwrap().comment.number, 1);
    assert_eq!(code(say(&"x".repeat(4_001))), "too-large");
    assert_eq!(code(say("\u{1b}[2J")), "not-plain-text");
    assert_eq!(code(say(" ")), "empty-comment");
    let nobody = stage.comment_on_namespace(&account("nobody"), "oai", "x");
    assert_eq!(code(nobody), "no-account");
    (1..20).for_each(|_| drop(say("again").unwrap()));
    assert_eq!(code(say("again")), "too-many-comments");
    let comments = stage.namespace_comments(&outsider, "oai").unwrap();
    assert_eq!(comments.len(), 20);
    assert_eq!(comments[0].comment.author, outsider);
    // The public sees the capacity of an actor; principals with a role, and the actor, see the
    // account.
    for (who, is_signed) in [
        ("outsider", true),
        ("lead", true),
        ("owner", false),
        ("other", false),
    ] {
        for comment in stage.namespace_comments(&account(who), "oai").unwrap() {
            assert_eq!(
                (comment.by, comment.is_signed),
                ("account", is_signed),
                "{who}"
            );
        }
    }
    for (who, by) in [
        ("owner", "authority"),
        ("lead", "operator"),
        ("admin", "maintainer"),
    ] {
        let said = stage.comment_on_namespace(&account(who), "oai", "Fine.");
        assert_eq!(said.unwrap().by, by);
    }
    assert!(stage.check().unwrap().problems.is_empty());
}

/// Where the operator created the authority of a namespace, its owner could name nothing in it.
#[test]
fn info_10_the_owner_of_an_entry_names_in_it_if_others_create_its_authority() {
    let stage = stage();
    stage.set("registered");
    authority(&stage, "info:oai");
    let new = NewName::default();
    let id = "info:oai/arXiv.org:hep-th/9901001";
    stage.create_name(&account("owner"), id, new).unwrap();
}

#[test]
fn info_10_nobody_decides_on_what_they_asked_for() {
    let stage = stage();
    stage
        .grant(&OPERATOR, "info:", &account("owner"), Role::Lead)
        .unwrap();
    stage.propose(oai()).unwrap();
    let approve = NamespaceAct::Approve { until: None };
    assert_eq!(
        code(stage.act(&account("owner"), "oai", approve.clone())),
        "own-request"
    );
    stage.act(&account("lead"), "oai", approve).unwrap();
    // Nor can they give themselves more time.
    let until = stage.time() + DAY;
    let mut planned = oai();
    planned.namespace = "later".into();
    planned.examples.clear();
    stage.propose(planned).unwrap();
    let approve = NamespaceAct::Approve { until: Some(until) };
    stage.act(&account("lead"), "later", approve).unwrap();
    let renew = NamespaceAct::Renew { until: until + DAY };
    assert_eq!(
        code(stage.act(&account("owner"), "later", renew.clone())),
        "own-request"
    );
    stage.act(&account("lead"), "later", renew).unwrap();
}

#[test]
fn info_10_claims() {
    let stage = stage();
    let other = account("other");
    let claimed = stage.act(&other, "lccn", NamespaceAct::Claim).unwrap();
    assert!(claimed.claim_pending && !claimed.claimed && claimed.owner.is_none());
    let order = NamespaceOrder::new(
        NamespaceAct::Verify,
        "a letter, and a TXT record at loc.gov",
    );
    let verified = stage
        .act_on_namespace(&account("lead"), "lccn", order)
        .unwrap();
    assert!(verified.claimed && !verified.claim_pending);
    assert_eq!(verified.owner, Some(other.clone()));
    assert_eq!(
        verified.verified.as_deref(),
        Some("a letter, and a TXT record at loc.gov")
    );
    let mut form = verified.form.clone();
    form.authority.contact = "lccn@example.org".into();
    let change = NamespaceAct::Change(Box::new(form));
    assert_eq!(
        code(stage.act(&account("owner"), "lccn", change.clone())),
        "denied"
    );
    stage.act(&other, "lccn", change).unwrap();

    let history = stage
        .namespace_history(&account("outsider"), "info:LCCN/", 0, 10)
        .unwrap();
    let said: Vec<_> = history
        .iter()
        .map(|version| {
            (
                version.entry.version,
                version.action,
                version.entry.made().1.as_str(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            (1, None, "original"),
            (2, Some(Action::ClaimNamespace), "claimant"),
            (3, Some(Action::VerifyNamespace), "operator"),
            (4, Some(Action::ChangeNamespace), "authority"),
        ]
    );
    assert!(
        history
            .iter()
            .all(|version| version.who.is_none() && version.entry.owner.is_none())
    );
    let history = stage
        .namespace_history(&account("lead"), "lccn", 0, 10)
        .unwrap();
    assert_eq!(history[1].who, Some(other));
    assert!(stage.check().unwrap().problems.is_empty());
}

/// A proposal by somebody else must not block a string for its authority.
#[test]
fn info_10_a_refused_string_is_free_a_withdrawn_one_never() {
    let stage = stage();
    stage.propose(oai()).unwrap();
    stage
        .act(&account("lead"), "oai", NamespaceAct::Refuse)
        .unwrap();
    let again = NamespaceAct::Propose(Box::new(oai()));
    let again = stage.act(&account("other"), "OAI", again).unwrap();
    assert_eq!(
        (again.version, again.owner.clone()),
        (3, Some(account("other")))
    );
    stage.approve("oai").unwrap();
    stage
        .act(&account("other"), "oai", NamespaceAct::Withdraw)
        .unwrap();
    for who in ["other", "owner", "admin"] {
        let again = NamespaceAct::Propose(Box::new(oai()));
        let error = stage.act(&account(who), "oai", again).unwrap_err();
        assert!(error.to_string().contains("never used again"), "{error}");
    }
}

#[test]
fn provisional_entries_lapse_by_the_clock() {
    let stage = stage();
    stage.propose(oai()).unwrap();
    let until = Some(stage.time() + DAY);
    let too_late = Some(stage.time() + 400 * DAY);
    let approve = |until| NamespaceAct::Approve { until };
    assert_eq!(
        code(stage.act(&OPERATOR, "oai", approve(too_late))),
        "bad-date"
    );
    stage.act(&OPERATOR, "oai", approve(until)).unwrap();
    let text = "info:oai/ABC";
    assert_eq!(stage.canonical(text), ("info:oai/abc".into(), Some(true)));
    stage.at(DAY);
    // Normalisation does not depend on the time of day.
    assert_eq!(stage.canonical(text), ("info:oai/abc".into(), Some(false)));
    let changes = stage.namespaces_changed(&NamespacesChanged {
        from: until,
        ..NamespacesChanged::default()
    });
    assert_eq!(changes.len(), 1);
    assert!(changes[0].deleted && Some(changes[0].changed) == until);
    let until = stage.time() + DAY;
    stage
        .act(&OPERATOR, "oai", NamespaceAct::Renew { until })
        .unwrap();
    assert_eq!(stage.canonical(text).1, Some(true));
    stage.approve("oai").unwrap();
    stage.at(1_000 * DAY);
    assert_eq!(stage.canonical(text).1, Some(true));
}

/// An unverified claim is an assertion: it does not change the entry.
#[test]
fn a_claim_is_beside_the_entry() {
    let stage = stage();
    let before = stage.namespace("lccn").unwrap();
    let (outsider, lead) = (account("outsider"), account("lead"));
    let claim = NamespaceOrder::new(NamespaceAct::Claim, "buy at evil.example");
    let said =
        |entry: &handfast_registry::NamespaceEntry| (entry.changed, entry.by, entry.why.clone());
    let claimed = stage.act_on_namespace(&outsider, "lccn", claim).unwrap();
    assert_eq!((said(&claimed), claimed.version), (said(&before), 2));
    assert!(claimed.claim_pending && !claimed.why.contains("evil"));
    let changes = stage.namespaces_changed(&NamespacesChanged {
        from: Some(stage.time()),
        ..NamespacesChanged::default()
    });
    assert!(changes.is_empty());

    // Only the claimant takes a claim back; declining one is not a change either.
    let take_back = |who: &Principal| stage.act(who, "lccn", NamespaceAct::TakeBack);
    assert_eq!(code(take_back(&account("other"))), "denied");
    assert!(!take_back(&outsider).unwrap().claim_pending);
    assert_eq!(code(take_back(&outsider)), "state");
    stage.act(&outsider, "lccn", NamespaceAct::Claim).unwrap();
    let refused = stage.act(&lead, "lccn", NamespaceAct::Refuse).unwrap();
    assert_eq!(said(&refused), said(&before));
    let history = stage.namespace_history(&outsider, "lccn", 0, 10).unwrap();
    let made: Vec<_> = history
        .iter()
        .map(|version| {
            let (time, by, why) = version.entry.made();
            (time == stage.time(), by.as_str(), why)
        })
        .collect();
    assert_eq!(
        made[..5],
        [
            (false, "original", ""),
            (true, "claimant", "buy at evil.example"),
            (true, "claimant", "because"),
            (true, "claimant", "because"),
            (true, "operator", "because"),
        ]
    );
    stage.act(&outsider, "lccn", NamespaceAct::Claim).unwrap();
    let verified = stage.act(&lead, "lccn", NamespaceAct::Verify).unwrap();
    assert_eq!(
        (verified.changed, verified.by.as_str()),
        (stage.time(), "operator")
    );
    assert!(stage.check().unwrap().problems.is_empty());
}

#[test]
fn claims_are_few() {
    let stage = stage();
    let outsider = account("outsider");
    let claim = |name: &str| stage.act(&outsider, name, NamespaceAct::Claim);
    for name in ["ark", "bnf", "doi", "lccn", "pmid"] {
        claim(name).unwrap();
    }
    assert_eq!(code(claim("pronom")), "too-many-claims");
    stage.act(&outsider, "doi", NamespaceAct::TakeBack).unwrap();
    claim("pronom").unwrap();
    // Nobody can fill a history with claims, and claims do not use up the limit of an authority.
    stage.register(oai()).unwrap();
    let other = account("other");
    for _ in 0..9 {
        stage.act(&other, "oai", NamespaceAct::Claim).unwrap();
        stage.act(&other, "oai", NamespaceAct::TakeBack).unwrap();
    }
    assert_eq!(
        code(stage.act(&other, "oai", NamespaceAct::Claim)),
        "too-often"
    );
    stage.change(oai()).unwrap();
}
